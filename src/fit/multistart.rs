//! Many starts, stage by stage: each stage has a narrower gate, the last is the problem itself.

use serde::{Deserialize, Serialize};

use super::{
    Problem,
    adam::Moments,
    levenberg::{Batch, Levenberg, Outcome, Walker},
};
use crate::{error::Result, numeric::Random};

/// How a search goes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// Settings of each descent.
    pub levenberg: Levenberg,
    /// Rounds that a descent may take.
    pub rounds: usize,
    /// How often a start that has come to rest is kicked out of its minimum, in the first stage, where
    /// minima are few and rounds are cheap; it goes back if that led nowhere better.
    pub kicks: usize,
    /// Size of a kick, as a share of the box.
    pub kick: f64,
    /// Seed of the kicks.
    pub seed: u64,
}

/// One round, for plots.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Round {
    /// Stage, from 0.
    pub stage: usize,
    /// Starts still moving.
    pub alive: usize,
    /// Smallest cost so far in this stage.
    pub best: f64,
}

/// All that is needed to go on with a search.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Progress {
    /// Stage, from 0; the number of stages once all are done.
    pub stage: usize,
    /// The starts.
    pub walkers: Vec<Walker>,
    /// First guess of each start.
    pub first_points: Vec<Vec<f64>>,
    /// Cost of each start at its first guess, in the first stage.
    pub first_costs: Vec<Option<f64>>,
    /// Best rest of each start in this stage, and the kicks it has had since.
    rests: Vec<Option<Walker>>,
    kicks: Vec<usize>,
    /// Round by round.
    pub trace: Vec<Round>,
    /// Where Adam is, which is not always where it was best.
    #[serde(default)]
    pub(super) moving: Option<Vec<Vec<f64>>>,
    /// Adam's memory.
    #[serde(default)]
    pub(super) moments: Option<Moments>,
}

impl Progress {
    /// A search that has not begun.
    pub fn new(plan: &Plan, starts: Vec<Vec<f64>>) -> Self {
        let count = starts.len();
        Progress {
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

    /// The best start: its number and cost.
    pub fn best(&self) -> Option<(usize, f64)> {
        let rested = self.rests.iter().enumerate();
        let rested = rested.filter_map(|(i, w)| Some((i, w.as_ref()?.cost?)));
        let moving = self.walkers.iter().enumerate();
        let moving = moving.filter_map(|(i, w)| Some((i, w.cost?)));
        moving.chain(rested).min_by(|a, b| a.1.total_cmp(&b.1))
    }

    pub(super) fn record_round(&mut self, alive: usize) {
        let before = self.trace.last().filter(|r| r.stage == self.stage);
        let before = before.map_or(f64::INFINITY, |r| r.best);
        self.trace.push(Round {
            stage: self.stage,
            alive,
            best: self.best().map_or(before, |b| b.1.min(before)),
        });
    }

    /// The best point of a start, moving or resting.
    pub fn walker(&self, start: usize) -> &Walker {
        let moving = &self.walkers[start];
        match &self.rests[start] {
            Some(rest) if rest.cost <= moving.cost || moving.cost.is_none() => rest,
            _ => moving,
        }
    }
}

/// What a watcher wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wish {
    /// The next round.
    GoOn,
    /// No further round.
    Stop,
}

/// Goes on until every start rests in the last stage or `watch`, which sees every round, wants no more.
pub fn search(
    problem: &dyn Problem,
    plan: &Plan,
    mut progress: Progress,
    watch: &mut dyn FnMut(&Progress) -> Result<Wish>,
) -> Result<Progress> {
    while progress.stage < problem.stages() {
        let last = progress.stage + 1 == problem.stages();
        let mut batch = Batch::new(
            problem,
            plan.stage_settings(last),
            progress.stage,
            std::mem::take(&mut progress.walkers),
        );
        loop {
            if progress.stage == 0 {
                kick(problem, plan, &mut progress, &mut batch);
            }
            if batch.alive() == 0 {
                break;
            }
            if progress.trace.is_empty() {
                batch.evaluate_missing()?;
                progress.first_costs = batch.walkers.iter().map(|w| w.cost).collect();
            }
            batch.round()?;
            progress.walkers = batch.walkers.clone();
            progress.record_round(batch.alive());
            if watch(&progress)? == Wish::Stop {
                return Ok(progress);
            }
        }
        progress.walkers = batch.walkers;
        progress.finish_stage(problem, plan, last);
        if watch(&progress)? == Wish::Stop {
            return Ok(progress);
        }
    }
    Ok(progress)
}

impl Plan {
    fn stage_settings(&self, last: bool) -> Levenberg {
        let mut settings = self.levenberg;
        if !last {
            settings.tolerance = settings.tolerance.max(1e-4);
        }
        settings
    }
}

impl Progress {
    /// Back to the best rests; those that came to the same place go on as one.
    fn finish_stage(&mut self, problem: &dyn Problem, plan: &Plan, last: bool) {
        for (walker, rest) in self.walkers.iter_mut().zip(&mut self.rests) {
            if let Some(rest) = rest.take() {
                *walker = rest;
            }
        }
        self.stage += 1;
        if last {
            // Those that joined another end where it ended.
            for i in 0..self.walkers.len() {
                let mut leader = i;
                while let Some(Outcome::Joined(other)) = self.walkers[leader].outcome {
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
                (_, Some(Outcome::NotFinite | Outcome::Joined(_))) => {}
                (Some(j), _) => self.walkers[i].outcome = Some(Outcome::Joined(j)),
                (None, _) => {
                    self.walkers[i] = Walker::new(walker.point.clone(), walker.rounds, plan.rounds)
                }
            }
        }
    }
}

/// Whether two walkers are so close that they would go the same way.
fn close(problem: &dyn Problem, a: &Walker, b: &Walker) -> bool {
    let pairs = a.point.iter().zip(&b.point).zip(problem.bounds());
    pairs
        .into_iter()
        .all(|((a, b), (low, high))| (a - b).abs() <= 1e-3 * (high - low))
}

/// Kicks every walker that rests and has kicks left.
fn kick(problem: &dyn Problem, plan: &Plan, progress: &mut Progress, batch: &mut Batch) {
    let rested = progress.rests.iter().flatten().filter_map(|w| w.cost);
    let best = rested.fold(batch.best(), f64::min);
    for i in 0..batch.walkers.len() {
        let walker = &batch.walkers[i];
        if matches!(
            walker.outcome,
            None | Some(Outcome::NotFinite | Outcome::Joined(_))
        ) {
            continue;
        }
        let better = |rest: &Walker| walker.cost < rest.cost;
        if progress.rests[i].as_ref().is_none_or(better) {
            progress.rests[i] = Some(walker.clone());
        }
        let rest = progress.rests[i].as_ref().unwrap_or(walker);
        // A start that is level with the best has nothing to gain.
        let level = rest.cost.is_some_and(|cost| cost <= best * (1.0 + 1e-3));
        if progress.kicks[i] == plan.kicks || level {
            continue;
        }
        progress.kicks[i] += 1;
        let number = ((i as u64) << 32) | progress.kicks[i] as u64;
        let mut random = Random::stream(plan.seed, number);
        let bounds = problem.bounds();
        // From small to large: the right size is not known.
        let size = plan.kick * 20f64.powf(-random.uniform());
        let point = rest.point.iter().zip(bounds).map(|(x, (low, high))| {
            // Half of the unknowns each time: some minima are left by one of them only.
            let chosen = random.uniform() < 0.5;
            let shift = (2.0 * random.uniform() - 1.0) * size * (high - low);
            if chosen {
                (x + shift).clamp(*low, *high)
            } else {
                *x
            }
        });
        batch.replace(i, Walker::new(point.collect(), walker.rounds, plan.rounds));
    }
}
