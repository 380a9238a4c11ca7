//! Fits of recovery angles of strip meshes.

use serde_json::{Value, json};

use crate::{
    mesh_cases::strip_case,
    program::{Folder, MATERIAL},
};

/// Angles with a reading time, as bad cases need them.
const PLAIN_TABLE: &str =
    "gap_mm,press_time_s,recovery_time_s,angle_deg\n1,10,300,120\n1,100,300,100\n2,100,300,90\n";

#[test]
fn bad_meshes_are_named() {
    let folder = Folder::new();
    folder.write("data.csv", PLAIN_TABLE);
    let check = |case: &Value, words: &[&str]| {
        folder.write("case.json", case.to_string());
        let output = folder.run("fit case.json --out never");
        let message = String::from_utf8_lossy(&output.stderr).to_string();
        assert!(!output.status.success(), "{case}");
        for word in words {
            assert!(message.contains(word), "'{word}' is not in: {message}");
        }
        assert!(!folder.path("never").exists(), "{case}");
    };
    let mut case = strip_case(16);
    case["tests"] = json!({"specimen": "strip_mash"});
    check(&case, &["specimen 'strip_mash'", "strip_mesh"]);
    case["tests"] = json!({"strip_cells": 16});
    check(&case, &["strip_cells = 16", "strip_mesh"]);
    case["tests"] = json!({"specimen": "strip_mesh"});
    check(
        &case,
        &["strip mesh", "not after 300 s", "tests.read_s", "hinges"],
    );
}

/// From `rumple synthesize` to the report, in a folder of its own.
#[test]
fn a_case_with_a_strip_mesh_runs_from_the_command_line() {
    let folder = Folder::new();
    folder.write("truth.json", MATERIAL);
    folder.succeed(
        "synthesize --material truth.json --specimen strip_mesh --gap-mm 1,2 --press-s 1,100,1e4 --read-s 0 --noise-deg 0 --out data.csv",
    );
    let mut case = strip_case(8);
    for (name, value) in [
        ("bending_stiffness", 1e-5),
        ("friction_threshold_initial", 26.0),
        ("dwell_time", 30.0),
        ("friction_threshold_saturated", 900.0),
        ("yield_strain", 900.0),
        ("hardening_stiffness", 1e-5),
        ("hardening_drop", 0.99),
        ("flow_time", 30.0),
    ] {
        case["parameters"][name] = json!({"fixed": value});
    }
    folder.write("case.json", case.to_string());
    let result = folder.json("--json fit case.json --out fit");
    assert_eq!(result["synthetic"], json!(true));
    let found = result["parameters"][0]["best"].as_f64().unwrap();
    // Eight cells stand for 32: their angles differ by some degrees.
    assert!((found / 2e-5 - 1.0).abs() < 0.3, "{found}");
    let written: Value = serde_json::from_str(&folder.text("fit/case.json")).unwrap();
    assert_eq!(written["tests"]["specimen"], json!("strip_mesh"));
    assert_eq!(written["tests"]["strip_cells"], json!(8));
    let report = folder.text("fit/report.md");
    assert!(report.contains("strip meshes of 8 cells"), "{report}");
}
