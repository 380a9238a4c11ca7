//! Parametric bootstrap: data drawn from the fitted law are fitted again.

use nalgebra::DVector;
use serde::{Deserialize, Serialize};

use super::{
    Problem,
    levenberg::{Batch, Levenberg, Perturbation, Walker},
};
use crate::{error::Result, numeric::Random};

/// Samples that are fitted together.
pub(crate) const BATCH: usize = 16;
/// Rounds that a sample's fit may take.
const ROUNDS: usize = 60;

/// The fit of one drawn data set.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Sample {
    /// Unknowns at its optimum.
    pub point: Vec<f64>,
    /// Cost there; none where the fit failed.
    pub cost: Option<f64>,
}

/// Offset of the residuals at `best` that turns the data into data drawn around the law there, with
/// normal errors of `scales` standard deviations. Priors are left as they are.
pub(crate) fn drawn_offset(
    residuals: &DVector<f64>,
    data: usize,
    scales: &DVector<f64>,
    random: &mut Random,
) -> DVector<f64> {
    DVector::from_fn(residuals.len(), |i, _| {
        if i < data {
            -residuals[i] - scales[i] * random.normal()
        } else {
            0.0
        }
    })
}

/// Fits samples `first` … `first + count` of the bootstrap with the given seed, from the optimum `best`
/// where the residuals are `residuals`.
pub(crate) fn samples(
    problem: &dyn Problem,
    levenberg: Levenberg,
    (best, residuals): (&DVector<f64>, &DVector<f64>),
    scales: &DVector<f64>,
    seed: u64,
    (first, count): (usize, usize),
) -> Result<Vec<Sample>> {
    let perturbation = |sample: usize| {
        // Every sample has its own stream, so that batches can be of any size.
        let mut random = Random::stream(seed, sample as u64);
        Perturbation {
            offset: Some(drawn_offset(residuals, problem.data(), scales, &mut random)),
            pin: None,
        }
    };
    let perturbations = (first..first + count).map(perturbation).collect();
    let walkers = vec![Walker::new(best.as_slice().to_vec(), 0, ROUNDS); count];
    let stage = problem.stages() - 1;
    let mut batch = Batch::perturbed(problem, levenberg, stage, walkers, perturbations);
    batch.run()?;
    let sample = |walker: Walker| Sample {
        point: walker.point,
        cost: walker.cost,
    };
    Ok(batch.walkers.into_iter().map(sample).collect())
}
