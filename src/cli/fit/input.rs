//! What the command line asks to fit.

use std::path::{Path, PathBuf};

use clap::Args;

use crate::{
    error::{Result, bad_input, unknown},
    files::read_text,
    fit::case::{Case, HoldOutRule, Source},
    laboratory::TestSettings,
    material::LawName,
    optimize::RobustLoss,
};

/// What the command line changes in a case.
#[derive(Debug, Default, Args)]
pub(super) struct Changes {
    /// Law: time_dependent, hardening_plastic, …
    #[arg(long)]
    law: Option<String>,
    /// Relaxation branches of the time-dependent law
    #[arg(long, value_name = "N")]
    branches: Option<usize>,
    /// Only this fabric of the data
    #[arg(long)]
    fabric: Option<String>,
    /// Only this direction of the data, such as warp
    #[arg(long)]
    direction: Option<String>,
    /// Gap where the data give none
    #[arg(long, value_name = "MM")]
    gap_mm: Option<f64>,
    /// Gaps that are predicted, not fitted
    #[arg(long, value_delimiter = ',', value_name = "MM,…")]
    hold_out_gap_mm: Vec<f64>,
    /// squares, huber or cauchy
    #[arg(long)]
    loss: Option<String>,
    /// Starts of the search
    #[arg(long, value_name = "N")]
    starts: Option<usize>,
}

/// The case that runs without arguments, and its data.
const SHIPPED_CASE: &str = include_str!("../../../fits/levison_cotton/case.json");
const SHIPPED_DATA: &str = include_str!("../../../data/levison_like_cotton.csv");

/// The case and the data that the command line names.
pub(in crate::cli) fn inputs(paths: &[PathBuf]) -> Result<(Case, Vec<(String, String)>)> {
    let is_case = |p: &PathBuf| {
        p.extension()
            .is_some_and(|e| e.eq_ignore_ascii_case("json"))
    };
    match paths {
        [] => {
            let case = Case::parse(SHIPPED_CASE, "fits/levison_cotton/case.json")?;
            let data = (
                "levison_like_cotton.csv".to_string(),
                SHIPPED_DATA.to_string(),
            );
            Ok((case, vec![data]))
        }
        [path] if is_case(path) => {
            let case = Case::parse(&read_text(path)?, &path.display().to_string())?;
            let folder = path.parent().unwrap_or(Path::new(""));
            let texts = case.data.iter().map(|source| {
                let file = folder.join(&source.file);
                Ok((file.display().to_string(), read_text(&file)?))
            });
            let texts: Result<Vec<_>> = texts.collect();
            Ok((case, texts?))
        }
        paths => {
            if let Some(path) = paths.iter().find(|p| is_case(p)) {
                return bad_input(format!(
                    "{}: a case stands alone; name its data in it",
                    path.display()
                ));
            }
            let read = |p: &PathBuf| Ok((p.display().to_string(), read_text(p)?));
            let texts: Result<Vec<_>> = paths.iter().map(read).collect();
            let texts = texts?;
            let stem = paths[0].file_stem().unwrap_or_default().to_string_lossy();
            let source = |(file, _): &(String, String)| Source {
                file: file.clone(),
                ..Source::default()
            };
            let case = Case {
                name: stem.to_string(),
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
            Ok((case, texts))
        }
    }
}

impl Changes {
    pub(super) fn any(&self) -> bool {
        self.law.is_some()
            || self.branches.is_some()
            || self.fabric.is_some()
            || self.direction.is_some()
            || self.gap_mm.is_some()
            || !self.hold_out_gap_mm.is_empty()
            || self.loss.is_some()
            || self.starts.is_some()
    }

    pub(super) fn apply(&self, case: &mut Case) -> Result<()> {
        if let Some(name) = &self.law {
            let names = LawName::ALL.map(LawName::name);
            let law = LawName::ALL.into_iter().find(|l| l.name() == name);
            case.law = law.ok_or_else(|| unknown("--law", name, &names))?;
            let known: Vec<String> = case
                .build_law()
                .parameters()
                .into_iter()
                .map(|p| p.name)
                .collect();
            case.parameters.retain(|(n, _)| known.contains(n));
        }
        if let Some(branches) = self.branches {
            case.relaxation_branches = branches;
        }
        if let Some(name) = &self.loss {
            let names = RobustLoss::ALL.map(RobustLoss::name);
            let loss = RobustLoss::ALL.into_iter().find(|l| l.name() == name);
            case.loss = loss.ok_or_else(|| unknown("--loss", name, &names))?;
        }
        for source in &mut case.data {
            source.fabric = self.fabric.clone().or(source.fabric.take());
            source.direction = self.direction.clone().or(source.direction.take());
        }
        case.tests.gap_mm = self.gap_mm.or(case.tests.gap_mm);
        case.starts = self.starts.unwrap_or(case.starts);
        case.hold_out.gap_mm.extend(&self.hold_out_gap_mm);
        // The checks of a case file apply to the command line too.
        *case = Case::parse(&case.to_json().to_string(), "command line")?;
        Ok(())
    }
}
