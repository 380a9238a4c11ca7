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
    laboratory::{DesignFigure, TESTS, of_kind},
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

/// Writes `design.json`, `design.csv` and the plots into a folder, and returns their names.
pub(crate) fn save(folder: &Path, result: &DesignResult) -> Result<Vec<String>> {
    std::fs::create_dir_all(folder).map_err(|e| Error::writing(folder, e))?;
    let json = serde_json::to_string_pretty(result)
        .map_err(|e| Error::BadInput(format!("the design cannot be written as JSON: {e}")))?;
    write_whole(&folder.join("design.json"), format!("{json}\n").as_bytes())?;
    write_whole(&folder.join("design.csv"), table(result)?.as_bytes())?;
    let mut charts = gains(result);
    charts.push(("errors".into(), errors(result)));
    let mut names = vec!["design.json".into(), "design.csv".into()];
    for (name, chart) in charts {
        let picture = Picture::from(chart);
        for kind in ["svg", "png"] {
            picture.save(&folder.join(format!("{name}.{kind}")))?;
        }
        names.push(format!("{name}.svg"));
    }
    Ok(names)
}

/// All candidates, best first.
fn table(result: &DesignResult) -> Result<String> {
    let failed = |e: csv::Error| Error::BadInput(format!("design.csv: {e}"));
    let all = result.candidates.iter();
    let mut further: Vec<&str> = all
        .flat_map(|one| one.settings.keys().map(String::as_str))
        .collect();
    further.sort_unstable();
    further.dedup();
    let mut writer = csv::Writer::from_writer(Vec::new());
    let before = ["rank", "group", "test", "gap_mm", "press_s", "read_s"];
    let after = [
        "readings",
        "sd",
        "expected_deg",
        "bits",
        "variance_cut",
        "steps",
        "synthetic",
    ];
    let header = before.iter().chain(&further).chain(&after);
    writer.write_record(header).map_err(failed)?;
    let optional = |value: Option<f64>| value.map_or(String::new(), |v| v.to_string());
    for one in &result.candidates {
        let steps = result.plan.iter().filter(|step| step.rank == one.rank);
        let steps: Vec<String> = steps.map(|step| step.step.to_string()).collect();
        let settings = before[3..].iter().chain(&further);
        let mut row = vec![one.rank.to_string(), one.group.clone(), one.test.clone()];
        row.extend(settings.map(|name| optional(one.setting(name))));
        row.extend([
            one.readings.to_string(),
            one.sd.to_string(),
            optional(one.expected_deg),
            one.bits.to_string(),
            one.variance_cut.to_string(),
            steps.join(" "),
            result.synthetic.to_string(),
        ]);
        writer.write_record(row).map_err(failed)?;
    }
    let bytes = writer
        .into_inner()
        .map_err(|e| Error::BadInput(format!("design.csv: {e}")))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// A candidate with the way in which its test draws it.
type DrawnDesign<'a> = (&'a CandidateResult, DesignFigure);

/// Pictures of the score of every candidate, one for every unit of x; the first has times.
fn gains(result: &DesignResult) -> Vec<(String, Chart)> {
    let all = result.candidates.iter();
    let drawn = all.filter_map(|one| Some((one, of_kind(&one.test)?.design_figure()?)));
    let drawn: Vec<DrawnDesign> = drawn.collect();
    let figures = || TESTS.iter().filter_map(|test| test.design_figure());
    let mut units: Vec<&str> = figures().map(|figure| figure.x_unit).collect();
    units.dedup();
    let chart = |unit: &&str| {
        let here = drawn.iter().filter(|(_, figure)| figure.x_unit == *unit);
        let here: Vec<DrawnDesign> = here.copied().collect();
        let names: Vec<&str> = figures()
            .filter(|figure| figure.x_unit == *unit)
            .map(|figure| figure.x_name)
            .collect();
        let stem = match *unit {
            "s" => "gains".to_string(),
            other => format!("gains-{other}"),
        };
        let x_label = format!("{} [{unit}]", names.join(", or "));
        (!here.is_empty()).then(|| (stem, gains_against(result, x_label, *unit == "s", &here)))
    };
    units.iter().filter_map(chart).collect()
}

fn gains_against(
    result: &DesignResult,
    x_label: String,
    times: bool,
    drawn: &[DrawnDesign],
) -> Chart {
    let score = |one: &CandidateResult| match result.criterion {
        Criterion::D => one.bits,
        Criterion::A => 100.0 * one.variance_cut,
    };
    let kind = |(one, figure): &DrawnDesign| {
        let series = figure.series.and_then(|name| one.setting(name));
        (one.group.clone(), series, *figure)
    };
    let mut kinds = Vec::new();
    for one in drawn {
        let kind = kind(one);
        if !kinds.contains(&kind) {
            kinds.push(kind);
        }
    }
    // Settings from small to large, series without one last.
    kinds.sort_by(|a, b| {
        let size = |setting: Option<f64>| setting.unwrap_or(f64::INFINITY);
        a.0.cmp(&b.0).then(size(a.1).total_cmp(&size(b.1)))
    });
    let groups = kinds.iter().any(|k| k.0 != kinds[0].0);
    let mut hidden = String::new();
    let mut series = Vec::new();
    for (color, one_kind) in kinds.iter().enumerate() {
        let (group, setting, figure) = one_kind;
        let members = drawn.iter().filter(|one| kind(one) == *one_kind);
        let x = |one: &CandidateResult| one.setting(figure.x).unwrap_or(f64::NAN);
        let mut points: Vec<(f64, f64)> = members.map(|(one, _)| (x(one), score(one))).collect();
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        let what = figure
            .words
            .replace("{}", &setting.map_or(String::new(), short));
        let label = match groups {
            true => format!("{group}: {what}"),
            false => what,
        };
        let mark = match figure.is_line {
            true => Mark::LinePoints,
            false => Mark::Points,
        };
        series.push(Series::new(label, mark, points).color(color));
    }
    // A log axis has no place for a loop without a dwell. Where there is nothing else the axis is linear.
    let beyond_zero = |(one, figure): &(&CandidateResult, DesignFigure)| {
        one.setting(figure.x).is_some_and(|x| x > 0.0)
    };
    let logarithmic = times && drawn.iter().any(beyond_zero);
    for (one, figure) in drawn.iter().filter(|_| logarithmic) {
        if one.setting(figure.x).is_some_and(|x| x <= 0.0) {
            hidden += &format!("; not drawn: {}, {:.2} bit", one.measurement, one.bits);
        }
    }
    Chart {
        title: format!("What one more measurement would teach: {}", result.name),
        note: Some(format!(
            "{}; the plan: {}{hidden}",
            note(result),
            planned(result)
        )),
        x_label,
        y_label: match result.criterion {
            Criterion::D => "expected information [bit]".into(),
            Criterion::A => "fall of the sum of relative variances [%]".into(),
        },
        x_scale: if logarithmic {
            Scale::Log
        } else {
            Scale::Linear
        },
        series,
        ..Chart::default()
    }
}

/// The plan in a sentence.
fn planned(result: &DesignResult) -> String {
    let steps = result
        .plan
        .iter()
        .map(|step| format!("{}. {}", step.step, step.measurement));
    steps.collect::<Vec<_>>().join(", ")
}

/// Relative standard errors as the plan goes on.
fn errors(result: &DesignResult) -> Chart {
    let line = |p: &ParameterForecast| {
        let relative = |error: &f64| 100.0 * error / p.value.abs();
        let steps = p.std_errors.iter().enumerate();
        Series::new(
            match p.determined {
                true => p.name.clone(),
                false => format!("{} (open now)", p.name),
            },
            Mark::LinePoints,
            steps.map(|(i, error)| (i as f64, relative(error))),
        )
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
