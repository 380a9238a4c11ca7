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

pub use fit::{
    design::save as draw_design, folder::draw as draw_fit, text::terminal as fit_in_words,
};
pub use learn::{
    ablations::draw as draw_ablations,
    folder::{of_evaluation as draw_evaluation, of_run as draw_training},
};
pub use scene::results::draw as draw_scene;
pub use sensitivity::folder::save as save_sensitivity;
