//! What people look at: plots, the reports of fits and sensitivity studies, learning curves, pictures and files of
//! meshes. Every result has a method here that draws it into a folder.

pub(crate) mod coverage;
pub(crate) mod document;
pub(crate) mod fit;
pub(crate) mod learn;
pub(crate) mod mesh_files;
pub(crate) mod plot;
pub(crate) mod render;
pub(crate) mod scene;
pub(crate) mod sensitivity;

use std::path::Path;

use crate::{
    error::Result,
    fit::{FitResult, folder::load},
    learn::{Evaluated, LearnCase},
    scene::PreparedScene,
    sensitivity::SensitivityFindings,
};

impl FitResult {
    /// Draws report.md, report.html and plots into the folder of the fit, and returns the result with its list of files.
    /// Fits with and without spreads that are in folders of their own inside are drawn too, once.
    pub fn draw(self, folder: &Path) -> Result<FitResult> {
        for fit in self.spread.iter().flat_map(|found| &found.fits) {
            let inner = folder.join(&fit.folder);
            if !inner.join("report.html").exists() {
                fit::folder::draw(&inner, load(&inner)?)?;
            }
        }
        fit::folder::draw(folder, self)
    }

    /// A compact report for the terminal, no line wider than 110 columns.
    pub fn in_words(&self) -> String {
        fit::text::terminal(self)
    }
}

impl SensitivityFindings<'_> {
    /// Writes sensitivity.json, indices.csv, samples.csv, reports and plots into a folder.
    pub fn save(&self, folder: &Path) -> Result<()> {
        sensitivity::folder::save(folder, self)
    }
}

impl PreparedScene {
    /// Draws the film, pictures and plots of a run of this scene into its folder, and returns the names of the files.
    pub fn draw(&self, folder: &Path) -> Result<Vec<String>> {
        scene::results::draw(self, folder)
    }
}

impl LearnCase {
    /// Draws the learning curves of a training of this case into its folder.
    pub fn draw(&self, folder: &Path) -> Result<()> {
        learn::folder::of_run(folder, self)
    }
}

impl Evaluated {
    /// Writes tables, pictures and films into the folder of the evaluation.
    pub fn draw(&self) -> Result<()> {
        learn::folder::of_evaluation(self)
    }
}
