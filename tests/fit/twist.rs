//! Fits of torques of twisted cylinders.

use serde_json::{Value, json};

use crate::{
    mesh_cases::{WRINKLED, strip_case, twist_case, twist_section},
    program::{Folder, MATERIAL, refused},
};

/// Noise-free torques of the cylinder of [`twist_case`] with [`WRINKLED`].
const TABLE: &str = include_str!("../data/twist/data.csv");

#[test]
fn a_case_with_a_twist_runs_from_the_command_line() {
    let folder = Folder::new();
    folder.write("data.csv", TABLE);
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
