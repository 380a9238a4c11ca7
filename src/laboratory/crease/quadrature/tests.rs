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
        let all: Vec<usize> = (0..9).collect();
        let (angle, slopes) = exact::recovery(&law.form(), &values, &all, &point).unwrap();
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
    curves.unwrap().values[0]
}

#[test]
fn branches_are_the_limit_of_roll_outs() {
    let mut random = Random(17);
    let (mut worst, mut compared) = (0.0f64, 0);
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
        compared += 1;
    }
    println!("{compared} folds, {worst:.1e}°");
    assert!(worst < 0.1 && compared >= 10);
}

// Equal times are moved apart by a share of 1e-5 from branch to branch, which changes the angle by up to 3e-4°.
#[test]
fn equal_branches_are_one() {
    let mut random = Random(41);
    let mut compared = 0;
    for _ in 0..60 {
        let (values, point) = with(&mut random, false, 1);
        let whole = recovery(&form(false, 1), &values, &[10], &point);
        let Some((angle, slopes)) = whole else {
            continue;
        };
        for parts in [2, 4] {
            let mut split = values[..9].to_vec();
            for _ in 0..parts {
                split.extend([values[9] / parts as f64, values[10]]);
            }
            let times: Vec<usize> = (0..parts).map(|i| 10 + 2 * i).collect();
            let found = recovery(&form(false, parts), &split, &times, &point).unwrap();
            let slope = found.1.iter().sum::<f64>() * values[10];
            let exact = slopes[0] * values[10];
            assert!(
                (found.0 - angle).abs() < 1e-3,
                "{parts} {values:?} {point:?}"
            );
            assert!(
                (slope - exact).abs() < 1e-4 * (1.0 + exact.abs()),
                "{slope} {exact}"
            );
            compared += 1;
        }
    }
    assert!(compared >= 100);
}

/// A law whose yarns hold so fast that they flow while the branches relax.
fn flowing(random: &mut Random, branches: usize) -> (Vec<f64>, CreasePoint) {
    let (mut values, point) = with(random, false, branches);
    values[1] = 1e-5 * between(random, 2.0, 20.0);
    values[3] = between(random, 2000.0, 10_000.0);
    values[4] = between(random, 0.1, 5.0);
    values[5] = between(random, 50.0, 400.0);
    values[7] = 0.8 + 0.19 * random.uniform();
    values[8] = between(random, 5.0, 2000.0);
    let (press, read) = (between(random, 1.0, 100.0), between(random, 100.0, 1e4));
    let point = CreasePoint {
        press,
        read,
        ..point
    };
    (values, point)
}

/// A law some of whose yarns yield against their fold.
fn turning(random: &mut Random, spreads: bool, branches: usize) -> (Vec<f64>, CreasePoint) {
    let (mut values, mut point) = with(random, spreads, branches);
    values[1] = 1e-5 * between(random, 0.05, 2.0);
    values[5] = between(random, 50.0, 300.0);
    values[6] = 1e-5 * between(random, 0.3, 2.0);
    values[7] = 0.9 + 0.09 * random.uniform();
    if spreads {
        values[11] = 1.0 + random.uniform();
    }
    point.gap = between(random, 0.3e-3, 0.8e-3);
    (values, point)
}

// A kink is where differences of fourth order over two spans disagree by more than 1e-7. Where they agree, they are
// exact to about that, and the slopes agree with them to 1.9e-7.
#[test]
fn the_jacobian_is_the_derivative() {
    let mut random = Random(5);
    let (mut checked, mut rough, mut kinks) = (0, 0, 0);
    for k in 0..120 {
        let (spreads, branches) = [(true, 0), (false, 1), (false, 2), (true, 1)][k % 4];
        let form = form(spreads, branches);
        let (values, point) = match k {
            0..40 => with(&mut random, spreads, branches),
            40..80 if !spreads => flowing(&mut random, branches),
            40..80 => with(&mut random, spreads, branches),
            _ => turning(&mut random, spreads, branches),
        };
        // A yarn that flows back while branches relax may come nearest to a slip where one step in time meets the next.
        // The slope of that approach is then off, and with it the end of a piece.
        let stepped = k >= 80 && branches > 0;
        let close = if stepped { 1e-3 } else { 1e-6 };
        let sought: Vec<usize> = (0..values.len()).collect();
        let (_, slopes) = recovery(&form, &values, &sought, &point).unwrap();
        for (p, slope) in slopes.iter().enumerate() {
            let at = |share: f64| {
                let mut moved = values.clone();
                moved[p] *= 1.0 + share;
                recovery(&form, &moved, &[], &point).unwrap().0
            };
            let [near, middle, far] = [1e-4, 2e-4, 4e-4].map(|h| (at(h) - at(-h)) / (2.0 * h));
            let difference = (4.0 * near - middle) / 3.0;
            let wider = (4.0 * middle - far) / 3.0;
            if (difference - wider).abs() > 1e-7 * (1.0 + difference.abs()) {
                kinks += 1;
                continue;
            }
            checked += 1;
            let exact = slope * values[p];
            let gap = (exact - difference).abs() / (1.0 + exact.abs());
            rough += usize::from(gap > 1e-5);
            assert!(
                gap < close,
                "{k} {spreads} {branches} p{p}: {exact} {difference} {values:?} {point:?}"
            );
        }
    }
    println!("{checked} slopes, {rough} of them off by more than 1e-5, {kinks} more at kinks");
    assert!(checked >= 950 && kinks <= 60 && rough <= 5);
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

/// The largest error of angles in each of some finenesses.
fn errors(
    (spreads, branches): (bool, usize),
    draw: fn(&mut Random, bool, usize) -> (Vec<f64>, CreasePoint),
    each: &[Fineness],
    finest: &Fineness,
) -> Vec<f64> {
    let form = form(spreads, branches);
    let mut random = Random(29);
    let mut worst = vec![0.0f64; each.len()];
    for _ in 0..if branches > 0 { 40 } else { 100 } {
        let (values, point) = draw(&mut random, spreads, branches);
        let angle = |fineness: &Fineness| {
            super::recovery(&form, &values, &[], &point, fineness).map(|found| found.0)
        };
        let Some(reference) = angle(finest) else {
            continue;
        };
        for (worst, fineness) in worst.iter_mut().zip(each) {
            *worst = worst.max((angle(fineness).unwrap() - reference).abs());
        }
    }
    let shown: Vec<String> = worst.iter().map(|w| format!("{w:.1e}°")).collect();
    println!("{spreads} {branches}: {}", shown.join(" "));
    worst
}

// With a node more every piece is a digit better. No piece is halved here.
#[test]
fn nodes_converge_geometrically() {
    let whole = |nodes: usize| Fineness {
        tail: f64::INFINITY,
        ..Fineness::new(nodes, 1.6)
    };
    for spreads in [false, true] {
        let nodes = [4, 5, 6, 8, 10].map(whole);
        let worst = errors((spreads, 0), with, &nodes, &whole(16));
        assert!(worst[0] > 1e-4, "the errors of few nodes must show");
        assert!(worst[1] < 0.2 * worst[0] && worst[2] < 0.5 * worst[1]);
        assert!(worst[3] < 1e-5 && worst[4] < 0.05 * worst[3]);
    }
}

// A hinge whose slip comes just before the reading changes within a sliver of the fold.
#[test]
fn pieces_are_halved_until_their_nodes_suffice() {
    let finest = Fineness {
        tail: 1e-6,
        ..Fineness::new(16, 1.6)
    };
    for spreads in [false, true] {
        let (mut whole, usual) = (Fineness::new(8, 1.6), Fineness::new(8, 1.6));
        whole.tail = f64::INFINITY;
        let worst = errors((spreads, 1), with, &[whole, usual], &finest);
        assert!(worst[0] > 3e-4, "the errors of whole pieces must show");
        assert!(worst[1] < 2e-4, "a reading errs by less than 0.0002°");
    }
}

// Where a yarn flows while branches relax, time is taken in steps.
#[test]
fn steps_of_flow_converge() {
    let steps = |growth: f64| Fineness::new(8, growth);
    for branches in [1, 2] {
        let draw = |random: &mut Random, _: bool, branches: usize| flowing(random, branches);
        let each = [3.2, 1.6, 1.3].map(steps);
        let worst = errors((false, branches), draw, &each, &steps(1.05));
        assert!(worst[0] > 1e-3, "the errors of long steps must show");
        assert!(worst[1] < 0.2 * worst[0] && worst[2] < 0.7 * worst[1]);
        assert!(worst[1] < 1e-3, "a reading errs by less than 0.001°");
    }
}
