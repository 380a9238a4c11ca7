//! Plots and reports in the folder of a fit.

use std::path::Path;

use rayon::prelude::*;

use crate::{
    error::Result,
    fit::{folder::RESULT, result::FitResult},
    report::fit::{
        document::{Report, Topic, report},
        html::html,
        plots::{self, NamedPicture},
        text::markdown,
    },
    study::Folder,
};

/// Draws the plots and reports of a result into its folder; returns the result with its list of files, which
/// `result.json` then holds too.
pub(crate) fn draw(path: &Path, mut result: FitResult) -> Result<FitResult> {
    let folder = Folder::new(path);
    let pictures = plots::pictures(&result);
    let reports = ["report.md", "report.html"].map(String::from);
    result
        .files
        .retain(|f| !reports.contains(f) && !f.starts_with("plots/"));
    let after_result = result.files.len().min(1);
    result.files.splice(after_result..after_result, reports);
    for (_, (stem, _, _)) in &pictures {
        let kinds = ["svg", "png"].map(|kind| format!("plots/{stem}.{kind}"));
        result.files.extend(kinds);
    }
    folder.write_json(RESULT, &result)?;
    write(&folder, &report(&result), pictures)?;
    Ok(result)
}

/// Draws the pictures and writes `report.md` and `report.html` with them.
pub(crate) fn write(
    folder: &Folder,
    report: &Report,
    pictures: Vec<(Topic, NamedPicture)>,
) -> Result<()> {
    folder.inner("plots").make()?;
    // Side by side: painting pixels would take a quarter of a fit's time otherwise.
    pictures
        .par_iter()
        .try_for_each(|(_, (stem, _, picture))| {
            let path = |kind| folder.file(&format!("plots/{stem}.{kind}"));
            picture.save(&path("svg"))?;
            picture.save(&path("png"))
        })?;
    let (mut inline, mut linked) = (Vec::new(), Vec::new());
    for (topic, (stem, caption, picture)) in pictures {
        inline.push((topic, (caption.clone(), picture.svg()?)));
        linked.push((topic, (format!("{stem}.svg"), caption)));
    }
    folder.write("report.md", markdown(report, &linked).as_bytes())?;
    folder.write("report.html", html(report, &inline).as_bytes())
}
