//! `rumple learn train`

use std::path::PathBuf;

use clap::Args;

use super::{
    compute,
    evaluate::{EVALUATION, LONG, REFERENCES, Request, report},
    out_folder,
    pictures::{self, PLOTS},
    read_case,
};
use crate::{
    cli::{
        Common, say,
        watch::{Shown, bar},
    },
    error::Result,
    learn::{evaluate::References, run::train},
};

/// Train both networks and judge them on unseen motions; the same command goes on with a run that was stopped
#[derive(Debug, Args)]
pub(crate) struct Arguments {
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

/// Bar over the steps of a run; what a run says of itself has the time left.
pub(super) const STEPS: &str = "{prefix}{bar:30} {pos}/{len} steps  {msg}";

pub(crate) fn run(common: &Common, arguments: &Arguments) -> Result<()> {
    let compute = compute(common)?;
    let case = read_case(common, arguments.case.as_deref())?;
    let folder = out_folder(&arguments.out, arguments.case.as_deref(), "learn");
    let mut shown = Shown::new(bar(STEPS));
    train(&case, &folder, &compute, arguments.fresh, &mut |news| {
        shown.hear(news)
    })?;
    drop(shown);
    pictures::of_run(&folder, &case)?;
    say(&format!(
        "trained: {} (networks, elastic.csv, plastic.csv, cycles.csv, {PLOTS}); now unseen motions",
        folder.display()
    ));
    let out = folder.join(EVALUATION);
    let request = Request {
        folder: &folder,
        out: &out,
        baseline: None,
        cycle: Some(case.cycles),
        frames: Some(LONG),
        long_reference: false,
    };
    let references = References::new(&folder.join(REFERENCES));
    let evaluation = request.judge(&references, &compute)?;
    report(common, &out, &evaluation)
}
