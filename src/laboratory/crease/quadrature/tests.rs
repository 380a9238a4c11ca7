//! The quadrature against the closed form, against roll-outs and against its own differences.

use std::sync::Arc;

use super::{Fineness, USUAL};

use crate::{
    laboratory::{CreasePoint, CreaseTest, crease::exact},
    material::{Law, LawForm, LawName, Source, Timer},
    numeric::{Compute, Gate, Precision, Random},
};

fn recovery(
    form: &LawForm,
    values: &[f64],
    sought: &[usize],
    point: &CreasePoint,
) -> Option<(f64, Vec<f64>)> {
    super::recovery(form, values, sought, point, &USUAL)
}

/// A number between two, evenly on a logarithmic scale.
fn between(random: &mut Random, low: f64, high: f64) -> f64 {
    low * (high / low).powf(random.uniform())
}

/// A law and a point as laboratories meet them; every second one with much friction and flow.
fn drawn(random: &mut Random) -> (Vec<f64>, CreasePoint) {
    let bending = 1e-5;
    let much = random.below(2) == 1;
    let values = vec![
        bending,
        bending * between(random, 0.3, 3.0) * if much { 5.0 } else { 1.0 },
        between(random, 10.0, 80.0),
        between(random, 400.0, 1500.0),
        between(random, 5.0, 1000.0),
        between(random, 400.0, 1500.0),
        bending * between(random, 0.3, 3.0) * if much { 5.0 } else { 1.0 },
        0.5 + 0.49 * random.uniform(),
        between(random, 5.0, 2000.0),
    ];
    let gap = [0.4e-3, 0.8e-3, 1.6e-3, 3.2e-3][random.below(4)];
    let (press, read) = (between(random, 1.0, 1e5), between(random, 1.0, 1e4));
    (values, CreasePoint { gap, press, read })
}

fn form(spreads: bool, branches: usize) -> LawForm {
    let first = if spreads { 12 } else { 9 };
    LawForm::TimeDependent {
        base: std::array::from_fn(Source::Parameter),
        spreads: spreads.then(|| [9, 10, 11].map(Source::Parameter)),
        branches: (0..branches)
            .map(|i| [0, 1].map(|k| Source::Parameter(first + 2 * i + k)))
            .collect(),
    }
}

/// A law of a form.
fn with(random: &mut Random, spreads: bool, branches: usize) -> (Vec<f64>, CreasePoint) {
    let (mut values, point) = drawn(random);
    if spreads {
        values.extend([random.uniform(), 0.6 * random.uniform(), random.uniform()]);
    }
    for _ in 0..branches {
        values.push(1e-5 * between(random, 0.1, 2.0));
        values.push(between(random, 1.0, 1e4));
    }
    (values, point)
}

// One yarn, and seven that are all alike.
#[test]
fn the_quadrature_is_the_closed_form() {
    let law = LawName::TimeDependent.law(Timer::Authors, 0);
    let mut random = Random(3);
    let (mut apart, mut slope_apart) = (0.0f64, 0.0f64);
    for k in 0..200 {
        let (mut values, point) = drawn(&mut random);
        let (angle, slopes) = exact::recovery(law.as_ref(), &values, &point).unwrap();
        let spreads = k % 4 == 0;
        if spreads {
            values.extend([0.0; 3]);
        }
        let sought: Vec<usize> = (0..9).collect();
        let found = recovery(&form(spreads, 0), &values, &sought, &point).unwrap();
        apart = apart.max((found.0 - angle).abs());
        assert!(
            (found.0 - angle).abs() < 1e-4,
            "{k}: {angle} {found:?} {values:?} {point:?}"
        );
        for (p, (a, b)) in slopes.iter().zip(&found.1).enumerate() {
            let error = values[p] * (a - b).abs() / (1.0 + values[p] * a.abs());
            slope_apart = slope_apart.max(error);
            assert!(error < 1e-4, "{k} {p}: {a} {b} {values:?} {point:?}");
        }
    }
    println!("apart by {apart:.1e}°, slopes by {slope_apart:.1e}");
}

/// The angle of a roll-out under the hard law.
fn rolled_out(law: &Arc<dyn Law>, values: &[f64], point: CreasePoint, test: CreaseTest) -> f64 {
    let compute = Compute::cpu(Precision::F64);
    let rollout = test.rollout(law.clone(), Gate::Hard, &[point]).unwrap();
    let parameters = rollout.shared_parameters(&compute, values);
    let curves = test.run(&compute, &rollout, &[point], parameters, false);
    curves.unwrap().angles[0]
}

#[test]
fn branches_are_the_limit_of_roll_outs() {
    let mut random = Random(17);
    let mut worst = 0.0f64;
    for k in 0..12 {
        let count = 1 + k % 2;
        let law = LawName::TimeDependent.law(Timer::Authors, count);
        let (values, point) = with(&mut random, false, count);
        let Some((angle, _)) = recovery(&law.form(), &values, &[], &point) else {
            continue;
        };
        let far = |read_steps| {
            let test = CreaseTest {
                hinges: 2000,
                read_steps,
                ..CreaseTest::default()
            };
            rolled_out(&law, &values, point, test)
        };
        let (coarse, fine) = (far(500), far(2000));
        println!(
            "{angle:.4} {:.4} {:.4} {point:?}",
            fine - angle,
            coarse - angle
        );
        worst = worst.max((fine - angle).abs());
    }
    println!("{worst}");
    assert!(worst < 0.1);
}

#[test]
fn the_jacobian_is_the_derivative() {
    let mut random = Random(5);
    let (mut checked, mut kinks) = (0, 0);
    for k in 0..60 {
        let (spreads, branches) = [(true, 0), (false, 1), (false, 2), (true, 1)][k % 4];
        let form = form(spreads, branches);
        let (values, point) = with(&mut random, spreads, branches);
        let sought: Vec<usize> = (0..values.len()).collect();
        let Some((_, slopes)) = recovery(&form, &values, &sought, &point) else {
            continue;
        };
        for (p, slope) in slopes.iter().enumerate() {
            let at = |share: f64| {
                let mut moved = values.clone();
                moved[p] *= 1.0 + share;
                recovery(&form, &moved, &[], &point).unwrap().0
            };
            let h = 2e-5;
            let near = (at(h) - at(-h)) / (2.0 * h);
            let far = (at(2.0 * h) - at(-2.0 * h)) / (4.0 * h);
            let difference = (4.0 * near - far) / 3.0;
            if (near - far).abs() > 1e-3 * (1.0 + near.abs()) {
                kinks += 1;
                continue;
            }
            checked += 1;
            let exact = slope * values[p];
            if (exact - difference).abs() > 1e-5 * (1.0 + exact.abs()) {
                println!(
                    "{k} {spreads} {branches} p{p}: {exact} {difference} near {near} far {far}"
                );
            }
        }
    }
    println!("{checked} {kinks}");
}

// Dahl's friction has no events; its moment saturates within some thresholds from the legs.
#[test]
fn dahls_friction_is_the_limit_of_roll_outs() {
    let law = LawName::Dahl.law(Timer::Authors, 0);
    let mut random = Random(23);
    let mut worst = 0.0f64;
    for _ in 0..40 {
        let values = [
            1e-5,
            1e-5 * between(&mut random, 0.1, 10.0),
            between(&mut random, 3.0, 2000.0),
        ];
        let point = CreasePoint {
            gap: between(&mut random, 2e-4, 3e-3),
            press: 60.0,
            read: 300.0,
        };
        let (angle, slopes) = recovery(&law.form(), &values, &[0, 1, 2], &point)
            .unwrap_or_else(|| panic!("{values:?} {point:?}"));
        let test = CreaseTest {
            hinges: 20_000,
            ..CreaseTest::default()
        };
        let reference = rolled_out(&law, &values, point, test);
        worst = worst.max((angle - reference).abs());
        for p in 0..3 {
            let at = |share: f64| {
                let mut moved = values;
                moved[p] *= 1.0 + share;
                recovery(&law.form(), &moved, &[], &point).unwrap().0
            };
            let [near, far] = [1e-4, 2e-4].map(|h| (at(h) - at(-h)) / (2.0 * h));
            let difference = (4.0 * near - far) / 3.0;
            let exact = slopes[p] * values[p];
            assert!(
                (exact - difference).abs() < 1e-6 * (1.0 + exact.abs()),
                "{p}: {exact} {difference}"
            );
        }
    }
    println!("{worst:.1e}°");
    assert!(worst < 2e-3, "{worst}");
}

// With a node more every piece is a digit better; a branch's relaxation is of second order in the growth of its steps. The
// bounds are for the nodes and steps that readings are taken with.
#[test]
fn nodes_converge_geometrically_and_steps_to_second_order() {
    let errors = |spreads: bool, branches: usize, each: &[(usize, f64)], finest: (usize, f64)| {
        let form = form(spreads, branches);
        let mut random = Random(29);
        let mut worst = vec![0.0f64; each.len()];
        for _ in 0..if branches > 0 { 30 } else { 100 } {
            let (values, point) = with(&mut random, spreads, branches);
            let angle = |(nodes, growth): (usize, f64)| {
                let fineness = Fineness::new(nodes, growth);
                super::recovery(&form, &values, &[], &point, &fineness).map(|found| found.0)
            };
            let Some(reference) = angle(finest) else {
                continue;
            };
            for (worst, fineness) in worst.iter_mut().zip(each) {
                *worst = worst.max((angle(*fineness).unwrap() - reference).abs());
            }
        }
        let shown: Vec<String> = worst.iter().map(|w| format!("{w:.1e}")).collect();
        println!("{spreads} {branches}: {}°", shown.join(" "));
        worst
    };
    let nodes = [4, 5, 6, 8, 10].map(|nodes| (nodes, 1.1));
    for spreads in [false, true] {
        let worst = errors(spreads, 0, &nodes, (16, 1.1));
        assert!(worst[0] > 1e-4, "the errors of few nodes must show");
        assert!(worst[1] < 0.2 * worst[0] && worst[2] < 0.5 * worst[1]);
        assert!(worst[3] < 1e-5 && worst[4] < 0.05 * worst[3]);
    }
    for branches in [1, 2] {
        let steps = [1.4, 1.2, 1.1].map(|growth| (8, growth));
        let worst = errors(false, branches, &steps, (8, 1.0125));
        assert!(worst[0] > 1e-2, "the errors of long steps must show");
        assert!(worst[1] < 0.35 * worst[0] && worst[2] < 0.35 * worst[1]);
        assert!(worst[2] < 0.01, "a reading errs by less than 0.01°");
    }
}
