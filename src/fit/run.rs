//! A fit from case to result: search, uncertainty, profiles, predictions, verdicts.

mod judgement;
mod refine;
mod search;

pub(crate) use judgement::Judgement;
use nalgebra::{DMatrix, DVector};
use serde::{Deserialize, Serialize};

use super::{
    case::Case,
    dataset::{DataRow, Dataset},
    problem::{Calibration, Unknown},
    result::FitResult,
    summary,
    verdict::Evidence,
};
use crate::{
    error::{Error, Result},
    laboratory::{Condition, TESTS},
    material::ParameterRole,
    numeric::Compute,
    optimize::{
        Linearized, Problem,
        levenberg::{Batch, Levenberg, Perturbation, Pin, Walker},
        multistart::SearchPlan,
        profile::{self, ProfileRange},
        uncertainty::Uncertainty,
    },
    study::{Watcher, journal::Journal},
};

/// How to look for the optimum.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SearchMethod {
    /// Levenberg-Marquardt.
    Lm,
    /// burn's Adam.
    Adam,
}

impl SearchMethod {
    /// In words.
    pub fn name(self) -> &'static str {
        match self {
            SearchMethod::Lm => "Levenberg-Marquardt",
            SearchMethod::Adam => "Adam",
        }
    }
}

/// A case with its data, ready to run.
pub(crate) struct Fit<'a> {
    /// Completed by [`super::defaults::complete`].
    pub case: &'a Case,
    pub data: &'a Dataset,
    pub problem: Calibration,
    /// How to look for the optimum.
    pub optimizer: SearchMethod,
}

#[derive(Debug, Clone)]
pub(crate) struct Optimum {
    pub point: DVector<f64>,
    /// Residuals and Jacobian under the last stage.
    pub at: Linearized,
    /// Cost: χ² and priors under the case's loss.
    pub cost: f64,
    /// What its residuals say.
    pub judged: Judgement,
}

/// How often a search may be taken up again from a better point that a profile found.
const SECOND_THOUGHTS: usize = 4;
/// Rounds of kicks: from 200 to 600 of them 15 or 16 of 16 starts of the shipped case succeed.
const KICK_ROUNDS: usize = 300;
/// Copies of a start that are made at the end of a search, where whole folds make kinks.
const SHAKES: usize = 16;

/// Rounds that starts with branches may still take once the lowest has come to rest.
const STRAGGLERS: usize = 6;

impl<'a> Fit<'a> {
    /// Prepares a completed case.
    pub(crate) fn new(
        compute: Compute,
        case: &'a Case,
        data: &'a Dataset,
        optimizer: SearchMethod,
    ) -> Result<Self> {
        let problem = Calibration::new(compute, case, data)?;
        Ok(Fit {
            case,
            data,
            problem,
            optimizer,
        })
    }

    /// Settings of every search of this fit.
    pub(crate) fn levenberg(&self) -> Levenberg {
        let usual = Levenberg {
            loss: self.case.loss,
            ..Levenberg::default()
        };
        let limits = TESTS
            .iter()
            .map(|test| test.search_limits(&self.case.tests));
        let coarsest = limits.flatten().max_by(|a, b| a.0.total_cmp(&b.0));
        match coarsest {
            Some((tolerance, most_damping)) => Levenberg {
                tolerance,
                most_damping,
                ..usual
            },
            None => usual,
        }
    }

    /// How the group of starts that begins with `first` is searched.
    fn plan(&self, first: usize) -> SearchPlan {
        SearchPlan {
            levenberg: self.levenberg(),
            rounds: 40,
            // Starts that come from the fit of a simpler law are near enough, and their rounds are dear.
            kick_rounds: match self.case.with_fused_law() {
                None => KICK_ROUNDS,
                Some(_) => KICK_ROUNDS / 10,
            },
            shakes: match self.problem.is_cheap() {
                true => SHAKES,
                false => 0,
            },
            // Rounds of whole folds without a closed form are dear.
            stragglers: match self.case.with_fused_law() {
                None => usize::MAX,
                Some(_) => STRAGGLERS,
            },
            seed: self.case.seed,
            first,
        }
    }

    /// Runs all that the journal does not already hold; `watch` may stop it.
    pub(crate) fn run(&self, journal: &mut Journal, watch: &mut Watcher) -> Result<FitResult> {
        let (progress, mut interrupted) = self.search(journal, "search", watch)?;
        // A new stage forgets the costs of the last.
        if interrupted && progress.best().is_none() {
            let message =
                "interrupted before there was anything to report; `rumple fit --resume` goes on";
            return Err(Error::Interrupted(message.into()));
        }
        let (start, _) = progress.best().ok_or_else(|| {
            Error::BadInput(format!(
                "case '{}': no start has finite residuals; narrow the bounds, and check that no sd or prior is too small",
                self.case.name
            ))
        })?;
        let mut best = progress.walker(start).clone();
        if !interrupted {
            best = self.polished(best)?;
        }
        let mut optimum = self.optimum_at(&best.point)?;
        let mut sides = Vec::new();
        let mut thoughts = 0;
        while !interrupted {
            let (outcome, found) = self.profile(journal, thoughts, &optimum, watch)?;
            sides = found;
            match outcome {
                profile::ProfileEnd::Done => break,
                profile::ProfileEnd::Stopped => interrupted = true,
                profile::ProfileEnd::Better(point) => {
                    thoughts += 1;
                    best = self.descend(point)?;
                    optimum = self.optimum_at(&best.point)?;
                }
            }
        }
        if interrupted {
            sides.clear();
        }
        let uncertainty = self.uncertainty(&optimum);
        let without_flow = self.without_flow(&optimum)?;
        let gradient = summary::gradient_check(self, &optimum)?;
        let evidence = Evidence {
            gradient: &gradient,
            without_flow: &without_flow,
            problem: &self.problem,
            data: self.data,
            best: &optimum.point,
            at: &optimum.at,
            uncertainty: &uncertainty,
            sides: &sides,
            thresholds: &self.thresholds(&optimum),
            judged: &optimum.judged,
        };
        let outcome = best.outcome.filter(|_| !interrupted);
        summary::result(self, &progress, (start, outcome), &optimum, &evidence)
    }

    /// The end of a search: Levenberg-Marquardt goes on until it converges, Adam stays where it came to.
    fn polished(&self, walker: Walker) -> Result<Walker> {
        match self.optimizer {
            SearchMethod::Lm => self.descend(walker.point),
            SearchMethod::Adam => Ok(walker),
        }
    }

    /// A walker at the lowest point near a point, under the last stage.
    fn descend(&self, point: Vec<f64>) -> Result<Walker> {
        let walker = Walker::new(point, 0, 200);
        let stage = self.problem.stages() - 1;
        let mut batch = Batch::new(&self.problem, self.levenberg(), stage, vec![walker]);
        batch.run()?;
        Ok(batch.walkers.remove(0))
    }

    /// Residuals and Jacobian at a point under the last stage.
    pub(crate) fn optimum_at(&self, point: &[f64]) -> Result<Optimum> {
        let point = DVector::from_column_slice(point);
        let stage = self.problem.stages() - 1;
        let at = self
            .problem
            .linearized(stage, std::slice::from_ref(&point))?
            .remove(0);
        let cost = self.case.loss.cost(&at.residuals, self.problem.data());
        let judged = Judgement::of(self, &at);
        Ok(Optimum {
            point,
            at,
            cost,
            judged,
        })
    }

    /// Factor on the standard deviation of every residual; that of a prior is as given.
    fn scales(&self, optimum: &Optimum) -> DVector<f64> {
        let mut scales = DVector::repeat(optimum.at.residuals.len(), 1.0);
        for (scale, row) in scales.iter_mut().zip(self.data.fitted()) {
            *scale = optimum.judged.scale(row.spread);
        }
        scales
    }

    /// Δcost at the ends of the 95 % interval of every unknown's parameter. Where some residuals scatter more than they
    /// were weighted for, the Δcost of a standard error is the ratio of two variances: the true one and that of the
    /// weights.
    fn thresholds(&self, optimum: &Optimum) -> Vec<f64> {
        let (scaled, plain) = (self.uncertainty(optimum), self.unscaled(optimum));
        let threshold = |k: usize| {
            let (_, gradient) = self.problem.quantity(k, &optimum.point);
            let ratio = scaled.std_error(&gradient) / plain.std_error(&gradient);
            let ratio = if ratio.is_finite() { ratio } else { 1.0 };
            (optimum.judged.half_width * ratio).powi(2)
        };
        (0..self.problem.unknowns.len()).map(threshold).collect()
    }

    /// The covariance at an optimum.
    pub(crate) fn uncertainty(&self, optimum: &Optimum) -> Uncertainty {
        let seen = self.case.loss.reweighted(&optimum.at, self.problem.data());
        Uncertainty::scaled(&seen, self.problem.bounds(), &self.scales(optimum))
    }

    /// The covariance if every standard deviation were as the search took it.
    fn unscaled(&self, optimum: &Optimum) -> Uncertainty {
        let seen = self.case.loss.reweighted(&optimum.at, self.problem.data());
        Uncertainty::new(&seen, self.problem.bounds())
    }

    /// Residuals and Jacobian at an optimum over the standard deviations that it found.
    pub(super) fn known(&self, optimum: &Optimum) -> Linearized {
        let mut at = self.case.loss.reweighted(&optimum.at, self.problem.data());
        for (i, scale) in self.scales(optimum).iter().enumerate() {
            at.residuals[i] /= *scale;
            at.jacobian.row_mut(i).unscale_mut(*scale);
        }
        at
    }

    /// Every unknown that is a yield strain, with the rise of the cost when it is beyond all folds.
    fn without_flow(&self, optimum: &Optimum) -> Result<Vec<(usize, f64)>> {
        let sharpest = self.data.fitted().map(DataRow::curvature);
        let sharpest = sharpest.fold(0.0, f64::max);
        let unknowns = self.problem.unknowns.iter().enumerate();
        let is_yield = |u: &Unknown| {
            self.problem.parameter_of(u).role == ParameterRole::YieldStrain && u.bounds.1 > sharpest
        };
        let yields = unknowns.filter(|(_, u)| is_yield(u));
        let yields: Vec<usize> = yields.map(|(k, _)| k).collect();
        let (mut walkers, mut perturbations) = (Vec::new(), Vec::new());
        for &k in &yields {
            let mut point = optimum.point.as_slice().to_vec();
            point[k] = self.problem.bounds()[k].1;
            walkers.push(Walker::new(point.clone(), 0, 100));
            let pin = Pin {
                quantity: k,
                target: self.problem.quantity(k, &DVector::from_vec(point)).0,
                stiffness: 1e4,
            };
            perturbations.push(Perturbation {
                offset: None,
                pin: Some(pin),
            });
        }
        let stage = self.problem.stages() - 1;
        let mut batch = Batch::perturbed(
            &self.problem,
            self.levenberg(),
            stage,
            walkers,
            perturbations,
        );
        batch.run()?;
        let cost = |i: usize| batch.walkers[i].cost.unwrap_or(f64::INFINITY);
        Ok(yields
            .iter()
            .enumerate()
            .map(|(i, &k)| (k, cost(i) - optimum.cost))
            .collect())
    }

    /// How far every unknown is profiled: `beyond` times the Δcost of a 95 % interval.
    fn ranges(&self, optimum: &Optimum, beyond: f64) -> Vec<ProfileRange> {
        let unknowns = self.problem.unknowns.iter().zip(self.thresholds(optimum));
        let range = |(k, (unknown, threshold)): (usize, (&Unknown, f64))| {
            let end = |v: f64| self.problem.to_scale(k, v);
            ProfileRange {
                quantity: k,
                range: (end(unknown.bounds.0), end(unknown.bounds.1)),
                threshold: beyond * threshold,
            }
        };
        unknowns.enumerate().map(range).collect()
    }

    /// Readings at the optimum for rows and further conditions, and their standard deviation from the
    /// parameters.
    pub(crate) fn predictions(
        &self,
        optimum: &Optimum,
        uncertainty: &Uncertainty,
        list: &[(usize, Condition)],
    ) -> Result<(Vec<f64>, Vec<f64>)> {
        let (values, jacobian): (Vec<f64>, DMatrix<f64>) =
            self.problem.predict(&optimum.point, list)?;
        let spread = (0..values.len()).map(|i| uncertainty.std_error(&jacobian.row(i).transpose()));
        let spread = spread.collect();
        Ok((values, spread))
    }
}
