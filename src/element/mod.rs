//! Elements of the cloth mesh: strain, stress and tangent of hinges and triangles, all element-local.
//!
//! Everything here is a function of the elements' own vectors ([`HingeSpan`], [`Columns`]), so that a tape
//! never holds a gather; [`Incidence`] goes between them and the vertices.

mod hinge;
mod incidence;
mod triangle;
mod vector;

pub(crate) use hinge::{Bend, HingeSpan};
pub(crate) use incidence::Incidence;
pub(crate) use triangle::{Columns, Stiffness, tension};
pub(crate) use vector::Vector;
