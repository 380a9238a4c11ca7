//! The closed form against roll-outs with many hinges and steps, and its derivatives against differences.

use std::sync::Arc;

use super::recovery;
use crate::{
    laboratory::{CreasePoint, CreaseTest},
    material::{Law, LawName, Material, Timer},
    numeric::{Compute, Gate, Precision, Random},
};

/// A number between two, evenly on a logarithmic scale.
fn between(random: &mut Random, low: f64, high: f64) -> f64 {
    low * (high / low).powf(random.uniform())
}

/// A law and a point as laboratories meet them.
fn drawn(random: &mut Random) -> (Vec<f64>, CreasePoint) {
    let bending = 1e-5;
    let values = vec![
        bending,
        bending * between(random, 0.3, 3.0),
        between(random, 10.0, 80.0),
        between(random, 400.0, 1500.0),
        between(random, 5.0, 1000.0),
        between(random, 400.0, 1500.0),
        bending * between(random, 0.3, 3.0),
        0.5 + 0.49 * random.uniform(),
        between(random, 5.0, 2000.0),
    ];
    let gap = [0.4e-3, 0.8e-3, 1.6e-3, 3.2e-3][random.below(4)];
    let (press, read) = (between(random, 1.0, 1e5), between(random, 1.0, 1e4));
    (values, CreasePoint { gap, press, read })
}

/// The angle of a roll-out under the hard law.
fn rolled_out(law: &Arc<dyn Law>, values: &[f64], point: CreasePoint, test: CreaseTest) -> f64 {
    let compute = Compute::cpu(Precision::F64);
    let rollout = test.rollout(law.clone(), Gate::Hard, &[point]).unwrap();
    let parameters = rollout.shared_parameters(&compute, values);
    let curves = test.run(&compute, &rollout, &[point], parameters, false);
    curves.unwrap().values[0]
}

// Presets of every law that has the closed form, and 200 laws drawn at random. The midpoint rule errs by its share at
// jumps, and the creep of the roll-out is of first order in its steps.
#[test]
fn the_closed_form_is_the_limit_of_roll_outs() {
    let fine = CreaseTest {
        hinges: 8000,
        read_steps: 3000,
        ..CreaseTest::default()
    };
    let mut random = Random(3);
    let (mut worst, mut crept) = (0.0f64, 0);
    let law = LawName::TimeDependent.law(Timer::Authors, 0);
    let mut compare = |law: &Arc<dyn Law>, values: &[f64], point: CreasePoint| {
        let Some((angle, _)) = recovery(&law.form(), values, &[], &point) else {
            return 0;
        };
        let reference = rolled_out(law, values, point, fine);
        assert!(
            (angle - reference).abs() < 0.05,
            "{angle} {reference}: {values:?} {point:?}"
        );
        worst = worst.max((angle - reference).abs());
        let later = CreasePoint {
            read: 10.0 * point.read,
            ..point
        };
        let (late, _) = recovery(&law.form(), values, &[], &later).unwrap();
        crept += usize::from((late - angle).abs() > 0.1);
        1
    };
    let mut compared = 0;
    for k in 0..200 {
        let (mut values, mut point) = drawn(&mut random);
        if k % 2 == 1 {
            // Much friction and much flow: such a fold creeps on after its release.
            values[1] *= 10.0;
            values[6] *= 5.0;
            values[7] = 0.9 + 0.09 * random.uniform();
            point.press = between(&mut random, 1.0, 300.0);
        }
        compared += compare(&law, &values, point);
    }
    for material in Material::presets() {
        for timer in [Timer::Authors, Timer::Printed] {
            let law = material.build_law(timer);
            let values = material.values_for(law.as_ref()).unwrap();
            let point = drawn(&mut random).1;
            compared += compare(&law, &values, point);
        }
    }
    for name in [
        LawName::Elastic,
        LawName::PerfectPlastic,
        LawName::HardeningPlastic,
    ] {
        let law = name.law(Timer::Authors, 0);
        let values = [1e-5, 500.0, 4e-6];
        let values = &values[..law.parameters().len()];
        compared += compare(&law, values, drawn(&mut random).1);
    }
    println!("{compared} folds, apart by {worst:.1e}° at most; {crept} creep on");
    assert!(compared > 210 && crept > 20, "{compared} {crept}");
}

// The distance to the roll-out falls with its hinges and steps: what is left is the roll-out's.
#[test]
fn roll_outs_converge_to_the_closed_form() {
    let law = LawName::TimeDependent.law(Timer::Authors, 0);
    let mut random = Random(11);
    let mut sums = [0.0; 3];
    for _ in 0..12 {
        let (values, point) = drawn(&mut random);
        let (angle, _) = recovery(&law.form(), &values, &[], &point).unwrap();
        for (sum, (hinges, read_steps)) in
            sums.iter_mut()
                .zip([(1000, 30), (8000, 240), (64_000, 1920)])
        {
            let test = CreaseTest {
                hinges,
                read_steps,
                ..CreaseTest::default()
            };
            *sum += (rolled_out(&law, &values, point, test) - angle).abs() / 12.0;
        }
    }
    println!("mean distance: {sums:?}");
    assert!(
        sums[1] < 0.3 * sums[0] && sums[2] < 0.3 * sums[1],
        "{sums:?}"
    );
    assert!(sums[2] < 1e-3, "{sums:?}");
}

// Central differences of the closed form itself, with hinges changing from rest to slip and to yield between both sides.
#[test]
fn the_jacobian_is_the_derivative() {
    let law = LawName::TimeDependent.law(Timer::Authors, 0);
    let mut random = Random(5);
    let mut checked = 0;
    for _ in 0..200 {
        let (values, point) = drawn(&mut random);
        let all: Vec<usize> = (0..values.len()).collect();
        let (_, slopes) = recovery(&law.form(), &values, &all, &point).unwrap();
        for (k, slope) in slopes.iter().enumerate() {
            let at = |share: f64| {
                let mut moved = values.clone();
                moved[k] *= 1.0 + share;
                recovery(&law.form(), &moved, &[], &point).unwrap().0
            };
            // Fourth order, so that a step above rounding is fine enough.
            let h = 1e-4;
            let near = (at(h) - at(-h)) / (2.0 * h);
            let far = (at(2.0 * h) - at(-2.0 * h)) / (4.0 * h);
            let difference = (4.0 * near - far) / 3.0;
            // Where a threshold is at the crest the angle moves like a square root and has no slope.
            if (near - far).abs() > 1e-4 * (1.0 + near.abs()) {
                continue;
            }
            checked += 1;
            let exact = slope * values[k];
            assert!(
                (exact - difference).abs() < 1e-6 * (1.0 + exact.abs()),
                "{k}: {exact} {difference} {values:?} {point:?}"
            );
        }
    }
    assert!(checked > 1700, "{checked}");
}

#[test]
fn a_yarn_that_yields_backwards_has_no_closed_form() {
    let law = LawName::TimeDependent.law(Timer::Authors, 0);
    let point = CreasePoint {
        gap: 0.5e-3,
        press: 1000.0,
        read: 300.0,
    };
    let values = [1e-6, 1e-4, 2000.0, 3000.0, 30.0, 50.0, 1e-7, 0.9, 30.0];
    assert!(recovery(&law.form(), &values, &[], &point).is_none());
}
