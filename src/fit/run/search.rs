//! The search of a fit, in groups of starts that any machine can do.

use std::{
    ops::ControlFlow,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use super::{Fit, SearchMethod};
use crate::{
    error::{Error, Result},
    fit::{
        dataset::Dataset,
        problem::{Calibration, LayoutPart},
    },
    numeric::sobol,
    optimize::{
        Problem, adam,
        multistart::{self, SearchProgress},
    },
    study::{self, Shard, Tasks, Watcher, journal::Journal, tell},
};

/// Starts of a group. Starts of one group share rounds, and those that are level with the best of the group are
/// not kicked any further. Groups do not influence each other, so each group is a separate task. A case has as many
/// starts unless it says otherwise: then the only group is the whole search.
const GROUP: usize = 16;
/// Least time between two entries of a search in the journal.
const JOURNAL_EVERY: Duration = Duration::from_millis(250);
/// Key of the search that finds where the starts of a law with branches or a population begin.
const FUSED_LAW: &str = "search/fused-law";

/// What a search or a share of one found.
pub(crate) struct Searched {
    /// All starts, those of other shards as they were at first.
    pub progress: SearchProgress,
    /// Whether the watcher stopped it.
    pub stopped: bool,
}

/// The groups of a search as tasks. Parts of the problem that share no unknown are searched apart, each from all starts.
pub(crate) struct Groups<'a> {
    fit: &'a Fit<'a>,
    key: &'a str,
    parts: Vec<Part>,
}

/// A part of the problem with its data.
struct Part {
    layout: LayoutPart,
    data: Dataset,
}

impl Tasks for Groups<'_> {
    fn study(&self) -> &'static str {
        match self.key {
            FUSED_LAW => "fit without branches and spreads",
            _ => "fit",
        }
    }

    fn identity(&self) -> Value {
        self.fit.identity()
    }

    fn names(&self) -> Vec<String> {
        let starts = self.fit.case.starts;
        let name = |first: usize| format!("starts {} to {}", first + 1, starts.min(first + GROUP));
        let of_part = |label: String| {
            let firsts = (0..starts).step_by(GROUP);
            firsts.map(move |first| label.clone() + &name(first))
        };
        let labels = (0..self.parts.len()).map(|part| self.label(part));
        labels.flat_map(of_part).collect()
    }
}

impl<'a> Groups<'a> {
    fn new(fit: &'a Fit<'a>, key: &'a str) -> Groups<'a> {
        let parts = fit.problem.parts(fit.data).into_iter();
        let part = |layout: LayoutPart| Part {
            data: fit.data.of_groups(&layout.groups),
            layout,
        };
        Groups {
            fit,
            key,
            parts: parts.map(part).collect(),
        }
    }

    /// Groups of a part.
    fn each(&self) -> usize {
        self.fit.case.starts.div_ceil(GROUP)
    }

    /// What a part is called before its starts: nothing where it is the whole.
    fn label(&self, part: usize) -> String {
        match self.parts.len() {
            1 => String::new(),
            _ => format!("{}: ", self.parts[part].data.groups.join(", ")),
        }
    }

    /// The problem of a part by itself; none where it is the whole.
    fn fit_of(&self, part: usize) -> Result<Option<Fit<'_>>> {
        if self.parts.len() == 1 {
            return Ok(None);
        }
        let (whole, data) = (self.fit, &self.parts[part].data);
        let compute = whole.problem.compute().clone();
        Ok(Some(Fit {
            case: whole.case,
            data,
            problem: Calibration::build(compute, whole.case, data)?
                .begun_on(whole.problem.begun_device()),
            optimizer: whole.optimizer,
        }))
    }

    /// Where a group that is on its way is in the journal.
    fn key(&self, index: usize) -> String {
        let (part, group) = (index / self.each(), index % self.each());
        let key = match self.parts.len() {
            1 => self.key.to_string(),
            _ => format!("{}/part-{}", self.key, part + 1),
        };
        match group {
            0 => key,
            _ => format!("{key}/{}", group + 1),
        }
    }

    /// Searches of all groups, in the order of the tasks, as one search.
    fn joined(&self, groups: Vec<SearchProgress>) -> SearchProgress {
        let mut groups = groups.into_iter();
        let mut parts = self.parts.iter().map(|part| {
            let of_part = groups.by_ref().take(self.each()).collect();
            (
                part.layout.unknowns.clone(),
                SearchProgress::joined(of_part),
            )
        });
        match self.parts.len() {
            1 => parts
                .next()
                .map_or_else(|| SearchProgress::joined(Vec::new()), |p| p.1),
            _ => SearchProgress::side_by_side(self.fit.problem.unknowns.len(), parts.collect()),
        }
    }

    /// How the groups stand, as one search. `starts` has those of every part.
    fn standing(&self, journal: &Journal, starts: &[Vec<Vec<f64>>]) -> Result<SearchProgress> {
        let mut groups = Vec::new();
        for (part, starts) in starts.iter().enumerate() {
            for (group, starts) in starts.chunks(GROUP).enumerate() {
                let key = self.key(part * self.each() + group);
                let progress = journal.get::<SearchProgress>(&key)?;
                let plan = self.fit.plan(group * GROUP);
                let stage = self.fit.first_stage();
                let fresh = || SearchProgress::new(&plan, starts.to_vec()).beginning_with(stage);
                groups.push(progress.unwrap_or_else(fresh));
            }
        }
        Ok(self.joined(groups))
    }
}

/// Unknowns where a fit of a law with a fused form ends, by their names; none where nothing came before.
type Before = Vec<(String, f64)>;

impl Fit<'_> {
    /// Everything that the result depends on.
    pub(super) fn identity(&self) -> Value {
        json!({
            "case": self.case.to_json(),
            "data": self.data.rows,
            "optimizer": self.optimizer,
            "device": self.problem.begun_device(),
        })
    }

    /// The search as tasks.
    pub(crate) fn groups(&self) -> Groups<'_> {
        Groups::new(self, "search")
    }

    /// Where the starts of a law with relaxation branches or a population begin: the end of a fit without both, which
    /// costs a hundredth. None where the watcher stopped it.
    fn before(&self, journal: &mut Journal, watch: &mut Watcher) -> Result<Option<Before>> {
        let Some(case) = self.case.with_fused_law() else {
            return Ok(Some(Vec::new()));
        };
        let base = Fit::new(
            self.problem.compute().clone(),
            &case,
            self.data,
            SearchMethod::Lm,
        )?;
        let base = Fit {
            problem: base.problem.begun_on(self.problem.begun_device()),
            ..base
        };
        let (progress, interrupted) = base.search(journal, FUSED_LAW, watch)?;
        if interrupted {
            return Ok(None);
        }
        let Some((best, _)) = progress.best() else {
            return Ok(Some(Vec::new()));
        };
        let names = base.problem.unknowns.iter().map(|u| u.name.clone());
        let found = progress.walker(best).point.iter().copied();
        Ok(Some(names.zip(found).collect()))
    }

    /// The stage that a search begins with. Starts from the end of a fit of a simpler law are near enough for whole
    /// folds, which cost less than the sums over hinges of the stages before.
    fn first_stage(&self) -> usize {
        match self.case.with_fused_law() {
            Some(_) if self.problem.reads_whole_folds() => self.problem.stages() - 1,
            _ => 0,
        }
    }

    /// The starts of a part whose unknowns are called `names` in the whole: the case's own, then Sobol's points. With
    /// relaxation branches or a population, only their own unknowns are spread; with a population one half of the
    /// starts is spread in all unknowns. The first start keeps the values that the case gives.
    fn starts(&self, names: &[&str], before: &Before) -> Result<Vec<Vec<f64>>> {
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
        // Equal yarns can hide a far better population.
        let far = match self.case.has_population() {
            true => starts.len() / 2,
            false => 0,
        };
        let near = starts.len() - far;
        for (k, name) in names.iter().enumerate() {
            if let Some((_, found)) = before.iter().find(|(known, _)| known == name) {
                // The first start keeps the values that the case gives.
                let given = usize::from(self.problem.unknowns[k].start.is_some());
                let near = starts.iter_mut().take(near).skip(given);
                near.for_each(|start| start[k] = *found);
            }
        }
        Ok(starts)
    }

    /// The search alone; under the journal's `key` it goes on where it stopped. Whether it was stopped.
    pub(crate) fn search(
        &self,
        journal: &mut Journal,
        key: &str,
        watch: &mut Watcher,
    ) -> Result<(SearchProgress, bool)> {
        let groups = Groups::new(self, key);
        let searched = self.search_groups(&groups, journal, Shard::WHOLE, watch)?;
        Ok((searched.progress, searched.stopped))
    }

    /// The groups of a shard; those that the journal holds are not searched again.
    pub(crate) fn search_groups(
        &self,
        groups: &Groups,
        journal: &mut Journal,
        shard: Shard,
        watch: &mut Watcher,
    ) -> Result<Searched> {
        let (mut stopped, mut starts) = (false, None);
        let fits: Result<Vec<Option<Fit>>> = (0..groups.parts.len())
            .map(|part| groups.fit_of(part))
            .collect();
        let fits = fits?;
        let fit_of = |part: usize| fits[part].as_ref().unwrap_or(self);
        let results = study::run_in_turn(groups, shard, journal, &mut |_, index, journal| {
            if starts.is_none()
                && let Some(before) = self.before(journal, watch)?
            {
                let of_part = groups.parts.iter().enumerate().map(|(part, of)| {
                    let names = of.layout.unknowns.iter();
                    let names = names.map(|k| self.problem.unknowns[*k].name.as_str());
                    fit_of(part).starts(&names.collect::<Vec<_>>(), &before)
                });
                starts = Some(of_part.collect::<Result<Vec<_>>>()?);
            }
            let Some(starts) = &starts else {
                stopped = true;
                return Ok(None);
            };
            let (part, group) = (index / groups.each(), index % groups.each());
            let of_group = starts[part].chunks(GROUP).nth(group).unwrap_or_default();
            let names = (groups.key(index), groups.label(part));
            let fit = fit_of(part);
            let progress = fit.search_group(journal, &names, group, of_group, watch)?;
            stopped = progress.stage < self.problem.stages();
            if stopped {
                return Ok(None);
            }
            written(&progress).map(Some)
        })?;
        let progress = match (&results, starts) {
            (Some(results), _) => groups.joined(read(results)?),
            // Another shard has the rest, and of ours nothing was left to do; or stopped before it began.
            (None, None) => SearchProgress::new(&self.plan(0), Vec::new()),
            (None, Some(starts)) => groups.standing(journal, &starts)?,
        };
        Ok(Searched { progress, stopped })
    }

    fn search_group(
        &self,
        journal: &mut Journal,
        (key, label): &(String, String),
        index: usize,
        starts: &[Vec<f64>],
        watch: &mut Watcher,
    ) -> Result<SearchProgress> {
        let plan = self.plan(index * GROUP);
        let progress = match journal.get::<SearchProgress>(key)? {
            Some(progress) => progress,
            None => SearchProgress::new(&plan, starts.to_vec()).beginning_with(self.first_stage()),
        };
        let mut last = Instant::now();
        let mut each = |progress: &SearchProgress| {
            let done = progress.stage == self.problem.stages();
            let wish = self.tell(label, progress, watch);
            if done || wish.is_break() || last.elapsed() > JOURNAL_EVERY {
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
    fn tell(&self, label: &str, progress: &SearchProgress, watch: &mut Watcher) -> ControlFlow<()> {
        let (stages, all) = (self.problem.stages(), progress.walkers.len());
        let moving = progress.walkers.iter();
        let moving = moving.filter(|w| w.outcome.is_none()).count();
        let best = progress.best();
        let text = format!(
            "{label}stage {} of {stages}: {moving} of {all} starts moving, best cost {}, round {}",
            (progress.stage + 1).min(stages),
            best.map_or("-".into(), |b| format!("{:.3}", b.1)),
            progress.trace.len()
        );
        tell(watch, all - moving, all, text)
    }

    /// The search of a journal that holds all of it.
    pub(super) fn searched(&self, journal: &Journal) -> Result<Option<SearchProgress>> {
        let groups = self.groups();
        let results = study::results(&groups, journal)?;
        results
            .map(|all| Ok(groups.joined(read(&all)?)))
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
