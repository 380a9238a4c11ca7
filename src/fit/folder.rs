//! The folder of a fit: case, data and journal, made once and opened again and again, and the result.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::{
    case::Case,
    dataset::Dataset,
    defaults::complete,
    export,
    input::{CASE, Measurements, dataset},
    problem::Calibration,
    result::FitResult,
    run::{Fit, SearchMethod},
};
use crate::{
    error::{Error, Result},
    numeric::{Compute, Precision},
    study::{self, Folder, Inputs, JOURNAL, Maker, Shard, journal::Journal},
};

/// Name of the result in its folder.
pub(crate) const RESULT: &str = "result.json";
/// Key of the journal's first entry.
const BEGUN: &str = "begun";

/// First entry of a journal: what the folder belongs to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Begun {
    #[serde(flatten)]
    maker: Maker,
    optimizer: SearchMethod,
    command: String,
    /// Of the case and the data, so that nothing changes under a fit.
    fingerprint: u64,
    /// The share of the starts that is searched here, as `2/4`; none for all of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    shard: Option<String>,
}

impl Begun {
    fn shard(&self) -> Shard {
        let shard = self.shard.as_ref().and_then(|s| s.parse().ok());
        shard.unwrap_or(Shard::WHOLE)
    }
}

/// What is to be fitted, and how.
#[derive(Debug, Clone)]
pub struct FitJob {
    /// The case and its data, as they were read.
    pub measurements: Measurements,
    pub compute: Compute,
    /// How to look for the optimum.
    pub optimizer: SearchMethod,
    /// The share of the starts that is searched.
    pub shard: Shard,
    /// How it was asked for, for the report.
    pub command: String,
}

impl FitJob {
    /// All of a fit by Levenberg-Marquardt: of a case (.json) with its data, or of data files (.csv), for which a case is
    /// built; of the shipped case where no file is given.
    pub fn new(paths: &[PathBuf], compute: &Compute) -> Result<FitJob> {
        Ok(FitJob::of(Measurements::read(paths)?, compute.clone()))
    }

    /// The same of measurements that were read.
    pub(crate) fn of(measurements: Measurements, compute: Compute) -> FitJob {
        FitJob {
            measurements,
            compute,
            optimizer: SearchMethod::Lm,
            shard: Shard::WHOLE,
            command: study::command().join(" "),
        }
    }

    /// Fits another law than the case says, by its name in files, such as `dahl`. What the case says of parameters that the
    /// law does not have is left out.
    pub fn set_law(&mut self, name: &str) -> Result<()> {
        self.measurements.case.set_law("law", name)
    }
}

/// A fit with its folder; no other process can write there.
pub(crate) struct FitFolder {
    pub folder: Folder,
    /// The problem, built once.
    pub problem: Calibration,
    case: Case,
    data: Dataset,
    journal: Journal,
    begun: Begun,
}

impl FitFolder {
    /// Makes the folder of a job, or opens one that was made for the same job. Everything that can be wrong with the
    /// job is found before a folder is made.
    pub(crate) fn begin(job: &FitJob, path: &Path) -> Result<FitFolder> {
        let (case, inputs) = job.measurements.clone().completed()?.in_folder();
        let data = dataset(&case, &inputs)?;
        let problem = Calibration::new(job.compute.clone(), &case, &data)?;
        let begun = Begun {
            maker: Maker::here(job.compute.describe()),
            optimizer: job.optimizer,
            command: job.command.clone(),
            fingerprint: inputs.fingerprint(),
            shard: (!job.shard.is_whole()).then(|| job.shard.to_string()),
        };
        let folder = Folder::new(path);
        let (journal, begun) = begin(&folder, &inputs, begun)?;
        Ok(FitFolder {
            folder,
            problem: problem.begun_on(&begun.maker.device),
            case,
            data,
            journal,
            begun,
        })
    }

    /// Opens a folder that [`FitFolder::begin`] made, on the device where it was begun, or on the CPU.
    pub(crate) fn open(path: &Path, compute: &Compute) -> Result<FitFolder> {
        let folder = Folder::new(path);
        if !folder.has(JOURNAL) {
            return folder.refuse(format!(
                "no {JOURNAL} in it, so no fit was begun there; start one with `rumple fit … --out DIR`"
            ));
        }
        let journal = Journal::open(&folder.file(JOURNAL))?;
        let Some(begun) = journal.get::<Begun>(BEGUN)? else {
            return folder.refuse(
                "the fit was stopped before it began; remove the folder and start it again",
            );
        };
        let (case, inputs) = inputs_of(&folder)?;
        if inputs.fingerprint() != begun.fingerprint {
            return folder.refuse(format!(
                "{CASE} or its data have changed since the fit began; start another one with --out"
            ));
        }
        let here = Maker::here(compute.describe());
        check_maker(&folder, &begun.maker, &here)?;
        let data = dataset(&case, &inputs)?;
        let case = complete(&case, &data)?;
        Ok(FitFolder {
            problem: Calibration::new(compute.clone(), &case, &data)?.begun_on(&begun.maker.device),
            folder,
            case,
            data,
            journal,
            begun,
        })
    }

    /// The share of the starts that is searched here.
    pub(crate) fn shard(&self) -> Shard {
        self.begun.shard()
    }

    /// Device and command line with which the fit was begun.
    pub(super) fn origin(&self) -> (String, String) {
        (self.begun.maker.device.clone(), self.begun.command.clone())
    }

    /// Does something with the fit and its journal; the folder is closed afterwards.
    pub(crate) fn with<T>(self, work: impl FnOnce(&Fit, &mut Journal) -> Result<T>) -> Result<T> {
        let FitFolder {
            problem,
            case,
            data,
            mut journal,
            begun,
            ..
        } = self;
        let fit = Fit {
            case: &case,
            data: &data,
            problem,
            optimizer: begun.optimizer,
        };
        work(&fit, &mut journal)
    }
}

/// Opens or makes the journal of a fit; what its first entry says goes before what was asked for, if both are the same
/// fit.
fn begin(folder: &Folder, inputs: &Inputs, begun: Begun) -> Result<(Journal, Begun)> {
    let difference = inputs.difference(folder)?;
    if folder.has(JOURNAL) {
        let journal = Journal::open(&folder.file(JOURNAL))?;
        // One that was killed before this entry has nothing to lose.
        if let Some(before) = journal.get::<Begun>(BEGUN)? {
            let (here, there) = (begun.shard(), before.shard());
            if here != there {
                return folder.refuse(format!(
                    "it holds shard {there}, not {here}; give each shard a folder of its own"
                ));
            }
            if let Some(what) = difference {
                return folder.refuse(format!(
                    "it holds a fit of another case or other data ({what}); give another --out"
                ));
            }
            if begun.optimizer != before.optimizer {
                return folder.refuse(format!(
                    "it holds a fit by {}, not {}; give another --out",
                    before.optimizer.name(),
                    begun.optimizer.name()
                ));
            }
            check_maker(folder, &before.maker, &begun.maker)?;
            return Ok((journal, before));
        }
    } else if difference.is_some() {
        return folder.refuse(format!(
            "there is a {CASE} in it, but no fit was begun; move it away, or give another --out"
        ));
    }
    folder.make()?;
    inputs.write(folder)?;
    let mut journal = Journal::open(&folder.file(JOURNAL))?;
    journal.put(BEGUN, &begun)?;
    Ok((journal, begun))
}

/// Refuses what another program or another device began. Where a GPU has failed, the CPU may go on in double precision: only
/// the stages before the last ran there.
fn check_maker(folder: &Folder, before: &Maker, here: &Maker) -> Result<()> {
    let fine = Compute::cpu(Precision::F64).describe();
    let continued = before.device.starts_with("gpu") && here.device == fine;
    let there = match continued {
        true => Maker::of(&before.version, here.device.clone()),
        false => before.clone(),
    };
    folder.check_maker(&there, here, "start another one")
}

/// Case and data of a folder as they stand there.
fn inputs_of(folder: &Folder) -> Result<(Case, Inputs)> {
    let place = folder.file(CASE).display().to_string();
    let case = Case::parse(&folder.read(CASE)?, &place)?;
    let data = case.data.iter().map(|source| source.file.clone());
    let inputs = Inputs::read(folder, std::iter::once(CASE.into()).chain(data))?;
    Ok((case, inputs))
}

/// The job that was begun in a folder.
pub(super) fn begun_job(path: &Path, compute: &Compute) -> Result<FitJob> {
    let folder = Folder::new(path);
    let Some(begun) = Journal::read(&folder.file(JOURNAL))?.get::<Begun>(BEGUN)? else {
        return folder.refuse("stopped before it began; remove the folder and start it again");
    };
    let (case, inputs) = inputs_of(&folder)?;
    let text = |file: &String| inputs.text(file).unwrap_or_default().to_string();
    let texts = case.data.iter().map(|s| (s.file.clone(), text(&s.file)));
    let measurements = Measurements {
        texts: texts.collect(),
        case,
    };
    Ok(FitJob {
        optimizer: begun.optimizer,
        shard: begun.shard(),
        command: begun.command,
        ..FitJob::of(measurements, compute.clone())
    })
}

/// The problem of a folder that another process has open.
#[cfg(feature = "mpi")]
pub(super) fn problem_of(path: &Path, compute: &Compute) -> Result<Calibration> {
    let (case, inputs) = inputs_of(&Folder::new(path))?;
    let data = dataset(&case, &inputs)?;
    Calibration::new(compute.clone(), &complete(&case, &data)?, &data)
}

/// Makes the folder of the whole from that of a shard, unless an earlier merge has begun it.
pub(super) fn begin_whole(first: &Folder, out: &Folder) -> Result<()> {
    let begun = Journal::read(&first.file(JOURNAL))?.get::<Begun>(BEGUN)?;
    let Some(begun) = begun else {
        return first.refuse("stopped before it began; run its command again");
    };
    let begun = Begun {
        shard: None,
        ..begun
    };
    if out.has(JOURNAL) {
        let before = Journal::read(&out.file(JOURNAL))?.get::<Begun>(BEGUN)?;
        return match before {
            Some(before) if before == begun => Ok(()),
            _ => out.refuse("it holds another fit; give another --out"),
        };
    }
    if out.file(CASE).exists() {
        return out.refuse(format!("there is a {CASE} in it; give another --out"));
    }
    inputs_of(first)?.1.write(out)?;
    Journal::open(&out.file(JOURNAL))?.put(BEGUN, &begun)
}

/// A finished fit once more in another folder, for a share of its bootstrap or the whole of one; a copy that is there
/// already is kept.
pub(super) fn copy_fit(from: &Folder, to: &Folder) -> Result<()> {
    if to.has(RESULT) {
        let begun = |folder: &Folder| Journal::read(&folder.file(JOURNAL))?.get::<Begun>(BEGUN);
        if begun(from)? != begun(to)? {
            let other = from.path().display();
            return to.refuse(format!(
                "it holds another fit than {other}; give another --out"
            ));
        }
        return Ok(());
    }
    inputs_of(from)?.1.write(to)?;
    // The result last: a copy that was cut short is made again.
    to.copy(from, JOURNAL)?;
    to.copy(from, RESULT)
}

impl FitResult {
    /// Reads the result in the folder of a fit.
    pub fn load(path: &Path) -> Result<FitResult> {
        let folder = Folder::new(path);
        if !folder.has(RESULT) {
            return folder.refuse(format!(
                "no {RESULT} in it; give the folder that `rumple fit` wrote (an unfinished one goes on with `rumple fit --resume {}`)",
                path.display()
            ));
        }
        serde_json::from_str(&folder.read(RESULT)?).map_err(|e| {
            Error::BadInput(format!(
                "{}: not the result of a fit by this version: {e}; run the fit again",
                folder.file(RESULT).display()
            ))
        })
    }
}

/// The result of a fit that went to its end: an interrupted one may still find a better optimum.
pub(crate) fn finished(path: &Path) -> Result<FitResult> {
    let result = FitResult::load(path)?;
    if result.interrupted {
        return Folder::new(path).refuse(format!(
            "its fit was interrupted; finish it first with `rumple fit --resume {}`",
            path.display()
        ));
    }
    Ok(result)
}

/// Writes the result, then materials and exports; returns the result with its list of files.
pub(crate) fn save(path: &Path, result: FitResult) -> Result<FitResult> {
    let folder = Folder::new(path);
    let materials = export::materials(&result)?;
    let exports = export::exports(&result)?;
    let mut files: Vec<String> = [RESULT, CASE, JOURNAL].map(String::from).to_vec();
    files.extend(materials.iter().map(|(name, _)| name.clone()));
    files.extend(exports.iter().map(|(name, _)| format!("export/{name}")));
    let mut result = FitResult { files, ..result };
    result.run.folder = path.display().to_string();
    folder.write_json(RESULT, &result)?;
    for (name, material) in materials {
        folder.write(&name, format!("{:#}\n", material.to_json()).as_bytes())?;
    }
    for (name, text) in exports {
        folder.write(&format!("export/{name}"), text.as_bytes())?;
    }
    Ok(result)
}
