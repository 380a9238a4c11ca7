//! `rumple profile`, `rumple bootstrap` and `rumple report`: more from a finished fit.

use std::path::{Path, PathBuf};

use clap::Args;

use super::{Common, count, fit::Opened, interrupted, print, say, spinner};
use crate::{
    calibrate::{result::FitResult, run::News},
    error::{Error, Result, bad_input},
    fit::multistart::Wish,
    report::{fit_folder, fit_text},
};

/// Finer and wider profile likelihoods of a finished fit, to 99.7 %
#[derive(Debug, Args)]
pub struct ProfileArguments {
    /// Folder of the fit
    #[arg(value_name = "DIR")]
    folder: PathBuf,
}

/// Parametric bootstrap of a finished fit: intervals from refitted synthetic data
#[derive(Debug, Args)]
pub struct BootstrapArguments {
    /// Folder of the fit
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Data sets to draw and fit
    #[arg(long, default_value = "200", value_parser = count, allow_negative_numbers = true)]
    samples: usize,
}

/// Draw the reports and plots of a fit again from its result.json
#[derive(Debug, Args)]
pub struct ReportArguments {
    /// Folder of the fit
    #[arg(value_name = "DIR")]
    folder: PathBuf,
}

/// Beyond this a bootstrap's journal would not be read again.
const MOST_SAMPLES: usize = 100_000;

pub fn profile(common: &Common, arguments: &ProfileArguments) -> Result<()> {
    let folder = &arguments.folder;
    let mut opened = Opened::new(common, folder)?;
    let mut result = finished(folder)?;
    let progress = spinner("profile likelihoods".into());
    let (fit, journal) = opened.fit()?;
    let profiles = fit.fine_profiles(journal, &mut |news| {
        if let News::Profile(done, all) = news {
            progress.set_message(format!("profile likelihoods: {done} of {all} sides"));
        }
        wish()
    })?;
    progress.finish_and_clear();
    match profiles {
        Some(profiles) => {
            result.profiles = profiles;
            finish(common, folder, result)
        }
        None => stopped("profile", folder),
    }
}

pub fn bootstrap(common: &Common, arguments: &BootstrapArguments) -> Result<()> {
    let (folder, samples) = (&arguments.folder, arguments.samples);
    if !(2..=MOST_SAMPLES).contains(&samples) {
        return bad_input(format!(
            "--samples {samples} cannot be drawn; give 2 to {MOST_SAMPLES} (200 are usual)"
        ));
    }
    let mut opened = Opened::new(common, folder)?;
    let mut result = finished(folder)?;
    let progress = spinner("bootstrap".into());
    let (fit, journal) = opened.fit()?;
    let drawn = fit.bootstrap(journal, samples, &mut |done| {
        progress.set_message(format!("bootstrap: {done} of {samples} samples"));
        wish()
    })?;
    progress.finish_and_clear();
    match drawn {
        Some(drawn) => {
            result.bootstrap = Some(drawn);
            finish(common, folder, result)
        }
        None => stopped("bootstrap", folder),
    }
}

pub fn report(common: &Common, arguments: &ReportArguments) -> Result<()> {
    let result = fit_folder::load(&arguments.folder)?;
    finish(common, &arguments.folder, result)
}

/// The result of a fit that went to its end: an interrupted one may still find a better optimum.
fn finished(folder: &Path) -> Result<FitResult> {
    // Listens from here on: the first step may be a long one, or none.
    interrupted();
    let result = fit_folder::load(folder)?;
    if result.interrupted {
        return bad_input(format!(
            "{}: its fit was interrupted; finish it first with `rumple fit --resume {}`",
            folder.display(),
            folder.display()
        ));
    }
    Ok(result)
}

fn wish() -> Wish {
    if interrupted() {
        Wish::Stop
    } else {
        Wish::GoOn
    }
}

fn stopped(command: &str, folder: &Path) -> Result<()> {
    Err(Error::Interrupted(format!(
        "interrupted; `rumple {command} {}` goes on where it stopped",
        folder.display()
    )))
}

fn finish(common: &Common, folder: &Path, result: FitResult) -> Result<()> {
    let result = fit_folder::save(folder, result)?;
    if common.json {
        print(&format!("{}\n", fit_folder::to_json(&result)?))?;
    } else {
        print(&fit_text::terminal(&result))?;
    }
    say(&format!(
        "results: {} (report.html, plots, …)",
        folder.display()
    ));
    Ok(())
}
