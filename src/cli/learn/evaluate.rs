//! `rumple learn evaluate`

use std::path::{Path, PathBuf};

use clap::Args;

use super::{bars, compute};
use crate::{
    cli::{Common, count, print, print_json, say},
    error::Result,
    learn::{
        Evaluated, EvaluationOptions,
        evaluate::{LONG, check_frames},
    },
    numeric::Compute,
    report::{
        self,
        learn::folder::{OF_TRIAL, tables},
    },
};

/// Judge trained networks on unseen motions against the reference simulation
#[derive(Debug, Args)]
pub(crate) struct EvaluateArguments {
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

pub(crate) fn run(common: &Common, arguments: &EvaluateArguments) -> Result<()> {
    let options = EvaluationOptions {
        baseline: arguments.baseline.clone(),
        cycle: arguments.cycle,
        ..EvaluationOptions::default()
    };
    let long = (arguments.frames, arguments.long_reference);
    judge(common, &arguments.folder, &options, long, &compute(common)?)
}

/// Judges the networks of a run, also in a long roll-out of so many frames, with its reference or not. Draws and says what
/// was found.
pub(super) fn judge(
    common: &Common,
    run: &Path,
    options: &EvaluationOptions,
    (frames, long_reference): (usize, bool),
    compute: &Compute,
) -> Result<()> {
    check_frames(frames)?;
    let mut shown = bars::frames();
    let mut watch = |news: crate::study::News| shown.hear(news);
    let mut found = Evaluated::judge(run, options, compute, &mut watch)?;
    // The long roll-out takes minutes where its reference is simulated too, and may be stopped.
    tables(&found)?;
    found.roll_out(frames, long_reference, &mut watch)?;
    drop(shown);
    found.draw()?;

    let evaluation = &found.evaluation;
    if common.json {
        print_json(&found.to_json()?)?;
    } else {
        print(&report::learn::evaluation::text(evaluation))?;
    }
    say(&format!(
        "results: {} (table.md, table.csv, evaluation.json, frames.csv, bent.csv, {}{OF_TRIAL})",
        found.folder().display(),
        match (evaluation.long_frames, evaluation.long.is_empty()) {
            (0, _) => "",
            (_, true) => "long.csv, ",
            (_, false) => "long.csv, long.svg, ",
        },
    ));
    Ok(())
}
