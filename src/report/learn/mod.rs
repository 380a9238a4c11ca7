//! Learning curves, tables, frames and films of a training run.

pub mod ablations;
pub mod curves;
pub mod cycles;
pub mod errors;
pub mod film;
pub mod frames;
pub mod long;
