//! How the search went and how well the parameters are known.

use super::{NamedPicture, chi2_chart, distinct, level, log_if_wide, note, short, slug};
use crate::fit::result::{FitResult, ParameterResult, ProfileResult};
use crate::report::plot::{Chart, HeatMap, Mark, Scale, Series};

/// 95 % quantile of χ² with one degree of freedom.
const CHI2_95: f64 = 3.841_458_820_694_124;

/// Where the starts ended, from best to worst.
pub(super) fn starts(result: &FitResult) -> Option<NamedPicture> {
    let ends = result
        .starts
        .iter()
        .filter_map(|start| Some((start.chi2?, start.best)));
    let mut ends: Vec<(f64, bool)> = ends.filter(|end| end.0.is_finite()).collect();
    ends.sort_by(|a, b| a.0.total_cmp(&b.0));
    let series = |best: bool, name: &str, mark: Mark, color: usize| {
        let ranked = ends.iter().enumerate().filter(|(_, end)| end.1 == best);
        let points: Vec<_> = ranked.map(|(i, end)| (i as f64 + 1.0, end.0)).collect();
        let label = format!("{name}: {} of {}", points.len(), result.starts.len());
        Series::new(label, mark, points).color(color)
    };
    let mut both = vec![
        series(true, "in the best minimum", Mark::Points, 3),
        series(false, "elsewhere", Mark::Hollow, 5),
    ];
    both.retain(|series| !series.points.is_empty());
    let failed = match result.starts.len() - ends.len() {
        0 => String::new(),
        1 => "one start failed and is not shown".into(),
        n => format!("{n} starts failed and are not shown"),
    };
    let chart = chi2_chart(Chart {
        title: "Where the starts ended".into(),
        note: note(result, &[failed]),
        x_label: "starts, from best to worst".into(),
        y_label: "final χ², priors included".into(),
        x_scale: Scale::Count,
        series: both,
        ..Chart::default()
    });
    let caption = "Final χ² of all starts in ascending order: a flat beginning shows that many starts found the same minimum";
    (!ends.is_empty()).then(|| ("starts".into(), caption.into(), chart.into()))
}

/// The smallest χ² round by round, a colour a stage.
pub(super) fn cost(result: &FitResult) -> Option<NamedPicture> {
    let stages = distinct(
        result
            .rounds
            .iter()
            .map(|round| (round.stage, round.gate_width)),
    );
    // Markers of many rounds would be a thick line.
    let mark = match result.rounds.len() {
        0..=60 => Mark::LinePoints,
        _ => Mark::Line,
    };
    let line = |(color, stage): (usize, &(usize, f64))| {
        let numbered = result.rounds.iter().enumerate();
        let here = numbered.filter(|(_, round)| (round.stage, round.gate_width) == *stage);
        let points = here.map(|(i, round)| (i as f64 + 1.0, round.best_chi2));
        let label = format!("stage {}, gate width {}", stage.0, short(stage.1));
        Series::new(label, mark, points).color(color)
    };
    let chart = chi2_chart(Chart {
        title: "The search, round by round".into(),
        note: note(result, std::slice::from_ref(&result.convergence)),
        x_label: "round".into(),
        y_label: "smallest χ² so far in the stage".into(),
        x_scale: Scale::Count,
        series: stages.iter().enumerate().map(line).collect(),
        ..Chart::default()
    });
    let caption = "Smallest χ² of all starts against the round of the search; each stage has a narrower gate and so a slightly different χ²";
    (!result.rounds.is_empty()).then(|| ("cost".into(), caption.into(), chart.into()))
}

/// A picture a profiled parameter.
pub(super) fn profiles(result: &FitResult) -> Vec<NamedPicture> {
    let entry = |profile: &ProfileResult| {
        let caption = format!(
            "Profile likelihood of {}: the others are refitted at each value, and values under the dashed line are in the 95 % interval",
            profile.name
        );
        let stem = format!("profiles-{}", slug(&profile.name));
        (stem, caption, profile_chart(result, profile).into())
    };
    result.profiles.iter().map(entry).collect()
}

fn profile_chart(result: &FitResult, profile: &ProfileResult) -> Chart {
    let values = profile.values.iter().copied();
    let points: Vec<_> = values
        .clone()
        .zip(profile.delta_chi2.iter().copied())
        .collect();
    let limit = profile.limit;
    // A line that cannot be drawn would leave no chart.
    let limit = if limit > 0.0 && limit.is_finite() {
        limit
    } else {
        CHI2_95
    };
    let parameter = result
        .parameters
        .iter()
        .find(|one| one.name == profile.name);
    let mut series = vec![
        Series::new("profile", Mark::LinePoints, points.clone()).color(4),
        level(&format!("95 % limit, {}", short(limit)), limit),
    ];
    if let Some(parameter) = parameter {
        let label = format!("best value, {}", short(parameter.best));
        series.push(Series::new(label, Mark::Upright, [(parameter.best, 0.0)]).color(5));
    }
    let lowest = points.iter().map(|point| point.1).fold(0.0, f64::min);
    Chart {
        title: format!("Profile likelihood of {}", profile.name),
        note: note(result, &parameter.map(knowledge).unwrap_or_default()),
        x_label: parameter.map_or(profile.name.clone(), axis_label),
        y_label: "Δχ²".into(),
        x_scale: log_if_wide(values, 10.0),
        // About twice the limit: what is above does not matter, and would flatten the rest.
        y_range: Some((lowest.max(-limit), 8.0 / CHI2_95 * limit)),
        series,
        ..Chart::default()
    }
}

fn axis_label(parameter: &ParameterResult) -> String {
    let symbol = match parameter.symbol.as_str() {
        "" => String::new(),
        symbol => format!(", {symbol}"),
    };
    match parameter.unit.as_str() {
        "" | "1" => format!("{}{symbol}", parameter.name),
        unit => format!("{}{symbol} [{unit}]", parameter.name),
    }
}

/// Verdict and interval in words.
fn knowledge(parameter: &ParameterResult) -> Vec<String> {
    let interval = match parameter.ci95 {
        [Some(low), Some(high)] => format!("{} to {}", short(low), short(high)),
        [Some(low), None] => format!("{} and more, open above", short(low)),
        [None, Some(high)] => format!("{} and less, open below", short(high)),
        [None, None] => "open on both sides".into(),
    };
    let interval = format!("95 % interval: {interval}");
    vec![parameter.verdict.clone(), interval]
}

/// Correlations of the free parameters.
pub(super) fn correlations(result: &FitResult) -> Option<NamedPicture> {
    let names = &result.correlations.names;
    let matrix = &result.correlations.matrix;
    let square = matrix.len() == names.len() && matrix.iter().all(|row| row.len() == names.len());
    let unknown = matrix.iter().flatten().any(Option::is_none);
    let empty = if unknown {
        "grey: no standard error"
    } else {
        ""
    };
    let map = HeatMap {
        title: "Correlations of the free parameters".into(),
        note: note(result, &[empty.into()]),
        rows: names.clone(),
        columns: names.clone(),
        cells: matrix.clone(),
    };
    let caption = "Correlations of the free parameters: a pair near ±1 is known only together";
    (square && !names.is_empty()).then(|| ("correlations".into(), caption.into(), map.into()))
}
