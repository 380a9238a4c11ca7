//! `rumple learn ablate`

use std::path::PathBuf;

use clap::Args;

use super::{bars, compute, out_folder, read_case};
use crate::{
    cli::{Common, say},
    error::Result,
    learn::{AblationOptions, Ablations},
    report,
};

/// Train variants that differ from a case in one thing, and judge them side by side
#[derive(Debug, Args)]
pub(crate) struct AblateArguments {
    /// A case (`rumple schema learn`) [default: the arm scene at the small size]
    #[arg(value_name = "CASE.json")]
    case: Option<PathBuf>,
    /// Folder of the runs; the same command goes on with what was stopped [default: the case's file name and
    /// -ablations, here]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// case, zero, graph1 to graph3, rnn, lstm, yield30, yield60, yield90, cycles1 to cycles6, regression,
    /// crease_regression, regressions (both), once, gradient, printed [default: all]
    #[arg(long, value_delimiter = ',', value_name = "NAME,…")]
    only: Vec<String>,
    /// Train each with these seeds, and give the spread [default: that of the case]
    #[arg(long, value_delimiter = ',', value_name = "N,…")]
    seeds: Vec<u64>,
}

pub(crate) fn run(common: &Common, arguments: &AblateArguments) -> Result<()> {
    let compute = compute(common)?;
    let case = read_case(common, arguments.case.as_deref())?;
    let folder = out_folder(&arguments.out, arguments.case.as_deref(), "ablations");
    let options = AblationOptions {
        only: arguments.only.clone(),
        seeds: arguments.seeds.clone(),
    };
    let found = bars::ablations(&case, &folder, &options, &compute)?;
    if !found.rows.is_empty() {
        report(common, &found)?;
    }
    // What failed makes the command fail, after everything else.
    found.check()
}

fn report(common: &Common, found: &Ablations) -> Result<()> {
    report::learn::ablations::draw(found)?;
    common.answer(|| found.to_json(), || report::learn::ablations::text(found))?;
    say(&format!(
        "results: {} (ablations.md, ablations.csv, ablations.json, ablations.svg, a folder a run, evaluations with pictures)",
        found.folder().display()
    ));
    Ok(())
}
