//! Calibration: measured curves in, fabric parameters with error bars out.

pub(crate) mod case;
mod case_schema;
#[cfg(feature = "mpi")]
mod company;
pub(crate) mod data;
pub(crate) mod dataset;
pub(crate) mod defaults;
pub(crate) mod design;
pub(crate) mod export;
pub(crate) mod folder;
pub(crate) mod input;
mod job;
pub(crate) mod problem;
pub(crate) mod result;
pub(crate) mod run;
pub(crate) mod spread;
mod summary;
pub(crate) mod verdict;

pub use design::{Criterion, DesignResult};
pub(crate) use folder::FitFolder;
pub use folder::FitJob;
pub(crate) use input::Measurements;
pub use result::FitResult;
pub use run::SearchMethod;

#[cfg(test)]
mod tests;
