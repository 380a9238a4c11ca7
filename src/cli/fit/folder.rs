//! The folder of a fit: made once, opened again and again.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::{
    cli::Common,
    error::{Error, Result, bad_input},
    files::read_text,
    fit::{
        case::Case,
        dataset::Dataset,
        defaults::complete,
        run::{Fit, Optimizer},
    },
    numeric::Compute,
    study::{Shard, journal::Journal},
};

pub(in crate::cli) const CASE: &str = "case.json";
pub(in crate::cli) const JOURNAL: &str = "journal.jsonl";

/// First entry of a journal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(in crate::cli) struct Begun {
    pub version: String,
    pub optimizer: Optimizer,
    pub device: String,
    pub command: String,
    /// Of the case and the data, so that nothing changes under a fit.
    pub fingerprint: u64,
    /// The share of the starts that is searched here, as `2/4`; none for all of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shard: Option<String>,
}

/// A fit's folder, read and checked.
pub(in crate::cli) struct Opened {
    case: Case,
    data: Dataset,
    journal: Journal,
    compute: Compute,
    pub(in crate::cli) begun: Begun,
}

impl Opened {
    /// Opens a folder that [`begin`] made, on the device where it was begun.
    pub(in crate::cli) fn new(common: &Common, folder: &Path) -> Result<Opened> {
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

    /// The share of the starts that is searched here.
    pub(in crate::cli) fn shard(&self) -> Shard {
        let shard = self.begun.shard.as_ref().and_then(|s| s.parse().ok());
        shard.unwrap_or(Shard::WHOLE)
    }

    /// The fit, and its journal.
    pub(in crate::cli) fn fit(&mut self) -> Result<(Fit<'_>, &mut Journal)> {
        let fit = Fit::new(
            self.compute.clone(),
            &self.case,
            &self.data,
            self.begun.optimizer,
        )?;
        Ok((fit, &mut self.journal))
    }
}

/// Case and data of a folder that another process has open.
#[cfg(feature = "mpi")]
pub(super) fn inputs_of(folder: &Path) -> Result<(Case, Dataset)> {
    let place = folder.join(CASE);
    let case = Case::parse(&read_text(&place)?, &place.display().to_string())?;
    let data = Dataset::read(&case, folder)?;
    Ok((complete(&case, &data)?, data))
}

/// A name of its own for every data file: files of two folders may share one.
pub(in crate::cli) fn file_names(texts: &[(String, String)]) -> Vec<String> {
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

/// The folder asked for, which must be new, or the first free one of a case's name.
pub(super) fn new_folder(asked: &Option<PathBuf>, name: &str) -> Result<PathBuf> {
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

/// Fingerprint of the case and its data.
pub(super) fn fingerprint(folder: &Path, case: &Case) -> Result<u64> {
    let mut text = read_text(&folder.join(CASE))?;
    for source in &case.data {
        text += &read_text(&folder.join(&source.file))?;
    }
    Ok(crate::files::fingerprint(text.bytes()))
}
