//! Morris' elementary effects: what a step of each group does to an output, from many places.
//!
//! ```text
//! effect d = (y(after) − y(before))/step, the step as a share of the distribution, signed by its direction
//! μ = mean d,  μ* = mean |d| (Campolongo 2007),  σ = standard deviation of d (n − 1)
//! ```
//!
//! μ* says how much a group matters, σ against μ* whether its effect depends on where the others are. For a
//! group of several parameters, which go up and down at random, only μ* has a meaning.

use serde::{Deserialize, Serialize};

use super::{
    interval::{Estimate, RESAMPLES},
    sample::{STEP, Trajectory},
};
use crate::numeric::Random;

/// Effects of one group on one output.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Effects {
    /// Mean of the sizes.
    pub mu_star: Estimate,
    /// Mean; none for a group of several parameters.
    pub mu: Option<Estimate>,
    /// Standard deviation; none for a group of several parameters.
    pub sigma: Option<Estimate>,
    /// How many effects there are: fewer than trajectories where runs failed.
    pub count: usize,
}

/// Elementary effects of every group: a list each, without those of which a run failed. `outputs` are those of
/// the trajectories' points, one after the other.
pub(crate) fn elementary(
    trajectories: &[Trajectory],
    outputs: &[f64],
    groups: usize,
) -> Vec<Vec<f64>> {
    let mut effects = vec![Vec::new(); groups];
    let mut first = 0;
    for trajectory in trajectories {
        for (i, (group, up)) in trajectory.moves.iter().enumerate() {
            let change = outputs[first + i + 1] - outputs[first + i];
            if change.is_finite() {
                let sign = if *up { 1.0 } else { -1.0 };
                effects[*group].push(sign * change / STEP);
            }
        }
        first += trajectory.points.len();
    }
    effects
}

/// Effects of a group from its elementary ones; none with fewer than two.
pub(crate) fn effects(elementary: &[f64], several: bool, seed: u64) -> Option<Effects> {
    if elementary.len() < 2 {
        return None;
    }
    let value = measures(elementary);
    let mut random = Random::stream(seed, elementary.len() as u64);
    let n = elementary.len();
    let resampled: Vec<[f64; 3]> = (0..RESAMPLES)
        .map(|_| {
            let drawn: Vec<f64> = (0..n).map(|_| elementary[random.below(n)]).collect();
            measures(&drawn)
        })
        .collect();
    let estimate = |k: usize| {
        let values: Vec<f64> = resampled.iter().map(|r| r[k]).collect();
        Estimate::new(value[k], &values)
    };
    Some(Effects {
        mu_star: estimate(0),
        mu: (!several).then(|| estimate(1)),
        sigma: (!several).then(|| estimate(2)),
        count: n,
    })
}

/// μ*, μ and σ.
fn measures(effects: &[f64]) -> [f64; 3] {
    let n = effects.len() as f64;
    let mean = effects.iter().sum::<f64>() / n;
    let sizes = effects.iter().map(|d| d.abs()).sum::<f64>() / n;
    let squares: f64 = effects.iter().map(|d| (d - mean).powi(2)).sum();
    [sizes, mean, (squares / (n - 1.0)).sqrt()]
}
