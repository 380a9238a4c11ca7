//! The crease test on a strip mesh against the hinge ensemble.

use crate::inside::common::{cpu, time_dependent};
use rumple::{
    laboratory::{CreaseTest, StripTest},
    material::Material,
    numeric::Gate,
};

/// "Within 3°" is the issue's: the mesh has cells of equal length, the ensemble hinges of equal turning angle, and
/// where the boundary between sticking and slipping passes the crest both are cut by some degrees.
#[test]
fn the_strip_recovers_like_the_ensemble() {
    let law = time_dependent();
    let cotton = Material::preset("cotton broad").unwrap();
    let values = cotton.values_for(law.as_ref()).unwrap();
    let points = CreaseTest::grid(&[5e-4, 1e-3, 2e-3, 4e-3], &[1.0, 100.0, 10_000.0], &[0.0]);
    let ensemble = CreaseTest::default();
    let compute = cpu();
    let rollout = ensemble.rollout(law.clone(), Gate::Hard, &points).unwrap();
    let shared = rollout.shared_parameters(&compute, &values);
    let expected = ensemble
        .run(&compute, &rollout, &points, shared, false)
        .unwrap()
        .values;
    let mut strips = StripTest {
        cells: 64,
        release_steps: 200,
        ..StripTest::default()
    }
    .strips(law, Gate::Hard, &points, &compute)
    .unwrap();
    let rows = vec![values; points.len()];
    let found = strips.angles(&rows, false).unwrap();
    for ((point, ours), theirs) in points.iter().zip(&found.angles).zip(&expected) {
        assert!((ours - theirs).abs() < 3.0, "{point:?}: {ours} {theirs}");
    }
    let spread = |angles: &[f64]| {
        angles.iter().fold(0.0f64, |m, a| m.max(*a))
            - angles.iter().fold(180.0f64, |m, a| m.min(*a))
    };
    assert!(spread(&expected) > 30.0, "the points must differ");
}

/// The sweep's derivative of every strip's angle against central differences, with a gate as wide as a fit's
/// first stages: the release takes slips in many small steps, which a narrower gate makes nearly discontinuous.
#[test]
fn the_strips_jacobian_is_the_derivative() {
    let law = time_dependent();
    let values: Vec<f64> = vec![1.0, 0.8, 0.15, 0.6, 50.0, 0.5, 1.0, 0.6, 300.0];
    let gap = rumple::laboratory::CREST_CURVATURE;
    let points = CreaseTest::grid(&[gap], &[10.0, 1000.0], &[0.0]);
    let test = StripTest {
        cells: 12,
        fold_steps: 3,
        hold_steps: 3,
        release_steps: 40,
    };
    let gate = Gate::Smoothstep { width: 0.3 };
    let mut strips = test.strips(law, gate, &points, &cpu()).unwrap();
    let mut run = |values: &[f64], gradient: bool| {
        let rows = vec![values.to_vec(); points.len()];
        strips.angles(&rows, gradient).unwrap()
    };
    let exact = run(&values, true);
    let jacobian = exact.jacobian.unwrap();
    for p in 0..values.len() {
        let step = 1e-6 * values[p];
        let mut moved = values.clone();
        moved[p] += step;
        let up = run(&moved, false).angles;
        moved[p] -= 2.0 * step;
        let down = run(&moved, false).angles;
        for (k, (up, down)) in up.iter().zip(&down).enumerate() {
            let difference = (up - down) / (2.0 * step) * values[p];
            let derivative = jacobian[k * values.len() + p] * values[p];
            // Degrees per relative change; differences of an angle to 1e-9 over a step of 1e-6 are good to 1e-3.
            assert!(
                (difference - derivative).abs() < 1e-4 * derivative.abs().max(10.0),
                "point {k}, parameter {p}: {derivative} {difference}"
            );
        }
    }
    assert!(jacobian.iter().any(|j| j.abs() > 1.0), "{jacobian:?}");
}
