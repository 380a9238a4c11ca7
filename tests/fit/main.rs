//! `rumple fit` and `rumple design` as their users run them.

mod design;
mod faults;
#[path = "../common/mesh_cases.rs"]
mod mesh_cases;
mod output;
#[path = "../common/program.rs"]
mod program;
mod resume;
mod strip;
mod twist;
