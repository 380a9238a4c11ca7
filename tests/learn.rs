//! `rumple learn` as a program, on a sleeve so small that everything takes seconds.

#[path = "common/program.rs"]
mod program;
// All kinds of numbers are written for the tests of files; recorded motions need only one.
#[allow(dead_code)]
#[path = "common/npz.rs"]
mod npz;

use std::{
    fs,
    process::{Child, Command},
    sync::OnceLock,
};

use npz::{Kind, npy, zip};
use program::{Folder, PROGRAM, copy, judge, wait_until};
use serde_json::{Value, json};

/// A case whose training and references take a second or two.
fn case(changes: Value) -> String {
    let mut case = json!({
        "grid": [6, 8], "motions": 2, "frames": 30, "cycles": 2,
        "loss": {"materials": {"bending": 0.01}},
        "training": {"elastic_steps": 5, "minimiser_steps": 1, "fits": 2, "plastic_steps": 6},
    });
    for (key, value) in changes.as_object().unwrap() {
        case[key] = value.clone();
    }
    case.to_string()
}

/// A folder with `tiny.json`, its finished run in `run`, trained once for all tests, and what that said.
fn prepared() -> (Folder, &'static str) {
    static TRAINED: OnceLock<(Folder, String)> = OnceLock::new();
    let (trained, said) = TRAINED.get_or_init(|| {
        let folder = Folder::new();
        folder.write("tiny.json", case(json!({})));
        let said = folder.succeed("learn train tiny.json --out run");
        (folder, said)
    });
    let folder = Folder::new();
    copy(&trained.0, &folder.0);
    (folder, said)
}

/// What a run leaves, without times: logs, and all metrics.
fn outcome(folder: &Folder, run: &str) -> (String, String, Value) {
    let text = |name: &str| folder.text(&format!("{run}/{name}"));
    let mut evaluation: Value = serde_json::from_str(&text("evaluation/evaluation.json")).unwrap();
    evaluation["times"] = Value::Null;
    (text("elastic.csv"), text("plastic.csv"), evaluation)
}

/// A metric of a method, of the mean over the unseen motions.
fn mean(evaluation: &Value, method: &str, metric: &str) -> f64 {
    let scores = evaluation["scores"].as_array().unwrap();
    let found = scores
        .iter()
        .find(|s| s["method"] == method && s["motion"] == "mean");
    found.unwrap()["metrics"][metric].as_f64().unwrap()
}

/// Files that are there and whole; charts say that they are synthetic.
fn drawn(folder: &Folder, place: &str, files: &[&str]) {
    for file in files {
        let path = format!("{place}/{file}");
        let bytes = folder.read(&path);
        let starts = |with: &[u8]| bytes.starts_with(with) && bytes.len() > 1000;
        let whole = match file.rsplit('.').next() {
            Some("svg") => starts(b"<svg") && folder.text(&path).contains("synthetic"),
            Some("png") => starts(b"\x89PNG"),
            _ => starts(b"glTF"),
        };
        assert!(whole, "{path}");
    }
}

// Along the plain gradient of the loss, as in paper 2, a run ends too; there is no distance from a minimiser to draw.
#[test]
fn a_run_along_the_plain_gradient_is_judged() {
    let folder = Folder::new();
    let training = json!({"elastic_steps": 3, "minimiser_steps": 0, "fits": 2, "plastic_steps": 6});
    folder.write(
        "plain.json",
        case(json!({"cycles": 1, "training": training})),
    );
    let said = folder.succeed("learn train plain.json --out run");
    assert!(
        said.contains("curriculum below elastic simulation"),
        "{said}"
    );
    drawn(&folder, "run/plots", &["elastic.svg", "plastic.svg"]);
    assert!(!folder.0.join("run/plots/distance.svg").exists());
}

// Training leaves logs, networks and an evaluation in which everything is called synthetic; the same command again
// computes nothing anew; the other commands work on its folder.
#[test]
fn training_evaluation_and_prediction_leave_what_they_promise() {
    let (folder, text) = prepared();
    for word in [
        "synthetic",
        "elastic simulation",
        "curriculum",
        "BED",
        "unloaded control",
    ] {
        assert!(text.contains(word), "{word}: {text}");
    }
    for file in [
        "elastic.csv",
        "plastic.csv",
        "cycles.csv",
        "evaluation/table.csv",
        "evaluation/frames.csv",
    ] {
        assert!(
            folder
                .text(&format!("run/{file}"))
                .starts_with("# synthetic"),
            "{file}"
        );
    }
    assert!(folder.text("run/evaluation/table.md").contains("synthetic"));
    let plots = [
        "elastic.svg",
        "distance.svg",
        "plastic.svg",
        "rest_bending.svg",
    ];
    drawn(&folder, "run/plots", &plots);
    let pictures = [
        "errors.svg",
        "long.svg",
        "frames.png",
        "prediction.glb",
        "reference.glb",
    ];
    drawn(&folder, "run/evaluation", &pictures);
    let first = outcome(&folder, "run");
    assert_eq!(first.0.lines().count(), 2 + 3 * 5);
    assert_eq!(first.1.lines().count(), 2 + 7 * 6);
    assert_eq!(first.2["synthetic"], true);
    // Five motions and the mean, of two methods.
    assert_eq!(first.2["scores"].as_array().unwrap().len(), 12);
    // Nothing has no rest bending, so the elastic simulation's error is the reference's mean.
    let zero = mean(&first.2, "elastic simulation", "plastic_error");
    assert!(zero > 1e-4, "something yields: {zero}");
    let control = first.2["control"].as_array().unwrap();
    assert_eq!(control[0]["method"], "reference");
    assert_eq!(control[0]["largest_rest_bending"], 0.0);

    let references = || fs::read_dir(folder.path("run/references")).unwrap().count();
    assert_eq!(references(), 10);
    let made = fs::metadata(folder.path("run/references"))
        .unwrap()
        .modified()
        .unwrap();
    folder.succeed("learn train tiny.json --out run");
    assert!(outcome(&folder, "run") == first);
    assert_eq!(
        fs::metadata(folder.path("run/references"))
            .unwrap()
            .modified()
            .unwrap(),
        made
    );

    folder.write("zero.json", case(json!({"rest_bending": "none"})));
    copy(
        &folder.path("run/references"),
        &folder.path("zero/references"),
    );
    folder.succeed("learn train zero.json --out zero --fresh");
    drawn(&folder, "zero/plots", &plots[..2]);
    assert!(!folder.path("zero/plots/plastic.svg").exists());
    let both = folder.json("learn evaluate run --baseline zero --frames 150 --json");
    let method = "network without rest bending";
    assert!((mean(&both, method, "plastic_error") - zero).abs() < 1e-12);
    assert!(mean(&both, method, "distance") > 0.0);
    // Before any bend, after one and after two.
    assert_eq!(both["long"].as_array().unwrap().len(), 3);
    let long = folder.text("run/evaluation/long.csv");
    assert_eq!(long.lines().count(), 2 + 3, "{long}");
    drawn(&folder, "run/evaluation", &["long.svg"]);
    let table = folder.text("run/evaluation/table.md");
    assert!(table.contains("roll-out of 150 frames"), "{table}");

    let said = folder.json("learn predict run --peak-deg 60 --json");
    assert_eq!(said["frames"], 95);
    assert!(said["inference_s_a_frame"].as_f64().unwrap() > 0.0);
    let (shape, positions) = npz::read(&folder.read("run/predictions/60.npz"), "positions");
    assert_eq!(shape, [95, 3, 6 * 8]);
    assert!(positions.iter().all(|x| x.abs() < 1.0));
    assert!(positions.iter().any(|x| x.abs() > 0.1));
    assert!(folder.path("run/predictions/garment.obj").is_file());
    drawn(&folder, "run/predictions", &["60.png", "60.glb"]);
    // A motion in AMASS' layout: 1 s at 60 frames a second is 31 at 30.
    motion(&folder, "wave.npz", 2);
    let said = folder.json("learn predict run --motion wave.npz --json");
    assert_eq!(
        (&said["frames"], &said["motion"]),
        (&json!(31), &json!("wave"))
    );
    assert!(folder.path("run/predictions/wave.npz").is_file());

    folder.succeed("learn evaluate run --cycle 1");
    assert!(folder.path("run/evaluation-cycle-1/table.md").is_file());
}

// Times are positive, their ratio is their quotient, and it is said whether both are of one run: a reference that was kept has its time
// from when it was made. Seconds differ from run to run, so nothing else is asked of them.
#[test]
fn times_say_whether_they_were_measured_in_one_run() {
    let (folder, _) = prepared();
    let times = || {
        let text = folder.text("run/evaluation/evaluation.json");
        let evaluation: Value = serde_json::from_str(&text).unwrap();
        let times = &evaluation["times"];
        let number = |key: &str| times[key].as_f64().unwrap();
        let (networks, reference) = (number("networks"), number("reference"));
        assert!(networks > 0.0 && reference > 0.0, "{times}");
        // Rounding.
        let gap = number("ratio") / (reference / networks) - 1.0;
        assert!(gap.abs() < 1e-12, "{times}");
        (times["in_one_run"].as_bool().unwrap(), reference)
    };
    let (together, made) = times();
    assert!(together, "training simulates the references and times both");
    folder.succeed("learn evaluate run --frames 150");
    let (together, kept) = times();
    assert!(!together, "the references were there");
    assert_eq!(kept, made);
}

/// A recorded motion in which the second joint bends.
fn motion(folder: &Folder, name: &str, joints: usize) {
    let bent = |k: usize| match k % (3 * joints) {
        3 => -0.02 * (k / (3 * joints)) as f64,
        _ => 0.0,
    };
    let poses: Vec<f64> = (0..61 * 3 * joints).map(bent).collect();
    let array = |shape: &[usize], values: &[f64]| npy(Kind::F64, shape, values);
    let arrays = [
        ("poses", array(&[61, 3 * joints], &poses)),
        ("trans", array(&[61, 3], &[0.0; 61 * 3])),
        ("betas", array(&[10], &[0.0; 10])),
        ("mocap_framerate", array(&[1], &[60.0])),
    ];
    folder.write(name, zip(&arrays, true));
}

/// Changes a bit in the middle of a file; twice leaves it as it was.
fn damage(folder: &Folder, name: &str) {
    let mut bytes = folder.read(name);
    let middle = bytes.len() / 2;
    bytes[middle] ^= 4;
    folder.write(name, bytes);
}

/// Waits until a log has some rows.
fn wait_for(folder: &Folder, log: &str, lines: usize, child: &mut Child) {
    let path = folder.path(log);
    wait_until(log, || {
        let enough = fs::read_to_string(&path).is_ok_and(|t| t.lines().count() >= lines);
        enough || child.try_wait().unwrap().is_some()
    });
}

// Killed in either network or stopped by Ctrl-C, the same command ends with the bits of a run that was left alone.
#[test]
#[cfg(unix)]
fn a_killed_or_stopped_run_goes_on() {
    let (folder, _) = prepared();
    let steps = json!({"elastic_steps": 30, "minimiser_steps": 1, "fits": 2, "plastic_steps": 30});
    folder.write("tiny.json", case(json!({"training": steps})));
    for run in ["whole", "stopped"] {
        let references = format!("{run}/references");
        copy(&folder.path("run/references"), &folder.path(&references));
    }
    folder.succeed("learn train tiny.json --out whole --fresh");
    for (log, lines, fresh) in [
        ("stopped/elastic.csv", 12, "--fresh"),
        ("stopped/plastic.csv", 9, ""),
    ] {
        let mut child = folder.start(&format!("learn train tiny.json --out stopped {fresh}"));
        wait_for(&folder, log, lines, &mut child);
        child.kill().unwrap();
        assert!(
            !child.wait().unwrap().success(),
            "{log}: it was done already"
        );
    }
    // No file may grow beyond 50 kB, what a full disk looks like: networks are not saved, the last checkpoint stays.
    let train = format!("{PROGRAM} learn train tiny.json --out stopped");
    let mut shell = Command::new("sh");
    shell.args(["-c", &format!("trap '' XFSZ; ulimit -f 100; exec {train}")]);
    let output = shell.current_dir(&folder.0).output().unwrap();
    judge(
        &output,
        &[
            "stopped/networks/cycle-1.zip",
            "has room",
            "goes on in stopped",
        ],
    )
    .unwrap();
    let mut child = folder.start("learn train tiny.json --out stopped");
    // The first step of the second cycle: the log holds six times 30 of the first already.
    wait_for(&folder, "stopped/plastic.csv", 2 + 181, &mut child);
    program::signal(&child, "INT");
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(130), "{said}");
    assert!(
        said.contains("going on after step") && said.contains("the same command goes on"),
        "{said}"
    );
    folder.succeed("learn train tiny.json --out stopped");
    assert!(outcome(&folder, "stopped") == outcome(&folder, "whole"));
}

// Variants that differ in cycles only share a run, references are shared, and the table has the spread over seeds.
#[test]
fn ablations_share_what_they_can() {
    let (folder, _) = prepared();
    copy(&folder.path("run/references"), &folder.path("a/references"));
    let text = folder
        .succeed("learn ablate tiny.json --out a --only case,zero,cycles1,printed --seeds 1,2");
    assert!(
        text.contains("mean ± standard deviation") && text.contains(" ± "),
        "{text}"
    );
    let runs: Vec<String> = ["case", "zero", "printed"]
        .iter()
        .flat_map(|name| [1, 2].map(|seed| format!("a/{name}-seed{seed}")))
        .collect();
    assert!(runs.iter().all(|run| folder.path(run).is_dir()), "{runs:?}");
    assert!(
        !folder.path("a/cycles1-seed1").exists(),
        "a cycle of 'case'"
    );
    // Five motions, with and without yield, two seeds.
    assert_eq!(
        fs::read_dir(folder.path("a/references")).unwrap().count(),
        20
    );
    let table: Value = serde_json::from_str(&folder.text("a/ablations.json")).unwrap();
    let rows = table["rows"].as_array().unwrap();
    assert_eq!((table["synthetic"].clone(), rows.len()), (json!(true), 8));
    let row = |name: &str| rows.iter().find(|r| r["name"] == name).unwrap();
    assert_eq!(row("cycles1")["cycles"], 1);
    assert_eq!(row("zero")["control"], 0.0);
    assert_ne!(row("cycles1")["mean"], row("case")["mean"]);
    assert!(folder.text("a/ablations.md").contains("synthetic"));
    assert!(folder.text("a/ablations.csv").starts_with("# synthetic"));
    // Trained side by side, and the same bits as alone.
    for log in ["elastic.csv", "plastic.csv"] {
        let [together, alone] = ["a/case-seed1", "run"].map(|run| format!("{run}/{log}"));
        assert!(folder.text(&together) == folder.text(&alone), "{log}");
    }
    // A folder of something else fails alone, though others would have begun as it does.
    fs::create_dir_all(folder.path("b/case-seed1")).unwrap();
    folder.write("b/case-seed1/notes.txt", "not a run");
    copy(&folder.path("a/references"), &folder.path("b/references"));
    let output = folder.run("learn ablate tiny.json --out b --only case,zero");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(
        said.contains("1 of 2 ablations failed:\ncase seed 1: b/case-seed1"),
        "{said}"
    );
    assert!(String::from_utf8_lossy(&output.stdout).contains("\n    zero "));
    // What fails is named, and the others are kept.
    damage(&folder, "a/case-seed1/networks/cycle-1.zip");
    let output = folder.run("learn ablate tiny.json --out a --only case,cycles1");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(
        said.contains("1 of 2 ablations failed:\ncycles1 seed 1: ") && said.contains("cycle-1.zip"),
        "{said}"
    );
    assert!(String::from_utf8_lossy(&output.stdout).contains("\n    case "));
    drawn(&folder, "a", &["ablations.svg"]);
    drawn(&folder, "a/evaluations/cycles1-seed2", &["frames.png"]);
}

// The error of a network without rest bending is the reference itself, which is kept and used from then on.
#[test]
fn a_long_roll_out_is_compared_with_a_reference_of_its_own() {
    let (folder, _) = prepared();
    folder.write("zero.json", case(json!({"rest_bending": "none"})));
    copy(
        &folder.path("run/references"),
        &folder.path("zero/references"),
    );
    folder.succeed("learn train zero.json --out zero --fresh");
    let rows = |options: &str| {
        folder.succeed(&format!("learn evaluate zero --frames 150 {options}"));
        let rows = outcome(&folder, "zero").2["long"].clone();
        rows.as_array().unwrap().clone()
    };
    assert!(rows("").iter().all(|row| row["error"].is_null()));
    for options in ["--long-reference", ""] {
        let rows = rows(options);
        assert_eq!(rows.len(), 3);
        for row in &rows {
            assert_eq!(row["error"], row["reference"]);
        }
        assert!(rows[2]["error"].as_f64().unwrap() > 1e-4, "{rows:?}");
        let text = folder.text("zero/evaluation/table.md");
        assert!(
            text.contains("Against a reference of as many frames"),
            "{text}"
        );
    }
}

// Bad input is refused with file, key or option, value and remedy, and nothing is made or lost.
#[test]
fn bad_input_is_refused() {
    let (folder, _) = prepared();
    folder.write("typo.json", r#"{"trainig": {}}"#);
    folder.write("inner.json", r#"{"training": {"fits": 0}}"#);
    for (arguments, fragments) in [
        (
            "train nothere.json --out new",
            &["nothere.json", "exists"][..],
        ),
        (
            "train typo.json --out new",
            &["typo.json", "'trainig'", "did you mean 'training'"],
        ),
        (
            "train inner.json --out new",
            &["inner.json", "training.fits is 0", "give 1 to"],
        ),
        (
            "train tiny.json --out new --precision f64",
            &["--precision f64", "leave it out"],
        ),
        (
            "ablate tiny.json --only grap1 --out new",
            &["'grap1'", "did you mean 'graph1'"],
        ),
        (
            "evaluate nothere",
            &["nothere", "not a folder of `rumple learn train`"],
        ),
        ("predict .", &["not a folder of `rumple learn train`"]),
    ] {
        let output = folder.run(&format!("learn {arguments}"));
        judge(&output, fragments).unwrap_or_else(|e| panic!("{arguments}: {e}"));
        assert!(!folder.path("new").exists(), "{arguments} made a folder");
    }
    let before = outcome(&folder, "run");
    folder.write("other.json", case(json!({"motions": 3})));
    motion(&folder, "smpl.npz", 24);
    for (arguments, fragments) in [
        (
            "train other.json --out run",
            &["run", "motions: 2 against 3", "--fresh"][..],
        ),
        ("train tiny.json --seed 2 --out run", &["seed: 1 against 2"]),
        ("evaluate run --cycle 7", &["cycle 7", "1 to 2"]),
        ("evaluate run --frames 9", &["--frames is 9", "one bend"]),
        (
            "evaluate run --baseline run",
            &["--baseline run", "\"none\""],
        ),
        ("predict run --peak-deg -3", &["--peak-deg -3", "150"]),
        ("predict run --motion tiny.json", &["tiny.json", ".npz"]),
        (
            "predict run --motion smpl.npz",
            &["smpl.npz", "24 joints", "the arm has 2", "6 columns"],
        ),
    ] {
        let output = folder.run(&format!("learn {arguments}"));
        judge(&output, fragments).unwrap_or_else(|e| panic!("{arguments}: {e}"));
    }
    assert!(outcome(&folder, "run") == before);
    // A damaged file is named with what to do.
    damage(&folder, "run/networks/cycle-2.zip");
    let output = folder.run("learn predict run");
    judge(&output, &["cycle-2.zip", "checksum", "--fresh"]).unwrap();
    damage(&folder, "run/networks/cycle-2.zip");
    let kept = fs::read_dir(folder.path("run/references"))
        .unwrap()
        .next()
        .unwrap()
        .unwrap();
    damage(
        &folder,
        &format!("run/references/{}", kept.file_name().to_str().unwrap()),
    );
    let output = folder.run("learn evaluate run");
    judge(&output, &["references", "checksum", "remove the file"]).unwrap();
}
