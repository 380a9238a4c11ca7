//! `rumple compare`

use std::path::PathBuf;

use clap::Args;

use super::{Common, say};
use crate::{error::Result, fit::FitResult};

/// Two fits side by side: parameters, AIC and BIC weights, overlaid curves
#[derive(Debug, Args)]
pub(crate) struct CompareArguments {
    /// Folder of a fit
    #[arg(value_name = "DIR")]
    a: PathBuf,
    /// Folder of another fit
    #[arg(value_name = "DIR")]
    b: PathBuf,
    /// Folder of the overlaid curves [default: compare, none with --json]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

pub(crate) fn run(common: &Common, arguments: &CompareArguments) -> Result<()> {
    let [a, b] = [&arguments.a, &arguments.b].map(|folder| FitResult::load(folder));
    let (a, b) = (a?, b?);
    common.answer(|| a.compared(&b), || a.compared_in_words(&b))?;
    let out = match &arguments.out {
        Some(folder) => folder.clone(),
        None if common.json => return Ok(()),
        None => PathBuf::from("compare"),
    };
    a.draw_compared(&b, &out)?;
    say(&format!("overlaid curves: {}", out.display()));
    Ok(())
}
