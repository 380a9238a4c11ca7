//! Shards of one study, made anywhere, joined.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::{JOURNAL, Shard, Tasks, id, record};
use crate::{
    error::{Result, bad_input},
    study::journal::Journal,
};

/// Names of tasks that a message lists; more would hide what to do.
const LISTED: usize = 5;

/// Which call joins shards.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ShardKind {
    /// [`crate::fit::FitJob::merge`], of a fit or a bootstrap.
    Fit,
    /// [`crate::sensitivity::SensitivityJob::merge`].
    Sensitivity,
    /// The bench of error bars.
    Coverage,
}

/// The journals of some folders, opened for reading.
pub(crate) struct Shards(Vec<Journal>);

impl Shards {
    /// Opens the journals of the given folders; none may be in use.
    pub(crate) fn open(folders: &[PathBuf]) -> Result<Shards> {
        let open = |folder: &PathBuf| {
            let path = folder.join(JOURNAL);
            if !path.is_file() {
                return bad_input(format!(
                    "{}: no {JOURNAL} in it; give folders that a command with --shard has made",
                    folder.display()
                ));
            }
            Journal::read(&path)
        };
        folders.iter().map(open).collect::<Result<_>>().map(Shards)
    }

    /// Which command has made the folders; decided by the first.
    pub(crate) fn kind(&self) -> Result<ShardKind> {
        if self.holds("fit") || self.holds("bootstrap") {
            return Ok(ShardKind::Fit);
        }
        if self.holds("sensitivity") {
            return Ok(ShardKind::Sensitivity);
        }
        if self.holds("coverage") {
            return Ok(ShardKind::Coverage);
        }
        let folder = self.0.first().and_then(|journal| journal.path().parent());
        bad_input(format!(
            "{}: nothing in it that can be merged; give folders that `rumple fit`, `rumple bootstrap`, `rumple sensitivity` or `rumple bench coverage` has made with --shard",
            folder.unwrap_or(Path::new("")).display()
        ))
    }

    /// Whether the first journal holds a study of this kind.
    pub(crate) fn holds(&self, study: &str) -> bool {
        let mut keys = self.0.first().into_iter().flat_map(Journal::keys);
        keys.any(|key| key.strip_prefix("tasks/") == Some(study))
    }
}

/// Copies the results of all shards into a journal. Refuses shards of another identity, results that
/// contradict each other, and a whole with holes, for which it names the command that fills them.
pub(crate) fn merge(work: &dyn Tasks, shards: &Shards, journal: &mut Journal) -> Result<()> {
    let tasks = id::tasks(work)?;
    let mut commands = Vec::new();
    for shard in &shards.0 {
        let Some(found) = record::record(shard, work)? else {
            return bad_input(format!(
                "{}: no {} in it; leave this folder out",
                shard.path().display(),
                work.study()
            ));
        };
        record::refuse_other(work, &found, shard)?;
        commands.push(found);
    }
    let mut whole: Vec<Option<(Value, &Path)>> = vec![None; tasks.len()];
    for shard in &shards.0 {
        for (task, place) in tasks.iter().zip(&mut whole) {
            let Some(result) = record::result(shard, task)? else {
                continue;
            };
            match place {
                Some((other, path)) if *other != result => {
                    return bad_input(format!(
                        "'{}' has one result in {} and another in {}: one of the machines computes differently; make both shards on one kind of machine",
                        task.name,
                        path.display(),
                        shard.path().display()
                    ));
                }
                _ => *place = Some((result, shard.path())),
            }
        }
    }
    let missing: Vec<usize> = (0..tasks.len()).filter(|&i| whole[i].is_none()).collect();
    if !missing.is_empty() {
        let names: Vec<&str> = missing.iter().map(|&i| tasks[i].name.as_str()).collect();
        return bad_input(format!(
            "{} of {} tasks are missing ({}); {}",
            missing.len(),
            tasks.len(),
            listed(&names),
            remedy(&commands, &missing, tasks.len())
        ));
    }
    record::begin(work, Shard::WHOLE, journal)?;
    for (task, place) in tasks.iter().zip(whole) {
        if let (Some((result, _)), None) = (place, record::result(journal, task)?) {
            record::keep(journal, task, &result)?;
        }
    }
    Ok(())
}

fn listed(names: &[&str]) -> String {
    let shown = names[..names.len().min(LISTED)].join(", ");
    if names.len() > LISTED {
        shown + ", …"
    } else {
        shown
    }
}

/// The commands that make the missing tasks: for shards that were begun, the command as it was given; for other shards,
/// the first command with the number of the shard.
fn remedy(given: &[record::Record], missing: &[usize], tasks: usize) -> String {
    let cut = given.iter().find_map(|s| s.shard.parse::<Shard>().ok());
    let (Some(cut), Some(first)) = (cut, given.first()) else {
        return "run the shards that make them".into();
    };
    let lacking = cut
        .siblings()
        .filter(|s| s.share(tasks).any(|t| missing.contains(&t)));
    let command = |shard: Shard| {
        let text = shard.to_string();
        match given.iter().find(|begun| begun.shard == text) {
            // A call of the library has no command line.
            _ if first.command.is_empty() => format!("run shard {text} in a folder of its own"),
            Some(begun) => format!("shard {text} goes on with `{}`", begun.command.join(" ")),
            None => {
                let words = first.command.iter().map(|w| w.replace(&first.shard, &text));
                let words: Vec<String> = words.collect();
                format!(
                    "shard {text} is made by `{}` in a folder of its own",
                    words.join(" ")
                )
            }
        }
    };
    let lines: Vec<String> = lacking.map(command).collect();
    format!("{}; then merge again with its folder", lines.join("; "))
}
