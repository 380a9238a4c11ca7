//! `rumple merge`

use std::path::{Path, PathBuf};

use clap::Args;

use super::{
    Common,
    fit::{self, Begun, CASE, JOURNAL, Opened},
    refine, sensitivity,
};
use crate::{
    error::{Result, bad_input},
    files::write_whole,
    report,
    study::{self, Shard, Shards, journal::Journal},
};

/// Join the shards of a fit, a bootstrap or a sweep, and finish it: the same bits as on one machine
#[derive(Debug, Args)]
pub struct Arguments {
    /// Folders that commands with --shard have made
    #[arg(value_name = "DIR", required = true)]
    folders: Vec<PathBuf>,
    /// Folder of the whole, made new; the same command goes on with one that was stopped
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
}

pub fn run(common: &Common, arguments: &Arguments) -> Result<()> {
    let (folders, out) = (&arguments.folders, &arguments.out);
    if let Some(same) = folders.iter().find(|folder| *folder == out) {
        return bad_input(format!(
            "--out {}: it is one of the shards; give another folder for the whole",
            same.display()
        ));
    }
    let shards = Shards::open(folders)?;
    let kinds = shards.studies();
    let has = |kind: &str| kinds.iter().any(|k| k == kind);
    // The folder of a bootstrap holds its fit too.
    if has("bootstrap") {
        bootstrap(common, &folders[0], &shards, out)
    } else if has("fit") {
        fit(common, &folders[0], &shards, out)
    } else if has("sensitivity") {
        sensitivity::merge(common, &folders[0], &shards, out)
    } else {
        bad_input(format!(
            "{}: nothing in it that can be merged; give folders that `rumple fit`, `rumple bootstrap` or `rumple sensitivity` has made with --shard",
            folders[0].display()
        ))
    }
}

fn fit(common: &Common, first: &Path, shards: &Shards, out: &Path) -> Result<()> {
    let journal = Journal::read(&first.join(JOURNAL))?;
    let Some(begun) = journal.get::<Begun>("begun")? else {
        return bad_input(format!(
            "{}: stopped before it began; run its command again",
            first.display()
        ));
    };
    let begun = Begun {
        shard: None,
        ..begun
    };
    begin(first, out, &begun)?;
    let mut opened = Opened::new(common, out)?;
    let (fit, journal) = opened.fit()?;
    study::merge(&fit.groups(), shards, journal)?;
    drop(opened);
    fit::finish(common, out)
}

fn bootstrap(common: &Common, first: &Path, shards: &Shards, out: &Path) -> Result<()> {
    let journal = Journal::read(&first.join(JOURNAL))?;
    let samples = journal.get::<usize>(refine::SAMPLES)?.unwrap_or(0);
    let result = report::fit::folder::load(first)?;
    if !out.join(JOURNAL).is_file() {
        refine::copy_inputs(first, out)?;
        let text = format!("{}\n", report::fit::folder::to_json(&result)?);
        write_whole(&out.join(report::fit::folder::RESULT), text.as_bytes())?;
        let bytes = std::fs::read(first.join(JOURNAL))
            .map_err(|e| crate::error::Error::reading(&first.join(JOURNAL), e))?;
        write_whole(&out.join(JOURNAL), &bytes)?;
    }
    let mut opened = Opened::new(common, out)?;
    let (fit, journal) = opened.fit()?;
    let drawn = fit.samples(journal, samples)?;
    study::merge(&drawn, shards, journal)?;
    refine::draw(common, opened, out, samples, Shard::WHOLE)
}

/// Makes the folder of the whole from the inputs of a shard, unless an earlier merge has begun it.
fn begin(first: &Path, out: &Path, begun: &Begun) -> Result<()> {
    let path = out.join(JOURNAL);
    if path.is_file() {
        let before = Journal::read(&path)?.get::<Begun>("begun")?;
        return match before {
            Some(before) if before == *begun => Ok(()),
            _ => bad_input(format!(
                "{}: it holds another fit; give another --out",
                out.display()
            )),
        };
    }
    if out.join(CASE).exists() {
        return bad_input(format!(
            "{}: there is a {CASE} in it; give another --out",
            out.display()
        ));
    }
    refine::copy_inputs(first, out)?;
    Journal::open(&path)?.put("begun", begun)
}
