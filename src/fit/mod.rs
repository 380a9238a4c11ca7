//! Calibration: measured curves in, fabric parameters with error bars out.

pub mod case;
mod case_schema;
pub mod data;
pub mod dataset;
pub mod defaults;
pub mod design;
pub mod export;
pub mod folder;
pub mod input;
mod job;
pub mod problem;
pub mod result;
pub mod run;
mod summary;
mod verdict;

pub use case_schema::case_schema;
pub use folder::{FitFolder, Job};
pub use input::Measurements;
pub use job::{bootstrap, bootstrap_share, merge, profile, resume, run};

#[cfg(test)]
mod tests;
