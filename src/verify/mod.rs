//! Gradient checks and benchmark workloads: what shows that the program is right and fast.

mod cloth_bench;
pub mod coverage;
mod gradcheck;
mod hinge_bench;
pub mod hinge_fit;
mod mesh_check;

pub use cloth_bench::{ClothBench, ClothEnd};
pub use gradcheck::{CheckedLaw, GradientCase, Reach, checked_laws, gradient_cases};
pub use hinge_bench::{BENCH_GAIN, BENCH_PARAMETERS, HingeBench, hinge_workload};
pub use mesh_check::{MESH_CHECK_STEPS, MeshCheck, mesh_gradient_cases};
