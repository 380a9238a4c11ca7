//! The program run as a real process in a folder of its own, and a small fit to run there.
// Each test binary of the program uses a part of this.
#![allow(dead_code)]

#[path = "folder.rs"]
mod folder;

use std::{
    fs,
    path::Path,
    process::{Child, Command, Output, Stdio},
    sync::OnceLock,
    time::{Duration, Instant},
};

pub use folder::Folder;
use serde_json::{Value, json};

pub const PROGRAM: &str = env!("CARGO_BIN_EXE_rumple");

/// The truth behind [`DATA`].
pub const MATERIAL: &str = r#"{"name": "test", "strain": "curvature", "law": "time_dependent",
  "bending_stiffness_Nm": 1e-5,
  "friction": {"stiffness_Nm": 2e-5, "threshold_initial_per_m": 26,
               "threshold_saturated_per_m": 900, "dwell_time_s": 30},
  "plasticity": {"yield_per_m": 900, "hardening_Nm": 1e-5,
                 "hardening_drop": 0.99, "flow_time_s": 30}}"#;
/// Ten points of two gaps and five pressing times, made with [`MATERIAL`] in `truth.json` by
/// `rumple synthesize --material truth.json --gap-mm 1,2 --press-s 1,10,100,1e3,1e4 --out data.csv`.
const DATA: &str = include_str!("../data/small/data.csv");
const CASE: &str = include_str!("../data/small/case.json");
pub const HEADER: &str = "fabric,gap_mm,press_time_s,recovery_time_s,angle_deg,sd_deg,n";
/// Files that a fit is made from again; the rest is drawn.
const KEPT: [&str; 3] = ["case.json", "journal.jsonl", "data"];

impl Folder {
    /// With data and `case.json`, small enough for a fit in about a second.
    pub fn with_case() -> Folder {
        let folder = Folder::new();
        folder.write("data.csv", DATA);
        folder.write("case.json", case(json!({})).to_string());
        folder
    }

    /// With the finished fit of [`Folder::with_case`] in `fit`, computed once for all tests.
    pub fn with_fit() -> Folder {
        static FIT: OnceLock<Folder> = OnceLock::new();
        let fit = FIT.get_or_init(|| {
            let folder = Folder::with_case();
            folder.succeed("fit case.json --out fit");
            folder
        });
        let folder = Folder::with_case();
        copy(&fit.path("fit"), &folder.path("fit"));
        folder
    }

    pub fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap()
    }

    pub fn text(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    /// The program with arguments separated by blanks.
    pub fn command(&self, arguments: &str) -> Command {
        let mut command = Command::new(PROGRAM);
        command.args(arguments.split_whitespace());
        command.current_dir(&self.0);
        command
    }

    pub fn run(&self, arguments: &str) -> Output {
        self.command(arguments).output().unwrap()
    }

    pub fn start(&self, arguments: &str) -> Child {
        let mut command = self.command(arguments);
        command.stdout(Stdio::null()).stderr(Stdio::piped());
        command.spawn().unwrap()
    }

    /// Standard output of a run that must succeed.
    pub fn succeed(&self, arguments: &str) -> String {
        let output = self.run(arguments);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{arguments}: {said}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// Standard output of a run that must succeed, which must be JSON and nothing else.
    pub fn json(&self, arguments: &str) -> Value {
        serde_json::from_str(&self.succeed(arguments)).unwrap()
    }

    /// `fit/result.json` without the part that differs between equal runs.
    pub fn result(&self) -> Value {
        let mut result: Value = serde_json::from_str(&self.text("fit/result.json")).unwrap();
        result.as_object_mut().unwrap().remove("run").unwrap();
        assert!(result["statistics"]["chi2"].as_f64().unwrap() > 0.1);
        assert!(result["points"].as_array().unwrap().len() >= 10);
        result
    }

    /// The journal of `fit`, line by line with the line ends.
    pub fn journal(&self) -> Vec<String> {
        let text = self.text("fit/journal.jsonl");
        text.split_inclusive('\n').map(String::from).collect()
    }

    /// Leaves of `fit` what a kill leaves that was too early for any report.
    pub fn forget_reports(&self) {
        for entry in fs::read_dir(self.path("fit")).unwrap() {
            let entry = entry.unwrap();
            if KEPT.contains(&entry.file_name().to_str().unwrap()) {
                continue;
            }
            if entry.path().is_dir() {
                fs::remove_dir_all(entry.path()).unwrap();
            } else {
                fs::remove_file(entry.path()).unwrap();
            }
        }
    }
}

/// The small case with some keys changed or added.
pub fn case(changes: Value) -> Value {
    let mut case: Value = serde_json::from_str(CASE).unwrap();
    for (key, value) in changes.as_object().unwrap() {
        case[key] = value.clone();
    }
    case
}

pub fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// Refuses any answer to bad input but an error with all `fragments`, and says why.
pub fn judge(output: &Output, fragments: &[&str]) -> Result<(), String> {
    let said = String::from_utf8_lossy(&output.stderr);
    let missing = fragments.iter().find(|f| !said.contains(**f));
    let wrong = match (output.status.code(), missing) {
        (Some(1 | 2), _) if !said.contains("error:") => "no error".into(),
        (Some(1 | 2), _) if !output.stdout.is_empty() => "a result".into(),
        (Some(1 | 2), Some(missing)) => format!("no '{missing}'"),
        (Some(1 | 2), None) => return Ok(()),
        (code, _) => format!("exit code {code:?}"),
    };
    Err(format!("{wrong}; it said: {said}"))
}

/// Runs what must be refused with all `fragments`; `rumple ARGUMENTS` leaves no folder `fit` behind.
pub fn refused(folder: &Folder, arguments: &str, fragments: &[&str]) -> Option<String> {
    let wrong = judge(&folder.run(arguments), fragments).err();
    let made = folder.path("fit").exists();
    let made = made.then(|| format!("{arguments}: a folder was made for {fragments:?}"));
    wrong.map(|why| format!("{arguments}: {why}")).or(made)
}

/// Waits until a condition holds, for at most a minute.
pub fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let clock = Instant::now();
    while !holds() {
        assert!(
            clock.elapsed() < Duration::from_secs(60),
            "waited for {what}"
        );
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Sends a signal by name, as `kill -INT`.
#[cfg(unix)]
pub fn signal(child: &Child, name: &str) {
    let id = child.id().to_string();
    let status = Command::new("kill").args(["-s", name, &id]).status();
    assert!(status.unwrap().success());
}
