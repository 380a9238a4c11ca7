//! Synthetic torques of a twisted cylinder.

use std::path::{Path, PathBuf};

use clap::Args;

use super::{Table, noisy};
use crate::{
    cli::{Common, MAX_SECONDS, check_list},
    error::{Result, bad_input, readable},
    files::read_text,
    fit::case::Case,
    laboratory::{Twist, Way},
    material::ReadyMaterial,
    numeric::{Gate, Random},
};

/// Which torques.
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// Instead of angles: torques at the cylinder in the section "twist" of this case, whose data may still be
    /// missing
    #[arg(
        long = "twist",
        value_name = "CASE.json",
        requires = "material",
        conflicts_with_all = ["log_linear", "specimen", "gap_mm", "press_s", "read_s", "noise_deg"]
    )]
    pub(super) case: Option<PathBuf>,
    /// Turns of a twist: read on the way out, and on the way back at all but the largest, and at 0
    #[arg(
        long,
        requires = "case",
        value_delimiter = ',',
        value_name = "DEG,…",
        default_value = "9,18,27,36,45",
        allow_negative_numbers = true
    )]
    turn_deg: Vec<f64>,
    /// Times for which a twist is held at the largest turn
    #[arg(
        long,
        requires = "case",
        value_delimiter = ',',
        value_name = "S,…",
        default_value = "0",
        allow_negative_numbers = true
    )]
    hold_s: Vec<f64>,
    /// Standard deviation of a torque's noise, as a share of the largest torque
    #[arg(
        long,
        requires = "case",
        value_name = "%",
        default_value_t = 0.1,
        allow_negative_numbers = true
    )]
    noise_pct: f64,
}

/// Torques of all holds under the hard law.
pub(super) fn table(
    common: &Common,
    arguments: &Arguments,
    case: &Path,
    material: &str,
) -> Result<Table> {
    check_list("--turn-deg", &arguments.turn_deg, 0.01, 360.0)?;
    check_list("--hold-s", &arguments.hold_s, 0.0, MAX_SECONDS)?;
    if !(0.0..=100.0).contains(&arguments.noise_pct) {
        return bad_input(format!(
            "--noise-pct {} is not a spread; give 0 to 100 % of the largest torque",
            readable(arguments.noise_pct)
        ));
    }
    let place = case.display().to_string();
    let Some(test) = Case::parse(&read_text(case)?, &place)?.tests.twist else {
        return bad_input(format!(
            "{place}: no section \"twist\"; add one with radius_mm, height_mm, membrane_N_per_m and density_kg_per_m2"
        ));
    };
    let prepared = ReadyMaterial::hard(material)?;
    let compute = common.compute()?;
    let readings = readings(&arguments.turn_deg);
    let largest_turn = readings.iter().map(|r| r.1).fold(0.0, f64::max);
    let mut exact = Vec::new();
    for &hold in &arguments.hold_s {
        let turn = largest_turn.to_radians();
        let twist = Twist { turn, hold };
        let run = test.torques(&prepared.law, Gate::Hard, twist, &prepared.values, &compute)?;
        for &(way, degrees) in &readings {
            let places = test.weights(twist, way, degrees.to_radians())?;
            let torque: f64 = places.iter().map(|(k, weight)| weight * run[*k]).sum();
            exact.push((hold, way, degrees, 1e3 * torque));
        }
    }
    let largest = exact.iter().map(|e| e.3.abs()).fold(0.0, f64::max);
    let noise = 0.01 * arguments.noise_pct * largest;
    // Without noise a spread of a thousandth only sets the weight.
    let noiseless = arguments.noise_pct == 0.0;
    let sd = if noiseless { 1e-3 * largest } else { noise };
    // Three digits of the spread.
    let digits = (2.0 - sd.log10().floor()).clamp(0.0, 17.0) as usize;
    let mut random = Random(common.seed());
    let rows = exact.iter().map(|(hold, way, degrees, torque)| {
        let way = match way {
            Way::Out => "out",
            Way::Back => "back",
        };
        let torque = noisy(torque + noise * random.normal(), noiseless, digits);
        format!("{hold},{way},{degrees},{torque},{sd:.digits$}")
    });
    Ok(Table {
        fabric: prepared.material.name.clone(),
        noise: format!("{} % of the largest torque", arguments.noise_pct),
        columns: "dwell_s,branch,turn_deg,torque_Nmm,sd_Nmm",
        rows: rows.collect(),
        truth: prepared.material.to_json(),
        note: Some(format!("the cylinder is that of {place}")),
    })
}

/// Ways and turns \[degrees\] in the order of the test.
fn readings(turns: &[f64]) -> Vec<(Way, f64)> {
    let mut turns = turns.to_vec();
    turns.sort_by(f64::total_cmp);
    turns.dedup();
    let out = turns.iter().map(|turn| (Way::Out, *turn));
    let back = turns.iter().rev().skip(1).chain(&[0.0]);
    out.chain(back.map(|turn| (Way::Back, *turn))).collect()
}
