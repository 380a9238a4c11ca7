//! Sensitivity studies: which parameter moves which reading, and how sure is that?
//!
//! The statistics (`sobol`, `morris`, `derivative`, `local`) know numbers only and are tested on
//! functions whose indices are known. A `model::Model` turns parameters into readings: `laboratory` the
//! tests of a case, `cloth` the readings of a scene. A `study::Study` lays out the runs that the methods
//! need and cuts them into tasks; `analysis` makes indices of their results. A [`SensitivityJob`] does all
//! of it in a folder.

pub(crate) mod analysis;
pub(crate) mod cloth;
pub(crate) mod derivative;
mod distribution;
pub(crate) mod factor;
pub(crate) mod failure;
mod input;
pub(crate) mod interval;
mod job;
pub(crate) mod laboratory;
pub(crate) mod local;
pub(crate) mod model;
pub(crate) mod morris;
pub(crate) mod regime;
pub(crate) mod result;
pub(crate) mod sample;
pub(crate) mod sobol;
pub(crate) mod study;
#[cfg(test)]
mod tests;

pub use input::SensitivityJob;
pub use job::SensitivityFindings;
