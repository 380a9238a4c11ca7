//! The law against the authors' own program (golden/material).

use crate::inside::common::{Stepper, cpu, golden::Table, relative_difference, time_dependent};
use rumple::{
    numeric::Gate,
    rollout::{HingeReading, Rollout, RolloutPath as Way, Schedule, Step},
};

/// 3K_b, 3K_f, ε_0, ε_inf, τ_f, ε_Y0, K_h0, g, τ_p of a fabric, in the law's order.
fn fabric(name: &str) -> [f64; 9] {
    match name {
        "cotton" => [5e-6, 1e-5, 0.1, 1.7, 30.0, 1.8, 5e-6, 0.99, 30.0],
        "denim" => [1.2e-4, 5e-5, 0.1, 1.8, 30.0, 2.0, 1.2e-4, 0.99, 30.0],
        "polyester" => [1.2e-4, 1e-7, 0.01, 0.1, 30.0, 3.0, 1.2e-4, 0.99, 30.0],
        other => panic!("no such fabric in golden/README.md: {other}"),
    }
}

const FABRICS: [&str; 3] = ["cotton", "denim", "polyester"];
const HISTORIES: [&str; 8] = [
    "cyclic",
    "fold_elapse500_release",
    "fold_hold_release",
    "long_hold_dt10",
    "random_walk",
    "reversing",
    "small_amplitude",
    "small_amplitude_descending",
];

/// Every fabric's table of every history, by name.
fn tables() -> Vec<(String, Table)> {
    let names = FABRICS
        .iter()
        .flat_map(|fabric| HISTORIES.map(|history| format!("{fabric}_{history}")));
    names
        .map(|name| {
            let table = Table::read(&format!("material/{name}.csv"));
            (name, table)
        })
        .collect()
}

/// Pairs of (our history variable, their column).
const COLUMNS: [(&str, &str); 7] = [
    ("anchor", "anchor_strain"),
    ("stick_time", "stick_t"),
    ("plastic", "plastic_strain"),
    ("accumulated_plastic", "plastic_strain_hardening"),
    ("flow_time", "yield_t"),
    ("flow_direction", "plastic_direction"),
    ("yield_strain", "yield_strain"),
];

/// Every history of the reference program comes out the same to 1e-12, ties included.
#[test]
fn the_hard_law_reproduces_every_reference_history() {
    for (name, table) in tables() {
        let values = fabric(name.split('_').next().unwrap());
        let (strain, dt) = (table.column("strain").unwrap(), table.column("dt").unwrap());
        let elapse = table.column("elapse_added_after_row");
        let mut hinge = Stepper::new(time_dependent(), &values, Gate::Hard, 1);
        let mut ours = vec![Vec::new(); COLUMNS.len()];
        for k in 0..strain.len() {
            hinge.step(&strain[k..=k], dt[k]);
            for (list, (variable, _)) in ours.iter_mut().zip(COLUMNS) {
                list.push(hinge.read(variable)[0]);
            }
            if let Some(seconds) = elapse.as_ref().map(|e| e[k]).filter(|s| *s != 0.0) {
                hinge.add("stick_time", seconds);
                hinge.add("flow_time", seconds);
            }
        }
        for (list, (variable, column)) in ours.iter().zip(COLUMNS) {
            let theirs = table.column(column).unwrap();
            // A thousandth of a radian is nothing: below it the difference counts as absolute.
            let worst = relative_difference(list, &theirs, 1e-3);
            assert!(worst <= 1e-12, "{name}, {variable}: {worst:e}");
        }
        assert!(strain.iter().any(|e| *e != 0.0), "{name} is empty");
    }
}

/// The fused roll-out gives the stress of the same histories.
#[test]
fn the_fused_roll_out_reproduces_the_reference_stress() {
    for (name, table) in tables() {
        if table.column("elapse_added_after_row").is_some() {
            continue;
        }
        let values = fabric(name.split('_').next().unwrap());
        let (strain, dt) = (table.column("strain").unwrap(), table.column("dt").unwrap());
        let rollout = Rollout {
            law: time_dependent(),
            gate: Gate::Hard,
            schedule: Schedule {
                steps: strain
                    .iter()
                    .zip(&dt)
                    .map(|(e, h)| Step::prescribe(*e, *h))
                    .collect(),
                readings: (0..strain.len()).collect(),
                reading: HingeReading::Stress,
            },
            points: 1,
            hinges: 1,
            amplitude: vec![1.0],
            duration: vec![0.0],
        };
        let compute = cpu();
        assert_eq!(rollout.path(), Way::Fused);
        let parameters = rollout.shared_parameters(&compute, &values);
        let stress = compute
            .values(rollout.forward(&compute, parameters))
            .unwrap();
        let plastic = table.column("plastic_strain").unwrap();
        let friction = table.column("friction_strain_returned").unwrap();
        let expected: Vec<f64> = (0..strain.len())
            .map(|k| values[0] * (strain[k] - plastic[k]) + values[1] * friction[k])
            .collect();
        // Relative to the stress of a strain of one.
        let worst = relative_difference(&stress, &expected, values[0] + values[1]);
        assert!(worst <= 1e-12, "{name}: {worst:e}");
    }
}
