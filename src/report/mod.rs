//! What people look at: plots, the reports of fits and sensitivity studies, learning curves, pictures and files of
//! meshes.

pub(crate) mod document;
pub mod fit;
pub mod learn;
pub mod mesh_files;
pub mod plot;
pub mod render;
pub mod scene;
pub mod sensitivity;
