//! Many starts, stage by stage: each stage has a narrower gate, the last is the problem itself.

mod join;

use nalgebra::{DMatrix, DVector};
use serde::{Deserialize, Serialize};

use super::{
    Linearized, Problem,
    adam::AdamMoments,
    levenberg::{Batch, Levenberg, Walker, WalkerEnd},
};
use crate::{error::Result, numeric::Random, study::Wish};

/// How a search goes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SearchPlan {
    /// Settings of each descent.
    pub levenberg: Levenberg,
    /// Rounds that a descent may take.
    pub rounds: usize,
    /// Rounds of the first stage during which a start that has come to rest is kicked out of its
    /// minimum; it goes back if that led nowhere better.
    pub kick_rounds: usize,
    /// Seed of the kicks.
    pub seed: u64,
    /// Number of the first start among all that share the seed: each start has kicks of its own.
    pub first: usize,
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

/// Where a start rests.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct RestPlace {
    walker: Walker,
    /// Cholesky's factor L of LLᵀ = JᵀJ + 1 there, column by column: the shape of the valley. None if
    /// there is none.
    factor: Vec<f64>,
}

/// All that is needed to go on with a search.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SearchProgress {
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
    pub fn new(plan: &SearchPlan, starts: Vec<Vec<f64>>) -> Self {
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

    /// The best start: its number and cost.
    pub fn best(&self) -> Option<(usize, f64)> {
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
    pub fn walker(&self, start: usize) -> &Walker {
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
    watch: &mut dyn FnMut(&SearchProgress) -> Result<Wish>,
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

/// Whether two walkers are so close that they would go the same way.
fn close(problem: &dyn Problem, a: &Walker, b: &Walker) -> bool {
    let pairs = a.point.iter().zip(&b.point).zip(problem.bounds());
    pairs
        .into_iter()
        .all(|((a, b), (low, high))| (a - b).abs() <= 1e-3 * (high - low))
}

/// Share of the kicks that stay within the valley; the others may lead anywhere.
const VALLEY_SHARE: f64 = 0.75;
/// Longest kick within the valley, in standard deviations of the unknowns.
const VALLEY_KICK: f64 = 3.0;
/// Longest over shortest kick: the right size is not known.
const KICK_RANGE: f64 = 20.0;
/// Share of the unknowns that a kick out of the valley changes: some minima are left by few of them.
const CHANGED_SHARE: f64 = 0.3;

/// Takes down where walkers have come to rest, and kicks those that rest.
fn kick(
    problem: &dyn Problem,
    plan: &SearchPlan,
    progress: &mut SearchProgress,
    batch: &mut Batch,
) {
    let broken =
        |w: &Walker| matches!(w.outcome, Some(WalkerEnd::NotFinite | WalkerEnd::Joined(_)));
    for (i, walker) in batch.walkers.iter().enumerate() {
        let rest = progress.rests[i].as_ref();
        let better = rest.is_none_or(|rest| walker.cost < rest.walker.cost);
        if walker.outcome.is_some() && !broken(walker) && better {
            progress.rests[i] = Some(RestPlace {
                walker: walker.clone(),
                factor: batch.at(i).and_then(valley).unwrap_or_default(),
            });
        }
    }
    if progress.trace.len() >= plan.kick_rounds {
        return;
    }
    let rested = progress.rests.iter().flatten();
    let rested = rested.filter_map(|rest| rest.walker.cost);
    let best = rested.fold(batch.best(), f64::min);
    for i in 0..batch.walkers.len() {
        let (rounds, resting) = (batch.walkers[i].rounds, batch.walkers[i].outcome.is_some());
        let Some(rest) = &progress.rests[i] else {
            continue;
        };
        // A start that is level with the best has nothing to gain.
        let level = |cost| cost <= best * (1.0 + 1e-3);
        if !resting || rest.walker.cost.is_some_and(level) {
            continue;
        }
        progress.kicks[i] += 1;
        let number = (((plan.first + i) as u64) << 32) | progress.kicks[i] as u64;
        let mut random = Random::stream(plan.seed, number);
        let point = rest.kicked(problem.bounds(), &mut random);
        batch.replace(i, Walker::new(point, rounds, plan.rounds));
    }
}

/// Cholesky's factor of JᵀJ + 1: the 1 is for unknowns, of order one, that the data leave open.
fn valley(at: &Linearized) -> Option<Vec<f64>> {
    let unknowns = at.jacobian.ncols();
    let shape = at.jacobian.tr_mul(&at.jacobian) + DMatrix::identity(unknowns, unknowns);
    Some(shape.cholesky()?.unpack().as_slice().to_vec())
}

impl RestPlace {
    /// A point to descend from next.
    fn kicked(&self, bounds: &[(f64, f64)], random: &mut Random) -> Vec<f64> {
        let size = KICK_RANGE.powf(-random.uniform());
        let shift = self.shift(bounds, random) * size;
        let moved = self.walker.point.iter().zip(shift.iter()).zip(bounds);
        moved
            .map(|((x, shift), (low, high))| (x + shift).clamp(*low, *high))
            .collect()
    }

    /// The longest kick in a random direction.
    fn shift(&self, bounds: &[(f64, f64)], random: &mut Random) -> DVector<f64> {
        let unknowns = bounds.len();
        if random.uniform() < VALLEY_SHARE && !self.factor.is_empty() {
            let factor = DMatrix::from_column_slice(unknowns, unknowns, &self.factor);
            let even = DVector::from_fn(unknowns, |_, _| VALLEY_KICK * random.normal());
            return factor.tr_solve_lower_triangular(&even).unwrap_or(even);
        }
        let changed = |(low, high): &(f64, f64)| {
            let share = 2.0 * random.uniform() - 1.0;
            let chosen = random.uniform() < CHANGED_SHARE;
            if chosen { share * (high - low) } else { 0.0 }
        };
        DVector::from_iterator(unknowns, bounds.iter().map(changed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A bowl with ripples, x² + 4·sin² 6x in every unknown: the best minimum is at 0.
    struct Ripples([(f64, f64); 2]);

    impl Problem for Ripples {
        fn bounds(&self) -> &[(f64, f64)] {
            &self.0
        }

        fn data(&self) -> usize {
            4
        }

        fn stages(&self) -> usize {
            2
        }

        fn linearized(&self, _: usize, points: &[DVector<f64>]) -> Result<Vec<Linearized>> {
            let at = |p: &DVector<f64>| {
                let (sin, cos) = (p.map(|x| (6.0 * x).sin()), p.map(|x| 6.0 * (6.0 * x).cos()));
                Linearized {
                    residuals: DVector::from_vec(vec![p[0], 2.0 * sin[0], p[1], 2.0 * sin[1]]),
                    jacobian: DMatrix::from_row_slice(
                        4,
                        2,
                        &[1.0, 0.0, 2.0 * cos[0], 0.0, 0.0, 1.0, 0.0, 2.0 * cos[1]],
                    ),
                }
            };
            Ok(points.iter().map(at).collect())
        }
    }

    const PLAN: SearchPlan = SearchPlan {
        levenberg: Levenberg {
            tolerance: 1e-8,
            longest_step: 0.5,
            most_damping: 1e12,
            loss: crate::optimize::RobustLoss::Squares,
        },
        rounds: 20,
        kick_rounds: 1000,
        seed: 1,
        first: 0,
    };
    const PROBLEM: Ripples = Ripples([(-4.0, 4.0); 2]);

    fn begin() -> SearchProgress {
        let starts = [[3.0, -2.0], [-3.5, 1.0], [1.2, 3.9]];
        SearchProgress::new(&PLAN, starts.iter().map(|s| s.to_vec()).collect())
    }

    #[test]
    fn kicks_lead_every_start_out_of_its_ripple() {
        let mut go_on = |_: &SearchProgress| Ok(Wish::GoOn);
        let still = SearchPlan {
            kick_rounds: 0,
            ..PLAN
        };
        let stuck = search(&PROBLEM, &still, begin(), &mut go_on).unwrap();
        let end = search(&PROBLEM, &PLAN, begin(), &mut go_on).unwrap();
        for (walker, stuck) in end.walkers.iter().zip(&stuck.walkers) {
            let [stuck, kicked] = [stuck, walker].map(|w| w.cost.unwrap());
            assert!(stuck > 0.5 && kicked < 0.5 * stuck, "{stuck} {kicked}");
        }
    }

    #[test]
    fn a_search_that_is_stopped_at_every_round_ends_with_the_same_bits() {
        let whole = search(&PROBLEM, &PLAN, begin(), &mut |_| Ok(Wish::GoOn)).unwrap();
        let mut progress = begin();
        while progress.stage < PROBLEM.stages() {
            let stopped = search(&PROBLEM, &PLAN, progress, &mut |_| Ok(Wish::Stop)).unwrap();
            let text = serde_json::to_string(&stopped).unwrap();
            progress = serde_json::from_str(&text).unwrap();
        }
        assert!(whole.trace.len() > 50);
        assert_eq!(whole, progress);
    }

    // One group is itself; of two, starts that joined another still point to it, and the trace is the better of
    // both, round by round.
    #[test]
    fn groups_join_in_order() {
        let whole = search(&PROBLEM, &PLAN, begin(), &mut |_| Ok(Wish::GoOn)).unwrap();
        assert_eq!(SearchProgress::joined(vec![whole.clone()]), whole);
        let mut pair = begin();
        pair.walkers[2].outcome = Some(WalkerEnd::Joined(1));
        pair.trace = vec![Round {
            stage: 0,
            alive: 3,
            best: f64::MAX,
        }];
        let joined = SearchProgress::joined(vec![whole.clone(), pair]);
        assert_eq!(joined.stage, 0);
        assert_eq!(joined.walkers.len(), 6);
        assert_eq!(joined.walkers[5].outcome, Some(WalkerEnd::Joined(4)));
        assert_eq!(joined.trace.len(), whole.trace.len());
        assert_eq!(joined.trace[0].alive, whole.trace[0].alive + 3);
        assert_eq!(joined.trace[0].best, whole.trace[0].best);
        assert_eq!(joined.trace[1], whole.trace[1]);
    }

    // Two searches of parts make one whose best start is the best of both, whatever their places were.
    #[test]
    fn parts_join_side_by_side() {
        let search = |plan: &SearchPlan| search(&PROBLEM, plan, begin(), &mut |_| Ok(Wish::GoOn));
        let still = SearchPlan {
            kick_rounds: 0,
            ..PLAN
        };
        let (kicked, stuck) = (search(&PLAN).unwrap(), search(&still).unwrap());
        let parts = vec![(vec![1, 3], kicked.clone()), (vec![0, 2], stuck.clone())];
        let whole = SearchProgress::side_by_side(4, parts);
        assert_eq!((whole.stage, whole.walkers.len()), (2, 3));
        let (start, cost) = whole.best().unwrap();
        let [best, other] = [&kicked, &stuck].map(|p| p.best().unwrap());
        assert_eq!((start, cost), (0, best.1 + other.1));
        let point = &whole.walker(0).point;
        let [a, b] = [kicked.walker(best.0), stuck.walker(other.0)].map(|w| w.point.clone());
        assert_eq!(point, &vec![b[0], a[0], b[1], a[1]]);
        assert_eq!(whole.trace[0].alive, 6);
        let costs: Vec<f64> = whole.walkers.iter().map(|w| w.cost.unwrap()).collect();
        assert!(costs.is_sorted() && costs[2] > costs[0], "{costs:?}");
    }
}
