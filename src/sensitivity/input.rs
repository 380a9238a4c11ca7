//! What is studied: the inputs of a study as texts, copied into its folder, and the model that they make.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::{
    cloth::{ClothModel, ClothWish},
    laboratory::{HINGES, Laboratory, RangeWish, Vary},
    model::Model,
};
use crate::{
    error::{Error, Result, bad_input},
    files::read_text,
    fit::{
        Measurements,
        case::Case,
        folder::{RESULT, finished},
        input::{CASE, dataset},
        result::FitResult,
    },
    material::Material,
    numeric::Compute,
    scene::Scene,
    study::{Folder, Inputs, Shard},
};

const SCENE: &str = "scene.json";
/// The result of the fit whose errors are the ranges.
const FIT: &str = "fit.json";
/// The material around which parameters are varied.
const AROUND: &str = "around.json";
const OPTIONS: &str = "options.json";

/// What is to be studied, and how. The folder of a study keeps it, so that shards can be merged.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct SensitivityJob {
    /// Names of methods; all that suit the model where there is none.
    pub methods: Vec<String>,
    /// Distributions of parameters, as NAME=SHAPE.
    pub vary: Vec<String>,
    /// The parameters that are varied; all where there is none.
    pub only: Vec<String>,
    /// Parameters that are moved together, as GROUP=NAME,NAME,….
    pub group: Vec<String>,
    /// Most base samples of Sobol' indices.
    pub samples: Option<usize>,
    /// Morris' trajectories.
    pub trajectories: Option<usize>,
    /// Of everything random.
    pub seed: Option<u64>,
    /// Where a scene looks for its meshes.
    scene_folder: PathBuf,
    /// Stop when no 95 % interval of a Sobol' total is wider; 0 takes all samples.
    #[serde(skip)]
    pub width: f64,
    /// The share of the tasks that is run. Shares take all samples: they cannot know what the others find.
    #[serde(skip)]
    pub shard: Shard,
    #[serde(skip)]
    pub(super) inputs: Inputs,
    #[serde(skip)]
    name: String,
}

/// Gathers what is to be studied: a case or data, the folder of a fit, or a scene. `around` is the material whose values
/// the parameters are varied around. The second is where a scene looks for its meshes.
fn gather(paths: &[PathBuf], around: Option<&Material>) -> Result<(Inputs, PathBuf)> {
    let mut inputs = match paths {
        [path] if path.is_dir() => of_fit(path)?,
        [path] if is_scene(path)? => Inputs(vec![(SCENE.into(), read_text(path)?)]),
        paths => {
            if let Some(folder) = paths.iter().find(|p| p.is_dir()) {
                return bad_input(format!(
                    "{}: the folder of a fit stands alone; give it without other files",
                    folder.display()
                ));
            }
            let measurements = Measurements::read(paths)?;
            // Errors name the files as they were given, not our copies of them.
            measurements.check()?;
            measurements.in_folder().1
        }
    };
    if let Some(material) = around {
        if inputs.text(FIT).is_some() {
            return bad_input(
                "--around and the folder of a fit both say what the ranges are; leave one of them out",
            );
        }
        if inputs.text(SCENE).is_some() {
            return bad_input(
                "--around is for laboratory tests; a scene is varied around its own fabric (change fabric.material)",
            );
        }
        let text = format!("{:#}\n", material.to_json());
        inputs.0.push((AROUND.into(), text));
    }
    let parent = paths.first().and_then(|p| p.parent());
    let folder = parent.unwrap_or(Path::new("")).to_path_buf();
    Ok((inputs, std::path::absolute(&folder).unwrap_or(folder)))
}

/// Reads what a study's folder holds.
fn inputs_of(folder: &Folder) -> Result<Inputs> {
    let there = [CASE, SCENE, FIT, AROUND].into_iter();
    let mut names: Vec<String> = there.filter(|n| folder.has(n)).map(String::from).collect();
    if folder.has(CASE) {
        let place = folder.file(CASE).display().to_string();
        let case = Case::parse(&folder.read(CASE)?, &place)?;
        names.extend(case.data.into_iter().map(|source| source.file));
    }
    Inputs::read(folder, names)
}

/// Writes the inputs of a study into a folder, or refuses one that holds others.
pub(super) fn hold(inputs: &Inputs, folder: &Folder) -> Result<()> {
    match inputs.difference(folder)? {
        None => inputs.write(folder),
        Some(what) => folder.refuse(format!(
            "there is another study in this folder: {what}; give another --out"
        )),
    }
}

impl SensitivityJob {
    /// Reads a case or data, the folder of a fit, or a scene. `around` is the material whose values the parameters of
    /// laboratory tests are varied around. The study has all methods that suit it, with the usual samples.
    pub fn new(paths: &[PathBuf], around: Option<&Material>) -> Result<SensitivityJob> {
        let (inputs, scene_folder) = gather(paths, around)?;
        Ok(SensitivityJob {
            methods: Vec::new(),
            vary: Vec::new(),
            only: Vec::new(),
            group: Vec::new(),
            samples: None,
            trajectories: None,
            seed: None,
            name: name_of(&inputs, &scene_folder)?,
            scene_folder,
            width: 0.0,
            shard: Shard::WHOLE,
            inputs,
        })
    }

    /// The study that a folder holds.
    pub fn read(folder: &Path) -> Result<SensitivityJob> {
        let folder = Folder::new(folder);
        let inputs = inputs_of(&folder)?;
        let job: SensitivityJob = serde_json::from_str(&folder.read(OPTIONS)?).map_err(|e| {
            Error::BadInput(format!(
                "{}: not the options of a study by this version: {e}; run the study again",
                folder.file(OPTIONS).display()
            ))
        })?;
        Ok(SensitivityJob {
            name: name_of(&inputs, &job.scene_folder)?,
            inputs,
            ..job
        })
    }

    /// Name of what is studied.
    pub fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn write(&self, folder: &Folder) -> Result<()> {
        folder.write_json(OPTIONS, self)
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

fn of_fit(path: &Path) -> Result<Inputs> {
    finished(path)?;
    let mut measurements = Measurements::read(&[path.join(CASE)])?;
    // The fit wrote down its own, with which a study would take many times as long.
    let hinges = &mut measurements.case.tests.hinges;
    *hinges = hinges.map(|h| h.min(HINGES));
    let mut inputs = measurements.in_folder().1;
    inputs.0.push((FIT.into(), Folder::new(path).read(RESULT)?));
    Ok(inputs)
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
pub(super) fn open(compute: &Compute, job: &SensitivityJob) -> Result<Opened> {
    match (job.inputs.text(SCENE), job.inputs.text(CASE)) {
        (Some(text), _) => open_scene(compute, text, job),
        (None, Some(text)) => open_case(compute, Case::parse(text, CASE)?, job),
        (None, None) => nothing(),
    }
}

/// Name of what is studied.
fn name_of(inputs: &Inputs, scene_folder: &Path) -> Result<String> {
    match (inputs.text(SCENE), inputs.text(CASE)) {
        (Some(text), _) => Ok(Scene::parse(text, SCENE, scene_folder)?.name),
        (None, Some(text)) => Ok(Case::parse(text, CASE)?.name),
        (None, None) => nothing(),
    }
}

fn nothing<T>() -> Result<T> {
    bad_input("there is neither a case nor a scene to study; name one")
}

fn open_case(compute: &Compute, case: Case, job: &SensitivityJob) -> Result<Opened> {
    let inputs = &job.inputs;
    let data = dataset(&case, inputs)?;
    let mut notes = Vec::new();
    let mut wish = RangeWish {
        vary: job.vary()?,
        only: job.only.clone(),
        ..RangeWish::default()
    };
    if let Some(text) = inputs.text(AROUND) {
        let material = Material::parse(text, AROUND)?;
        wish.around = Some(material.values_for(case.build_law().as_ref())?);
    }
    if let Some(text) = inputs.text(FIT) {
        let fit: FitResult = serde_json::from_str(text)
            .map_err(|e| Error::BadInput(format!("{FIT}: not the result of a fit: {e}")))?;
        notes.push("Ranges are the errors of the fit, each parameter by itself: the indices are of independent parameters.".into());
        notes.extend(strong_correlations(&fit));
        wish.posterior = Some(fit);
    }
    let model = Laboratory::new(compute, &case, &data, &wish)?;
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

fn open_scene(compute: &Compute, text: &str, job: &SensitivityJob) -> Result<Opened> {
    let scene = Scene::parse(text, SCENE, &job.scene_folder)?;
    let wish = ClothWish {
        vary: job.vary()?,
        only: job.only.clone(),
    };
    let model = ClothModel::new(&scene, compute, &wish)?;
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
