//! The files of a run: what they are called, how they are read, and whose folder it is.

use std::path::{Path, PathBuf};

use super::{Cycle, checkpoint, rows};
use crate::{
    error::{Error, Result, bad_input},
    files::{Log, difference, write_whole},
    learn::{
        LearnCase,
        curriculum::{Curriculum, ElasticStep, PlasticStep, Students},
    },
    numeric::Compute,
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
    if !made_by.starts_with(&version()) {
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

pub(super) fn open_logs(folder: &Path, lengths: [u64; 3]) -> Result<[Log; 3]> {
    let open = |name: &str, length: u64| Log::open(&folder.join(name), length);
    Ok([
        open(ELASTIC, lengths[0])?,
        open(PLASTIC, lengths[1])?,
        open(CYCLES, lengths[2])?,
    ])
}

pub(super) fn write_case(folder: &Path, case: &LearnCase) -> Result<()> {
    write_whole(
        &folder.join(CASE),
        format!("{:#}\n", case.to_json()?).as_bytes(),
    )
}

/// Of garments, networks and their training: raise it when the same case would lead elsewhere.
const TRAINING_VERSION: u32 = 2;

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

/// Refuses a folder with a run of another case. The number of cycles may differ: each cycle is a function of
/// those before it.
pub(super) fn check_same(folder: &Path, case: &LearnCase) -> Result<()> {
    let mut held = read_case(folder)?;
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

/// Charts of a run, predictions, and evaluations, which have the cycle behind their name: what the commands leave.
const MADE_FROM_NETWORKS: [&str; 3] = ["plots", "predictions", "evaluation"];

/// Makes room for a new run; what is not of a run is left alone, and refused where `fresh` does not allow it. What was
/// made from the old networks goes with them; references, which do not depend on them, stay.
pub(super) fn clear(folder: &Path, fresh: bool) -> Result<()> {
    let used = std::fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_some());
    let ours = LearnCase::load(&folder.join(CASE)).is_ok();
    if used && !ours && !fresh {
        return bad_input(format!(
            "{}: there are files in it that are no run of `rumple learn train`; give another --out, or --fresh to write among them",
            folder.display()
        ));
    }
    let checkpoint = folder.join(CHECKPOINT);
    let replaced = fresh && (ours || checkpoint.is_file());
    if checkpoint.is_file() {
        std::fs::remove_file(&checkpoint).map_err(|e| Error::writing(&checkpoint, e))?;
    }
    remove_folder(&folder.join(NETWORKS))?;
    if !replaced {
        return Ok(());
    }
    let entries = std::fs::read_dir(folder).map_err(|e| Error::reading(folder, e))?;
    for entry in entries {
        let entry = entry.map_err(|e| Error::reading(folder, e))?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if MADE_FROM_NETWORKS.contains(&name.as_str()) || name.starts_with("evaluation-cycle-") {
            remove_folder(&entry.path())?;
        }
    }
    Ok(())
}

fn remove_folder(path: &Path) -> Result<()> {
    match path.is_dir() {
        true => std::fs::remove_dir_all(path).map_err(|e| Error::writing(path, e)),
        false => Ok(()),
    }
}
