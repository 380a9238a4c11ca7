//! Sensitivity studies of the crease test: what is claimed of the indices, and the command as its users run it.

mod claims;
mod command;
#[path = "../common/mod.rs"]
mod common;

const CASE: &str = include_str!("../data/salib/case.json");
const DATA: &str = include_str!("../data/salib/three.csv");
