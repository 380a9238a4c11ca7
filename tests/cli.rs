//! The program as its users run it: real processes in a fresh folder each.

#[path = "common/program.rs"]
mod program;

use std::{
    fs,
    process::{Command, Output, Stdio},
};

use program::{Folder, PROGRAM};
use serde_json::Value;

const COLUMNS: &str =
    "step,time,strain,stress,anchor,stick_time,plastic,accumulated_plastic,flow_time,yield_strain";

/// A valid material, which the bad ones are made from.
const MATERIAL: &str = r#"{"name": "test", "strain": "curvature", "law": "time_dependent",
  "bending_stiffness_Nm": 1e-5,
  "friction": {"stiffness_Nm": 2e-5, "threshold_initial_per_m": 26,
               "threshold_saturated_per_m": 900, "dwell_time_s": 30},
  "plasticity": {"yield_per_m": 900, "hardening_Nm": 1e-5,
                 "hardening_drop": 0.99, "flow_time_s": 30},
  "relaxation": [{"stiffness_Nm": 1e-6, "time_s": 1}]}"#;

/// A folder with a material and a strain history.
fn prepared() -> Folder {
    let folder = Folder::new();
    folder.write("ok.json", MATERIAL);
    folder.write("ok.csv", "dt,strain\n0.5,10\n0.5,2000\n0.5,0\n");
    folder
}

fn numbers(list: &Value, key: &str) -> Vec<f64> {
    let rows = list.as_array().unwrap();
    rows.iter().map(|row| row[key].as_f64().unwrap()).collect()
}

/// Refuses any answer to bad input but a message with all `fragments`, and says why.
fn judge(output: &Output, fragments: &[&str]) -> Result<(), String> {
    let said = String::from_utf8_lossy(&output.stderr);
    let missing = fragments.iter().find(|f| !said.contains(**f));
    let wrong = match (output.status.code(), missing) {
        (Some(1 | 2), _) if !said.starts_with("error:") => "no error".into(),
        (Some(1 | 2), _) if said.contains("panicked") => "a panic".into(),
        (Some(1 | 2), _) if !output.stdout.is_empty() => "a result".into(),
        (Some(1 | 2), Some(missing)) => format!("no '{missing}'"),
        (Some(1 | 2), None) => return Ok(()),
        (code, _) => format!("exit code {code:?}"),
    };
    Err(format!("{wrong}; it said: {said}"))
}

// All ten presets are listed, and a printed one is a file that the commands read back.
#[test]
fn presets_are_listed_and_are_valid_files() {
    let folder = prepared();
    let text = folder.succeed("materials");
    assert_eq!(text.lines().take_while(|l| !l.is_empty()).count(), 1 + 10);
    folder.write("mine.json", folder.succeed("materials cotton-broad"));
    for command in ["crease --press-s 1", "kes", "drive --strain ok.csv"] {
        let file = folder.json(&format!("{command} --json --material mine.json"));
        let preset = folder.json(&format!("{command} --json --material cotton-broad"));
        assert_eq!(file, preset, "{command}");
    }
}

// An angle is the same whatever else is read, also that of a fold whose yarns yield against it (gap 0.5 mm).
#[test]
fn an_angle_does_not_depend_on_what_else_is_asked() {
    let folder = prepared();
    let backwards = r#"{"name": "backwards", "strain": "curvature", "law": "time_dependent",
        "bending_stiffness_Nm": 1e-6, "friction": {"stiffness_Nm": 1e-4, "threshold_initial_per_m": 2000,
        "threshold_saturated_per_m": 3000, "dwell_time_s": 30}, "plasticity": {"yield_per_m": 50,
        "hardening_Nm": 1e-7, "hardening_drop": 0.9, "flow_time_s": 30}}"#;
    folder.write("backwards.json", backwards);
    let angles = |gaps: &str, reads: &str| {
        let run = format!(
            "crease --material backwards.json --gap-mm {gaps} --press-s 10 --read-s {reads} --json"
        );
        let answer: Value = serde_json::from_str(&folder.succeed(&run)).unwrap();
        let points = answer["points"].as_array().unwrap();
        let angles = points.iter().map(|p| p["angle_deg"].as_f64().unwrap());
        (answer["fold"].to_string(), angles.collect::<Vec<f64>>())
    };
    let (fold, alone) = angles("60", "300");
    assert!(fold.contains("closed form"), "{fold}");
    let (fold, both) = angles("0.5,60", "300");
    assert!(!fold.contains("hinges"), "{fold}");
    assert_eq!(both[1], alone[0]);
    assert_eq!(both[0], angles("0.5", "300").1[0]);
    assert!(both[0] != both[1]);
    assert_eq!(angles("60", "15,300").1[1], alone[0]);
}

// A crease test answers every combination in order, and a longer press recovers less.
#[test]
fn crease_reports_every_point_in_order() {
    let folder = prepared();
    let run = "crease --material cotton-broad --press-s 1,100,1e4 --read-s 60,1e9 --json";
    let text = folder.succeed(&format!("{run} --gap-mm 0.1,0.5,2"));
    let points = &serde_json::from_str::<Value>(&text).unwrap()["points"];
    let angle = numbers(points, "angle_deg");
    assert_eq!(angle.len(), 3 * 3 * 2);
    for (angle, percent) in angle.iter().zip(numbers(points, "recovery_percent")) {
        assert!((1.0..179.0).contains(angle), "{angle}");
        assert!((percent - angle / 1.8).abs() < 1e-9, "{percent}");
    }
    for gap in angle.chunks(6) {
        assert!(gap[0] > gap[2] + 1.0 && gap[2] > gap[4] + 1.0, "{gap:?}");
    }
    let presses = [1.0, 1.0, 100.0, 100.0, 1e4, 1e4];
    assert_eq!(numbers(points, "press_s"), presses.repeat(3));
    assert_eq!(numbers(points, "read_s"), [60.0, 1e9].repeat(9));
    // Text, because people join tables by this column and serde_json reads to the last digit but one.
    let gaps = text
        .lines()
        .filter_map(|l| l.trim().strip_prefix("\"gap_mm\": "));
    let expected = ["0.1,", "0.5,", "2.0,"].map(|gap| [gap; 6]).concat();
    assert_eq!(gaps.collect::<Vec<_>>(), expected);
}

// A pressing time of zero is allowed, so the picture with its log axis must not refuse it.
#[test]
fn crease_without_pressing_succeeds() {
    let table = prepared().succeed("crease --material cotton-broad --press-s 0");
    assert_eq!(table.lines().count(), 1 + 4);
}

// Simulated KES of cotton broad gives back the measured B and 2HB that its preset is made from.
#[test]
fn kes_reads_the_measured_values() {
    let loops = &prepared().json("kes --material cotton-broad --dwell-s 0,60 --json")["loops"];
    let (b, hb) = (numbers(loops, "B_Nm"), numbers(loops, "2HB_Nm_per_m"));
    // The measurements have four digits.
    assert!((b[0] / 1.157e-5 - 1.0).abs() < 5e-4, "{b:?}");
    assert!((hb[0] / 1.216e-3 - 1.0).abs() < 5e-4, "{hb:?}");
    assert!(hb[1] > 1.2 * hb[0], "a dwell must show: {hb:?}");
}

// A driven law writes the agreed columns, the same to a file, to standard output and as JSON.
#[test]
fn drive_writes_the_agreed_columns() {
    let folder = prepared();
    let drive = "drive --material ok.json --strain ok.csv";
    let text = folder.succeed(drive);
    assert_eq!(text.lines().next(), Some(COLUMNS));
    assert_eq!(folder.succeed(&format!("{drive} --out history.csv")), "");
    assert_eq!(folder.read("history.csv"), text.as_bytes());
    let rows = &folder.json(&format!("{drive} --json"))["rows"];
    let keys: Vec<&String> = rows[0].as_object().unwrap().keys().collect();
    assert_eq!(keys, COLUMNS.split(',').collect::<Vec<_>>());
    for (i, key) in COLUMNS.split(',').enumerate() {
        let cells = text.lines().skip(1).map(|l| l.split(',').nth(i).unwrap());
        let column: Vec<f64> = cells.map(|cell| cell.parse().unwrap()).collect();
        assert_eq!(column.len(), 3);
        for (cell, number) in column.iter().zip(numbers(rows, key)) {
            // serde_json may miss the last bit of what it reads.
            assert!((cell - number).abs() <= 1e-15 * cell.abs(), "{key} {cell}");
        }
    }
    assert!(numbers(rows, "plastic")[2] > 0.0);
}

// Pictures are what their names say, and what is said about them leaves standard output clean.
#[test]
fn plots_are_written_beside_clean_json() {
    let folder = prepared();
    for command in ["drive --strain ok.csv", "crease --press-s 1,10", "kes"] {
        for (plot, magic) in [("a.svg", &b"<svg"[..]), ("a.png", b"\x89PNG")] {
            let run = format!("{command} --material ok.json --json --plot {plot}");
            let output = folder.run(&run);
            serde_json::from_slice::<Value>(&output.stdout).unwrap();
            assert_eq!(output.stderr, format!("plot: {plot}\n").as_bytes());
            assert!(folder.read(plot).starts_with(magic), "{command} {plot}");
            fs::remove_file(folder.0.join(plot)).unwrap();
        }
    }
}

// The published schema knows every key that a preset uses.
#[test]
fn the_schema_names_every_key_of_every_preset() {
    let folder = prepared();
    let schema = folder.json("schema material");
    let presets = folder.json("materials --json");
    for preset in presets["materials"].as_array().unwrap() {
        for (key, value) in preset.as_object().unwrap() {
            let known = &schema["properties"][key];
            assert!(known.is_object(), "{key}");
            for nested in value.as_object().iter().flat_map(|section| section.keys()) {
                assert!(known["properties"][nested].is_object(), "{key}.{nested}");
            }
        }
    }
}

// The device list has the CPU, and the bench prints its one line with everything that is compared.
#[test]
fn devices_and_bench_report_what_they_ran_on() {
    let folder = prepared();
    assert!(folder.succeed("devices").starts_with("cpu: "));
    assert!(folder.json("devices --json")["cpu"]["threads"].as_u64() >= Some(1));
    let text = folder.succeed("bench hinge --hinges 50 --steps 30 --precision f32");
    assert_eq!(text.lines().count(), 1);
    let line: Value = serde_json::from_str(&text).unwrap();
    assert!(line["hinges"] == 50 && line["steps"] == 30 && line["precision"] == "f32");
    let gradient: Vec<f64> = serde_json::from_value(line["grad"].clone()).unwrap();
    assert!(gradient.len() == 8 && !gradient.contains(&0.0), "{line}");
    for key in ["loss", "forward_s", "forward_backward_s", "peak_mib"] {
        assert!(line[key].as_f64().unwrap() > 0.0, "{key}");
    }
}

// The same seed gives the same bytes whatever the number of threads.
#[test]
fn threads_do_not_change_the_result() {
    let folder = prepared();
    // A preset takes the fused path, branches the plain one.
    for material in ["cotton-broad", "cotton-broad --precision f32", "ok.json"] {
        let crease = format!("crease --hinges 500 --json --seed 7 --material {material}");
        let run = |n: usize| folder.succeed(&format!("{crease} --threads {n}"));
        let one = run(1);
        assert!(one == run(2) && one == run(5), "{material}");
    }
}

// A reader that leaves early is no error; a full disk behind standard output is one.
#[test]
fn standard_output_may_close_or_be_full() {
    let folder = prepared();
    // Its result is longer than a pipe's buffer, so the program must meet the closed end.
    let long = "0.1,12.345\n".repeat(3000);
    folder.write("long.csv", format!("dt,strain\n{long}"));
    let mut command = folder.command("drive --material ok.json --strain long.csv");
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert!(output.stderr.is_empty(), "{output:?}");
    if let Ok(full) = fs::File::options().write(true).open("/dev/full") {
        let mut command = folder.command("crease --material ok.json --json");
        let output = command.stdout(full).output().unwrap();
        judge(&output, &["standard output", "No space left"]).unwrap();
    }
}

// What stood in a file survives when the new contents cannot be written, and nothing is left behind.
#[test]
#[cfg(unix)]
fn a_failed_write_leaves_the_old_file() {
    for option in ["--out old.csv", "--plot old.svg", "--plot old.png"] {
        let folder = prepared();
        let (_, name) = option.split_once(' ').unwrap();
        folder.write(name, "precious");
        // No file may grow: what a full disk looks like.
        let limit = "trap '' XFSZ; ulimit -f 0; exec";
        let drive = format!("{limit} {PROGRAM} drive --material ok.json --strain ok.csv {option}");
        let mut shell = Command::new("sh");
        shell.args(["-c", &drive]).current_dir(&folder.0);
        let mut output = shell.output().unwrap();
        // What was computed before the picture failed has been printed, and that is right.
        output.stdout.clear();
        judge(&output, &[name, "has room"]).unwrap();
        assert_eq!(folder.read(name), b"precious", "{option}");
        assert_eq!(fs::read_dir(&folder.0).unwrap().count(), 3, "{option}");
    }
}

// A link is written through, not replaced: --out /dev/stdout once replaced the system's own link.
#[test]
#[cfg(unix)]
fn output_through_a_link_keeps_the_link() {
    let folder = prepared();
    folder.write("real.csv", "old");
    let link = folder.0.join("link.csv");
    std::os::unix::fs::symlink("real.csv", &link).unwrap();
    folder.succeed("drive --material ok.json --strain ok.csv --out link.csv");
    assert!(link.is_symlink());
    assert!(folder.read("real.csv").starts_with(b"step,"));
}

// Numbers beyond the range of the precision give an error or a finite result, never a silent NaN.
#[test]
fn extremes_never_give_a_silent_nan() {
    let folder = prepared();
    folder.write("far.csv", "dt,strain\n1,1e308\n1,-1e308\n");
    let silent = |arguments: &&str| {
        let output = folder.run(&format!("{arguments} --json"));
        // A number that JSON cannot hold becomes null.
        let null = String::from_utf8_lossy(&output.stdout).contains("null");
        null || !output.status.success() && judge(&output, &[]).is_err()
    };
    let runs = [
        "crease --material ok.json --gap-mm 1 --press-s 1e39 --precision f32",
        "crease --material ok.json --gap-mm 1e-37 --press-s 1 --precision f32",
        "crease --material ok.json --gap-mm 1e308 --press-s 1",
        "crease --material ok.json --gap-mm 1 --press-s 1e-320 --read-s 1e-323",
        "crease --material ok.json --gap-mm 1 --gate sigmoid:1e39 --precision f32",
        "crease --material denim --hinge-height-mm 1e-320 --gap-mm 1 --press-s 1",
        "kes --material ok.json --dwell-s 1e39 --precision f32",
        "drive --material ok.json --strain far.csv",
        "drive --material ok.json --strain far.csv --precision f32",
    ];
    let found: Vec<&str> = runs.into_iter().filter(silent).collect();
    assert!(found.is_empty(), "{found:#?}");
}

/// Name | arguments | what the message must say. C, K and D stand for a valid command each; M changes a
/// place of [`MATERIAL`] (- removes it), F is a whole material file, H a whole strain history.
const BAD_INPUT: &str = include_str!("bad_input.txt");

/// [`MATERIAL`] with a place changed or removed: `/friction/dwell_time_s -3`.
fn changed(change: &str) -> String {
    let mut material: Value = serde_json::from_str(MATERIAL).unwrap();
    let (place, value) = change.split_once(' ').unwrap();
    let (section, key) = place.rsplit_once('/').unwrap();
    let section = material.pointer_mut(section).unwrap();
    let fields = section.as_object_mut().unwrap();
    match value {
        "-" => fields.remove(key),
        _ => fields.insert(key.into(), serde_json::from_str(value).unwrap()),
    };
    material.to_string()
}

// Whatever is wrong with a file or an option, the message names it and nothing else comes out.
#[test]
fn bad_input_is_named_and_never_panics() {
    let folder = prepared();
    fs::create_dir(folder.0.join("folder")).unwrap();
    folder.write("bytes.json", b"{\"name\": \"\xff\"}");
    let (mut count, mut wrong) = (0, Vec::new());
    for line in BAD_INPUT.trim().lines() {
        if cfg!(feature = "gpu") && line.contains("--device gpu") {
            continue;
        }
        let mut cells = line.split(" | ");
        let (name, run) = (cells.next().unwrap(), cells.next().unwrap());
        let (first, rest) = run.split_once(' ').unwrap_or((run, ""));
        let contents = match first {
            "M" => changed(rest),
            _ => rest.replace("\\n", "\n"),
        };
        folder.write("x", contents);
        let arguments = match first {
            "M" | "F" => "kes --material x".into(),
            "H" => "drive --material ok.json --strain x".into(),
            "C" => format!("crease --material ok.json {rest}"),
            "K" => format!("kes --material ok.json {rest}"),
            "D" => format!("drive --material ok.json --strain ok.csv {rest}"),
            _ => run.to_string(),
        };
        let place = if "MFH".contains(first) {
            "error: x"
        } else {
            ""
        };
        let fragments: Vec<&str> = cells.chain([place]).collect();
        count += 1;
        if let Err(why) = judge(&folder.run(&arguments), &fragments) {
            wrong.push(format!("{name}: rumple {arguments}: {why}"));
        }
    }
    assert!(count >= 70, "only {count} cases");
    assert!(wrong.is_empty(), "{count} cases, wrong: {wrong:#?}");
}
