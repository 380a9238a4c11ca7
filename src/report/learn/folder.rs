//! What is drawn into the folders of runs, evaluations and predictions: tables, charts, pictures and films.

use std::path::Path;

use super::{curves, cycles, errors, evaluation, film, frames, long};
use crate::{
    error::Result,
    learn::{
        BodyMotion, BodyScene, Evaluated, GarmentMotion, LearnCase,
        curriculum::{ElasticStep, PlasticStep},
        evaluate::{REFERENCE, Trial},
        run::{CYCLES, Cycle, ELASTIC, PLASTIC, rows},
    },
    report::plot::Picture,
    study::Folder,
};

/// Folder of the charts in that of a run.
pub(crate) const PLOTS: &str = "plots";

/// Learning curves and rest bending over the cycles, from the tables of a run; what has no row is left out.
pub(crate) fn of_run(folder: &Path, case: &LearnCase) -> Result<()> {
    let plots = Folder::new(folder.join(PLOTS));
    plots.make()?;
    let what = named(&case.scene()?, case);
    let steps: Vec<ElasticStep> = rows::read(&folder.join(ELASTIC))?;
    let is_drawn = !steps.is_empty();
    put(&plots, "elastic.svg", is_drawn, || {
        curves::elastic(&steps, &what)
    })?;
    // Along the plain gradient no minimiser is asked.
    let is_known = steps.iter().any(|step| step.away != 0.0);
    put(&plots, "distance.svg", is_known, || {
        curves::distance(&steps, &what)
    })?;
    let steps: Vec<PlasticStep> = rows::read(&folder.join(PLASTIC))?;
    let is_drawn = !steps.is_empty();
    put(&plots, "plastic.svg", is_drawn, || {
        curves::plastic(&steps, &what)
    })?;
    let all: Vec<Cycle> = rows::read(&folder.join(CYCLES))?;
    // Without P-Net there is no rest bending.
    put(
        &plots,
        "rest_bending.svg",
        is_drawn && !all.is_empty(),
        || cycles::picture(&all, &what),
    )
}

fn named(scene: &BodyScene, case: &LearnCase) -> String {
    let (body, garment) = (&scene.body.name, &scene.garment.name);
    format!("{body} in a {garment}, seed {}", case.seed)
}

/// Draws a chart; where there is nothing to draw, one of an earlier run would mislead, and is removed.
fn put(
    folder: &Folder,
    name: &str,
    is_drawn: bool,
    draw: impl FnOnce() -> Result<Picture>,
) -> Result<()> {
    match is_drawn {
        true => draw()?.save(&folder.file(name)),
        false => folder.remove(name),
    }
}

/// The tables of an evaluation.
pub(crate) fn tables(found: &Evaluated) -> Result<()> {
    let folder = Folder::new(found.folder());
    let markdown = evaluation::markdown(&found.evaluation);
    folder.write("table.md", markdown.as_bytes())?;
    folder.write("table.csv", evaluation::csv(&found.evaluation).as_bytes())
}

/// The tables of an evaluation, rest bending over its long roll-out, and pictures and films of its first motion.
pub(crate) fn of_evaluation(found: &Evaluated) -> Result<()> {
    tables(found)?;
    let (scene, evaluation) = (found.scene(), &found.evaluation);
    let folder = Folder::new(found.folder());
    let (rows, frames) = (&evaluation.long, evaluation.long_frames);
    put(&folder, "long.svg", !rows.is_empty(), || {
        long::picture(rows, frames, &named(scene, &evaluation.case))
    })?;
    match found.trials.first() {
        Some(first) => of_trial(folder.path(), scene, first),
        None => Ok(()),
    }
}

/// Names of what [`of_trial`] writes.
pub(crate) const OF_TRIAL: &str = "errors.svg, frames.png, prediction.glb, reference.glb";

/// Errors over the frames, frames side by side, and films of one motion.
fn of_trial(folder: &Path, scene: &BodyScene, trial: &Trial) -> Result<()> {
    let motion = &trial.motion;
    // The networks that are judged first: they are what one looks for.
    let mut methods: Vec<(&str, &GarmentMotion)> = Vec::new();
    methods.extend(trial.methods.iter().rev().map(|(n, t)| (n.as_str(), t)));
    errors::picture(&methods, &trial.reference, motion)?.save(&folder.join("errors.svg"))?;
    let mut shown = methods.clone();
    shown.insert(1.min(shown.len()), (REFERENCE, &trial.reference));
    frames::save(&folder.join("frames.png"), scene, motion, &shown)?;
    if let Some((_, track)) = methods.first() {
        film::save(&folder.join("prediction.glb"), scene, motion, track)?;
    }
    film::save(
        &folder.join("reference.glb"),
        scene,
        motion,
        &trial.reference,
    )
}

/// A picture and a film of a prediction, named as `file` with other endings.
pub(crate) fn of_prediction(
    file: &Path,
    scene: &BodyScene,
    motion: &BodyMotion,
    track: &GarmentMotion,
) -> Result<()> {
    let named = [("prediction", track)];
    frames::save(&file.with_extension("png"), scene, motion, &named)?;
    film::save(&file.with_extension("glb"), scene, motion, track)
}
