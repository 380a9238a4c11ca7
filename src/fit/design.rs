//! What to measure next: candidate measurements, ranked by what they would teach about the parameters.
//!
//! At the optimum the knowledge of the data, the priors and the box is a covariance C of the unknowns (the
//! inverse of the Fisher information, [`Uncertainty`]). A measurement whose readings have the Jacobian G, in
//! units of their standard deviations, would make it C' = (C⁻¹ + GᵀG/s²)⁻¹, with s the factor on all errors of
//! the fit. Two scores:
//!
//! - D: ½·log₂ det(C)/det(C'), the expected information in bits, whatever the scale of the parameters;
//! - A: the share by which the sum of the parameters' variances falls, on the scale on which they are reported
//!   (logarithms, so relative errors, for all that is positive).
//!
//! Both are of the linear picture at the optimum: they hold as far as the fit's standard errors do.

mod candidate;
mod result;

use std::path::Path;

use nalgebra::{DMatrix, DVector};
use serde::{Deserialize, Serialize};

pub(crate) use candidate::Candidate;
pub use result::DesignResult;
pub(crate) use result::{CandidateResult, ParameterForecast};

use super::{
    folder::{FitFolder, FitJob, finished},
    run::{Fit, Optimum},
};
use crate::{
    error::{Result, bad_input},
    laboratory::Grid,
    numeric::Compute,
    optimize::{Linearized, Problem, uncertainty::Uncertainty},
};

/// A measurement counts as equal to the best one if it gives at least this share of its information. Curves saturate,
/// so a slightly better measurement can need a much longer pressing time.
const AS_GOOD: f64 = 0.99;

/// What a plan is to make small.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Criterion {
    /// The volume of the region of uncertainty.
    D,
    /// The sum of the relative variances.
    A,
}

/// What a measurement would teach.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Gain {
    /// D: expected information \[bits\].
    pub bits: f64,
    /// A: share of the sum of variances that would go.
    pub variance_cut: f64,
}

impl Gain {
    /// What is compared: bits, for A those of the variance that is left. Percentages would look alike
    /// although 99.8 % leaves a fifth of what 99 % leaves.
    fn by(self, criterion: Criterion) -> f64 {
        match criterion {
            Criterion::D => self.bits,
            Criterion::A => -(1.0 - self.variance_cut).max(f64::MIN_POSITIVE).log2(),
        }
    }
}

/// One choice of a plan.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Choice {
    pub candidate: usize,
    /// What it adds to those before it.
    pub gain: Gain,
    /// Standard errors of the parameters with it and those before, in their own units.
    pub errors: Vec<f64>,
}

/// Measurements that a plan may have: each step ranks all candidates again.
const MOST_BUDGET: usize = 100;

/// Refuses a plan without measurements, or with too many.
pub(crate) fn check_budget(budget: usize) -> Result<()> {
    match (1..=MOST_BUDGET).contains(&budget) {
        true => Ok(()),
        false => bad_input(format!(
            "--budget {budget} cannot be planned; give 1 to {MOST_BUDGET} measurements"
        )),
    }
}

impl FitJob {
    /// What to measure next after the finished fit in a folder: candidates, ranked, and a plan of `budget` measurements.
    /// `chosen` has values of settings by their names with units, such as `gap_mm`; the tests choose those that are not
    /// given.
    pub fn design(
        folder: &Path,
        compute: &Compute,
        chosen: &[(&str, Vec<f64>)],
        criterion: Criterion,
        budget: usize,
    ) -> Result<DesignResult> {
        let opened = FitFolder::open(folder, compute)?;
        check_budget(budget)?;
        let grid = Grid::new(chosen)?;
        let fitted = finished(folder)?;
        let free = fitted.parameters.iter().filter(|p| p.free);
        let determined: Vec<bool> = free.map(|p| p.value.is_some()).collect();
        opened.with(|fit, journal| {
            let optimum = fit.finished(journal)?;
            let design = Design::new(fit, &optimum, &grid)?;
            Ok(design.result(criterion, budget, &determined))
        })
    }
}

/// A fit and what could be measured next.
pub(crate) struct Design<'a> {
    fit: &'a Fit<'a>,
    optimum: &'a Optimum,
    /// What is known now: residuals and Jacobian over the standard deviations that the fit found.
    known: Linearized,
    /// Gradients of the parameters on their scale, one row each.
    quantities: DMatrix<f64>,
    pub candidates: Vec<Candidate>,
}

impl<'a> Design<'a> {
    /// At the optimum of a fit, over a grid of candidates.
    pub(crate) fn new(fit: &'a Fit<'a>, optimum: &'a Optimum, grid: &Grid) -> Result<Design<'a>> {
        let n = fit.problem.unknowns.len();
        let mut quantities = DMatrix::zeros(n, n);
        for k in 0..n {
            let gradient = fit.problem.quantity(k, &optimum.point).1;
            quantities.row_mut(k).tr_copy_from(&gradient);
        }
        let candidates = candidate::candidates(fit, optimum, grid)?;
        if candidates.is_empty() {
            return bad_input(
                "nothing to choose from: no test can vary what was asked for; a cantilever needs the mass per area \
                 (--areal-density-g-per-m2, or tests.areal_density_g_per_m2 of the case)",
            );
        }
        Ok(Design {
            known: fit.known(optimum),
            fit,
            optimum,
            quantities,
            candidates,
        })
    }

    /// What would be known after some candidates, repeats allowed.
    pub(crate) fn after(&self, chosen: &[usize]) -> Uncertainty {
        let mut at = self.known.clone();
        for &candidate in chosen {
            for row in self.candidates[candidate].rows.row_iter() {
                let end = at.jacobian.nrows();
                at.jacobian = at.jacobian.insert_row(end, 0.0);
                at.jacobian.row_mut(end).copy_from(&row);
                at.residuals = at.residuals.push(0.0);
            }
        }
        Uncertainty::new(&at, self.fit.problem.bounds())
    }

    /// Standard errors of all parameters, in their own units.
    pub(crate) fn errors(&self, knowledge: &Uncertainty) -> Vec<f64> {
        let problem = &self.fit.problem;
        let error = |k| knowledge.std_error(&problem.parameter(k, &self.optimum.point).1);
        (0..problem.unknowns.len()).map(error).collect()
    }

    /// What a candidate would add.
    pub(crate) fn gain(&self, knowledge: &Uncertainty, candidate: usize) -> Gain {
        let rows = &self.candidates[candidate].rows;
        let covariance = &knowledge.covariance;
        let spread = covariance * rows.transpose();
        let noisy = DMatrix::identity(rows.nrows(), rows.nrows()) + rows * &spread;
        // Positive definite: an identity and a square.
        let Some(factor) = noisy.cholesky() else {
            return Gain {
                bits: 0.0,
                variance_cut: 0.0,
            };
        };
        let root_of_determinant = factor.l_dirty().diagonal();
        let fall = &spread * factor.solve(&spread.transpose());
        let sum = |matrix: &DMatrix<f64>| {
            let of = |q: DVector<f64>| (matrix * &q).dot(&q);
            self.quantities
                .row_iter()
                .map(|q| of(q.transpose()))
                .sum::<f64>()
        };
        Gain {
            bits: root_of_determinant.iter().map(|d| d.log2()).sum(),
            variance_cut: sum(&fall) / sum(covariance),
        }
    }

    /// What every candidate would add to what is known now.
    pub(crate) fn ranking(&self) -> Vec<Gain> {
        let now = self.after(&[]);
        let each = 0..self.candidates.len();
        each.map(|candidate| self.gain(&now, candidate)).collect()
    }

    /// The best measurement, then the best one after it, and so on; of those within 1 % of the best the
    /// shortest. A measurement may come again: repeats teach too. Greedy: for D it reaches at least about
    /// 1 − 1/e of the information of the best set; for A there is no such bound, and a set that is a little
    /// better can exist.
    pub(crate) fn plan(&self, criterion: Criterion, budget: usize) -> Vec<Choice> {
        let (mut chosen, mut plan) = (Vec::new(), Vec::new());
        for _ in 0..budget {
            let now = self.after(&chosen);
            let gains = (0..self.candidates.len()).map(|c| self.gain(&now, c));
            let gains: Vec<Gain> = gains.collect();
            let best = gains.iter().map(|g| g.by(criterion)).fold(0.0, f64::max);
            let good = (0..gains.len()).filter(|&c| gains[c].by(criterion) >= AS_GOOD * best);
            let time = |c: usize| self.candidates[c].first().held();
            let Some(candidate) = good.min_by(|&a, &b| time(a).total_cmp(&time(b))) else {
                break;
            };
            chosen.push(candidate);
            plan.push(Choice {
                candidate,
                gain: gains[candidate],
                errors: self.errors(&self.after(&chosen)),
            });
        }
        plan
    }
}
