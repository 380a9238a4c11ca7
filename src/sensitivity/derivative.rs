//! Measures from exact derivatives: DGSM, the bound that they put on Sobol' totals, and active subspaces.
//!
//! ```text
//! ν = E[(∂f/∂c)²]                      c a parameter's coordinate (Sobol' and Kucherenko 2009)
//! T ≤ C·ν/V                            C the constant of Poincaré of its distribution; for a group the sum
//! M = E[∇f·∇fᵀ] = W·Λ·Wᵀ               ∇ in units of each distribution (Constantine 2015)
//! activity of parameter i = Σ_k λ_k·W_ik²
//! ```

use nalgebra::{DMatrix, SymmetricEigen};
use serde::{Deserialize, Serialize};

use super::{
    factor::{Factor, Group},
    interval::{Estimate, RESAMPLES, counts},
};

/// An output and its gradient over the coordinates at many points.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Slopes {
    /// The output at each point.
    pub values: Vec<f64>,
    /// ∂output/∂coordinate, a row a point.
    pub gradients: Vec<Vec<f64>>,
}

/// Derivative-based measures of one parameter.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Measure {
    /// ν \[unit of the output²/coordinate²\].
    pub nu: Estimate,
    /// Share of the mean squared gradient in units of the distributions; they add up to 1.
    pub share: Estimate,
}

/// The directions along which an output changes most.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Subspace {
    /// Eigenvalues, decreasing.
    pub eigenvalues: Vec<Estimate>,
    /// Eigenvectors in the same order, components in the order of the factors; the largest is positive.
    pub directions: Vec<Vec<f64>>,
    /// Activity of every factor, as shares that add up to 1.
    pub activity: Vec<f64>,
}

impl Slopes {
    /// Measures of every factor; none without two points.
    pub(crate) fn measures(&self, factors: &[Factor], seed: u64) -> Option<Vec<Measure>> {
        let n = self.values.len();
        if n < 2 {
            return None;
        }
        let squares = self.squares();
        let whole = DMatrix::repeat(1, n, 1.0) * &squares;
        let drawn = counts(n, seed) * &squares;
        let units: Vec<f64> = factors
            .iter()
            .map(|f| f.distribution.unit().powi(2))
            .collect();
        let at = |sums: &DMatrix<f64>, row: usize, k: usize| {
            let total: f64 = units
                .iter()
                .enumerate()
                .map(|(j, u)| u * sums[(row, j)])
                .sum();
            let share = units[k] * sums[(row, k)] / total;
            (
                sums[(row, k)] / n as f64,
                if share.is_finite() { share } else { 0.0 },
            )
        };
        let list = (0..factors.len()).map(|k| {
            let value = at(&whole, 0, k);
            let resampled: Vec<(f64, f64)> = (0..RESAMPLES).map(|r| at(&drawn, r, k)).collect();
            let of = |value: f64, pick: fn(&(f64, f64)) -> f64| {
                Estimate::new(value, &resampled.iter().map(pick).collect::<Vec<_>>())
            };
            Measure {
                nu: of(value.0, |r| r.0),
                share: of(value.1, |r| r.1),
            }
        });
        Some(list.collect())
    }

    /// Largest value that the Sobol' total of every group can have; none where the output does not vary.
    pub(crate) fn bounds(
        &self,
        factors: &[Factor],
        groups: &[Group],
        seed: u64,
    ) -> Option<Vec<Estimate>> {
        let n = self.values.len();
        let mean = self.values.iter().sum::<f64>() / n.max(1) as f64;
        let centred = self.values.iter().map(|v| v - mean);
        let squares = self.squares();
        // Behind the squared slopes the output and its square, for the variance.
        let k = factors.len();
        let mut products = squares.resize(n, k + 2, 0.0);
        for (i, v) in centred.enumerate() {
            products[(i, k)] = v;
            products[(i, k + 1)] = v * v;
        }
        let whole = DMatrix::repeat(1, n, 1.0) * &products;
        let variance = |sums: &DMatrix<f64>, row: usize| {
            let mean = sums[(row, k)] / n as f64;
            sums[(row, k + 1)] / n as f64 - mean * mean
        };
        if n < 2 || variance(&whole, 0) <= 0.0 {
            return None;
        }
        let drawn = counts(n, seed) * &products;
        let bound = |sums: &DMatrix<f64>, row: usize, group: &Group| -> f64 {
            let each = group.members.iter();
            let sum: f64 = each
                .map(|&m| factors[m].distribution.poincare() * sums[(row, m)] / n as f64)
                .sum();
            sum / variance(sums, row)
        };
        let list = groups.iter().map(|group| {
            let resampled: Vec<f64> = (0..RESAMPLES).map(|r| bound(&drawn, r, group)).collect();
            Estimate::new(bound(&whole, 0, group), &resampled)
        });
        Some(list.collect())
    }

    fn squares(&self) -> DMatrix<f64> {
        let width = self.gradients.first().map_or(0, Vec::len);
        DMatrix::from_fn(self.values.len(), width, |i, k| {
            self.gradients[i][k].powi(2)
        })
    }

    /// The active subspace; none where every slope is zero.
    pub(crate) fn subspace(&self, factors: &[Factor], seed: u64) -> Option<Subspace> {
        let (n, k) = (self.values.len(), factors.len());
        let unit: Vec<f64> = factors.iter().map(|f| f.distribution.unit()).collect();
        let scaled = DMatrix::from_fn(n, k, |i, j| self.gradients[i][j] * unit[j]);
        let weighted = |weights: &dyn Fn(usize) -> f64| {
            let rows = DMatrix::from_fn(n, k, |i, j| weights(i) * scaled[(i, j)]);
            SymmetricEigen::new(scaled.transpose() * rows / n as f64)
        };
        let decreasing = |values: &[f64]| {
            let mut order: Vec<usize> = (0..values.len()).collect();
            order.sort_by(|a, b| values[*b].total_cmp(&values[*a]));
            order
        };
        let whole = weighted(&|_| 1.0);
        let order = decreasing(whole.eigenvalues.as_slice());
        let total: f64 = whole.eigenvalues.iter().sum();
        if n < 2 || total.is_nan() || total <= 0.0 {
            return None;
        }
        let counts = counts(n, seed);
        let resampled: Vec<Vec<f64>> = (0..RESAMPLES)
            .map(|r| {
                let drawn = weighted(&|i| counts[(r, i)]);
                let mut values: Vec<f64> = drawn.eigenvalues.iter().copied().collect();
                values.sort_by(|a, b| b.total_cmp(a));
                values
            })
            .collect();
        let eigenvalues = order.iter().enumerate().map(|(place, &e)| {
            let values: Vec<f64> = resampled.iter().map(|r| r[place]).collect();
            Estimate::new(whole.eigenvalues[e].max(0.0), &values)
        });
        let directions = order.iter().map(|&e| {
            let column = whole.eigenvectors.column(e);
            let largest = column
                .iter()
                .fold(0.0f64, |m, v| if v.abs() > m.abs() { *v } else { m });
            column.iter().map(|v| v * largest.signum()).collect()
        });
        let activity = (0..k).map(|i| {
            let each =
                (0..k).map(|e| whole.eigenvalues[e].max(0.0) * whole.eigenvectors[(i, e)].powi(2));
            each.sum::<f64>() / total
        });
        Some(Subspace {
            eigenvalues: eigenvalues.collect(),
            directions: directions.collect(),
            activity: activity.collect(),
        })
    }
}
