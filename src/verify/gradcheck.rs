//! The gradient of every law, gate, test and way of computing it, against central differences.

use std::sync::Arc;

use crate::laboratory::{CreasePoint, CreaseTest, KesTest};
use crate::{
    error::Result,
    material::{Dahl, Elastic, HardeningPlastic, Law, PerfectPlastic, TimeDependent, Timer},
    numeric::{Compute, Gate, GradientCheck, Precision, Random, YieldSide, judge, probes},
    rollout::{HingeReading, Rollout, RolloutPath, Schedule, Step},
};

/// What can be asked of a gradient.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reach {
    /// The function is C1: difference and slope must agree.
    Smooth,
    /// The function is smooth between its branches: the difference must agree, the slope need not,
    /// as larger steps cross a branch.
    Branchwise,
    /// The gradient is another function's by design: shown, not judged.
    Biased,
}

/// One checked derivative.
#[derive(Debug, Clone)]
pub(crate) struct GradientCase {
    /// The law and its variant.
    pub law: &'static str,
    /// The gate.
    pub gate: &'static str,
    /// What was done to the hinges.
    pub test: &'static str,
    /// The way it was computed.
    pub path: RolloutPath,
    /// The parameter.
    pub parameter: String,
    /// What can be asked of it.
    pub reach: Reach,
    /// Largest relative error that passes.
    pub tolerance: f64,
    /// The numbers.
    pub check: GradientCheck,
}

/// Largest relative error against central differences that passes for laws.
const TOLERANCE: f64 = 1e-6;
/// Least Taylor slope that passes. A wrong gradient has slope 1; a right one has 2, or more where the
/// second derivative happens to vanish and the remainder falls even faster.
const LEAST_SLOPE: f64 = 1.9;

impl GradientCase {
    /// Whether the derivative is right, as far as can be asked.
    pub(crate) fn passed(&self) -> bool {
        let close = self.check.relative_error <= self.tolerance;
        let steep = self.check.slope.is_none_or(|s| s >= LEAST_SLOPE);
        match self.reach {
            Reach::Smooth => close && steep,
            Reach::Branchwise => close,
            Reach::Biased => self.check.derivative.is_finite(),
        }
    }
}

/// A law and parameters under which every branch is taken.
#[derive(Debug, Clone)]
pub(crate) struct CheckedLaw {
    /// The law and its variant.
    pub name: &'static str,
    /// The law.
    pub law: Arc<dyn Law>,
    /// Its parameters.
    pub values: Vec<f64>,
    /// A typical strain: 1 for parameters of order one.
    pub strain: f64,
}

impl CheckedLaw {
    /// Whether a yarn that slips at a release may take others with it, which no gate makes smooth.
    fn takes_others_along(&self) -> bool {
        let parameters = self.law.parameters();
        parameters.iter().any(|p| p.role.is_spread())
    }
}

/// Every law with parameters of order one, and the default law with those of a fabric.
pub(crate) fn checked_laws() -> Vec<CheckedLaw> {
    let full = [1.0, 0.8, 0.15, 0.6, 50.0, 0.5, 1.0, 0.6, 300.0];
    let branched = [&full[..], &[0.3, 20.0, 0.2, 500.0]].concat();
    let fabric = [
        1.157e-5, 2.314e-5, 26.3, 900.0, 50.0, 900.0, 1.157e-5, 0.9, 300.0,
    ];
    let yarns = |timer, branches, population| {
        Arc::new(TimeDependent {
            timer,
            branches,
            population,
        }) as Arc<dyn Law>
    };
    let timed = |timer, branches| yarns(timer, branches, false);
    let spread = [&full[..], &[0.7, 0.3, 0.5]].concat();
    let spread_and_branched = [&spread[..], &[0.3, 20.0]].concat();
    let one = |name, law, values: &[f64]| CheckedLaw {
        name,
        law,
        values: values.to_vec(),
        strain: 1.0,
    };
    vec![
        one("time_dependent", timed(Timer::Authors, 0), &full),
        CheckedLaw {
            strain: 1500.0,
            ..one(
                "time_dependent, a fabric",
                timed(Timer::Authors, 0),
                &fabric,
            )
        },
        one(
            "time_dependent, printed timer",
            timed(Timer::Printed, 0),
            &full,
        ),
        one(
            "time_dependent, 2 branches",
            timed(Timer::Authors, 2),
            &branched,
        ),
        one(
            "time_dependent, a population",
            yarns(Timer::Authors, 0, true),
            &spread,
        ),
        one(
            "time_dependent, a population and 1 branch",
            yarns(Timer::Authors, 1, true),
            &spread_and_branched,
        ),
        one("elastic", Arc::new(Elastic), &[1.0]),
        one("perfect_plastic", Arc::new(PerfectPlastic), &[1.0, 0.5]),
        one(
            "hardening_plastic",
            Arc::new(HardeningPlastic),
            &[1.0, 0.5, 1.0],
        ),
        one("dahl", Arc::new(Dahl), &[1.0, 0.8, 0.15]),
    ]
}

/// Gates with bands wide enough to be met on the way.
fn gates(checked: &CheckedLaw) -> Vec<(&'static str, Gate, Reach)> {
    // These two have no branch.
    if matches!(checked.name, "elastic" | "dahl") {
        return vec![("none", Gate::Hard, Reach::Smooth)];
    }
    let width = 0.1 * checked.strain;
    let sigmoid = |side| Gate::Sigmoid {
        gain: 50.0 / checked.strain,
        side,
    };
    vec![
        ("smoothstep", Gate::Smoothstep { width }, Reach::Smooth),
        // Its ramp is not zero at zero strain, where the sign jumps.
        ("sigmoid", sigmoid(YieldSide::Signed), Reach::Branchwise),
        ("sigmoid, one-sided", sigmoid(YieldSide::One), Reach::Smooth),
        ("hard", Gate::Hard, Reach::Branchwise),
        (
            "straight-through",
            Gate::StraightThrough { width },
            Reach::Biased,
        ),
    ]
}

/// What is done: a strain far beyond every gate's band, a walk across them, and both laboratory tests.
fn tests(
    checked: &CheckedLaw,
    gate: Gate,
    random: &mut Random,
) -> Result<Vec<(&'static str, Rollout)>> {
    let (law, strain_scale) = (&checked.law, checked.strain);
    let walk = |fractions: Vec<f64>| Rollout {
        law: law.clone(),
        gate,
        schedule: Schedule {
            readings: (0..fractions.len()).collect(),
            steps: fractions.iter().map(|f| Step::prescribe(*f, 3.0)).collect(),
            reading: HingeReading::Stress,
        },
        points: 1,
        hinges: 1,
        amplitude: vec![strain_scale],
        duration: vec![0.0],
    };
    let mut strain = 0.0;
    let across = (0..40)
        .map(|_| {
            strain += 0.6 * (random.uniform() - 0.5);
            strain
        })
        .collect();
    let crease = CreaseTest {
        hinges: 8,
        ..CreaseTest::default()
    };
    let point = |gap: f64, press| CreasePoint {
        gap: gap / strain_scale,
        press,
        read: 200.0,
    };
    let points = [point(1.2, 0.5), point(1.2, 40.0), point(2.0, 2000.0)];
    let kes = KesTest {
        max_curvature: 1.37 * strain_scale,
        rate: 0.3 * strain_scale,
        quarter_steps: 7,
        dwell_steps: 3,
    };
    Ok(vec![
        // Folds far past every threshold, goes back a little and rests, then slips the other way.
        ("away from the gates", walk(vec![1.0, 2.1, 2.05, 0.9])),
        ("across the gates", walk(across)),
        ("crease", crease.rollout(law.clone(), gate, &points)?),
        ("kes", kes.rollout(law.clone(), gate, &[0.0, 60.0])?),
    ])
}

/// Checks everything and hands each case to `visit` as soon as it is known. `seed` chooses the walk
/// and the weights of the readings.
pub(crate) fn gradient_cases(seed: u64, mut visit: impl FnMut(GradientCase)) -> Result<()> {
    let compute = Compute::cpu(Precision::F64);
    let mut random = Random(seed);
    for checked in checked_laws() {
        for (gate_name, gate, reach) in gates(&checked) {
            for (test, rollout) in tests(&checked, gate, &mut random)? {
                let reach = match (reach, test) {
                    (Reach::Smooth, "crease") if checked.takes_others_along() => Reach::Branchwise,
                    (reach, _) => reach,
                };
                let mut paths = vec![RolloutPath::Plain];
                if rollout.path() == RolloutPath::Fused {
                    paths.push(RolloutPath::Fused);
                }
                for path in paths {
                    let checks =
                        check_rollout(&compute, &rollout, path, &checked.values, &mut random)?;
                    for (parameter, check) in checked.law.parameters().into_iter().zip(checks) {
                        visit(GradientCase {
                            law: checked.name,
                            gate: gate_name,
                            test,
                            path,
                            parameter: parameter.name,
                            reach,
                            tolerance: TOLERANCE,
                            check,
                        });
                    }
                }
            }
        }
    }
    Ok(())
}

/// Checks the derivative of a randomly weighted sum of a roll-out's readings with respect to each
/// parameter. All perturbed parameter sets are one batch.
fn check_rollout(
    compute: &Compute,
    rollout: &Rollout,
    path: RolloutPath,
    values: &[f64],
    random: &mut Random,
) -> Result<Vec<GradientCheck>> {
    let columns = rollout.schedule.readings.len();
    let shape = [rollout.points, rollout.hinges, columns];
    let weights: Vec<f64> = (0..shape.iter().product())
        .map(|_| random.uniform() + 0.5)
        .collect();
    let cotangent = compute.tensor(&weights, shape);
    let parameters = rollout.shared_parameters(compute, values);
    let (_, gradient) = rollout.linearized_by(path, compute, parameters, cotangent);
    let rows = compute.values(gradient)?;
    let probed: Vec<Vec<f64>> = values.iter().map(|v| probes(*v)).collect();
    let copies: usize = probed.iter().map(Vec::len).sum();
    let mut batch = Vec::with_capacity(copies * rollout.points * values.len());
    for (i, points) in probed.iter().enumerate() {
        for x in points {
            let mut row = values.to_vec();
            row[i] = *x;
            batch.extend(row.repeat(rollout.points));
        }
    }
    let many = rollout.repeated(copies);
    let batch = compute.tensor(&batch, [many.points, values.len()]);
    let readings = compute.values(many.forward_by(path, compute, batch))?;
    let mut results = readings.chunks_exact(weights.len()).map(|copy| {
        let terms = copy.iter().zip(&weights).map(|(r, w)| r * w);
        (terms.clone().sum::<f64>(), terms.map(f64::abs).sum::<f64>())
    });
    Ok(values
        .iter()
        .enumerate()
        .map(|(i, x)| {
            let derivative = rows.iter().skip(i).step_by(values.len()).sum();
            let (sums, sizes): (Vec<f64>, Vec<f64>) =
                results.by_ref().take(probed[i].len()).unzip();
            judge(*x, derivative, sizes[0], &sums)
        })
        .collect())
}
