//! The hinge workload that other tools solve too, to be timed beside them.
//!
//! Hinge i of n is folded to `1.5 + (i mod 7)/7`, held between 0.1 s and 1e5 s (even in log time) and
//! released by explicit overdamped steps, with sigmoid gates of gain 50; the loss is the mean squared
//! difference of its recovery from a smooth target.

use std::sync::Arc;

use burn::tensor::Tensor;

use crate::{
    error::{Result, bad_input},
    material::TimeDependent,
    numeric::{Compute, Field, Gate, YieldSide},
    rollout::{HingeReading, Rollout, RolloutPath, Schedule, Step, StepKind, fused, sweep},
};

/// Names and values of the parameters that the workload differentiates, in its order, with their
/// place in the law.
pub(crate) const BENCH_PARAMETERS: [(&str, f64, usize); 8] = [
    ("dwell_time", 50.0, 4),
    ("flow_time", 300.0, 8),
    ("hardening_drop", 0.6, 7),
    ("friction_threshold_initial", 0.15, 2),
    ("friction_threshold_saturated", 0.60, 3),
    ("yield_strain", 0.50, 5),
    ("hardening_stiffness", 1.0, 6),
    ("friction_stiffness", 0.8, 1),
];

/// Sharpness of the workload's gates.
pub(crate) const BENCH_GAIN: f64 = 50.0;

/// The workload at one size, ready to run.
#[derive(Debug, Clone)]
pub(crate) struct HingeBench {
    rollout: Rollout,
    parameters: Field,
    fold: Tensor<3>,
    target: Tensor<3>,
}

impl HingeBench {
    /// `hinges` hinges over `steps` steps: a sixth folding, a sixth holding, the rest releasing.
    pub(crate) fn new(compute: &Compute, hinges: usize, steps: usize) -> Result<Self> {
        if hinges == 0 || steps < 6 {
            return bad_input(format!(
                "the hinge workload needs at least 1 hinge and 6 steps, not {hinges} and {steps}"
            ));
        }
        let index = 0..hinges;
        let press = |i: usize| 10f64.powf(-1.0 + 6.0 * i as f64 / (hinges.max(2) - 1) as f64);
        let duration: Vec<f64> = index.clone().map(press).collect();
        let amplitude: Vec<f64> = index.map(|i| 1.5 + (i % 7) as f64 / 7.0).collect();
        let target: Vec<f64> = duration
            .iter()
            .map(|t| 0.1 + 0.4 / (1.0 + (t / 100.0).sqrt()))
            .collect();
        let shape = [1, hinges, 1];
        let (fold, target) = (
            compute.tensor(&amplitude, shape),
            compute.tensor(&target, shape),
        );
        let rollout = Rollout {
            // One point: all hinges share the parameters.
            points: 1,
            hinges,
            ..hinge_workload(BENCH_GAIN, amplitude, duration, steps)
        };
        let mut values = [1.0; 9];
        for (_, value, place) in BENCH_PARAMETERS {
            values[place] = value;
        }
        let parameters = compute.tensor(&values, [1, 9]);
        Ok(HingeBench {
            rollout,
            parameters,
            fold,
            target,
        })
    }

    /// The loss.
    pub(crate) fn loss(&self, compute: &Compute, path: RolloutPath) -> Result<f64> {
        let readings = self
            .rollout
            .forward_by(path, compute, self.parameters.clone());
        scalar(compute, self.loss_of(readings))
    }

    /// Loss and gradient in the order of [`BENCH_PARAMETERS`]. The fused roll-out is one operation on
    /// burn's tape; the plain one is differentiated by the reverse sweep.
    pub(crate) fn loss_and_gradient(
        &self,
        compute: &Compute,
        path: RolloutPath,
    ) -> Result<(f64, [f64; 8])> {
        let (loss, gradient) = match path {
            RolloutPath::Fused => {
                let parameters = self.parameters.clone().autodiff().require_grad();
                let loss = self.loss_of(fused::readings(&self.rollout, parameters.clone()));
                let gradients = loss.backward();
                (loss, parameters.grad(&gradients))
            }
            RolloutPath::Plain => {
                let parameters = self.parameters.clone();
                let readings = sweep::forward(&self.rollout, compute, parameters.clone());
                let readings = readings.autodiff().require_grad();
                let loss = self.loss_of(readings.clone());
                let seed = readings.grad(&loss.backward());
                let linearized =
                    |seed| sweep::linearized(&self.rollout, compute, parameters, seed).1;
                let gradient = seed.map(linearized);
                (loss, gradient)
            }
        };
        let gradient = gradient.unwrap_or_else(|| self.parameters.zeros_like());
        let gradient = compute.values(gradient)?;
        let ordered = BENCH_PARAMETERS.map(|(_, _, place)| gradient[place]);
        Ok((scalar(compute, loss.inner())?, ordered))
    }

    /// mean((recovery − target)²).
    fn loss_of(&self, strain: Tensor<3>) -> Tensor<1> {
        let recovery = (strain / self.fold.clone()) * -1.0 + 1.0;
        let error = recovery - self.target.clone();
        (error.clone() * error).mean()
    }
}

/// The workload's roll-out for the given folds and pressing times, a curve point each.
pub(crate) fn hinge_workload(gain: f64, fold: Vec<f64>, press: Vec<f64>, steps: usize) -> Rollout {
    Rollout {
        law: Arc::new(TimeDependent::default()),
        gate: Gate::Sigmoid {
            gain,
            side: YieldSide::Signed,
        },
        schedule: schedule(steps),
        points: fold.len(),
        hinges: 1,
        amplitude: fold,
        duration: press,
    }
}

fn schedule(steps: usize) -> Schedule {
    let ramp = steps / 6;
    let mut list: Vec<Step> = (1..=ramp)
        .map(|k| Step::prescribe(k as f64 / ramp as f64, 0.02))
        .collect();
    list.extend(vec![Step::dwell(1.0, 1.0 / ramp as f64); ramp]);
    let release = Step {
        motion: StepKind::Creep { mobility: 0.1 },
        seconds: 0.1,
        share: 0.0,
    };
    list.extend(vec![release; steps - 2 * ramp]);
    Schedule {
        steps: list,
        readings: vec![steps - 1],
        reading: HingeReading::Strain,
    }
}

fn scalar(compute: &Compute, value: Tensor<1>) -> Result<f64> {
    Ok(compute.values(value)?[0])
}
