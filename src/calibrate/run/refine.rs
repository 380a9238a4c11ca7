//! Around the optimum of a fit: profiles and bootstrap.

use super::{Fit, News, Optimum, SECOND_THOUGHTS};
use crate::{
    calibrate::{
        result::{BootstrapResult, ProfileResult},
        summary,
    },
    error::{Result, bad_input},
    fit::{
        Problem,
        bootstrap::{self, Sample},
        journal::Journal,
        multistart::{Progress, Wish},
        profile::{self, Side, Task},
    },
};

/// Δχ² of a 99.7 % interval.
const THRESHOLD_997: f64 = 9.0;

impl Fit<'_> {
    pub(super) fn profile(
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
}
