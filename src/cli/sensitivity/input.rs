//! What is studied: the inputs of a study as texts, copied into its folder, and the model that they make.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::{
    cli::{
        Common, CurvatureArguments,
        fit::{file_names, input::inputs},
    },
    error::{Error, Result, bad_input},
    files::{read_text, write_whole},
    fit::{
        case::{Case, Source},
        data::DataFile,
        dataset::Dataset,
        result::FitResult,
    },
    material::Material,
    report,
    scene::Scene,
    sensitivity::{
        cloth::{ClothModel, ClothWish},
        laboratory::{HINGES, Laboratory, Vary, Wish},
        model::Model,
    },
};

const CASE: &str = "case.json";
const SCENE: &str = "scene.json";
/// The result of the fit whose errors are the ranges.
const FIT: &str = "fit.json";
/// The material around which parameters are varied.
const AROUND: &str = "around.json";
const OPTIONS: &str = "options.json";

/// How a study was asked for; its folder keeps it, so that shards can be merged.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Options {
    pub methods: Vec<String>,
    pub vary: Vec<String>,
    pub only: Vec<String>,
    pub group: Vec<String>,
    pub samples: Option<usize>,
    pub trajectories: Option<usize>,
    pub seed: Option<u64>,
    /// Where a scene looks for its meshes.
    pub scene_folder: PathBuf,
}

/// The inputs of a study: names within its folder, and texts.
pub(super) struct Files(Vec<(String, String)>);

impl Files {
    /// Gathers what the command line names; the second is where a scene looks for its meshes.
    pub fn gather(paths: &[PathBuf], around: Option<&str>) -> Result<(Files, PathBuf)> {
        let mut files = match paths {
            [path] if path.is_dir() => of_fit(path)?,
            [path] if is_scene(path)? => vec![(SCENE.to_string(), read_text(path)?)],
            paths => {
                if let Some(folder) = paths.iter().find(|p| p.is_dir()) {
                    return bad_input(format!(
                        "{}: the folder of a fit stands alone; give it without other files",
                        folder.display()
                    ));
                }
                let (case, texts) = inputs(paths)?;
                // Errors name the files as they were given, not our copies of them.
                for (name, text) in &texts {
                    DataFile::parse(text, name)?;
                }
                with_data(case, texts)
            }
        };
        let has = |name: &str| files.iter().any(|(n, _)| n == name);
        if let Some(name) = around {
            if has(FIT) {
                return bad_input(
                    "--around and the folder of a fit both say what the ranges are; leave one of them out",
                );
            }
            if has(SCENE) {
                return bad_input(
                    "--around is for laboratory tests; a scene is varied around its own fabric (change fabric.material)",
                );
            }
            let material = CurvatureArguments::hard(name).prepare()?.material;
            files.push((AROUND.into(), format!("{:#}\n", material.to_json())));
        }
        let parent = paths.first().and_then(|p| p.parent());
        let folder = parent.unwrap_or(Path::new("")).to_path_buf();
        Ok((Files(files), std::path::absolute(&folder).unwrap_or(folder)))
    }

    /// Reads what a study's folder holds.
    pub fn read(folder: &Path) -> Result<Files> {
        let mut files = Vec::new();
        for name in [CASE, SCENE, FIT, AROUND] {
            let path = folder.join(name);
            if path.is_file() {
                files.push((name.to_string(), read_text(&path)?));
            }
        }
        if let Some((_, text)) = files.iter().find(|(n, _)| n == CASE) {
            let case = Case::parse(text, &folder.join(CASE).display().to_string())?;
            for source in case.data {
                let text = read_text(&folder.join(&source.file))?;
                files.push((source.file, text));
            }
        }
        Ok(Files(files))
    }

    /// Writes them into a folder, or refuses one that holds others.
    pub fn write(&self, folder: &Path) -> Result<()> {
        for (name, text) in &self.0 {
            let path = folder.join(name);
            if path.is_file() {
                if read_text(&path)? == text.trim_start_matches('\u{feff}') {
                    continue;
                }
                return bad_input(format!(
                    "{}: there is another study in this folder; give another --out",
                    path.display()
                ));
            }
            let parent = path.parent().unwrap_or(folder);
            std::fs::create_dir_all(parent).map_err(|e| Error::writing(parent, e))?;
            write_whole(&path, text.as_bytes())?;
        }
        Ok(())
    }

    fn text(&self, name: &str) -> Option<&str> {
        let found = self.0.iter().find(|(n, _)| n == name);
        found.map(|(_, text)| text.as_str())
    }
}

impl Options {
    pub fn read(folder: &Path) -> Result<Options> {
        let path = folder.join(OPTIONS);
        serde_json::from_str(&read_text(&path)?).map_err(|e| {
            Error::BadInput(format!(
                "{}: not the options of a study by this version: {e}; run the study again",
                path.display()
            ))
        })
    }

    pub fn write(&self, folder: &Path) -> Result<()> {
        let text = serde_json::to_string_pretty(self)
            .map_err(|e| Error::BadInput(format!("the options cannot be written: {e}")))?;
        write_whole(&folder.join(OPTIONS), format!("{text}\n").as_bytes())
    }

    fn vary(&self) -> Result<Vec<(String, Vary)>> {
        let one = |text: &String| -> Result<(String, Vary)> {
            let Some((name, shape)) = text.split_once('=') else {
                return bad_input(format!("--vary {text}: there is no '='; give NAME=SHAPE"));
            };
            let shape = Vary::parse(shape)
                .map_err(|e| Error::BadInput(format!("--vary {}: {e}", name.trim())))?;
            Ok((name.trim().into(), shape))
        };
        self.vary.iter().map(one).collect()
    }
}

/// A case with its data beside it.
fn with_data(mut case: Case, texts: Vec<(String, String)>) -> Vec<(String, String)> {
    let names = file_names(&texts);
    let mut files = Vec::new();
    for ((source, (_, text)), name) in case.data.iter_mut().zip(texts).zip(names) {
        source.file = format!("data/{name}");
        files.push((source.file.clone(), text));
    }
    files.insert(0, (CASE.into(), format!("{:#}\n", case.to_json())));
    files
}

fn of_fit(folder: &Path) -> Result<Vec<(String, String)>> {
    let fit = report::fit::folder::load(folder)?;
    if fit.interrupted {
        return bad_input(format!(
            "{}: its fit was interrupted; finish it first with `rumple fit --resume {}`",
            folder.display(),
            folder.display()
        ));
    }
    let place = folder.join(CASE);
    let mut case = Case::parse(&read_text(&place)?, &place.display().to_string())?;
    // The fit wrote down its own, with which a study would take many times as long.
    case.tests.hinges = case.tests.hinges.map(|h| h.min(HINGES));
    let mut texts = Vec::new();
    for source in &case.data {
        let path = folder.join(&source.file);
        texts.push((path.display().to_string(), read_text(&path)?));
    }
    let mut files = with_data(case, texts);
    files.push((
        FIT.into(),
        read_text(&folder.join(report::fit::folder::RESULT))?,
    ));
    Ok(files)
}

/// A JSON file with a mesh in it is a scene.
fn is_scene(path: &Path) -> Result<bool> {
    let json = path
        .extension()
        .is_some_and(|e| e.eq_ignore_ascii_case("json"));
    if !json {
        return Ok(false);
    }
    // What is no JSON is refused by whoever reads it as a case.
    let value = serde_json::from_str::<serde_json::Value>(&read_text(path)?);
    Ok(value.is_ok_and(|v| v.get("mesh").is_some()))
}

/// A model to study.
pub(super) struct Opened {
    pub model: Box<dyn Model>,
    pub name: String,
    pub synthetic: bool,
    pub notes: Vec<String>,
    pub is_scene: bool,
}

/// The model of a study's inputs.
pub(super) fn open(common: &Common, files: &Files, options: &Options) -> Result<Opened> {
    match (files.text(SCENE), files.text(CASE)) {
        (Some(text), _) => open_scene(common, text, options),
        (None, Some(text)) => open_case(common, files, Case::parse(text, CASE)?, options),
        (None, None) => bad_input("there is neither a case nor a scene to study; name one"),
    }
}

fn open_case(common: &Common, files: &Files, case: Case, options: &Options) -> Result<Opened> {
    let read: Result<Vec<(&Source, DataFile)>> = case
        .data
        .iter()
        .map(|source| {
            let text = files.text(&source.file).unwrap_or_default();
            Ok((source, DataFile::parse(text, &source.file)?))
        })
        .collect();
    let data = Dataset::gather(&case, &read?)?;
    let mut notes = Vec::new();
    let mut wish = Wish {
        vary: options.vary()?,
        only: options.only.clone(),
        ..Wish::default()
    };
    if let Some(text) = files.text(AROUND) {
        let material = Material::parse(text, AROUND)?;
        wish.around = Some(material.values_for(case.build_law().as_ref())?);
    }
    if let Some(text) = files.text(FIT) {
        let fit: FitResult = serde_json::from_str(text)
            .map_err(|e| Error::BadInput(format!("{FIT}: not the result of a fit: {e}")))?;
        notes.push("Ranges are the errors of the fit, each parameter by itself: the indices are of independent parameters.".into());
        notes.extend(strong_correlations(&fit));
        wish.posterior = Some(fit);
    }
    let model = Laboratory::new(&common.compute()?, &case, &data, &wish)?;
    notes.extend(case.notes.iter().cloned());
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

/// What independent ranges leave out.
fn strong_correlations(fit: &FitResult) -> Vec<String> {
    const STRONG: f64 = 0.9;
    let names = &fit.correlations.names;
    let mut notes = Vec::new();
    for (i, row) in fit.correlations.matrix.iter().enumerate() {
        for (j, r) in row.iter().enumerate().skip(i + 1) {
            if let Some(r) = r.filter(|r| r.abs() >= STRONG) {
                notes.push(format!(
                    "The fit knows {} and {} mostly together (correlation {r:+.2}); varied on their own they spread the readings more than the fit does.",
                    names[i], names[j]
                ));
            }
        }
    }
    notes
}

fn open_scene(common: &Common, text: &str, options: &Options) -> Result<Opened> {
    let scene = Scene::parse(text, SCENE, &options.scene_folder)?;
    let wish = ClothWish {
        vary: options.vary()?,
        only: options.only.clone(),
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
