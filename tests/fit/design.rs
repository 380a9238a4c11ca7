//! `rumple design`: predicted error bars come true, and the files that it leaves.

use serde_json::Value;

use crate::program::{Folder, judge};

// The measurements of a plan are made (on synthetic data, at the angle that the fit expects) and fitted: the standard
// errors are those that were predicted, and smaller than before.
#[test]
fn predicted_error_bars_come_true() {
    let folder = Folder::with_fit();
    let grid = "--gap-mm 1,2 --press-s 3,30,300,3000";
    let design = folder.json(&format!("design fit --budget 2 {grid} --json"));
    assert_eq!(design["synthetic"], true);
    let (candidates, plan) = (&design["candidates"], &design["plan"]);
    assert_eq!(
        (
            candidates.as_array().unwrap().len(),
            plan.as_array().unwrap().len()
        ),
        (8, 2)
    );
    let mut data = folder.text("data.csv");
    let header = data
        .lines()
        .find(|line| line.starts_with("fabric"))
        .unwrap()
        .to_string();
    let last: Vec<String> = data
        .lines()
        .last()
        .unwrap()
        .split(',')
        .map(String::from)
        .collect();
    for step in plan.as_array().unwrap() {
        let of_rank = |c: &&Value| c["rank"] == step["rank"];
        let one = candidates.as_array().unwrap().iter().find(of_rank).unwrap();
        let cell = |(i, name): (usize, &str)| match name {
            "gap_mm" => one["gap_mm"].to_string(),
            "press_time_s" => one["press_s"].to_string(),
            "recovery_time_s" => one["read_s"].to_string(),
            "angle_deg" => one["expected_deg"].to_string(),
            "sd_deg" => one["sd"].to_string(),
            // Fabric, kind of evidence and the like are those of the other rows.
            _ => last[i].clone(),
        };
        data += &(header
            .split(',')
            .enumerate()
            .map(cell)
            .collect::<Vec<_>>()
            .join(",")
            + "\n");
    }
    folder.write("data.csv", data);
    folder.succeed("fit case.json --out again");
    let again: Value = serde_json::from_str(&folder.text("again/result.json")).unwrap();
    let mut compared = 0;
    for forecast in design["parameters"].as_array().unwrap() {
        let of_name = |p: &&Value| p["name"] == forecast["name"];
        let parameter = again["parameters"]
            .as_array()
            .unwrap()
            .iter()
            .find(of_name)
            .unwrap();
        let errors: Vec<f64> = serde_json::from_value(forecast["std_errors"].clone()).unwrap();
        let Some(error) = parameter["std_error"].as_f64() else {
            continue;
        };
        // The optimum stays, so only where its descent stops is left.
        assert!((error / errors[2] - 1.0).abs() < 0.02, "{forecast} {error}");
        assert!(errors[2] < errors[0]);
        compared += 1;
    }
    assert!(compared >= 5, "{compared} parameters have errors");
}

// A design of a case fits it first; files and JSON agree, all say that the data are synthetic, and what cannot be
// planned is refused.
#[test]
fn a_design_leaves_its_files() {
    let folder = Folder::with_case();
    let text = folder.succeed("design case.json --budget 2 --criterion a");
    assert!(
        text.contains("synthetic data") && text.contains("variances (A)"),
        "{text}"
    );
    let design: Value = serde_json::from_str(&folder.text("small-fit/design/design.json")).unwrap();
    let table = folder.text("small-fit/design/design.csv");
    let count = design["candidates"].as_array().unwrap().len();
    assert_eq!(table.lines().count(), count + 1);
    assert!(table.lines().skip(1).all(|line| line.ends_with(",true")));
    for plot in ["gains", "errors"] {
        assert!(
            folder
                .text(&format!("small-fit/design/{plot}.svg"))
                .contains("synthetic")
        );
        assert!(
            folder
                .path(&format!("small-fit/design/{plot}.png"))
                .is_file()
        );
    }
    for (arguments, fragments) in [
        ("design small-fit --budget 0", ["--budget 0", "1 to 100"]),
        ("design small-fit --gap-mm -1", ["--gap-mm", "-1"]),
        ("design nowhere", ["nowhere", "check that the file exists"]),
    ] {
        judge(&folder.run(arguments), &fragments).unwrap_or_else(|why| panic!("{why}"));
    }
    let bigger = folder.json("design small-fit --budget 3 --dwell-s 0,100 --json");
    assert_eq!(
        bigger["candidates"].as_array().unwrap().len(),
        2,
        "loops only"
    );
}
