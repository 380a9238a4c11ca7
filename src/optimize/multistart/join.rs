//! Groups of starts, and parts of a problem, that were searched apart, as one search.

use super::{Round, SearchProgress};
use crate::optimize::levenberg::{Walker, WalkerEnd};

impl SearchProgress {
    /// The starts of all groups, in order. A round of the whole is the same round of every group in the same
    /// stage.
    pub(crate) fn joined(groups: Vec<SearchProgress>) -> SearchProgress {
        let mut all = SearchProgress {
            stage: groups.iter().map(|g| g.stage).min().unwrap_or(0),
            trace: joined_trace(&groups),
            walkers: Vec::new(),
            first_points: Vec::new(),
            first_costs: Vec::new(),
            rests: Vec::new(),
            kicks: Vec::new(),
            moving: None,
            moments: None,
        };
        for group in groups {
            let before = all.walkers.len();
            for mut walker in group.walkers {
                if let Some(WalkerEnd::Joined(other)) = &mut walker.outcome {
                    *other += before;
                }
                all.walkers.push(walker);
            }
            all.first_points.extend(group.first_points);
            all.first_costs.extend(group.first_costs);
            all.rests.extend(group.rests);
            all.kicks.extend(group.kicks);
        }
        all
    }
}

impl SearchProgress {
    /// Searches of parts of a problem that share no unknown, each with the numbers of its unknowns, as one search of
    /// `count` unknowns. The starts of each part are put in order from best to worst, and those of the same place make
    /// one start: the best start has the best of every part.
    pub(crate) fn side_by_side(
        count: usize,
        parts: Vec<(Vec<usize>, SearchProgress)>,
    ) -> SearchProgress {
        let searches = || parts.iter().map(|p| &p.1);
        let starts = searches().map(|p| p.walkers.len()).min().unwrap_or(0);
        let order = |p: &SearchProgress| {
            let cost = |i: &usize| p.walker(*i).cost.unwrap_or(f64::INFINITY);
            let mut order: Vec<usize> = (0..p.walkers.len()).collect();
            order.sort_by(|a, b| cost(a).total_cmp(&cost(b)));
            order
        };
        let orders: Vec<Vec<usize>> = searches().map(order).collect();
        let traces: Vec<&[Round]> = searches().map(|p| p.trace.as_slice()).collect();
        let mut all = SearchProgress {
            stage: searches().map(|p| p.stage).min().unwrap_or(0),
            trace: trace_of(&traces, |sum, best| (sum + best).min(f64::MAX), 0.0),
            walkers: Vec::new(),
            first_points: Vec::new(),
            first_costs: Vec::new(),
            rests: vec![None; starts],
            kicks: vec![0; starts],
            moving: None,
            moments: None,
        };
        for place in 0..starts {
            let (mut point, mut first) = (vec![0.0; count], vec![0.0; count]);
            let (mut cost, mut first_cost) = (Some(0.0), Some(0.0));
            let (mut rounds, mut outcome) = (0, Some(WalkerEnd::Converged));
            for ((unknowns, search), order) in parts.iter().zip(&orders) {
                let start = order[place];
                let walker = search.walker(start);
                for (i, &k) in unknowns.iter().enumerate() {
                    point[k] = walker.point[i];
                    first[k] = search.first_points[start][i];
                }
                cost = cost.zip(walker.cost).map(|(a, b)| a + b);
                first_cost = first_cost
                    .zip(search.first_costs[start])
                    .map(|(a, b)| a + b);
                rounds += walker.rounds;
                // What is not convergence is the whole's end.
                let end = search.end_of(start);
                if outcome == Some(WalkerEnd::Converged) {
                    outcome = end;
                }
            }
            let mut walker = Walker::new(point, rounds, 0);
            (walker.cost, walker.outcome) = (cost, outcome);
            all.walkers.push(walker);
            all.first_points.push(first);
            all.first_costs.push(first_cost);
        }
        all
    }

    /// Why a start stopped; of one that joined another, why that one did.
    fn end_of(&self, start: usize) -> Option<WalkerEnd> {
        let mut leader = start;
        while let Some(WalkerEnd::Joined(other)) = self.walkers[leader].outcome {
            leader = other;
        }
        self.walkers[leader].outcome
    }
}

fn joined_trace(groups: &[SearchProgress]) -> Vec<Round> {
    let traces: Vec<&[Round]> = groups.iter().map(|g| g.trace.as_slice()).collect();
    trace_of(&traces, f64::min, f64::MAX)
}

/// Traces as one, round by round within each stage: starts that move are added, and `fold` joins the best costs.
fn trace_of(traces: &[&[Round]], fold: fn(f64, f64) -> f64, first: f64) -> Vec<Round> {
    let rounds = traces.iter().copied().flatten();
    let stages = rounds.map(|r| r.stage + 1).max().unwrap_or(0);
    let mut trace = Vec::new();
    for stage in 0..stages {
        let of_stage = |t: &&[Round]| -> Vec<Round> {
            let rounds = t.iter().copied();
            rounds.filter(|r| r.stage == stage).collect()
        };
        let parts: Vec<Vec<Round>> = traces.iter().map(of_stage).collect();
        for round in 0..parts.iter().map(Vec::len).max().unwrap_or(0) {
            let alive = parts
                .iter()
                .filter_map(|p| p.get(round))
                .map(|r| r.alive)
                .sum();
            // What is done keeps its best.
            let best = parts.iter().filter_map(|p| p.get(round).or(p.last()));
            let best = best.map(|r| r.best).fold(first, fold);
            trace.push(Round { stage, alive, best });
        }
    }
    trace
}
