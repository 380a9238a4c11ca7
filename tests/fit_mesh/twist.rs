//! Torques of twisted cylinders.

use rumple::{
    laboratory::{Condition, Readings, Resolution, Tests, TorquePoint, Twist, TwistTest, Way},
    numeric::Gate,
};
use serde_json::{Value, json};

use crate::{
    common::{
        cpu,
        folder::{Folder, MATERIAL, refused},
        time_dependent,
    },
    searched,
    strip::strip_case,
};

/// K_b, K_f, ε_0, ε_∞, T_d, ε_y, K_h, drop, T_y of a fabric whose wrinkles slip and do not yield, and which hardly
/// locks within the twist: a hinge that has locked gives way at once, so the cost has steps and minima on them.
const WRINKLED: [f64; 9] = [1e-5, 2e-5, 10.0, 30.0, 1e3, 2000.0, 1e-5, 0.5, 1000.0];
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

fn twist_section() -> Value {
    json!({
        "radius_mm": 40, "height_mm": 110, "membrane_N_per_m": [200, 200, 20, 50],
        "density_kg_per_m2": 0.13, "cells_around": 16, "cells_along": 7, "steps": 12,
    })
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
        bending_rate: 50.0,
        strip_cells: None,
        twist: Some(cylinder()),
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
    let tests = Tests::new(&cpu(), time_dependent(), resolution, &conditions).unwrap();
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

/// Bending and friction stiffness are looked for.
fn twist_case() -> Value {
    let fixed = |p: usize| json!({"fixed": WRINKLED[p]});
    json!({
        "name": "twist",
        "data": ["data.csv"],
        "parameters": {
            "bending_stiffness": {"start": 3e-5},
            "friction_stiffness": {"start": 6e-6},
            "friction_threshold_initial": fixed(2),
            "friction_threshold_saturated": fixed(3),
            "dwell_time": fixed(4),
            "yield_strain": fixed(5),
            "hardening_stiffness": fixed(6),
            "hardening_drop": fixed(7),
            "flow_time": fixed(8),
        },
        "twist": twist_section(),
        "starts": 1,
    })
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

#[test]
fn a_case_with_a_twist_runs_from_the_command_line() {
    let folder = Folder::new();
    folder.write("data.csv", twist_table());
    let mut case = twist_case();
    case["parameters"]["bending_stiffness"] = json!({"fixed": WRINKLED[0]});
    case["parameters"]["friction_stiffness"] = json!({"start": 1.5e-5, "bounds": [5e-6, 5e-5]});
    folder.write("case.json", case.to_string());
    let result = folder.json("--json fit case.json --out fit");
    assert_eq!(result["synthetic"], json!(true));
    assert_eq!(result["points"][0]["test"], json!("twist"));
    assert_eq!(result["points"][4]["turn_deg"], json!(45.0));
    assert_eq!(
        result["twists"][0]["turn_deg"].as_array().unwrap().len(),
        25
    );
    let found = result["parameters"][0]["best"].as_f64().unwrap();
    assert!((found / WRINKLED[1] - 1.0).abs() < 0.02, "{found}");
    assert!(folder.path("fit/plots/twist-fabric.svg").exists());
    let written: Value = serde_json::from_str(&folder.text("fit/case.json")).unwrap();
    assert_eq!(written["twist"]["cells_around"], json!(16));
    let report = folder.text("fit/report.md");
    assert!(report.contains("torque at 45°"), "{report}");
}

#[test]
fn bad_twists_are_named() {
    let folder = Folder::new();
    let check = |table: &str, case: &Value, words: &[&str]| {
        folder.write("data.csv", table);
        folder.write("case.json", case.to_string());
        let arguments = "fit case.json --out fit";
        assert_eq!(refused(&folder, arguments, words), None);
    };
    let table = "turn_deg,torque_Nmm,sd_Nmm\n10,1,0.1\n45,3,0.1\n20,0.5,0.1\n";
    let mut case = twist_case();
    case["twist"]["membrane_N_per_m"] = json!([1, 2, 3]);
    check(
        table,
        &case,
        &["twist.membrane_N_per_m", "3 numbers", "shear"],
    );
    case["twist"] =
        json!({"radius_mm": 40, "membrane_N_per_m": [200, 200, 20, 50], "density_kg_per_m2": 0.1});
    check(table, &case, &["twist.height_mm", "missing"]);
    case.as_object_mut().unwrap().remove("twist");
    check(
        table,
        &case,
        &["data.csv line 2", "section \"twist\"", "radius_mm"],
    );
    case["twist"] = twist_section();
    check("turn_deg,sd_Nmm\n10,1\n", &case, &["torque_Nmm"]);
    check(
        "turn_deg,torque_Nmm,branch\n10,1,sideways\n",
        &case,
        &["line 2", "sideways", "out or back"],
    );
    check("turn,torque_Nmm\n10,1\n", &case, &["turn_deg"]);
    folder.write("truth.json", MATERIAL);
    folder.write("case.json", twist_case().to_string());
    folder.write("plain.json", strip_case(16).to_string());
    for (arguments, words) in [
        (
            "--twist plain.json",
            ["plain.json: no section \"twist\"", "radius_mm"],
        ),
        (
            "--twist case.json --turn-deg 0,45",
            ["--turn-deg: 0", "0.01"],
        ),
        (
            "--twist case.json --noise-pct -1",
            ["--noise-pct -1", "0 to 100 %"],
        ),
        (
            "--twist case.json --gap-mm 1",
            ["--gap-mm", "cannot be used"],
        ),
        ("--hold-s 1", ["--twist", "required"]),
    ] {
        let arguments = format!("synthesize --material truth.json --out fit {arguments}");
        assert_eq!(refused(&folder, &arguments, &words), None);
    }
}
