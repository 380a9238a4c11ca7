//! The folder of a fit: everything that is drawn from its result.

use std::path::Path;

use rayon::prelude::*;

use crate::report::fit::{html, plots, text};
use crate::{
    error::{Error, Result},
    files::{read_text, write_whole},
    fit::{export, result::FitResult},
};

/// Name of the result in its folder.
pub const RESULT: &str = "result.json";

/// Reads the result of a folder.
pub fn load(folder: &Path) -> Result<FitResult> {
    let path = folder.join(RESULT);
    if !path.is_file() {
        return Err(Error::BadInput(format!(
            "{}: no {RESULT} in it; give the folder that `rumple fit` wrote (an unfinished one goes on with `rumple fit --resume {}`)",
            folder.display(),
            folder.display()
        )));
    }
    serde_json::from_str(&read_text(&path)?).map_err(|e| {
        Error::BadInput(format!(
            "{}: not the result of a fit by this version: {e}; run the fit again",
            path.display()
        ))
    })
}

/// Writes the result first, then all that is drawn from it; returns the result with its list of files.
pub fn save(folder: &Path, result: FitResult) -> Result<FitResult> {
    let pictures = plots::pictures(&result);
    let materials = export::materials(&result)?;
    let exports = export::exports(&result)?;
    let mut files: Vec<String> = [
        RESULT,
        "report.md",
        "report.html",
        "case.json",
        "journal.jsonl",
    ]
    .map(String::from)
    .to_vec();
    files.extend(materials.iter().map(|(name, _)| name.clone()));
    files.extend(exports.iter().map(|(name, _)| format!("export/{name}")));
    for (_, (stem, _, _)) in &pictures {
        files.extend(["svg", "png"].map(|kind| format!("plots/{stem}.{kind}")));
    }
    let mut result = FitResult { files, ..result };
    result.run.folder = folder.display().to_string();
    let make = |name: &str| {
        let path = folder.join(name);
        std::fs::create_dir_all(&path).map_err(|e| Error::writing(&path, e))
    };
    write_whole(
        &folder.join(RESULT),
        format!("{}\n", to_json(&result)?).as_bytes(),
    )?;
    for (name, material) in materials {
        let text = format!("{:#}\n", material.to_json());
        write_whole(&folder.join(name), text.as_bytes())?;
    }
    make("export")?;
    for (name, text) in exports {
        write_whole(&folder.join("export").join(name), text.as_bytes())?;
    }
    make("plots")?;
    // Side by side: painting pixels would take a quarter of a fit's time otherwise.
    pictures
        .par_iter()
        .try_for_each(|(_, (stem, _, picture))| {
            let path = |kind| folder.join("plots").join(format!("{stem}.{kind}"));
            picture.save(&path("svg"))?;
            picture.save(&path("png"))
        })?;
    let (mut inline, mut linked) = (Vec::new(), Vec::new());
    for (topic, (stem, caption, picture)) in pictures {
        inline.push((topic, (caption.clone(), picture.svg()?)));
        linked.push((topic, (format!("{stem}.svg"), caption)));
    }
    let markdown = text::markdown(&result, &linked);
    write_whole(&folder.join("report.md"), markdown.as_bytes())?;
    let html = html::html(&result, &inline);
    write_whole(&folder.join("report.html"), html.as_bytes())?;
    Ok(result)
}

/// The text of `result.json`.
pub fn to_json(result: &FitResult) -> Result<String> {
    serde_json::to_string_pretty(result)
        .map_err(|e| Error::BadInput(format!("the result cannot be written as JSON: {e}")))
}
