//! A population of yarns in the laboratory tests.

use std::sync::Arc;

use crate::inside::common::{PARAMETERS, cpu, relative_difference};
use rumple::{
    laboratory::{CreasePoint, CreaseTest, KesTest},
    material::{Law, LawName, TimeDependent, Timer},
    numeric::{Gate, Random},
    rollout::RolloutPath,
};

fn population() -> Arc<dyn Law> {
    Arc::new(TimeDependent {
        population: true,
        ..TimeDependent::default()
    })
}

/// A number between two, evenly on a logarithmic scale.
fn between(random: &mut Random, low: f64, high: f64) -> f64 {
    low * (high / low).powf(random.uniform())
}

/// A law with spreads and a fold; every second one with much friction.
fn drawn(random: &mut Random) -> (Vec<f64>, CreasePoint) {
    let bending = 1e-5;
    let much = if random.below(2) == 1 { 5.0 } else { 1.0 };
    let values = vec![
        bending,
        bending * between(random, 0.3, 3.0) * much,
        between(random, 10.0, 80.0),
        between(random, 400.0, 1500.0),
        between(random, 5.0, 1000.0),
        between(random, 400.0, 1500.0),
        bending * between(random, 0.3, 3.0),
        0.5 + 0.49 * random.uniform(),
        between(random, 5.0, 2000.0),
        random.uniform(),
        0.6 * random.uniform(),
        random.uniform(),
    ];
    let gap = [0.4e-3, 0.8e-3, 1.6e-3, 3.2e-3][random.below(4)];
    let (press, read) = (between(random, 1.0, 1e5), between(random, 1.0, 1e4));
    (values, CreasePoint { gap, press, read })
}

/// Angles of hinges.
fn rolled_out(hinges: usize, values: &[f64], gate: Gate, point: CreasePoint) -> f64 {
    let test = CreaseTest {
        hinges,
        ..CreaseTest::default()
    };
    let rollout = test.rollout(population(), gate, &[point]).unwrap();
    let parameters = rollout.shared_parameters(&cpu(), values);
    let curves = test.run(&cpu(), &rollout, &[point], parameters, false);
    curves.unwrap().values[0]
}

/// Hinges that are released as a whole slip as those that are taken one yarn after the other.
#[test]
fn folds_of_a_population_are_the_limit_of_roll_outs() {
    let mut random = Random(23);
    let (mut worst, mut moved, mut seen) = (0.0f64, 0.0f64, 0);
    for _ in 0..24 {
        let (values, point) = drawn(&mut random);
        let Some(exact) =
            CreaseTest::exact_of(population().as_ref(), &values, &[point]).unwrap()[0]
        else {
            continue;
        };
        let angle = rolled_out(2000, &values, Gate::Hard, point);
        let one = LawName::TimeDependent.law(Timer::Authors, 0);
        let without = CreaseTest::exact_of(one.as_ref(), &values[..9], &[point]).unwrap()[0];
        println!(
            "{exact:.4} {:.4} without {without:.1?} {point:?}",
            angle - exact
        );
        worst = worst.max((angle - exact).abs());
        moved = moved.max((without.unwrap_or(exact) - exact).abs());
        seen += 1;
    }
    // The midpoint rule over 2000 hinges is off by up to 0.05°.
    assert!(seen > 15 && worst < 0.06, "{seen} folds, {worst}° apart");
    assert!(
        moved > 5.0,
        "the spreads move angles by no more than {moved}°"
    );
}

/// A narrow band of a smooth gate is the hard law, and the wider one is not.
#[test]
fn a_smooth_gate_tends_to_the_hard_one() {
    let mut random = Random(5);
    for _ in 0..6 {
        let (values, point) = drawn(&mut random);
        let hard = rolled_out(400, &values, Gate::Hard, point);
        let smooth =
            |width| (rolled_out(400, &values, Gate::Smoothstep { width }, point) - hard).abs();
        let (wide, narrow) = (smooth(100.0), smooth(0.01));
        assert!(narrow < 0.5 && narrow < wide, "{narrow} {wide}");
    }
}

/// Under a prescribed strain each yarn is a hinge of its own on the fused path: readings and slopes are those of the plain
/// path, to rounding.
#[test]
fn yarns_apart_are_yarns_together() {
    let values = [&PARAMETERS[..], &[0.7, 0.3, 0.5]].concat();
    let test = KesTest {
        max_curvature: 1.37,
        rate: 0.3,
        ..KesTest::default()
    };
    for gate in [Gate::Hard, Gate::Smoothstep { width: 0.1 }] {
        let rollout = test
            .rollout(population(), gate, &[0.0, 10.0, 100.0])
            .unwrap();
        assert_eq!(rollout.path(), RolloutPath::Fused);
        let rows = rollout.shared_parameters(&cpu(), &values);
        let run = |path| {
            let readings = rollout.forward_by(path, &cpu(), rows.clone());
            let seed = readings.ones_like();
            let (again, slopes) = rollout.linearized_by(path, &cpu(), rows.clone(), seed);
            let of = |t| cpu().values::<3>(t).unwrap();
            assert_eq!(of(readings.clone()), of(again));
            (of(readings), cpu().values(slopes).unwrap())
        };
        let (plain, fused) = (run(RolloutPath::Plain), run(RolloutPath::Fused));
        let scale = plain.1.iter().fold(0.0f64, |m, v| m.max(v.abs()));
        assert!(scale > 0.1 && plain.1[9..12].iter().all(|slope| slope.abs() > 1e-4));
        let readings = relative_difference(&fused.0, &plain.0, 1.0);
        let slopes = relative_difference(&fused.1, &plain.1, 1e-3 * scale);
        assert!(
            readings < 1e-12 && slopes < 1e-9,
            "{gate:?}: {readings:e} {slopes:e}"
        );
    }
    // A release lets yarns act on each other, and so do branches.
    let crease = CreaseTest::default();
    let points = CreaseTest::grid(&[1.2], &[1.0], &[1.0]);
    let folded = crease.rollout(population(), Gate::Hard, &points).unwrap();
    assert_eq!(folded.path(), RolloutPath::Plain);
    let branched = Arc::new(TimeDependent {
        population: true,
        branches: 1,
        ..TimeDependent::default()
    });
    let branched = test.rollout(branched, Gate::Hard, &[0.0]).unwrap();
    assert_eq!(branched.path(), RolloutPath::Plain);
}
