//! Sensitivity by regime: which parameter matters where hinges stick, slip or yield.

use serde::{Deserialize, Serialize};

use super::{
    derivative::{Measure, Slopes},
    factor::Factor,
};
use crate::laboratory::Shares;

/// The sensitivity of an output's point in one regime.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Regime {
    /// What the hinges do there.
    pub name: String,
    /// Share of all (run, output) pairs that are in it.
    pub share: f64,
    /// Mean share of hinges that slip.
    pub slips: f64,
    /// Mean share of hinges that have yielded.
    pub yields: f64,
    /// Derivative-based measures of every factor there.
    pub measures: Vec<Measure>,
}

/// Regimes with fewer pairs than this share are left out: nothing can be averaged over them.
const RARE: f64 = 0.01;

/// The regimes, the most frequent first. A pair is what the hinges did in one run at one output, the output's
/// value, and its gradient over the coordinates.
pub(crate) fn regimes(
    pairs: &[(Shares, f64, Vec<f64>)],
    factors: &[Factor],
    seed: u64,
) -> Vec<Regime> {
    let mut names: Vec<String> = pairs.iter().map(|(s, _, _)| s.describe()).collect();
    names.sort_unstable();
    names.dedup();
    let mut list: Vec<Regime> = names
        .into_iter()
        .filter_map(|name| {
            let here: Vec<_> = pairs
                .iter()
                .filter(|(s, _, _)| s.describe() == name)
                .collect();
            let share = here.len() as f64 / pairs.len() as f64;
            if share < RARE {
                return None;
            }
            let slopes = Slopes {
                values: here.iter().map(|(_, v, _)| *v).collect(),
                gradients: here.iter().map(|(_, _, g)| g.clone()).collect(),
            };
            let mean = |of: fn(&Shares) -> f64| {
                here.iter().map(|(s, _, _)| of(s)).sum::<f64>() / here.len() as f64
            };
            Some(Regime {
                share,
                slips: mean(|s| s.slips),
                yields: mean(|s| s.yields),
                measures: slopes.measures(factors, seed)?,
                name,
            })
        })
        .collect();
    list.sort_by(|a, b| b.share.total_cmp(&a.share));
    list
}
