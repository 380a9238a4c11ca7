//! Learning curves, tables, frames and films of a training run.

pub(crate) mod ablations;
pub(crate) mod curves;
pub(crate) mod cycles;
pub(crate) mod errors;
pub(crate) mod film;
pub(crate) mod frames;
pub(crate) mod long;
