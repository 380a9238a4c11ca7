//! `rumple sensitivity` as its users run it: files, stops, shards, options and refusals.

#[path = "common/program.rs"]
mod program;

use std::fs;

use program::{Folder, judge, wait_until};
use serde_json::Value;

const CASE: &str = include_str!("data/salib/case.json");
const DATA: &str = include_str!("data/salib/three.csv");

/// A folder with the case of SALib's comparison.
fn prepared() -> Folder {
    let folder = Folder::new();
    folder.write("case.json", CASE);
    folder.write("three.csv", DATA);
    folder
}

const STUDY: &str = "sensitivity case.json --samples 64 --width 0 --trajectories 4";

/// `sensitivity.json` without the part that differs between equal runs, and the tables.
fn outcome(folder: &Folder, name: &str) -> (Value, String, String) {
    let mut result: Value =
        serde_json::from_str(&folder.text(&format!("{name}/sensitivity.json"))).unwrap();
    result["run"] = Value::Null;
    let table = |file: &str| folder.text(&format!("{name}/{file}"));
    (result, table("indices.csv"), table("samples.csv"))
}

// A study writes its tables, report and plots; what is synthetic says so.
#[test]
fn a_study_leaves_tables_reports_and_plots() {
    let folder = prepared();
    let text = folder.succeed(&format!("{STUDY} --out s"));
    assert!(
        text.contains("SYNTHETIC DATA") && text.contains("[[Combinations]]"),
        "{text}"
    );
    let (result, indices, samples) = outcome(&folder, "s");
    assert_eq!(result["synthetic"], true);
    assert!(indices.starts_with("# synthetic"));
    // Five outputs, eight parameters and the dummy, five estimators.
    let sobol = indices.lines().filter(|l| l.starts_with("sobol,")).count();
    assert_eq!(sobol, 5 * 9 * 5);
    // One nominal run, 1024 of derivatives, 4 trajectories of 9, 64 base samples of 10; a remark and the header.
    assert_eq!(samples.lines().count(), 2 + 1 + 1024 + 36 + 640);
    let page = folder.text("s/report.html");
    assert!(page.contains("SYNTHETIC DATA") && page.contains("<svg"));
    for picture in [
        "sobol-mean-angle",
        "convergence",
        "morris-mean-angle",
        "active-direction",
        "regimes",
    ] {
        assert!(
            folder.path(&format!("s/plots/{picture}.png")).is_file(),
            "{picture}"
        );
        assert!(
            folder
                .text("s/report.md")
                .contains(&format!("plots/{picture}.svg"))
        );
    }
    let fisher = &result["local"]["fisher"];
    assert_eq!(fisher["combinations"].as_array().unwrap().len(), 8);
}

// Killed at any moment a study goes on with the same command and ends with the same bits.
#[test]
fn a_killed_study_goes_on() {
    let folder = prepared();
    folder.succeed(&format!("{STUDY} --out whole"));
    for lines in [1, 3] {
        let name = format!("killed{lines}");
        let mut child = folder.start(&format!("{STUDY} --out {name}"));
        let journal = folder.path(&format!("{name}/journal.jsonl"));
        wait_until("the journal", || {
            fs::read_to_string(&journal).is_ok_and(|t| t.lines().count() > lines)
        });
        child.kill().unwrap();
        child.wait().unwrap();
        folder.succeed(&format!("{STUDY} --out {name}"));
        assert!(
            outcome(&folder, &name) == outcome(&folder, "whole"),
            "{lines}"
        );
    }
}

// Shards merge to the bits of one machine, and a study of more samples keeps those it has.
#[test]
fn shards_merge_and_studies_grow() {
    let folder = prepared();
    folder.succeed(&format!("{STUDY} --out whole"));
    for shard in ["1/2", "2/2"] {
        let name = &shard[..1];
        folder.succeed(&format!("{STUDY} --shard {shard} --out part{name}"));
        assert!(
            !folder
                .path(&format!("part{name}/sensitivity.json"))
                .exists()
        );
    }
    folder.succeed("merge part1 part2 --out merged");
    assert!(outcome(&folder, "merged") == outcome(&folder, "whole"));
    judge(
        &folder.run("merge part1 --out half"),
        &["tasks are missing", "2/2"],
    )
    .unwrap();
    let more = "sensitivity case.json --samples 128 --width 0 --trajectories 4 --out";
    folder.succeed(&format!("{more} merged"));
    folder.succeed(&format!("{more} afresh"));
    assert!(outcome(&folder, "merged") == outcome(&folder, "afresh"));
}

// Ranges, groups and choices of methods do what they say.
#[test]
fn ranges_groups_and_methods_are_obeyed() {
    let folder = prepared();
    let result = folder.json(
        "sensitivity case.json --methods morris,sobol --samples 32 --width 0 --trajectories 4 \
         --vary dwell_time=normal:100:10 --vary flow_time=fixed:500 --only dwell_time,yield_strain,friction_stiffness \
         --group both=dwell_time,yield_strain --out s --json",
    );
    let names: Vec<&str> = result["factors"]
        .as_array()
        .unwrap()
        .iter()
        .map(|f| f["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["friction_stiffness", "dwell_time", "yield_strain"]);
    assert_eq!(
        result["groups"],
        serde_json::json!(["friction_stiffness", "both"])
    );
    assert_eq!(result["factors"][1]["distribution"]["shape"], "normal");
    assert!(result["local"].is_null() && result["derivative"].is_null());
    assert!(result["morris"]["outputs"][0][1]["mu"].is_null());
}

// Bad input is refused with the option, the value and the remedy, before a folder is made.
#[test]
fn bad_input_is_refused() {
    let folder = prepared();
    folder.write("empty.csv", "");
    folder.write(
        "nan.csv",
        "gap_mm,press_time_s,recovery_time_s,angle_deg\nNaN,1,300,90\n",
    );
    for (arguments, fragments) in [
        ("nothere.json", &["nothere.json", "exists"][..]),
        (
            "case.json --methods sobl",
            &["--methods", "sobl", "did you mean 'sobol'"],
        ),
        (
            "case.json --vary dwel_time=log:1:2",
            &["dwel_time", "did you mean 'dwell_time'"],
        ),
        (
            "case.json --vary dwell_time=log:0:2",
            &["dwell_time", "no logarithm"],
        ),
        (
            "case.json --vary dwell_time=uniform:0:2",
            &["dwell_time", "outside"],
        ),
        (
            "case.json --vary dwell_time=logg:1:2",
            &["dwell_time", "log:LOW:HIGH"],
        ),
        (
            "case.json --vary dwell_time",
            &["--vary dwell_time", "NAME=SHAPE"],
        ),
        ("case.json --only wool", &["--only", "wool"]),
        (
            "case.json --group g=dwell_time,dwell_time",
            &["--group", "one only"],
        ),
        ("case.json --samples 3", &["--samples 3", "16 or more"]),
        ("case.json --trajectories 1", &["--trajectories 1"]),
        ("case.json --samples 1e9", &["too many"]),
        ("case.json --width -1", &["--width -1"]),
        ("case.json --around nofabric", &["nofabric"]),
        (".", &["no result.json"]),
        ("empty.csv", &["error: empty.csv", "is empty"]),
        ("nan.csv", &["error: nan.csv line 2", "gap_mm", "finite"]),
    ] {
        let output = folder.run(&format!("sensitivity {arguments} --out s"));
        judge(&output, fragments).unwrap_or_else(|e| panic!("{arguments}: {e}"));
        assert!(!folder.path("s").exists(), "{arguments} made a folder");
    }
    folder.succeed("sensitivity case.json --methods local --out s");
    let other = folder.run("sensitivity case.json --methods local --seed 2 --out s");
    judge(&other, &["seed"]).unwrap();
    folder.write("case.json", CASE.replace("[30, 120]", "[40, 120]"));
    let other = folder.run("sensitivity case.json --methods local --out s");
    judge(&other, &["another study", "--out"]).unwrap();
}

// The errors of a fit are the ranges of a study of its folder.
#[test]
fn a_fit_gives_the_ranges() {
    let folder = Folder::with_fit();
    let result = folder.json("sensitivity fit --methods local,sobol --samples 32 --out s --json");
    let fit: Value = serde_json::from_str(&folder.text("fit/result.json")).unwrap();
    let mut compared = 0;
    for factor in result["factors"].as_array().unwrap() {
        let found = fit["parameters"].as_array().unwrap().iter();
        let mut found = found.filter(|p| p["name"] == factor["name"] && !p["value"].is_null());
        let Some(parameter) = found.next() else {
            continue;
        };
        let (shape, best) = (&factor["distribution"], parameter["best"].as_f64().unwrap());
        let number = |v: &Value| v.as_f64().unwrap();
        let near = |a: f64, b: f64| (a - b).abs() <= 1e-9 * b.abs();
        assert!(near(number(&factor["nominal"]), best));
        let kind = shape["shape"].as_str().unwrap();
        match parameter["std_error"].as_f64() {
            Some(error) if kind == "log_normal" => {
                assert!(near(number(&shape["sd"]), error / best))
            }
            Some(error) => assert!(near(number(&shape["sd"]), error)),
            // Without a standard error the interval of the profile is taken.
            None => {
                assert!(kind.ends_with("uniform"), "{kind}");
                let low = parameter["ci95"][0]
                    .as_f64()
                    .unwrap_or(number(&shape["low"]));
                assert!(near(number(&shape["low"]), low), "{shape}");
            }
        }
        compared += 1;
    }
    assert!(compared >= 2, "{compared}");
    assert!(result["notes"].to_string().contains("errors of the fit"));
}

/// A strip that falls over an edge in a few steps.
const SCENE: &str = r#"{"name": "small strip",
  "mesh": {"shape": "rectangle", "width_m": 0.06, "height_m": 0.02, "nx": 9, "ny": 3},
  "fabric": {"material": "cotton broad", "membrane": "cotton"},
  "time_step_s": 0.01, "duration_s": 0.1,
  "handles": [{"vertices": {"end": "-x"}, "kind": "pin"}],
  "readings": ["bending_energy", {"kind": "mean_height", "axis": "z"}]}"#;

// A scene's readings are studied by derivatives and elementary effects, and its exact slopes are differences.
#[test]
fn a_scene_is_studied() {
    let folder = Folder::new();
    folder.write("scene.json", SCENE);
    let result = folder.json(
        "sensitivity scene.json --trajectories 2 --only bending_stiffness,density --out s --json",
    );
    let outputs = result["outputs"].as_array().unwrap();
    assert_eq!(outputs[1]["name"], "mean_height_m at the end");
    assert!(result["sobol"].is_null());
    assert_eq!(result["failures"]["failed"], 0);
    let slopes = &result["local"]["slopes"][0];
    let nominal = |k: usize| result["factors"][k]["nominal"].as_f64().unwrap();
    let read = |name: &str, value: f64| {
        let other = 1 - usize::from(name == "density");
        let fixed = ["bending_stiffness", "density"][other];
        let text = folder.json(&format!(
            "sensitivity scene.json --methods local --only {fixed} --vary {name}=fixed:{value} --out {name}{value:e} --json"
        ));
        text["local"]["values"][0].as_f64().unwrap()
    };
    for (k, name) in ["bending_stiffness", "density"].into_iter().enumerate() {
        let step = 1e-4 * nominal(k);
        let difference =
            (read(name, nominal(k) + step) - read(name, nominal(k) - step)) / (2.0 * step);
        let slope = slopes[k].as_f64().unwrap();
        // The linear solves end at 1e-8 or so; the step's second order is 1e-8.
        assert!(
            (slope / difference - 1.0).abs() < 1e-3,
            "{name}: {slope} {difference}"
        );
    }
}
