//! The files of a run: what they are called, how they are read, and whose folder it is.

use std::path::{Path, PathBuf};

use super::checkpoint;
use crate::{
    error::{Result, bad_input},
    learn::{
        LearnCase,
        curriculum::{Curriculum, Students},
    },
    numeric::Compute,
    study::{Folder, Log, Maker},
};

/// The whole case.
pub(crate) const CASE: &str = "case.json";
/// Losses of E-Net, rows of [`ElasticStep`].
pub(crate) const ELASTIC: &str = "elastic.csv";
/// Losses of P-Net, rows of [`PlasticStep`].
pub(crate) const PLASTIC: &str = "plastic.csv";
/// Rows of [`Cycle`].
pub(crate) const CYCLES: &str = "cycles.csv";
/// Folder of the results of an evaluation.
pub(crate) const EVALUATION: &str = "evaluation";
pub(super) const CHECKPOINT: &str = "checkpoint.zip";
pub(super) const NETWORKS: &str = "networks";
/// E-Net after its first turn, in the folder of the networks.
pub(super) const FIRST_TURN: &str = "first-turn.zip";

/// The networks of a folder after a cycle (from 1), or after the last that is done, and which one that is.
pub(crate) fn load(
    folder: &Path,
    cycle: Option<usize>,
    compute: &Compute,
) -> Result<(Curriculum, Students, usize)> {
    let case = read_case(folder)?;
    let done = (1..=case.cycles).filter(|c| networks_file(folder, *c).is_file());
    let done: Vec<usize> = done.collect();
    let Some(last) = done.last() else {
        return bad_input(format!(
            "{}: no cycle is trained to its end yet; `rumple learn train` goes on with it",
            folder.display()
        ));
    };
    let cycle = cycle.unwrap_or(*last);
    if !done.contains(&cycle) {
        return bad_input(format!(
            "{}: there are no networks of cycle {cycle}; give one of 1 to {last}",
            folder.display()
        ));
    }
    // Where it computed does not matter, but the garment may be another.
    let there = checkpoint::maker(&folder.join(CHECKPOINT))?.version;
    if there != version() {
        return bad_input(format!(
            "{}: trained by version {there}, and this is version {}, whose garments and networks differ; use that one, \
             or train anew with --fresh",
            folder.display(),
            version()
        ));
    }
    let course = Curriculum::new(case.clone(), case.scene()?, compute)?;
    let students = course.students()?;
    let students = checkpoint::load_networks(&networks_file(folder, cycle), students)?;
    Ok((course, students, cycle))
}

/// The case of a run.
pub(crate) fn read_case(folder: &Path) -> Result<LearnCase> {
    let path = folder.join(CASE);
    if !path.is_file() || !folder.join(CHECKPOINT).is_file() {
        return bad_input(format!(
            "{}: not a folder of `rumple learn train` (there is no {CASE} and {CHECKPOINT} in it); give one",
            folder.display()
        ));
    }
    LearnCase::load(&path)
}

pub(super) fn networks_file(folder: &Path, cycle: usize) -> PathBuf {
    folder.join(NETWORKS).join(format!("cycle-{cycle}.zip"))
}

/// Opens the logs, so that no other run can write here; what is in them stays. Makes the folders where there are none.
pub(super) fn lock_logs(folder: &Path) -> Result<[Log; 3]> {
    Folder::new(folder.join(NETWORKS)).make()?;
    let lock = |name: &str| Log::lock(&folder.join(name));
    Ok([lock(ELASTIC)?, lock(PLASTIC)?, lock(CYCLES)?])
}

pub(super) fn write_case(folder: &Path, case: &LearnCase) -> Result<()> {
    let text = format!("{:#}\n", case.to_json()?);
    Folder::new(folder).write(CASE, text.as_bytes())
}

/// Of garments, networks and their training: raise it when the same case would lead elsewhere.
const TRAINING_VERSION: u32 = 4;

/// The version of the program and of its training.
fn version() -> String {
    let version = env!("CARGO_PKG_VERSION");
    format!("{version}, training {TRAINING_VERSION}")
}

/// Who trains here.
pub(super) fn maker(compute: &Compute) -> Maker {
    Maker {
        version: version(),
        device: compute.describe(),
    }
}

/// What to do about a folder of another run.
pub(super) const REMEDY: &str =
    "give another --out, or throw it away (train --fresh, or remove the folder)";

/// Whether a run of the case is here to go on with. Refuses a folder of anything that a new run would be mixed up with or
/// would write over, unless `fresh` allows it; changes nothing.
pub(super) fn check_begun(folder: &Path, case: &LearnCase, fresh: bool) -> Result<bool> {
    let begun = !fresh && folder.join(CHECKPOINT).is_file();
    if begun {
        check_same(folder, read_case(folder)?, case)?;
    } else if !fresh {
        check_unused(folder, case)?;
    }
    Ok(begun)
}

/// Refuses a folder with a run of another case. The number of cycles may differ: each cycle is a function of
/// those before it.
fn check_same(folder: &Path, mut held: LearnCase, case: &LearnCase) -> Result<()> {
    held.cycles = case.cycles;
    let (there, here) = (held.to_json()?, case.to_json()?);
    Folder::new(folder).check_input("case", &there, &here, REMEDY)
}

/// Names that a message shows of a folder; the first ones tell enough.
const SHOWN: usize = 3;

/// Refuses a folder without a checkpoint that holds more than a run of the case leaves that was stopped as it began.
fn check_unused(folder: &Path, case: &LearnCase) -> Result<()> {
    if is_untouched(folder)? {
        return Ok(());
    }
    let Ok(held) = LearnCase::load(&folder.join(CASE)) else {
        return Folder::new(folder).refuse_strangers("`rumple learn train`");
    };
    check_same(folder, held, case)?;
    let networks = Folder::new(folder.join(NETWORKS));
    let there = networks.names()?;
    if there.is_empty() {
        return Ok(());
    }
    let more = match there.len().saturating_sub(SHOWN) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let shown: Vec<&str> = there.iter().map(String::as_str).take(SHOWN).collect();
    networks.refuse(format!(
        "holds {}{more}, but there is no {CHECKPOINT} beside it to go on from; give another --out to keep what is \
         there, or --fresh to train over it",
        shown.join(", ")
    ))
}

/// Whether there is nothing in a folder but what a run makes before its first save: empty logs, no network, files half
/// written.
fn is_untouched(folder: &Path) -> Result<bool> {
    let folder = Folder::new(folder);
    for name in folder.names()? {
        let path = folder.file(&name);
        let is_log = [ELASTIC, PLASTIC, CYCLES].contains(&name.as_str());
        let is_nothing = match name.as_str() {
            NETWORKS => folder.inner(NETWORKS).names()?.is_empty(),
            _ if is_log => path.metadata().is_ok_and(|m| m.len() == 0),
            _ => name.starts_with(CASE) && name.ends_with(".part"),
        };
        if !is_nothing {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Charts of a run, predictions, and evaluations, which have the cycle behind their name: what the commands leave.
const MADE_FROM_NETWORKS: [&str; 3] = ["plots", "predictions", EVALUATION];

/// Removes an earlier run except its logs, which the caller must have locked. Files that do not belong to a run are
/// kept. Everything that was made from the old networks is removed. References stay, because they do not depend on the
/// networks.
pub(super) fn clear(folder: &Path) -> Result<()> {
    let folder = Folder::new(folder);
    let replaced = folder.has(CHECKPOINT) || LearnCase::load(&folder.file(CASE)).is_ok();
    // First, so that what a kill leaves of the rest does not pass for a run.
    folder.remove(CHECKPOINT)?;
    let networks = folder.inner(NETWORKS);
    for name in networks.names()?.iter().filter(|name| is_network(name)) {
        networks.remove(name)?;
    }
    if !replaced {
        return Ok(());
    }
    for name in folder.names()? {
        if MADE_FROM_NETWORKS.contains(&name.as_str()) || name.starts_with("evaluation-cycle-") {
            folder.remove(&name)?;
        }
    }
    Ok(())
}

/// Whether a run has written a file of this name among the networks, or was killed while it did.
fn is_network(name: &str) -> bool {
    let part = name.strip_suffix(".part").and_then(|n| n.rsplit_once('.'));
    let whole = part.map_or(name, |(whole, _process)| whole);
    let cycle = whole.strip_prefix("cycle-");
    let cycle = cycle.and_then(|rest| rest.strip_suffix(".zip"));
    whole == FIRST_TURN || cycle.is_some_and(|number| number.parse::<usize>().is_ok())
}
