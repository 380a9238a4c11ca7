//! Reports of a sensitivity study.

mod document;
pub mod folder;
pub mod plots;
mod tables;
pub mod text;
