//! `rumple learn evaluate`

use std::path::{Path, PathBuf};

use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;
use serde_json::Value;

use super::{compute, pictures, table};
use crate::{
    cli::{Common, count, interrupted, print, print_json, say, spinner},
    error::{Error, Result},
    files::write_whole,
    learn::{
        evaluate::{
            Evaluation, Judged, References, Trial, Watch, Yields, all_frame_rows, check_baseline,
            check_frames, evaluate, long_motion, long_roll_out, missing_frames,
        },
        run::{self, rows},
    },
    numeric::Compute,
};

/// Judge trained networks on unseen motions against the reference simulation
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Folder of `rumple learn train`
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// A run of the same case with "rest_bending": "none", to stand beside it
    #[arg(long, value_name = "DIR")]
    baseline: Option<PathBuf>,
    /// The networks after this cycle [default: the last that is done]
    #[arg(long, value_name = "N", value_parser = count)]
    cycle: Option<usize>,
    /// Frames of a long roll-out of bends, to see what drifts
    #[arg(long, value_name = "N", default_value_t = LONG, value_parser = count)]
    frames: usize,
    /// Simulate the reference of the long roll-out too, for its error: some 2 minutes and 180 MB for 3000 frames; it is kept
    /// and used from then on
    #[arg(long)]
    long_reference: bool,
}

/// Frames of a long roll-out: as many as paper 2 goes before it drifts.
pub(super) const LONG: usize = 3000;

/// Folder of the references in that of a run.
pub(super) const REFERENCES: &str = "references";
/// Folder of the results in that of a run.
pub(super) const EVALUATION: &str = "evaluation";

pub(crate) fn run(common: &Common, arguments: &Arguments) -> Result<()> {
    check_frames(arguments.frames)?;
    let compute = compute(common)?;
    let name = match arguments.cycle {
        Some(cycle) => format!("{EVALUATION}-cycle-{cycle}"),
        None => EVALUATION.to_string(),
    };
    let out = arguments.folder.join(name);
    let request = Request {
        folder: &arguments.folder,
        out: &out,
        baseline: arguments.baseline.as_deref(),
        cycle: arguments.cycle,
        frames: Some(arguments.frames),
        long_reference: arguments.long_reference,
    };
    let references = References::new(&arguments.folder.join(REFERENCES));
    let evaluation = request.judge(&references, &compute)?;
    report(common, &out, &evaluation)
}

/// What is judged, and how.
pub(super) struct Request<'a> {
    /// Of the run.
    pub folder: &'a Path,
    /// Of the results.
    pub out: &'a Path,
    pub baseline: Option<&'a Path>,
    pub cycle: Option<usize>,
    /// Of a long roll-out; none without.
    pub frames: Option<usize>,
    /// Whether that has a reference too.
    pub long_reference: bool,
}

impl Request<'_> {
    /// Judges networks and writes everything.
    pub(crate) fn judge(&self, references: &References, compute: &Compute) -> Result<Evaluation> {
        let (course, students, cycles) = run::load(self.folder, self.cycle, compute)?;
        let judged = Judged {
            course: &course,
            students: &students,
            cycles,
        };
        let baseline = match self.baseline {
            Some(folder) => {
                check_baseline(folder, &run::read_case(folder)?, &course.case)?;
                Some(run::load(folder, Some(cycles), compute)?)
            }
            None => None,
        };
        let baseline = baseline.as_ref().map(|(course, students, cycles)| Judged {
            course,
            students,
            cycles: *cycles,
        });
        let on = format!("what was simulated is kept in {}", self.folder.display());
        let missing = missing_frames(&course.case, &course.scene, references);
        let found = watched(missing, |watch| {
            evaluate(&judged, baseline.as_ref(), references, compute, watch)
        });
        let (mut evaluation, trials) = found.map_err(|e| e.with_remedy(&on))?;
        if let Some(frames) = self.frames {
            let motion = long_motion(&course.scene.body, frames);
            let jobs = [(&motion, Yields::AsInCase)];
            let missing = references.missing_frames(&course.case, &course.scene, &jobs);
            if self.long_reference && missing > 0 {
                // It takes long, and may be stopped.
                write(self.out, &evaluation, &trials)?;
            }
            let reference = match self.long_reference || missing == 0 {
                true => {
                    let found = watched(missing, |watch| {
                        references.of(&course.case, &course.scene, &jobs, watch)
                    });
                    found.map_err(|e| e.with_remedy(&on))?.pop()
                }
                false => None,
            };
            let reference = reference.as_ref().map(|r| &r.track);
            let progress = spinner(format!("{frames} frames"));
            let found = long_roll_out(&course, &students, motion, reference, compute);
            progress.finish_and_clear();
            (evaluation.long, evaluation.long_error) = found?;
            evaluation.long_frames = frames;
        }
        write(self.out, &evaluation, &trials)?;
        pictures::of_long(self.out, &course.scene, &evaluation)?;
        if let Some(first) = trials.first() {
            pictures::of_trial(self.out, &course.scene, first)?;
        }
        Ok(evaluation)
    }
}

/// References and predictions, with a bar over the frames that are to be simulated, stopped by Ctrl-C.
fn watched<T>(frames: usize, work: impl FnOnce(Watch) -> Result<T>) -> Result<T> {
    let style = "{bar:30} {pos}/{len} frames of references, {eta} left";
    let progress = ProgressBar::new(frames as u64);
    progress.set_style(
        ProgressStyle::with_template(style).unwrap_or_else(|_| ProgressStyle::default_bar()),
    );
    interrupted();
    let outcome = work(&|| {
        progress.inc(1);
        match interrupted() {
            true => Err(Error::Interrupted(
                "interrupted; references that are done are kept, and the same command goes on"
                    .into(),
            )),
            false => Ok(()),
        }
    });
    progress.finish_and_clear();
    outcome
}

fn write(folder: &Path, evaluation: &Evaluation, trials: &[Trial]) -> Result<()> {
    std::fs::create_dir_all(folder).map_err(|e| Error::writing(folder, e))?;
    let put = |name: &str, text: String| write_whole(&folder.join(name), text.as_bytes());
    put("table.md", table::markdown(evaluation))?;
    put("table.csv", table::csv(evaluation))?;
    put("frames.csv", rows::table(&all_frame_rows(trials))?)?;
    put("bent.csv", rows::table(&evaluation.bent)?)?;
    if evaluation.long_frames > 0 {
        put("long.csv", long_table(evaluation)?)?;
    }
    let json = as_json(evaluation)?;
    put("evaluation.json", format!("{json:#}\n"))
}

/// A row a bend, and below them as a comment the error over all frames, which rows do not have.
fn long_table(evaluation: &Evaluation) -> Result<String> {
    let mut text = rows::table(&evaluation.long)?;
    if let Some(error) = &evaluation.long_error {
        text += &format!(
            "# against the reference, over all frames: {}\n",
            as_json(error)?
        );
    }
    Ok(text)
}

fn as_json(value: &impl Serialize) -> Result<Value> {
    serde_json::to_value(value)
        .map_err(|e| Error::BadInput(format!("the evaluation cannot be written as JSON: {e}")))
}

/// Says what was found, and where it is.
pub(super) fn report(common: &Common, folder: &Path, evaluation: &Evaluation) -> Result<()> {
    if common.json {
        print_json(&as_json(evaluation)?)?;
    } else {
        print(&table::text(evaluation))?;
    }
    say(&format!(
        "results: {} (table.md, table.csv, evaluation.json, frames.csv, bent.csv, {}{})",
        folder.display(),
        match (evaluation.long_frames, evaluation.long.is_empty()) {
            (0, _) => "",
            (_, true) => "long.csv, ",
            (_, false) => "long.csv, long.svg, ",
        },
        pictures::OF_TRIAL
    ));
    Ok(())
}
