//! `rumple drive`

use std::path::{Path, PathBuf};

use clap::Args;
use indicatif::ProgressBar;
use serde_json::{Map, Value, json};

use super::{Common, MaterialArguments, Prepared, print, print_json, save_plot, say};
use crate::{
    error::{Error, Result, bad_input, readable},
    files::{Table, check_folder, write_whole},
    material::StrainMeasure,
    numeric::{Compute, Field},
    report::plot::{Chart, Format, Mark, Scale, Series},
    rollout::{HingeReading, Rollout, Schedule, Step, sweep},
};

/// Run a law over a strain history
///
/// The law is taken as it is, one update a row. A slip resets the dwell and plastic flow lags one row, so
/// write a hold as several rows (and end it with one of dt 0), not as one long one.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
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

pub(crate) fn run(common: &Common, arguments: &Arguments) -> Result<()> {
    let prepared = arguments.material.prepare()?;
    check_outputs(arguments)?;
    let drive = read_drive(&arguments.strain)?;
    let rows = run_law(&common.compute()?, &prepared, &drive)?;
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
fn check_outputs(arguments: &Arguments) -> Result<()> {
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

/// Reads (dt, strain) pairs; other columns are left alone.
fn read_drive(path: &Path) -> Result<Vec<(f64, f64)>> {
    let table = Table::read(path)?;
    let (times, strains) = (table.numbers("dt")?, table.numbers("strain")?);
    if let Some((line, dt)) = times.iter().find(|(_, dt)| *dt < 0.0) {
        return bad_input(format!(
            "{}: dt = {dt} is negative; time only goes forward",
            table.at(*line)
        ));
    }
    Ok(times
        .iter()
        .zip(strains)
        .map(|((_, dt), (_, e))| (*dt, e))
        .collect())
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
            reading: HingeReading::Stress,
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
    let progress = ProgressBar::new(drive.len() as u64);
    let parameters = rollout.shared_parameters(compute, &prepared.values);
    sweep::trace(&rollout, compute, parameters, |k, parameters, state| {
        time += drive[k].0;
        progress.inc(1);
        let mut read = |field: Field| {
            let value = compute.values(field).map(|values| values[0]);
            match value {
                Ok(v) if v.is_finite() => v,
                Ok(v) => {
                    failed.get_or_insert(Error::BadInput(format!(
                        "step {k}: strain {} over {} s gives {v}; a number is too extreme for {}",
                        readable(drive[k].1),
                        readable(drive[k].0),
                        compute.precision().name()
                    )));
                    v
                }
                Err(error) => {
                    failed.get_or_insert(error);
                    f64::NAN
                }
            }
        };
        rows.push(Row {
            time,
            strain: read(state.strain.clone()),
            stress: read(law.stress(parameters, &state.history, &state.strain)),
            history: columns.map(|c| c.map(|c| read(state.history[c].clone()))),
        });
    });
    progress.finish_and_clear();
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
        y_label: match prepared.material.strain {
            StrainMeasure::Curvature => "moment per width [N·m/m]".into(),
            StrainMeasure::Angle => "stress [N·m]".into(),
        },
        x_scale: Scale::Linear,
        y_scale: Scale::Linear,
        y_range: None,
        series: vec![Series {
            label: String::new(),
            points: rows.iter().map(|r| (r.strain, r.stress)).collect(),
            mark: Mark::Line,
            color: Some(4),
            ..Series::default()
        }],
    }
}
