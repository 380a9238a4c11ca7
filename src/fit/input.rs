//! What is fitted: a case and the texts of its data.

use std::path::{Path, PathBuf};

use super::{
    case::{Case, DataSource, HoldOutRule},
    data::DataFile,
    dataset::Dataset,
    defaults::complete,
    folder::FitJob,
};
use crate::{
    error::{Result, bad_input},
    files::read_text,
    laboratory::{TestSettings, sheet::column_help},
    material::LawName,
    optimize::RobustLoss,
    study::Inputs,
};

/// Name of a case in the folder of a fit or a study.
pub(crate) const CASE: &str = "case.json";

/// A case, and its data as they were read.
#[derive(Debug, Clone, PartialEq)]
pub struct Measurements {
    pub case: Case,
    /// Name and text of each of its data files.
    pub texts: Vec<(String, String)>,
}

/// The case that runs without arguments, and its data.
const SHIPPED_CASE: &str = include_str!("../../fits/levison_cotton/case.json");
const SHIPPED_DATA: &str = include_str!("../../data/levison_like_cotton.csv");

impl FitJob {
    /// The columns of measurement files with units and meanings, as a table.
    pub fn columns() -> String {
        column_help()
    }
}

impl Measurements {
    /// A case (.json) with its data, or data files (.csv), for which a case is built; the shipped case where no
    /// file is given.
    pub fn read(paths: &[PathBuf]) -> Result<Measurements> {
        let is_case = |p: &PathBuf| {
            p.extension()
                .is_some_and(|e| e.eq_ignore_ascii_case("json"))
        };
        match paths {
            [] => Ok(Measurements {
                case: Case::parse(SHIPPED_CASE, "fits/levison_cotton/case.json")?,
                texts: vec![("levison_like_cotton.csv".into(), SHIPPED_DATA.into())],
            }),
            [path] if is_case(path) => Measurements::of_case(path),
            paths => match paths.iter().find(|p| is_case(p)) {
                None => Measurements::of_data(paths),
                Some(path) => bad_input(format!(
                    "{}: a case stands alone; name its data in it",
                    path.display()
                )),
            },
        }
    }

    fn of_case(path: &Path) -> Result<Measurements> {
        let case = Case::parse(&read_text(path)?, &path.display().to_string())?;
        let folder = path.parent().unwrap_or(Path::new(""));
        let texts = case.data.iter().map(|source| {
            let file = folder.join(&source.file);
            Ok((file.display().to_string(), read_text(&file)?))
        });
        let texts: Result<_> = texts.collect();
        Ok(Measurements {
            texts: texts?,
            case,
        })
    }

    fn of_data(paths: &[PathBuf]) -> Result<Measurements> {
        let read = |p: &PathBuf| Ok((p.display().to_string(), read_text(p)?));
        let texts: Result<Vec<(String, String)>> = paths.iter().map(read).collect();
        let stem = paths[0].file_stem().unwrap_or_default().to_string_lossy();
        Ok(Measurements::of_texts(&stem, texts?))
    }

    /// The texts of data files by their names, and the case that is built for them.
    pub(crate) fn of_texts(name: &str, texts: Vec<(String, String)>) -> Measurements {
        let source = |(file, _): &(String, String)| DataSource {
            file: file.clone(),
            ..DataSource::default()
        };
        let case = Case {
            name: name.into(),
            notes: Vec::new(),
            data: texts.iter().map(source).collect(),
            law: LawName::TimeDependent,
            relaxation_branches: 0,
            parameters: Vec::new(),
            tests: TestSettings::default(),
            loss: RobustLoss::Squares,
            starts: 16,
            seed: 1,
            hold_out: HoldOutRule::default(),
        };
        Measurements { case, texts }
    }

    /// Refuses data that cannot be read, by the names under which the files were given.
    pub fn check(&self) -> Result<Dataset> {
        gathered(
            &self.case,
            self.texts.iter().map(|(n, t)| (n.as_str(), t.as_str())),
        )
    }

    /// The case with its open settings chosen to suit the data.
    pub fn completed(mut self) -> Result<Measurements> {
        self.case = complete(&self.case, &self.check()?)?;
        Ok(self)
    }

    /// The case as it stands in a folder, with its data in `data/`, and all texts by their names there.
    pub fn in_folder(mut self) -> (Case, Inputs) {
        let mut inputs = Inputs::default();
        let names = file_names(&self.texts);
        for ((source, (_, text)), name) in self.case.data.iter_mut().zip(self.texts).zip(names) {
            source.file = format!("data/{name}");
            inputs.0.push((source.file.clone(), text));
        }
        let case = format!("{:#}\n", self.case.to_json());
        inputs.0.insert(0, (CASE.into(), case));
        (self.case, inputs)
    }
}

/// The data of a case whose texts are named as in the case.
pub(crate) fn dataset(case: &Case, inputs: &Inputs) -> Result<Dataset> {
    let text = |source: &DataSource| inputs.text(&source.file).unwrap_or_default();
    gathered(case, case.data.iter().map(|s| (s.file.as_str(), text(s))))
}

fn gathered<'a>(case: &Case, texts: impl Iterator<Item = (&'a str, &'a str)>) -> Result<Dataset> {
    let sources = case.data.iter().zip(texts);
    let parse = |(source, (name, text))| Ok((source, DataFile::parse(text, name)?));
    let files: Result<Vec<(&DataSource, DataFile)>> = sources.map(parse).collect();
    Dataset::gather(case, &files?)
}

/// A name of its own for every data file: files of two folders may share one.
fn file_names(texts: &[(String, String)]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for (path, _) in texts {
        let name = Path::new(path).file_name().unwrap_or_default();
        let name = name.to_string_lossy().to_string();
        let numbered = (2..).map(|i| format!("{i}-{name}"));
        let mut candidates = std::iter::once(name.clone()).chain(numbered);
        let free = candidates.find(|n| !names.contains(n));
        names.push(free.unwrap_or(name));
    }
    names
}
