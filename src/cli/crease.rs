//! `rumple crease`

use std::path::PathBuf;

use clap::Args;
use serde_json::{Value, json};

use super::{
    Common, CurvatureArguments, MAX_SECONDS, check_list, count, plot_path, save_plot, say, spinner,
    table,
};
use crate::{
    error::{Result, bad_input, readable},
    laboratory::{CreasePoint, CreaseTest},
    material::ReadyMaterial,
    numeric::{Compute, Gate, Precision},
    report::plot::{Chart, Mark, Scale, Series},
};

/// Crease recovery test: fold between plates, hold, release, read
#[derive(Debug, Args)]
pub(crate) struct CreaseArguments {
    #[command(flatten)]
    material: CurvatureArguments,
    /// Distances of the plates: gauge or twice the fabric's thickness
    #[arg(
        long,
        value_delimiter = ',',
        value_name = "MM,…",
        default_value = "0.5,1,2,4"
    )]
    gap_mm: Vec<f64>,
    /// Pressing times
    #[arg(
        long,
        value_delimiter = ',',
        value_name = "S,…",
        default_value = "0.1,0.3,1,3,10,30,100,300,1000,3000,10000"
    )]
    press_s: Vec<f64>,
    /// Times from release to reading; a very long one gives the permanent angle
    #[arg(long, value_delimiter = ',', value_name = "S,…", default_value = "300")]
    read_s: Vec<f64>,
    /// Cut the fold into so many hinges [default: none, the fold is taken in closed form; 64 where gate, law or
    /// device have no closed form]
    #[arg(long, value_parser = count)]
    hinges: Option<usize>,
    /// Recovery against pressing time as a picture [default: crease.svg, none with --json]
    #[arg(long, value_name = "FILE.svg|png")]
    plot: Option<PathBuf>,
}

/// Angles that no laboratory tells apart \[degrees\].
const ALIKE_DEG: f64 = 0.1;
/// Beyond this a batch would not fit in memory.
const MAX_HINGES: usize = 20_000_000;

pub(crate) fn run(common: &Common, arguments: &CreaseArguments) -> Result<()> {
    let prepared = arguments.material.prepare()?;
    let chart_path = plot_path(&arguments.plot, common, "crease.svg")?;
    let points = points(arguments)?;
    let compute = common.compute()?;
    let test = CreaseTest {
        hinges: arguments.hinges.unwrap_or(CreaseTest::default().hinges),
        ..CreaseTest::default()
    };
    let total = test.hinges.saturating_mul(points.len());
    if test.hinges < 2 || total > MAX_HINGES {
        return bad_input(format!(
            "--hinges {} for {} curve points cannot be run; give at least 2, and at most {MAX_HINGES} in \
             all (64 a point are usually enough)",
            test.hinges,
            points.len()
        ));
    }
    let mut whole = match (arguments.hinges, prepared.gate) {
        (None, Gate::Hard) if compute.is_cpu() => CreaseTest::exact(&prepared, &points)?,
        _ => vec![None; points.len()],
    };
    let open = points.iter().zip(&whole).filter(|(_, a)| a.is_none());
    let open: Vec<CreasePoint> = open.map(|(point, _)| *point).collect();
    let fold = match open.len() {
        0 => "closed form",
        all if all == points.len() => "hinges",
        _ => "closed form, hinges where there is none",
    };
    if !open.is_empty() {
        let progress = spinner(format!("{total} hinges"));
        let rolled = test.simulate(&prepared, &open, &compute, false)?;
        progress.finish_and_clear();
        let places = whole.iter_mut().filter(|angle| angle.is_none());
        for (place, angle) in places.zip(rolled.values) {
            *place = Some(angle);
        }
    }
    let hinges = (!open.is_empty()).then_some(test.hinges);
    let angles: Vec<f64> = whole.into_iter().flatten().collect();
    if angles.iter().any(|a| !(0.0..=180.0).contains(a)) {
        say(
            "note: some angles are outside 0 to 180°, because a smooth gate shifts them; use --gate hard",
        );
    }
    if arguments.read_s.len() > 1 && prepared.material.relaxation.is_empty() {
        // The reading time runs fastest.
        let each = angles.chunks_exact(arguments.read_s.len());
        if each
            .into_iter()
            .all(|angles| (angles[0] - angles[angles.len() - 1]).abs() < ALIKE_DEG)
        {
            say(
                "note: this material has no relaxation branch, so readings hardly differ with --read-s",
            );
        }
    }
    common.answer(
        || {
            let device = match hinges {
                Some(_) => compute.describe(),
                None => Compute::cpu(Precision::F64).describe(),
            };
            to_json(&prepared, &device, (fold, hinges), &points, &angles)
        },
        || to_table(&points, &angles),
    )?;
    match chart_path {
        Some(path) if points.iter().any(|p| p.press > 0.0) => {
            save_plot(chart(&prepared, &points, &angles), &path)
        }
        Some(_) => {
            say("no plot: a pressing time of 0 cannot be drawn on a logarithmic axis");
            Ok(())
        }
        None => Ok(()),
    }
}

fn points(arguments: &CreaseArguments) -> Result<Vec<CreasePoint>> {
    check_list("--gap-mm", &arguments.gap_mm, 1e-3, 1e4)?;
    check_list("--press-s", &arguments.press_s, 0.0, MAX_SECONDS)?;
    check_list("--read-s", &arguments.read_s, 0.0, MAX_SECONDS)?;
    let gaps: Vec<f64> = arguments.gap_mm.iter().map(|mm| 1e-3 * mm).collect();
    Ok(CreaseTest::grid(
        &gaps,
        &arguments.press_s,
        &arguments.read_s,
    ))
}

fn percent(angle: f64) -> f64 {
    angle / 1.8
}

fn gap_mm(point: &CreasePoint) -> f64 {
    // Undoes the conversion to metres without its rounding.
    (1e9 * point.gap).round() / 1e6
}

fn to_json(
    prepared: &ReadyMaterial,
    device: &str,
    (fold, hinges): (&str, Option<usize>),
    points: &[CreasePoint],
    angles: &[f64],
) -> Value {
    let list: Vec<Value> = points
        .iter()
        .zip(angles)
        .map(|(p, angle)| {
            json!({
                "gap_mm": gap_mm(p),
                "press_s": p.press,
                "read_s": p.read,
                "angle_deg": angle,
                "recovery_percent": percent(*angle),
            })
        })
        .collect();
    let mut answer = json!({
        "material": prepared.material.name,
        "law": prepared.law.name(),
        "gate": prepared.gate.describe(),
        "fold": fold,
        "device": device,
        "points": list,
    });
    if let Some(hinges) = hinges {
        answer["hinges"] = json!(hinges);
    }
    answer
}

fn to_table(points: &[CreasePoint], angles: &[f64]) -> String {
    let rows: Vec<Vec<String>> = points
        .iter()
        .zip(angles)
        .map(|(p, angle)| {
            vec![
                format!("{}", gap_mm(p)),
                readable(p.press),
                readable(p.read),
                format!("{angle:.1}"),
                format!("{:.1}", percent(*angle)),
            ]
        })
        .collect();
    table(
        &[
            "gap [mm]",
            "pressed [s]",
            "read after [s]",
            "angle [°]",
            "recovery [%]",
        ],
        &rows,
    )
}

/// A curve a gap and reading time.
fn chart(prepared: &ReadyMaterial, points: &[CreasePoint], angles: &[f64]) -> Chart {
    let mut series: Vec<(f64, f64, Series)> = Vec::new();
    let several_reads = points.iter().any(|p| p.read != points[0].read);
    for (point, angle) in points.iter().zip(angles) {
        let known = series
            .iter()
            .position(|(g, r, _)| (*g, *r) == (point.gap, point.read));
        let place = known.unwrap_or_else(|| {
            let mut label = format!("gap {} mm", gap_mm(point));
            if several_reads {
                label += &format!(", read {} s", point.read);
            }
            let empty = Series::new(label, Mark::LinePoints, Vec::new());
            series.push((point.gap, point.read, empty));
            series.len() - 1
        });
        series[place].2.points.push((point.press, *angle));
    }
    let read = if several_reads {
        String::new()
    } else {
        format!(", read {} s after release", points[0].read)
    };
    let mut series: Vec<Series> = series.into_iter().map(|(_, _, s)| s).collect();
    for one in &mut series {
        one.points.sort_by(|a, b| a.0.total_cmp(&b.0));
    }
    Chart {
        title: format!("Crease recovery of {}", prepared.material.name),
        note: Some(format!(
            "simulated, law {}, gate {}{read}",
            prepared.law.name(),
            prepared.gate.describe()
        )),
        x_label: "pressing time [s]".into(),
        y_label: "recovery angle [°]".into(),
        x_scale: Scale::Log,
        y_scale: Scale::Degrees,
        // A smooth gate may leave this range; then the axis follows.
        y_range: angles
            .iter()
            .all(|a| (0.0..=180.0).contains(a))
            .then_some((0.0, 180.0)),
        series,
    }
}
