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

#[test]
fn timing() {
    for (spreads, branches) in [(true, 0), (false, 1), (false, 2), (true, 1)] {
        let mut random = Random(5);
        let form = form(spreads, branches);
        let clock = std::time::Instant::now();
        let mut n = 0;
        for _ in 0..100 {
            let (values, point) = with(&mut random, spreads, branches);
            let sought: Vec<usize> = (1..values.len()).collect();
            n += recovery(&form, &values, &sought, &point).is_some() as usize;
        }
        let t = clock.elapsed();
        let mut random = Random(5);
        let clock = std::time::Instant::now();
        for _ in 0..100 {
            let (values, point) = with(&mut random, spreads, branches);
            recovery(&form, &values, &[], &point);
        }
        println!(
            "{spreads} {branches}: {n} {:?} each, values {:?}",
            t / 100,
            clock.elapsed() / 100
        );
    }
}

// Every node more brings a digit nearer; every halving of the steps a quarter of the error.
#[test]
fn nodes_converge_geometrically_and_steps_to_second_order() {
    for (spreads, branches) in [(false, 0), (true, 0), (false, 1), (false, 2), (true, 1)] {
        let form = form(spreads, branches);
        let mut random = Random(29);
        let mut worst = [0.0f64; 9];
        for _ in 0..if spreads && branches > 0 { 30 } else { 100 } {
            let (values, point) = with(&mut random, spreads, branches);
            let angle = |nodes, growth| {
                let fineness = Fineness::new(nodes, growth);
                super::recovery(&form, &values, &[], &point, &fineness).map(|a| a.0)
            };
            let Some(reference) = angle(16, 1.1) else {
                continue;
            };
            for (w, nodes) in worst.iter_mut().zip([4, 5, 6, 8, 10]) {
                *w = w.max((angle(nodes, 1.1).unwrap() - reference).abs());
            }
            let reference = angle(8, 1.0125).unwrap();
            for (w, growth) in worst[5..].iter_mut().zip([1.05, 1.1, 1.2, 1.4]) {
                *w = w.max((angle(8, growth).unwrap() - reference).abs());
            }
        }
        let worst = worst.map(|w| format!("{w:.0e}"));
        println!("{spreads} {branches}: {worst:?}");
    }
}

#[test]
fn debug_steps() {
    for (spreads, branches) in [(false, 1), (false, 2)] {
        let form = form(spreads, branches);
        let mut random = Random(29);
        for k in 0..100 {
            let (values, point) = with(&mut random, spreads, branches);
            let (usual, fine) = (Fineness::new(8, 1.2), Fineness::new(16, 1.0125));
            let Some(a) = super::recovery(&form, &values, &[], &point, &usual) else {
                continue;
            };
            let b = super::recovery(&form, &values, &[], &point, &fine).unwrap();
            if (a.0 - b.0).abs() > 2e-3 {
                println!("{k} {branches} {:.2e} {values:?} {point:?}", a.0 - b.0);
                let crest = super::CREST_CURVATURE / point.gap;
                for f in [&usual, &fine] {
                    let plain = super::keeper(&form, &point, f, &|source| source.value(&values));
                    for end in super::ends(plain.as_ref(), crest, &[]).unwrap() {
                        let [x, y] = end
                            .between
                            .map(|p| super::scout(plain.as_ref(), crest, p).unwrap().events.met());
                        println!(
                            "   {:.7} gained {:o} lost {:o} moves {}",
                            end.between[0],
                            y & !x,
                            x & !y,
                            end.moves.is_some()
                        );
                    }
                }
                let [coarse, fine] = [&usual, &fine]
                    .map(|f| super::keeper(&form, &point, f, &|source| source.value(&values)));
                let mut e = super::Events::new();
                let list: Vec<String> = (1..=40)
                    .map(|i| {
                        let u = crest * (1.5707963 * i as f64 / 40.0).sin();
                        format!(
                            "{:.1e}",
                            (coarse.kept(u, &mut e).unwrap() - fine.kept(u, &mut e).unwrap())
                                / crest
                        )
                    })
                    .collect();
                println!("   {}", list.join(" "));
            }
        }
    }
}
