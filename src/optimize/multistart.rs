//! Many starts, stage by stage: each stage has a narrower gate, the last is the problem itself.

mod join;
mod kick;
mod shake;

use std::ops::ControlFlow;

use kick::{RestPlace, kick};
use serde::{Deserialize, Serialize};
use shake::shaken;

use super::{
    Problem,
    adam::AdamMoments,
    levenberg::{Batch, Levenberg, Walker, WalkerEnd},
};
use crate::error::Result;

/// How a search goes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct SearchPlan {
    /// Settings of each descent.
    pub levenberg: Levenberg,
    /// Rounds that a descent may take.
    pub rounds: usize,
    /// Rounds of the first stage during which a start that has come to rest is kicked out of its
    /// minimum; it goes back if that finds no better one.
    pub kick_rounds: usize,
    /// Copies of a start that are made at the end of the last stage, where its cost has kinks; 0 where it has none.
    pub shakes: usize,
    /// Rounds of the last stage that the other starts may still take once the lowest one has come to rest.
    pub stragglers: usize,
    /// Seed of the kicks.
    pub seed: u64,
    /// Number of the first start among all that share the seed: each start has kicks of its own.
    pub first: usize,
}

/// One round, for plots.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct Round {
    /// Stage, from 0.
    pub stage: usize,
    /// Starts still moving.
    pub alive: usize,
    /// Smallest cost so far in this stage.
    pub best: f64,
}

/// All that is needed to go on with a search.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct SearchProgress {
    /// Stage, from 0; the number of stages once all are done.
    pub stage: usize,
    /// The starts.
    pub walkers: Vec<Walker>,
    /// First guess of each start.
    pub first_points: Vec<Vec<f64>>,
    /// Cost of each start at its first guess, in the first stage.
    pub first_costs: Vec<Option<f64>>,
    /// Best rest of each start in this stage, and the kicks it has had.
    rests: Vec<Option<RestPlace>>,
    kicks: Vec<usize>,
    /// Round by round.
    pub trace: Vec<Round>,
    /// Where Adam is, which is not always where it was best.
    #[serde(default)]
    pub(super) moving: Option<Vec<Vec<f64>>>,
    /// Adam's memory.
    #[serde(default)]
    pub(super) moments: Option<AdamMoments>,
}

impl SearchProgress {
    /// A search that has not begun.
    pub(crate) fn new(plan: &SearchPlan, starts: Vec<Vec<f64>>) -> Self {
        let count = starts.len();
        SearchProgress {
            stage: 0,
            first_points: starts.clone(),
            walkers: starts
                .into_iter()
                .map(|s| Walker::new(s, 0, plan.rounds))
                .collect(),
            first_costs: vec![None; count],
            rests: vec![None; count],
            kicks: vec![0; count],
            trace: Vec::new(),
            moving: None,
            moments: None,
        }
    }

    /// The same search beginning with a later stage, for starts that are near enough.
    pub(crate) fn beginning_with(self, stage: usize) -> Self {
        SearchProgress { stage, ..self }
    }

    /// The best start: its number and cost.
    pub(crate) fn best(&self) -> Option<(usize, f64)> {
        let rested = self.rests.iter().enumerate();
        let rested = rested.filter_map(|(i, r)| Some((i, r.as_ref()?.walker.cost?)));
        let moving = self.walkers.iter().enumerate();
        let moving = moving.filter_map(|(i, w)| Some((i, w.cost?)));
        moving.chain(rested).min_by(|a, b| a.1.total_cmp(&b.1))
    }

    pub(super) fn record_round(&mut self, alive: usize) {
        let before = self.trace.last().filter(|r| r.stage == self.stage);
        // Not infinite: JSON has no such number, and a journal must be read again.
        let before = before.map_or(f64::MAX, |r| r.best);
        self.trace.push(Round {
            stage: self.stage,
            alive,
            best: self.best().map_or(before, |b| b.1.min(before)),
        });
    }

    /// The best point of a start, moving or resting.
    pub(crate) fn walker(&self, start: usize) -> &Walker {
        let moving = &self.walkers[start];
        match &self.rests[start] {
            Some(RestPlace { walker, .. })
                if walker.cost <= moving.cost || moving.cost.is_none() =>
            {
                walker
            }
            _ => moving,
        }
    }
}

/// Goes on until every start rests in the last stage or `watch`, which sees every round, wants no more.
pub(crate) fn search(
    problem: &dyn Problem,
    plan: &SearchPlan,
    mut progress: SearchProgress,
    watch: &mut dyn FnMut(&SearchProgress) -> Result<ControlFlow<()>>,
) -> Result<SearchProgress> {
    while progress.stage < problem.stages() {
        let last = progress.stage + 1 == problem.stages();
        let mut batch = Batch::new(
            problem,
            plan.stage_settings(last),
            progress.stage,
            std::mem::take(&mut progress.walkers),
        );
        while batch.alive() > 0 {
            batch.round()?;
            if progress.trace.is_empty() {
                progress.first_costs = batch.walkers.iter().map(|w| w.cost).collect();
            }
            if progress.stage == 0 {
                kick(problem, plan, &mut progress, &mut batch);
            }
            if last {
                hurry(&mut batch.walkers, plan.stragglers);
            }
            progress.walkers = batch.walkers.clone();
            progress.record_round(batch.alive());
            if watch(&progress)?.is_break() {
                return Ok(progress);
            }
        }
        progress.walkers = batch.walkers;
        if last && plan.shakes > 0 {
            progress.shake(problem, plan)?;
        }
        progress.finish_stage(problem, plan, last);
        if watch(&progress)?.is_break() {
            return Ok(progress);
        }
    }
    Ok(progress)
}

impl SearchPlan {
    fn stage_settings(&self, last: bool) -> Levenberg {
        let mut settings = self.levenberg;
        if !last {
            // Stalls cost rounds: it is cheaper to give up early and be kicked on.
            settings.tolerance = settings.tolerance.max(1e-3);
            settings.most_damping = settings.most_damping.min(1e3);
        }
        settings
    }
}

impl SearchProgress {
    /// Shakes the starts that may be the best: those whose cost is not far above the lowest.
    fn shake(&mut self, problem: &dyn Problem, plan: &SearchPlan) -> Result<()> {
        let Some((_, best)) = self.best() else {
            return Ok(());
        };
        for i in 0..self.walkers.len() {
            let walker = &self.walkers[i];
            let joined = matches!(walker.outcome, Some(WalkerEnd::Joined(_)));
            if joined || walker.cost.is_none_or(|cost| cost > SHAKEN * best + SHAKEN) {
                continue;
            }
            self.walkers[i] = shaken(problem, plan, i, walker.clone())?;
        }
        Ok(())
    }

    /// Back to the best rests; those that came to the same place go on as one.
    fn finish_stage(&mut self, problem: &dyn Problem, plan: &SearchPlan, last: bool) {
        for (walker, rest) in self.walkers.iter_mut().zip(&mut self.rests) {
            if let Some(rest) = rest.take() {
                *walker = rest.walker;
            }
        }
        self.stage += 1;
        if last {
            // Those that joined another end where it ended.
            for i in 0..self.walkers.len() {
                let mut leader = i;
                while let Some(WalkerEnd::Joined(other)) = self.walkers[leader].outcome {
                    leader = other;
                }
                let end = self.walkers[leader].clone();
                self.walkers[i].point = end.point;
                self.walkers[i].cost = end.cost;
            }
            return;
        }
        for i in 0..self.walkers.len() {
            let twin = (0..i).find(|&j| {
                self.walkers[j].outcome.is_none()
                    && close(problem, &self.walkers[i], &self.walkers[j])
            });
            let walker = &self.walkers[i];
            match (twin, walker.outcome) {
                (_, Some(WalkerEnd::NotFinite | WalkerEnd::Joined(_))) => {}
                (Some(j), _) => self.walkers[i].outcome = Some(WalkerEnd::Joined(j)),
                (None, _) => {
                    self.walkers[i] = Walker::new(walker.point.clone(), walker.rounds, plan.rounds)
                }
            }
        }
    }
}

/// Allows every start a few rounds more, if the lowest one has come to rest.
fn hurry(walkers: &mut [Walker], rounds: usize) {
    let cost = |w: &Walker| w.cost.unwrap_or(f64::INFINITY);
    let lowest = walkers.iter().min_by(|a, b| cost(a).total_cmp(&cost(b)));
    if lowest.is_some_and(|lowest| lowest.outcome.is_some()) {
        for walker in walkers {
            walker.limit = walker.limit.min(walker.rounds.saturating_add(rounds));
        }
    }
}

/// Starts whose cost is above so many times the lowest are not shaken.
const SHAKEN: f64 = 3.0;

/// Whether two walkers are so close that they would go the same way.
fn close(problem: &dyn Problem, a: &Walker, b: &Walker) -> bool {
    let pairs = a.point.iter().zip(&b.point).zip(problem.bounds());
    pairs
        .into_iter()
        .all(|((a, b), (low, high))| (a - b).abs() <= 1e-3 * (high - low))
}

#[cfg(test)]
mod tests;
