//! What people look at: plots, the reports of fits and sensitivity studies, learning curves, pictures and files of
//! meshes.

pub mod design;
mod fit_document;
pub mod fit_folder;
pub mod fit_html;
mod fit_number;
pub mod fit_plots;
mod fit_rows;
#[cfg(test)]
mod fit_sample;
mod fit_sentence;
mod fit_tables;
pub mod fit_text;
pub mod learn_ablations;
pub mod learn_curves;
pub mod learn_cycles;
pub mod learn_errors;
pub mod learn_film;
pub mod learn_frames;
pub mod learn_long;
pub mod mesh_files;
pub mod obstacle_shape;
pub mod plot;
pub mod render;
pub mod run_plots;
mod sensitivity_document;
pub mod sensitivity_folder;
pub mod sensitivity_plots;
mod sensitivity_tables;
pub mod sensitivity_text;
pub mod surface;
