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

use serde_json::Value;

use crate::{
    error::{Error, Result},
    fit::{DesignResult, FitResult},
    learn::{Evaluated, LearnCase, Prediction},
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
                fit::folder::draw(&inner, FitResult::load(&inner)?)?;
            }
        }
        fit::folder::draw(folder, self)
    }

    /// A compact report for the terminal, no line wider than 110 columns.
    pub fn in_words(&self) -> String {
        fit::text::terminal(self)
    }

    /// This fit beside another one, for the terminal: parameters, AIC and BIC weights.
    pub fn compared_in_words(&self, other: &FitResult) -> String {
        fit::text::compare(self, other)
    }

    /// The numbers of [`FitResult::compared_in_words`]. `overlap` is null where an interval is unknown; the weights are
    /// null where the data differ.
    pub fn compared(&self, other: &FitResult) -> Value {
        fit::text::compare_json(self, other)
    }

    /// Draws the curves of both fits over each other into a folder, made where there is none.
    pub fn draw_compared(&self, other: &FitResult, folder: &Path) -> Result<()> {
        std::fs::create_dir_all(folder).map_err(|e| Error::writing(folder, e))?;
        for (_, (stem, _, picture)) in fit::plots::comparison(self, other) {
            for kind in ["svg", "png"] {
                picture.save(&folder.join(format!("{stem}.{kind}")))?;
            }
        }
        Ok(())
    }
}

impl DesignResult {
    /// Writes design.json, design.csv and plots into a folder, made where there is none, and returns the names of the
    /// files.
    pub fn draw(&self, folder: &Path) -> Result<Vec<String>> {
        fit::design::save(folder, self)
    }

    /// The plan for the terminal.
    pub fn in_words(&self) -> String {
        fit::design::terminal(self)
    }
}

impl SensitivityFindings {
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

impl Prediction {
    /// Draws a picture and a film beside the file of the prediction.
    pub fn draw(&self) -> Result<()> {
        learn::folder::of_prediction(&self.file, &self.scene, &self.motion, &self.track)
    }
}

impl Evaluated {
    /// Writes tables, pictures and films into the folder of the evaluation.
    pub fn draw(&self) -> Result<()> {
        learn::folder::of_evaluation(self)
    }
}
