//! Populations of yarns on the fused path.
//!
//! Yarns act on each other through the strain alone. Where it is prescribed, each yarn is a hinge of its own with the law of
//! one yarn, and the moment is the mean of theirs.

use std::sync::Arc;

use burn::tensor::Tensor;

use crate::{
    material::{
        LawForm, Source, TimeDependent,
        population::{YARNS, mean},
    },
    numeric::Field,
    rollout::{Rollout, StepKind},
};

/// Whether every yarn of a roll-out goes its own way, by the law that the fused code computes.
pub(super) fn are_apart(rollout: &Rollout) -> bool {
    let LawForm::TimeDependent {
        base,
        spreads: Some(_),
        branches,
    } = rollout.law.form()
    else {
        return false;
    };
    // The printed timer replaces a parameter by a constant.
    let authors = base == std::array::from_fn(Source::Parameter);
    let steps = &rollout.schedule.steps;
    let prescribed = |motion| matches!(motion, StepKind::Prescribe { .. });
    authors && branches.is_empty() && steps.iter().all(|step| prescribed(step.motion))
}

/// Every yarn of every point as a point of its own, yarn by yarn.
fn each(rollout: &Rollout, parameters: &Field) -> (Rollout, Field) {
    let population = TimeDependent {
        population: true,
        ..TimeDependent::default()
    };
    let columns = (0..parameters.dims()[1]).map(|k| parameters.clone().narrow(1, k, 1));
    let yarns = population.each_yarn(&columns.collect::<Vec<Field>>());
    let rows = yarns.into_iter().map(|yarn| Tensor::cat(yarn.to_vec(), 1));
    let alone = Rollout {
        law: Arc::new(TimeDependent::default()),
        ..rollout.repeated(YARNS.len())
    };
    (alone, Tensor::cat(rows.collect(), 0))
}

/// Readings of every yarn as readings of the population.
fn joined(rollout: &Rollout, readings: Tensor<3>) -> Tensor<3> {
    let points = rollout.points;
    let of_yarn = |y: usize| readings.clone().narrow(0, y * points, points);
    let yarns: Vec<Tensor<3>> = (0..YARNS.len()).map(of_yarn).collect();
    mean(&yarns.iter().collect::<Vec<_>>())
}

/// Readings of a population, `[points, hinges, readings]`. On the tape when `parameters` is.
pub(super) fn readings(rollout: &Rollout, parameters: &Field) -> Tensor<3> {
    let (alone, rows) = each(rollout, parameters);
    joined(rollout, super::op::readings(&alone, rows))
}

/// Readings, and the gradient of Σ cotangent·readings with respect to the parameters.
pub(super) fn linearized(
    rollout: &Rollout,
    parameters: Field,
    cotangent: &Tensor<3>,
) -> (Tensor<3>, Field) {
    let leaf = parameters.autodiff().require_grad();
    let (alone, rows) = each(rollout, &leaf);
    let of_yarns = YARNS.map(|(_, weight)| cotangent.clone() * weight);
    let (readings, gradient) = super::op::linearized(
        &alone,
        rows.clone().inner(),
        Tensor::cat(of_yarns.to_vec(), 0),
    );
    let along = Tensor::from_inner(gradient);
    let gradients = (rows * along).sum().backward();
    let gradient = leaf.grad(&gradients);
    let gradient = gradient.unwrap_or_else(|| leaf.clone().inner().zeros_like());
    (joined(rollout, readings), gradient)
}
