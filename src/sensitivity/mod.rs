//! Sensitivity studies: which parameter moves which reading, and how sure is that?
//!
//! The statistics ([`sobol`], [`morris`], [`derivative`], [`local`]) know numbers only and are tested on
//! functions whose indices are known. A [`model::Model`] turns parameters into readings: [`laboratory`] the
//! crease and the KES test of a case, [`cloth`] the readings of a scene. A [`study::Study`] lays out the runs
//! that the methods need and cuts them into tasks; [`analysis`] makes indices of their results. A [`SensitivityJob`] does all of it in a folder.

pub mod analysis;
pub mod cloth;
pub mod derivative;
pub mod factor;
pub mod failure;
mod input;
pub mod interval;
mod job;
pub mod laboratory;
pub mod local;
pub mod model;
pub mod morris;
pub mod regime;
pub mod result;
pub mod sample;
pub mod sobol;
pub mod study;
#[cfg(test)]
mod tests;

pub use input::Options;
pub use job::{Found, SensitivityJob};
