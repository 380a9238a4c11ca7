//! `rumple simulate` as its users run it: results, resuming, divergence, bad scenes, the shipped examples.

#[path = "common/program.rs"]
mod program;
#[path = "common/shipped.rs"]
mod shipped;

use program::{Folder, judge, signal, wait_until};
use serde_json::{Value, json};
use shipped::{examples, refusal};

/// A valid scene, which the bad ones are made from.
const SCENE: &str = r#"{"name": "test",
  "mesh": {"shape": "rectangle", "width_m": 0.1, "height_m": 0.1, "nx": 4, "ny": 4},
  "fabric": {"material": "cotton"},
  "time_step_s": 0.01, "duration_s": 0.05,
  "clock": [{"from_s": 0.01, "to_s": 0.03, "time_scale": 10}],
  "handles": [
    {"name": "left", "vertices": {"end": "-x"}, "kind": "pin",
     "motions": [{"translate_m": [0, 0, 0.01], "from_s": 0, "to_s": 0.02}]},
    {"name": "right", "vertices": {"end": "x"}}],
  "obstacles": [{"shape": "sphere", "radius_m": 0.02, "center_m": [0, 0, -1]}],
  "readings": ["total_angle", {"kind": "handle_force", "handle": "right", "axis": "z"}],
  "output": {"frames": "obj", "film": true, "pictures_at_s": [0, 0.05], "view": {"width_px": 200, "height_px": 150}}}"#;

/// Name | place and value put there (- removes it) | what the message must say.
const BAD_SCENES: &str = include_str!("bad_scenes.txt");

/// Two triangles that touch in one vertex only.
const BOWTIE: &str = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv -1 0 0\nv 0 -1 0\nf 1 2 3\nf 1 4 5\n";

fn scene() -> Value {
    serde_json::from_str(SCENE).unwrap()
}

/// [`SCENE`] with a place changed or removed.
fn changed(place: &str, value: &str) -> Value {
    let mut scene = scene();
    let (section, key) = place.rsplit_once('/').unwrap();
    let fields = scene.pointer_mut(section).unwrap().as_object_mut().unwrap();
    match value {
        "-" => fields.remove(key),
        _ => fields.insert(key.into(), serde_json::from_str(value).unwrap()),
    };
    scene
}

fn rows(folder: &Folder, table: &str) -> Vec<Vec<f64>> {
    let text = folder.text(table);
    let cells = |line: &str| line.split(',').map(|c| c.parse().unwrap()).collect();
    text.lines().skip(1).map(cells).collect()
}

// Whatever is wrong with a scene, the message names file, field, value and remedy, and no folder is made.
#[test]
fn bad_scenes_are_named_and_never_panic() {
    let folder = Folder::new();
    folder.write("bowtie.obj", BOWTIE);
    let (mut count, mut wrong) = (0, Vec::new());
    for line in BAD_SCENES.trim().lines() {
        let mut cells = line.split(" | ");
        let (name, change) = (cells.next().unwrap(), cells.next().unwrap());
        let (place, value) = change.split_once(' ').unwrap();
        folder.write("x.json", changed(place, value).to_string());
        let fragments: Vec<&str> = cells.collect();
        assert!(
            !fragments.is_empty(),
            "{name}: nothing is asked of the message"
        );
        count += 1;
        if let Err(why) = judge(&folder.run("simulate x.json --out run"), &fragments) {
            wrong.push(format!("{name}: {why}"));
        }
        if folder.path("run").exists() {
            wrong.push(format!("{name}: a folder was made"));
        }
    }
    for (text, said) in [
        ("{\"name\": NaN}", "not valid JSON"),
        ("[]", "must be a JSON object"),
    ] {
        folder.write("x.json", text);
        if let Err(why) = judge(&folder.run("simulate x.json --out run"), &[said, "x.json"]) {
            wrong.push(why);
        }
    }
    assert!(count >= 60, "only {count} cases");
    assert!(wrong.is_empty(), "{count} cases, wrong: {wrong:#?}");
}

// A run leaves film, frames, pictures, tables and plots, and the resolved scene gives the same run again.
#[test]
fn a_run_leaves_what_it_says() {
    let folder = Folder::new();
    folder.write("scene.json", SCENE);
    let summary = folder.json("simulate scene.json --out run --json");
    assert_eq!(
        (summary["steps_done"].as_u64(), summary["vertices"].as_u64()),
        (Some(5), Some(25))
    );
    for (file, magic) in [
        ("film.glb", &b"glTF"[..]),
        ("pictures/t_000.0000s.png", b"\x89PNG"),
        ("pictures/t_000.0500s.png", b"\x89PNG"),
        ("frames/frame_00005.obj", b"# "),
        ("plots/energies.svg", b"<svg"),
    ] {
        assert!(
            folder.read(&format!("run/{file}")).starts_with(magic),
            "{file}"
        );
    }
    let readings = folder.text("run/readings.csv");
    assert!(
        readings
            .lines()
            .next()
            .unwrap()
            .ends_with(",total_angle_rad,handle_force_N")
    );
    let table = rows(&folder, "run/readings.csv");
    assert_eq!(table.len(), 1 + 5);
    assert!(
        (table[5][2] - 0.23).abs() < 1e-12,
        "the material's age: {}",
        table[5][2]
    );
    assert!(
        table[5][8] > 0.0 && table[5][9].abs() > 0.0,
        "{:?}",
        table[5]
    );
    assert_eq!(rows(&folder, "run/solver.csv").len(), 5);
    folder.succeed("simulate run/scene.json --out again");
    for table in ["readings.csv", "energies.csv"] {
        assert_eq!(
            folder.text(&format!("again/{table}")),
            folder.text(&format!("run/{table}"))
        );
    }
}

// A finished run is drawn again, not computed; another scene is refused unless --fresh is given.
#[test]
fn a_folder_belongs_to_one_scene() {
    let folder = Folder::new();
    folder.write("scene.json", SCENE);
    folder.succeed("simulate scene.json --out run");
    let again = folder.run("simulate scene.json --out run");
    assert!(String::from_utf8_lossy(&again.stderr).contains("all 5 steps are done already"));
    folder.write(
        "other.json",
        changed("/duration_s", "0.03")
            .to_string()
            .replace("0.05]", "0.03]"),
    );
    judge(
        &folder.run("simulate other.json --out run"),
        &["another scene", "--fresh"],
    )
    .unwrap();
    folder.succeed("simulate other.json --out run --fresh");
    assert_eq!(rows(&folder, "run/readings.csv").len(), 1 + 3);
    assert!(!folder.path("run/frames/frame_00005.obj").exists());
}

// After Ctrl-C and after a kill the same command goes on, and every number is that of a run without a stop.
#[cfg(unix)]
#[test]
fn a_stopped_run_goes_on_with_the_same_bits() {
    let folder = Folder::new();
    let mut long = changed("/duration_s", "6");
    long["mesh"]["nx"] = json!(12);
    long["mesh"]["ny"] = json!(12);
    long["output"]["frames_every_s"] = json!(0.5);
    folder.write("scene.json", long.to_string());
    folder.succeed("simulate scene.json --out whole");
    for (name, code) in [("INT", Some(130)), ("KILL", None)] {
        let mut child = folder.start("simulate scene.json --out run");
        wait_until("some rows", || {
            let text = std::fs::read_to_string(folder.path("run/readings.csv"));
            text.is_ok_and(|t| t.lines().count() > 50)
        });
        signal(&child, name);
        assert_eq!(child.wait().unwrap().code(), code, "{name}");
        folder.succeed("simulate scene.json --out run");
        for file in [
            "readings.csv",
            "energies.csv",
            "frames/frame_00012.obj",
            "film.glb",
        ] {
            let (ours, whole) = (
                folder.read(&format!("run/{file}")),
                folder.read(&format!("whole/{file}")),
            );
            assert!(ours == whole, "{name}: {file} differs");
        }
        std::fs::remove_dir_all(folder.path("run")).unwrap();
    }
}

// A run that leaves all bounds stops there, names step and elements, and keeps what it has.
#[test]
fn a_diverging_run_names_the_step_and_keeps_its_frames() {
    let folder = Folder::new();
    let mut falling = scene();
    for (key, value) in [
        ("handles", json!([])),
        ("readings", json!([])),
        ("clock", json!([])),
        ("gravity_m_per_s2", json!([0, 0, -1e4])),
        ("time_step_s", json!(1)),
        ("duration_s", json!(50)),
        ("output", json!({"frames_every_s": 1, "pictures_at_s": []})),
    ] {
        falling[key] = value;
    }
    folder.write("scene.json", falling.to_string());
    let output = folder.run("simulate scene.json --out run");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    // Step n falls to 1e4·n·(n + 1)/2 m, which passes 1e6 m in the fourteenth.
    for word in [
        "diverged in step 13",
        "triangle",
        "hinge",
        "vertex",
        "smaller time_step_s",
    ] {
        assert!(said.contains(word), "no '{word}': {said}");
    }
    assert!(folder.path("run/frames/frame_00013.obj").exists());
    assert_eq!(rows(&folder, "run/energies.csv").len(), 1 + 13);
    assert!(folder.read("run/film.glb").starts_with(b"glTF"));
}

// The published schema admits every shipped scene and refuses bad ones.
#[test]
fn the_schema_admits_what_the_program_reads() {
    let folder = Folder::new();
    let schema = folder.json("schema scene");
    for path in examples() {
        let text = std::fs::read_to_string(&path).unwrap();
        let value = serde_json::from_str(&text).unwrap();
        assert_eq!(refusal(&schema, &value, ""), None, "{}", path.display());
    }
    assert_eq!(refusal(&schema, &scene(), ""), None);
    for (place, value) in [
        ("/mesh/nx", "0.5"),
        ("/name", "-"),
        ("/handle", "[]"),
        ("/obstacles/0/shape", "\"ball\""),
    ] {
        assert!(
            refusal(&schema, &changed(place, value), "").is_some(),
            "{place} {value}"
        );
    }
}
