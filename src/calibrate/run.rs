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
    error::{Error, Result, bad_input},
    fit::{
        Linearized, Problem, adam,
        bootstrap::{self, Sample},
        journal::Journal,
        levenberg::{Batch, Levenberg, Pin, Twist, Walker},
        multistart::{self, Plan, Progress, Wish},
        profile::{self, Side, THRESHOLD_95, Task},
        uncertainty::Uncertainty,
    },
    numeric::{Compute, sobol},
};

use super::result::{BootstrapResult, FitResult, ProfileResult};

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

/// Δχ² of a 99.7 % interval.
const THRESHOLD_997: f64 = 9.0;
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
            // Starts that come from a fit without branches are near enough, and their rounds are dear.
            kick_rounds: match self.case.relaxation_branches {
                0 => KICK_ROUNDS,
                _ => KICK_ROUNDS / 10,
            },
            seed: self.case.seed,
        }
    }

    /// Runs all that the journal does not already hold; `watch` may stop it.
    pub fn run(
        &self,
        journal: &mut Journal,
        watch: &mut dyn FnMut(News) -> Wish,
    ) -> Result<FitResult> {
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
        let mut optimum = self.optimum_at(&progress.walker(start).point)?;
        let mut sides = Vec::new();
        let mut thoughts = 0;
        while !interrupted {
            let (outcome, found) = self.profile(journal, thoughts, &optimum, watch)?;
            sides = found;
            match outcome {
                profile::Outcome::Done => break,
                profile::Outcome::Stopped => interrupted = true,
                profile::Outcome::Better(point) => {
                    thoughts += 1;
                    optimum = self.optimum_at(&self.descend(point)?)?;
                }
            }
        }
        if interrupted {
            sides.clear();
        }
        let uncertainty = self.uncertainty(&optimum);
        let without_flow = self.without_flow(&optimum)?;
        let evidence = Evidence {
            without_flow: &without_flow,
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

    /// The starts: the case's own, then Sobol's points. With relaxation branches, only those of the
    /// branches are spread; the rest is where a fit without branches ends, which costs a hundredth.
    fn starts(
        &self,
        journal: &mut Journal,
        watch: &mut dyn FnMut(News) -> Wish,
    ) -> Result<Option<Vec<Vec<f64>>>> {
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
        if self.case.relaxation_branches > 0 {
            let mut case = self.case.clone();
            case.relaxation_branches = 0;
            case.parameters
                .retain(|(name, _)| !name.starts_with("branch_"));
            let base = Fit::new(
                self.problem.compute().clone(),
                &case,
                self.data,
                Optimizer::Lm,
            )?;
            let (progress, interrupted) = base.search(journal, "search/without-branches", watch)?;
            if interrupted {
                return Ok(None);
            }
            if let Some((best, _)) = progress.best() {
                let found = &progress.walker(best).point;
                for (k, unknown) in self.problem.unknowns.iter().enumerate() {
                    let same = base
                        .problem
                        .unknowns
                        .iter()
                        .position(|u| u.name == unknown.name);
                    if let Some(j) = same {
                        starts.iter_mut().for_each(|start| start[k] = found[j]);
                    }
                }
            }
        }
        Ok(Some(starts))
    }

    /// The search alone; under the journal's `key` it goes on where it stopped. Whether it was stopped.
    pub fn search(
        &self,
        journal: &mut Journal,
        key: &str,
        watch: &mut dyn FnMut(News) -> Wish,
    ) -> Result<(Progress, bool)> {
        let plan = self.plan();
        let progress = match journal.get::<Progress>(key)? {
            Some(progress) => progress,
            None => match self.starts(journal, watch)? {
                Some(starts) => Progress::new(&plan, starts),
                None => return Ok((Progress::new(&plan, Vec::new()), true)),
            },
        };
        let mut last = Instant::now();
        let mut each = |progress: &Progress| {
            let done = progress.stage == self.problem.stages();
            let wish = watch(News::Search(progress));
            if done || wish == Wish::Stop || last.elapsed() > JOURNAL_EVERY {
                journal.put(key, progress)?;
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
        let limits = (self.threshold(optimum), 1.0, thoughts < SECOND_THOUGHTS);
        let (outcome, sides) = self.profile_to(journal, &key, optimum, limits, watch)?;
        if let profile::Outcome::Better(point) = &outcome {
            journal.put(&format!("{key}/better"), point)?;
        }
        Ok((outcome, sides))
    }

    /// Profiles of all unknowns up to a Δcost, with steps so many times finer than usual.
    fn profile_to(
        &self,
        journal: &mut Journal,
        key: &str,
        optimum: &Optimum,
        (threshold, fineness, may_be_better): (f64, f64, bool),
        watch: &mut dyn FnMut(News) -> Wish,
    ) -> Result<(profile::Outcome, Vec<Side>)> {
        let uncertainty = self.uncertainty(optimum);
        let task = Task {
            problem: &self.problem,
            levenberg: self.levenberg(),
            best: optimum.point.clone(),
            cost: optimum.cost,
            offset: None,
            uncertainty: &uncertainty,
            threshold,
            error_scale: self.error_scale(optimum),
            fineness,
            may_be_better,
        };
        let mut sides = match journal.get(key)? {
            Some(sides) => sides,
            None => profile::sides(&task, &self.ranges()),
        };
        let outcome = profile::profile(&task, &mut sides, &mut |sides| {
            journal.put(key, &sides)?;
            let done = sides.iter().filter(|s| s.is_done()).count();
            Ok(watch(News::Profile(done, sides.len())))
        })?;
        Ok((outcome, sides))
    }

    /// The optimum of a fit whose journal is complete.
    pub fn finished(&self, journal: &Journal) -> Result<Optimum> {
        let progress = journal.get::<Progress>("search")?;
        let done = progress.filter(|p| p.stage == self.problem.stages());
        let best = done.and_then(|p| Some(p.walker(p.best()?.0).point.clone()));
        let Some(mut point) = best else {
            return bad_input(
                "the fit in this folder is not finished; `rumple fit --resume` goes on with it",
            );
        };
        for thought in 0..SECOND_THOUGHTS {
            match journal.get::<Vec<f64>>(&format!("profile/{thought}/better"))? {
                Some(better) => point = self.descend(better)?,
                None => break,
            }
        }
        self.optimum_at(&point)
    }

    /// Finer and wider profiles of a finished fit, to 99.7 %.
    pub fn fine_profiles(
        &self,
        journal: &mut Journal,
        watch: &mut dyn FnMut(News) -> Wish,
    ) -> Result<Option<Vec<ProfileResult>>> {
        let optimum = self.finished(journal)?;
        let threshold = THRESHOLD_997 * self.error_scale(&optimum).powi(2);
        let (outcome, sides) = self.profile_to(
            journal,
            "profile/fine",
            &optimum,
            (threshold, 2.5, false),
            watch,
        )?;
        let done = outcome != profile::Outcome::Stopped;
        Ok(done.then(|| summary::profiles(&self.problem, &sides)))
    }

    /// A parametric bootstrap of a finished fit; none where it was stopped.
    pub fn bootstrap(
        &self,
        journal: &mut Journal,
        count: usize,
        watch: &mut dyn FnMut(usize) -> Wish,
    ) -> Result<Option<BootstrapResult>> {
        let optimum = self.finished(journal)?;
        let scale = self.error_scale(&optimum);
        let mut all: Vec<Sample> = Vec::new();
        while all.len() < count {
            let first = all.len();
            let size = bootstrap::BATCH;
            // Always whole batches, so that more samples later go on from these.
            let batch = journal.remember(&format!("bootstrap/{first}"), || {
                let at = (&optimum.point, &optimum.at.residuals);
                bootstrap::samples(
                    &self.problem,
                    self.levenberg(),
                    at,
                    scale,
                    self.case.seed,
                    (first, size),
                )
            })?;
            all.extend(batch);
            if watch(all.len().min(count)) == Wish::Stop {
                return Ok(None);
            }
        }
        all.truncate(count);
        Ok(Some(summary::bootstrap(&self.problem, &all)))
    }

    /// Every unknown that is a yield strain, with the rise of the cost when it is beyond all folds.
    fn without_flow(&self, optimum: &Optimum) -> Result<Vec<(usize, f64)>> {
        let sharpest = self.data.fitted().map(|row| row.condition.curvature());
        let sharpest = sharpest.fold(0.0, f64::max);
        let unknowns = self.problem.unknowns.iter().enumerate();
        let yields =
            unknowns.filter(|(_, u)| u.name.starts_with("yield_strain") && u.bounds.1 > sharpest);
        let yields: Vec<usize> = yields.map(|(k, _)| k).collect();
        let (mut walkers, mut twists) = (Vec::new(), Vec::new());
        for &k in &yields {
            let mut point = optimum.point.as_slice().to_vec();
            point[k] = self.problem.bounds()[k].1;
            walkers.push(Walker::new(point.clone(), 0, 100));
            let pin = Pin {
                quantity: k,
                target: self.problem.quantity(k, &DVector::from_vec(point)).0,
                stiffness: 1e4,
            };
            twists.push(Twist {
                offset: None,
                pin: Some(pin),
            });
        }
        let stage = self.problem.stages() - 1;
        let mut batch = Batch::twisted(&self.problem, self.levenberg(), stage, walkers, twists);
        batch.run()?;
        let cost = |i: usize| batch.walkers[i].cost.unwrap_or(f64::INFINITY);
        Ok(yields
            .iter()
            .enumerate()
            .map(|(i, &k)| (k, cost(i) - optimum.cost))
            .collect())
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
