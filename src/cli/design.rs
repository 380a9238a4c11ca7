//! `rumple design`

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::{Common, MAX_SECONDS, check_list, count, fit, interrupted, say, spinner};
use crate::{
    error::{Error, Result, bad_input},
    fit::{Criterion, design as plan},
    laboratory::Grid,
    report::fit::design,
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
    /// Gaps that can be set [default: those of the data, half the smallest, twice the largest]
    #[arg(long, value_delimiter = ',', value_name = "MM,…")]
    gap_mm: Vec<f64>,
    /// Pressing times that can be kept [default: a tenth of the shortest to the longest of the data]
    #[arg(long, value_delimiter = ',', value_name = "S,…")]
    press_s: Vec<f64>,
    /// Dwells at the reversal of a KES loop [default: 0,10,60,300,1000]; without it, loops are left out where gaps
    /// or pressing times are given, and with it alone creases are
    #[arg(long, value_delimiter = ',', value_name = "S,…")]
    dwell_s: Vec<f64>,
    /// Angles of a cantilever, from its edge to its tip [default: 20,41.5,60,75]; as with dwells, without it or with it
    /// alone
    #[arg(long, value_delimiter = ',', value_name = "DEG,…")]
    angle_deg: Vec<f64>,
    /// Mass per area of the fabric, which cantilevers need [default: that of the data or of the case]
    #[arg(long, value_delimiter = ',', value_name = "G/M2,…")]
    areal_density_g_per_m2: Vec<f64>,
}

#[derive(Debug, Clone, Copy, PartialEq, ValueEnum)]
enum CriterionName {
    /// The volume of the region of uncertainty: most information
    D,
    /// The sum of the relative variances
    A,
}

/// Measurements that a plan may have: each step ranks all candidates again.
const MOST_BUDGET: usize = 100;

pub(crate) fn run(common: &Common, arguments: &DesignArguments) -> Result<()> {
    let grid = grid(arguments)?;
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
    let found = plan(&folder, &compute, &grid, criterion, arguments.budget)?;
    progress.finish_and_clear();
    let out = folder.join("design");
    std::fs::create_dir_all(&out).map_err(|e| Error::writing(&out, e))?;
    let plots = design::save(&out, &found)?;
    common.answer(|| &found, || design::terminal(&found))?;
    say(&format!(
        "results: {} (design.json, design.csv, {})",
        out.display(),
        plots.join(", ")
    ));
    Ok(())
}

fn grid(arguments: &DesignArguments) -> Result<Grid> {
    let budget = arguments.budget;
    if !(1..=MOST_BUDGET).contains(&budget) {
        return bad_input(format!(
            "--budget {budget} cannot be planned; give 1 to {MOST_BUDGET} measurements"
        ));
    }
    check_list("--gap-mm", &arguments.gap_mm, 1e-3, 1e3)?;
    check_list("--press-s", &arguments.press_s, 0.0, MAX_SECONDS)?;
    check_list("--dwell-s", &arguments.dwell_s, 0.0, MAX_SECONDS)?;
    check_list("--angle-deg", &arguments.angle_deg, 1.0, 89.0)?;
    let densities = &arguments.areal_density_g_per_m2;
    check_list("--areal-density-g-per-m2", densities, 1.0, 1e4)?;
    let scaled = |values: &[f64], unit: f64| values.iter().map(|v| unit * v).collect();
    let angles = arguments.angle_deg.iter().map(|a| a.to_radians());
    Ok(Grid(vec![
        ("gap", scaled(&arguments.gap_mm, 1e-3)),
        ("press", arguments.press_s.clone()),
        ("dwell", arguments.dwell_s.clone()),
        ("angle", angles.collect()),
        ("density", scaled(densities, 1e-3)),
    ]))
}
