//! What people look at: plots, the reports of fits and sensitivity studies, learning curves, pictures and files of
//! meshes.

pub(crate) mod document;
pub(crate) mod fit;
pub(crate) mod learn;
pub(crate) mod mesh_files;
pub(crate) mod plot;
pub(crate) mod render;
pub(crate) mod scene;
pub(crate) mod sensitivity;
