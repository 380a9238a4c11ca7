//! The files of a run: what they are called, how they are read, and whose folder it is.

use std::{
    io::ErrorKind,
    path::{Path, PathBuf},
};

use super::{Cycle, checkpoint, rows};
use crate::{
    error::{Error, Result, bad_input},
    files::{difference, write_whole},
    learn::{
        LearnCase,
        curriculum::{Curriculum, ElasticStep, PlasticStep, Students},
    },
    numeric::Compute,
    study::Log,
};

/// The whole case.
pub const CASE: &str = "case.json";
/// Losses of E-Net, rows of [`ElasticStep`].
pub const ELASTIC: &str = "elastic.csv";
/// Losses of P-Net, rows of [`PlasticStep`].
pub const PLASTIC: &str = "plastic.csv";
/// Rows of [`Cycle`].
pub const CYCLES: &str = "cycles.csv";
pub(super) const CHECKPOINT: &str = "checkpoint.zip";
pub(super) const NETWORKS: &str = "networks";
/// E-Net after its first turn, in the folder of the networks.
pub(super) const FIRST_TURN: &str = "first-turn.zip";

/// The networks of a folder after a cycle (from 1), or after the last that is done, and which one that is.
pub fn load(
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
    let made_by = checkpoint::made_by(&folder.join(CHECKPOINT))?;
    if !made_by.starts_with(&format!("{} (", version())) {
        return bad_input(format!(
            "{}: trained by {made_by}, and this is {}, whose garments and networks differ; use that one, or train anew \
             with --fresh",
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
pub fn read_case(folder: &Path) -> Result<LearnCase> {
    let path = folder.join(CASE);
    if !path.is_file() || !folder.join(CHECKPOINT).is_file() {
        return bad_input(format!(
            "{}: not a folder of `rumple learn train` (there is no {CASE} and {CHECKPOINT} in it); give one",
            folder.display()
        ));
    }
    LearnCase::load(&path)
}

/// Steps of E-Net in a folder.
pub fn elastic_steps(folder: &Path) -> Result<Vec<ElasticStep>> {
    rows::read(&folder.join(ELASTIC))
}

/// Steps of P-Net in a folder.
pub fn plastic_steps(folder: &Path) -> Result<Vec<PlasticStep>> {
    rows::read(&folder.join(PLASTIC))
}

/// Cycles that are done in a folder.
pub fn cycles(folder: &Path) -> Result<Vec<Cycle>> {
    rows::read(&folder.join(CYCLES))
}

pub(super) fn networks_file(folder: &Path, cycle: usize) -> PathBuf {
    folder.join(NETWORKS).join(format!("cycle-{cycle}.zip"))
}

/// Opens the logs, so that no other run can write here; what is in them stays. Makes the folders where there are none.
pub(super) fn lock_logs(folder: &Path) -> Result<[Log; 3]> {
    std::fs::create_dir_all(folder.join(NETWORKS)).map_err(|e| Error::writing(folder, e))?;
    let lock = |name: &str| Log::lock(&folder.join(name));
    Ok([lock(ELASTIC)?, lock(PLASTIC)?, lock(CYCLES)?])
}

pub(super) fn write_case(folder: &Path, case: &LearnCase) -> Result<()> {
    write_whole(
        &folder.join(CASE),
        format!("{:#}\n", case.to_json()?).as_bytes(),
    )
}

/// Of garments, networks and their training: raise it when the same case would lead elsewhere.
const TRAINING_VERSION: u32 = 4;

/// The version of the program.
fn version() -> String {
    format!(
        "rumple {}, training {TRAINING_VERSION}",
        env!("CARGO_PKG_VERSION")
    )
}

pub(super) fn made_by(compute: &Compute) -> String {
    format!("{} ({})", version(), compute.describe())
}

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
    match difference(&held.to_json()?, &case.to_json()?) {
        None => Ok(()),
        Some(what) => bad_input(format!(
            "{}: holds a run of another case, there against here: {what}; give another --out, or throw it away (train \
             --fresh, or remove the folder)",
            folder.display()
        )),
    }
}

/// Names that a message shows of a folder; the first ones tell enough.
const SHOWN: usize = 3;

/// Refuses a folder without a checkpoint that holds more than a run of the case leaves that was stopped as it began.
fn check_unused(folder: &Path, case: &LearnCase) -> Result<()> {
    if is_untouched(folder)? {
        return Ok(());
    }
    let Ok(held) = LearnCase::load(&folder.join(CASE)) else {
        return bad_input(format!(
            "{}: there are files in it that are no run of `rumple learn train`; give another --out, or --fresh to write among them",
            folder.display()
        ));
    };
    check_same(folder, held, case)?;
    let networks = folder.join(NETWORKS);
    let there = names(&networks)?;
    if there.is_empty() {
        return Ok(());
    }
    let more = match there.len().saturating_sub(SHOWN) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let shown: Vec<&str> = there.iter().map(String::as_str).take(SHOWN).collect();
    bad_input(format!(
        "{}: holds {}{more}, but there is no {CHECKPOINT} beside it to go on from; give another --out to keep what is \
         there, or --fresh to train over it",
        networks.display(),
        shown.join(", ")
    ))
}

/// Whether there is nothing in a folder but what a run makes before its first save: empty logs, no network, files half
/// written.
fn is_untouched(folder: &Path) -> Result<bool> {
    for name in names(folder)? {
        let path = folder.join(&name);
        let is_log = [ELASTIC, PLASTIC, CYCLES].contains(&name.as_str());
        let is_nothing = match name.as_str() {
            NETWORKS => names(&path)?.is_empty(),
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
const MADE_FROM_NETWORKS: [&str; 3] = ["plots", "predictions", "evaluation"];

/// Throws an earlier run away but for its logs, which whoever calls this has locked. What is not of a run is left alone.
/// What was made from the old networks goes with them; references, which do not depend on them, stay.
pub(super) fn clear(folder: &Path) -> Result<()> {
    let checkpoint = folder.join(CHECKPOINT);
    let replaced = checkpoint.is_file() || LearnCase::load(&folder.join(CASE)).is_ok();
    // First, so that what a kill leaves of the rest does not pass for a run.
    remove_file(&checkpoint)?;
    let networks = folder.join(NETWORKS);
    for name in names(&networks)?.iter().filter(|name| is_network(name)) {
        remove_file(&networks.join(name))?;
    }
    if !replaced {
        return Ok(());
    }
    for name in names(folder)? {
        if MADE_FROM_NETWORKS.contains(&name.as_str()) || name.starts_with("evaluation-cycle-") {
            remove_folder(&folder.join(name))?;
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

/// Names in a folder in their order; none where there is no folder.
fn names(folder: &Path) -> Result<Vec<String>> {
    // Only folders that are about to be written are looked at.
    let failed = |e| Error::writing(folder, e);
    let entries = match std::fs::read_dir(folder) {
        Err(e) if e.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(failed)?,
    };
    let mut names = Vec::new();
    for entry in entries {
        let name = entry.map_err(failed)?.file_name();
        names.push(name.to_string_lossy().into_owned());
    }
    names.sort();
    Ok(names)
}

/// One that is not there is as good as removed.
fn remove_file(path: &Path) -> Result<()> {
    match std::fs::remove_file(path) {
        Err(e) if e.kind() == ErrorKind::NotFound => Ok(()),
        done => done.map_err(|e| Error::writing(path, e)),
    }
}

fn remove_folder(path: &Path) -> Result<()> {
    match path.is_dir() {
        true => std::fs::remove_dir_all(path).map_err(|e| Error::writing(path, e)),
        false => Ok(()),
    }
}
