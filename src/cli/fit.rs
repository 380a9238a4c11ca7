//! `rumple fit`

mod folder;
pub(super) mod input;
mod shard;

use std::{
    path::{Path, PathBuf},
    time::Instant,
};

use clap::{Args, ValueEnum};

pub(super) use folder::{Begun, CASE, JOURNAL, Opened, file_names};
use folder::{fingerprint, new_folder};
use input::{Changes, inputs};

use super::{Common, interrupted, print, say};
use crate::{
    error::{Error, Result, bad_input},
    files::write_whole,
    fit::{
        case::Source,
        data::DataFile,
        dataset::Dataset,
        defaults::complete,
        result::FitResult,
        run::{Fit, News, Optimizer},
    },
    report,
    study::{Shard, Wish, journal::Journal},
};

/// Fit fabric parameters to measured recovery angles and bending loops, with error bars
#[derive(Debug, Args)]
pub struct Arguments {
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

pub fn run(common: &Common, arguments: &Arguments) -> Result<()> {
    #[cfg(feature = "mpi")]
    let company = crate::optimize::ranks::Company::join();
    #[cfg(feature = "mpi")]
    if let Some(company) = company.as_ref().filter(|c| !c.leads()) {
        return serve(common, company);
    }
    let folder = match &arguments.resume {
        Some(folder) => folder.clone(),
        None => begin(common, arguments)?,
    };
    let changed = arguments.changes.any() || arguments.optimizer.is_some() || common.seed.is_some();
    if arguments.resume.is_some() && changed {
        return bad_input(
            "--resume goes on with the case as it was begun; leave the other options out, or start another fit",
        );
    }
    #[cfg(feature = "mpi")]
    if let Some(company) = &company {
        company.announce(&folder);
        return finish_with(common, &folder, &|fit| {
            fit.problem.ranks = Some(company.ranks())
        });
    }
    finish(common, &folder)
}

/// A rank that does not lead: evaluates points of the case in the folder that the first rank names.
#[cfg(feature = "mpi")]
fn serve(common: &Common, company: &crate::optimize::ranks::Company) -> Result<()> {
    let Some(folder) = company.folder() else {
        return Ok(());
    };
    let inputs = folder::inputs_of(&folder);
    let fit = inputs.as_ref().map_err(|e| Error::Device(e.to_string()));
    let fit = fit.and_then(|(case, data)| Fit::new(common.compute()?, case, data, Optimizer::Lm));
    let problem = fit.as_ref().map_err(|e| Error::Device(e.to_string()));
    company.serve(problem.map(|fit| &fit.problem as &dyn crate::optimize::Problem));
    Ok(())
}

/// Fits a case or data with nothing else said, and gives the folder.
pub(super) fn fitted(common: &Common, inputs: &[PathBuf]) -> Result<PathBuf> {
    let arguments = Arguments {
        inputs: inputs.to_vec(),
        out: None,
        resume: None,
        shard: None,
        optimizer: None,
        changes: Changes::default(),
    };
    let folder = begin(common, &arguments)?;
    let on = format!("`rumple fit --resume {}` then goes on", folder.display());
    let result =
        go_on(Opened::new(common, &folder)?, &folder, &|_| {}).map_err(|e| e.with_remedy(&on))?;
    if result.interrupted {
        return Err(Error::Interrupted(format!("interrupted; {on}")));
    }
    say(&format!("fit: {}", folder.display()));
    Ok(folder)
}

/// Goes on with the fit of a folder to the end, or to the end of its share, and reports.
pub(super) fn finish(common: &Common, folder: &Path) -> Result<()> {
    finish_with(common, folder, &|_| {})
}

/// [`finish`] after a last change to the fit that changes no result, such as who computes it.
fn finish_with(common: &Common, folder: &Path, prepare: &dyn Fn(&mut Fit)) -> Result<()> {
    let on = format!("`rumple fit --resume {}` then goes on", folder.display());
    let opened = Opened::new(common, folder)?;
    if opened.shard().is_whole() {
        let result = go_on(opened, folder, prepare).map_err(|e| e.with_remedy(&on))?;
        return report(common, folder, &result);
    }
    shard::run(opened, folder, prepare).map_err(|e| e.with_remedy(&on))
}

/// Makes the folder of a new fit: case, data, and the journal's first entry.
fn begin(common: &Common, arguments: &Arguments) -> Result<PathBuf> {
    let (mut case, texts) = inputs(&arguments.inputs)?;
    arguments.changes.apply(&mut case)?;
    if let Some(seed) = common.seed {
        case.seed = seed;
    }
    let files: Result<Vec<(&Source, DataFile)>> = case
        .data
        .iter()
        .zip(&texts)
        .map(|(source, (name, text))| Ok((source, DataFile::parse(text, name)?)))
        .collect();
    let data = Dataset::gather(&case, &files?)?;
    let mut case = complete(&case, &data)?;
    let optimizer = match arguments.optimizer {
        Some(OptimizerName::Adam) => Optimizer::Adam,
        _ => Optimizer::Lm,
    };
    // Everything that can be wrong is found before a folder is made.
    Fit::new(common.compute()?, &case, &data, optimizer)?;
    let names = file_names(&texts);
    for (source, name) in case.data.iter_mut().zip(&names) {
        source.file = format!("data/{name}");
    }
    let folder = match (&arguments.out, arguments.shard) {
        (Some(folder), Some(shard)) => {
            if shard::is_begun(folder, shard, &case, &texts)? {
                return Ok(folder.clone());
            }
            std::fs::create_dir_all(folder).map_err(|e| Error::writing(folder, e))?;
            folder.clone()
        }
        _ => new_folder(&arguments.out, &case.name)?,
    };
    let data_folder = folder.join("data");
    std::fs::create_dir_all(&data_folder).map_err(|e| Error::writing(&data_folder, e))?;
    for ((_, text), name) in texts.iter().zip(names) {
        write_whole(&data_folder.join(name), text.as_bytes())?;
    }
    write_whole(
        &folder.join(CASE),
        format!("{:#}\n", case.to_json()).as_bytes(),
    )?;
    let mut journal = Journal::open(&folder.join(JOURNAL))?;
    let begun = Begun {
        version: env!("CARGO_PKG_VERSION").into(),
        optimizer,
        device: common.compute()?.describe(),
        command: std::env::args().collect::<Vec<_>>().join(" "),
        fingerprint: fingerprint(&folder, &case)?,
        shard: arguments
            .shard
            .filter(|s| !s.is_whole())
            .map(|s| s.to_string()),
    };
    journal.put("begun", &begun)?;
    say(&format!(
        "case: {} (edit a copy to change bounds, priors, ties)",
        folder.join(CASE).display()
    ));
    Ok(folder)
}

/// Runs a fit whose folder is there, from wherever its journal ends.
fn go_on(mut opened: Opened, folder: &Path, prepare: &dyn Fn(&mut Fit)) -> Result<FitResult> {
    let clock = Instant::now();
    let (device, command) = (opened.begun.device.clone(), opened.begun.command.clone());
    let (mut fit, journal) = opened.fit()?;
    prepare(&mut fit);
    let mut result = watched(&fit, journal)?;
    result.run.command = command;
    result.run.device = device;
    result.run.seconds = clock.elapsed().as_secs_f64();
    if let Ok(before) = report::fit::folder::load(folder) {
        result.bootstrap = before.bootstrap;
        if !before.interrupted {
            // Those of `rumple profile` are finer.
            result.profiles = before.profiles;
        }
    }
    report::fit::folder::save(folder, result)
}

/// The run with a progress line, stopped by Ctrl-C.
fn watched(fit: &Fit, journal: &mut Journal) -> Result<FitResult> {
    let progress = super::spinner("fitting".into());
    // Listens from here on: the first round may be a long one.
    interrupted();
    let result = fit.run(journal, &mut |news| {
        progress.set_message(message(fit, news));
        if interrupted() {
            Wish::Stop
        } else {
            Wish::GoOn
        }
    });
    progress.finish_and_clear();
    result
}

/// How far a fit is, in words.
fn message(fit: &Fit, news: News) -> String {
    let stages = crate::optimize::Problem::stages(&fit.problem);
    match news {
        News::Search(p) => {
            let moving = p.walkers.iter().filter(|w| w.outcome.is_none()).count();
            let best = p.best().map_or("-".into(), |b| format!("{:.3}", b.1));
            format!(
                "stage {} of {stages}: {moving} of {} starts moving, best cost {best}, round {}",
                (p.stage + 1).min(stages),
                p.walkers.len(),
                p.trace.len()
            )
        }
        News::Profile(done, all) => format!("profile likelihoods: {done} of {all} sides"),
    }
}

fn report(common: &Common, folder: &Path, result: &FitResult) -> Result<()> {
    if common.json {
        print(&format!("{}\n", report::fit::folder::to_json(result)?))?;
    } else {
        print(&report::fit::text::terminal(result))?;
    }
    let materials: Vec<&str> = result.files.iter().map(String::as_str).collect();
    let materials: Vec<&str> = materials
        .into_iter()
        .filter(|f| f.starts_with("material"))
        .collect();
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
