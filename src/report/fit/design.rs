//! A design as text, table and plots.

use std::{fmt::Write, path::Path};

use crate::report::{
    document::number::{number, short},
    plot::{Chart, Mark, Picture, Scale, Series},
};
use crate::{
    error::{Error, Result},
    files::write_whole,
    fit::design::{CandidateResult, Criterion, DesignResult, ParameterForecast},
};

/// Candidates that the terminal shows; `design.csv` has all.
const SHOWN: usize = 8;

/// The answer for the terminal.
pub(crate) fn terminal(result: &DesignResult) -> String {
    let mut text = String::new();
    let synthetic = if result.synthetic {
        ", synthetic data"
    } else {
        ""
    };
    let by = match result.criterion {
        Criterion::D => "information (D)",
        Criterion::A => "fall of the variances (A)",
    };
    // Writing to a string does not fail.
    let _ = writeln!(
        text,
        "[[What to measure next]] {}{synthetic}: {} candidates, by {by}",
        result.name,
        result.candidates.len()
    );
    for one in result.candidates.iter().take(SHOWN) {
        let _ = writeln!(
            text,
            "    {:>3}. {:<34} {:>6.3} bit   variances −{:.1} %",
            one.rank,
            one.measurement,
            one.bits,
            100.0 * one.variance_cut
        );
    }
    let _ = writeln!(
        text,
        "[[Plan]] each adds to those before it; a repeat is a second specimen"
    );
    for step in &result.plan {
        let _ = writeln!(
            text,
            "    {:>3}. {:<34} {:>6.3} bit   variances −{:.1} %",
            step.step,
            step.measurement,
            step.bits,
            100.0 * step.variance_cut
        );
    }
    let _ = writeln!(text, "[[Predicted standard errors]] now and after the plan");
    for p in &result.parameters {
        let (Some(now), Some(after)) = (p.std_errors.first(), p.std_errors.last()) else {
            continue;
        };
        let now = if p.determined {
            percent(p, *now)
        } else {
            "open".into()
        };
        let _ = writeln!(
            text,
            "    {:<30} {:>10} {:<4} ± {:>7} → ± {:>7}",
            p.name,
            number(p.value),
            p.unit,
            now,
            percent(p, *after)
        );
    }
    for note in &result.notes {
        let _ = writeln!(text, "    note: {note}");
    }
    text
}

fn percent(parameter: &ParameterForecast, error: f64) -> String {
    format!("{:.1} %", 100.0 * error / parameter.value.abs())
}

/// Writes `design.json`, `design.csv` and the plots into a folder that exists.
pub(crate) fn save(folder: &Path, result: &DesignResult) -> Result<()> {
    let json = serde_json::to_string_pretty(result)
        .map_err(|e| Error::BadInput(format!("the design cannot be written as JSON: {e}")))?;
    write_whole(&folder.join("design.json"), format!("{json}\n").as_bytes())?;
    write_whole(&folder.join("design.csv"), table(result)?.as_bytes())?;
    for (name, chart) in [("gains", gains(result)), ("errors", errors(result))] {
        for kind in ["svg", "png"] {
            Picture::from(chart.clone()).save(&folder.join(format!("{name}.{kind}")))?;
        }
    }
    Ok(())
}

/// All candidates, best first.
fn table(result: &DesignResult) -> Result<String> {
    let failed = |e: csv::Error| Error::BadInput(format!("design.csv: {e}"));
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer
        .write_record([
            "rank",
            "group",
            "test",
            "gap_mm",
            "press_s",
            "read_s",
            "readings",
            "sd",
            "expected_deg",
            "bits",
            "variance_cut",
            "steps",
            "synthetic",
        ])
        .map_err(failed)?;
    let optional = |value: Option<f64>| value.map_or(String::new(), |v| v.to_string());
    for one in &result.candidates {
        let steps = result.plan.iter().filter(|step| step.rank == one.rank);
        let steps: Vec<String> = steps.map(|step| step.step.to_string()).collect();
        writer
            .write_record([
                one.rank.to_string(),
                one.group.clone(),
                one.test.clone(),
                optional(one.gap_mm),
                one.press_s.to_string(),
                optional(one.read_s),
                one.readings.to_string(),
                one.sd.to_string(),
                optional(one.expected_deg),
                one.bits.to_string(),
                one.variance_cut.to_string(),
                steps.join(" "),
                result.synthetic.to_string(),
            ])
            .map_err(failed)?;
    }
    let bytes = writer
        .into_inner()
        .map_err(|e| Error::BadInput(format!("design.csv: {e}")))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Score of every candidate against its pressing time or dwell: a line a gap, one for the loops.
fn gains(result: &DesignResult) -> Chart {
    let score = |one: &CandidateResult| match result.criterion {
        Criterion::D => one.bits,
        Criterion::A => 100.0 * one.variance_cut,
    };
    let mut kinds: Vec<(&str, Option<f64>)> = Vec::new();
    for one in &result.candidates {
        let kind = (one.group.as_str(), one.gap_mm);
        if !kinds.contains(&kind) {
            kinds.push(kind);
        }
    }
    // Gaps from small to large, loops last.
    kinds.sort_by(|a, b| {
        let size = |k: &(&str, Option<f64>)| k.1.unwrap_or(f64::INFINITY);
        a.0.cmp(b.0).then(size(a).total_cmp(&size(b)))
    });
    let groups = kinds.iter().any(|k| k.0 != kinds[0].0);
    let line = |(color, kind): (usize, &(&str, Option<f64>))| {
        let members = result.candidates.iter();
        let members = members.filter(|one| (one.group.as_str(), one.gap_mm) == *kind);
        let mut points: Vec<(f64, f64)> = members.map(|one| (one.press_s, score(one))).collect();
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        let what = kind.1.map_or("KES loop, dwell".into(), |mm| {
            format!("gap {} mm", short(mm))
        });
        Series {
            label: if groups {
                format!("{}: {what}", kind.0)
            } else {
                what
            },
            points,
            mark: if kind.1.is_some() {
                Mark::LinePoints
            } else {
                Mark::Points
            },
            color: Some(color),
            ..Series::default()
        }
    };
    Chart {
        title: format!("What one more measurement would teach: {}", result.name),
        note: Some(format!("{}; the plan: {}", note(result), planned(result))),
        x_label: "pressing time of a crease, or dwell of a KES loop [s]".into(),
        y_label: match result.criterion {
            Criterion::D => "expected information [bit]".into(),
            Criterion::A => "fall of the sum of relative variances [%]".into(),
        },
        x_scale: Scale::Log,
        series: kinds.iter().enumerate().map(line).collect(),
        ..Chart::default()
    }
}

/// The plan in a sentence, and what the picture cannot show: a loop without a dwell has no place on it.
fn planned(result: &DesignResult) -> String {
    let steps = result
        .plan
        .iter()
        .map(|step| format!("{}. {}", step.step, step.measurement));
    let steps: Vec<String> = steps.collect();
    let hidden = result.candidates.iter().filter(|one| one.press_s <= 0.0);
    let hidden = hidden.map(|one| format!("; not drawn: {}, {:.2} bit", one.measurement, one.bits));
    steps.join(", ") + &hidden.collect::<String>()
}

/// Relative standard errors as the plan goes on.
fn errors(result: &DesignResult) -> Chart {
    let line = |p: &ParameterForecast| {
        let relative = |error: &f64| 100.0 * error / p.value.abs();
        let steps = p.std_errors.iter().enumerate();
        Series {
            label: match p.determined {
                true => p.name.clone(),
                false => format!("{} (open now)", p.name),
            },
            points: steps
                .map(|(i, error)| (i as f64, relative(error)))
                .collect(),
            mark: Mark::LinePoints,
            ..Series::default()
        }
    };
    Chart {
        title: format!("Error bars as the plan goes on: {}", result.name),
        note: Some(note(result).into()),
        x_label: "measurements of the plan".into(),
        y_label: "predicted standard error [% of the value]".into(),
        x_scale: Scale::Count,
        y_scale: Scale::Log,
        series: result.parameters.iter().map(line).collect(),
        ..Chart::default()
    }
}

fn note(result: &DesignResult) -> &'static str {
    match result.synthetic {
        true => "predicted at a fit of synthetic data",
        false => "predicted at the fit",
    }
}
