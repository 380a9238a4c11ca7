//! The plain roll-out: the law over burn tensors, one step at a time, and its reverse sweep.
//!
//! Forward runs without a tape and keeps the states at the checkpoints. Backward recomputes each
//! piece from its checkpoint and differentiates one step at a time on a fresh tape, so that cost and
//! memory do not depend on the number of parameters and no tape is longer than one step.

use std::ops::ControlFlow;

use burn::tensor::Tensor;

use super::{HingeReading, Rollout, Step, StepKind, checkpoints};
use crate::numeric::{Compute, Field};

/// Everything that one step hands to the next.
#[derive(Debug, Clone)]
pub(crate) struct HingeState {
    /// Strain of every hinge.
    pub strain: Field,
    /// History in the order of the law.
    pub history: Vec<Field>,
}

impl HingeState {
    fn zeros_like(&self) -> HingeState {
        HingeState {
            strain: self.strain.zeros_like(),
            history: self.history.iter().map(|h| h.zeros_like()).collect(),
        }
    }
}

/// Constant inputs of a roll-out as tensors.
struct StrainDrive {
    amplitude: Field,
    duration: Field,
}

impl StrainDrive {
    fn new(rollout: &Rollout, compute: &Compute) -> Self {
        let shape = [rollout.points, rollout.hinges];
        StrainDrive {
            amplitude: compute.tensor(&rollout.amplitude, shape),
            duration: compute.tensor(&rollout.duration, shape),
        }
    }
}

/// Readings, shape `[points, hinges, readings]`.
pub(crate) fn forward(rollout: &Rollout, compute: &Compute, parameters: Field) -> Tensor<3> {
    let mut readings = Vec::with_capacity(rollout.schedule.readings.len());
    trace(rollout, compute, parameters, |k, columns, state| {
        if rollout.schedule.reading_at(k).is_some() {
            readings.push(read(rollout, columns, state));
        }
        ControlFlow::Continue(())
    });
    Tensor::stack(readings, 2)
}

/// Runs forward and shows every state after its step to `visit(step, parameters, state)`, which may end the run.
pub(crate) fn trace(
    rollout: &Rollout,
    compute: &Compute,
    parameters: Field,
    mut visit: impl FnMut(usize, &[Field], &HingeState) -> ControlFlow<()>,
) {
    let drive = StrainDrive::new(rollout, compute);
    let columns = columns(&parameters);
    let mut state = start(rollout, &drive, &columns);
    for (k, step) in rollout.schedule.steps.iter().enumerate() {
        state = advance(rollout, &drive, &columns, &state, step);
        if visit(k, &columns, &state).is_break() {
            break;
        }
    }
}

/// Readings, and the gradient of Σ cotangent·readings with respect to the parameters.
pub(crate) fn linearized(
    rollout: &Rollout,
    compute: &Compute,
    parameters: Field,
    cotangent: Tensor<3>,
) -> (Tensor<3>, Field) {
    let drive = StrainDrive::new(rollout, compute);
    let columns = columns(&parameters);
    let steps = &rollout.schedule.steps;
    let kept = checkpoints(steps.len());
    let last = kept.last().copied().unwrap_or(0);
    let mut saved = Vec::with_capacity(kept.len());
    let mut state = start(rollout, &drive, &columns);
    for (k, step) in steps[..=last].iter().enumerate() {
        if kept.binary_search(&k).is_ok() {
            saved.push(state.clone());
        }
        if k < last {
            state = advance(rollout, &drive, &columns, &state, step);
        }
    }

    let mut reverse = Reverse::new(rollout, &drive, &columns, &state);
    let mut end = steps.len();
    for (&first, checkpoint) in kept.iter().zip(saved).rev() {
        let mut states = vec![checkpoint];
        for step in &steps[first..end - 1] {
            let next = advance(rollout, &drive, &columns, &states[states.len() - 1], step);
            states.push(next);
        }
        for k in (first..end).rev() {
            let seed = rollout.schedule.reading_at(k).map(|r| {
                let plane = cotangent.clone().narrow(2, r, 1);
                plane.reshape([rollout.points, rollout.hinges])
            });
            reverse.step(k, &states[k - first], seed);
        }
        end = first;
    }
    reverse.start();
    reverse.readings.reverse();
    (
        Tensor::stack(reverse.readings, 2),
        Tensor::cat(reverse.total, 1),
    )
}

/// The parameters as one `[points, 1]` field each.
fn columns(parameters: &Field) -> Vec<Field> {
    (0..parameters.dims()[1])
        .map(|i| parameters.clone().narrow(1, i, 1))
        .collect()
}

fn start(rollout: &Rollout, drive: &StrainDrive, columns: &[Field]) -> HingeState {
    HingeState {
        strain: drive.amplitude.zeros_like(),
        history: rollout.law.start(columns, &drive.amplitude),
    }
}

/// One step: the motion, then the history update.
fn advance(
    rollout: &Rollout,
    drive: &StrainDrive,
    columns: &[Field],
    state: &HingeState,
    step: &Step,
) -> HingeState {
    let law = rollout.law.as_ref();
    let dt = drive.duration.clone() * step.share + step.seconds;
    let strain = match step.motion {
        StepKind::Prescribe { fraction } => drive.amplitude.clone() * fraction,
        StepKind::Creep { mobility } => {
            let stress = law.stress(columns, &state.history, &state.strain);
            state.strain.clone() - stress * mobility
        }
        StepKind::Release => {
            let (strain, history) =
                law.release(columns, &state.history, &state.strain, &dt, &rollout.gate);
            return HingeState { strain, history };
        }
    };
    let history = law.update(columns, &state.history, &strain, &dt, &rollout.gate);
    HingeState { strain, history }
}

fn read(rollout: &Rollout, columns: &[Field], state: &HingeState) -> Field {
    match rollout.schedule.reading {
        HingeReading::Strain => state.strain.clone(),
        HingeReading::Stress => rollout.law.stress(columns, &state.history, &state.strain),
    }
}

/// Puts a field on a fresh tape as a leaf.
fn leaf(field: &Field) -> Field {
    field.clone().autodiff().require_grad()
}

/// The way back: cotangents of the state, and what has been gathered so far.
struct Reverse<'a> {
    rollout: &'a Rollout,
    drive: &'a StrainDrive,
    columns: &'a [Field],
    adjoint: HingeState,
    total: Vec<Field>,
    readings: Vec<Field>,
}

impl<'a> Reverse<'a> {
    fn new(
        rollout: &'a Rollout,
        drive: &'a StrainDrive,
        columns: &'a [Field],
        state: &HingeState,
    ) -> Self {
        Reverse {
            rollout,
            drive,
            columns,
            adjoint: state.zeros_like(),
            total: columns.iter().map(|c| c.zeros_like()).collect(),
            readings: Vec::new(),
        }
    }

    /// Vector-Jacobian product of step `k` from the state before it.
    fn step(&mut self, k: usize, before: &HingeState, seed: Option<Field>) {
        let parameters: Vec<Field> = self.columns.iter().map(leaf).collect();
        let state = HingeState {
            strain: leaf(&before.strain),
            history: before.history.iter().map(leaf).collect(),
        };
        let step = &self.rollout.schedule.steps[k];
        let after = advance(self.rollout, self.drive, &parameters, &state, step);
        let mut objective = (after.strain.clone() * self.adjoint.strain.clone()).sum();
        for (value, weight) in after.history.iter().zip(&self.adjoint.history) {
            objective = objective + (value.clone() * weight.clone()).sum();
        }
        if let Some(weight) = seed {
            let reading = read(self.rollout, &parameters, &after);
            self.readings.push(reading.clone().inner());
            objective = objective + (reading * weight).sum();
        }
        // A prescribed step of a law without history depends on nothing before it.
        if !objective.is_tracked() {
            self.adjoint = before.zeros_like();
            return;
        }
        let gradients = objective.backward();
        let of = |field: &Field| {
            let gradient = field.grad(&gradients);
            gradient.unwrap_or_else(|| field.clone().inner().zeros_like())
        };
        for (sum, parameter) in self.total.iter_mut().zip(&parameters) {
            *sum = sum.clone() + of(parameter);
        }
        self.adjoint = HingeState {
            strain: of(&state.strain),
            history: state.history.iter().map(of).collect(),
        };
    }

    /// The virgin history depends on the parameters too (ε_Y starts at ε_Y0).
    fn start(&mut self) {
        let parameters: Vec<Field> = self.columns.iter().map(leaf).collect();
        let history = self.rollout.law.start(&parameters, &self.drive.amplitude);
        let terms = history.iter().zip(&self.adjoint.history);
        let objective = terms
            .map(|(value, weight)| (value.clone() * weight.clone()).sum())
            .reduce(|a, b| a + b);
        // A law whose start uses no parameter has nothing on the tape.
        let Some(objective) = objective.filter(|o| o.is_tracked()) else {
            return;
        };
        let gradients = objective.backward();
        for (sum, parameter) in self.total.iter_mut().zip(&parameters) {
            if let Some(gradient) = parameter.grad(&gradients) {
                *sum = sum.clone() + gradient;
            }
        }
    }
}
