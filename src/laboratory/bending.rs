//! The KES-FB2 pure bending test, with an optional dwell at full curvature.

mod columns;
mod curves;
mod loops;
mod measured;
mod planned;
mod point;
mod settings;

use std::sync::Arc;

use columns::{CURVATURE, MOMENT};
pub(super) use measured::{Bending, assumed_moment_sd};
#[cfg(test)]
pub(crate) use point::{BendingPoint, BendingReading};

use super::crease::OVERSHOOT;
use crate::{
    error::{Result, bad_input},
    material::{Law, ReadyMaterial},
    numeric::{Compute, Field, Gate},
    rollout::{HingeReading, Rollout, Schedule, Step, log_times},
};

/// Curvature goes 0 → +max → −max → 0 at a constant rate; the moment is read after every step. A
/// dwell at +max makes τ_f and ε_inf visible.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct KesTest {
    /// Largest curvature \[1/m\]; the instrument uses 250.
    pub max_curvature: f64,
    /// Rate \[1/(m·s)\]; the instrument uses 50.
    pub rate: f64,
    /// Steps from 0 to the largest curvature.
    pub quarter_steps: usize,
    /// Steps of the dwell, in log time.
    pub dwell_steps: usize,
}

impl Default for KesTest {
    fn default() -> Self {
        KesTest {
            max_curvature: 250.0,
            rate: 50.0,
            quarter_steps: 50,
            dwell_steps: 4,
        }
    }
}

/// The two numbers that users read off a loop.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct KesReading {
    /// B \[N·m\]: mean slope of the outgoing branches between 0.2 and 0.6 of the largest curvature
    /// (0.5 and 1.5 cm⁻¹ on the instrument), over both sides.
    pub rigidity: f64,
    /// 2HB \[N·m/m\]: mean moment between outgoing and returning branch at 0.4 of the largest curvature
    /// (1.0 cm⁻¹), over both sides.
    pub hysteresis: f64,
}

/// One measured loop.
#[derive(Debug, Clone)]
pub struct KesLoop {
    /// Dwell at the largest curvature \[s\].
    pub dwell: f64,
    /// (curvature \[1/m\], moment \[N·m/m\]) along the way, from (0, 0).
    pub path: Vec<(f64, f64)>,
    /// B and 2HB.
    pub reading: KesReading,
    /// Derivatives of B and of 2HB by the parameters of the law; empty where they were not asked for.
    pub slopes: [Vec<f64>; 2],
}

/// A part of the bending cycle 0 → +max → −max → 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
pub enum Branch {
    /// 0 → +max.
    Out,
    /// +max → −max.
    Down,
    /// −max → 0.
    Back,
}

impl Branch {
    /// The word of data files.
    fn name(self) -> &'static str {
        match self {
            Branch::Out => "out",
            Branch::Down => "down",
            Branch::Back => "back",
        }
    }
}

/// Where along the path a branch starts and ends, as indices into [`KesLoop::path`].
struct Branches {
    out_positive: std::ops::RangeInclusive<usize>,
    sweep_down: std::ops::RangeInclusive<usize>,
    back: std::ops::RangeInclusive<usize>,
}

impl KesTest {
    fn fractions(&self) -> Vec<f64> {
        let n = self.quarter_steps;
        let share = |k: usize| k as f64 / n as f64;
        // The peak goes a little too far, for the reason given at OVERSHOOT; the dwell is at the peak.
        let out = (1..=n).map(|k| if k == n { OVERSHOOT } else { share(k) });
        let down = (1..=2 * n).map(|k| 1.0 - share(k));
        let back = (1..=n).map(|k| share(k) - 1.0);
        out.chain(down).chain(back).collect()
    }

    fn branches(&self) -> Branches {
        let n = self.quarter_steps;
        let top = n + self.dwell_steps + 1;
        Branches {
            out_positive: 0..=n,
            sweep_down: top..=top + 2 * n,
            back: top + 2 * n..=top + 3 * n,
        }
    }

    /// Curvature after every step, from 0, in the order of [`KesLoop::path`].
    pub(crate) fn curvatures(&self) -> Vec<f64> {
        let mut list = vec![0.0];
        for (k, fraction) in self.fractions().into_iter().enumerate() {
            list.push(fraction * self.max_curvature);
            if k + 1 == self.quarter_steps {
                list.extend(vec![self.max_curvature; self.dwell_steps + 1]);
            }
        }
        list
    }

    /// A loop for each dwell at the largest curvature \[s\], and where asked for the derivatives of its B and 2HB.
    pub fn simulate(
        &self,
        material: &ReadyMaterial,
        dwells: &[f64],
        compute: &Compute,
        with_slopes: bool,
    ) -> Result<Vec<KesLoop>> {
        let rollout = self.rollout(material.law.clone(), material.gate, dwells)?;
        let parameters = rollout.shared_parameters(compute, &material.values);
        let mut loops = self.run(compute, &rollout, parameters.clone())?;
        if with_slopes {
            let (rigidity, hysteresis) = self.reading_weights();
            for (k, weights) in [rigidity, hysteresis].iter().enumerate() {
                // The path begins at 0, where nothing is read.
                let weights = &weights[1..];
                let shape = [loops.len(), 1, weights.len()];
                let seed = compute.tensor(&weights.repeat(loops.len()), shape);
                let (_, slopes) = rollout.linearized(compute, parameters.clone(), seed);
                let slopes = compute.values(slopes)?;
                let rows = slopes.chunks_exact(material.values.len());
                for (one, row) in loops.iter_mut().zip(rows) {
                    one.slopes[k] = row.to_vec();
                }
            }
        }
        Ok(loops)
    }

    /// One hinge a dwell; the moment is read after every step.
    pub(crate) fn rollout(&self, law: Arc<dyn Law>, gate: Gate, dwells: &[f64]) -> Result<Rollout> {
        if dwells.is_empty() {
            return bad_input("a KES test needs at least one dwell; give 0 for none");
        }
        if let Some(dwell) = dwells.iter().find(|d| !d.is_finite() || **d < 0.0) {
            return bad_input(format!(
                "dwell = {dwell} s cannot be tested; give a finite, non-negative number"
            ));
        }
        let dt = self.max_curvature / self.quarter_steps as f64 / self.rate;
        let mut steps = Vec::new();
        for (k, fraction) in self.fractions().into_iter().enumerate() {
            steps.push(Step::prescribe(fraction, dt));
            if k + 1 == self.quarter_steps {
                let mut before = 0.0;
                for share in log_times(1e-4, 1.0, self.dwell_steps) {
                    steps.push(Step::dwell(1.0, share - before));
                    before = share;
                }
                // Of no duration: lets the flow settle on the yield surface.
                steps.push(Step::prescribe(1.0, 0.0));
            }
        }
        let rollout = Rollout {
            law,
            gate,
            schedule: Schedule {
                readings: (0..steps.len()).collect(),
                steps,
                reading: HingeReading::Stress,
            },
            points: dwells.len(),
            hinges: 1,
            amplitude: vec![self.max_curvature; dwells.len()],
            duration: dwells.to_vec(),
        };
        rollout.check()?;
        Ok(rollout)
    }

    /// B and 2HB as weights on the moments of [`KesTest::curvatures`]: both are linear in them, so the
    /// weights are also what a gradient is seeded with.
    pub(crate) fn reading_weights(&self) -> (Vec<f64>, Vec<f64>) {
        let curvatures = self.curvatures();
        let branches = self.branches();
        let [inner, middle, outer] = [0.2, 0.4, 0.6].map(|share| share * self.max_curvature);
        let mut rigidity = vec![0.0; curvatures.len()];
        let mut hysteresis = vec![0.0; curvatures.len()];
        let slope = 0.5 / (outer - inner);
        for (branch, side) in [(&branches.out_positive, 1.0), (&branches.sweep_down, -1.0)] {
            interpolate(
                &curvatures,
                branch,
                side * outer,
                side * slope,
                &mut rigidity,
            );
            interpolate(
                &curvatures,
                branch,
                side * inner,
                -side * slope,
                &mut rigidity,
            );
        }
        for (branch, curvature, weight) in [
            (&branches.out_positive, middle, 0.5),
            (&branches.sweep_down, middle, -0.5),
            (&branches.back, -middle, 0.5),
            (&branches.sweep_down, -middle, -0.5),
        ] {
            interpolate(&curvatures, branch, curvature, weight, &mut hysteresis);
        }
        (rigidity, hysteresis)
    }

    /// The moment at a curvature of a branch, as weights like those of [`KesTest::reading_weights`]; beyond
    /// the branch it is the moment at its end.
    pub(crate) fn moment_weights(&self, branch: Branch, curvature: f64) -> Vec<f64> {
        let curvatures = self.curvatures();
        let branches = self.branches();
        let range = match branch {
            Branch::Out => branches.out_positive,
            Branch::Down => branches.sweep_down,
            Branch::Back => branches.back,
        };
        let ends = [curvatures[*range.start()], curvatures[*range.end()]];
        let (low, high) = (ends[0].min(ends[1]), ends[0].max(ends[1]));
        let mut weights = vec![0.0; curvatures.len()];
        if curvature <= low || curvature >= high {
            let nearest = (curvature <= low) == (ends[0] == low);
            weights[if nearest {
                *range.start()
            } else {
                *range.end()
            }] = 1.0;
        } else {
            interpolate(&curvatures, &range, curvature, 1.0, &mut weights);
        }
        weights
    }

    /// The loops of a roll-out made by [`KesTest::rollout`].
    pub(crate) fn run(
        &self,
        compute: &Compute,
        rollout: &Rollout,
        parameters: Field,
    ) -> Result<Vec<KesLoop>> {
        let moments = compute.values(rollout.forward(compute, parameters))?;
        if moments.iter().any(|m| !m.is_finite()) {
            return bad_input(format!(
                "a moment of the loop is not finite; a number is too extreme for {}",
                compute.precision().name()
            ));
        }
        let curvatures = self.curvatures();
        let (rigidity, hysteresis) = self.reading_weights();
        let loops = moments
            .chunks_exact(curvatures.len() - 1)
            .zip(&rollout.duration);
        Ok(loops
            .map(|(moments, &dwell)| {
                let path: Vec<(f64, f64)> = curvatures
                    .iter()
                    .copied()
                    .zip([0.0].into_iter().chain(moments.iter().copied()))
                    .collect();
                let dot = |w: &[f64]| w.iter().zip(&path).map(|(w, (_, m))| w * m).sum();
                let reading = KesReading {
                    rigidity: dot(&rigidity),
                    hysteresis: dot(&hysteresis),
                };
                KesLoop {
                    dwell,
                    path,
                    reading,
                    slopes: Default::default(),
                }
            })
            .collect())
    }
}

/// Adds `weight` times the linear interpolation at `curvature` on a branch to `weights`.
fn interpolate(
    curvatures: &[f64],
    branch: &std::ops::RangeInclusive<usize>,
    curvature: f64,
    weight: f64,
    weights: &mut [f64],
) {
    for i in *branch.start()..*branch.end() {
        let (a, b) = (curvatures[i], curvatures[i + 1]);
        let t = (curvature - a) / (b - a);
        // Half-open, so that a node on the grid is found once; a step of no length gives NaN or ∞.
        if (0.0..1.0).contains(&t) {
            weights[i] += weight * (1.0 - t);
            weights[i + 1] += weight * t;
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Central differences over 1e-5 of a parameter, in relative changes: a wide gate bends within such a step by
    // less than the bound.
    #[test]
    fn slopes_are_derivatives_of_the_readings() {
        let mut cotton = ReadyMaterial::hard("cotton broad").unwrap();
        cotton.gate = Gate::Smoothstep { width: 60.0 };
        let compute = Compute::cpu(crate::numeric::Precision::F64);
        let run = |material: &ReadyMaterial, slopes| {
            let found = KesTest::default().simulate(material, &[0.0, 60.0], &compute, slopes);
            found.unwrap()
        };
        let exact = run(&cotton, true);
        let numbers = |l: &KesLoop| [l.reading.rigidity, l.reading.hysteresis];
        let mut largest = 0.0f64;
        for p in 0..cotton.values.len() {
            let moved = |by: f64| {
                let mut moved = cotton.clone();
                moved.values[p] *= 1.0 + by;
                run(&moved, false)
            };
            let (up, down) = (moved(1e-5), moved(-1e-5));
            for (k, one) in exact.iter().enumerate() {
                for (i, reading) in numbers(one).into_iter().enumerate() {
                    let difference = (numbers(&up[k])[i] - numbers(&down[k])[i]) / 2e-5 / reading;
                    let slope = one.slopes[i][p] * cotton.values[p] / reading;
                    assert!(
                        (difference - slope).abs() < 1e-5,
                        "{k} {p} {i}: {slope} {difference}"
                    );
                    largest = largest.max(slope.abs());
                }
            }
        }
        assert!(largest > 0.1, "{largest}");
    }

    #[test]
    fn moments_are_read_on_their_branch() {
        let test = KesTest::default();
        let curvatures = test.curvatures();
        // The place along the path as the "moment": branches are told apart.
        let place = |branch, curvature| -> f64 {
            let weights = test.moment_weights(branch, curvature);
            weights.iter().enumerate().map(|(i, w)| w * i as f64).sum()
        };
        let n = test.quarter_steps as f64;
        assert!((place(Branch::Out, 100.0) - 0.4 * n).abs() < 1e-3);
        let top = n + test.dwell_steps as f64 + 1.0;
        assert!((place(Branch::Down, 100.0) - (top + 0.6 * n)).abs() < 1e-9);
        assert!((place(Branch::Back, -100.0) - (top + 2.6 * n)).abs() < 1e-9);
        assert_eq!(place(Branch::Back, 50.0) as usize, curvatures.len() - 1);
        assert_eq!(place(Branch::Down, 300.0), top);
    }

    #[test]
    fn weights_read_a_known_parallelogram() {
        // M = 2·κ ± 3 on outgoing and returning branches: B = 2, 2HB = 6.
        let test = KesTest::default();
        let curvatures = test.curvatures();
        let branches = test.branches();
        let moments: Vec<f64> = curvatures
            .iter()
            .enumerate()
            .map(|(i, k)| {
                2.0 * k
                    + if branches.sweep_down.contains(&i) {
                        -3.0
                    } else {
                        3.0
                    }
            })
            .collect();
        let (rigidity, hysteresis) = test.reading_weights();
        let dot = |w: &[f64]| -> f64 { w.iter().zip(&moments).map(|(a, b)| a * b).sum() };
        assert!((dot(&rigidity) - 2.0).abs() < 1e-12);
        assert!((dot(&hysteresis) - 6.0).abs() < 1e-12);
    }
}
