//! How good networks are on motions that they have not seen: every method against the reference simulation.

mod frames;
mod long;
mod references;

use std::{path::Path, time::Instant};

use serde::{Deserialize, Serialize};

pub use frames::{FrameRow, Moments, frame_rows, mean_size, top};
pub use long::{
    DRIFT, FORGOTTEN, LargestChange, LongRow, check_frames, is_cut_off, long_motion, long_roll_out,
};
pub use references::{Job, Reference, References, Watch, Yields};

use super::{
    LearnCase, Motion, RestBending, Scene, Split, Track,
    curriculum::{Curriculum, Students},
    lesson::Lesson,
    metrics::{Metrics, compare, most_creased},
};
use crate::{
    error::{Result, bad_input},
    files::difference,
    numeric::{Compute, Precision},
};

/// Names of the methods.
pub const CURRICULUM: &str = "curriculum";
/// The reference without rest bending: minimised exactly, so no method without rest bending can be better.
pub const ELASTIC: &str = "elastic simulation";
/// A network that was trained without rest bending.
pub const BASELINE: &str = "network without rest bending";
/// What all are compared with.
pub const REFERENCE: &str = "reference";
/// In the place of a motion's name: the mean over all that move.
pub const MEAN: &str = "mean";

/// Drawn test motions beside the canonical bend.
const DRAWN: u64 = 3;

/// One method on one motion, or on the mean of those that move.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Score {
    /// Which method.
    pub method: String,
    /// Which motion.
    pub motion: String,
    /// Against the reference.
    pub metrics: Metrics,
}

/// What is bent before, during and after a bend \[rad\].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Bent {
    /// Which method.
    pub method: String,
    /// Which motion.
    pub motion: String,
    /// `before`, `during` or `after` the bend.
    pub moment: String,
    /// The frame that is looked at.
    pub frame: usize,
    /// Mean |ε_p|.
    pub rest_bending: f64,
    /// Mean of the tenth of the hinges with the largest |ε|.
    pub top_tenth_strain: f64,
}

/// The unloaded control: what a body that never moves leaves behind.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Control {
    /// Which method.
    pub method: String,
    /// Largest |ε_p| of all frames and hinges \[rad\].
    pub largest_rest_bending: f64,
    /// Mean |ε_p| of the last frame \[rad\].
    pub final_rest_bending: f64,
}

/// Time a frame.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Times {
    /// Of both networks together, on the canonical bend \[s\].
    pub networks: f64,
    /// Of the reference simulation of the same motion \[s\].
    pub reference: f64,
    /// How many times as fast the networks are.
    pub ratio: f64,
    /// Whether both were measured in this run; a reference that was kept has its time from when it was made.
    pub in_one_run: bool,
}

/// Everything that was measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Evaluation {
    /// Always true: body, garment and motions are made by rumple.
    pub synthetic: bool,
    /// What was trained.
    pub case: LearnCase,
    /// Cycles of training.
    pub cycles: usize,
    /// All methods on all motions, and means.
    pub scores: Vec<Score>,
    /// Before, during and after each bend.
    pub bent: Vec<Bent>,
    /// Of a body that never moves.
    pub control: Vec<Control>,
    /// Speed.
    pub times: Times,
    /// A long roll-out after every bend; empty where none was asked for.
    pub long: Vec<LongRow>,
    /// Frames that were asked for there; 0 for none. Rows end earlier where something is no longer finite.
    #[serde(default)]
    pub long_frames: usize,
    /// Frames of references that were not minimised to the end, of how many.
    pub unfinished: [usize; 2],
}

/// A motion with what the reference and every method say, for pictures.
pub struct Trial {
    /// The motion.
    pub motion: Motion,
    /// The yardstick.
    pub reference: Track,
    /// Names and tracks.
    pub methods: Vec<(String, Track)>,
}

/// Networks to be judged.
pub struct Judged<'a> {
    /// What they were trained for.
    pub course: &'a Curriculum,
    /// The networks.
    pub students: &'a Students,
    /// After so many cycles.
    pub cycles: usize,
}

/// The motions of an evaluation, none of which was trained: the canonical bend first, test motions, a still body last.
pub fn motions(case: &LearnCase, scene: &Scene) -> Vec<Motion> {
    let body = &scene.body;
    let drawn = (0..DRAWN).map(|k| Motion::draw(body, Split::Test, case.seed, k, case.frames));
    let mut motions = vec![Motion::canonical(body)];
    motions.extend(drawn);
    motions.push(Motion::still(body, case.frames));
    motions
}

/// Frames that are yet to be simulated before networks of a case can be judged.
pub fn missing_frames(case: &LearnCase, scene: &Scene, references: &References) -> usize {
    references.missing_frames(case, scene, &jobs(&motions(case, scene)))
}

fn jobs(motions: &[Motion]) -> Vec<Job<'_>> {
    let both = |motion| [(motion, Yields::AsInCase), (motion, Yields::Never)];
    motions.iter().flat_map(both).collect()
}

/// Judges networks, beside an elastic simulation and, where there is one, a network without rest bending.
pub fn evaluate(
    judged: &Judged,
    baseline: Option<&Judged>,
    references: &References,
    compute: &Compute,
    watch: Watch,
) -> Result<(Evaluation, Vec<Trial>)> {
    let Judged {
        course, students, ..
    } = judged;
    let (case, scene) = (&course.case, &course.scene);
    let motions = motions(case, scene);
    let simulated = references.of(case, scene, &jobs(&motions), watch)?;
    let unfinished = simulated.iter().map(|r| r.unfinished).sum();
    let all_frames = simulated.iter().map(|r| r.track.frames()).sum();
    let times = times(judged, &motions[0], &simulated[0], compute)?;
    let mut trials = Vec::new();
    for (motion, pair) in motions.into_iter().zip(simulated.chunks_exact(2)) {
        let mut methods = vec![(ELASTIC.to_string(), pair[1].track.clone())];
        if let Some(b) = baseline {
            let track = predict(b.course, b.students, &motion, compute)?;
            methods.push((BASELINE.into(), track));
        }
        let track = predict(course, students, &motion, compute)?;
        methods.push((method(case).into(), track));
        trials.push(Trial {
            reference: pair[0].track.clone(),
            motion,
            methods,
        });
    }
    let evaluation = Evaluation {
        synthetic: true,
        case: case.clone(),
        cycles: judged.cycles,
        scores: scores(case, scene, &trials)?,
        bent: trials.iter().flat_map(bent).collect(),
        control: trials.last().map(control).unwrap_or_default(),
        times,
        long: Vec::new(),
        long_frames: 0,
        unfinished: [unfinished, all_frames],
    };
    Ok((evaluation, trials))
}

/// What the networks of a case are called.
pub fn method(case: &LearnCase) -> &'static str {
    match case.rest_bending {
        RestBending::Learned => CURRICULUM,
        RestBending::None => BASELINE,
    }
}

/// What both networks make of a motion.
pub fn predict(
    course: &Curriculum,
    students: &Students,
    motion: &Motion,
    compute: &Compute,
) -> Result<Track> {
    let lesson = Lesson::new(&course.scene, motion.clone(), compute)?;
    course.predict(students, &lesson)?.track(compute)
}

/// Seconds a frame from turns of the joints to positions and rest bending: poses, skinning and both networks, as a
/// reference has them too. A first roll-out, which is slower, is not counted.
pub fn seconds_a_frame(
    course: &Curriculum,
    students: &Students,
    motion: &Motion,
    compute: &Compute,
) -> Result<f64> {
    let mut seconds = 0.0;
    for _ in 0..2 {
        let clock = Instant::now();
        let lesson = Lesson::new(&course.scene, motion.clone(), compute)?;
        let predicted = course.predict(students, &lesson)?;
        // On a GPU work is only queued until something is read.
        compute.values(predicted.rest_bending)?;
        seconds = clock.elapsed().as_secs_f64();
    }
    Ok(seconds / motion.frames() as f64)
}

fn times(
    judged: &Judged,
    motion: &Motion,
    reference: &Reference,
    compute: &Compute,
) -> Result<Times> {
    let networks = seconds_a_frame(judged.course, judged.students, motion, compute)?;
    let of_reference = reference.seconds / motion.frames() as f64;
    Ok(Times {
        networks,
        reference: of_reference,
        ratio: of_reference / networks,
        in_one_run: reference.made_now,
    })
}

/// All methods on all motions, each followed by its mean over those that move.
fn scores(case: &LearnCase, scene: &Scene, trials: &[Trial]) -> Result<Vec<Score>> {
    let exact = Compute::cpu(Precision::F64);
    let materials = case.loss.materials;
    let moving = trials.iter().filter(|t| Moments::of(&t.motion).is_some());
    let moving: Vec<&Track> = moving.map(|t| &t.reference).collect();
    let creased = most_creased(&moving);
    let names = trials.first().map(|t| t.methods.iter().map(|(n, _)| n));
    let mut scores = Vec::new();
    for (k, method) in names.into_iter().flatten().enumerate() {
        let mut moving = Vec::new();
        for trial in trials {
            let (track, motion) = (&trial.methods[k].1, &trial.motion);
            let metrics = compare(
                scene,
                motion,
                track,
                &trial.reference,
                &creased,
                materials,
                &exact,
            )?;
            if Moments::of(motion).is_some() {
                moving.push(metrics);
            }
            scores.push(Score {
                method: method.clone(),
                motion: motion.name.clone(),
                metrics,
            });
        }
        scores.push(Score {
            method: method.clone(),
            motion: MEAN.into(),
            metrics: Metrics::mean(&moving),
        });
    }
    Ok(scores)
}

/// The reference and all methods of a trial.
fn tracks(trial: &Trial) -> impl Iterator<Item = (&str, &Track)> {
    let methods = trial.methods.iter().map(|(n, t)| (n.as_str(), t));
    std::iter::once((REFERENCE, &trial.reference)).chain(methods)
}

fn bent(trial: &Trial) -> Vec<Bent> {
    let Some(moments) = Moments::of(&trial.motion) else {
        return Vec::new();
    };
    let moments = [
        ("before", Some(moments.before)),
        ("during", Some(moments.during)),
        ("after", moments.after),
    ];
    let mut rows = Vec::new();
    for (method, track) in tracks(trial) {
        for (moment, frame) in moments {
            let Some(frame) = frame else {
                continue;
            };
            rows.push(Bent {
                method: method.into(),
                motion: trial.motion.name.clone(),
                moment: moment.into(),
                frame,
                rest_bending: mean_size(&track.plastic[frame]),
                top_tenth_strain: top(&track.strain[frame], 0.1),
            });
        }
    }
    rows
}

fn control(still: &Trial) -> Vec<Control> {
    let control = |(method, track): (&str, &Track)| Control {
        method: method.into(),
        largest_rest_bending: track
            .plastic
            .iter()
            .flatten()
            .fold(0.0, |m: f64, x| m.max(x.abs())),
        final_rest_bending: track.plastic.last().map_or(0.0, |p| mean_size(p)),
    };
    tracks(still).map(control).collect()
}

/// All frames of all motions and methods, the reference among them.
pub fn all_frame_rows(trials: &[Trial]) -> Vec<FrameRow> {
    let rows = |trial: &Trial| -> Vec<FrameRow> {
        let of = |(method, track)| frame_rows(&trial.motion.name, method, track, &trial.reference);
        tracks(trial).flat_map(of).collect()
    };
    trials.iter().flat_map(rows).collect()
}

impl Evaluation {
    /// The score of a method on a motion.
    pub fn score(&self, method: &str, motion: &str) -> Option<&Metrics> {
        let mut scores = self.scores.iter();
        let found = scores.find(|s| s.method == method && s.motion == motion);
        found.map(|s| &s.metrics)
    }
}

/// Refuses a baseline that was not trained for the same garment; `place` is its folder.
pub fn check_baseline(place: &Path, baseline: &LearnCase, case: &LearnCase) -> Result<()> {
    if case.rest_bending == RestBending::None {
        return bad_input(format!(
            "--baseline {}: the run that is judged has rest_bending \"none\" too; give one that learned it",
            place.display()
        ));
    }
    if baseline.rest_bending != RestBending::None {
        return bad_input(format!(
            "--baseline {}: its case has rest_bending \"learned\"; give a run with \"none\"",
            place.display()
        ));
    }
    // Of either the networks after the same cycle are looked at.
    let learned = LearnCase {
        rest_bending: RestBending::Learned,
        cycles: case.cycles,
        ..baseline.clone()
    };
    match difference(&learned.to_json()?, &case.to_json()?) {
        None => Ok(()),
        Some(what) => bad_input(format!(
            "--baseline {}: trained with another case, there against here: {what}; train one with the case of this run \
             and \"rest_bending\": \"none\"",
            place.display()
        )),
    }
}
