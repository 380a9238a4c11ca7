//! Fitting: from residuals to parameters with error bars.
//!
//! A [`Problem`] evaluates many parameter sets in one call, which threads, a GPU or MPI can share. The searches
//! ([`levenberg`], [`adam`]) therefore move all their starts together. The profile likelihood and the bootstrap are
//! further batches of the same search.

pub(crate) mod adam;
pub(crate) mod bootstrap;
pub(crate) mod levenberg;
pub(crate) mod multistart;
pub(crate) mod profile;
#[cfg(feature = "mpi")]
pub(crate) mod ranks;
pub(crate) mod uncertainty;
mod walker;

use nalgebra::{DMatrix, DVector};
use serde::{Deserialize, Serialize};

use crate::{error::Result, files::words};

/// Residuals of one parameter set and their derivatives.
#[derive(Debug, Clone, PartialEq)]
pub struct Linearized {
    /// Residuals, in units of their standard deviation: data first, then priors.
    pub residuals: DVector<f64>,
    /// ∂residual/∂unknown.
    pub jacobian: DMatrix<f64>,
}

/// A nonlinear least-squares problem over unknowns of order one within a box.
pub(crate) trait Problem {
    /// Ends of every unknown.
    fn bounds(&self) -> &[(f64, f64)];

    /// How many of the residuals, the first ones, are data; the rest are priors.
    fn data(&self) -> usize;

    /// The problem is softened in stages; the last is the problem itself.
    fn stages(&self) -> usize;

    /// Residuals and Jacobians of all given points, in one evaluation. The result for a point is the same, bit for bit,
    /// whatever other points are in the batch. A resumed search relies on this, because its batches differ.
    fn linearized(&self, stage: usize, points: &[DVector<f64>]) -> Result<Vec<Linearized>>;

    /// What parameter `k` of a report is in terms of the unknowns, on a scale on which it is of order one,
    /// with its gradient; the unknown itself unless the problem says otherwise.
    fn quantity(&self, k: usize, point: &DVector<f64>) -> (f64, DVector<f64>) {
        let mut gradient = DVector::zeros(point.len());
        gradient[k] = 1.0;
        (point[k], gradient)
    }
}

/// How a residual r (in standard deviations) counts.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RobustLoss {
    /// r².
    Squares,
    /// r² up to 1.345, linear beyond: 95 % efficient for normal errors.
    Huber,
    /// c²·ln(1 + (r/c)²), c = 2.385, 95 % efficient: far outliers count for almost nothing.
    Cauchy,
}

words!(RobustLoss {
    Squares = "squares",
    Huber = "huber",
    Cauchy = "cauchy"
});

impl RobustLoss {
    /// Contribution to the cost, and the weight that makes weighted squares have its gradient.
    fn of(self, r: f64) -> (f64, f64) {
        const HUBER: f64 = 1.345;
        const CAUCHY: f64 = 2.385;
        match self {
            RobustLoss::Huber if r.abs() > HUBER => {
                (HUBER * (2.0 * r.abs() - HUBER), HUBER / r.abs())
            }
            RobustLoss::Squares | RobustLoss::Huber => (r * r, 1.0),
            RobustLoss::Cauchy => {
                let ratio = r / CAUCHY;
                let weight = 1.0 / (1.0 + ratio * ratio);
                (CAUCHY * CAUCHY * ratio.mul_add(ratio, 1.0).ln(), weight)
            }
        }
    }

    /// The cost: χ² for [`RobustLoss::Squares`]. `data` is how many residuals the loss applies to.
    pub fn cost(self, residuals: &DVector<f64>, data: usize) -> f64 {
        let each = |(i, r): (usize, &f64)| if i < data { self.of(*r).0 } else { r * r };
        residuals.iter().enumerate().map(each).sum()
    }

    /// Residuals and Jacobian whose plain squares have the cost's gradient.
    pub fn reweighted(self, at: &Linearized, data: usize) -> Linearized {
        let mut at = at.clone();
        if self != RobustLoss::Squares {
            for i in 0..data {
                let root = self.of(at.residuals[i]).1.sqrt();
                at.residuals[i] *= root;
                at.jacobian.row_mut(i).scale_mut(root);
            }
        }
        at
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_have_the_gradient_of_the_cost() {
        for loss in RobustLoss::ALL {
            for r in [-5.0, -0.3, 0.7, 3.0] {
                let step = 1e-6;
                let slope = (loss.of(r + step).0 - loss.of(r - step).0) / (2.0 * step);
                assert!(
                    (slope - 2.0 * r * loss.of(r).1).abs() < 1e-8,
                    "{loss:?} {r}"
                );
            }
        }
    }
}
