//! Charts of a run of a scene, and its obstacles as meshes to be drawn.

pub(crate) mod obstacle_shape;
pub(crate) mod plots;
pub(crate) mod results;
