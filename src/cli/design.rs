//! `rumple design`

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::{Common, count, fit, grid::GridArguments, interrupted, say, spinner};
use crate::{
    error::Result,
    fit::{Criterion, FitJob, design::check_budget, folder::finished},
};

/// Rank what could be measured next by what it would teach, with the error bars before and after
#[derive(Debug, Args)]
pub(crate) struct DesignArguments {
    /// Folder of a finished fit, or a case (.json) or measurements (.csv), which are fitted first
    /// [default: the shipped case]
    #[arg(value_name = "DIR|CASE.json|DATA.csv")]
    inputs: Vec<PathBuf>,
    /// How many measurements to plan
    #[arg(long, value_name = "N", default_value = "3", value_parser = count)]
    budget: usize,
    /// What the plan is to make small
    #[arg(long, value_enum, default_value = "d")]
    criterion: CriterionName,
    #[command(flatten)]
    grid: GridArguments<true>,
}

#[derive(Debug, Clone, Copy, PartialEq, ValueEnum)]
enum CriterionName {
    /// The volume of the region of uncertainty: most information
    D,
    /// The sum of the relative variances
    A,
}

pub(crate) fn run(common: &Common, arguments: &DesignArguments) -> Result<()> {
    check_budget(arguments.budget)?;
    let chosen = arguments.grid.chosen()?;
    let folder = match arguments.inputs.as_slice() {
        [folder] if folder.is_dir() => folder.clone(),
        inputs => fit::fitted(common, inputs)?,
    };
    interrupted();
    let compute = common.compute()?;
    let progress = spinner("what could be measured next".into());
    let criterion = match arguments.criterion {
        CriterionName::D => Criterion::D,
        CriterionName::A => Criterion::A,
    };
    finished(&folder)?;
    let found = FitJob::design(&folder, &compute, &chosen, criterion, arguments.budget)?;
    progress.finish_and_clear();
    let out = folder.join("design");
    let files = found.draw(&out)?;
    common.answer(|| &found, || found.in_words())?;
    say(&format!(
        "results: {} ({})",
        out.display(),
        files.join(", ")
    ));
    Ok(())
}
