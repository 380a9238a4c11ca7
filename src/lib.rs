//! Rumple: a differentiable simulator of cloth whose creases depend on how long they were held.
//!
//! A tour, from the bottom up. Modules without a link are private; docs/ARCHITECTURE.md says how all fit together.
//!
//! - [`error`]: one error type; every message names the thing, its value and the remedy.
//! - `files`: reading with limits and line numbers, writing whole, tables.
//! - [`numeric`]: devices and precision ([`numeric::Compute`]), gates ([`numeric::Gate`]), safe forms, statistics.
//! - [`study`]: what every long job shares: run folder, journal, resuming, shards, and the watcher
//!   ([`study::Watcher`]) that is told the progress and can stop a job.
//! - [`material`]: the laws, their parameters, material files and presets; [`material::ReadyMaterial`] is what a test takes.
//! - `mesh`, `element`, `contact`, `solve`, `step`, `reading`: a cloth mesh, one implicit step of it forward and
//!   backward, and differentiable measures of it.
//! - `rollout`: a schedule of steps applied to a batch of hinges; many steps of a cloth, forward and backward.
//! - [`laboratory`]: the tests of a textile laboratory, all behind one interface ([`laboratory::Tests`]).
//! - [`scene`]: scene files and their runs ([`scene::PreparedScene::simulate`]).
//! - `optimize`: least squares over batches of starts, profiles, bootstrap.
//! - [`fit`]: measurement files, cases, verdicts and results ([`fit::FitJob::run`]).
//! - [`sensitivity`]: which parameter moves which reading, with intervals ([`sensitivity::SensitivityJob`]).
//! - [`learn`]: the self-supervised curriculum of paper 2 ([`learn::LearnCase::train`]).
//! - `verify`: gradient checks and benchmark workloads.
//! - `report`: plots, pictures and documents; every result has a method that draws it, such as [`fit::FitResult::draw`].
//! - [`cli`]: the program.
//!
//! Units are SI everywhere: curvature in 1/m, rigidity in N·m, moment per width in N·m/m, time in
//! seconds; recovery angles are in degrees where a name says so. Strain is signed; 0 is flat.

#![warn(unreachable_pub)]

pub mod cli;
mod contact;
mod element;
pub mod error;
mod files;
pub mod fit;
pub mod laboratory;
pub mod learn;
pub mod material;
mod mesh;
pub mod numeric;
mod optimize;
mod reading;
mod report;
mod rollout;
pub mod scene;
pub mod sensitivity;
mod solve;
mod step;
pub mod study;
mod verify;

// Tests of what is not public, which name the library as its users do.
#[cfg(test)]
extern crate self as rumple;
#[cfg(test)]
#[path = "../tests/inside/mod.rs"]
#[allow(unreachable_pub)]
mod inside;

/// The README's example is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
