//! What every long job shares: its folder (`Folder`), its journal or logs, its watcher ([`Watcher`]), and work cut
//! into tasks that any machine can do: a sweep, a bootstrap, the starts of a fit.
//!
//! The id of a task is a hash of what is computed and of its own name. Its random numbers come from that hash. The
//! same task therefore gives the same bits on every machine, in any order and beside any other tasks, and results of
//! several machines can be joined (`merge`): the whole is the list of results in the order of the names.
//!
//! Every result is a line of the journal in the folder. A run that was killed goes on with the tasks whose
//! lines are missing.

mod command;
mod folder;
mod id;
pub(crate) mod journal;
mod log;
mod merge;
mod pool;
mod record;
mod shard;
mod watch;

use std::path::Path;

use serde_json::Value;

pub(crate) use command::{command, set_command};
pub(crate) use folder::{Folder, Inputs, Maker};
pub(crate) use id::Task;
pub(crate) use log::Log;
pub(crate) use merge::{ShardKind, Shards, merge};
pub(crate) use pool::{Heard, side_by_side};
pub use shard::Shard;
pub use watch::{News, Watcher};
pub(crate) use watch::{Progress, tell, time_in_words};

use crate::{
    error::{Error, Result},
    study::journal::Journal,
};

/// File of the journal in a folder.
pub(crate) const JOURNAL: &str = "journal.jsonl";

/// Something to compute that falls into tasks.
pub(crate) trait Tasks {
    /// Its kind, such as `bootstrap`; hashed into every id. A journal can hold one study of each kind.
    fn study(&self) -> &'static str;

    /// What is computed, in full: inputs, options, seed, device and precision. Hashed into every id; a
    /// journal of another identity is refused. Leave out what changes no result, such as threads.
    fn identity(&self) -> Value;

    /// Names of the tasks, each its own, in the order in which results are joined. May grow between runs
    /// (more samples); the identity must not contain what grows.
    fn names(&self) -> Vec<String>;
}

/// A study whose tasks are independent and short, so that many run side by side.
pub(crate) trait Work: Tasks + Sync {
    /// One task. Must depend on nothing but the identity, the name and the seed.
    fn run(&self, task: &Task, index: usize) -> Result<Value>;
}

/// Runs the tasks of this shard that the journal in `folder` does not hold yet, in parallel. All results in
/// order, or none where the whole is not complete because other shards have the rest.
///
/// `watch` is called at the start and after each task. When it wants no more, or a task fails, running
/// tasks are finished and kept, and the rest is an error.
pub(crate) fn run(
    work: &dyn Work,
    shard: Shard,
    folder: &Path,
    watch: &mut Watcher,
) -> Result<Option<Vec<Value>>> {
    run_in(
        work,
        shard,
        &mut Journal::open(&folder.join(JOURNAL))?,
        watch,
    )
}

/// [`run`] with a journal that is open already.
pub(crate) fn run_in(
    work: &dyn Work,
    shard: Shard,
    journal: &mut Journal,
    watch: &mut Watcher,
) -> Result<Option<Vec<Value>>> {
    let (tasks, mine, missing) = prepared(work, shard, journal)?;
    let (mut done, all) = (mine.len() - missing.len(), mine.len());
    let mut told = |done: usize| tell(watch, done, all, String::new());
    if told(done).is_continue() {
        pool::each(work, &tasks, &missing, &mut |index, result| {
            record::keep(journal, &tasks[index], &result)?;
            done += 1;
            Ok(told(done))
        })?;
    }
    if done < all {
        return Err(Error::Interrupted(format!(
            "interrupted with {done} of {all} tasks done; the same command goes on"
        )));
    }
    joined(&tasks, journal)
}

/// One task that may use the journal to go on within itself; none where it was stopped.
pub(crate) type Each<'a> = dyn FnMut(&Task, usize, &mut Journal) -> Result<Option<Value>> + 'a;

/// [`run_in`] for tasks that are long: one after the other. All results in order, or none where the whole is
/// not complete, because other shards have the rest or `each` was stopped.
pub(crate) fn run_in_turn(
    work: &dyn Tasks,
    shard: Shard,
    journal: &mut Journal,
    each: &mut Each,
) -> Result<Option<Vec<Value>>> {
    let (tasks, _, missing) = prepared(work, shard, journal)?;
    for index in missing {
        match each(&tasks[index], index, journal)? {
            Some(result) => record::keep(journal, &tasks[index], &result)?,
            None => return Ok(None),
        }
    }
    joined(&tasks, journal)
}

/// All results that a journal holds of a study, in order; none where one is missing.
pub(crate) fn results(work: &dyn Tasks, journal: &Journal) -> Result<Option<Vec<Value>>> {
    joined(&id::tasks(work)?, journal)
}

/// All tasks, those of the shard, and those of the shard that the journal does not hold.
fn prepared(
    work: &dyn Tasks,
    shard: Shard,
    journal: &mut Journal,
) -> Result<(Vec<Task>, Vec<usize>, Vec<usize>)> {
    let tasks = id::tasks(work)?;
    record::begin(work, shard, journal)?;
    let mine: Vec<usize> = shard.share(tasks.len()).collect();
    let mut missing = Vec::new();
    for &index in &mine {
        if record::result(journal, &tasks[index])?.is_none() {
            missing.push(index);
        }
    }
    Ok((tasks, mine, missing))
}

/// All results in order; none where one is missing.
fn joined(tasks: &[Task], journal: &Journal) -> Result<Option<Vec<Value>>> {
    let results = tasks.iter().map(|task| record::result(journal, task));
    let results: Result<Vec<Option<Value>>> = results.collect();
    Ok(results?.into_iter().collect())
}

#[cfg(test)]
mod tests;
