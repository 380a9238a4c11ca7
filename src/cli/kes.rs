//! `rumple kes`

use std::path::PathBuf;

use clap::Args;
use serde_json::{Value, json};

use super::{Common, CurvatureArguments, MAX_SECONDS, check_list, plot_path, save_plot, table};
use crate::{
    error::Result,
    laboratory::{KesLoop, KesTest},
    material::ReadyMaterial,
    report::plot::{Chart, Mark, Scale, Series},
};

/// KES-FB2 bending test: a moment-curvature loop, B and 2HB
#[derive(Debug, Args)]
pub(crate) struct KesArguments {
    #[command(flatten)]
    material: CurvatureArguments,
    /// Rests at the largest curvature; a loop each
    #[arg(
        long,
        value_delimiter = ',',
        value_name = "S,…",
        default_value = "0,60"
    )]
    dwell_s: Vec<f64>,
    /// The loops as a picture [default: kes.svg, none with --json]
    #[arg(long, value_name = "FILE.svg|png")]
    plot: Option<PathBuf>,
}

/// 1 gf·cm²/cm in N·m.
const GF_CM2_PER_CM: f64 = 9.80665e-5;
/// 1 gf·cm/cm in N·m/m.
const GF_CM_PER_CM: f64 = 9.80665e-3;

pub(crate) fn run(common: &Common, arguments: &KesArguments) -> Result<()> {
    let prepared = arguments.material.prepare()?;
    check_list("--dwell-s", &arguments.dwell_s, 0.0, MAX_SECONDS)?;
    let chart_path = plot_path(&arguments.plot, common, "kes.svg")?;
    let compute = common.compute()?;
    let loops = KesTest::default().simulate(&prepared, &arguments.dwell_s, &compute, false)?;
    common.answer(|| to_json(&prepared, &loops), || to_table(&loops))?;
    match chart_path {
        Some(path) => save_plot(chart(&prepared, &loops), &path),
        None => Ok(()),
    }
}

fn to_json(prepared: &ReadyMaterial, loops: &[KesLoop]) -> Value {
    let list: Vec<Value> = loops
        .iter()
        .map(|l| {
            let (curvature, moment): (Vec<f64>, Vec<f64>) = l.path.iter().copied().unzip();
            json!({
                "dwell_s": l.dwell,
                "B_Nm": l.reading.rigidity,
                "2HB_Nm_per_m": l.reading.hysteresis,
                "curvature_per_m": curvature,
                "moment_Nm_per_m": moment,
            })
        })
        .collect();
    json!({
        "material": prepared.material.name,
        "law": prepared.law.name(),
        "gate": prepared.gate.describe(),
        "loops": list,
    })
}

fn to_table(loops: &[KesLoop]) -> String {
    let rows: Vec<Vec<String>> = loops
        .iter()
        .map(|l| {
            vec![
                format!("{}", l.dwell),
                format!("{:.4e}", l.reading.rigidity),
                format!("{:.4}", l.reading.rigidity / GF_CM2_PER_CM),
                format!("{:.4e}", l.reading.hysteresis),
                format!("{:.4}", l.reading.hysteresis / GF_CM_PER_CM),
            ]
        })
        .collect();
    table(
        &[
            "dwell [s]",
            "B [N·m]",
            "B [gf·cm²/cm]",
            "2HB [N·m/m]",
            "2HB [gf·cm/cm]",
        ],
        &rows,
    )
}

fn chart(prepared: &ReadyMaterial, loops: &[KesLoop]) -> Chart {
    let series = loops
        .iter()
        .enumerate()
        .map(|(i, l)| {
            // Loops share branches: dashes let the one below be seen.
            let mark = if i == 0 { Mark::Line } else { Mark::Dashed };
            Series::new(format!("dwell {} s", l.dwell), mark, l.path.clone())
        })
        .collect();
    Chart {
        title: format!("Bending hysteresis of {}", prepared.material.name),
        note: Some(format!(
            "simulated KES-FB2 cycle, law {}, gate {}",
            prepared.law.name(),
            prepared.gate.describe()
        )),
        x_label: "curvature [1/m]".into(),
        y_label: "moment per width [N·m/m]".into(),
        x_scale: Scale::Linear,
        y_scale: Scale::Linear,
        y_range: None,
        series,
    }
}
