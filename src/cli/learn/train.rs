//! `rumple learn train`

use std::path::PathBuf;

use clap::Args;

use super::{bars, compute, evaluate::judge, out_folder, read_case};
use crate::{
    cli::{Common, say},
    error::Result,
    learn::{EvaluationOptions, evaluate::LONG, run::EVALUATION},
    report::learn::folder::PLOTS,
};

/// Train both networks and judge them on unseen motions; the same command goes on with a run that was stopped
#[derive(Debug, Args)]
pub(crate) struct TrainArguments {
    /// A case (`rumple schema learn`) [default: the arm scene at the small size]
    #[arg(value_name = "CASE.json")]
    case: Option<PathBuf>,
    /// Folder of the run [default: the case's file name and -learn, here; arm-learn without a case]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Throw away what the folder holds of an earlier run
    #[arg(long)]
    fresh: bool,
}

pub(crate) fn run(common: &Common, arguments: &TrainArguments) -> Result<()> {
    let compute = compute(common)?;
    let case = read_case(common, arguments.case.as_deref())?;
    let folder = out_folder(&arguments.out, arguments.case.as_deref(), "learn");
    let mut shown = bars::steps();
    case.train(&folder, &compute, arguments.fresh, &mut |news| {
        shown.hear(news)
    })?;
    drop(shown);
    case.draw(&folder)?;
    say(&format!(
        "trained: {} (networks, elastic.csv, plastic.csv, cycles.csv, {PLOTS}); now unseen motions",
        folder.display()
    ));
    let options = EvaluationOptions {
        out: Some(folder.join(EVALUATION)),
        cycle: Some(case.cycles),
        ..EvaluationOptions::default()
    };
    judge(common, &folder, &options, (LONG, false), &compute)
}
