//! What the command line asks to study.

use std::path::{Path, PathBuf};

use crate::{
    calibrate::{
        case::{Case, Source},
        data::DataFile,
        dataset::Dataset,
    },
    cli::{Common, CurvatureArguments, fit::input::inputs},
    error::{Result, bad_input},
    files::read_text,
    report::fit_folder,
    scene::Scene,
    sensitivity::{
        cloth::{ClothModel, ClothWish},
        laboratory::{HINGES, Laboratory, Vary, Wish},
        model::Model,
    },
};

/// What is asked for of the ranges.
pub(super) struct Wishes {
    pub vary: Vec<(String, Vary)>,
    pub only: Vec<String>,
    pub around: Option<String>,
}

/// A model to study.
pub(super) struct Opened {
    pub model: Box<dyn Model>,
    pub name: String,
    pub synthetic: bool,
    pub notes: Vec<String>,
    pub is_scene: bool,
}

/// Reads whatever the command line names.
pub(super) fn open(common: &Common, paths: &[PathBuf], wishes: &Wishes) -> Result<Opened> {
    match paths {
        [path] if path.is_dir() => of_fit(common, path, wishes),
        [path] if is_scene(path)? => of_scene(common, path, wishes),
        paths => {
            if let Some(folder) = paths.iter().find(|p| p.is_dir()) {
                return bad_input(format!(
                    "{}: the folder of a fit stands alone; give it without other files",
                    folder.display()
                ));
            }
            let (case, texts) = inputs(paths)?;
            let files: Result<Vec<(&Source, DataFile)>> = case
                .data
                .iter()
                .zip(&texts)
                .map(|(source, (name, text))| Ok((source, DataFile::parse(text, name)?)))
                .collect();
            let data = Dataset::gather(&case, &files?)?;
            of_case(common, &case, &data, wish(&case, wishes)?)
        }
    }
}

/// A JSON file with a mesh in it is a scene.
fn is_scene(path: &Path) -> Result<bool> {
    let json = path.extension().is_some_and(|e| e.eq_ignore_ascii_case("json"));
    if !json {
        return Ok(false);
    }
    // What is no JSON is refused by whoever reads it as a case.
    let value = serde_json::from_str::<serde_json::Value>(&read_text(path)?);
    Ok(value.is_ok_and(|v| v.get("mesh").is_some()))
}

fn wish(case: &Case, wishes: &Wishes) -> Result<Wish> {
    let around = match &wishes.around {
        None => None,
        Some(name) => {
            let prepared = CurvatureArguments::hard(name).prepare()?;
            Some(prepared.material.values_for(case.build_law().as_ref())?)
        }
    };
    Ok(Wish {
        vary: wishes.vary.clone(),
        only: wishes.only.clone(),
        around,
        posterior: None,
    })
}

fn of_case(common: &Common, case: &Case, data: &Dataset, wish: Wish) -> Result<Opened> {
    let model = Laboratory::new(&common.compute()?, case, data, &wish)?;
    let mut notes = case.notes.clone();
    notes.extend(data.notes.iter().cloned());
    notes.extend(model.notes().iter().cloned());
    Ok(Opened {
        model: Box::new(model),
        name: case.name.clone(),
        synthetic: data.synthetic,
        notes,
        is_scene: false,
    })
}

fn of_fit(common: &Common, folder: &Path, wishes: &Wishes) -> Result<Opened> {
    let fit = fit_folder::load(folder)?;
    if fit.interrupted {
        return bad_input(format!(
            "{}: its fit was interrupted; finish it first with `rumple fit --resume {}`",
            folder.display(),
            folder.display()
        ));
    }
    if wishes.around.is_some() {
        return bad_input(
            "--around and the folder of a fit both say what the ranges are; leave one of them out",
        );
    }
    let place = folder.join("case.json");
    let mut case = Case::parse(&read_text(&place)?, &place.display().to_string())?;
    let data = Dataset::read(&case, folder)?;
    // The fit wrote down its own, with which a study would take many times as long.
    case.tests.hinges = case.tests.hinges.map(|h| h.min(HINGES));
    let mut notes = vec![
        "Ranges are the errors of the fit, each parameter by itself: the indices are of independent parameters.".to_string(),
    ];
    notes.extend(strong_correlations(&fit));
    let wish = Wish {
        posterior: Some(fit),
        ..wish(&case, wishes)?
    };
    let mut opened = of_case(common, &case, &data, wish)?;
    notes.append(&mut opened.notes);
    opened.notes = notes;
    Ok(opened)
}

/// What independent ranges leave out.
fn strong_correlations(fit: &crate::calibrate::result::FitResult) -> Vec<String> {
    const STRONG: f64 = 0.9;
    let names = &fit.correlations.names;
    let mut notes = Vec::new();
    for (i, row) in fit.correlations.matrix.iter().enumerate() {
        for (j, r) in row.iter().enumerate().skip(i + 1) {
            if let Some(r) = r.filter(|r| r.abs() >= STRONG) {
                notes.push(format!(
                    "The fit knows {} and {} mostly together (correlation {r:+.2}); varied on their own they spread the readings more than the fit does. --group moves them at once, still without the correlation.",
                    names[i], names[j]
                ));
            }
        }
    }
    notes
}

fn of_scene(common: &Common, path: &Path, wishes: &Wishes) -> Result<Opened> {
    if wishes.around.is_some() {
        return bad_input(
            "--around is for laboratory tests; a scene is varied around its own fabric (change fabric.material)",
        );
    }
    let scene = Scene::load(path)?;
    let wish = ClothWish {
        vary: wishes.vary.clone(),
        only: wishes.only.clone(),
    };
    let model = ClothModel::new(&scene, &common.compute()?, &wish)?;
    let mut notes = scene.notes.clone();
    notes.extend(model.notes());
    Ok(Opened {
        model: Box::new(model),
        name: scene.name.clone(),
        synthetic: false,
        notes,
        is_scene: true,
    })
}
