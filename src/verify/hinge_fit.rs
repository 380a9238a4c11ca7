//! The calibration problem that other tools solve too: 8 parameters of a hinge from 24 noisy points of
//! recovery against pressing time. Synthetic data, many local minima.

use nalgebra::{DMatrix, DVector};
use serde::Deserialize;

use crate::{
    error::{Error, Result},
    numeric::Compute,
    optimize::{Linearized, Problem},
    rollout::Rollout,
    verify::{BENCH_GAIN, BENCH_PARAMETERS, hinge_workload},
};

/// Sharpness of the gates, stage by stage: the first is for the kicks, the last polishes. With a blunter
/// first gate (30) no start reached the best minimum: the minima are those of the gates' steps.
pub(crate) const GAINS: [f64; 2] = [BENCH_GAIN; 2];

/// The data, as `peers/fit_spec.py` makes them with NumPy.
const DATA: &str = include_str!("../../data/hinge_fit.json");

#[derive(Debug, Deserialize)]
struct Data {
    sigma: f64,
    fold: f64,
    press_s: Vec<f64>,
    recovery: Vec<f64>,
    low: Vec<f64>,
    high: Vec<f64>,
    /// Shares of the box in the logarithm.
    starts: Vec<Vec<f64>>,
}

/// The problem; the unknowns are the logarithms of [`BENCH_PARAMETERS`].
pub(crate) struct HingeFit {
    /// Of each stage: kicks do with single precision.
    computes: [Compute; 2],
    data: Data,
    rollouts: Vec<Rollout>,
    bounds: Vec<(f64, f64)>,
}

impl HingeFit {
    /// Reads the shipped data.
    pub(crate) fn new(compute: Compute) -> Result<Self> {
        let data: Data = serde_json::from_str(DATA)
            .map_err(|e| Error::BadInput(format!("data/hinge_fit.json: {e}")))?;
        let rollout = |gain| {
            let folds = vec![data.fold; data.press_s.len()];
            hinge_workload(gain, folds, data.press_s.clone(), 300)
        };
        let ends = data.low.iter().zip(&data.high);
        Ok(HingeFit {
            computes: [compute.coarse(), compute],
            rollouts: GAINS.map(rollout).to_vec(),
            bounds: ends.map(|(low, high)| (low.ln(), high.ln())).collect(),
            data,
        })
    }

    /// The starts that every tool gets.
    pub(crate) fn starts(&self) -> Vec<Vec<f64>> {
        let inside = |(share, (low, high)): (&f64, &(f64, f64))| low + share * (high - low);
        let start = |row: &Vec<f64>| row.iter().zip(&self.bounds).map(inside).collect();
        self.data.starts.iter().map(start).collect()
    }
}

impl Problem for HingeFit {
    fn bounds(&self) -> &[(f64, f64)] {
        &self.bounds
    }

    fn data(&self) -> usize {
        self.data.recovery.len()
    }

    fn stages(&self) -> usize {
        GAINS.len()
    }

    fn linearized(&self, stage: usize, points: &[DVector<f64>]) -> Result<Vec<Linearized>> {
        let count = self.data();
        let mut rows = Vec::with_capacity(points.len() * count * 9);
        for point in points {
            let mut row = [1.0; 9];
            for (free, (_, _, place)) in point.iter().zip(BENCH_PARAMETERS) {
                row[place] = free.exp();
            }
            rows.extend(row.repeat(count));
        }
        let batch = self.rollouts[stage].repeated(points.len());
        let compute = &self.computes[stage];
        let parameters = compute.tensor(&rows, [batch.points, 9]);
        let seed = vec![1.0; batch.points];
        let seed = compute.tensor(&seed, [batch.points, 1, 1]);
        let (strain, slopes) = batch.linearized(compute, parameters, seed);
        let (strain, slopes) = (compute.values(strain)?, compute.values(slopes)?);
        let Data {
            sigma,
            fold,
            recovery,
            ..
        } = &self.data;
        let results = points.iter().enumerate().map(|(s, point)| {
            let residual = |i: usize| (1.0 - strain[s * count + i] / fold - recovery[i]) / sigma;
            let slope = |i: usize, j: usize| {
                let place = BENCH_PARAMETERS[j].2;
                -slopes[(s * count + i) * 9 + place] / fold / sigma * point[j].exp()
            };
            Linearized {
                residuals: DVector::from_fn(count, |i, _| residual(i)),
                jacobian: DMatrix::from_fn(count, point.len(), slope),
            }
        });
        Ok(results.collect())
    }
}
