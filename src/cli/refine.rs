//! `rumple profile`, `rumple bootstrap` and `rumple report`: more from a finished fit.

use std::path::{Path, PathBuf};

use clap::Args;

use super::{
    Common, count,
    fit::{Begun, CASE, JOURNAL, Opened},
    interrupted, print, say, spinner,
};
use crate::{
    error::{Error, Result, bad_input},
    files::{read_text, write_whole},
    fit::{case::Case, result::FitResult, run::News},
    report,
    study::{Shard, Wish, journal::Journal},
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
pub struct ReportArguments {
    /// Folder of the fit
    #[arg(value_name = "DIR")]
    folder: PathBuf,
}

/// Key of the number of samples that were asked for last.
pub(super) const SAMPLES: &str = "bootstrap/samples";
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
    let samples = arguments.samples;
    if !(2..=MOST_SAMPLES).contains(&samples) {
        return bad_input(format!(
            "--samples {samples} cannot be drawn; give 2 to {MOST_SAMPLES} (200 are usual)"
        ));
    }
    match (&arguments.out, arguments.shard) {
        (Some(out), Some(shard)) => {
            finished(&arguments.folder)?;
            copy_fit(&arguments.folder, out)?;
            draw(common, Opened::new(common, out)?, out, samples, shard)
        }
        _ => {
            let folder = &arguments.folder;
            draw(
                common,
                Opened::new(common, folder)?,
                folder,
                samples,
                Shard::WHOLE,
            )
        }
    }
}

/// Draws the samples of a shard in a folder; where no other shard has any left, reports.
pub(super) fn draw(
    common: &Common,
    mut opened: Opened,
    folder: &Path,
    samples: usize,
    shard: Shard,
) -> Result<()> {
    let mut result = finished(folder)?;
    let progress = spinner("bootstrap".into());
    let (fit, journal) = opened.fit()?;
    journal.put(SAMPLES, &samples)?;
    let drawn = fit.bootstrap(journal, samples, shard, &mut |p| {
        progress.set_message(format!("bootstrap: {} of {} batches", p.done, p.all));
        wish()
    });
    progress.finish_and_clear();
    match drawn? {
        Some(drawn) => {
            result.bootstrap = Some(drawn);
            finish(common, folder, result)
        }
        None => {
            say(&format!(
                "results: {} (shard {shard}, done); `rumple merge DIR… --out DIR` joins the folders of all shards",
                folder.display()
            ));
            Ok(())
        }
    }
}

/// The folder of a finished fit once more, for a share of its bootstrap; one that is there already is kept.
fn copy_fit(fit: &Path, out: &Path) -> Result<()> {
    if out.join(report::fit::folder::RESULT).is_file() {
        let begun = |folder: &Path| Journal::read(&folder.join(JOURNAL))?.get::<Begun>("begun");
        if begun(fit)? != begun(out)? {
            return bad_input(format!(
                "{}: it holds another fit than {}; give another --out",
                out.display(),
                fit.display()
            ));
        }
        return Ok(());
    }
    copy_inputs(fit, out)?;
    for name in [JOURNAL, report::fit::folder::RESULT] {
        // The result last: a copy that was cut short is made again.
        let bytes =
            std::fs::read(fit.join(name)).map_err(|e| Error::reading(&fit.join(name), e))?;
        write_whole(&out.join(name), &bytes)?;
    }
    Ok(())
}

/// Case and data of a fit's folder, copied to another.
pub(super) fn copy_inputs(from: &Path, to: &Path) -> Result<()> {
    let text = read_text(&from.join(CASE))?;
    let case = Case::parse(&text, &from.join(CASE).display().to_string())?;
    let data = to.join("data");
    std::fs::create_dir_all(&data).map_err(|e| Error::writing(&data, e))?;
    for source in &case.data {
        write_whole(
            &to.join(&source.file),
            read_text(&from.join(&source.file))?.as_bytes(),
        )?;
    }
    write_whole(&to.join(CASE), text.as_bytes())
}

pub fn report(common: &Common, arguments: &ReportArguments) -> Result<()> {
    let result = report::fit::folder::load(&arguments.folder)?;
    finish(common, &arguments.folder, result)
}

/// The result of a fit that went to its end: an interrupted one may still find a better optimum.
pub(super) fn finished(folder: &Path) -> Result<FitResult> {
    // Listens from here on: the first step may be a long one, or none.
    interrupted();
    let result = report::fit::folder::load(folder)?;
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
    let result = report::fit::folder::save(folder, result)?;
    if common.json {
        print(&format!("{}\n", report::fit::folder::to_json(&result)?))?;
    } else {
        print(&report::fit::text::terminal(&result))?;
    }
    say(&format!(
        "results: {} (report.html, plots, …)",
        folder.display()
    ));
    Ok(())
}
