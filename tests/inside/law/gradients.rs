//! Gradients: every case of `gradcheck`, awkward points, both ways, both precisions, the peers' numbers.

use std::sync::Arc;

use crate::inside::common::{PARAMETERS, cpu, laws, relative_difference, time_dependent};
use rumple::{
    laboratory::{CreaseTest, KesTest},
    numeric::{Compute, Gate, Precision, YieldSide},
    rollout::{HingeReading, Rollout, RolloutPath, Schedule, Step},
    verify::{HingeBench, Reach, gradient_cases},
};

/// Every law, gate, test and way passes; under the default gate with slope 2 ± 0.1.
#[test]
fn every_gradient_passes_its_check() {
    let mut checked = 0;
    let mut moved = 0;
    gradient_cases(1, |case| {
        assert!(case.passed(), "{case:?}");
        // No slope: the remainder is rounding, as for a function that is linear here.
        let smooth = case.gate == "smoothstep" && case.reach == Reach::Smooth;
        if let (true, Some(slope)) = (smooth, case.check.slope) {
            assert!((slope - 2.0).abs() <= 0.1, "{case:?}");
            checked += 1;
        }
        moved += usize::from(case.reach == Reach::Smooth && case.check.derivative != 0.0);
    })
    .unwrap();
    assert!(
        checked > 150 && moved > 150,
        "{checked} smoothstep cases, {moved} not zero"
    );
}

fn single(law: &Arc<dyn rumple::material::Law>, gate: Gate, strains: &[f64], dt: f64) -> Rollout {
    Rollout {
        law: law.clone(),
        gate,
        schedule: Schedule {
            steps: strains.iter().map(|e| Step::prescribe(*e, dt)).collect(),
            readings: (0..strains.len()).collect(),
            reading: HingeReading::Stress,
        },
        points: 1,
        hinges: 1,
        amplitude: vec![1.0],
        duration: vec![0.0],
    }
}

/// No gradient is NaN at zero strain, exactly on a threshold, at g = 0 or 1, or for no time at all.
#[test]
fn no_gradient_is_nan_at_awkward_points() {
    let gates = [
        Gate::Hard,
        Gate::Smoothstep { width: 0.1 },
        Gate::Sigmoid {
            gain: 50.0,
            side: YieldSide::Signed,
        },
        Gate::Sigmoid {
            gain: 50.0,
            side: YieldSide::One,
        },
        Gate::StraightThrough { width: 0.1 },
    ];
    // Zero, exactly ε_0, exactly ε_Y0, exactly back at zero.
    let strains = [0.0, 0.15, 0.5, 0.0, -0.5];
    for (law, values) in laws() {
        let mut variants = vec![values.clone()];
        if let Some(g) = law
            .parameters()
            .iter()
            .position(|p| p.name == "hardening_drop")
        {
            for drop in [0.0, 1.0] {
                let mut changed = values.clone();
                changed[g] = drop;
                variants.push(changed);
            }
        }
        for gate in gates {
            for values in &variants {
                for dt in [0.0, 1.0] {
                    let rollout = single(&law, gate, &strains, dt);
                    check_finite(&rollout, values);
                }
                let test = CreaseTest {
                    hinges: 4,
                    ..CreaseTest::default()
                };
                let points = CreaseTest::grid(&[1.2], &[0.0, 10.0], &[0.0, 10.0]);
                check_finite(&test.rollout(law.clone(), gate, &points).unwrap(), values);
            }
        }
    }
}

fn check_finite(rollout: &Rollout, values: &[f64]) {
    let compute = cpu();
    for path in [RolloutPath::Plain, rollout.path()] {
        let parameters = rollout.shared_parameters(&compute, values);
        let readings = rollout.forward_by(path, &compute, parameters.clone());
        let (_, gradient) = rollout.linearized_by(path, &compute, parameters, readings.ones_like());
        let name = rollout.law.name();
        for v in compute.values(readings).unwrap() {
            assert!(v.is_finite(), "{name} {:?} {values:?}", rollout.gate);
        }
        for v in compute.values(gradient).unwrap() {
            assert!(v.is_finite(), "{name} {:?} {values:?}", rollout.gate);
        }
    }
}

/// A crease batch and a KES batch of the time-dependent law, with rows of parameters that differ.
fn batches(gate: Gate) -> Vec<(Rollout, Vec<f64>)> {
    let points = CreaseTest::grid(&[1.2, 2.0], &[1.0, 100.0, 1e4], &[10.0, 1000.0]);
    let crease = CreaseTest {
        // Not a multiple of the block size, so that blocks cross points.
        hinges: 27,
        ..CreaseTest::default()
    };
    let kes = KesTest {
        max_curvature: 1.37,
        rate: 0.3,
        ..KesTest::default()
    };
    let rollouts = [
        crease.rollout(time_dependent(), gate, &points).unwrap(),
        kes.rollout(time_dependent(), gate, &[0.0, 10.0, 100.0])
            .unwrap(),
    ];
    rollouts
        .map(|rollout| {
            let rows = (0..rollout.points).flat_map(|i| {
                PARAMETERS.map(|p| p * (1.0 + 0.02 * i as f64 / rollout.points as f64))
            });
            let rows = rows.collect();
            (rollout, rows)
        })
        .to_vec()
}

/// Readings and the gradient of their sum.
fn both(
    rollout: &Rollout,
    rows: &[f64],
    path: RolloutPath,
    compute: &Compute,
) -> (Vec<f64>, Vec<f64>) {
    let parameters = compute.tensor(rows, [rollout.points, 9]);
    let seed = rollout
        .forward_by(path, compute, parameters.clone())
        .ones_like();
    let (readings, gradient) = rollout.linearized_by(path, compute, parameters, seed);
    (
        compute.values(readings).unwrap(),
        compute.values(gradient).unwrap(),
    )
}

/// The fused roll-out is the plain one to rounding, readings and gradients, for every gate it has.
#[test]
fn fused_and_plain_agree() {
    for gate in [
        Gate::Hard,
        Gate::Smoothstep { width: 0.1 },
        Gate::StraightThrough { width: 0.1 },
        Gate::Sigmoid {
            gain: 50.0,
            side: YieldSide::Signed,
        },
    ] {
        for (rollout, rows) in batches(gate) {
            let compute = cpu();
            assert_eq!(rollout.path(), RolloutPath::Fused);
            let run = |path| both(&rollout, &rows, path, &compute);
            let (plain, fused) = (run(RolloutPath::Plain), run(RolloutPath::Fused));
            let scale = plain.1.iter().fold(0.0f64, |m, v| m.max(v.abs()));
            assert!(scale > 0.1, "{gate:?}");
            let readings = relative_difference(&fused.0, &plain.0, 1.0);
            let gradients = relative_difference(&fused.1, &plain.1, 1e-3 * scale);
            // Rounding, grown by the release of hinges in the band of a gate. A released hinge sits on
            // its threshold; rounding decides the hard value there, and with it which of two biased
            // gradients the straight-through gate has.
            let tied = matches!(gate, Gate::StraightThrough { .. }) && rollout.hinges > 1;
            let close = tied || gradients < 1e-9;
            assert!(
                readings < 1e-11 && close,
                "{gate:?}: {readings:e} {gradients:e}"
            );
        }
    }
}

/// f32 follows f64: readings to 1e-5, gradients to 1e-4 of the largest.
#[test]
fn f32_follows_f64() {
    for (rollout, rows) in batches(Gate::Smoothstep { width: 0.1 }) {
        for path in [RolloutPath::Plain, RolloutPath::Fused] {
            let run = |precision| both(&rollout, &rows, path, &Compute::cpu(precision));
            let (double, single) = (run(Precision::F64), run(Precision::F32));
            let scale = double.1.iter().fold(0.0f64, |m, v| m.max(v.abs()));
            let readings = relative_difference(&single.0, &double.0, 1.0);
            let gradients = relative_difference(&single.1, &double.1, scale);
            println!("{path:?}: readings {readings:e}, gradients {gradients:e}");
            assert!(readings > 0.0 && readings < 1e-5, "{path:?} {readings:e}");
            assert!(gradients < 1e-4, "{path:?} {gradients:e}");
        }
    }
}

/// The result does not depend on the number of threads, to the last bit.
#[test]
fn threads_do_not_change_a_bit() {
    let compute = cpu();
    let bench = HingeBench::new(&compute, 1000, 60).unwrap();
    let with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        pool.install(|| {
            bench
                .loss_and_gradient(&compute, RolloutPath::Fused)
                .unwrap()
        })
    };
    assert_eq!(with(1), with(2));
    assert_eq!(with(1), with(5));
}

/// Loss and gradient of the hinge workload are those that NumPy and JAX (peers/hinge_spec.py, f64,
/// jax 0.10.2, --mode remat) print.
#[test]
fn the_hinge_workload_matches_its_peers() {
    let expected = [
        (
            100,
            0.02785030707955229,
            [
                2.753935694649464e-06,
                1.2549780136696152e-05,
                -0.033225105085201094,
                -0.05184085239830069,
                0.013302955514218912,
                0.07755147514088077,
                0.043887128690693084,
                -0.026483372501874318,
            ],
        ),
        (
            10_000,
            0.02770083345175018,
            [
                1.1929798994598992e-05,
                1.9194480410401286e-05,
                -0.04394409148669256,
                -0.07463940718764171,
                -0.025023241414868457,
                0.09122877660738747,
                0.05098313706371686,
                -0.036907714657900985,
            ],
        ),
    ];
    for (hinges, loss, gradient) in expected {
        let compute = cpu();
        let bench = HingeBench::new(&compute, hinges, 300).unwrap();
        let (ours, slopes) = bench
            .loss_and_gradient(&compute, RolloutPath::Fused)
            .unwrap();
        assert!((ours / loss - 1.0).abs() < 1e-9, "{ours}");
        assert_eq!(ours, bench.loss(&compute, RolloutPath::Fused).unwrap());
        let worst = relative_difference(&slopes, &gradient, 0.0);
        assert!(worst < 1e-9, "{worst:e}");
    }
    let compute = cpu();
    let bench = HingeBench::new(&compute, 100, 300).unwrap();
    let (_, slopes) = bench
        .loss_and_gradient(&compute, RolloutPath::Plain)
        .unwrap();
    assert!(relative_difference(&slopes, &expected[0].2, 0.0) < 1e-9);
}
