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
    error::Result,
    sensitivity::{Found, result::Sensitivity},
    study::Folder,
};

/// Name of the result in its folder.
pub(crate) const RESULT: &str = "sensitivity.json";

/// Writes the result first, then tables, plots and reports.
pub fn save(path: &Path, found: &Found) -> Result<()> {
    let folder = Folder::new(path);
    let result = &found.result;
    folder.write_json(RESULT, result)?;
    folder.write("indices.csv", &tables::indices(result)?)?;
    let samples = tables::samples(&found.study, &found.runs, result)?;
    folder.write("samples.csv", &samples)?;
    draw(&folder, result)
}

/// Plots and reports.
fn draw(folder: &Folder, result: &Sensitivity) -> Result<()> {
    let plots = folder.inner("plots");
    plots.make()?;
    let pictures = pictures(result);
    // Side by side: painting pixels takes long.
    pictures.par_iter().try_for_each(|p| {
        let path = |kind| plots.file(&format!("{}.{kind}", p.stem));
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
    folder.write("report.md", text.as_bytes())?;
    let html: Vec<_> = sections
        .iter()
        .zip(&shown)
        .map(|((section, _), figures)| (section, figures.iter().collect()))
        .collect();
    let page = page(&title, (origin(result), result.synthetic), &html);
    folder.write("report.html", page.as_bytes())
}
