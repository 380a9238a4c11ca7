//! Real data: SMPL bodies and AMASS motions, as NumPy's `.npz` files.
//!
//! Neither may be redistributed, so none ships here; the tests write files of the same layout.

mod amass;
mod npy;
mod npz;
mod smpl;
mod zip;

pub use amass::Amass;
pub use npy::Array;
pub use npz::Npz;
pub use smpl::Smpl;
