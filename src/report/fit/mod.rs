//! Reports of a fit and of an experiment design.

pub mod design;
pub(crate) mod document;
pub mod folder;
pub mod html;
pub mod plots;
pub(crate) mod rows;
#[cfg(test)]
pub(crate) mod sample;
mod sentence;
mod tables;
pub mod text;
