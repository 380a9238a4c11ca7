//! Roll-outs: a schedule applied to a batch of hinges, forward and backward.
//!
//! Two ways lead to the same numbers. The plain way (`sweep`) is the law over burn tensors on any
//! device, with the reverse sweep and its checkpoints. The fused way (`fused`) is one operation for
//! the whole roll-out of the time-dependent law, on burn's tape when its parameters are. [`Rollout`]
//! takes the fused way where it exists.

pub(crate) mod cloth;
pub(crate) mod fused;
mod path;
mod schedule;
pub(crate) mod sweep;

use std::sync::Arc;

use burn::tensor::Tensor;

pub(crate) use path::RolloutPath;
pub(crate) use schedule::{HingeReading, Schedule, Step, StepKind, checkpoints, log_times};

use crate::{
    error::{Result, bad_input},
    material::Law,
    numeric::{Compute, Field, Gate},
};

/// A batch of hinges, what is done to them, and the law they follow.
#[derive(Debug, Clone)]
pub(crate) struct Rollout {
    /// The law of every hinge.
    pub law: Arc<dyn Law>,
    /// How its branches are taken.
    pub gate: Gate,
    /// What is done.
    pub schedule: Schedule,
    /// Curve points; each has its own row of parameters.
    pub points: usize,
    /// Hinges a point.
    pub hinges: usize,
    /// Peak strain of each hinge, row-major `[points, hinges]`.
    pub amplitude: Vec<f64>,
    /// Duration of each hinge \[s\], row-major `[points, hinges]`.
    pub duration: Vec<f64>,
}

impl Rollout {
    /// Refuses shapes and numbers that no roll-out can use.
    pub(crate) fn check(&self) -> Result<()> {
        let expected = self.points * self.hinges;
        for (name, values) in [("amplitude", &self.amplitude), ("duration", &self.duration)] {
            if values.len() != expected {
                return bad_input(format!(
                    "{name} has {} values for {} points of {} hinges; give {expected}",
                    values.len(),
                    self.points,
                    self.hinges
                ));
            }
            if let Some(i) = values.iter().position(|v| !v.is_finite()) {
                return bad_input(format!(
                    "{name} of hinge {i} is {}; give a finite number",
                    values[i]
                ));
            }
        }
        if expected == 0 || self.schedule.steps.is_empty() {
            return bad_input("a roll-out needs at least one hinge and one step");
        }
        let readings = &self.schedule.readings;
        let ordered = readings.windows(2).all(|pair| pair[0] < pair[1]);
        if !ordered
            || readings
                .last()
                .is_some_and(|k| *k >= self.schedule.steps.len())
        {
            return bad_input(format!(
                "readings {readings:?} must be increasing and below the number of steps, {}",
                self.schedule.steps.len()
            ));
        }
        Ok(())
    }

    /// The way this roll-out takes.
    pub(crate) fn path(&self) -> RolloutPath {
        if fused::supports(self) {
            RolloutPath::Fused
        } else {
            RolloutPath::Plain
        }
    }

    /// One parameter row per point, shape `[points, parameters]`, all equal.
    pub(crate) fn shared_parameters(&self, compute: &Compute, values: &[f64]) -> Field {
        compute.tensor(&values.repeat(self.points), [self.points, values.len()])
    }

    /// Readings, shape `[points, hinges, readings]`, for `parameters` of shape
    /// `[points, parameters]`. On the fused path a tracked tensor stays on burn's tape.
    ///
    /// # Panics
    /// When `parameters` has another shape or the schedule has no reading.
    pub(crate) fn forward(&self, compute: &Compute, parameters: Field) -> Tensor<3> {
        self.forward_by(self.path(), compute, parameters)
    }

    /// [`Rollout::forward`] by a given way.
    pub(crate) fn forward_by(
        &self,
        path: RolloutPath,
        compute: &Compute,
        parameters: Field,
    ) -> Tensor<3> {
        self.check_parameters(&parameters);
        match path {
            RolloutPath::Plain => sweep::forward(self, compute, parameters),
            RolloutPath::Fused => fused::readings(self, parameters),
        }
    }

    /// Readings, and the gradient of Σ cotangent·readings with respect to `parameters`, shape
    /// `[points, parameters]`. As a point's readings depend on its own row only, one call gives a whole
    /// Jacobian, row by row.
    pub(crate) fn linearized(
        &self,
        compute: &Compute,
        parameters: Field,
        cotangent: Tensor<3>,
    ) -> (Tensor<3>, Field) {
        self.linearized_by(self.path(), compute, parameters, cotangent)
    }

    /// [`Rollout::linearized`] by a given way.
    pub(crate) fn linearized_by(
        &self,
        path: RolloutPath,
        compute: &Compute,
        parameters: Field,
        cotangent: Tensor<3>,
    ) -> (Tensor<3>, Field) {
        self.check_parameters(&parameters);
        match path {
            RolloutPath::Plain => sweep::linearized(self, compute, parameters, cotangent),
            RolloutPath::Fused => fused::linearized(self, parameters, cotangent),
        }
    }

    /// A row of the wrong length, or no reading, is a mistake of the program, not of its input.
    fn check_parameters(&self, parameters: &Field) {
        let expected = [self.points, self.law.parameters().len()];
        assert_eq!(
            parameters.dims(),
            expected,
            "parameters must be [points, parameters of the law]"
        );
        assert!(
            !self.schedule.readings.is_empty(),
            "a roll-out that is read needs a reading"
        );
    }

    /// The same batch `copies` times over, for evaluating many parameter sets at once.
    pub(crate) fn repeated(&self, copies: usize) -> Rollout {
        Rollout {
            points: self.points * copies,
            amplitude: self.amplitude.repeat(copies),
            duration: self.duration.repeat(copies),
            ..self.clone()
        }
    }
}
