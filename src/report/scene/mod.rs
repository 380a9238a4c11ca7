//! Charts of a run of a scene, and its obstacles as meshes to be drawn.

pub mod obstacle_shape;
pub mod plots;
pub mod results;
