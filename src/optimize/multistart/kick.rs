//! Kicks: a start that rests in a poor minimum is moved out of it.

use nalgebra::{DMatrix, DVector};
use serde::{Deserialize, Serialize};

use super::{SearchPlan, SearchProgress};
use crate::{
    numeric::Random,
    optimize::{
        Linearized, Problem,
        levenberg::{Batch, Walker, WalkerEnd},
    },
};

/// Where a start rests.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct RestPlace {
    pub(super) walker: Walker,
    /// Cholesky's factor L of LLᵀ = JᵀJ + 1 there, column by column: the shape of the valley. None if
    /// there is none.
    factor: Vec<f64>,
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
pub(super) fn kick(
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
            progress.rests[i] = Some(RestPlace::new(walker.clone(), batch.at(i)));
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
    /// Of a walker with its residuals and Jacobian.
    pub(super) fn new(walker: Walker, at: Option<&Linearized>) -> RestPlace {
        RestPlace {
            walker,
            factor: at.and_then(valley).unwrap_or_default(),
        }
    }

    /// A point to descend from next.
    pub(super) fn kicked(&self, bounds: &[(f64, f64)], random: &mut Random) -> Vec<f64> {
        let size = KICK_RANGE.powf(-random.uniform());
        let shift = self.shift(bounds, random) * size;
        let moved = self.walker.point.iter().zip(shift.iter()).zip(bounds);
        moved
            .map(|((x, shift), (low, high))| (x + shift).clamp(*low, *high))
            .collect()
    }

    /// Steps along the axes of the valley, as columns: so many standard deviations each.
    pub(super) fn steps(&self, reach: f64) -> Option<DMatrix<f64>> {
        let unknowns = self.walker.point.len();
        if self.factor.is_empty() {
            return None;
        }
        let factor = DMatrix::from_column_slice(unknowns, unknowns, &self.factor);
        let even = DMatrix::identity(unknowns, unknowns) * reach;
        factor.tr_solve_lower_triangular(&even)
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
