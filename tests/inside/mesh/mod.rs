//! Cloth meshes: elements, one step, many steps, and their gradients.

mod elements;
mod golden;
mod gradients;
mod memory;
mod physics;
mod readings;
mod rigidity;
mod rollout;
mod tangent;
