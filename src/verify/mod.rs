//! Gradient checks and benchmark workloads: what shows that the program is right and fast.

mod cloth_bench;
pub(crate) mod coverage;
mod gradcheck;
mod hinge_bench;
pub(crate) mod hinge_fit;
mod mesh_check;
mod self_test;

pub(crate) use cloth_bench::{ClothBench, ClothEnd};
#[cfg(all(test, feature = "gpu"))]
pub(crate) use gradcheck::CheckedLaw;
pub(crate) use gradcheck::Reach;
#[cfg(test)]
pub(crate) use gradcheck::checked_laws;
pub(crate) use gradcheck::{GradientCase, gradient_cases};
pub(crate) use hinge_bench::{BENCH_GAIN, BENCH_PARAMETERS, HingeBench, hinge_workload};
pub(crate) use mesh_check::mesh_gradient_cases;
#[cfg(test)]
pub(crate) use mesh_check::{MESH_CHECK_STEPS, MeshCheck};
pub(crate) use self_test::{DeviceCheck, check_device};
