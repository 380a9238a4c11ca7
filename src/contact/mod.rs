//! What touches the cloth.

mod obstacle;

pub(crate) use obstacle::Touch;
pub(crate) use obstacle::{Contact, Obstacle, Pose};
