//! Adam (burn's) over a batch of starts, for problems whose Jacobian is too dear or too rough for
//! Levenberg-Marquardt. It uses the gradient of the cost only.

use std::ops::ControlFlow;

use burn::optim::{Adam, AdamConfig, AdamState, AdaptiveMomentumState, Optimizer};
use nalgebra::DVector;
use serde::{Deserialize, Serialize};

use super::{
    Problem,
    levenberg::{Levenberg, WalkerEnd},
    multistart::{SearchPlan, SearchProgress},
};
use crate::{
    error::Result,
    numeric::{Compute, Precision},
};

/// First step of every unknown; it falls to a hundredth along half a cosine in every stage.
const FIRST_STEP: f64 = 0.05;
/// Rounds of a stage for each round that the plan gives Levenberg-Marquardt. A round of Adam takes as much time and
/// brings less, so Adam gets more rounds.
const ROUNDS_EACH: usize = 5;

/// Adam's moments, row-major `[starts, unknowns]`, and the rounds of this stage.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct AdamMoments {
    time: usize,
    first: Vec<f64>,
    second: Vec<f64>,
}

/// Like [`super::multistart::search`], by Adam; the best point of every start is kept.
pub(crate) fn search(
    problem: &dyn Problem,
    plan: &SearchPlan,
    mut progress: SearchProgress,
    watch: &mut dyn FnMut(&SearchProgress) -> Result<ControlFlow<()>>,
) -> Result<SearchProgress> {
    let compute = Compute::cpu(Precision::F64);
    let adam: Adam = AdamConfig::new().with_epsilon(1e-8).build();
    let rounds = ROUNDS_EACH * plan.rounds;
    while progress.stage < problem.stages() {
        let mut points: Vec<Vec<f64>> = match &progress.moving {
            Some(points) => points.clone(),
            None => progress.walkers.iter().map(|w| w.point.clone()).collect(),
        };
        let mut moments = progress.moments.take();
        for round in moments.as_ref().map_or(0, |m| m.time)..rounds {
            let gradients = evaluate(problem, &plan.levenberg, &mut progress, &points)?;
            if progress.trace.is_empty() {
                progress.first_costs = progress.walkers.iter().map(|w| w.cost).collect();
            }
            let angle = std::f64::consts::PI * round as f64 / rounds as f64;
            let rate = FIRST_STEP * (0.505 + 0.495 * angle.cos());
            let new = step(&compute, &adam, rate, &points, &gradients, moments)?;
            points = new.0;
            moments = Some(new.1);
            for point in &mut points {
                for (x, (low, high)) in point.iter_mut().zip(problem.bounds()) {
                    *x = x.clamp(*low, *high);
                }
            }
            progress.record_round(points.len());
            progress.moving = Some(points.clone());
            progress.moments = moments.clone();
            if watch(&progress)?.is_break() {
                return Ok(progress);
            }
        }
        progress.moving = None;
        progress.moments = None;
        progress.stage += 1;
        let last = progress.stage == problem.stages();
        for walker in &mut progress.walkers {
            walker.outcome = last.then_some(WalkerEnd::OutOfRounds);
            // Costs of different stages do not compare.
            walker.cost = walker.cost.filter(|_| last);
        }
        if watch(&progress)?.is_break() {
            return Ok(progress);
        }
    }
    Ok(progress)
}

/// Gradients of the cost at all points; a walker takes its point where the cost is the lowest yet.
fn evaluate(
    problem: &dyn Problem,
    settings: &Levenberg,
    progress: &mut SearchProgress,
    points: &[Vec<f64>],
) -> Result<Vec<f64>> {
    let vectors: Vec<DVector<f64>> = points
        .iter()
        .map(|p| DVector::from_column_slice(p))
        .collect();
    let results = problem.linearized(progress.stage, &vectors)?;
    let mut gradients = Vec::new();
    for ((walker, point), at) in progress.walkers.iter_mut().zip(points).zip(results) {
        let cost = settings.loss.cost(&at.residuals, problem.data());
        walker.rounds += 1;
        if cost.is_finite() && walker.cost.is_none_or(|best| cost < best) {
            walker.cost = Some(cost);
            walker.point = point.clone();
        }
        let seen = settings.loss.reweighted(&at, problem.data());
        let gradient = seen.jacobian.tr_mul(&seen.residuals) * 2.0;
        // A gradient that is not finite counts as 0: Adam then goes on by its momentum alone.
        gradients.extend(
            gradient
                .iter()
                .map(|g| if g.is_finite() { *g } else { 0.0 }),
        );
    }
    Ok(gradients)
}

/// One step of burn's Adam on all points at once.
fn step(
    compute: &Compute,
    adam: &Adam,
    rate: f64,
    points: &[Vec<f64>],
    gradients: &[f64],
    moments: Option<AdamMoments>,
) -> Result<(Vec<Vec<f64>>, AdamMoments)> {
    let width = points[0].len();
    let shape = [points.len(), width];
    let state = moments.map(|m| {
        AdamState::new(AdaptiveMomentumState::new(
            m.time,
            compute.tensor(&m.first, shape),
            compute.tensor(&m.second, shape),
        ))
    });
    let at = compute.tensor(&points.concat(), shape);
    let (moved, state) = adam.step::<2>(rate, at, compute.tensor(gradients, shape), state);
    let moved = compute.values(moved)?;
    let momentum = state.map(|s| s.momentum);
    let moments = match momentum {
        Some(m) => AdamMoments {
            time: m.time,
            first: compute.values(m.moment_1)?,
            second: compute.values(m.moment_2)?,
        },
        None => AdamMoments {
            time: 0,
            first: vec![0.0; gradients.len()],
            second: vec![0.0; gradients.len()],
        },
    };
    Ok((
        moved.chunks_exact(width).map(<[f64]>::to_vec).collect(),
        moments,
    ))
}
