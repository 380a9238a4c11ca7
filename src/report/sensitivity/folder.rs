//! The folder of a study: everything that is drawn from its result.

use std::path::Path;

use rayon::prelude::*;

use crate::report::{
    fit::{
        html::{Figure, page},
        text::markdown::{Link, document},
    },
    sensitivity::{
        document::{origin, sections, title},
        plots::{Topic, pictures},
        tables,
    },
};
use crate::{
    error::{Error, Result},
    files::write_whole,
    sensitivity::{
        result::Sensitivity,
        study::{Runs, Study},
    },
};

/// Name of the result in its folder.
pub const RESULT: &str = "sensitivity.json";

/// Writes the result first, then tables, plots and reports.
pub fn save(folder: &Path, study: &Study, runs: &Runs, result: &Sensitivity) -> Result<()> {
    let text = format!("{}\n", to_json(result)?);
    write_whole(&folder.join(RESULT), text.as_bytes())?;
    let indices = tables::indices(result)?;
    write_whole(&folder.join("indices.csv"), &indices)?;
    let samples = tables::samples(study, runs, result)?;
    write_whole(&folder.join("samples.csv"), &samples)?;
    draw(folder, result)
}

/// Plots and reports.
pub fn draw(folder: &Path, result: &Sensitivity) -> Result<()> {
    let plots = folder.join("plots");
    std::fs::create_dir_all(&plots).map_err(|e| Error::writing(&plots, e))?;
    let pictures = pictures(result);
    // Side by side: painting pixels takes long.
    pictures.par_iter().try_for_each(|p| {
        let path = |kind| plots.join(format!("{}.{kind}", p.stem));
        p.picture.save(&path("svg"))?;
        p.picture.save(&path("png"))
    })?;
    let mut figures: Vec<(Topic, Figure)> = Vec::new();
    let mut links: Vec<(Topic, Link)> = Vec::new();
    for p in pictures {
        figures.push((p.topic, (p.caption.clone(), p.picture.svg()?)));
        links.push((p.topic, (format!("{}.svg", p.stem), p.caption)));
    }
    let sections = sections(result);
    let title = title(result);
    let placed = |topic: Option<Topic>, list: &[(Topic, (String, String))]| {
        let here = list.iter().filter(|(t, _)| Some(*t) == topic);
        here.map(|(_, entry)| entry.clone()).collect::<Vec<_>>()
    };
    let texts: Vec<Vec<Link>> = sections.iter().map(|s| placed(s.1, &links)).collect();
    let shown: Vec<Vec<Figure>> = sections.iter().map(|s| placed(s.1, &figures)).collect();
    let markdown: Vec<_> = sections.iter().zip(&texts).collect();
    let markdown: Vec<_> = markdown
        .iter()
        .map(|((section, _), links)| (section, links.iter().collect()))
        .collect();
    let text = document(&title, origin(result), &markdown);
    write_whole(&folder.join("report.md"), text.as_bytes())?;
    let html: Vec<_> = sections
        .iter()
        .zip(&shown)
        .map(|((section, _), figures)| (section, figures.iter().collect()))
        .collect();
    let page = page(&title, (origin(result), result.synthetic), &html);
    write_whole(&folder.join("report.html"), page.as_bytes())
}

/// The text of `sensitivity.json`.
pub fn to_json(result: &Sensitivity) -> Result<String> {
    serde_json::to_string_pretty(result)
        .map_err(|e| Error::BadInput(format!("the result cannot be written as JSON: {e}")))
}
