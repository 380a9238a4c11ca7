//! Reports of a sensitivity study.

mod document;
pub(crate) mod folder;
pub(crate) mod plots;
mod tables;
pub(crate) mod text;
