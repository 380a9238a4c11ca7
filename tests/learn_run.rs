//! A training run in a folder: stopped anywhere, it ends with the same bits.

mod common;

use std::path::Path;

use common::folder::Folder;
use rumple::{
    learn::{
        LearnCase, Motion, RestBending, Training,
        lesson::Lesson,
        run::{self, Run},
    },
    numeric::{Compute, Precision},
};

fn compute() -> Compute {
    Compute::cpu(Precision::F32)
}

/// The small sleeve of learn_curriculum.rs, two short cycles.
fn case() -> LearnCase {
    LearnCase {
        grid: [8, 10],
        motions: 2,
        frames: 40,
        cycles: 2,
        training: Training {
            elastic_steps: 4,
            minimiser_steps: 1,
            fits: 2,
            plastic_steps: 6,
            ..Training::default()
        },
        ..LearnCase::default()
    }
}

fn open(folder: &Path, case: &LearnCase) -> Run {
    Run::open(folder, case, &compute(), false).unwrap()
}

/// What a run leaves: the networks as what they predict, the logs without times.
fn outcome(folder: &Path) -> (Vec<Vec<f64>>, Vec<Vec<f64>>, [String; 3]) {
    let (course, students, _) = run::load(folder, None, &compute()).unwrap();
    let motion = Motion::canonical(&course.scene.body);
    let lesson = Lesson::new(&course.scene, motion, &compute()).unwrap();
    let track = course.predict(&students, &lesson).unwrap();
    let track = track.track(&compute()).unwrap();
    let text = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap();
    let untimed = |line: &str| {
        line.rsplit_once(',')
            .map_or(line, |(row, _)| row)
            .to_string()
    };
    let cycles: Vec<String> = text(run::CYCLES).lines().map(untimed).collect();
    (
        track.positions,
        track.plastic,
        [text(run::ELASTIC), text(run::PLASTIC), cycles.join("\n")],
    )
}

// Killed after any step (dropped without a word), with or without a checkpoint since, in either network, a run goes
// on and ends with the bits of one that was left alone.
#[test]
fn a_run_that_is_killed_anywhere_ends_with_the_same_bits() {
    let folder = Folder::new();
    let whole = folder.path("whole");
    let mut run = open(&whole, &case());
    while !run.finished() {
        assert!(run.advance().unwrap() != 0.0);
    }
    drop(run);
    let expected = outcome(&whole);
    let bent: f64 = expected.1.concat().iter().map(|x| x.abs()).sum();
    assert!(bent > 1e-3, "P-Net says something: {bent}");
    assert_eq!(expected.2[0].lines().count(), 2 + 3 * 4);
    // The first cycle has six times the steps of P-Net.
    assert_eq!(expected.2[1].lines().count(), 2 + 7 * 6);
    assert_eq!(run::cycles(&whole).unwrap().len(), 2);

    let killed = folder.path("killed");
    // Steps before each kill, and whether a checkpoint is written before the last two of them.
    for (steps, saved) in [
        (3, false),
        (5, true),
        (9, true),
        (4, false),
        (6, true),
        (3, true),
    ] {
        let mut run = open(&killed, &case());
        for step in 0..steps {
            if run.finished() {
                break;
            }
            if saved && step + 2 == steps {
                run.save().unwrap();
            }
            run.advance().unwrap();
        }
    }
    let mut run = open(&killed, &case());
    assert!(!run.finished() && run.done() != [0, 0], "{:?}", run.done());
    while !run.finished() {
        run.advance().unwrap();
    }
    drop(run);
    assert!(outcome(&killed) == expected);
}

// More cycles go on from a finished run with the bits of a longer one: cycles do not know of those to come.
#[test]
fn a_finished_run_takes_further_cycles() {
    let folder = Folder::new();
    let finish = |name: &str, cycles: usize| {
        let case = LearnCase { cycles, ..case() };
        let mut run = open(&folder.path(name), &case);
        while !run.finished() {
            run.advance().unwrap();
        }
        drop(run);
        outcome(&folder.path(name))
    };
    let one = finish("longer", 1);
    let two = finish("longer", 2);
    assert!(one != two && two == finish("whole", 2));
}

// What another run has learned before rest bending comes in is taken over with the bits of a run on its own; what begins
// otherwise is not.
#[test]
fn a_run_takes_over_what_begins_in_the_same_way() {
    let folder = Folder::new();
    let finish = |mut run: Run| {
        while !run.finished() {
            run.advance().unwrap();
        }
    };
    finish(open(&folder.path("other"), &case()));
    let mut stiff = case();
    stiff.plasticity.yield_strain = 1.0;
    finish(open(&folder.path("alone"), &stiff));
    let mut run = open(&folder.path("taken"), &stiff);
    assert!(run.begin_as(&folder.path("other")).unwrap());
    assert_eq!(run.done(), [8, 0]);
    finish(run);
    assert!(outcome(&folder.path("taken")) == outcome(&folder.path("alone")));
    let mut none = case();
    none.rest_bending = RestBending::None;
    let mut run = open(&folder.path("none"), &none);
    assert!(run.begin_as(&folder.path("other")).unwrap());
    assert!(
        !run.begin_as(&folder.path("other")).unwrap(),
        "it has begun"
    );
    for change in [
        |c: &mut LearnCase| c.training.fits = 3,
        |c: &mut LearnCase| c.loss.regression.weight = 1.0,
    ] {
        let mut different = case();
        change(&mut different);
        let mut run = Run::open(&folder.path("different"), &different, &compute(), true).unwrap();
        assert!(!run.begin_as(&folder.path("other")).unwrap());
    }
}

// Without rest bending E-Net has as many steps, and nothing is ever bent.
#[test]
fn the_baseline_trains_the_elastic_network_alone() {
    let folder = Folder::new();
    let case = LearnCase {
        rest_bending: RestBending::None,
        ..case()
    };
    let mut run = open(&folder.path("none"), &case);
    assert_eq!(run.steps(), [12, 0]);
    while !run.finished() {
        run.advance().unwrap();
    }
    drop(run);
    let (positions, plastic, [elastic, plastic_log, _]) = outcome(&folder.path("none"));
    assert_eq!(elastic.lines().count(), 2 + 12);
    assert_eq!(plastic_log.lines().count(), 1);
    assert!(plastic.concat().iter().all(|p| *p == 0.0));
    assert!(positions[40].iter().any(|x| *x != 0.0));
}

// A folder is not mixed up: another case, strangers, a damaged checkpoint.
#[test]
fn a_folder_of_something_else_is_refused_by_name() {
    let folder = Folder::new();
    let path = folder.path("run");
    drop(open(&path, &case()));
    let refused = |case: &LearnCase| match Run::open(&path, case, &compute(), false) {
        Ok(_) => panic!("accepted"),
        Err(error) => error.to_string(),
    };
    let mut other = case();
    other.training.fits = 3;
    let said = refused(&other);
    assert!(
        said.contains("training.fits: 2 against 3") && said.contains("--fresh"),
        "{said}"
    );
    let file = path.join("checkpoint.zip");
    let mut bytes = std::fs::read(&file).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&file, &bytes).unwrap();
    let said = refused(&case());
    assert!(
        said.contains("checkpoint.zip") && said.contains("checksum") && said.contains("--fresh"),
        "{said}"
    );
    // What was made from the old networks goes with them; references and strangers stay.
    let made = ["plots", "predictions", "evaluation", "evaluation-cycle-1"];
    let kept = ["references", "evaluation notes"];
    for name in made.iter().chain(&kept) {
        std::fs::create_dir(path.join(name)).unwrap();
        std::fs::write(path.join(name).join("file"), "x").unwrap();
    }
    assert!(Run::open(&path, &case(), &compute(), true).is_ok());
    assert!(made.iter().all(|name| !path.join(name).exists()));
    assert!(
        kept.iter()
            .all(|name| path.join(name).join("file").is_file())
    );
    std::fs::write(folder.path("other"), "x").unwrap();
    let error = Run::open(&folder.0, &case(), &compute(), false)
        .err()
        .unwrap();
    assert!(
        error.to_string().contains("no run of `rumple learn train`"),
        "{error}"
    );
}
