//! Learning curves, tables, frames and films of a training run.

pub(crate) mod ablations;
mod below;
pub(crate) mod curves;
pub(crate) mod cycles;
mod drift;
pub(crate) mod errors;
pub(crate) mod evaluation;
pub(crate) mod film;
pub(crate) mod folder;
pub(crate) mod frames;
pub(crate) mod long;
mod table;
