//! A device against the CPU in double precision, in about a second.

use std::time::Instant;

use serde::Serialize;

use super::{ClothBench, HingeBench};
use crate::{
    error::Result,
    numeric::{Compute, Precision},
    rollout::RolloutPath,
};

/// Largest differences that pass, as shares of the largest number of a workload. Those of the cloth are larger, because
/// conjugate gradients in single precision end earlier.
const HINGE_TOLERANCE: f64 = 1e-4;
const CLOTH_TOLERANCE: f64 = 1e-3;

/// One workload on a device and on the CPU.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct DeviceCheck {
    /// What was computed.
    pub workload: &'static str,
    /// Largest difference from the CPU in double precision, as a share of the largest number.
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
    let error = gaps.fold(0.0, worse) / largest;
    Ok(DeviceCheck {
        workload,
        error,
        tolerance,
        first_seconds,
        seconds,
        cpu_seconds,
    })
}

/// The larger of two differences. NaN is larger than any number: it is no agreement.
fn worse(most: f64, gap: f64) -> f64 {
    if most.is_nan() || gap <= most {
        most
    } else {
        gap
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_that_gives_nan_does_not_agree() {
        for gaps in [[f64::NAN, 1e-6], [1e-6, f64::NAN]] {
            assert!(gaps.into_iter().fold(0.0, worse).is_nan());
        }
        assert_eq!([1e-6, 3e-6, 2e-6].into_iter().fold(0.0, worse), 3e-6);
    }

    /// The CPU in single precision agrees, as far as single precision can.
    #[test]
    fn single_precision_passes_and_differs() {
        for check in check_device(&Compute::cpu(Precision::F32)).unwrap() {
            assert!(check.passed() && check.error > 0.0, "{check:?}");
        }
    }
}
