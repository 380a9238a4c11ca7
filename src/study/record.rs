//! What the journal says of a study: its identity, and a line for each result.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Shard, Task, Tasks, id::hash};
use crate::{
    error::{Result, bad_input},
    files::difference,
    study::journal::Journal,
};

/// What a study is, and how its share was asked for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Record {
    pub version: String,
    pub identity: Value,
    pub shard: String,
    /// The command line, to say how a share that is missing can be made; empty for a call of the library.
    pub command: Vec<String>,
}

/// One result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Recorded {
    name: String,
    /// Of id and result: a digit that a disk or a copy has changed must not pass.
    check: String,
    result: Value,
}

/// The study of this kind in a journal.
pub(super) fn record(journal: &Journal, work: &dyn Tasks) -> Result<Option<Record>> {
    journal.get(&format!("tasks/{}", work.study()))
}

/// Takes down what the study is, or refuses a journal of another one.
pub(super) fn begin(work: &dyn Tasks, shard: Shard, journal: &mut Journal) -> Result<()> {
    let record = Record {
        version: env!("CARGO_PKG_VERSION").into(),
        identity: work.identity(),
        shard: shard.to_string(),
        command: super::command().to_vec(),
    };
    match self::record(journal, work)? {
        Some(before) => {
            refuse_other(work, &before, journal)?;
            if before.shard == record.shard {
                return Ok(());
            }
            // Another share in the same folder is fine: the last one is what `merge` asks for.
            journal.put(&format!("tasks/{}", work.study()), &record)
        }
        None => journal.put(&format!("tasks/{}", work.study()), &record),
    }
}

/// Refuses a journal of another identity or version, and says what differs.
pub(super) fn refuse_other(work: &dyn Tasks, found: &Record, journal: &Journal) -> Result<()> {
    let version = env!("CARGO_PKG_VERSION");
    if found.version != version {
        return bad_input(format!(
            "{}: made by version {}, and this is version {version}, whose numbers may differ; use the same version for all",
            journal.path().display(),
            found.version
        ));
    }
    match difference(&found.identity, &work.identity()) {
        None => Ok(()),
        Some(what) => bad_input(format!(
            "{}: a {} of another case, there against here: {what}; use another folder, or give the case and the options that it was begun with",
            journal.path().display(),
            work.study()
        )),
    }
}

/// The result of a task, where the journal has one.
pub(super) fn result(journal: &Journal, task: &Task) -> Result<Option<Value>> {
    let key = key(task);
    let Some(entry) = journal.get::<Recorded>(&key)? else {
        return Ok(None);
    };
    if entry.check != check(task, &entry.result) {
        return bad_input(format!(
            "{} line {}: the result of '{}' does not match its check sum, so something has changed it; remove that line and run the same command again, which makes it anew",
            journal.path().display(),
            journal.line(&key).unwrap_or_default(),
            task.name
        ));
    }
    Ok(Some(entry.result))
}

/// Takes down the result of a task.
pub(super) fn keep(journal: &mut Journal, task: &Task, result: &Value) -> Result<()> {
    let entry = Recorded {
        name: task.name.clone(),
        check: check(task, result),
        result: result.clone(),
    };
    journal.put(&key(task), &entry)
}

fn key(task: &Task) -> String {
    format!("task/{}", task.id)
}

fn check(task: &Task, result: &Value) -> String {
    hash(&[&task.id, &result.to_string()])[..16].to_string()
}
