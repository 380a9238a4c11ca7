//! `rumple compare`

use std::path::PathBuf;

use clap::Args;

use super::{Common, say};
use crate::{
    error::{Error, Result},
    fit::folder::load,
    report,
};

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
    let [a, b] = [&arguments.a, &arguments.b].map(|folder| load(folder));
    let (a, b) = (a?, b?);
    let json = || report::fit::text::compare_json(&a, &b);
    common.answer(json, || report::fit::text::compare(&a, &b))?;
    let out = match &arguments.out {
        Some(folder) => folder.clone(),
        None if common.json => return Ok(()),
        None => PathBuf::from("compare"),
    };
    std::fs::create_dir_all(&out).map_err(|e| Error::writing(&out, e))?;
    for (_, (stem, _, picture)) in report::fit::plots::comparison(&a, &b) {
        for kind in ["svg", "png"] {
            picture.save(&out.join(format!("{stem}.{kind}")))?;
        }
    }
    say(&format!("overlaid curves: {}", out.display()));
    Ok(())
}
