//! `rumple fit` and what follows it, as users run them: bad input, kills, Ctrl-C, full disks.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Child, Command, Output, Stdio},
    sync::{
        OnceLock,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use serde_json::{Value, json};

const PROGRAM: &str = env!("CARGO_BIN_EXE_rumple");

/// The truth behind the data.
const MATERIAL: &str = r#"{"name": "test", "strain": "curvature", "law": "time_dependent",
  "bending_stiffness_Nm": 1e-5,
  "friction": {"stiffness_Nm": 2e-5, "threshold_initial_per_m": 26,
               "threshold_saturated_per_m": 900, "dwell_time_s": 30},
  "plasticity": {"yield_per_m": 900, "hardening_Nm": 1e-5,
                 "hardening_drop": 0.99, "flow_time_s": 30}}"#;
/// Ten points: two gaps, five pressing times.
const SYNTHESIZE: &str =
    "synthesize --material truth.json --gap-mm 1,2 --press-s 1,10,100,1e3,1e4 --out data.csv";
const HEADER: &str = "fabric,gap_mm,press_time_s,recovery_time_s,angle_deg,sd_deg,n";
/// Files that a fit is made from again; the rest is drawn.
const KEPT: [&str; 3] = ["case.json", "journal.jsonl", "data"];

/// A folder of its own for each test, removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Folder {
        static COUNTER: AtomicUsize = AtomicUsize::new(0);
        let number = COUNTER.fetch_add(1, Ordering::Relaxed);
        let name = format!("rumple-fit-{}-{number}", std::process::id());
        let folder = Folder(std::env::temp_dir().join(name));
        fs::create_dir_all(&folder.0).unwrap();
        folder
    }

    /// With data and `case.json`, small enough for a fit in about a second.
    fn with_case() -> Folder {
        static DATA: OnceLock<String> = OnceLock::new();
        let data = DATA.get_or_init(|| {
            let folder = Folder::new();
            folder.write("truth.json", MATERIAL);
            folder.succeed(SYNTHESIZE);
            folder.text("data.csv")
        });
        let folder = Folder::new();
        folder.write("data.csv", data);
        folder.write("case.json", case(json!({})).to_string());
        folder
    }

    /// With the finished fit of [`Folder::with_case`] in `fit`, computed once for all tests.
    fn with_fit() -> Folder {
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

    fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        fs::write(self.path(name), bytes).unwrap();
    }

    fn text(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    /// The program with arguments separated by blanks.
    fn command(&self, arguments: &str) -> Command {
        let mut command = Command::new(PROGRAM);
        command.args(arguments.split_whitespace());
        command.current_dir(&self.0);
        command
    }

    fn run(&self, arguments: &str) -> Output {
        self.command(arguments).output().unwrap()
    }

    fn start(&self, arguments: &str) -> Child {
        let mut command = self.command(arguments);
        command.stdout(Stdio::null()).stderr(Stdio::piped());
        command.spawn().unwrap()
    }

    /// Standard output of a run that must succeed.
    fn succeed(&self, arguments: &str) -> String {
        let output = self.run(arguments);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{arguments}: {said}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// `fit/result.json` without the part that differs between equal runs.
    fn result(&self) -> Value {
        let mut result: Value = serde_json::from_str(&self.text("fit/result.json")).unwrap();
        result.as_object_mut().unwrap().remove("run").unwrap();
        assert!(result["statistics"]["chi2"].as_f64().unwrap() > 0.1);
        assert!(result["points"].as_array().unwrap().len() >= 10);
        result
    }

    /// The journal of `fit`, line by line with the line ends.
    fn journal(&self) -> Vec<String> {
        let text = self.text("fit/journal.jsonl");
        text.split_inclusive('\n').map(String::from).collect()
    }

    /// Leaves of `fit` what a kill leaves that was too early for any report.
    fn forget_reports(&self) {
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

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// The small case with some keys changed or added.
fn case(changes: Value) -> Value {
    let mut case = json!({"name": "small", "data": ["data.csv"], "starts": 2, "seed": 4, "tests": {"hinges": 128}});
    for (key, value) in changes.as_object().unwrap() {
        case[key] = value.clone();
    }
    case
}

fn copy(from: &Path, to: &Path) {
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
fn judge(output: &Output, fragments: &[&str]) -> Result<(), String> {
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
fn refused(folder: &Folder, arguments: &str, fragments: &[&str]) -> Option<String> {
    let wrong = judge(&folder.run(arguments), fragments).err();
    let made = folder.path("fit").exists();
    let made = made.then(|| format!("{arguments}: a folder was made for {fragments:?}"));
    wrong.map(|why| format!("{arguments}: {why}")).or(made)
}

/// Waits until a condition holds, for at most a minute.
fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
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
fn signal(child: &Child, name: &str) {
    let id = child.id().to_string();
    let status = Command::new("kill").args(["-s", name, &id]).status();
    assert!(status.unwrap().success());
}

// Whatever is wrong with a table, the message names line, column and remedy, and no folder is made.
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
    let cases: [(Value, &[&str]); 20] = [
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
    assert!(folder.journal()[1].contains("search/without-branches"));
    resumes_alike(&folder, 3);
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
    let top = [
        "smoothing_bias_deg",
        "gradient_check",
        "starts",
        "files",
        "hold_out",
    ];
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
    assert!(result["smoothing_bias_deg"].as_f64().unwrap() > 0.0);
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
