//! Around the optimum of a fit: profiles and bootstrap.

use nalgebra::DVector;
use serde_json::{Value, json};

use super::{Fit, Optimum, SECOND_THOUGHTS};
use crate::{
    error::{Error, Result, bad_input},
    fit::{
        result::{BootstrapResult, ProfileResult},
        summary,
    },
    optimize::{
        bootstrap::{self, Sample},
        profile::{self, ProfileSide},
    },
    study::{self, Shard, Task, Tasks, Watcher, Work, journal::Journal, tell},
};

/// Δχ² of a 99.7 % interval over that of a 95 % interval.
const BEYOND_997: f64 = 9.0 / 3.841_458_820_694_124;

/// How often the end of an interval is looked beyond.
const LOOKS: usize = 2;

impl Fit<'_> {
    pub(super) fn profile(
        &self,
        journal: &mut Journal,
        thoughts: usize,
        optimum: &Optimum,
        watch: &mut Watcher,
    ) -> Result<(profile::ProfileEnd, Vec<ProfileSide>)> {
        let key = format!("profile/{thoughts}");
        if let Some(better) = journal.get::<Vec<f64>>(&format!("{key}/better"))? {
            return Ok((profile::ProfileEnd::Better(better), Vec::new()));
        }
        let limits = (1.0, 1.0, thoughts < SECOND_THOUGHTS);
        let (outcome, sides) = self.profile_to(journal, &key, optimum, limits, watch)?;
        if let profile::ProfileEnd::Better(point) = &outcome {
            journal.put(&format!("{key}/better"), point)?;
        }
        Ok((outcome, sides))
    }

    /// Profiles of all unknowns up to so many times the Δcost of a 95 % interval, with steps so many times finer than
    /// usual.
    fn profile_to(
        &self,
        journal: &mut Journal,
        key: &str,
        optimum: &Optimum,
        (beyond, fineness, may_be_better): (f64, f64, bool),
        watch: &mut Watcher,
    ) -> Result<(profile::ProfileEnd, Vec<ProfileSide>)> {
        let uncertainty = self.unscaled(optimum);
        let task = profile::ProfileTask {
            problem: &self.problem,
            levenberg: self.levenberg(),
            best: optimum.point.clone(),
            cost: optimum.cost,
            offset: None,
            uncertainty: &uncertainty,
            fineness,
            may_be_better,
            looks: match self.problem.is_cheap() {
                true => LOOKS,
                false => 0,
            },
            seed: self.case.seed,
        };
        let mut sides = match journal.get(key)? {
            Some(sides) => sides,
            None => profile::sides(&task, &self.ranges(optimum, beyond)),
        };
        let outcome = profile::profile(&task, &mut sides, &mut |sides| {
            journal.put(key, &sides)?;
            let done = sides.iter().filter(|s| s.done).count();
            let text = format!("profile likelihoods: {done} of {} sides", sides.len());
            Ok(tell(watch, done, sides.len(), text))
        })?;
        Ok((outcome, sides))
    }

    /// The optimum of a fit whose journal is complete.
    pub(crate) fn finished(&self, journal: &Journal) -> Result<Optimum> {
        let done = self.searched(journal)?;
        let best = done.and_then(|p| Some(p.walker(p.best()?.0).clone()));
        let Some(best) = best else {
            return bad_input(
                "the fit in this folder is not finished; `rumple fit --resume` goes on with it",
            );
        };
        let mut point = self.polished(best)?.point;
        for thought in 0..SECOND_THOUGHTS {
            match journal.get::<Vec<f64>>(&format!("profile/{thought}/better"))? {
                Some(better) => point = self.descend(better)?.point,
                None => break,
            }
        }
        self.optimum_at(&point)
    }

    /// Finer and wider profiles of a finished fit, to 99.7 %.
    pub(crate) fn fine_profiles(
        &self,
        journal: &mut Journal,
        watch: &mut Watcher,
    ) -> Result<Option<Vec<ProfileResult>>> {
        let optimum = self.finished(journal)?;
        let (outcome, sides) = self.profile_to(
            journal,
            "profile/fine",
            &optimum,
            (BEYOND_997, 2.5, false),
            watch,
        )?;
        let done = outcome != profile::ProfileEnd::Stopped;
        Ok(done.then(|| summary::profiles(&self.problem, &sides, &self.thresholds(&optimum))))
    }

    /// The bootstrap of a finished fit, as tasks.
    pub(crate) fn samples(&self, journal: &Journal, count: usize) -> Result<Samples<'_>> {
        let optimum = self.finished(journal)?;
        Ok(Samples {
            scales: self.scales(&optimum),
            fit: self,
            optimum,
            count,
        })
    }

    /// Values of the free parameters, in their order, from so many refits of a parametric bootstrap with a seed of its
    /// own. Refits that failed are left out.
    pub(crate) fn refits(
        &self,
        optimum: &Optimum,
        count: usize,
        seed: u64,
    ) -> Result<Vec<Vec<f64>>> {
        let mut values = Vec::new();
        for first in (0..count).step_by(bootstrap::BATCH) {
            let batch = bootstrap::samples(
                &self.problem,
                self.levenberg(),
                (&optimum.point, &optimum.at.residuals),
                &self.scales(optimum),
                seed,
                (first, bootstrap::BATCH.min(count - first)),
            )?;
            for sample in batch.iter().filter(|s| s.cost.is_some()) {
                let point = DVector::from_column_slice(&sample.point);
                let unknowns = 0..self.problem.unknowns.len();
                values.push(
                    unknowns
                        .map(|k| self.problem.parameter(k, &point).0)
                        .collect(),
                );
            }
        }
        Ok(values)
    }

    /// A parametric bootstrap of a finished fit; none where other shards have the rest.
    pub(crate) fn bootstrap(
        &self,
        journal: &mut Journal,
        count: usize,
        shard: Shard,
        watch: &mut Watcher,
    ) -> Result<Option<BootstrapResult>> {
        let samples = self.samples(journal, count)?;
        let Some(results) = study::run_in(&samples, shard, journal, watch)? else {
            return Ok(None);
        };
        let mut all: Vec<Sample> = Vec::new();
        for batch in results {
            let batch: Vec<Sample> = serde_json::from_value(batch).map_err(|e| {
                Error::BadInput(format!(
                    "a sample in the journal cannot be read: {e}; draw them again in another folder"
                ))
            })?;
            all.extend(batch);
        }
        all.truncate(count);
        Ok(Some(summary::bootstrap(&self.problem, &all)))
    }
}

/// Samples of a bootstrap as tasks of [`bootstrap::BATCH`] each; every sample has its own stream of the case's
/// seed.
pub(crate) struct Samples<'a> {
    fit: &'a Fit<'a>,
    optimum: Optimum,
    /// Factor on the standard deviation of each residual.
    scales: DVector<f64>,
    count: usize,
}

impl Tasks for Samples<'_> {
    fn study(&self) -> &'static str {
        "bootstrap"
    }

    fn identity(&self) -> Value {
        json!({
            "fit": self.fit.identity(),
            "optimum": self.optimum.point.as_slice(),
            "scales": self.scales.as_slice(),
        })
    }

    fn names(&self) -> Vec<String> {
        // Always whole batches, so that more samples later go on from these.
        let batches = 0..self.count.div_ceil(bootstrap::BATCH);
        let name = |b: usize| {
            format!(
                "samples {} to {}",
                b * bootstrap::BATCH + 1,
                (b + 1) * bootstrap::BATCH
            )
        };
        batches.map(name).collect()
    }
}

impl Work for Samples<'_> {
    fn run(&self, _: &Task, index: usize) -> Result<Value> {
        let batch = bootstrap::samples(
            &self.fit.problem,
            self.fit.levenberg(),
            (&self.optimum.point, &self.optimum.at.residuals),
            &self.scales,
            self.fit.case.seed,
            (index * bootstrap::BATCH, bootstrap::BATCH),
        )?;
        Ok(json!(batch))
    }
}
