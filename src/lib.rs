//! Rumple: a differentiable simulator of cloth whose creases depend on how long they were held.
//!
//! A tour, from the bottom up:
//!
//! - [`error`]: one error type; every message names the thing, its value and the remedy.
//! - `files`: reading and writing, tables with line numbers.
//! - [`numeric`]: devices and precision ([`numeric::Compute`]), safe forms, gates ([`numeric::Gate`]) and
//!   gradient checks.
//! - [`material`]: the laws ([`material::Law`]), their parameters, material files and presets.
//! - [`mesh`], `element`, `solve`, `step`: a cloth mesh and one implicit step of it, forward and backward.
//! - `reading`: differentiable measures of a cloth.
//! - [`rollout`]: a schedule of steps applied to a batch of hinges, and many steps of a cloth, forward and backward.
//! - [`laboratory`]: the crease recovery test (hinges and strip mesh) and the KES-FB2 bending test as roll-outs.
//! - [`scene`]: scene files and their runs.
//! - `optimize`: least squares over batches of starts, profiles, bootstrap, the journal.
//! - [`study`]: work cut into tasks that any machine can do, with their journal; shards and their joining.
//! - [`fit`]: measurement files, cases, the calibration problem, verdicts and results.
//! - [`sensitivity`]: which parameter moves which reading, with intervals.
//! - [`learn`]: the self-supervised curriculum of paper 2: bodies, garments, loss, plastic rule, reference, networks.
//! - [`report`]: plots, and the reports of a fit as text, Markdown and HTML.
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
pub mod mesh;
pub mod numeric;
mod optimize;
mod reading;
pub mod report;
pub mod rollout;
pub mod scene;
pub mod sensitivity;
mod solve;
mod step;
pub mod study;
pub mod verify;

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
