//! Kills, Ctrl-C and full disks: a fit goes on and ends with the same bits.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use crate::program::{Folder, MATERIAL, case, judge, signal, wait_until};
use serde_json::{Value, json};

/// Cuts of a journal after its first entry, at most about `most`: between entries, and in turn within the next.
fn cuts(journal: &[String], most: usize) -> Vec<String> {
    let share = (journal.len() - 1).div_ceil(most);
    let cut = |(i, n): (usize, usize)| {
        let torn = if i % 2 == 1 { journal[n].len() / 2 } else { 0 };
        journal[..n].concat() + &journal[n][..torn]
    };
    let places = (1..journal.len()).step_by(share);
    places.enumerate().map(cut).collect()
}

/// Resumes a fit from many places of its journal: each must end with the same bits.
fn resumes_alike(folder: &Folder, most: usize) {
    let reference = folder.result();
    let journal = folder.journal();
    assert!(journal.len() >= 4, "{} entries", journal.len());
    for (i, cut) in cuts(&journal, most).into_iter().enumerate() {
        folder.write("fit/journal.jsonl", cut);
        folder.forget_reports();
        folder.succeed("fit --resume fit --json");
        assert!(folder.result() == reference, "cut {i} of {}", journal.len());
        assert!(folder.path("fit/report.html").is_file());
        assert!(folder.path("fit/material.json").is_file());
    }
}

// A fit that was killed after any entry of its journal, or within one, ends with the same bits.
#[test]
fn a_fit_resumes_from_every_entry_of_its_journal() {
    let folder = Folder::with_fit();
    resumes_alike(&folder, 6);
}

// Adam goes on with its moments, and its profiles with a better optimum where they found one: a killed fit
// ends with the same bits.
#[test]
fn a_fit_by_adam_resumes_with_its_moments() {
    let folder = Folder::with_case();
    folder.succeed("fit case.json --out fit --optimizer adam");
    resumes_alike(&folder, 3);
}

// A fit with a relaxation branch, which starts from one without, resumes from both parts of its search.
#[test]
fn a_fit_with_a_branch_resumes() {
    let folder = Folder::with_case();
    // Few unknowns: the law with branches has no fast form.
    let law = json!({"relaxation_branches": 1, "starts": 1, "tests": {"hinges": 32}, "parameters": {
        "friction_stiffness": {"fixed": 2e-5},
        "friction_threshold_initial": {"fixed": 26},
        "friction_threshold_saturated": {"fixed": 900},
        "dwell_time": {"fixed": 30},
        "hardening_stiffness": {"fixed": 1e-5},
        "hardening_drop": {"fixed": 0.99},
    }});
    folder.write("case.json", case(law).to_string());
    folder.succeed("fit case.json --out fit");
    assert!(folder.journal().concat().contains("search/fused-law"));
    resumes_alike(&folder, 3);
}

// Fits with and without spreads are one job: it goes on from any of them, and nothing else may go on in its folder.
#[test]
fn fits_with_and_without_spreads_resume() {
    let folder = Folder::with_case();
    let few = json!({"starts": 1, "tests": {}, "parameters": {
        "friction_stiffness": {"fixed": 2e-5},
        "friction_threshold_initial": {"fixed": 26},
        "dwell_time": {"fixed": 30},
        "hardening_stiffness": {"fixed": 1e-5},
        "hardening_drop": {"fixed": 0.5},
        // Nothing yields: a fold in which yarns push each other back takes long.
        "yield_strain": {"fixed": 20000},
        "flow_time": {"fixed": 100},
    }});
    folder.write("case.json", case(few).to_string());
    folder.succeed("fit case.json --spread --out fit");
    let reference = folder.result();
    let found: Value = serde_json::from_str(&folder.text("fit/result.json")).unwrap();
    let fits = found["spread"]["fits"].as_array().unwrap();
    let folders: Vec<&str> = fits.iter().map(|f| f["folder"].as_str().unwrap()).collect();
    assert_eq!(
        folders,
        [
            "equal-yarns",
            "threshold-spread",
            "flow-time-spread",
            "all-spreads"
        ]
    );
    let aic = |of: &Value| of.as_f64().unwrap();
    let lowest = fits
        .iter()
        .map(|f| aic(&f["aic"]))
        .fold(f64::INFINITY, f64::min);
    assert_eq!(aic(&found["statistics"]["aic"]), lowest);
    for inner in folders {
        assert!(folder.path("fit").join(inner).join("report.html").is_file());
    }
    folder.succeed("compare fit fit/equal-yarns --json");
    let refused = folder.run("fit case.json --spread --out fit");
    judge(&refused, &["a fit in it already", "--resume fit"]).unwrap();
    let refused = folder.run("fit --resume fit --starts 3");
    judge(&refused, &["leave the other options out"]).unwrap();
    // The second fit was cut short, the others never began.
    for name in [
        "all-spreads",
        "flow-time-spread",
        "threshold-spread/result.json",
        "result.json",
        "journal.jsonl",
    ] {
        let path = folder.path("fit").join(name);
        match path.is_dir() {
            true => fs::remove_dir_all(path).unwrap(),
            false => fs::remove_file(path).unwrap(),
        }
    }
    let journal = folder.text("fit/threshold-spread/journal.jsonl");
    let half: Vec<&str> = journal.lines().collect();
    let half = half[..half.len() / 2].join("\n") + "\n";
    folder.write("fit/threshold-spread/journal.jsonl", half);
    folder.succeed("fit --resume fit");
    assert!(folder.result() == reference);
}

// Killed at any moment, in the search, the profiles or the writing of reports, a fit goes on to the same end.
#[test]
#[cfg(unix)]
fn a_killed_fit_goes_on() {
    let reference = Folder::with_fit();
    // By the journal, then by the clock from its first entry, then by the first file of the result.
    for (file, milliseconds) in [
        ("journal.jsonl", 0),
        ("journal.jsonl", 250),
        ("result.json", 0),
    ] {
        let folder = Folder::with_case();
        let mut child = folder.start("fit case.json --out fit");
        let path = folder.path("fit").join(file);
        wait_until(file, || fs::metadata(&path).is_ok_and(|m| m.len() > 0));
        std::thread::sleep(Duration::from_millis(milliseconds));
        child.kill().unwrap();
        child.wait().unwrap();
        folder.succeed("fit --resume fit");
        assert!(
            folder.result() == reference.result(),
            "{file} + {milliseconds} ms"
        );
        assert!(folder.text("fit/report.html").ends_with("</html>\n"));
    }
}

/// A fit of one parameter of a mesh: what is added to its case, and how its data are made.
const MESHES: [(&str, &str); 2] = [
    (
        r#"{"starts": 1, "tests": {"specimen": "strip_mesh", "strip_cells": 8, "hinges": 32}}"#,
        "--specimen strip_mesh --gap-mm 1,2 --press-s 1,10,100,1e3,1e4 --read-s 0",
    ),
    (
        r#"{"starts": 1, "twist": {"radius_mm": 40, "height_mm": 60, "membrane_N_per_m": [200, 200, 20, 50],
            "density_kg_per_m2": 0.13, "cells_around": 8, "cells_along": 3, "steps": 5}}"#,
        "--twist case.json",
    ),
];

// A fit of angles of strip meshes, or of torques of a cylinder, that was killed in its search goes on to the same bits.
#[test]
#[cfg(unix)]
fn a_killed_fit_of_a_mesh_goes_on() {
    for (changes, data) in MESHES {
        let mut changes: Value = serde_json::from_str(changes).unwrap();
        changes["parameters"] = json!({
            "bending_stiffness": {"fixed": 1e-5},
            "friction_threshold_initial": {"fixed": 26},
            "friction_threshold_saturated": {"fixed": 900},
            "dwell_time": {"fixed": 30},
            "yield_strain": {"fixed": 900},
            "hardening_stiffness": {"fixed": 1e-5},
            "hardening_drop": {"fixed": 0.99},
            "flow_time": {"fixed": 30},
        });
        let folder = Folder::new();
        folder.write("truth.json", MATERIAL);
        folder.write("case.json", case(changes).to_string());
        folder.succeed(&format!(
            "synthesize --material truth.json --out data.csv {data}"
        ));
        let mut child = folder.start("fit case.json --out fit");
        let entries = || folder.path("fit/journal.jsonl").is_file() && folder.journal().len() >= 2;
        wait_until("an entry of the search", entries);
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(!folder.path("fit/result.json").exists(), "killed too late");
        folder.succeed("fit --resume fit");
        let resumed = folder.result();
        fs::remove_dir_all(folder.path("fit")).unwrap();
        folder.succeed("fit case.json --out fit");
        assert!(folder.result() == resumed, "{data}");
    }
}

// Ctrl-C ends a search with exit code 130 and the best point so far; nothing further is drawn from that point
// until the fit has gone on to the end it would have had. Meanwhile no second process may have the folder.
#[test]
#[cfg(unix)]
fn ctrl_c_reports_the_best_so_far_and_resumes() {
    let slow = case(json!({"starts": 24, "tests": {"hinges": 512}})).to_string();
    let folder = Folder::with_case();
    folder.write("case.json", &slow);
    let child = folder.start("fit case.json --out fit");
    let entries = || folder.path("fit/journal.jsonl").is_file() && folder.journal().len() >= 2;
    wait_until("an entry of the search", entries);
    judge(
        &folder.run("fit --resume fit"),
        &["another run", "wait for it"],
    )
    .unwrap();
    signal(&child, "INT");
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(130), "{said}");
    assert!(said.contains("`rumple fit --resume fit` goes on"), "{said}");
    let result = folder.result();
    assert_eq!(result["interrupted"], true);
    for key in ["chi2", "aic", "bic", "hard_chi2", "error_scale"] {
        assert!(result["statistics"][key].is_f64(), "{key}");
    }
    for run in ["profile fit", "bootstrap fit"] {
        judge(&folder.run(run), &["interrupted", "--resume fit"]).unwrap();
    }
    folder.succeed("fit --resume fit");
    let whole = Folder::with_case();
    whole.write("case.json", &slow);
    whole.succeed("fit case.json --out fit");
    assert_eq!(whole.result()["interrupted"], false);
    assert!(folder.result() == whole.result());
}

/// A file system of a given size, unmounted at the end.
struct SmallDisk(PathBuf);

impl SmallDisk {
    /// None where mounting is not allowed.
    fn new(place: &Path, size: &str) -> Option<SmallDisk> {
        fs::create_dir_all(place).unwrap();
        let options = format!("size={size}");
        let mut mount = Command::new("mount");
        mount
            .args(["-t", "tmpfs", "-o", &options, "tmpfs"])
            .arg(place);
        let output = mount.output().ok()?;
        output
            .status
            .success()
            .then(|| SmallDisk(place.to_path_buf()))
    }

    fn resize(&self, size: &str) {
        let options = format!("remount,size={size}");
        let status = Command::new("mount")
            .args(["-o", &options])
            .arg(&self.0)
            .status();
        assert!(status.unwrap().success());
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.0).status();
    }
}

// On a full disk a fit says so and how to go on; with room it goes on to the same end.
#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_loses_nothing() {
    let reference = Folder::with_fit();
    // The journal does not fit; the result does not; the pictures do not.
    for size in ["32k", "100k", "400k"] {
        let folder = Folder::with_case();
        let Some(disk) = SmallDisk::new(&folder.path("disk"), size) else {
            eprintln!("skipped: mounting a small disk is not allowed here");
            return;
        };
        std::os::unix::fs::symlink("disk/fit", folder.path("fit")).unwrap();
        let output = folder.run("fit case.json --out disk/fit");
        let fragments = [
            "No space left",
            "has room",
            "`rumple fit --resume disk/fit`",
        ];
        judge(&output, &fragments).unwrap_or_else(|why| panic!("{size}: {why}"));
        disk.resize("64m");
        folder.succeed("fit --resume disk/fit");
        assert!(folder.result() == reference.result(), "{size}");
        let files = fs::read_dir(folder.path("fit")).unwrap();
        let names = files.map(|f| f.unwrap().file_name().into_string().unwrap());
        let parts: Vec<String> = names.filter(|n| n.contains("part")).collect();
        assert!(parts.is_empty(), "{parts:?}");
    }
}

// Finer profiles and the bootstrap, killed and run again, give the same; more samples go on from the first;
// resuming a finished fit keeps both.
#[test]
fn refinements_go_on_where_they_were_killed() {
    let folder = Folder::with_fit();
    let fitted = folder.journal().len();
    let coarse = folder.result();
    for (command, key) in [
        ("profile fit", "profiles"),
        ("bootstrap fit --samples 8", "bootstrap"),
    ] {
        let start = folder.journal();
        folder.succeed(command);
        let (journal, reference) = (folder.journal(), folder.result());
        assert!(reference[key] != coarse[key], "{command}");
        assert!(journal.len() > start.len(), "{command}");
        let n = start.len().midpoint(journal.len());
        let half = &journal[n][..journal[n].len() / 2];
        folder.write("fit/journal.jsonl", journal[..n].concat() + half);
        folder.succeed(command);
        assert!(folder.result() == reference, "{command}");
    }
    let eight = folder.result()["bootstrap"].clone();
    assert_eq!(eight["samples"], 8);
    let spread = eight["parameters"][0]["sd"].as_f64().unwrap();
    assert!(spread > 0.0);
    let before = folder.journal();
    folder.succeed("bootstrap fit --samples 20");
    let (more, journal) = (folder.result(), folder.journal());
    assert_eq!(more["bootstrap"]["samples"], 20);
    assert_eq!(journal[..before.len()], before, "nothing is drawn again");
    folder.write("fit/journal.jsonl", journal[..fitted].concat());
    folder.succeed("bootstrap fit --samples 20");
    assert!(folder.result() == more, "at once or in two parts");
    folder.succeed("fit --resume fit");
    assert!(folder.result() == more, "resuming keeps what was refined");
}

// Reports are drawn from the result alone, and come out the same.
