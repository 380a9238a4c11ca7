//! What a fit leaves behind: reports, comparisons, JSON, materials, folders.

use std::fs;

use crate::program::{Folder, judge};
use serde_json::{Value, json};

#[test]
fn reports_are_drawn_again_alike() {
    let folder = Folder::with_fit();
    let names = [
        "report.md",
        "report.html",
        "material.json",
        "export/parameters.csv",
    ];
    let read = || names.map(|name| folder.text(&format!("fit/{name}")));
    let before = read();
    assert!(before.iter().all(|text| text.len() > 300));
    let result = folder.result();
    folder.forget_reports();
    judge(
        &folder.run("report fit"),
        &["no result.json", "--resume fit"],
    )
    .unwrap();
    let again = Folder::with_fit();
    fs::copy(
        again.path("fit/result.json"),
        folder.path("fit/result.json"),
    )
    .unwrap();
    folder.succeed("report fit");
    for (name, (old, new)) in names.iter().zip(before.iter().zip(read())) {
        assert!(*old == new, "{name}");
    }
    assert!(folder.result() == result);
    for file in result["files"].as_array().unwrap() {
        let path = folder.path("fit").join(file.as_str().unwrap());
        assert!(path.is_file(), "{file}");
    }
}

// Two laws on the same data are weighed by AIC, wherever their folders are; on other data they are not.
#[test]
fn compare_weighs_laws_on_the_same_data_only() {
    let folder = Folder::with_fit();
    folder.succeed("fit case.json --law hardening_plastic --out plastic");
    folder.succeed("fit case.json --law hardening_plastic --hold-out-gap-mm 2 --out less");
    let text = folder.succeed("compare fit plastic");
    assert!(
        text.contains("weight") && text.contains("hardening_plastic"),
        "{text}"
    );
    assert!(!text.contains("cannot be compared"), "{text}");
    let same: Value = serde_json::from_str(&folder.succeed("compare fit plastic --json")).unwrap();
    assert_eq!(same["same_data"], true);
    let weights = find(&same, "aic").expect("weights of AIC");
    let weights: Vec<f64> = serde_json::from_value(weights.clone()).unwrap();
    // The data were made by the first law.
    assert!(weights[0] > 0.99 && (weights[0] + weights[1] - 1.0).abs() < 1e-12);
    let text = folder.succeed("compare fit less").replace(['\n', ' '], "");
    assert!(text.contains("cannotbecompared"), "{text}");
    let other: Value = serde_json::from_str(&folder.succeed("compare fit less --json")).unwrap();
    assert_eq!(other["same_data"], false);
    judge(&folder.run("compare fit none"), &["none", "no result.json"]).unwrap();
}

/// The list of two numbers under a key whose name has `word` in it, at any depth.
fn find<'a>(value: &'a Value, word: &str) -> Option<&'a Value> {
    let fields = value.as_object()?;
    let pair = |v: &Value| v.as_array().is_some_and(|l| l.len() == 2 && l[0].is_f64());
    let here = fields.iter().find(|(k, v)| k.contains(word) && pair(v));
    here.map(|(_, v)| v)
        .or_else(|| fields.values().find_map(|v| find(v, word)))
}

// `fit --json` prints one JSON value with every promised field, and its material runs in the tests.
#[test]
fn json_has_the_promised_fields_and_the_material_loads() {
    let folder = Folder::with_case();
    let text = folder.succeed("fit case.json --hold-out-gap-mm 2 --out fit --json");
    let result: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(text, folder.text("fit/result.json"));
    let has = |value: &Value, keys: &[&str]| {
        let missing = keys.iter().find(|k| value.get(**k).is_none());
        assert!(missing.is_none(), "{missing:?} in {value}");
    };
    let top = ["hard_law", "gradient_check", "starts", "files", "hold_out"];
    has(&result, &top);
    for parameter in result["parameters"].as_array().unwrap() {
        has(
            parameter,
            &["name", "unit", "value", "std_error", "ci95", "verdict"],
        );
    }
    let points = result["points"].as_array().unwrap();
    assert_eq!(
        (points.len(), &result["hold_out"]["points"]),
        (10, &json!(5))
    );
    for point in points {
        assert_eq!(point["test"], "crease");
        let numbers = ["gap_mm", "press_s", "read_s", "measured_deg", "sd_deg"];
        for key in numbers.into_iter().chain(["fitted_deg", "hard_deg"]) {
            assert!(point[key].as_f64().unwrap() > 0.0, "{key} of {point}");
        }
    }
    let statistics = &result["statistics"];
    for key in ["points", "free", "chi2", "aic", "bic", "r2"] {
        assert!(statistics[key].as_f64().unwrap() > 0.0, "{key}");
    }
    // Five points are left for eight parameters.
    assert_eq!(statistics["points"], 5);
    has(statistics, &["reduced_chi2"]);
    // The case asks for hinges.
    let away = &result["hard_law"];
    assert!(away["largest_deg"].as_f64().unwrap() > 0.0, "{away}");
    assert!(
        away["verdict"].as_str().unwrap().contains("tests.hinges"),
        "{away}"
    );
    assert_eq!(result["gradient_check"]["passed"], true);
    assert_eq!(result["starts"].as_array().unwrap().len(), 2);
    for test in ["crease --gap-mm 1 --press-s 10", "kes"] {
        let text = folder.succeed(&format!("{test} --material fit/material.json --json"));
        assert!(serde_json::from_str::<Value>(&text).unwrap().is_object());
    }
}

// Without --out the folder has the case's name, and a second fit does not touch the first.
#[test]
fn folders_are_numbered_where_none_is_given() {
    let folder = Folder::with_case();
    folder.succeed("fit case.json --law perfect_plastic");
    let first = folder.text("small-fit/result.json");
    folder.succeed("fit case.json --law perfect_plastic --seed 2");
    assert!(folder.text("small-fit-2/result.json").len() > 1000);
    assert_eq!(folder.text("small-fit/result.json"), first);
}
