//! `rumple drive`

use std::path::PathBuf;

use clap::Args;
use serde_json::{Map, Value, json};

use super::{Common, MaterialArguments, Shown, print, print_json, save_plot, say};
use crate::{
    error::{Result, bad_input},
    files::{check_folder, write_whole},
    laboratory::{DriveRow, StrainStep},
    material::{ReadyMaterial, StrainMeasure},
    report::plot::{Chart, Format, Mark, Scale, Series},
};

/// Run a law over a strain history
///
/// The law is taken as it is, one update a row. A slip resets the dwell and plastic flow lags one row, so
/// write a hold as several rows (and end it with one of dt 0), not as one long one.
#[derive(Debug, Args)]
pub(crate) struct DriveArguments {
    #[command(flatten)]
    material: MaterialArguments,
    /// CSV with the columns dt [s] and strain [1/m, or rad for materials in angles]
    #[arg(long, value_name = "FILE.csv")]
    strain: PathBuf,
    /// Where the history goes [default: standard output]
    #[arg(long, value_name = "FILE.csv")]
    out: Option<PathBuf>,
    /// Stress against strain as a picture
    #[arg(long, value_name = "FILE.svg|png")]
    plot: Option<PathBuf>,
}

pub(crate) fn run(common: &Common, arguments: &DriveArguments) -> Result<()> {
    let prepared = arguments.material.prepare()?;
    check_outputs(arguments)?;
    let steps = StrainStep::read(&arguments.strain)?;
    let mut shown = Shown::bar("steps");
    let rows = prepared.drive(&steps, &common.compute()?, &mut |news| shown.hear(news))?;
    drop(shown);
    if let Some(path) = &arguments.out {
        write_whole(path, to_csv(&rows).as_bytes())?;
        say(&format!("history: {}", path.display()));
    }
    match (common.json, &arguments.out) {
        (true, _) => print_json(&to_json(&prepared, &rows))?,
        (false, None) => print(&to_csv(&rows))?,
        (false, Some(_)) => {}
    }
    match &arguments.plot {
        Some(path) => save_plot(chart(&prepared, &rows), path),
        None => Ok(()),
    }
}

/// Refuses outputs that cannot be written or would overwrite something of this run.
fn check_outputs(arguments: &DriveArguments) -> Result<()> {
    if let Some(path) = &arguments.plot {
        Format::of(path)?;
    }
    let mut taken = vec![("--strain", &arguments.strain)];
    for (option, path) in [("--out", &arguments.out), ("--plot", &arguments.plot)] {
        let Some(path) = path else { continue };
        check_folder(path)?;
        if let Some((other, _)) = taken.iter().find(|(_, p)| *p == path) {
            return bad_input(format!(
                "{option} {} is the file of {other}; choose another",
                path.display()
            ));
        }
        taken.push((option, path));
    }
    Ok(())
}

fn to_csv(rows: &[DriveRow]) -> String {
    let mut text = format!("step,time,strain,stress,{}\n", DriveRow::HISTORY.join(","));
    for (k, row) in rows.iter().enumerate() {
        text += &format!("{k},{},{},{}", row.time, row.strain, row.stress);
        for value in row.history {
            text += &value.map_or(",".into(), |v| format!(",{v}"));
        }
        text.push('\n');
    }
    text
}

fn to_json(prepared: &ReadyMaterial, rows: &[DriveRow]) -> Value {
    let list: Vec<Value> = rows
        .iter()
        .enumerate()
        .map(|(k, row)| {
            let mut fields = Map::new();
            fields.insert("step".into(), json!(k));
            fields.insert("time".into(), json!(row.time));
            fields.insert("strain".into(), json!(row.strain));
            fields.insert("stress".into(), json!(row.stress));
            for (name, value) in DriveRow::HISTORY.iter().zip(row.history) {
                fields.insert(name.to_string(), json!(value));
            }
            Value::Object(fields)
        })
        .collect();
    json!({
        "material": prepared.material.name,
        "law": prepared.law.name(),
        "gate": prepared.gate.describe(),
        "rows": list,
    })
}

fn chart(prepared: &ReadyMaterial, rows: &[DriveRow]) -> Chart {
    Chart {
        title: format!("{}: stress against strain", prepared.material.name),
        note: Some(format!(
            "law {}, gate {}, {} steps",
            prepared.law.name(),
            prepared.gate.describe(),
            rows.len()
        )),
        x_label: format!("strain [{}]", prepared.material.strain.unit()),
        y_label: match prepared.material.strain {
            StrainMeasure::Curvature => "moment per width [N·m/m]".into(),
            StrainMeasure::Angle => "stress [N·m]".into(),
        },
        x_scale: Scale::Linear,
        y_scale: Scale::Linear,
        y_range: None,
        series: vec![
            Series::new("", Mark::Line, rows.iter().map(|r| (r.strain, r.stress))).color(4),
        ],
    }
}
