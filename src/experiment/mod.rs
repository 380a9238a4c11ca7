//! Laboratory tests as roll-outs: what is done to the specimen, and what is read off.

mod cloth_bench;
mod crease;
mod gradcheck;
mod hinge_bench;
mod kes;
mod mesh_check;
mod strip;
mod twist;

pub use cloth_bench::{ClothBench, ClothEnd};
pub use crease::{CREST_CURVATURE, CreaseCurves, CreasePoint, CreaseTest, fold_curvatures};
pub use gradcheck::{CheckedLaw, GradientCase, Reach, checked_laws, gradient_cases};
pub use hinge_bench::{BENCH_GAIN, BENCH_PARAMETERS, HingeBench, hinge_workload};
pub use kes::{Branch, KesLoop, KesReading, KesTest};
pub use mesh_check::{MESH_CHECK_STEPS, MeshCheck, mesh_gradient_cases};
pub use strip::{StripCurves, StripTest, Strips};
pub use twist::{Twist, TwistTest, Way};
