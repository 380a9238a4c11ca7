//! Charts of a run, drawn from its tables.

use std::path::Path;

use crate::report::plot::{Chart, Mark, Picture, Scale, Series};
use crate::{
    error::{Error, Result, readable},
    files::read_text,
};

/// A column of a table.
pub(crate) struct PlotColumn {
    /// Its head.
    pub name: String,
    /// One a row; NaN where the cell is empty.
    pub values: Vec<f64>,
}

/// All columns of a table that a run wrote.
pub(crate) fn columns(path: &Path) -> Result<Vec<PlotColumn>> {
    let text = read_text(path)?;
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let broken =
        |e: csv::Error| Error::BadInput(format!("{}: {e}; start the run again", path.display()));
    let heads = reader.headers().map_err(broken)?.clone();
    let mut columns: Vec<PlotColumn> = heads
        .iter()
        .map(|name| PlotColumn {
            name: name.into(),
            values: Vec::new(),
        })
        .collect();
    for record in reader.records() {
        let record = record.map_err(broken)?;
        for (column, cell) in columns.iter_mut().zip(record.iter()) {
            column.values.push(cell.parse().unwrap_or(f64::NAN));
        }
    }
    Ok(columns)
}

/// What a chart shows: file name, title, label of y, scale, columns with their names in the legend.
type FigurePlan = (
    &'static str,
    &'static str,
    &'static str,
    Scale,
    &'static [(&'static str, &'static str, f64)],
);

const DEGREES: f64 = 180.0 / std::f64::consts::PI;

const ENERGIES: [FigurePlan; 1] = [(
    "energies.svg",
    "energies",
    "energy [J]",
    Scale::Linear,
    &[
        ("kinetic_J", "kinetic", 1.0),
        ("gravity_J", "gravity, from the start", 1.0),
        ("bending_J", "bending", 1.0),
        ("membrane_J", "membrane", 1.0),
        ("total_J", "sum", 1.0),
    ],
)];
const READINGS: [FigurePlan; 3] = [
    (
        "angles.svg",
        "bending of the hinges",
        "angle [°]",
        Scale::Linear,
        &[
            ("max_angle_rad", "largest |θ|", DEGREES),
            ("rms_angle_rad", "root mean square", DEGREES),
        ],
    ),
    (
        "hinges.svg",
        "hinges that slip and yield",
        "hinges",
        Scale::Count,
        &[
            ("slipping_hinges", "slipping", 1.0),
            ("yielding_hinges", "yielding", 1.0),
        ],
    ),
    (
        "stretch.svg",
        "the yarns stretched the most",
        "stretch [%], negative where compressed",
        Scale::Linear,
        &[("max_stretch", "", 100.0)],
    ),
];
const SOLVER: [FigurePlan; 2] = [
    (
        "iterations.svg",
        "iterations of the linear solver",
        "iterations",
        Scale::Count,
        &[("iterations", "", 1.0)],
    ),
    (
        "residual.svg",
        "residual of the linear solver",
        "relative residual",
        Scale::Log,
        &[("residual", "", 1.0)],
    ),
];

/// Columns of readings.csv that have charts of their own or are no readings.
const BUILT_IN: [&str; 8] = [
    "step",
    "time_s",
    "material_time_s",
    "max_angle_rad",
    "rms_angle_rad",
    "slipping_hinges",
    "yielding_hinges",
    "max_stretch",
];

/// Endings of columns, and the units as a reader writes them; longer endings first.
const UNITS: [(&str, &str); 7] = [
    ("_per_m", "1/m"),
    ("_rad", "rad"),
    ("_deg", "°"),
    ("_Nm", "N·m"),
    ("_N", "N"),
    ("_J", "J"),
    ("_m", "m"),
];

/// Name and unit of a column: `handle_torque_Nm` is handle torque in N·m.
fn spoken(column: &str) -> (String, &'static str) {
    let ending = UNITS
        .iter()
        .find_map(|(ending, unit)| Some((column.strip_suffix(ending)?, *unit)));
    let (name, unit) = ending.unwrap_or((column, ""));
    (name.replace('_', " "), unit)
}

/// What a reader must know of a run whose material ages faster than it moves.
fn clock_note(readings: &[PlotColumn]) -> Option<String> {
    let find = |name: &str| readings.iter().find(|c| c.name == name).map(|c| &c.values);
    let (times, ages) = (find("time_s")?, find("material_time_s")?);
    let (time, age) = (times.last()?, ages.last()?);
    // Decimal fractions do not add up exactly.
    let ahead = |i: &usize| ages[i + 1] - ages[*i] > 1.001 * (times[i + 1] - times[*i]);
    let steps = 0..times.len().min(ages.len()).saturating_sub(1);
    let (first, last) = (steps.clone().find(ahead)?, steps.rev().find(ahead)?);
    let short = |seconds: f64| readable((seconds * 1e6).round() / 1e6);
    Some(format!(
        "The material ages {} s in these {} s: its clock is ahead from {} to {} s.",
        short(*age),
        short(*time),
        short(times[first]),
        short(times[last + 1])
    ))
}

/// Draws every chart of a run into `folder`; one without a point to draw is left out.
pub(crate) fn save(tables: &Path, folder: &Path, name: &str) -> Result<()> {
    let readings = columns(&tables.join("readings.csv"))?;
    let note = clock_note(&readings);
    let sources: [(&[FigurePlan], Vec<PlotColumn>); 2] = [
        (&ENERGIES, columns(&tables.join("energies.csv"))?),
        (&SOLVER, columns(&tables.join("solver.csv"))?),
    ];
    for (plans, columns) in &sources {
        draw(plans, columns, folder, name, &note)?;
    }
    draw(&READINGS, &readings, folder, name, &note)?;
    for column in readings
        .iter()
        .filter(|c| !BUILT_IN.contains(&c.name.as_str()))
    {
        let (what, unit) = spoken(&column.name);
        let chart = Chart {
            title: format!("{name}: {what}"),
            note: note.clone(),
            x_label: "time [s]".into(),
            y_label: match unit {
                "" => what,
                _ => format!("{what} [{unit}]"),
            },
            series: vec![series("", column, 1.0, &readings)],
            ..Chart::default()
        };
        let plain = |c: char| if c.is_alphanumeric() { c } else { '_' };
        let file: String = column.name.chars().map(plain).collect();
        save_chart(chart, &folder.join(format!("{file}.svg")))?;
    }
    Ok(())
}

fn draw(
    plans: &[FigurePlan],
    columns: &[PlotColumn],
    folder: &Path,
    name: &str,
    note: &Option<String>,
) -> Result<()> {
    for (file, title, label, scale, shown) in plans {
        let find = |column: &str| columns.iter().find(|c| c.name == column);
        let series: Vec<Series> = shown
            .iter()
            .filter_map(|(column, legend, factor)| {
                Some(series(legend, find(column)?, *factor, columns))
            })
            .collect();
        let chart = Chart {
            title: format!("{name}: {title}"),
            note: note.clone(),
            x_label: "time [s]".into(),
            y_label: (*label).into(),
            y_scale: *scale,
            series,
            ..Chart::default()
        };
        save_chart(chart, &folder.join(file))?;
    }
    Ok(())
}

fn save_chart(chart: Chart, path: &Path) -> Result<()> {
    if chart.is_drawable() {
        Picture::from(chart).save(path)?;
    }
    Ok(())
}

fn series(label: &str, column: &PlotColumn, factor: f64, columns: &[PlotColumn]) -> Series {
    let time = columns.iter().find(|c| c.name == "time_s");
    let times = time.map_or(&[][..], |c| &c.values);
    let values = column.values.iter().map(|v| v * factor);
    Series::new(label, Mark::Line, times.iter().copied().zip(values))
}
