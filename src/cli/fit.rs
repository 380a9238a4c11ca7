//! `rumple fit`

mod changes;

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

use self::changes::Changes;
use super::{Common, Shown, say};
use crate::{
    error::{Error, Result, bad_input},
    fit::{
        FitFolder, FitJob, Measurements, input::CASE, result::FitResult, run::SearchMethod, spread,
    },
    study::{Folder, JOURNAL, Shard},
};

/// Fit fabric parameters to measured recovery angles and bending loops, with error bars
#[derive(Debug, Args)]
pub(crate) struct FitArguments {
    /// A case (.json) or measurement files (.csv), for which a case is built [default: the shipped
    /// synthetic Levison-like cotton set]
    #[arg(value_name = "CASE.json|DATA.csv")]
    inputs: Vec<PathBuf>,
    /// Folder of the results, made new [default: NAME-fit here]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Go on with a fit that was stopped
    #[arg(long, value_name = "DIR", conflicts_with_all = ["inputs", "out"])]
    resume: Option<PathBuf>,
    /// Search only this share of the starts, 2/4 for example; `rumple merge` joins the shares. The same
    /// command goes on with a share that was stopped
    #[arg(long, value_name = "I/N", requires = "out", conflicts_with = "resume")]
    shard: Option<Shard>,
    /// How to look for the optimum
    #[arg(long, value_enum)]
    optimizer: Option<OptimizerName>,
    /// Ask whether yarns differ: fit with equal yarns, with a spread of their friction thresholds, with a
    /// spread of their flow times, and with spreads of the thresholds and both times; keep the fit with the
    /// lowest AIC, and report all four
    #[arg(long, conflicts_with_all = ["resume", "shard"])]
    spread: bool,
    #[command(flatten)]
    changes: Changes,
}

#[derive(Debug, Clone, Copy, PartialEq, ValueEnum)]
enum OptimizerName {
    /// Levenberg-Marquardt with exact Jacobians
    Lm,
    /// burn's Adam, gradients only
    Adam,
}

pub(crate) fn run(common: &Common, arguments: &FitArguments) -> Result<()> {
    #[cfg(feature = "mpi")]
    let company = crate::optimize::ranks::Company::join();
    #[cfg(feature = "mpi")]
    if let Some(company) = company.as_ref().filter(|c| !c.leads()) {
        FitFolder::follow(company, common.compute());
        return Ok(());
    }
    if let Some(fitted) = spread(common, arguments)? {
        return Ok(fitted);
    }
    let opened = match &arguments.resume {
        Some(folder) => {
            refuse_changes(common, arguments)?;
            FitFolder::open(folder, &common.compute()?)?
        }
        None => begin(common, arguments)?,
    };
    #[cfg(feature = "mpi")]
    let mut opened = opened;
    #[cfg(feature = "mpi")]
    if let Some(company) = &company {
        opened.lead(company);
    }
    let (folder, shard) = (opened.folder.clone(), opened.shard());
    match go_on(opened)? {
        Some(result) => report(common, folder.path(), &result),
        None => {
            say_share(folder.path(), shard);
            Ok(())
        }
    }
}

fn refuse_changes(common: &Common, arguments: &FitArguments) -> Result<()> {
    let changes = arguments.changes.any();
    if changes || arguments.optimizer.is_some() || common.seed.is_some() {
        return bad_input(
            "--resume goes on with the case as it was begun; leave the other options out, or start another fit",
        );
    }
    Ok(())
}

/// Fits a case or data with nothing else said, and gives the folder.
pub(super) fn fitted(common: &Common, inputs: &[PathBuf]) -> Result<PathBuf> {
    let arguments = FitArguments {
        inputs: inputs.to_vec(),
        out: None,
        resume: None,
        shard: None,
        optimizer: None,
        spread: false,
        changes: Changes::default(),
    };
    let opened = begin(common, &arguments)?;
    let folder = opened.folder.path().to_path_buf();
    if go_on(opened)?.is_some_and(|result| result.interrupted) {
        return Err(Error::Interrupted(format!(
            "interrupted; {}",
            remedy(&folder)
        )));
    }
    say(&format!("fit: {}", folder.display()));
    Ok(folder)
}

/// Makes the folder of a new fit.
fn begin(common: &Common, arguments: &FitArguments) -> Result<FitFolder> {
    let (job, folder) = asked_for(common, arguments)?;
    let begun = FitFolder::begin(&job, folder.path())?;
    say(&format!(
        "case: {} (edit a copy to change bounds, priors, ties)",
        folder.file(CASE).display()
    ));
    Ok(begun)
}

/// The job of the arguments, and its folder.
fn asked_for(common: &Common, arguments: &FitArguments) -> Result<(FitJob, Folder)> {
    let mut measurements = Measurements::read(&arguments.inputs)?;
    arguments.changes.apply(&mut measurements.case)?;
    if let Some(seed) = common.seed {
        measurements.case.seed = seed;
    }
    let name = measurements.case.name.clone();
    let mut job = FitJob::of(measurements, common.compute()?);
    if let Some(OptimizerName::Adam) = arguments.optimizer {
        job.optimizer = SearchMethod::Adam;
    }
    job.shard = arguments.shard.unwrap_or(Shard::WHOLE);
    let folder = match &arguments.out {
        Some(folder) => Folder::new(folder),
        None => Folder::named(&name, "fit").or_next_free(),
    };
    let path = folder.path().display();
    if arguments.shard.is_none() && (folder.has(JOURNAL) || spread::begun(folder.path())) {
        return folder.refuse(format!(
            "there is a fit in it already; `rumple fit --resume {path}` goes on with it, or give another --out"
        ));
    }
    Ok((job, folder))
}

/// Fits with and without spreads, begun or gone on with; none where they were not asked for.
fn spread(common: &Common, arguments: &FitArguments) -> Result<Option<()>> {
    let (job, folder) = match &arguments.resume {
        Some(path) if spread::begun(path) => {
            refuse_changes(common, arguments)?;
            (spread::job_of(path, &common.compute()?)?, Folder::new(path))
        }
        None if arguments.spread => asked_for(common, arguments)?,
        _ => return Ok(None),
    };
    let mut shown = Shown::line("fitting", "starts");
    let result = job.run_with_spreads(folder.path(), &mut |news| shown.hear(news))?;
    drop(shown);
    let drawn = result.draw(folder.path());
    let result = drawn.map_err(|e| e.with_remedy(&remedy(folder.path())))?;
    report(common, folder.path(), &result).map(Some)
}

/// Runs a fit to its end and draws its reports; none where it was a share.
fn go_on(opened: FitFolder) -> Result<Option<FitResult>> {
    let folder = opened.folder.clone();
    let mut shown = Shown::line("fitting", "starts");
    let result = opened.run(&mut |news| shown.hear(news))?;
    drop(shown);
    let drawn = result.map(|result| result.draw(folder.path()));
    drawn
        .transpose()
        .map_err(|e| e.with_remedy(&remedy(folder.path())))
}

fn remedy(folder: &Path) -> String {
    format!("`rumple fit --resume {}` then goes on", folder.display())
}

/// Says what is next after a share.
pub(super) fn say_share(folder: &Path, shard: Shard) {
    say(&format!(
        "results: {} (shard {shard}, done); `rumple merge DIR… --out DIR` joins the folders of all shards",
        folder.display()
    ));
}

/// Prints a result and says where it is.
pub(super) fn report(common: &Common, folder: &Path, result: &FitResult) -> Result<()> {
    common.answer(|| result, || result.in_words())?;
    let materials = result.files.iter().map(String::as_str);
    let materials: Vec<&str> = materials.filter(|f| f.starts_with("material")).collect();
    say(&format!(
        "results: {} (report.html, {}, plots, …)",
        folder.display(),
        materials.join(", ")
    ));
    if result.interrupted {
        return Err(Error::Interrupted(format!(
            "interrupted; `rumple fit --resume {}` goes on",
            folder.display()
        )));
    }
    Ok(())
}
