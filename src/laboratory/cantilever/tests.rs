use std::sync::Arc;

use super::{CantileverPoint, CantileverReading, bending_length_share};
use crate::{
    laboratory::{Condition, Readings, Resolution, TestSettings, Tests},
    material::{Law, LawName, Timer},
    numeric::{Compute, Precision},
};

const DENSITY: f64 = 0.15;
const WEIGHT: f64 = 9.806_65 * DENSITY;

fn condition(degrees: f64, read: CantileverReading) -> Condition {
    CantileverPoint {
        angle: degrees.to_radians(),
        density: DENSITY,
    }
    .condition(read)
}

fn read(
    law: &Arc<dyn Law>,
    width: Option<f64>,
    values: &[f64],
    conditions: &[Condition],
) -> Readings {
    let compute = Compute::cpu(Precision::F64);
    let resolution = Resolution {
        hinges: 32,
        width,
        whole_folds: false,
        meshes: false,
        settings: TestSettings::default(),
    };
    let conditions: Vec<(usize, Condition)> = conditions.iter().map(|c| (0, *c)).collect();
    let tests = Tests::resolved(&compute, law.clone(), resolution, &conditions).unwrap();
    let sets = [vec![values.to_vec()]];
    tests.run(&compute, &sets, true).unwrap().remove(0)
}

/// The zero of a rising function.
fn zero(mut low: f64, mut high: f64, f: impl Fn(f64) -> f64) -> f64 {
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if f(middle) > 0.0 {
            high = middle;
        } else {
            low = middle;
        }
    }
    0.5 * (low + high)
}

/// Moment left at the tip, and the tip, of a strip of a length that starts with a moment at the edge: Runge-Kutta's
/// method for θ' = κ(M), M' = −w·(L − s)·cos θ.
fn shoot(length: f64, moment: f64, curvature: &dyn Fn(f64) -> f64) -> (f64, f64, f64) {
    let steps = 400;
    let h = length / steps as f64;
    let slope = |s: f64, [angle, m, ..]: [f64; 4]| {
        let weight = WEIGHT * (length - s);
        [
            curvature(m),
            -weight * angle.cos(),
            angle.cos(),
            angle.sin(),
        ]
    };
    let moved = |y: [f64; 4], k: [f64; 4], by: f64| std::array::from_fn(|i| y[i] + by * k[i]);
    let mut y = [0.0, moment, 0.0, 0.0];
    for i in 0..steps {
        let s = i as f64 * h;
        let a = slope(s, y);
        let b = slope(s + 0.5 * h, moved(y, a, 0.5 * h));
        let c = slope(s + 0.5 * h, moved(y, b, 0.5 * h));
        let d = slope(s + h, moved(y, c, h));
        y = std::array::from_fn(|i| y[i] + h / 6.0 * (a[i] + 2.0 * b[i] + 2.0 * c[i] + d[i]));
    }
    (y[1], y[2], y[3])
}

/// Overhang \[m\] at an angle, by shooting.
fn elastica(degrees: f64, curvature: &dyn Fn(f64) -> f64) -> f64 {
    zero(1e-3, 0.3, |length| {
        let largest = 0.5 * WEIGHT * length * length;
        let moment = zero(0.0, largest, |m| shoot(length, m, curvature).0);
        let (_, x, y) = shoot(length, moment, curvature);
        y.atan2(x) - degrees.to_radians()
    })
}

#[test]
fn an_elastic_strip_hangs_like_the_elastica() {
    let law = LawName::Elastic.law(Timer::Authors, 0);
    let rigidity = 8e-6;
    let degrees = [0.5, 10.0, 41.5, 70.0];
    let conditions = degrees.map(|d| condition(d, CantileverReading::Overhang));
    let found = read(&law, None, &[rigidity], &conditions).values;
    for (degrees, found) in degrees.into_iter().zip(&found) {
        let exact = elastica(degrees, &|m| m / rigidity);
        assert!(
            (found / exact - 1.0).abs() < 2e-4,
            "{degrees}°: {found} {exact}"
        );
    }
    // A beam that hardly sags: tan φ = w·L³/(8·B).
    let beam = (8.0 * rigidity * degrees[0].to_radians().tan() / WEIGHT).cbrt();
    assert!((found[0] / beam - 1.0).abs() < 1e-3, "{} {beam}", found[0]);
    // The standard's rigidity, w·(L/2)³, is the law's to 2 %: the elastica at 41.5° has w·L³/B = 7.9, not 8.
    let standard = WEIGHT * (0.5 * found[2]).powi(3);
    assert!((standard / rigidity - 1.0).abs() < 0.02, "{standard}");
}

#[test]
fn friction_and_yield_stiffen_and_soften_the_strip() {
    let law = LawName::TimeDependent.law(Timer::Authors, 0);
    // K_b, K_f, ε_0, ε_inf, τ_f, ε_Y0, K_h0, g, τ_p: cells near the edge slip and yield.
    let values = [8e-6, 6e-6, 20.0, 300.0, 50.0, 60.0, 4e-6, 0.6, 300.0];
    let found = read(
        &law,
        None,
        &values,
        &[condition(41.5, CantileverReading::Overhang)],
    );
    // The law's moment rises piece by piece, with a slope each: sticking, slipping, yielding.
    let hardening = values[0] * values[6] / (values[0] + values[6]);
    let slip = (values[0] + values[1]) * values[2];
    let flow = slip + values[0] * (values[5] - values[2]);
    let curvature = |m: f64| {
        let size = m.abs();
        let stick = size.min(slip) / (values[0] + values[1]);
        let slide = (size.min(flow) - slip).max(0.0) / values[0];
        m.signum() * (stick + slide + (size - flow).max(0.0) / hardening)
    };
    let exact = elastica(41.5, &curvature);
    let found = found.values[0];
    assert!((found / exact - 1.0).abs() < 1e-3, "{found} {exact}");
    let elastic = elastica(41.5, &|m| m / values[0]);
    assert!((found / elastic - 1.0).abs() > 0.02, "the law must show");
}

#[test]
fn overhangs_have_exact_derivatives() {
    let law = LawName::TimeDependent.law(Timer::Authors, 0);
    let values = [8e-6, 6e-6, 20.0, 300.0, 50.0, 60.0, 4e-6, 0.6, 300.0];
    for width in [None, Some(0.1)] {
        let conditions = [
            condition(41.5, CantileverReading::Overhang),
            condition(30.0, CantileverReading::BendingLength),
        ];
        let at = |values: &[f64]| read(&law, width, values, &conditions);
        let here = at(&values);
        // A direction in which every parameter moves, the more the larger it is.
        let direction: Vec<f64> = values
            .iter()
            .enumerate()
            .map(|(p, v)| v * (0.3 + 0.1 * p as f64))
            .collect();
        for (c, value) in here.values.iter().enumerate() {
            let row = &here.slopes[c * values.len()..(c + 1) * values.len()];
            let slope: f64 = row.iter().zip(&direction).map(|(a, b)| a * b).sum();
            assert!(
                slope.abs() > 0.01 * value,
                "a derivative of zero proves nothing"
            );
            let remainder = |step: f64| {
                let moved: Vec<f64> = values
                    .iter()
                    .zip(&direction)
                    .map(|(v, d)| v + step * d)
                    .collect();
                (at(&moved).values[c] - value - step * slope).abs()
            };
            // Smooth gates: the remainder falls with the square of the step. Under the hard law cells pass their
            // thresholds one by one, each with a kink of its own, so it falls a little more slowly.
            let [coarse, fine] = [4e-3, 1e-3].map(remainder);
            let order = (coarse / fine).log2() / 2.0;
            assert!(
                order > if width.is_some() { 1.9 } else { 1.5 },
                "{width:?} {c}: {order}"
            );
            // Times play no part, and neither does what yarns reach after a rest.
            for p in [3, 4, 8] {
                assert!(row[p].abs() * values[p] < 1e-9 * value, "{p}: {}", row[p]);
            }
        }
    }
}

#[test]
fn a_bending_length_is_half_an_overhang_at_the_standards_angle() {
    assert_eq!(bending_length_share(41.5f64.to_radians()), 0.5);
    assert!(bending_length_share(0.6) > 0.5 && bending_length_share(0.9) < 0.5);
}

/// Newton's method ends at the shape of any law, also where cells lie on both sides of a threshold.
#[test]
fn every_law_has_an_overhang() {
    let law = LawName::TimeDependent.law(Timer::Authors, 0);
    let conditions = [20.0, 41.5].map(|degrees| condition(degrees, CantileverReading::Overhang));
    let mut random = crate::numeric::Random(7);
    let mut between = |low: f64, high: f64| low * (high / low).powf(random.uniform());
    let mut failed = Vec::new();
    for _ in 0..300 {
        let bending = between(1e-6, 1e-4);
        let values = [
            bending,
            bending * between(0.1, 10.0),
            between(1.0, 200.0),
            500.0,
            1e6,
            between(10.0, 5e3),
            bending * between(0.1, 10.0),
            0.5,
            1e3,
        ];
        for width in [None, Some(0.002)] {
            let found = read(&law, width, &values, &conditions);
            if found.values.iter().any(|v| !v.is_finite()) {
                failed.push((width, values));
            }
        }
    }
    assert!(
        failed.is_empty(),
        "{} of 600: {:?}",
        failed.len(),
        failed[0]
    );
}
