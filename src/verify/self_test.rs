//! A device against the CPU in double precision, in about a second.

use std::time::Instant;

use serde::Serialize;

use super::{ClothBench, HingeBench};
use crate::{
    error::Result,
    numeric::{Compute, Precision},
    rollout::RolloutPath,
};

/// Largest relative differences of a reading that pass. Those of the cloth are larger, because conjugate gradients in
/// single precision end earlier.
const HINGE_TOLERANCE: f64 = 1e-4;
const CLOTH_TOLERANCE: f64 = 1e-3;

/// One workload on a device and on the CPU.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct DeviceCheck {
    /// What was computed.
    pub workload: &'static str,
    /// Largest relative difference from the CPU in double precision.
    pub error: f64,
    /// The largest that passes.
    pub tolerance: f64,
    /// Time of the first run on the device, with the compiling of its kernels \[s\].
    pub first_seconds: f64,
    /// Time of the second run on the device \[s\].
    pub seconds: f64,
    /// Time of a run on the CPU in double precision \[s\].
    pub cpu_seconds: f64,
}

impl DeviceCheck {
    /// Whether the device is right.
    pub(crate) fn passed(&self) -> bool {
        self.error <= self.tolerance
    }
}

/// A batch of hinges with its gradient, and steps of a small cloth.
pub(crate) fn check_device(device: &Compute) -> Result<Vec<DeviceCheck>> {
    let hinges = |compute: &Compute| {
        let bench = HingeBench::new(compute, 4096, 60)?;
        let (loss, gradient) = bench.loss_and_gradient(compute, RolloutPath::Fused)?;
        // All parameters are of order one.
        Ok([&[loss][..], &gradient].concat())
    };
    let cloth = |compute: &Compute| {
        let bench = ClothBench::square(5, 2, compute)?;
        Ok(vec![bench.forward(&mut bench.solver()?)?])
    };
    Ok(vec![
        check(
            device,
            "4096 hinges, 60 steps, with gradient",
            HINGE_TOLERANCE,
            &hinges,
        )?,
        check(
            device,
            "a cloth of 25 vertices, 2 steps",
            CLOTH_TOLERANCE,
            &cloth,
        )?,
    ])
}

fn check(
    device: &Compute,
    workload: &'static str,
    tolerance: f64,
    run: &dyn Fn(&Compute) -> Result<Vec<f64>>,
) -> Result<DeviceCheck> {
    let timed = |compute: &Compute| {
        let clock = Instant::now();
        run(compute).map(|numbers| (numbers, clock.elapsed().as_secs_f64()))
    };
    let (_, first_seconds) = timed(device)?;
    let (found, seconds) = timed(device)?;
    let (exact, cpu_seconds) = timed(&Compute::cpu(Precision::F64))?;
    let largest = exact.iter().fold(0.0f64, |most, x| most.max(x.abs()));
    let gaps = found.iter().zip(&exact).map(|(a, b)| (a - b).abs());
    // NaN is no agreement.
    let error = gaps.fold(0.0f64, |most, gap| if gap <= most { most } else { gap }) / largest;
    Ok(DeviceCheck {
        workload,
        error,
        tolerance,
        first_seconds,
        seconds,
        cpu_seconds,
    })
}
