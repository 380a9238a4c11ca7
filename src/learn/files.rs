//! NumPy's `.npz` files: SMPL bodies and AMASS motions are read, tracks are kept.
//!
//! Neither bodies nor motions may be redistributed, so none ships here; the tests write files of the same layout.

mod amass;
mod limits;
mod npy;
mod npz;
mod smpl;
mod zip;

pub(crate) use amass::Amass;
pub(crate) use npy::Array;
pub(in crate::learn) use npy::Pieces;
pub(crate) use npz::Npz;
pub use smpl::Smpl;

pub(in crate::learn) use zip::{archive, unpack_all};
