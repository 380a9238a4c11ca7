//! How good networks are on motions that they have not seen: every method against the reference simulation.

mod frames;
mod job;
mod long;
mod references;
mod scores;

use std::{path::Path, time::Instant};

use burn::module::Module;
use serde::{Deserialize, Serialize};

pub(crate) use frames::{BendFrames, FrameRow, frame_rows, mean_size, top};
pub use job::Evaluated;
pub(crate) use job::EvaluationOptions;
pub(crate) use long::{
    DRIFT, FORGOTTEN, LargestChange, LongError, LongRow, check_frames, is_cut_off, long_motion,
    long_roll_out,
};
pub(crate) use references::{Reference, ReferenceJob, References, Yields};
pub(crate) use scores::{Bent, Control, Score, all_frame_rows};

use self::{
    references::other_energy,
    scores::{bent, control, scores},
};
use super::{
    BodyMotion, BodyScene, GarmentMotion, LearnCase, RestBending, Split,
    curriculum::{Curriculum, Predicted, Students},
    lesson::Lesson,
    metrics::Metrics,
};
use crate::{
    error::{Result, bad_input},
    files::difference,
    numeric::Compute,
    study::Watcher,
};

/// Names of the methods.
pub(crate) const CURRICULUM: &str = "curriculum";
/// The reference without rest bending: what a simulation without rest bending does.
pub(crate) const ELASTIC: &str = "elastic simulation";
/// A network that was trained without rest bending.
pub(crate) const BASELINE: &str = "network without rest bending";
/// What all are compared with.
pub(crate) const REFERENCE: &str = "reference";
/// In the place of a motion's name: the mean over all that move.
pub(crate) const MEAN: &str = "mean";

/// Frames of a long roll-out, where nothing else is said: as many as paper 2 goes before it drifts.
pub(crate) const LONG: usize = 3000;

/// Drawn test motions beside the canonical bend.
const DRAWN: u64 = 3;

/// Time a frame.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Times {
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
pub(crate) struct Evaluation {
    /// Always true: body, garment and motions are made by rumple.
    pub synthetic: bool,
    /// What was trained.
    pub case: LearnCase,
    /// Cycles of training.
    pub cycles: usize,
    /// Where the loss of the case is not the energy that its reference minimises; nothing where it is.
    #[serde(default)]
    pub energy_note: Option<String>,
    /// Numbers that E-Net and P-Net have learned; none of P-Net where it is not asked.
    #[serde(default)]
    pub parameters: [usize; 2],
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
    /// Against a reference of the long roll-out, over all of its frames; nothing where it was not simulated.
    #[serde(default)]
    pub long_error: Option<LongError>,
    /// Frames of references that were not minimised to the end, of how many.
    pub unfinished: [usize; 2],
}

/// A motion with what the reference and every method say, for pictures.
pub(crate) struct Trial {
    /// The motion.
    pub motion: BodyMotion,
    /// The yardstick.
    pub reference: GarmentMotion,
    /// Names and tracks.
    pub methods: Vec<(String, GarmentMotion)>,
}

/// Networks to be judged.
pub(crate) struct Judged<'a> {
    /// What they were trained for.
    pub course: &'a Curriculum,
    /// The networks.
    pub students: &'a Students,
    /// After so many cycles.
    pub cycles: usize,
}

/// The motions of an evaluation, none of which was trained: the canonical bend first, test motions, a still body last.
pub(crate) fn motions(case: &LearnCase, scene: &BodyScene) -> Vec<BodyMotion> {
    let body = &scene.body;
    let drawn = (0..DRAWN).map(|k| BodyMotion::draw(body, Split::Test, case.seed, k, case.frames));
    let mut motions = vec![BodyMotion::canonical(body)];
    motions.extend(drawn);
    motions.push(BodyMotion::still(body, case.frames));
    motions
}

fn jobs(motions: &[BodyMotion]) -> Vec<ReferenceJob<'_>> {
    let both = |motion| [(motion, Yields::AsInCase), (motion, Yields::Never)];
    motions.iter().flat_map(both).collect()
}

/// Judges networks, beside an elastic simulation and, where there is one, a network without rest bending.
pub(crate) fn evaluate(
    judged: &Judged,
    baseline: Option<&Judged>,
    references: &References,
    compute: &Compute,
    watch: &mut Watcher,
) -> Result<(Evaluation, Vec<Trial>)> {
    let Judged {
        course, students, ..
    } = judged;
    let (case, scene) = (&course.case, &course.scene);
    let motions = motions(case, scene);
    let simulated = references.of(case, scene, &jobs(&motions), watch)?;
    let unfinished = simulated.iter().map(|r| r.unfinished).sum();
    let all_frames = simulated.iter().map(|r| r.track.frames()).sum();
    let (times, first) = times(judged, &motions[0], &simulated[0], compute)?;
    let mut first = Some(first);
    let mut trials = Vec::new();
    for (motion, pair) in motions.into_iter().zip(simulated.chunks_exact(2)) {
        let mut methods = vec![(ELASTIC.to_string(), pair[1].track.clone())];
        if let Some(b) = baseline {
            let track = predict(b.course, b.students, &motion, compute)?;
            methods.push((BASELINE.into(), track));
        }
        let track = match first.take() {
            Some(track) => track,
            None => predict(course, students, &motion, compute)?,
        };
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
        energy_note: other_energy(case),
        parameters: parameters(judged),
        scores: scores(case, scene, &trials)?,
        bent: trials.iter().flat_map(bent).collect(),
        control: trials.last().map(control).unwrap_or_default(),
        times,
        long: Vec::new(),
        long_frames: 0,
        long_error: None,
        unfinished: [unfinished, all_frames],
    };
    Ok((evaluation, trials))
}

/// What the networks of a case are called.
pub(crate) fn method(case: &LearnCase) -> &'static str {
    match case.rest_bending {
        RestBending::Learned => CURRICULUM,
        RestBending::None => BASELINE,
    }
}

/// What both networks make of a motion.
pub(crate) fn predict(
    course: &Curriculum,
    students: &Students,
    motion: &BodyMotion,
    compute: &Compute,
) -> Result<GarmentMotion> {
    let lesson = Lesson::new(&course.scene, motion.clone(), compute)?;
    course.predict(students, &lesson)?.track(compute)
}

/// The same with the seconds a frame that it took, from turns of the joints to positions and rest bending: poses, skinning
/// and both networks, as a reference has them too. A first roll-out, which is slower, is not counted.
pub(crate) fn predict_timed(
    course: &Curriculum,
    students: &Students,
    motion: &BodyMotion,
    compute: &Compute,
) -> Result<(GarmentMotion, f64)> {
    let once = || -> Result<(Predicted, f64)> {
        let clock = Instant::now();
        let lesson = Lesson::new(&course.scene, motion.clone(), compute)?;
        let predicted = course.predict(students, &lesson)?;
        // On a GPU work is only queued until something is read.
        compute.values(predicted.rest_bending.clone())?;
        Ok((predicted, clock.elapsed().as_secs_f64()))
    };
    once()?;
    let (predicted, seconds) = once()?;
    let track = predicted.track(compute)?;
    Ok((track, seconds / motion.frames() as f64))
}

/// Times a frame, and the prediction that was timed.
fn times(
    judged: &Judged,
    motion: &BodyMotion,
    reference: &Reference,
    compute: &Compute,
) -> Result<(Times, GarmentMotion)> {
    let (track, networks) = predict_timed(judged.course, judged.students, motion, compute)?;
    let of_reference = reference.seconds / motion.frames() as f64;
    let times = Times {
        networks,
        reference: of_reference,
        ratio: of_reference / networks,
        in_one_run: reference.made_now,
    };
    Ok((times, track))
}

/// Numbers that both networks have learned.
fn parameters(judged: &Judged) -> [usize; 2] {
    let Students {
        elastic, plastic, ..
    } = judged.students;
    let of_plastic = match judged.course.case.rest_bending {
        RestBending::Learned => plastic.num_params(),
        RestBending::None => 0,
    };
    [elastic.num_params(), of_plastic]
}

impl Evaluation {
    /// The score of a method on a motion.
    pub(crate) fn score(&self, method: &str, motion: &str) -> Option<&Metrics> {
        self.found(method, motion).map(|s| &s.metrics)
    }

    /// The largest error of the rest bending of a method along a motion \[rad\].
    pub(crate) fn largest_plastic_error(&self, method: &str, motion: &str) -> Option<f64> {
        let found = self.found(method, motion);
        found.map(|s| s.largest_plastic_error)
    }

    fn found(&self, method: &str, motion: &str) -> Option<&Score> {
        let mut scores = self.scores.iter();
        scores.find(|s| s.method == method && s.motion == motion)
    }
}

/// Refuses a baseline that was not trained for the same garment; `place` is its folder.
pub(crate) fn check_baseline(place: &Path, baseline: &LearnCase, case: &LearnCase) -> Result<()> {
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
