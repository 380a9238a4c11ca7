//! `rumple drive`

use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::{Map, Value, json};

use super::{Common, MaterialArguments, Prepared, print, print_json, say, write_file};
use crate::{
    error::{Error, Result, bad_input},
    numeric::Compute,
    report::plot::{Chart, Mark, Scale, Series},
    rollout::{Reading, Rollout, Schedule, Step, sweep},
};

/// Run a law over a strain history
#[derive(Debug, Args)]
pub struct Arguments {
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

/// History variables of the output, after step, time, strain and stress. A law without one of them
/// leaves its column empty.
const HISTORY: [&str; 6] = [
    "anchor",
    "stick_time",
    "plastic",
    "accumulated_plastic",
    "flow_time",
    "yield_strain",
];

/// One step of the output: time, strain, stress and history.
struct Row {
    time: f64,
    strain: f64,
    stress: f64,
    history: [Option<f64>; 6],
}

pub fn run(common: &Common, arguments: &Arguments) -> Result<()> {
    let prepared = arguments.material.prepare()?;
    let drive = read_drive(&arguments.strain)?;
    let rows = run_law(&common.compute()?, &prepared, &drive)?;
    if let Some(path) = &arguments.out {
        write_file(path, to_csv(&rows).as_bytes())?;
        say(&format!("history: {}", path.display()));
    }
    if let Some(path) = &arguments.plot {
        chart(&prepared, &rows).save(path)?;
        say(&format!("plot: {}", path.display()));
    }
    match (common.json, &arguments.out) {
        (true, _) => print_json(&to_json(&prepared, &rows)),
        (false, None) => print(&to_csv(&rows)),
        (false, Some(_)) => Ok(()),
    }
}

/// Reads (dt, strain) pairs; other columns are left alone.
fn read_drive(path: &Path) -> Result<Vec<(f64, f64)>> {
    let place = path.display();
    let text = std::fs::read(path).map_err(|e| Error::reading(path, e))?;
    let mut reader = csv::ReaderBuilder::new()
        .trim(csv::Trim::All)
        .from_reader(text.as_slice());
    let malformed = |e: csv::Error| {
        Error::BadInput(format!(
            "{place}: {e}; every line needs the columns of the first"
        ))
    };
    let header = reader.headers().map_err(malformed)?.clone();
    let column = |name: &str| {
        header.iter().position(|h| h == name).ok_or_else(|| {
            let found = header.iter().collect::<Vec<_>>().join(", ");
            Error::BadInput(format!(
                "{place} line 1: no column '{name}' (found: {found}); the first line must name dt and strain"
            ))
        })
    };
    let (dt, strain) = (column("dt")?, column("strain")?);
    let mut drive = Vec::new();
    for record in reader.records() {
        let record = record.map_err(malformed)?;
        let line = record.position().map_or(0, csv::Position::line);
        let number = |name: &str, column: usize| {
            let cell = &record[column];
            match cell.parse::<f64>() {
                Ok(v) if v.is_finite() => Ok(v),
                _ => bad_input(format!(
                    "{place} line {line}: {name} = '{cell}' is not a finite number"
                )),
            }
        };
        let (h, e) = (number("dt", dt)?, number("strain", strain)?);
        if h < 0.0 {
            return bad_input(format!(
                "{place} line {line}: dt = {h} is negative; time only goes forward"
            ));
        }
        drive.push((h, e));
    }
    if drive.is_empty() {
        return bad_input(format!(
            "{place}: no rows below the header; give at least one step"
        ));
    }
    Ok(drive)
}

fn run_law(compute: &Compute, prepared: &Prepared, drive: &[(f64, f64)]) -> Result<Vec<Row>> {
    let law = &prepared.law;
    let rollout = Rollout {
        law: law.clone(),
        gate: prepared.gate,
        schedule: Schedule {
            steps: drive
                .iter()
                .map(|(dt, e)| Step::prescribe(*e, *dt))
                .collect(),
            readings: Vec::new(),
            reading: Reading::Stress,
        },
        points: 1,
        hinges: 1,
        amplitude: vec![1.0],
        duration: vec![0.0],
    };
    rollout.check()?;
    let names = law.history();
    let columns = HISTORY.map(|wanted| names.iter().position(|n| n == wanted));
    let mut rows = Vec::with_capacity(drive.len());
    let mut time = 0.0;
    let mut failed = None;
    let parameters = rollout.shared_parameters(compute, &prepared.values);
    sweep::trace(&rollout, compute, parameters, |k, parameters, state| {
        time += drive[k].0;
        let mut read = |field: crate::numeric::Field| match compute.values(field) {
            Ok(values) => values[0],
            Err(error) => {
                failed = Some(error);
                f64::NAN
            }
        };
        rows.push(Row {
            time,
            strain: read(state.strain.clone()),
            stress: read(law.stress(parameters, &state.history, &state.strain)),
            history: columns.map(|c| c.map(|c| read(state.history[c].clone()))),
        });
    });
    match failed {
        Some(error) => Err(error),
        None => Ok(rows),
    }
}

fn to_csv(rows: &[Row]) -> String {
    let mut text = format!("step,time,strain,stress,{}\n", HISTORY.join(","));
    for (k, row) in rows.iter().enumerate() {
        text += &format!("{k},{},{},{}", row.time, row.strain, row.stress);
        for value in row.history {
            text += &value.map_or(",".into(), |v| format!(",{v}"));
        }
        text.push('\n');
    }
    text
}

fn to_json(prepared: &Prepared, rows: &[Row]) -> Value {
    let list: Vec<Value> = rows
        .iter()
        .enumerate()
        .map(|(k, row)| {
            let mut fields = Map::new();
            fields.insert("step".into(), json!(k));
            fields.insert("time".into(), json!(row.time));
            fields.insert("strain".into(), json!(row.strain));
            fields.insert("stress".into(), json!(row.stress));
            for (name, value) in HISTORY.iter().zip(row.history) {
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

fn chart(prepared: &Prepared, rows: &[Row]) -> Chart {
    Chart {
        title: format!("{}: stress against strain", prepared.material.name),
        note: Some(format!(
            "law {}, gate {}, {} steps",
            prepared.law.name(),
            prepared.gate.describe(),
            rows.len()
        )),
        x_label: format!("strain [{}]", prepared.material.strain.unit()),
        y_label: "stress [N·m × strain]".into(),
        x_scale: Scale::Linear,
        y_scale: Scale::Linear,
        y_range: None,
        series: vec![Series {
            label: String::new(),
            points: rows.iter().map(|r| (r.strain, r.stress)).collect(),
            mark: Mark::Line,
            color: Some(4),
        }],
    }
}
