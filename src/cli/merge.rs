//! `rumple merge`

use std::path::PathBuf;

use clap::Args;

use super::{Common, Shown, bench, fit, sensitivity};
use crate::{
    error::{Result, bad_input},
    fit::FitJob,
    study::{ShardKind, Shards},
};

/// Join the shards of a fit, a bootstrap, a sweep or a study of error bars, and finish it: the same bits as on one machine
#[derive(Debug, Args)]
pub(crate) struct MergeArguments {
    /// Folders that commands with --shard have made
    #[arg(value_name = "DIR", required = true)]
    folders: Vec<PathBuf>,
    /// Folder of the whole, made new; the same command goes on with one that was stopped
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
}

pub(crate) fn run(common: &Common, arguments: &MergeArguments) -> Result<()> {
    let (folders, out) = (&arguments.folders, &arguments.out);
    if let Some(same) = folders.iter().find(|folder| *folder == out) {
        return bad_input(format!(
            "--out {}: it is one of the shards; give another folder for the whole",
            same.display()
        ));
    }
    let kind = Shards::open(folders)?.kind()?;
    match kind {
        ShardKind::Sensitivity => sensitivity::merge(common, folders, out),
        ShardKind::Coverage => bench::merge_coverage(common, folders, out),
        ShardKind::Fit => {
            let mut shown = Shown::line("merging", "tasks");
            let compute = common.compute()?;
            let result = FitJob::merge(folders, out, &compute, &mut |news| shown.hear(news))?;
            drop(shown);
            let result = result.draw(out)?;
            fit::report(common, out, &result)
        }
    }
}
