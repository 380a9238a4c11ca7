//! Reports of a fit and of an experiment design.

pub(crate) mod design;
pub(crate) mod document;
pub(crate) mod folder;
pub(crate) mod html;
pub(crate) mod plots;
pub(crate) mod rows;
#[cfg(test)]
pub(crate) mod sample;
mod sentence;
mod tables;
pub(crate) mod text;
