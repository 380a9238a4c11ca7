//! `rumple profile`, `rumple bootstrap` and `rumple report`: more from a finished fit.

use std::path::{Path, PathBuf};

use clap::Args;

use super::{Common, Shown, count, fit, say};
use crate::{
    error::Result,
    fit::{FitJob, folder::save, result::FitResult},
    study::Shard,
};

/// Finer and wider profile likelihoods of a finished fit, to 99.7 %
#[derive(Debug, Args)]
pub(crate) struct ProfileArguments {
    /// Folder of the fit
    #[arg(value_name = "DIR")]
    folder: PathBuf,
}

/// Parametric bootstrap of a finished fit: intervals from refitted synthetic data
#[derive(Debug, Args)]
pub(crate) struct BootstrapArguments {
    /// Folder of the fit
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Data sets to draw and fit
    #[arg(long, default_value = "200", value_parser = count)]
    samples: usize,
    /// Draw only this share of the samples, 2/4 for example; `rumple merge` joins the shares. The same
    /// command goes on with a share that was stopped
    #[arg(long, value_name = "I/N", requires = "out")]
    shard: Option<Shard>,
    /// Folder of the share: a copy of the fit and the samples
    #[arg(long, value_name = "DIR", requires = "shard")]
    out: Option<PathBuf>,
}

/// Draw the reports and plots of a fit again from its result.json
#[derive(Debug, Args)]
pub(crate) struct ReportArguments {
    /// Folder of the fit
    #[arg(value_name = "DIR")]
    folder: PathBuf,
}

pub(crate) fn run_profile(common: &Common, arguments: &ProfileArguments) -> Result<()> {
    let folder = &arguments.folder;
    let mut shown = Shown::line("profile likelihoods", "sides");
    let result = FitJob::profile(folder, &common.compute()?, &mut |news| shown.hear(news))?;
    drop(shown);
    finish(common, folder, result)
}

pub(crate) fn run_bootstrap(common: &Common, arguments: &BootstrapArguments) -> Result<()> {
    let (folder, samples) = (&arguments.folder, arguments.samples);
    let compute = common.compute()?;
    let mut shown = Shown::line("bootstrap", "batches");
    let mut watch = |news: crate::study::News| shown.hear(news);
    let (out, result) = match (&arguments.out, arguments.shard) {
        (Some(out), Some(shard)) => {
            let both = (folder.as_path(), out.as_path());
            let drawn = FitJob::bootstrap_share(both, &compute, samples, shard, &mut watch)?;
            let Some(result) = drawn else {
                drop(shown);
                fit::say_share(out, shard);
                return Ok(());
            };
            (out, result)
        }
        _ => {
            let drawn = FitJob::bootstrap(folder, &compute, samples, &mut watch)?;
            (folder, drawn)
        }
    };
    drop(shown);
    finish(common, out, result)
}

pub(crate) fn run_report(common: &Common, arguments: &ReportArguments) -> Result<()> {
    let folder = &arguments.folder;
    finish(common, folder, save(folder, FitResult::load(folder)?)?)
}

fn finish(common: &Common, folder: &Path, result: FitResult) -> Result<()> {
    let result = result.draw(folder)?;
    common.answer(|| &result, || result.in_words())?;
    say(&format!(
        "results: {} (report.html, plots, …)",
        folder.display()
    ));
    Ok(())
}
