//! Residuals in units of their standard deviation.

use super::{NamedPicture, distinct, fill, level, note};
use crate::fit::result::{FitResult, PointResult};
use crate::laboratory::{Figure, TESTS, Test};
use crate::report::plot::{Chart, Mark, Scale, Series};

/// Looks of a chart; with more kinds of points, they are told apart by group only.
const MOST_KINDS: usize = 14;

/// Angles against time, all other readings in the order of the data.
pub(super) fn pictures(result: &FitResult) -> Vec<NamedPicture> {
    let mut entries = Vec::new();
    let mut others: Vec<&PointResult> = result.points.iter().collect();
    for test in TESTS {
        let figure = test.figure();
        let Some(angles) = figure.angles else {
            continue;
        };
        let is_angle =
            |point: &&PointResult| point.test == figure.kind && point.setting(figure.x).is_some();
        let (points, rest): (Vec<&PointResult>, Vec<&PointResult>) =
            others.into_iter().partition(is_angle);
        others = rest;
        if !points.is_empty() {
            let caption = format!(
                "Residuals of the {} in standard deviations against {}; dashed lines at ±2",
                test.plural(),
                angles.x
            );
            let chart = Chart {
                title: format!("Residuals of the {}", test.plural()),
                ..of_angles(result, &figure, angles.at_zero, &points)
            };
            entries.push(("residuals".into(), caption, chart.into()));
        }
    }
    if !others.is_empty() {
        let caption = "Residuals of the other tests in standard deviations, in the order of the data; dashed lines at ±2";
        entries.push((
            "residuals-other".into(),
            caption.into(),
            of_others(result, &others).into(),
        ));
    }
    entries
}

fn of_angles(result: &FitResult, figure: &Figure, at_zero: &str, points: &[&PointResult]) -> Chart {
    let time = |point: &PointResult| point.setting(figure.x).unwrap_or(f64::NAN);
    let unplaced = points.iter().filter(|point| time(point) <= 0.0).count();
    let hidden = match unplaced {
        0 => String::new(),
        1 => format!("one point {at_zero} is not shown"),
        n => format!("{n} points {at_zero} are not shown"),
    };
    let several = distinct(points.iter().map(|point| &point.group)).len() > 1;
    let (setting, _, words) = figure.series;
    let series = |point: &PointResult| match point.setting(setting) {
        Some(value) => fill(words, value),
        None => format!("unknown {setting}"),
    };
    let kind = |point: &PointResult| match several {
        true => format!("{}, {}", point.group, series(point)),
        false => series(point),
    };
    let mut ordered = points.to_vec();
    ordered.sort_by(|a, b| {
        let size = |point: &PointResult| point.setting(setting).unwrap_or(f64::INFINITY);
        a.group.cmp(&b.group).then(size(a).total_cmp(&size(b)))
    });
    let shown = ordered.into_iter().map(|point| (time(point), point));
    Chart {
        x_label: figure.x_label.into(),
        x_scale: Scale::Log,
        ..axes(
            result,
            &hidden,
            shown.filter(|(time, _)| *time > 0.0).collect(),
            kind,
        )
    }
}

fn of_others(result: &FitResult, points: &[&PointResult]) -> Chart {
    let kind = |point: &PointResult| match point.quantity.as_deref() {
        Some("moment") => format!("{}, moment of the loop", point.group),
        Some(quantity) => format!("{}, {quantity}", point.group),
        None => format!("{}, {}", point.group, point.test),
    };
    let numbered = points.iter().enumerate();
    let has = |test: &&&'static dyn Test| {
        let mut kinds = points.iter().map(|point| point.test.as_str());
        kinds.any(|kind| test.kinds().contains(&kind))
    };
    let tests: Vec<&str> = TESTS.iter().filter(has).map(|test| test.plural()).collect();
    let title = match tests[..] {
        [one] => format!("Residuals of the {one}"),
        _ => format!("Residuals of {}", tests.join(" and ")),
    };
    Chart {
        title,
        x_label: "point, in the order of the data".into(),
        x_scale: Scale::Count,
        ..axes(
            result,
            "",
            numbered.map(|(i, p)| (i as f64 + 1.0, *p)).collect(),
            kind,
        )
    }
}

/// The points at their x, a look a kind, with what both charts have in common.
fn axes(
    result: &FitResult,
    hidden: &str,
    points: Vec<(f64, &PointResult)>,
    kind: impl Fn(&PointResult) -> String,
) -> Chart {
    let mut kinds: Vec<String> = points.iter().map(|(_, point)| kind(point)).collect();
    if distinct(kinds.iter()).len() > MOST_KINDS {
        kinds = points
            .iter()
            .map(|(_, point)| point.group.clone())
            .collect();
    }
    let mut series = vec![level("±2 standard deviations", 2.0), level("", -2.0)];
    for (color, name) in distinct(kinds.iter()).into_iter().enumerate() {
        for (held_out, mark) in [(false, Mark::Points), (true, Mark::Hollow)] {
            let here = points
                .iter()
                .zip(&kinds)
                .filter(|((_, p), kind)| *kind == name && p.held_out == held_out);
            let points: Vec<_> = here.map(|((x, point), _)| (*x, point.residual())).collect();
            if !points.is_empty() {
                let label = format!("{name}{}", if held_out { ", held out" } else { "" });
                series.push(Series::new(label, mark, points).color(color));
            }
        }
    }
    // The reference comes last in the legend.
    series.rotate_left(2);
    Chart {
        note: note(result, &[result.misfit.verdict.clone(), hidden.into()]),
        y_label: "(measured − fitted) / standard deviation".into(),
        series,
        ..Chart::default()
    }
}
