//! `rumple fit` on bad tables, bad cases and wrong folders: named before anything is made or lost.

use std::fs;

use crate::program::{Folder, HEADER, case, copy, judge, refused};
use serde_json::{Value, json};

#[test]
fn bad_tables_are_named_before_anything_is_made() {
    let folder = Folder::with_case();
    let good = folder.text("data.csv");
    let cut = &good[..good.rfind(",300,").unwrap() + 7];
    let rows = |lines: &[&str]| format!("{HEADER}\n{}\n", lines.join("\n"));
    let tables: [(String, &[&str]); 11] = [
        (
            cut.into(),
            &["data.csv line 12", "5 columns", "8", "every row needs"],
        ),
        (
            rows(&[
                "a,1,1,300,2.1,2,1",
                "a,1,9,300,1.3,2,1",
                "a,2,1,300,2.4,2,1",
            ]),
            &["line 2", "angle_deg", "above 2.4", "radians", "angle_rad"],
        ),
        (
            rows(&["a,0.001,1,300,120,2,1", "a,0.002,1,300,130,2,1"]),
            &["line 2", "gap_mm = 0.001", "0.01 to 100 mm", "gap_m"],
        ),
        (
            "gap_mm,recovery_pct\n1,0.9\n1,0.7\n2,0.8\n".into(),
            &["line 2", "recovery_pct", "above 0.9", "in percent"],
        ),
        (
            "gap_mm,recovery_pct\n1,50\n2,140\n".into(),
            &["line 3", "recovery_pct = 140", "0 to 100 %", "angle_deg"],
        ),
        (
            rows(&["a,1,1,300,120,2,1", "a,1,9,300,NaN,2,1"]),
            &["line 3", "angle_deg = 'NaN'", "finite number", "write one"],
        ),
        (
            rows(&["a,1,1,300,120,2,1"]),
            &["1 point cannot determine 8", "more points", "120"],
        ),
        (
            rows(&["a,1,1,300,120,2,1", "a,1,9,300,100,-2,1"]),
            &["line 3", "sd_deg = -2", "above 0", "leave the cell empty"],
        ),
        (
            rows(&["a,1,-1,300,120,2,1", "a,1,9,300,100,2,1"]),
            &["line 2", "press_time_s = -1", "press_time_min"],
        ),
        (
            "fabric,press_time_s,angle_deg\na,1,120\na,10,100\n".into(),
            &["line 2", "no gap is known", "--gap-mm", "thickness_mm"],
        ),
        (format!("{HEADER}\n"), &["data.csv", "no rows"]),
    ];
    let wrong: Vec<String> = tables
        .iter()
        .filter_map(|(table, fragments)| {
            folder.write("data.csv", table);
            refused(&folder, "fit case.json --out fit", fragments)
        })
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

// A spread too small for its square gives a remedy that helps, not a panic or a silent infinity.
#[test]
fn a_vanishing_spread_is_called_too_small() {
    let folder = Folder::with_case();
    let rows = ["1,120", "10,110", "100,90"].map(|r| r.replace(',', ",300,"));
    let rows = rows.map(|r| format!("a,1,{r},1e-200,1"));
    folder.write("data.csv", format!("{HEADER}\n{}\n", rows.join("\n")));
    let output = folder.run("fit case.json --out fit");
    judge(
        &output,
        &["no start has finite", "sd or prior is too small"],
    )
    .unwrap();
}

// Whatever is wrong with a case, the message names the key and its value, and no folder is made.
#[test]
fn bad_cases_are_named_before_anything_is_made() {
    let folder = Folder::with_case();
    let parameters = |name: &str, role: Value| json!({"parameters": {name: role}});
    let (initial, saturated) = ("friction_threshold_initial", "friction_threshold_saturated");
    let pair = |a: Value, b: Value| json!({"parameters": {initial: a, saturated: b}});
    let order = [saturated, "must stay above", initial, "change"];
    let cases: [(Value, &[&str]); 27] = [
        (
            json!({"startz": 3}),
            &["c.json", "'startz'", "mean 'starts'"],
        ),
        (
            json!({"tests": {"hinge": 3}}),
            &["tests", "'hinge'", "mean 'hinges'"],
        ),
        (
            json!({"tests": {"hinges": 100}}),
            &["tests.hinges = 100", "power of two"],
        ),
        (
            json!({"law": "time_dependant"}),
            &["law 'time_dependant'", "mean 'time_dependent'"],
        ),
        (json!({"starts": 0}), &["starts = 0", "[1, 4096]"]),
        (json!({"seed": 1.5}), &["seed = 1.5", "whole number"]),
        (json!({"data": []}), &["data must be a list"]),
        (
            json!({"data": ["none.csv"]}),
            &["none.csv: No such file", "check that"],
        ),
        (
            json!({"data": [{"file": "data.csv", "fabric": "tset"}]}),
            &["data.csv", "'tset'", "mean 'test'"],
        ),
        (
            json!({"hold_out": {"gap_mm": [1, 2]}}),
            &["all 10 points are held out", "fewer"],
        ),
        (
            json!({"hold_out": {"gap_mm": [3]}}),
            &["hold_out matches no point", "gap_mm"],
        ),
        (
            parameters("yield_stran", json!({"fixed": 3})),
            &["'yield_stran'", "mean 'yield_strain'"],
        ),
        (
            parameters("yield_strain", json!({"bounds": [900, 100]})),
            &[
                "parameters.yield_strain.bounds = [900, 100]",
                "lower one first",
            ],
        ),
        (
            parameters("yield_strain", json!({"bounds": [100, 900], "start": 5000})),
            &["parameters.yield_strain.start = 5000", "[100, 900]"],
        ),
        (
            parameters("flow_time", json!({"start": 1e9})),
            &["parameters.flow_time.start = 1e9", "outside its bounds"],
        ),
        (
            parameters("flow_time", json!({"tied_to": "dwel_time"})),
            &[
                "parameters.flow_time.tied_to",
                "'dwel_time'",
                "mean 'dwell_time'",
            ],
        ),
        (
            parameters("flow_time_spread", json!({"fixed": -0.1})),
            &["parameters.flow_time_spread.fixed = -0.1", "[0, 3]"],
        ),
        (
            parameters("dwell_time_spread", json!({"bounds": [0.1, 4]})),
            &["parameters.dwell_time_spread.bounds = 4", "[0, 3]"],
        ),
        (
            parameters(
                "dwell_time_spread",
                json!({"bounds": [0, 2], "transform": "log"}),
            ),
            &["parameters.dwell_time_spread", "has no logarithm"],
        ),
        (
            parameters("friction_threshold_spread", json!({"start": 2.5})),
            &[
                "parameters.friction_threshold_spread.start = 2.5",
                "outside its bounds [0.02, 2]",
            ],
        ),
        (
            parameters("friction_threshold_spread", json!({"fixed": "wide"})),
            &[
                "parameters.friction_threshold_spread.fixed",
                "must be a number",
            ],
        ),
        (
            parameters("threshold_spread", json!({})),
            &["'threshold_spread'", "mean 'friction_threshold_spread'"],
        ),
        (
            json!({"law": "dahl", "parameters": {"dwell_time_spread": {"fixed": 0.2}}}),
            &["'dwell_time_spread'"],
        ),
        (
            json!({"parameters": {
                "flow_time": {"tied_to": "dwell_time"},
                "dwell_time": {"tied_to": "flow_time"},
            }}),
            &["parameters.", "which is tied itself", "free or fixed"],
        ),
        (
            pair(json!({"bounds": [500, 900]}), json!({"bounds": [10, 400]})),
            &order,
        ),
        (
            pair(json!({}), json!({"tied_to": initial, "ratio": 0.5})),
            &order,
        ),
        (
            pair(
                json!({"tied_to": saturated, "ratio": 0.1}),
                json!({"transform": "above"}),
            ),
            &[
                "parameters.friction_threshold_saturated.transform = above",
                "tied",
                "use log",
            ],
        ),
    ];
    let wrong: Vec<String> = cases
        .iter()
        .filter_map(|(changes, fragments)| {
            folder.write("c.json", case(changes.clone()).to_string());
            refused(&folder, "fit c.json --out fit", fragments)
        })
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

// Folders that cannot be written or are in use, and resumes that would change a fit, are refused; the fit
// that was there stays as it was.
#[test]
fn wrong_folders_and_changed_resumes_are_refused() {
    let folder = Folder::with_fit();
    folder.write("file", "precious");
    fs::create_dir(folder.path("empty")).unwrap();
    fs::create_dir(folder.path("mine")).unwrap();
    folder.write("mine/case.json", "precious");
    copy(&folder.path("fit"), &folder.path("torn"));
    folder.write("torn/journal.jsonl", "{\"key\":\"beg");
    let before = folder.text("fit/result.json");
    let runs: [(&str, &[&str]); 13] = [
        (
            "fit case.json --out file/fit",
            &["file/fit", "Not a directory", "--out"],
        ),
        (
            "fit case.json --out file",
            &["file", "File exists", "--out"],
        ),
        (
            "fit case.json --out fit",
            &["a fit in it already", "--resume fit"],
        ),
        (
            "fit case.json --out mine",
            &["mine", "no fit was begun", "another --out"],
        ),
        (
            "fit --resume torn",
            &["torn", "stopped before it began", "remove"],
        ),
        ("fit --resume none", &["none", "no fit was begun"]),
        (
            "fit --resume empty",
            &["empty", "no fit was begun", "rumple fit"],
        ),
        (
            "fit --resume fit --starts 3",
            &["--resume", "leave the other options out"],
        ),
        (
            "fit --resume fit --optimizer adam",
            &["leave the other options out"],
        ),
        (
            "fit --resume fit --seed 7",
            &["leave the other options out"],
        ),
        (
            "fit --resume fit --precision f32",
            &["begun on cpu, f64", "go on with the same"],
        ),
        (
            "fit case.json --resume fit",
            &["--resume", "cannot be used with"],
        ),
        ("bootstrap fit --samples 1", &["--samples 1", "2 to"]),
    ];
    for (run, fragments) in runs {
        judge(&folder.run(run), fragments).unwrap_or_else(|why| panic!("{run}: {why}"));
    }
    let case = folder.text("fit/case.json");
    folder.write(
        "fit/case.json",
        case.replace("\"starts\": 2", "\"starts\": 3"),
    );
    for run in ["fit --resume fit", "profile fit", "bootstrap fit"] {
        judge(&folder.run(run), &["case.json or its data have changed"]).unwrap();
    }
    assert_eq!(folder.text("fit/result.json"), before);
    assert_eq!(folder.text("file"), "precious");
    assert_eq!(folder.text("mine/case.json"), "precious");
}

// Rows that are all alike give a result without NaN that says what is not identified, and no misfit.
#[test]
fn identical_rows_say_what_they_leave_open() {
    let folder = Folder::with_case();
    let rows = "a,1,10,300,90,2,1\n".repeat(10);
    folder.write("data.csv", format!("{HEADER}\n{rows}"));
    folder.succeed("fit case.json --out fit");
    let result: Value = serde_json::from_str(&folder.text("fit/result.json")).unwrap();
    for key in ["chi2", "reduced_chi2", "aic", "bic", "hard_chi2"] {
        assert!(result["statistics"][key].is_f64(), "{key}");
    }
    let free = |p: &&Value| p["free"] == true;
    let parameters = result["parameters"].as_array().unwrap();
    let open = |p: &&Value| {
        p["verdict"]
            .as_str()
            .unwrap()
            .starts_with("not identified: ")
    };
    assert!(parameters.iter().filter(free).filter(open).count() >= 6);
    let misfit = result["misfit"]["verdict"].as_str().unwrap();
    assert!(!misfit.starts_with("misfit"), "{misfit}");
    // Reading it back refuses a number that is none.
    folder.succeed("compare fit fit --json");
}

// A box narrower than any step of a profile is no reason to panic, and a saturated threshold that is fixed
// keeps the initial one below it, so that the material is valid.
#[test]
fn narrow_boxes_and_fixed_thresholds_give_a_valid_material() {
    let folder = Folder::with_case();
    let tight = json!({"parameters": {
        "yield_strain": {"bounds": [900, 900.000_000_1]},
        "friction_threshold_saturated": {"fixed": 20},
    }});
    folder.write("case.json", case(tight).to_string());
    folder.succeed("fit case.json --out fit");
    let material: Value = serde_json::from_str(&folder.text("fit/material.json")).unwrap();
    let number = |place: &str| material.pointer(place).unwrap().as_f64().unwrap();
    assert!((number("/plasticity/yield_per_m") - 900.0).abs() < 1e-6);
    assert!(number("/friction/threshold_initial_per_m") <= 20.0);
    folder.succeed("kes --material fit/material.json --json");
}

// Data files that share a name, or whose names look numbered, are kept apart; so are fabrics whose names
// have no letter that a file name can hold.
#[test]
fn files_and_fabrics_of_like_names_are_kept_apart() {
    let folder = Folder::with_case();
    let table = |fabric: &str, shift: f64| {
        let rows = [(1, 130.0), (100, 80.0), (10_000, 50.0)];
        let row = |(t, angle)| format!("{fabric},1,{t},300,{},2,1\n", angle + shift);
        format!("{HEADER}\n{}", rows.map(row).concat())
    };
    folder.write("1-a.csv", table("綿", 0.0));
    folder.write("2-a.csv", table("麻", 7.0));
    folder.write("a.csv", table("絹", 13.0));
    fs::create_dir(folder.path("other")).unwrap();
    folder.write("other/a.csv", table("毛", 17.0));
    folder.succeed(
        "fit 2-a.csv 1-a.csv a.csv other/a.csv --law perfect_plastic --starts 1 --out fit",
    );
    let points = folder.result()["points"].as_array().unwrap().clone();
    let first = |fabric: &str| {
        let point = points.iter().find(|p| p["group"] == fabric).unwrap();
        point["measured_deg"].as_f64().unwrap()
    };
    assert_eq!(
        ["綿", "麻", "絹", "毛"].map(first),
        [130.0, 137.0, 143.0, 147.0]
    );
    let files = fs::read_dir(folder.path("fit")).unwrap();
    let names = files.map(|f| f.unwrap().file_name().into_string().unwrap());
    let materials: Vec<String> = names.filter(|n| n.starts_with("material")).collect();
    assert_eq!(materials.len(), 4, "{materials:?}");
}
