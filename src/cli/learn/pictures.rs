//! Charts, pictures and films of runs, evaluations and ablations.

use std::path::Path;

use crate::{
    error::{Error, Result},
    learn::{
        BodyMotion, BodyScene, GarmentMotion, LearnCase,
        curriculum::{ElasticStep, PlasticStep},
        evaluate::{Evaluation, REFERENCE, Trial},
        run::{CYCLES, Cycle, ELASTIC, PLASTIC, rows},
    },
    report::{self, plot::Picture},
};

/// Folder of the charts in that of a run.
pub(super) const PLOTS: &str = "plots";

/// Learning curves and rest bending over the cycles, from the tables of a run; what has no row is left out.
pub(super) fn of_run(folder: &Path, case: &LearnCase) -> Result<()> {
    let plots = folder.join(PLOTS);
    std::fs::create_dir_all(&plots).map_err(|e| Error::writing(&plots, e))?;
    let what = named(&case.scene()?, case);
    let put = |name: &str, draw: &dyn Fn() -> Result<Picture>, is_empty: bool| {
        draw_or_remove(&plots.join(name), draw, is_empty)
    };
    let steps: Vec<ElasticStep> = rows::read(&folder.join(ELASTIC))?;
    let draw = || report::learn::curves::elastic(&steps, &what);
    put("elastic.svg", &draw, steps.is_empty())?;
    let draw = || report::learn::curves::distance(&steps, &what);
    // Along the plain gradient no minimiser is asked.
    let is_unknown = steps.iter().all(|step| step.away == 0.0);
    put("distance.svg", &draw, is_unknown)?;
    let steps: Vec<PlasticStep> = rows::read(&folder.join(PLASTIC))?;
    let draw = || report::learn::curves::plastic(&steps, &what);
    put("plastic.svg", &draw, steps.is_empty())?;
    let cycles: Vec<Cycle> = rows::read(&folder.join(CYCLES))?;
    let draw = || report::learn::cycles::picture(&cycles, &what);
    // Without P-Net there is no rest bending.
    let is_empty = steps.is_empty() || cycles.is_empty();
    put("rest_bending.svg", &draw, is_empty)
}

fn named(scene: &BodyScene, case: &LearnCase) -> String {
    let (body, garment) = (&scene.body.name, &scene.garment.name);
    format!("{body} in a {garment}, seed {}", case.seed)
}

/// Draws a chart; where there is nothing to draw, one of an earlier run would mislead, and is removed.
fn draw_or_remove(path: &Path, draw: &dyn Fn() -> Result<Picture>, is_empty: bool) -> Result<()> {
    match is_empty {
        false => draw()?.save(path),
        true if path.exists() => std::fs::remove_file(path).map_err(|e| Error::writing(path, e)),
        true => Ok(()),
    }
}

/// Rest bending over a long roll-out, where one was asked for.
pub(super) fn of_long(folder: &Path, scene: &BodyScene, evaluation: &Evaluation) -> Result<()> {
    let (rows, frames) = (&evaluation.long, evaluation.long_frames);
    let what = named(scene, &evaluation.case);
    let draw = || report::learn::long::picture(rows, frames, &what);
    draw_or_remove(&folder.join("long.svg"), &draw, rows.is_empty())
}

/// Names of what [`of_trial`] writes.
pub(super) const OF_TRIAL: &str = "errors.svg, frames.png, prediction.glb, reference.glb";

/// Errors over the frames, frames side by side, and films of one motion.
pub(super) fn of_trial(folder: &Path, scene: &BodyScene, trial: &Trial) -> Result<()> {
    let motion = &trial.motion;
    // The networks that are judged first: they are what one looks for.
    let mut methods: Vec<(&str, &GarmentMotion)> = Vec::new();
    methods.extend(trial.methods.iter().rev().map(|(n, t)| (n.as_str(), t)));
    report::learn::errors::picture(&methods, &trial.reference, motion)?
        .save(&folder.join("errors.svg"))?;
    let mut shown = methods.clone();
    shown.insert(1.min(shown.len()), (REFERENCE, &trial.reference));
    report::learn::frames::save(&folder.join("frames.png"), scene, motion, &shown)?;
    if let Some((_, track)) = methods.first() {
        report::learn::film::save(&folder.join("prediction.glb"), scene, motion, track)?;
    }
    report::learn::film::save(
        &folder.join("reference.glb"),
        scene,
        motion,
        &trial.reference,
    )
}

/// A picture and a film of a prediction, named as `file` with other endings.
pub(super) fn of_prediction(
    file: &Path,
    scene: &BodyScene,
    motion: &BodyMotion,
    track: &GarmentMotion,
) -> Result<()> {
    let named = [("prediction", track)];
    report::learn::frames::save(&file.with_extension("png"), scene, motion, &named)?;
    report::learn::film::save(&file.with_extension("glb"), scene, motion, track)
}
