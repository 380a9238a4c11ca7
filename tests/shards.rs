//! Shards of fits, bootstraps and studies of error bars: killed, resumed and merged they end with the bits of one machine.

#[path = "common/program.rs"]
mod program;

use std::{fs, path::Path};

use program::{Folder, case, judge, wait_until};
use serde_json::{Value, json};

/// Three groups of starts, the last one short.
const STARTS: usize = 34;

/// A folder with a case of several groups of starts.
fn with_groups() -> Folder {
    let folder = Folder::with_case();
    let groups = case(json!({"starts": STARTS, "tests": {"hinges": 64}}));
    folder.write("case.json", groups.to_string());
    folder
}

/// `result.json` of a folder without the part that differs between equal runs.
fn result(folder: &Folder, name: &str) -> Value {
    let text = folder.text(&format!("{name}/result.json"));
    let mut result: Value = serde_json::from_str(&text).unwrap();
    result.as_object_mut().unwrap().remove("run").unwrap();
    assert!(result["statistics"]["chi2"].as_f64().unwrap() > 0.1);
    result
}

/// Starts a command, kills it when the journal of `name` has an entry with `key`, and says whether it was still
/// at work.
fn killed(folder: &Folder, arguments: &str, name: &str, key: &str) -> bool {
    let mut child = folder.start(arguments);
    let path = folder.path(name).join("journal.jsonl");
    wait_until(key, || {
        fs::read_to_string(&path).is_ok_and(|t| t.contains(key))
    });
    child.kill().unwrap();
    !child.wait().unwrap().success()
}

// A fit of three groups of starts: in one go, in two shards of which one is killed, and in three.
#[test]
fn shards_of_a_fit_merge_to_the_bits_of_one_machine() {
    let folder = with_groups();
    folder.succeed("fit case.json --out whole");
    let whole = result(&folder, "whole");
    assert_eq!(whole["starts"].as_array().unwrap().len(), STARTS);
    let first = "fit case.json --shard 1/2 --out a";
    assert!(killed(&folder, first, "a", "\"search\""), "killed in time");
    folder.succeed(first);
    folder.succeed("fit case.json --shard 2/2 --out b");
    folder.succeed("merge b a --out two");
    assert!(result(&folder, "two") == whole);
    for i in 1..=3 {
        folder.succeed(&format!("fit case.json --shard {i}/3 --out c{i}"));
    }
    // A merge that is killed goes on too.
    assert!(killed(
        &folder,
        "merge c1 c2 c3 --out three",
        "three",
        "profile/0"
    ));
    folder.succeed("merge c1 c2 c3 --out three");
    assert!(result(&folder, "three") == whole);
    assert!(folder.path("three/report.html").is_file());
}

// A bootstrap: in one go, and in two shards of which one is killed.
#[test]
fn shards_of_a_bootstrap_merge_to_the_bits_of_one_machine() {
    let folder = Folder::with_fit();
    let shard = |i: usize| format!("bootstrap fit --samples 70 --shard {i}/2 --out s{i}");
    assert!(
        killed(&folder, &shard(1), "s1", "\"task/"),
        "killed in time"
    );
    for i in [1, 2] {
        folder.succeed(&shard(i));
    }
    folder.succeed("merge s1 s2 --out merged");
    folder.succeed("bootstrap fit --samples 70");
    assert_eq!(folder.result()["bootstrap"]["samples"], 70);
    assert!(result(&folder, "merged") == folder.result());
    folder.succeed("fit case.json --seed 9 --out other");
    let mixed = folder.run("bootstrap other --shard 1/2 --out s1");
    judge(&mixed, &["s1", "another fit than other"]).unwrap();
}

/// `coverage.json` of a folder without the part that differs between equal runs.
fn coverage(folder: &Folder, name: &str) -> Value {
    let text = folder.text(&format!("{name}/coverage.json"));
    let mut found: Value = serde_json::from_str(&text).unwrap();
    found.as_object_mut().unwrap().remove("run").unwrap();
    found
}

// Error bars of some laws: in one go, with laws added later, and in two shards of which one is killed. Another plan is refused.
#[test]
fn shards_of_a_coverage_merge_to_the_bits_of_one_machine() {
    let folder = Folder::new();
    let bench = |laws: usize| {
        format!("bench coverage --laws {laws} --noise-deg 2,0.5 --starts 1 --bootstrap 9")
    };
    let summary = folder.json(&format!("{} --out whole --json", bench(3)));
    let whole = coverage(&folder, "whole");
    let sets = whole["sets"].as_array().unwrap();
    assert_eq!((sets.len(), &summary["sets"]), (6, &Value::Null));
    assert_eq!(summary["noises"], whole["noises"]);
    for set in sets {
        let estimates = set["estimates"].as_array().unwrap();
        assert_eq!(estimates.len(), 8, "{set}");
        assert!(set["chi2"].as_f64().unwrap() > 1.0);
        assert!(estimates.iter().all(|e| e["truth"].as_f64().unwrap() > 0.0));
        assert!(estimates.iter().all(|e| e["rank"][1].as_u64().unwrap() > 0));
    }
    assert_ne!(
        sets[0]["estimates"][0]["truth"],
        sets[1]["estimates"][0]["truth"]
    );
    let table = folder.text("whole/intervals.csv");
    assert_eq!(table.lines().count(), 1 + 6 * 8);
    for plot in ["coverage.svg", "identified.png", "ranks-0.5-deg.svg"] {
        assert!(
            folder.path(&format!("whole/plots/{plot}")).is_file(),
            "{plot}"
        );
    }
    folder.succeed(&format!("{} --out more", bench(1)));
    let text = folder.succeed(&format!("{} --out more", bench(3)));
    assert!(
        text.contains("[[Coverage]] noise of 0.5°") && text.contains("flow_time"),
        "{text}"
    );
    assert_eq!(coverage(&folder, "more"), whole);
    let shard = |i: usize| format!("{} --shard {i}/2 --out s{i}", bench(3));
    assert!(
        killed(&folder, &shard(1), "s1", "\"task/"),
        "killed in time"
    );
    folder.succeed(&shard(1));
    let missing = folder.run("merge s1 --out out");
    judge(
        &missing,
        &["3 of 6 tasks", "law 1, noise 0.5°", "--shard 2/2"],
    )
    .unwrap();
    folder.succeed(&shard(2));
    folder.succeed("merge s2 s1 --out merged");
    assert_eq!(coverage(&folder, "merged"), whole);
    let other = folder.run(&format!("{} --seed 2 --out whole", bench(3)));
    judge(&other, &["whole", "another plan", "seed: 1 against 2"]).unwrap();
}

// What is missing, foreign or corrupt is named with the remedy, and nothing is made of it.
#[test]
fn what_cannot_be_merged_is_named() {
    let folder = with_groups();
    for i in [1, 2] {
        folder.succeed(&format!("fit case.json --shard {i}/3 --out s{i}"));
    }
    let said = |arguments: &str, fragments: &[&str]| {
        judge(&folder.run(arguments), fragments).unwrap_or_else(|why| panic!("{arguments}: {why}"));
        assert!(!folder.path("out/result.json").exists());
        let _ = fs::remove_dir_all(folder.path("out"));
    };
    let missing = [
        "1 of 3 tasks",
        "starts 33 to 34",
        "fit case.json --shard 3/3",
    ];
    said("merge s1 s2 --out out", &missing);
    said("merge s1 nowhere --out out", &["nowhere", "--shard"]);
    said("merge s1 --out s1", &["one of the shards"]);
    let other = case(json!({"starts": STARTS, "seed": 5, "tests": {"hinges": 64}}));
    folder.write("other.json", other.to_string());
    folder.succeed("fit other.json --shard 3/3 --out foreign");
    let differs = [
        "foreign/journal.jsonl",
        "another case",
        "case.seed: 5 against 4",
    ];
    said("merge s1 s2 foreign --out out", &differs);
    said(
        "fit other.json --shard 1/3 --out s1",
        &["s1", "another case"],
    );
    said(
        "fit case.json --shard 2/3 --out s1",
        &["s1", "shard 1/3, not 2/3"],
    );
    said("fit case.json --shard 4/3 --out x", &["i from 1 to n"]);
    said("fit case.json --shard 1/3", &["--out"]);
    folder.succeed("fit case.json --shard 3/3 --out s3");
    corrupt(&folder.path("s2/journal.jsonl"));
    said(
        "merge s1 s2 s3 --out out",
        &["s2/journal.jsonl line 2", "remove that line"],
    );
}

/// Breaks the second line of a journal.
fn corrupt(path: &Path) {
    let text = fs::read_to_string(path).unwrap();
    let second = text.lines().nth(1).unwrap().to_string();
    fs::write(path, text.replacen(&second, "{\"key\": 7", 1)).unwrap();
}
