//! A fit from case to result: search, uncertainty, profiles, predictions, verdicts.

use std::time::{Duration, Instant};

use nalgebra::{DMatrix, DVector};
use serde::{Deserialize, Serialize};

use super::{
    case::Case,
    dataset::Dataset,
    problem::{Calibration, conditions},
    summary,
    verdict::Evidence,
};
use crate::{
    error::{Error, Result},
    fit::{
        Linearized, Problem, adam,
        journal::Journal,
        levenberg::{Batch, Levenberg, Walker},
        multistart::{self, Plan, Progress, Wish},
        profile::{self, Side, THRESHOLD_95, Task},
        uncertainty::Uncertainty,
    },
    numeric::{Compute, sobol},
};

use super::result::FitResult;

/// How to look for the optimum.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Optimizer {
    /// Levenberg-Marquardt.
    Lm,
    /// burn's Adam.
    Adam,
}

impl Optimizer {
    /// In words.
    pub fn name(self) -> &'static str {
        match self {
            Optimizer::Lm => "Levenberg-Marquardt",
            Optimizer::Adam => "Adam",
        }
    }
}

/// What a watcher is told.
pub enum News<'a> {
    /// A round of the search.
    Search(&'a Progress),
    /// A step of the profiles: sides done, of how many.
    Profile(usize, usize),
}

/// A case with its data, ready to run.
pub struct Fit<'a> {
    /// Completed by [`super::defaults::complete`].
    pub case: &'a Case,
    /// Its data.
    pub data: &'a Dataset,
    /// The problem.
    pub problem: Calibration,
    /// How to look for the optimum.
    pub optimizer: Optimizer,
}

/// An optimum.
#[derive(Debug, Clone)]
pub struct Optimum {
    /// Unknowns.
    pub point: DVector<f64>,
    /// Residuals and Jacobian under the last stage.
    pub at: Linearized,
    /// Cost: χ² and priors under the case's loss.
    pub cost: f64,
}

/// How often a search may be taken up again from a better point that a profile found.
const SECOND_THOUGHTS: usize = 4;
/// Rounds of kicks: from 200 to 600 of them 15 or 16 of 16 starts of the shipped case succeed.
const KICK_ROUNDS: usize = 300;
/// Least time between two entries of a search in the journal.
const JOURNAL_EVERY: Duration = Duration::from_millis(250);

impl<'a> Fit<'a> {
    /// Prepares a completed case.
    pub fn new(
        compute: Compute,
        case: &'a Case,
        data: &'a Dataset,
        optimizer: Optimizer,
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
    pub fn levenberg(&self) -> Levenberg {
        Levenberg {
            loss: self.case.loss,
            ..Levenberg::default()
        }
    }

    fn plan(&self) -> Plan {
        Plan {
            levenberg: self.levenberg(),
            rounds: 40,
            kick_rounds: KICK_ROUNDS,
            seed: self.case.seed,
        }
    }

    /// Runs all that the journal does not already hold; `watch` may stop it.
    pub fn run(
        &self,
        journal: &mut Journal,
        watch: &mut dyn FnMut(News) -> Wish,
    ) -> Result<FitResult> {
        let (progress, mut interrupted) = self.search(journal, watch)?;
        let (start, _) = progress.best().ok_or_else(|| {
            Error::BadInput(format!(
                "case '{}': no start has finite residuals; narrow the bounds",
                self.case.name
            ))
        })?;
        let mut optimum = self.optimum_at(&progress.walker(start).point)?;
        let mut sides = Vec::new();
        let mut thoughts = 0;
        while !interrupted {
            let (outcome, found) = self.profile(journal, thoughts, &optimum, watch)?;
            sides = found;
            match outcome {
                profile::Outcome::Done => break,
                profile::Outcome::Stopped => interrupted = true,
                profile::Outcome::Better(point) if thoughts < SECOND_THOUGHTS => {
                    thoughts += 1;
                    optimum = self.optimum_at(&self.descend(point)?)?;
                }
                profile::Outcome::Better(_) => break,
            }
        }
        if interrupted {
            sides.clear();
        }
        let uncertainty = self.uncertainty(&optimum);
        let evidence = Evidence {
            problem: &self.problem,
            data: self.data,
            best: &optimum.point,
            at: &optimum.at,
            uncertainty: &uncertainty,
            sides: &sides,
            threshold: self.threshold(&optimum),
        };
        summary::result(self, &progress, (start, interrupted), &optimum, &evidence)
    }

    /// The starts: the case's own, then Sobol's points.
    fn starts(&self) -> Vec<Vec<f64>> {
        let bounds = self.problem.bounds();
        let inside = |share: Vec<f64>| {
            let ends = share.into_iter().zip(bounds);
            ends.map(|(s, (low, high))| low + s * (high - low))
                .collect()
        };
        let points = sobol(self.case.starts, bounds.len(), self.case.seed);
        let mut starts: Vec<Vec<f64>> = points.into_iter().map(inside).collect();
        if let Some(first) = self.problem.first_start() {
            starts[0] = first;
        }
        starts
    }

    fn search(
        &self,
        journal: &mut Journal,
        watch: &mut dyn FnMut(News) -> Wish,
    ) -> Result<(Progress, bool)> {
        let plan = self.plan();
        let progress = match journal.get::<Progress>("search")? {
            Some(progress) => progress,
            None => Progress::new(&plan, self.starts()),
        };
        let mut last = Instant::now();
        let mut each = |progress: &Progress| {
            let done = progress.stage == self.problem.stages();
            let wish = watch(News::Search(progress));
            if done || wish == Wish::Stop || last.elapsed() > JOURNAL_EVERY {
                journal.put("search", progress)?;
                last = Instant::now();
            }
            Ok(wish)
        };
        let progress = match self.optimizer {
            Optimizer::Lm => multistart::search(&self.problem, &plan, progress, &mut each)?,
            Optimizer::Adam => adam::search(&self.problem, &plan, progress, &mut each)?,
        };
        let interrupted = progress.stage < self.problem.stages();
        Ok((progress, interrupted))
    }

    /// The lowest point near a point, under the last stage.
    fn descend(&self, point: Vec<f64>) -> Result<Vec<f64>> {
        let walker = Walker::new(point, 0, 200);
        let stage = self.problem.stages() - 1;
        let mut batch = Batch::new(&self.problem, self.levenberg(), stage, vec![walker]);
        batch.run()?;
        Ok(batch.walkers.remove(0).point)
    }

    /// Residuals and Jacobian at a point under the last stage.
    pub fn optimum_at(&self, point: &[f64]) -> Result<Optimum> {
        let point = DVector::from_column_slice(point);
        let stage = self.problem.stages() - 1;
        let at = self
            .problem
            .linearized(stage, std::slice::from_ref(&point))?
            .remove(0);
        let cost = self.case.loss.cost(&at.residuals, self.problem.data());
        Ok(Optimum { point, at, cost })
    }

    /// Factor on standard errors: the spread of the residuals where the data's own was assumed.
    pub fn error_scale(&self, optimum: &Optimum) -> f64 {
        let freedom = self
            .problem
            .data()
            .saturating_sub(self.problem.unknowns.len());
        if !self.data.assumed_sd || freedom == 0 {
            return 1.0;
        }
        let data = optimum.at.residuals.rows(0, self.problem.data());
        (data.norm_squared() / freedom as f64).sqrt().max(1e-3)
    }

    fn threshold(&self, optimum: &Optimum) -> f64 {
        THRESHOLD_95 * self.error_scale(optimum).powi(2)
    }

    /// Covariance at an optimum.
    pub fn uncertainty(&self, optimum: &Optimum) -> Uncertainty {
        let seen = self.case.loss.reweighted(&optimum.at, self.problem.data());
        Uncertainty::new(&seen, self.problem.bounds(), self.error_scale(optimum))
    }

    fn profile(
        &self,
        journal: &mut Journal,
        thoughts: usize,
        optimum: &Optimum,
        watch: &mut dyn FnMut(News) -> Wish,
    ) -> Result<(profile::Outcome, Vec<Side>)> {
        let key = format!("profile/{thoughts}");
        if let Some(better) = journal.get::<Vec<f64>>(&format!("{key}/better"))? {
            return Ok((profile::Outcome::Better(better), Vec::new()));
        }
        let uncertainty = self.uncertainty(optimum);
        let task = Task {
            problem: &self.problem,
            levenberg: self.levenberg(),
            best: optimum.point.clone(),
            cost: optimum.cost,
            offset: None,
            uncertainty: &uncertainty,
            threshold: self.threshold(optimum),
        };
        let mut sides = match journal.get(&key)? {
            Some(sides) => sides,
            None => profile::sides(&task, &self.ranges()),
        };
        let outcome = profile::profile(&task, &mut sides, &mut |sides| {
            journal.put(&key, &sides)?;
            let done = sides.iter().filter(|s| s.is_done()).count();
            Ok(watch(News::Profile(done, sides.len())))
        })?;
        if let profile::Outcome::Better(point) = &outcome {
            journal.put(&format!("{key}/better"), point)?;
        }
        Ok((outcome, sides))
    }

    /// Ends of every profiled quantity.
    pub fn ranges(&self) -> Vec<(usize, (f64, f64))> {
        let unknowns = self.problem.unknowns.iter().enumerate();
        unknowns
            .map(|(k, u)| {
                let end = |v: f64| self.problem.to_scale(k, v);
                (k, (end(u.bounds.0), end(u.bounds.1)))
            })
            .collect()
    }

    /// Readings at the optimum for rows and further conditions, and their standard deviation from the
    /// parameters.
    pub fn predictions(
        &self,
        optimum: &Optimum,
        uncertainty: &Uncertainty,
        list: &[(usize, super::simulate::Condition)],
    ) -> Result<(Vec<f64>, Vec<f64>)> {
        let (values, jacobian): (Vec<f64>, DMatrix<f64>) =
            self.problem.predict(&optimum.point, list)?;
        let spread = (0..values.len()).map(|i| uncertainty.std_error(&jacobian.row(i).transpose()));
        let spread = spread.collect();
        Ok((values, spread))
    }

    /// The conditions of all rows, held out or not.
    pub fn all_conditions(&self) -> Vec<(usize, super::simulate::Condition)> {
        conditions(self.data.rows.iter())
    }
}
