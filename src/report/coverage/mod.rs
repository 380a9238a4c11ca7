//! The results of a study of error bars: `coverage.json`, `intervals.csv`, plots, and a table on the terminal.

mod plots;
mod table;
mod text;

use std::path::Path;

use rayon::prelude::*;

pub(crate) use text::terminal;

use crate::{error::Result, study::Folder, verify::coverage::Coverage};

/// Writes all that a study has found into its folder.
pub(crate) fn save(path: &Path, found: &Coverage) -> Result<()> {
    let folder = Folder::new(path);
    folder.write_json("coverage.json", found)?;
    folder.write("intervals.csv", &table::intervals(found)?)?;
    folder.inner("plots").make()?;
    plots::pictures(found)
        .par_iter()
        .try_for_each(|(stem, picture)| {
            let path = |kind| folder.file(&format!("plots/{stem}.{kind}"));
            picture.save(&path("svg"))?;
            picture.save(&path("png"))
        })
}
