//! Calibration: measured curves in, fabric parameters with error bars out.

pub mod case;
mod case_schema;
pub mod data;
pub mod dataset;
pub mod defaults;
pub mod design;
pub mod export;
pub mod problem;
pub mod result;
pub mod run;
mod summary;
mod verdict;

pub use case_schema::case_schema;

#[cfg(test)]
mod tests;
