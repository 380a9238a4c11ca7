//! A share of a fit's starts, searched in a folder of its own.

use std::path::Path;

use super::{Begun, CASE, JOURNAL, Opened, message};
use crate::{
    cli::{interrupted, say, spinner},
    error::{Error, Result, bad_input},
    files::read_text,
    fit::{case::Case, run::Fit},
    study::{Shard, Wish, journal::Journal},
};

/// Whether a folder holds the beginning of this very share; refuses a folder that holds something else.
pub(super) fn is_begun(
    folder: &Path,
    shard: Shard,
    case: &Case,
    texts: &[(String, String)],
) -> Result<bool> {
    let path = folder.join(JOURNAL);
    if !path.is_file() {
        return Ok(false);
    }
    // One that was killed before this entry has nothing to lose.
    let Some(begun) = Journal::read(&path)?.get::<Begun>("begun")? else {
        return Ok(false);
    };
    let here = begun.shard.unwrap_or_else(|| Shard::WHOLE.to_string());
    if here != shard.to_string() {
        return bad_input(format!(
            "{}: it holds shard {here}, not {shard}; give each shard a folder of its own",
            folder.display()
        ));
    }
    let mut same = read_text(&folder.join(CASE))? == format!("{:#}\n", case.to_json());
    for (source, (_, text)) in case.data.iter().zip(texts) {
        same &= read_text(&folder.join(&source.file))? == *text;
    }
    if !same {
        return bad_input(format!(
            "{}: it holds a shard of another case or other data (see its {CASE} and data); give another --out",
            folder.display()
        ));
    }
    Ok(true)
}

/// Searches the share, and says what is next.
pub(super) fn run(mut opened: Opened, folder: &Path, prepare: &dyn Fn(&mut Fit)) -> Result<()> {
    let shard = opened.shard();
    let progress = spinner(format!("shard {shard}"));
    interrupted();
    let (mut fit, journal) = opened.fit()?;
    prepare(&mut fit);
    let searched = fit.search_share(journal, shard, &mut |news| {
        progress.set_message(format!("shard {shard}: {}", message(&fit, news)));
        if interrupted() {
            Wish::Stop
        } else {
            Wish::GoOn
        }
    });
    progress.finish_and_clear();
    let folder = folder.display();
    if searched?.stopped {
        return Err(Error::Interrupted(format!(
            "interrupted; the same command, or `rumple fit --resume {folder}`, goes on"
        )));
    }
    say(&format!(
        "results: {folder} (shard {shard}, done); `rumple merge DIR… --out DIR` joins the folders of all shards"
    ));
    Ok(())
}
