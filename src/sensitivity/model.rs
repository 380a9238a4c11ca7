//! What a study needs of a model: factors in, outputs out, slopes where it has them.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::factor::Factor;
use crate::error::Result;
use crate::laboratory::Shares;

/// A number that a run gives.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Output {
    /// What it is, in words; no two are alike.
    pub name: String,
    /// Unit in words.
    pub unit: String,
    /// Where it is on a curve; none for a reading of its own.
    pub place: Option<Place>,
}

/// A place on a curve.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Place {
    /// The curve, in words.
    pub curve: String,
    /// Where along it.
    pub x: f64,
    /// What is along it, with its unit.
    pub axis: String,
}

/// What one run gave.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ModelRun {
    /// The outputs; empty where the run failed.
    pub values: Vec<f64>,
    /// ∂output/∂factor, row-major `[outputs, factors]`, NaN where an output has none; empty where they were
    /// not asked for.
    pub slopes: Vec<f64>,
    /// What hinges did, at each output that [`Model::regime_outputs`] names.
    pub regimes: Vec<Shares>,
    /// Why it failed.
    pub failure: Option<String>,
}

impl ModelRun {
    /// A run that failed.
    pub fn failed(why: impl Into<String>) -> ModelRun {
        ModelRun {
            failure: Some(why.into()),
            ..ModelRun::default()
        }
    }
}

/// Something with parameters to vary. A run depends on its own point only, bit by bit.
pub trait Model: Sync {
    /// All that its outputs depend on besides the factors.
    fn identity(&self) -> Value;

    /// What is varied.
    fn factors(&self) -> &[Factor];

    /// What is read.
    fn outputs(&self) -> &[Output];

    /// The output that sums all up, where there is one.
    fn main_output(&self) -> Option<usize> {
        None
    }

    /// Runs a task: a power of two, so that doubled designs fall into whole tasks.
    fn chunk(&self) -> usize;

    /// Runs at points, each with a value a factor; with slopes and regimes where `full`.
    fn run(&self, points: &[Vec<f64>], full: bool) -> Result<Vec<ModelRun>>;

    /// Outputs that are measured, with the standard deviation of each measurement; `nominal` are the outputs at
    /// the nominal parameters, of which a spread may be a share.
    fn measurements(&self, _nominal: &[f64]) -> Vec<(usize, f64)> {
        Vec::new()
    }

    /// Outputs for which a full run says what the hinges did.
    fn regime_outputs(&self) -> &[usize] {
        &[]
    }
}
