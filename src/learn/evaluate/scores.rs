//! What an evaluation says of every method: metrics, what is bent, the unloaded control, frames.

use serde::{Deserialize, Serialize};

use super::{
    MEAN, REFERENCE, Trial,
    frames::{BendFrames, FrameRow, frame_rows, mean_size, top},
};
use crate::{
    error::Result,
    learn::{
        BodyScene, GarmentMotion, LearnCase,
        metrics::{Metrics, compare, largest, largest_plastic_error, most_creased},
    },
    numeric::{Compute, Precision},
};

/// One method on one motion, or on the mean of those that move.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Score {
    /// Which method.
    pub method: String,
    /// Which motion.
    pub motion: String,
    /// Against the reference.
    pub metrics: Metrics,
    /// Largest |ε_p − ε̂_p| over frames and hinges, of all that move in the place of the mean \[rad\].
    #[serde(default)]
    pub largest_plastic_error: f64,
}

/// What is bent before, during and after a bend \[rad\].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Bent {
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
pub(crate) struct Control {
    /// Which method.
    pub method: String,
    /// Largest |ε_p| of all frames and hinges \[rad\].
    pub largest_rest_bending: f64,
    /// Mean |ε_p| of the last frame \[rad\].
    pub final_rest_bending: f64,
}

/// All methods on all motions, each followed by its mean over those that move.
pub(super) fn scores(case: &LearnCase, scene: &BodyScene, trials: &[Trial]) -> Result<Vec<Score>> {
    let exact = Compute::cpu(Precision::F64);
    let materials = case.loss.materials;
    let moving = trials
        .iter()
        .filter(|t| BendFrames::of(&t.motion).is_some());
    let moving: Vec<&GarmentMotion> = moving.map(|t| &t.reference).collect();
    let creased = most_creased(&moving);
    let names = trials.first().map(|t| t.methods.iter().map(|(n, _)| n));
    let mut scores = Vec::new();
    for (k, method) in names.into_iter().flatten().enumerate() {
        let (mut moving, mut largest_of_moving) = (Vec::new(), Vec::new());
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
            let largest_plastic_error = largest_plastic_error(track, &trial.reference);
            if BendFrames::of(motion).is_some() {
                moving.push(metrics);
                largest_of_moving.push(largest_plastic_error);
            }
            scores.push(Score {
                method: method.clone(),
                motion: motion.name.clone(),
                metrics,
                largest_plastic_error,
            });
        }
        scores.push(Score {
            method: method.clone(),
            motion: MEAN.into(),
            metrics: Metrics::mean(&moving),
            largest_plastic_error: largest(largest_of_moving.into_iter()),
        });
    }
    Ok(scores)
}

/// The reference and all methods of a trial.
fn tracks(trial: &Trial) -> impl Iterator<Item = (&str, &GarmentMotion)> {
    let methods = trial.methods.iter().map(|(n, t)| (n.as_str(), t));
    std::iter::once((REFERENCE, &trial.reference)).chain(methods)
}

/// Rows of a trial; none where nothing moves.
pub(super) fn bent(trial: &Trial) -> Vec<Bent> {
    let Some(moments) = BendFrames::of(&trial.motion) else {
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

/// Rows of a body that never moves.
pub(super) fn control(still: &Trial) -> Vec<Control> {
    let control = |(method, track): (&str, &GarmentMotion)| Control {
        method: method.into(),
        largest_rest_bending: largest(track.plastic.iter().flatten().copied()),
        final_rest_bending: track.plastic.last().map_or(0.0, |p| mean_size(p)),
    };
    tracks(still).map(control).collect()
}

/// All frames of all motions and methods, the reference among them.
pub(crate) fn all_frame_rows(trials: &[Trial]) -> Vec<FrameRow> {
    let rows = |trial: &Trial| -> Vec<FrameRow> {
        let of = |(method, track)| frame_rows(&trial.motion.name, method, track, &trial.reference);
        tracks(trial).flat_map(of).collect()
    };
    trials.iter().flat_map(rows).collect()
}
