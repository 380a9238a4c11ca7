//! `rumple fit`

use std::{
    path::{Path, PathBuf},
    time::Instant,
};

use clap::{Args, ValueEnum};
use serde::{Deserialize, Serialize};

use super::{Common, interrupted, print, say};
use crate::{
    calibrate::{
        case::{Case, HoldOutRule, Source, TestSettings},
        data::DataFile,
        dataset::Dataset,
        defaults::complete,
        result::FitResult,
        run::{Fit, News, Optimizer},
    },
    error::{Error, Result, bad_input, unknown},
    files::{read_text, write_whole},
    fit::{Loss, journal::Journal, multistart::Wish},
    material::LawName,
    numeric::Compute,
    report::{fit_folder, fit_text},
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

/// What the command line changes in a case.
#[derive(Debug, Args)]
struct Changes {
    /// Law: time_dependent, hardening_plastic, …
    #[arg(long)]
    law: Option<String>,
    /// Relaxation branches of the time-dependent law
    #[arg(long, value_name = "N")]
    branches: Option<usize>,
    /// Only this fabric of the data
    #[arg(long)]
    fabric: Option<String>,
    /// Only this direction of the data, such as warp
    #[arg(long)]
    direction: Option<String>,
    /// Gap where the data give none
    #[arg(long, value_name = "MM")]
    gap_mm: Option<f64>,
    /// Gaps that are predicted, not fitted
    #[arg(long, value_delimiter = ',', value_name = "MM,…")]
    hold_out_gap_mm: Vec<f64>,
    /// squares, huber or cauchy
    #[arg(long)]
    loss: Option<String>,
    /// Starts of the search
    #[arg(long, value_name = "N")]
    starts: Option<usize>,
}

/// The case that runs without arguments, and its data.
const SHIPPED_CASE: &str = include_str!("../../fits/levison_cotton/case.json");
const SHIPPED_DATA: &str = include_str!("../../data/levison_like_cotton.csv");

const CASE: &str = "case.json";
const JOURNAL: &str = "journal.jsonl";

/// First entry of a journal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Begun {
    version: String,
    optimizer: Optimizer,
    device: String,
    /// Of the case and the data, so that nothing changes under a fit.
    fingerprint: u64,
}

pub fn run(common: &Common, arguments: &Arguments) -> Result<()> {
    let folder = match &arguments.resume {
        Some(folder) => folder.clone(),
        None => begin(common, arguments)?,
    };
    let result = go_on(common, arguments, &folder).map_err(|e| kept(e, &folder))?;
    report(common, &folder, &result)
}

/// A full disk loses nothing; says how to go on.
fn kept(error: Error, folder: &Path) -> Error {
    match error {
        Error::Io {
            path,
            source,
            remedy,
        } => Error::Io {
            path,
            source,
            remedy: format!(
                "{remedy}; `rumple fit --resume {}` then goes on",
                folder.display()
            ),
        },
        other => other,
    }
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
    let folder = new_folder(&arguments.out, &case.name)?;
    let data_folder = folder.join("data");
    std::fs::create_dir_all(&data_folder).map_err(|e| Error::writing(&data_folder, e))?;
    let names = file_names(&texts);
    for ((source, (_, text)), name) in case.data.iter_mut().zip(&texts).zip(names) {
        write_whole(&data_folder.join(&name), text.as_bytes())?;
        source.file = format!("data/{name}");
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
        fingerprint: fingerprint(&folder, &case)?,
    };
    journal.put("begun", &begun)?;
    say(&format!(
        "case: {} (edit a copy to change bounds, priors, ties)",
        folder.join(CASE).display()
    ));
    Ok(folder)
}

/// A name of its own for every data file: files of two folders may share one.
fn file_names(texts: &[(String, String)]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for (path, _) in texts {
        let name = Path::new(path).file_name().unwrap_or_default();
        let name = name.to_string_lossy().to_string();
        let numbered = (2..).map(|i| format!("{i}-{name}"));
        let mut candidates = std::iter::once(name.clone()).chain(numbered);
        let free = candidates.find(|n| !names.contains(n));
        names.push(free.unwrap_or(name));
    }
    names
}

/// A fit's folder, read and checked.
pub(super) struct Opened {
    pub case: Case,
    pub data: Dataset,
    pub journal: Journal,
    compute: Compute,
    begun: Begun,
}

impl Opened {
    /// Opens a folder that [`begin`] made, on the device where it was begun.
    pub(super) fn new(common: &Common, folder: &Path) -> Result<Opened> {
        let path = folder.join(JOURNAL);
        if !path.is_file() {
            return bad_input(format!(
                "{}: no {JOURNAL} in it, so no fit was begun there; start one with `rumple fit … --out DIR`",
                folder.display()
            ));
        }
        let journal = Journal::open(&path)?;
        let Some(begun) = journal.get::<Begun>("begun")? else {
            return bad_input(format!(
                "{}: the fit was stopped before it began; remove the folder and start it again",
                folder.display()
            ));
        };
        let place = folder.join(CASE);
        let case = Case::parse(&read_text(&place)?, &place.display().to_string())?;
        if fingerprint(folder, &case)? != begun.fingerprint {
            return bad_input(format!(
                "{}: {CASE} or its data have changed since the fit began; start another one with --out",
                folder.display()
            ));
        }
        let compute = common.compute()?;
        if compute.describe() != begun.device || begun.version != env!("CARGO_PKG_VERSION") {
            return bad_input(format!(
                "{}: begun on {} by version {}, and this is {} and version {}; go on with the same, or start another one",
                folder.display(),
                begun.device,
                begun.version,
                compute.describe(),
                env!("CARGO_PKG_VERSION")
            ));
        }
        let data = Dataset::read(&case, folder)?;
        Ok(Opened {
            case: complete(&case, &data)?,
            data,
            journal,
            compute,
            begun,
        })
    }

    /// The fit, and its journal.
    pub(super) fn fit(&mut self) -> Result<(Fit<'_>, &mut Journal)> {
        let fit = Fit::new(
            self.compute.clone(),
            &self.case,
            &self.data,
            self.begun.optimizer,
        )?;
        Ok((fit, &mut self.journal))
    }
}

/// Runs a fit whose folder is there, from wherever its journal ends.
fn go_on(common: &Common, arguments: &Arguments, folder: &Path) -> Result<FitResult> {
    let clock = Instant::now();
    let changed = arguments.changes.any() || arguments.optimizer.is_some() || common.seed.is_some();
    if arguments.resume.is_some() && changed {
        return bad_input(
            "--resume goes on with the case as it was begun; leave the other options out, or start another fit",
        );
    }
    let mut opened = Opened::new(common, folder)?;
    let device = opened.begun.device.clone();
    let (fit, journal) = opened.fit()?;
    let mut result = watched(&fit, journal)?;
    result.run.command = std::env::args().collect::<Vec<_>>().join(" ");
    result.run.device = device;
    result.run.seconds = clock.elapsed().as_secs_f64();
    if let Ok(before) = fit_folder::load(folder) {
        result.bootstrap = before.bootstrap;
        if !before.interrupted {
            // Those of `rumple profile` are finer.
            result.profiles = before.profiles;
        }
    }
    fit_folder::save(folder, result)
}

/// The run with a progress line, stopped by Ctrl-C.
fn watched(fit: &Fit, journal: &mut Journal) -> Result<FitResult> {
    let progress = super::spinner("fitting".into());
    // Listens from here on: the first round may be a long one.
    interrupted();
    let stages = crate::fit::Problem::stages(&fit.problem);
    let result = fit.run(journal, &mut |news| {
        let message = match news {
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
        };
        progress.set_message(message);
        if interrupted() { Wish::Stop } else { Wish::GoOn }
    });
    progress.finish_and_clear();
    result
}

fn report(common: &Common, folder: &Path, result: &FitResult) -> Result<()> {
    if common.json {
        print(&format!("{}\n", fit_folder::to_json(result)?))?;
    } else {
        print(&fit_text::terminal(result))?;
    }
    say(&format!(
        "results: {} (report.html, material.json, plots, …)",
        folder.display()
    ));
    if result.interrupted {
        return Err(Error::Interrupted(format!(
            "interrupted; `rumple fit --resume {}` goes on",
            folder.display()
        )));
    }
    Ok(())
}

/// The case and the data that the command line names.
fn inputs(paths: &[PathBuf]) -> Result<(Case, Vec<(String, String)>)> {
    let is_case = |p: &PathBuf| {
        p.extension()
            .is_some_and(|e| e.eq_ignore_ascii_case("json"))
    };
    match paths {
        [] => {
            let case = Case::parse(SHIPPED_CASE, "fits/levison_cotton/case.json")?;
            let data = (
                "levison_like_cotton.csv".to_string(),
                SHIPPED_DATA.to_string(),
            );
            Ok((case, vec![data]))
        }
        [path] if is_case(path) => {
            let case = Case::parse(&read_text(path)?, &path.display().to_string())?;
            let folder = path.parent().unwrap_or(Path::new(""));
            let texts = case.data.iter().map(|source| {
                let file = folder.join(&source.file);
                Ok((file.display().to_string(), read_text(&file)?))
            });
            let texts: Result<Vec<_>> = texts.collect();
            Ok((case, texts?))
        }
        paths => {
            if let Some(path) = paths.iter().find(|p| is_case(p)) {
                return bad_input(format!(
                    "{}: a case stands alone; name its data in it",
                    path.display()
                ));
            }
            let read = |p: &PathBuf| Ok((p.display().to_string(), read_text(p)?));
            let texts: Result<Vec<_>> = paths.iter().map(read).collect();
            let texts = texts?;
            let stem = paths[0].file_stem().unwrap_or_default().to_string_lossy();
            let source = |(file, _): &(String, String)| Source {
                file: file.clone(),
                ..Source::default()
            };
            let case = Case {
                name: stem.to_string(),
                notes: Vec::new(),
                data: texts.iter().map(source).collect(),
                law: LawName::TimeDependent,
                relaxation_branches: 0,
                parameters: Vec::new(),
                tests: TestSettings::default(),
                loss: Loss::Squares,
                starts: 16,
                seed: 1,
                hold_out: HoldOutRule::default(),
            };
            Ok((case, texts))
        }
    }
}

impl Changes {
    fn any(&self) -> bool {
        self.law.is_some()
            || self.branches.is_some()
            || self.fabric.is_some()
            || self.direction.is_some()
            || self.gap_mm.is_some()
            || !self.hold_out_gap_mm.is_empty()
            || self.loss.is_some()
            || self.starts.is_some()
    }

    fn apply(&self, case: &mut Case) -> Result<()> {
        if let Some(name) = &self.law {
            let names = LawName::ALL.map(LawName::name);
            let law = LawName::ALL.into_iter().find(|l| l.name() == name);
            case.law = law.ok_or_else(|| unknown("--law", name, &names))?;
            let known: Vec<String> = case
                .build_law()
                .parameters()
                .into_iter()
                .map(|p| p.name)
                .collect();
            case.parameters.retain(|(n, _)| known.contains(n));
        }
        if let Some(branches) = self.branches {
            case.relaxation_branches = branches;
        }
        if let Some(name) = &self.loss {
            let names = Loss::ALL.map(Loss::name);
            let loss = Loss::ALL.into_iter().find(|l| l.name() == name);
            case.loss = loss.ok_or_else(|| unknown("--loss", name, &names))?;
        }
        for source in &mut case.data {
            source.fabric = self.fabric.clone().or(source.fabric.take());
            source.direction = self.direction.clone().or(source.direction.take());
        }
        case.tests.gap_mm = self.gap_mm.or(case.tests.gap_mm);
        case.starts = self.starts.unwrap_or(case.starts);
        case.hold_out.gap_mm.extend(&self.hold_out_gap_mm);
        // The checks of a case file apply to the command line too.
        *case = Case::parse(&case.to_json().to_string(), "command line")?;
        Ok(())
    }
}

/// The folder asked for, which must be new, or the first free one of a case's name.
fn new_folder(asked: &Option<PathBuf>, name: &str) -> Result<PathBuf> {
    let folder = match asked {
        Some(folder) => {
            if !folder.join(JOURNAL).exists() && folder.join(CASE).exists() {
                return bad_input(format!(
                    "{}: there is a {CASE} in it, but no fit was begun; move it away, or give another --out",
                    folder.display()
                ));
            }
            if folder.join(JOURNAL).exists() {
                return bad_input(format!(
                    "{}: there is a fit in it already; `rumple fit --resume {}` goes on with it, or give another --out",
                    folder.display(),
                    folder.display()
                ));
            }
            folder.clone()
        }
        None => {
            let word = |c: char| if c.is_alphanumeric() { c } else { '-' };
            let stem = format!("{}-fit", name.chars().map(word).collect::<String>());
            let numbered = |i: usize| {
                if i == 1 {
                    stem.clone()
                } else {
                    format!("{stem}-{i}")
                }
            };
            let free = (1..).map(numbered).find(|f| !Path::new(f).exists());
            PathBuf::from(free.unwrap_or(stem.clone()))
        }
    };
    std::fs::create_dir_all(&folder).map_err(|e| Error::writing(&folder, e))?;
    Ok(folder)
}

/// FNV-1a of the case and its data.
fn fingerprint(folder: &Path, case: &Case) -> Result<u64> {
    let mut text = read_text(&folder.join(CASE))?;
    for source in &case.data {
        text += &read_text(&folder.join(&source.file))?;
    }
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    // 53 bits: JSON numbers of other programs hold no more.
    Ok(text.bytes().fold(0xcbf2_9ce4_8422_2325, step) >> 11)
}
