//! `rumple synthesize`

mod twist;

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use serde_json::{Value, json};

use super::{Common, MAX_SECONDS, check_list, say};
use crate::{
    error::{Result, bad_input, readable},
    files::{check_folder, write_whole},
    laboratory::{Condition, CreasePoint, CreaseTest, Resolution, TestSettings, Tests},
    material::ReadyMaterial,
    numeric::Random,
};

/// Make a synthetic table of recovery angles or torques with noise, and its truth beside it
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// The truth: a material file or the name of a preset, in curvature
    #[arg(
        long,
        value_name = "FILE|PRESET",
        required_unless_present = "log_linear"
    )]
    material: Option<String>,
    /// Instead of a material: 110° + 50°·log10(gap/mm) − 12°·log10(press/s), which the law cannot follow
    #[arg(long, conflicts_with = "material")]
    log_linear: bool,
    /// Distances of the plates
    #[arg(
        long,
        value_delimiter = ',',
        value_name = "MM,…",
        default_value = "0.5,1,2,4",
        allow_negative_numbers = true
    )]
    gap_mm: Vec<f64>,
    /// Pressing times
    #[arg(
        long,
        value_delimiter = ',',
        value_name = "S,…",
        default_value = "1,3,10,30,100,300,1000,3000,10000,30000,100000",
        allow_negative_numbers = true
    )]
    press_s: Vec<f64>,
    /// Times from release to reading
    #[arg(
        long,
        value_delimiter = ',',
        value_name = "S,…",
        default_value = "300",
        allow_negative_numbers = true
    )]
    read_s: Vec<f64>,
    /// Standard deviation of the noise
    #[arg(
        long,
        value_name = "DEG",
        default_value_t = 2.0,
        allow_negative_numbers = true
    )]
    noise_deg: f64,
    /// What is folded: hinges on their own, or a strip mesh of 32 cells
    #[arg(
        long,
        value_enum,
        default_value = "hinges",
        conflicts_with = "log_linear"
    )]
    specimen: SpecimenName,
    #[command(flatten)]
    twist: twist::Arguments,
    /// Name of the fabric in the table [default: the material's]
    #[arg(long)]
    fabric: Option<String>,
    /// The table; its truth goes to FILE.truth.json
    #[arg(long, value_name = "FILE.csv")]
    out: PathBuf,
}

#[derive(Debug, Clone, Copy, PartialEq, ValueEnum)]
enum SpecimenName {
    Hinges,
    #[value(name = "strip_mesh")]
    StripMesh,
}

/// Hinges of a synthetic fold: many, so that their number does not show.
const HINGES: usize = 1024;

/// What a table is made of.
struct Table {
    /// Name of the fabric where the command line gives none.
    fabric: String,
    /// Of the noise, with its unit.
    noise: String,
    /// Names of the columns between `fabric` and `n`, and their numbers row by row.
    columns: &'static str,
    rows: Vec<String>,
    /// What the numbers were made from.
    truth: Value,
    /// What else the truth should say.
    note: Option<String>,
}

pub(crate) fn run(common: &Common, arguments: &Arguments) -> Result<()> {
    check_folder(&arguments.out)?;
    let table = match (&arguments.twist.case, &arguments.material) {
        (Some(case), Some(material)) => twist::table(common, &arguments.twist, case, material)?,
        _ => recoveries(common, arguments)?,
    };
    let fabric = arguments.fabric.as_ref().unwrap_or(&table.fabric);
    let made = format!(
        "synthetic: made by `rumple synthesize` with noise of {} and seed {}; not a measurement",
        table.noise,
        common.seed()
    );
    let mut csv = format!("# {made}\nfabric,{},n,evidence\n", table.columns);
    for row in &table.rows {
        csv += &format!("{fabric},{row},1,synthetic\n");
    }
    write_whole(&arguments.out, csv.as_bytes())?;
    let mut truth = table.truth;
    let mut notes = vec![
        format!("the truth behind {}", arguments.out.display()),
        made,
    ];
    notes.extend(table.note);
    truth["notes"] = json!(notes);
    let path = arguments.out.with_extension("truth.json");
    write_whole(&path, format!("{truth:#}\n").as_bytes())?;
    say(&format!(
        "synthetic table: {}; its truth: {}",
        arguments.out.display(),
        path.display()
    ));
    Ok(())
}

/// A number with noise: rounded to `digits`, but without noise every digit counts.
fn noisy(number: f64, noiseless: bool, digits: usize) -> String {
    if noiseless {
        format!("{number}")
    } else {
        format!("{number:.digits$}")
    }
}

fn recoveries(common: &Common, arguments: &Arguments) -> Result<Table> {
    check_list("--gap-mm", &arguments.gap_mm, 1e-3, 1e3)?;
    check_list("--press-s", &arguments.press_s, 0.0, MAX_SECONDS)?;
    check_list("--read-s", &arguments.read_s, 0.0, MAX_SECONDS)?;
    if !(0.0..=90.0).contains(&arguments.noise_deg) {
        return bad_input(format!(
            "--noise-deg {} is not a spread; give 0 to 90 degrees",
            readable(arguments.noise_deg)
        ));
    }
    let metres: Vec<f64> = arguments.gap_mm.iter().map(|mm| 1e-3 * mm).collect();
    let points = CreaseTest::grid(&metres, &arguments.press_s, &arguments.read_s);
    let (fabric, exact, truth) = match &arguments.material {
        Some(material) => of_law(common, material, arguments.specimen, &points)?,
        None => {
            let formula = "110 + 50*log10(gap_mm) - 12*log10(press_s) degrees";
            let truth = json!({ "synthetic": true, "formula": formula });
            (
                "log-linear".to_string(),
                points.iter().map(log_linear).collect(),
                truth,
            )
        }
    };
    let mut random = Random(common.seed());
    // Without noise a spread of 1° only sets the weight.
    let noiseless = arguments.noise_deg == 0.0;
    let sd = if noiseless { 1.0 } else { arguments.noise_deg };
    let rows = points.iter().zip(exact).map(|(point, angle)| {
        let angle = (angle + arguments.noise_deg * random.normal()).clamp(0.0, 180.0);
        let gap = (1e12 * point.gap).round() / 1e9;
        let angle = noisy(angle, noiseless, 2);
        format!("{gap},{},{},{angle},{sd}", point.press, point.read)
    });
    Ok(Table {
        fabric,
        noise: format!("{}°", arguments.noise_deg),
        columns: "gap_mm,press_time_s,recovery_time_s,angle_deg,sd_deg",
        rows: rows.collect(),
        truth,
        note: None,
    })
}

/// The fabric's name, its angles under the hard law, and the material as it is written in files.
fn of_law(
    common: &Common,
    material: &str,
    specimen: SpecimenName,
    points: &[CreasePoint],
) -> Result<(String, Vec<f64>, Value)> {
    let prepared = ReadyMaterial::hard(material)?;
    let compute = common.compute()?;
    let mesh = specimen == SpecimenName::StripMesh;
    let settings = TestSettings::default();
    let resolution = Resolution {
        hinges: HINGES,
        width: None,
        bending_rate: settings.rate_per_m_s,
        strip_cells: mesh.then_some(settings.strip_cells),
        twist: None,
    };
    let conditions: Vec<(usize, Condition)> = points.iter().map(|p| (0, (*p).into())).collect();
    let angles = Tests::new(&compute, prepared.law.clone(), resolution, &conditions)?
        .run(&compute, &[vec![prepared.values.clone()]], false)?
        .remove(0)
        .values;
    let name = prepared.material.name.clone();
    Ok((name, angles, prepared.material.to_json()))
}

fn log_linear(point: &CreasePoint) -> f64 {
    let decades = point.press.max(1e-3).log10();
    (110.0 + 50.0 * (1e3 * point.gap).log10() - 12.0 * decades).clamp(0.0, 180.0)
}
