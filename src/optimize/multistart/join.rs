//! Groups of starts that were searched apart, as one search.

use super::{Round, SearchProgress};
use crate::optimize::levenberg::WalkerEnd;

impl SearchProgress {
    /// The starts of all groups, in order. A round of the whole is the same round of every group in the same
    /// stage.
    pub fn joined(groups: Vec<SearchProgress>) -> SearchProgress {
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

fn joined_trace(groups: &[SearchProgress]) -> Vec<Round> {
    let rounds = groups.iter().flat_map(|g| &g.trace);
    let stages = rounds.map(|r| r.stage + 1).max().unwrap_or(0);
    let mut trace = Vec::new();
    for stage in 0..stages {
        let of_stage = |g: &SearchProgress| -> Vec<Round> {
            g.trace
                .iter()
                .copied()
                .filter(|r| r.stage == stage)
                .collect()
        };
        let parts: Vec<Vec<Round>> = groups.iter().map(of_stage).collect();
        for round in 0..parts.iter().map(Vec::len).max().unwrap_or(0) {
            let alive = parts
                .iter()
                .filter_map(|p| p.get(round))
                .map(|r| r.alive)
                .sum();
            // A group that is done keeps its best.
            let best = parts.iter().filter_map(|p| p.get(round).or(p.last()));
            let best = best.map(|r| r.best).fold(f64::MAX, f64::min);
            trace.push(Round { stage, alive, best });
        }
    }
    trace
}
