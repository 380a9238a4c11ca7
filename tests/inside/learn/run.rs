//! A training run in a folder: stopped anywhere, it ends with the same bits.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use crate::inside::common::folder::Folder;
use rumple::{
    learn::{
        BodyMotion, LearnCase, RestBending, Training,
        curriculum::{Curriculum, Students, adam},
        lesson::Lesson,
        network::ElasticNet,
        run::{self, Network, NextStep, TrainingRun},
    },
    numeric::{Compute, Field, Precision},
};

fn compute() -> Compute {
    Compute::cpu(Precision::F32)
}

/// The small sleeve of curriculum.rs, two short cycles.
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

fn open(folder: &Path, case: &LearnCase) -> TrainingRun {
    TrainingRun::open(folder, case, &compute(), false).unwrap()
}

/// Why a folder is not opened.
fn refused(folder: &Path, case: &LearnCase, fresh: bool) -> String {
    match TrainingRun::open(folder, case, &compute(), fresh) {
        Ok(_) => panic!("accepted"),
        Err(error) => error.to_string(),
    }
}

/// All files below a folder with their bytes.
fn contents(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(contents(&path));
        } else {
            let bytes = fs::read(&path).unwrap();
            files.insert(path, bytes);
        }
    }
    files
}

fn values(field: &Field) -> Vec<f64> {
    compute().values(field.clone()).unwrap()
}

/// The garment in all frames of a lesson, as E-Net predicts it.
fn seen(course: &Curriculum, elastic: &ElasticNet, lesson: &Lesson) -> Vec<Vec<f64>> {
    let predicted = course.see(elastic, lesson);
    predicted.positions.iter().map(values).collect()
}

/// The rest bending that both networks roll out along a lesson.
fn rolled_out(course: &Curriculum, students: &Students, lesson: &Lesson) -> Vec<f64> {
    values(&course.predict(students, lesson).unwrap().rest_bending)
}

/// What a run leaves: the networks as what they predict, the logs without times.
fn outcome(folder: &Path) -> (Vec<Vec<f64>>, Vec<Vec<f64>>, [String; 3]) {
    let (course, students, _) = run::load(folder, None, &compute()).unwrap();
    let motion = BodyMotion::canonical(&course.scene.body);
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
    kill_anywhere(&case());
}

// Along the plain gradient the optimiser has moments of the pose-space shapes too.
#[test]
fn a_run_along_the_plain_gradient_that_is_killed_ends_with_the_same_bits() {
    let mut gradient = case();
    gradient.training.minimiser_steps = 0;
    kill_anywhere(&gradient);
}

fn kill_anywhere(case: &LearnCase) {
    let folder = Folder::new();
    let whole = folder.path("whole");
    let mut run = open(&whole, case);
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
    assert_eq!(
        run::rows::read::<run::Cycle>(&whole.join(run::CYCLES))
            .unwrap()
            .len(),
        2
    );

    let killed = folder.path("killed");
    // Steps before each kill, and whether a checkpoint is written before the last two of them.
    for (steps, saved) in [
        (3, false),
        (5, true),
        (9, true),
        (4, false),
        (6, true),
        (3, true),
        // Into the second cycle, whose rest bending moves while E-Net learns.
        (32, true),
        (7, true),
    ] {
        let mut run = open(&killed, case);
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
    let mut run = open(&killed, case);
    assert!(!run.finished() && run.done() != [0, 0], "{:?}", run.done());
    let moved = |lesson: &Lesson| values(&lesson.rest_bending) != values(&lesson.rolled_out);
    assert!(run.students.lessons.iter().any(moved));
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
    let finish = |mut run: TrainingRun| {
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
    let mut once = case();
    once.training.renew = false;
    let mut run = open(&folder.path("once"), &once);
    assert!(run.begin_as(&folder.path("other")).unwrap());
    for change in [
        |c: &mut LearnCase| c.training.fits = 3,
        |c: &mut LearnCase| c.loss.regression.weight = 1.0,
    ] {
        let mut different = case();
        change(&mut different);
        let mut run =
            TrainingRun::open(&folder.path("different"), &different, &compute(), true).unwrap();
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
    let mut other = case();
    other.training.fits = 3;
    let said = refused(&path, &other, false);
    assert!(
        said.contains("training.fits: 2 against 3") && said.contains("--fresh"),
        "{said}"
    );
    let file = path.join("checkpoint.zip");
    let mut bytes = std::fs::read(&file).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&file, &bytes).unwrap();
    let said = refused(&path, &case(), false);
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
    assert!(TrainingRun::open(&path, &case(), &compute(), true).is_ok());
    assert!(made.iter().all(|name| !path.join(name).exists()));
    assert!(
        kept.iter()
            .all(|name| path.join(name).join("file").is_file())
    );
    std::fs::write(folder.path("other"), "x").unwrap();
    let said = refused(&folder.0, &case(), false);
    assert!(said.contains("no run of `rumple learn train`"), "{said}");
}

// Thrown away is only what nobody writes: while a run is open, --fresh is refused and every file stays as it is.
#[test]
fn a_run_that_is_written_to_is_not_thrown_away() {
    let folder = Folder::new();
    let path = folder.path("run");
    let mut run = open(&path, &case());
    while run.place().cycle == 0 {
        run.advance().unwrap();
    }
    let before = contents(&path);
    for name in ["checkpoint.zip", "networks/cycle-1.zip", run::ELASTIC] {
        assert!(before[&path.join(name)].len() > 100, "{name}");
    }
    for fresh in [true, false] {
        let said = refused(&path, &case(), fresh);
        assert!(said.contains("another run is writing"), "{said}");
        assert!(contents(&path) == before, "fresh: {fresh}");
    }
    drop(run);
    let run = TrainingRun::open(&path, &case(), &compute(), true).unwrap();
    assert_eq!(run.done(), [0, 0]);
    assert!(!path.join("networks/cycle-1.zip").exists());
}

// Without its checkpoint a run cannot go on, but what it has learned is not thrown away without --fresh, and then
// nothing of others is.
#[test]
fn networks_without_a_checkpoint_are_kept() {
    let folder = Folder::new();
    let path = folder.path("run");
    let checkpoint = path.join("checkpoint.zip");
    drop(open(&path, &case()));
    // Stopped before it had a checkpoint: there is nothing to lose.
    fs::remove_file(&checkpoint).unwrap();
    drop(open(&path, &case()));
    fs::remove_file(&checkpoint).unwrap();
    let networks = path.join("networks");
    let of_run = ["cycle-1.zip", "cycle-12.zip.7.part", "first-turn.zip"];
    let of_others = ["cycle-best.zip", "mine.zip"];
    for name in of_run.iter().chain(&of_others) {
        fs::write(networks.join(name), "x").unwrap();
    }
    let before = contents(&path);
    let said = refused(&path, &case(), false);
    for fragment in [
        "networks: holds cycle-1.zip",
        "and 2 more",
        "no checkpoint.zip",
        "--out",
        "--fresh",
    ] {
        assert!(said.contains(fragment), "no '{fragment}': {said}");
    }
    let mut other = case();
    other.training.fits = 3;
    let said = refused(&path, &other, false);
    assert!(said.contains("training.fits: 2 against 3"), "{said}");
    assert!(contents(&path) == before);
    assert!(TrainingRun::open(&path, &case(), &compute(), true).is_ok());
    let left: Vec<PathBuf> = contents(&networks).into_keys().collect();
    assert_eq!(left, of_others.map(|name| networks.join(name)));
}

// A round that spoils E-Net is refused at once, in E-Net's name: its loss is that of before the round. The last frame is
// not asked for in the first round, so that nothing but what is left can tell.
#[test]
fn a_round_that_spoils_the_elastic_network_is_refused() {
    let folder = Folder::new();
    let path = folder.path("run");
    let mut run = open(&path, &case());
    let lesson = &mut run.students.lessons[0];
    let [frames, hinges] = lesson.rest_bending.dims();
    let mut bent = values(&lesson.rest_bending);
    bent[(frames - 1) * hinges..].fill(f64::NAN);
    lesson.rest_bending = compute().tensor(&bent, [frames, hinges]);
    let before = contents(&path);
    let said = run.advance().unwrap_err().to_string();
    for fragment in [
        "E-Net diverged in cycle 1 at step 0",
        "after the round is NaN",
        "training.elastic_rate",
    ] {
        assert!(said.contains(fragment), "no '{fragment}': {said}");
    }
    assert!(contents(&path) == before);
}

// No round follows the last to tell that E-Net is spoiled: what it predicts does, in its own name and before others can
// begin with it.
#[test]
fn a_spoiled_elastic_network_does_not_end_its_turn() {
    let folder = Folder::new();
    let [other, path] = ["other", "run"].map(|name| folder.path(name));
    let mut run = open(&other, &case());
    while !run.has_first_turn() {
        run.advance().unwrap();
    }
    drop(run);
    assert!(other.join("networks/first-turn.zip").is_file());
    let mut run = open(&path, &case());
    // A pose that is no number spoils what E-Net says, as parameters would that are none.
    let pose = &mut run.students.lessons[0].pose;
    pose.still = pose.still.clone() * f64::NAN;
    let said = run.begin_as(&other).unwrap_err().to_string();
    for fragment in [
        "E-Net diverged in cycle 1 at step 7",
        "last frame is NaN",
        "training.elastic_rate",
    ] {
        assert!(said.contains(fragment), "no '{fragment}': {said}");
    }
    assert!(!path.join("networks/first-turn.zip").exists());
}

// No step follows the last of a cycle to tell that it went wrong: the roll-out does, in P-Net's name, and neither networks
// nor checkpoint nor cycle are saved. What was saved before is good to go on with.
#[test]
fn a_cycle_that_does_not_roll_out_is_refused() {
    let folder = Folder::new();
    let path = folder.path("run");
    let mut run = open(&path, &case());
    let last = run.course.plastic_steps(0) - 1;
    while run.done()[1] < last {
        run.advance().unwrap();
    }
    let checkpoint = fs::read(path.join("checkpoint.zip")).unwrap();
    // P-Net learns from what was seen before; a pose that is no number spoils nothing but the roll-out.
    let pose = &mut run.students.lessons[0].pose;
    pose.still = pose.still.clone() * f64::NAN;
    let said = run.advance().unwrap_err().to_string();
    drop(run);
    for fragment in [
        "P-Net diverged in cycle 1 at step 35",
        "roll-out of both networks is NaN",
        "training.plastic_rate",
    ] {
        assert!(said.contains(fragment), "no '{fragment}': {said}");
    }
    assert!(!path.join("networks/cycle-1.zip").exists());
    assert!(
        run::rows::read::<run::Cycle>(&path.join(run::CYCLES))
            .unwrap()
            .is_empty()
    );
    assert!(fs::read(path.join("checkpoint.zip")).unwrap() == checkpoint);
    let mut run = open(&path, &case());
    while run.place().cycle == 0 {
        run.advance().unwrap();
    }
    assert!(
        run::rows::read::<run::Cycle>(&path.join(run::CYCLES)).unwrap()[0]
            .target
            .is_finite()
    );
}

// A cycle begins with the networks that the one before ended with, and these are saved: E-Net is as it was before the last
// step of P-Net, and P-Net is the one that rolled out the next rest bending.
#[test]
fn networks_go_on_from_cycle_to_cycle() {
    let folder = Folder::new();
    let path = folder.path("run");
    let mut run = open(&path, &case());
    let untaught = run.students.clone();
    let last = run.course.plastic_steps(0) - 1;
    while run.done()[1] < last {
        run.advance().unwrap();
    }
    let lesson = run.students.lessons[0].clone();
    let before = seen(&run.course, &run.students.elastic, &lesson);
    run.advance().unwrap();
    let start = NextStep {
        cycle: 1,
        network: Network::Elastic,
        step: 0,
    };
    assert_eq!(run.place(), start);
    let next = values(&run.students.lessons[0].rest_bending);
    assert!(before != seen(&run.course, &untaught.elastic, &lesson));
    assert!(next != rolled_out(&run.course, &untaught, &lesson));
    let (_, saved, cycle) = run::load(&path, None, &compute()).unwrap();
    assert_eq!(cycle, 1);
    for students in [&run.students, &saved] {
        assert!(seen(&run.course, &students.elastic, &lesson) == before);
        assert!(rolled_out(&run.course, students, &lesson) == next);
    }
}

// The moments of a cycle say nothing about the next: its first step is that of an Adam without any. Without rest bending,
// where one E-Net's turn follows the other, nothing but the end of the cycle makes it so.
#[test]
fn adam_starts_anew_in_every_cycle() {
    let folder = Folder::new();
    let case = LearnCase {
        rest_bending: RestBending::None,
        ..case()
    };
    let mut run = open(&folder.path("run"), &case);
    let mut kept = adam();
    let mut by_hand = run.students.clone();
    while run.place().cycle == 0 {
        let at = (0, run.place().step);
        run.course
            .teach_elastic(&mut by_hand, &mut kept, at)
            .unwrap();
        run.advance().unwrap();
    }
    let lesson = run.students.lessons[0].clone();
    let [mut anew, mut with_moments] = [run.students.clone(), by_hand];
    run.course
        .teach_elastic(&mut anew, &mut adam(), (1, 0))
        .unwrap();
    run.course
        .teach_elastic(&mut with_moments, &mut kept, (1, 0))
        .unwrap();
    run.advance().unwrap();
    let shape = |students: &Students| seen(&run.course, &students.elastic, &lesson);
    assert!(shape(&run.students) == shape(&anew));
    assert!(shape(&run.students) != shape(&with_moments));
}
