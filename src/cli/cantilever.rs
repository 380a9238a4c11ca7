//! `rumple cantilever`

use clap::Args;
use serde_json::{Value, json};

use super::{Common, check_list, print, print_json, table};
use crate::{
    error::{Result, bad_input},
    laboratory::{CantileverPoint, Condition, TestSettings, Tests},
    material::ReadyMaterial,
};

/// Cantilever test (ASTM D1388): overhang, bending length and flexural rigidity
#[derive(Debug, Args)]
pub(crate) struct CantileverArguments {
    /// A material file or the name of a preset, in curvature
    #[arg(long, value_name = "FILE|PRESET")]
    material: String,
    /// Mass per area of the fabric
    #[arg(long, value_name = "G/M²")]
    areal_density_g_per_m2: f64,
    /// Angles from the horizontal to the line from edge to tip
    #[arg(
        long,
        value_delimiter = ',',
        value_name = "DEG,…",
        default_value = "41.5"
    )]
    angle_deg: Vec<f64>,
}

pub(crate) fn run(common: &Common, arguments: &CantileverArguments) -> Result<()> {
    check_list("--angle-deg", &arguments.angle_deg, 0.1, 89.0)?;
    let density = 1e-3 * arguments.areal_density_g_per_m2;
    if !(1e-3..=10.0).contains(&density) {
        return bad_input(format!(
            "--areal-density-g-per-m2 {} is no fabric; give 1 to 10000 g/m²",
            arguments.areal_density_g_per_m2
        ));
    }
    let prepared = ReadyMaterial::hard(&arguments.material)?;
    let compute = common.compute()?;
    let point = |degrees: &f64| CantileverPoint {
        angle: degrees.to_radians(),
        density,
    };
    let points: Vec<CantileverPoint> = arguments.angle_deg.iter().map(point).collect();
    let conditions: Vec<(usize, Condition)> = points.iter().map(|p| (0, (*p).into())).collect();
    let tests = Tests::new(&compute, &prepared, &TestSettings::default(), &conditions)?;
    let readings = tests.run(&compute, &[vec![prepared.values.clone()]], false)?;
    let overhangs = &readings[0].values;
    if let Some(k) = overhangs.iter().position(|l| !l.is_finite()) {
        return bad_input(format!(
            "no shape of the strip was found at {}°; the material is too soft or too stiff for its weight",
            arguments.angle_deg[k]
        ));
    }
    let rows = || points.iter().zip(overhangs).zip(&arguments.angle_deg);
    if common.json {
        let list: Vec<Value> = rows()
            .map(|((point, overhang), degrees)| {
                json!({
                    "angle_deg": degrees,
                    "overhang_mm": 1e3 * overhang,
                    "bending_length_mm": 1e3 * point.bending_length(*overhang),
                    "flexural_rigidity_Nm": point.flexural_rigidity(*overhang),
                })
            })
            .collect();
        return print_json(&json!({
            "material": prepared.material.name,
            "law": prepared.law.name(),
            "areal_density_g_per_m2": arguments.areal_density_g_per_m2,
            "readings": list,
        }));
    }
    let rows: Vec<Vec<String>> = rows()
        .map(|((point, overhang), degrees)| {
            vec![
                degrees.to_string(),
                format!("{:.2}", 1e3 * overhang),
                format!("{:.2}", 1e3 * point.bending_length(*overhang)),
                format!("{:.4e}", point.flexural_rigidity(*overhang)),
            ]
        })
        .collect();
    let columns = [
        "angle [°]",
        "overhang [mm]",
        "bending length [mm]",
        "G [N·m]",
    ];
    print(&table(&columns, &rows))
}
