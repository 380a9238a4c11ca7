//! The crease recovery test (paper 1 Fig. 2; Levison et al. 1962; ISO 2313, AATCC 66).

mod columns;
mod curves;
mod exact;
mod grid;
mod hinge;
mod measured;
mod point;
mod quadrature;
mod settings;
mod shares;
mod whole;

use std::{slice, sync::Arc};

use burn::tensor::Tensor;

pub(super) use columns::ANGLE;
pub(super) use measured::{Recovery, seconds};
pub(crate) use whole::quadrature_error;

use crate::{
    error::{Result, bad_input, readable},
    laboratory::Readings,
    material::{Law, ReadyMaterial},
    numeric::{Compute, Field, Gate, Precision},
    rollout::{HingeReading, Rollout, Schedule, Step, log_times},
};

/// Crest curvature times gap of the rectangular elastica: ∫ √cos α dα over (−π/2, π/2).
pub(crate) const CREST_CURVATURE: f64 = 2.396_280_469_471_184;

/// A fold goes this little too far and back. A hinge that has just slipped sits on its threshold to
/// rounding, and under the hard law rounding would decide whether it rests or goes on slipping, that is
/// whether it dwells at all. The way back decides it; it changes the recovery by less than 0.001°.
pub(super) const OVERSHOOT: f64 = 1.0 + 1e-6;

/// The test: elastica fold between plates, hold, release, read.
///
/// The strip between plates a gap d apart is a rectangular elastica: with α the tangent angle from
/// −π/2 to π/2 its curvature is κ = κ_a·√cos α, κ_a = 2.39628/d. It is cut into `hinges` of equal
/// turning angle. A released strip carries no moment, so every hinge relaxes on its own.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CreaseTest {
    /// Hinges along the fold. 64 are within 1.0° of 1024 for a cotton-like law (docs/MODEL.md).
    pub hinges: usize,
    /// Steps of the fold. The hard law needs one; a smooth gate needs steps wider than its band.
    pub fold_steps: usize,
    /// Steps of the hold, spaced in log time over the last six decades of the pressing time, followed
    /// by one step of no duration that settles the flow.
    pub hold_steps: usize,
    /// Steps of no duration right after the release. The hard law needs one step. A smooth gate needs
    /// a second step for the rest of an excess.
    pub snap_steps: usize,
    /// Steps from release to each reading, in log time: they follow delayed recovery, to first order.
    /// Twelve are within 0.1° for a branch of 100 s (docs/MODEL.md).
    pub read_steps: usize,
}

impl Default for CreaseTest {
    fn default() -> Self {
        CreaseTest {
            hinges: 64,
            fold_steps: 4,
            hold_steps: 8,
            snap_steps: 2,
            read_steps: 12,
        }
    }
}

/// One point of a recovery curve.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct CreasePoint {
    /// Distance of the plates \[m\].
    pub gap: f64,
    /// How long the fold was held \[s\].
    pub press: f64,
    /// Time from release to reading \[s\].
    pub read: f64,
}

/// Curvatures \[1/m\] of `hinges` hinges of equal turning angle on a fold of the given gap \[m\],
/// taken at the middle of each hinge.
pub(crate) fn fold_curvatures(gap: f64, hinges: usize) -> Vec<f64> {
    let turn = std::f64::consts::PI / hinges as f64;
    let crest = CREST_CURVATURE / gap;
    (0..hinges)
        .map(|i| {
            let tangent = (i as f64 + 0.5) * turn - std::f64::consts::FRAC_PI_2;
            crest * tangent.cos().sqrt()
        })
        .collect()
}

impl CreaseTest {
    /// The points of every gap, pressing time and reading time, gap slowest, reading fastest.
    pub fn grid(gaps: &[f64], presses: &[f64], reads: &[f64]) -> Vec<CreasePoint> {
        let mut points = Vec::with_capacity(gaps.len() * presses.len() * reads.len());
        for &gap in gaps {
            for &press in presses {
                points.extend(reads.iter().map(|&read| CreasePoint { gap, press, read }));
            }
        }
        points
    }

    /// Recovery angle of each point \[degrees\], 180 for full recovery, and where asked for its derivatives by the
    /// parameters of the law \[degrees per unit\]. The fold is cut into hinges, with the gate of `material`.
    pub fn simulate(
        &self,
        material: &ReadyMaterial,
        points: &[CreasePoint],
        compute: &Compute,
        with_slopes: bool,
    ) -> Result<Readings> {
        let rollout = self.rollout(material.law.clone(), material.gate, points)?;
        let parameters = rollout.shared_parameters(compute, &material.values);
        self.run(compute, &rollout, points, parameters, with_slopes)
    }

    /// Recovery angle of each point \[degrees\] under the hard law, as with infinitely many hinges, and whatever else is
    /// read. `None` where rounding makes events without end, which was seen at branches far from any data: the hinges of
    /// [`CreaseTest::simulate`] then have to do.
    pub fn exact(material: &ReadyMaterial, points: &[CreasePoint]) -> Result<Vec<Option<f64>>> {
        CreaseTest::exact_of(material.law.as_ref(), &material.values, points)
    }

    /// The same of a law and its parameters.
    pub(crate) fn exact_of(
        law: &dyn Law,
        values: &[f64],
        points: &[CreasePoint],
    ) -> Result<Vec<Option<f64>>> {
        CreaseTest::default().check(points)?;
        let form = law.form();
        let angle = |p: &CreasePoint| Some(whole::recovery(&form, values, &[], p)?.0);
        let angles: Vec<Option<f64>> = points.iter().map(angle).collect();
        for (point, angle) in points.iter().zip(&angles) {
            if let Some(angle) = angle {
                check_angles(&[*angle], slice::from_ref(point), Precision::F64)?;
            }
        }
        Ok(angles)
    }

    /// The roll-out of all points as one batch.
    pub(crate) fn rollout(
        &self,
        law: Arc<dyn Law>,
        gate: Gate,
        points: &[CreasePoint],
    ) -> Result<Rollout> {
        self.check(points)?;
        let half = self.simulated();
        let mut amplitude = Vec::with_capacity(points.len() * half);
        let mut duration = Vec::with_capacity(points.len() * half);
        for point in points {
            amplitude.extend(&fold_curvatures(point.gap, self.hinges)[..half]);
            duration.extend(std::iter::repeat_n(point.press, half));
        }
        let rollout = Rollout {
            law,
            gate,
            schedule: self.schedule(points),
            points: points.len(),
            hinges: half,
            amplitude,
            duration,
        };
        rollout.check()?;
        Ok(rollout)
    }

    /// Hinges that are rolled out: the fold is symmetric, so one side and the middle stand for all.
    fn simulated(&self) -> usize {
        self.hinges.div_ceil(2)
    }

    fn check(&self, points: &[CreasePoint]) -> Result<()> {
        if points.is_empty() {
            return bad_input(
                "a crease test needs at least one gap, one pressing and one reading time",
            );
        }
        if self.hinges < 2 || self.fold_steps == 0 || self.hold_steps == 0 || self.snap_steps == 0 {
            return bad_input(format!(
                "a crease test needs 2 hinges or more and at least one step a phase, not {self:?}"
            ));
        }
        for point in points {
            for (name, value, low) in [
                ("gap", point.gap, f64::MIN_POSITIVE),
                ("pressing time", point.press, 0.0),
                ("reading time", point.read, 0.0),
            ] {
                if !value.is_finite() || value < low {
                    return bad_input(format!(
                        "{name} = {value} (SI units) cannot be tested; give a {} number",
                        if low > 0.0 {
                            "positive"
                        } else {
                            "non-negative"
                        }
                    ));
                }
            }
        }
        Ok(())
    }

    /// Fold at once, hold in log time and settle, snap to equilibrium, then log time to the readings.
    fn schedule(&self, points: &[CreasePoint]) -> Schedule {
        let mut steps: Vec<Step> = (1..=self.fold_steps)
            .map(|k| Step::prescribe(OVERSHOOT * k as f64 / self.fold_steps as f64, 0.0))
            .collect();
        let mut before = 0.0;
        for share in log_times(1e-6, 1.0, self.hold_steps) {
            steps.push(Step::dwell(1.0, share - before));
            before = share;
        }
        steps.push(Step::prescribe(1.0, 0.0));
        steps.extend(vec![Step::release(0.0); self.snap_steps]);
        let mut readings = Vec::new();
        let mut now = 0.0;
        for read in reading_times(points) {
            // The first stretch starts a thousandth of the way, later ones at the reading before.
            let first = if now > 0.0 { now } else { 1e-3 * read };
            for time in log_times(first, read, self.read_steps) {
                steps.push(Step::release(time - now));
                now = time;
            }
            readings.push(steps.len() - 1);
        }
        Schedule {
            steps,
            readings,
            reading: HingeReading::Strain,
        }
    }

    /// Recovery angle \[degrees\] of each point, for one set of parameters or a row per point.
    pub(crate) fn run(
        &self,
        compute: &Compute,
        rollout: &Rollout,
        points: &[CreasePoint],
        parameters: Field,
        with_slopes: bool,
    ) -> Result<Readings> {
        let weights = self.angle_weights(compute, rollout, points);
        let (readings, slopes) = if with_slopes {
            let seed = weights.clone() * -1.0;
            let (readings, slopes) = rollout.linearized(compute, parameters, seed);
            (readings, compute.values(slopes)?)
        } else {
            (rollout.forward(compute, parameters), Vec::new())
        };
        let lost: Tensor<1> = (readings * weights).sum_dims_squeeze(&[1, 2]);
        let lost = compute.values(lost)?;
        let values: Vec<f64> = lost.iter().map(|lost| 180.0 - lost).collect();
        check_angles(&values, points, compute.precision())?;
        Ok(Readings { values, slopes })
    }

    /// ∂(180° − angle)/∂reading: 180/(hinges·κ_i) at the point's own reading time, 0 elsewhere; twice
    /// that for a hinge that stands for its mirror image too.
    pub(crate) fn angle_weights(
        &self,
        compute: &Compute,
        rollout: &Rollout,
        points: &[CreasePoint],
    ) -> Tensor<3> {
        let times = reading_times(points);
        let half = self.simulated();
        let mut weights = Vec::with_capacity(rollout.amplitude.len() * times.len());
        for (i, curvature) in rollout.amplitude.iter().enumerate() {
            let read = points[i / half].read;
            let mirrored = i % half < self.hinges / 2;
            let sides = if mirrored { 2.0 } else { 1.0 };
            let weight = sides * 180.0 / (self.hinges as f64 * curvature);
            weights.extend(times.iter().map(|t| if *t == read { weight } else { 0.0 }));
        }
        compute.tensor(&weights, [rollout.points, half, times.len()])
    }
}

/// Refuses an angle that is not finite, or a full turn away from any release: a gate that never closes can get there.
fn check_angles(angles: &[f64], points: &[CreasePoint], precision: Precision) -> Result<()> {
    if let Some(i) = angles.iter().position(|a| !(-180.0..=360.0).contains(a)) {
        let CreasePoint { gap, press, read } = points[i];
        return bad_input(format!(
            "gap {} m, pressed {} s, read after {} s: the recovery angle came out as {}; a number is \
             too extreme for {} or the gate for this material (try --gate hard)",
            readable(gap),
            readable(press),
            readable(read),
            readable(angles[i]),
            precision.name()
        ));
    }
    Ok(())
}

/// The distinct reading times, increasing.
fn reading_times(points: &[CreasePoint]) -> Vec<f64> {
    let mut times: Vec<f64> = points.iter().map(|p| p.read).collect();
    times.sort_by(f64::total_cmp);
    times.dedup();
    times
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fold_fits_the_gap() {
        // The span ∫ cos α ds of the discrete fold must be the gap; the legs, where the curvature
        // vanishes, converge as 1/√n of their share.
        let gap = 1e-3;
        let span = |n: usize| -> f64 {
            let turn = std::f64::consts::PI / n as f64;
            let angles = (0..n).map(|i| (i as f64 + 0.5) * turn - std::f64::consts::FRAC_PI_2);
            let curvatures = fold_curvatures(gap, n);
            angles
                .zip(curvatures)
                .map(|(a, k)| a.cos() * turn / k)
                .sum()
        };
        let errors = [100, 400].map(|n| (span(n) / gap - 1.0).abs());
        assert!(
            errors[0] < 1e-3 && errors[1] < errors[0] / 4.0,
            "{errors:?}"
        );
    }
}
