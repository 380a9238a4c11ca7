//! What touches the cloth.

mod obstacle;

pub(crate) use obstacle::Touch;
pub use obstacle::{Contact, Obstacle, Pose};
