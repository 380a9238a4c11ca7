//! Torques of twisted cylinders.

use rumple::{
    laboratory::{
        Condition, Readings, Resolution, TestSettings, Tests, TorquePoint, Twist, TwistTest, Way,
    },
    numeric::Gate,
};

use super::searched;
use crate::inside::common::{
    cpu,
    mesh_cases::{WRINKLED, twist_case},
    time_dependent,
};

const TWIST: Twist = Twist {
    turn: std::f64::consts::FRAC_PI_4,
    hold: 0.0,
};

fn cylinder() -> TwistTest {
    TwistTest {
        radius: 0.04,
        height: 0.11,
        around: 16,
        along: 7,
        turn_seconds: 0.3,
        steps: 12,
        membrane: [200.0, 200.0, 20.0, 50.0],
        density: 0.13,
    }
}

/// Ten readings, five each way.
fn torques() -> Vec<(Way, f64)> {
    let shares = [0.2, 0.4, 0.6, 0.8, 1.0];
    let out = shares.map(|s| (Way::Out, s * TWIST.turn));
    let back = [0.9, 0.7, 0.5, 0.3, 0.1].map(|s| (Way::Back, s * TWIST.turn));
    out.into_iter().chain(back).collect()
}

fn twisted(values: &[f64]) -> Readings {
    let resolution = Resolution {
        hinges: 32,
        width: None,
        whole_folds: true,
        meshes: true,
        settings: TestSettings {
            twist: Some(cylinder()),
            ..TestSettings::default()
        },
    };
    let conditions: Vec<(usize, Condition)> = torques()
        .into_iter()
        .map(|(way, turn)| {
            let cell = cylinder().cell();
            (
                0,
                TorquePoint {
                    twist: TWIST,
                    way,
                    turn,
                    cell,
                }
                .into(),
            )
        })
        .collect();
    let tests = Tests::resolved(&cpu(), time_dependent(), resolution, &conditions).unwrap();
    tests
        .run(&cpu(), &[vec![values.to_vec()]], true)
        .unwrap()
        .remove(0)
}

/// Noise-free torques, called synthetic. Their spread is 0.05 % of the largest: the membrane makes nearly all of
/// a torque, bending and friction 1 % each.
fn twist_table() -> String {
    let values = twisted(&WRINKLED).values;
    let largest = values.iter().fold(0.0f64, |m, v| m.max(v.abs()));
    let mut csv =
        "# synthetic: torques of a cylinder mesh\nturn_deg,torque_Nmm,sd_Nmm\n".to_string();
    for ((_, turn), torque) in torques().iter().zip(values) {
        csv += &format!("{},{},{}\n", turn.to_degrees(), 1e3 * torque, 0.5 * largest);
    }
    csv
}

/// The differences of a fit against the reverse sweep, at the largest turn. Differences over 2e-3 of a value
/// leave 1e-6 of curvature, and see the few hinges that begin to slip within them: 1e-4 of the largest slope.
#[test]
fn slopes_of_a_torque_are_those_of_the_reverse_sweep() {
    let found = twisted(&WRINKLED);
    let width = WRINKLED.len();
    println!("torques {:?}", found.values);
    assert!(found.values[4] > 1e-4, "{:?}", found.values);
    // The largest turn is the last step of the way out.
    let step = cylinder().steps;
    let exact = cylinder()
        .slopes(
            &time_dependent(),
            Gate::Hard,
            TWIST,
            &WRINKLED,
            step,
            &cpu(),
        )
        .unwrap();
    let slope = |p: usize| found.slopes[4 * width + p] * WRINKLED[p];
    let largest = (0..width).map(|p| slope(p).abs()).fold(0.0, f64::max);
    for p in 0..width {
        let (ours, theirs) = (slope(p), exact[p] * WRINKLED[p]);
        println!("parameter {p}: {ours} {theirs}");
        assert!(
            (ours - theirs).abs() < 1e-4 * largest,
            "{p}: {ours} {theirs}"
        );
    }
    assert!(slope(0) > 0.0 && slope(1).abs() > 0.01 * largest);
}

/// The data are the simulation's own, so only the tolerance of the search is left, which ends at 1e-8.
#[test]
fn stiffnesses_of_a_twisted_cylinder_come_back() {
    let (found, cost) = searched(&twist_case(), &twist_table());
    println!("{found:?} {cost}");
    for (name, truth) in [
        ("bending_stiffness", WRINKLED[0]),
        ("friction_stiffness", WRINKLED[1]),
    ] {
        let (_, value, first) = found.iter().find(|f| f.0 == name).unwrap();
        assert!((value / truth - 1.0).abs() < 1e-4, "{name}: {value}");
        assert!(
            (first / truth).ln().abs() > 0.5,
            "the start must not be the truth"
        );
    }
    assert!(cost < 0.01, "{cost}");
}
