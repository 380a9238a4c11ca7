//! The search of a fit, in groups of starts that any machine can do.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{Fit, SearchMethod};
use crate::{
    error::{Error, Result},
    numeric::sobol,
    optimize::{
        Problem, adam,
        multistart::{self, SearchProgress},
    },
    study::{self, Shard, Tasks, Watcher, Wish, journal::Journal, tell},
};

/// Starts of a group. Starts of one group share rounds, and those that are level with the best of the group are
/// not kicked any further. Groups do not influence each other, so each group is a separate task. A case has as many
/// starts unless it says otherwise: then the only group is the whole search.
const GROUP: usize = 16;
/// Least time between two entries of a search in the journal.
const JOURNAL_EVERY: Duration = Duration::from_millis(250);
/// Key of the search that finds where the starts of a law with branches begin.
const WITHOUT_BRANCHES: &str = "search/without-branches";

/// What a search or a share of one found.
pub struct Searched {
    /// All starts, those of other shards as they were at first.
    pub progress: SearchProgress,
    /// Whether the watcher stopped it.
    pub stopped: bool,
    /// Whether every group is done, those of other shards too.
    pub whole: bool,
}

/// The groups of a search as tasks.
pub struct Groups<'a> {
    fit: &'a Fit<'a>,
    key: &'a str,
}

impl Tasks for Groups<'_> {
    fn study(&self) -> &'static str {
        match self.key {
            WITHOUT_BRANCHES => "fit without branches",
            _ => "fit",
        }
    }

    fn identity(&self) -> Value {
        self.fit.identity()
    }

    fn names(&self) -> Vec<String> {
        let starts = self.fit.case.starts;
        let name = |first: usize| format!("starts {} to {}", first + 1, starts.min(first + GROUP));
        (0..starts).step_by(GROUP).map(name).collect()
    }
}

impl Groups<'_> {
    /// Where a group that is on its way is in the journal.
    fn key(&self, index: usize) -> String {
        match index {
            0 => self.key.into(),
            _ => format!("{}/{}", self.key, index + 1),
        }
    }

    /// How the groups stand, as one search.
    fn standing(&self, journal: &Journal, starts: &[Vec<f64>]) -> Result<SearchProgress> {
        let mut groups = Vec::new();
        for (index, starts) in starts.chunks(GROUP).enumerate() {
            let progress = journal.get::<SearchProgress>(&self.key(index))?;
            let plan = self.fit.plan(index * GROUP);
            groups.push(progress.unwrap_or_else(|| SearchProgress::new(&plan, starts.to_vec())));
        }
        Ok(SearchProgress::joined(groups))
    }
}

impl Fit<'_> {
    /// Everything that the result depends on.
    pub(super) fn identity(&self) -> Value {
        json!({
            "case": self.case.to_json(),
            "data": self.data.rows,
            "optimizer": self.optimizer,
            "device": self.problem.compute().describe(),
        })
    }

    /// The search as tasks.
    pub fn groups(&self) -> Groups<'_> {
        Groups {
            fit: self,
            key: "search",
        }
    }

    /// The starts: the case's own, then Sobol's points. With relaxation branches, only those of the
    /// branches are spread; the rest is where a fit without branches ends, which costs a hundredth.
    fn starts(&self, journal: &mut Journal, watch: &mut Watcher) -> Result<Option<Vec<Vec<f64>>>> {
        let bounds = self.problem.bounds();
        let inside = |share: Vec<f64>| {
            let ends = share.into_iter().zip(bounds);
            ends.map(|(s, (low, high))| low + s * (high - low))
                .collect()
        };
        let points = sobol(self.case.starts, bounds.len(), self.case.seed)?;
        let mut starts: Vec<Vec<f64>> = points.into_iter().map(inside).collect();
        if let Some(first) = self.problem.first_start() {
            starts[0] = first;
        }
        if self.case.relaxation_branches > 0 {
            let mut case = self.case.clone();
            case.relaxation_branches = 0;
            let known = case.build_law().parameters();
            case.parameters
                .retain(|(name, _)| known.iter().any(|p| p.name == *name));
            let base = Fit::new(
                self.problem.compute().clone(),
                &case,
                self.data,
                SearchMethod::Lm,
            )?;
            let (progress, interrupted) = base.search(journal, WITHOUT_BRANCHES, watch)?;
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
        watch: &mut Watcher,
    ) -> Result<(SearchProgress, bool)> {
        let groups = Groups { fit: self, key };
        let searched = self.search_groups(&groups, journal, Shard::WHOLE, watch)?;
        Ok((searched.progress, searched.stopped))
    }

    /// The groups of a shard; those that the journal holds are not searched again.
    pub fn search_groups(
        &self,
        groups: &Groups,
        journal: &mut Journal,
        shard: Shard,
        watch: &mut Watcher,
    ) -> Result<Searched> {
        let (mut stopped, mut starts) = (false, None);
        let results = study::run_in_turn(groups, shard, journal, &mut |_, index, journal| {
            if starts.is_none() {
                starts = self.starts(journal, watch)?;
            }
            let Some(starts) = &starts else {
                stopped = true;
                return Ok(None);
            };
            let group = starts.chunks(GROUP).nth(index).unwrap_or_default();
            let progress = self.search_group(journal, &groups.key(index), index, group, watch)?;
            stopped = progress.stage < self.problem.stages();
            if stopped {
                return Ok(None);
            }
            written(&progress).map(Some)
        })?;
        let progress = match (&results, starts) {
            (Some(results), _) => SearchProgress::joined(read(results)?),
            // Another shard has the rest, and of ours nothing was left to do; or stopped before it began.
            (None, None) => SearchProgress::new(&self.plan(0), Vec::new()),
            (None, Some(starts)) => groups.standing(journal, &starts)?,
        };
        Ok(Searched {
            progress,
            stopped,
            whole: results.is_some(),
        })
    }

    fn search_group(
        &self,
        journal: &mut Journal,
        key: &str,
        index: usize,
        starts: &[Vec<f64>],
        watch: &mut Watcher,
    ) -> Result<SearchProgress> {
        let plan = self.plan(index * GROUP);
        let progress = match journal.get::<SearchProgress>(key)? {
            Some(progress) => progress,
            None => SearchProgress::new(&plan, starts.to_vec()),
        };
        let mut last = Instant::now();
        let mut each = |progress: &SearchProgress| {
            let done = progress.stage == self.problem.stages();
            let wish = self.tell(progress, watch);
            if done || wish == Wish::Stop || last.elapsed() > JOURNAL_EVERY {
                journal.put(key, progress)?;
                last = Instant::now();
            }
            Ok(wish)
        };
        match self.optimizer {
            SearchMethod::Lm => multistart::search(&self.problem, &plan, progress, &mut each),
            SearchMethod::Adam => adam::search(&self.problem, &plan, progress, &mut each),
        }
    }

    /// Tells a watcher how the starts of a group stand.
    fn tell(&self, progress: &SearchProgress, watch: &mut Watcher) -> Wish {
        let (stages, all) = (self.problem.stages(), progress.walkers.len());
        let moving = progress.walkers.iter();
        let moving = moving.filter(|w| w.outcome.is_none()).count();
        let best = progress.best();
        let text = format!(
            "stage {} of {stages}: {moving} of {all} starts moving, best cost {}, round {}",
            (progress.stage + 1).min(stages),
            best.map_or("-".into(), |b| format!("{:.3}", b.1)),
            progress.trace.len()
        );
        tell(watch, all - moving, all, text)
    }

    /// The search of a journal that holds all of it.
    pub(super) fn searched(&self, journal: &Journal) -> Result<Option<SearchProgress>> {
        let results = study::results(&self.groups(), journal)?;
        results
            .map(|all| Ok(SearchProgress::joined(read(&all)?)))
            .transpose()
    }
}

fn written(progress: &SearchProgress) -> Result<Value> {
    serde_json::to_value(progress)
        .map_err(|e| Error::BadInput(format!("a search cannot be written as JSON: {e}")))
}

fn read(results: &[Value]) -> Result<Vec<SearchProgress>> {
    let each = results.iter().map(|value| {
        serde_json::from_value(value.clone()).map_err(|e| {
            Error::BadInput(format!(
                "a group of starts in the journal cannot be read: {e}; start again in another folder"
            ))
        })
    });
    each.collect()
}
