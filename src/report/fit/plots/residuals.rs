//! Residuals in units of their standard deviation.

use super::{Entry, distinct, level, note, short};
use crate::fit::result::{FitResult, PointResult};
use crate::report::plot::{Chart, Mark, Scale, Series};

/// Looks of a chart; with more kinds of points, they are told apart by group only.
const MOST_KINDS: usize = 14;

/// Recovery points against pressing time, all others in the order of the data.
pub(super) fn pictures(result: &FitResult) -> Vec<Entry> {
    let is_recovery =
        |point: &&PointResult| point.test == "crease" && point.setting("press_s").is_some();
    let (recovery, others): (Vec<&PointResult>, Vec<&PointResult>) =
        result.points.iter().partition(is_recovery);
    let mut entries = Vec::new();
    if !recovery.is_empty() {
        let caption = "Residuals of the recovery angles in standard deviations against pressing time; dashed lines at ±2";
        entries.push((
            "residuals".into(),
            caption.into(),
            of_recovery(result, &recovery).into(),
        ));
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

fn of_recovery(result: &FitResult, points: &[&PointResult]) -> Chart {
    let press = |point: &PointResult| point.setting("press_s").unwrap_or(f64::NAN);
    let unplaced = points.iter().filter(|point| press(point) <= 0.0).count();
    let hidden = match unplaced {
        0 => String::new(),
        1 => "one point pressed 0 s is not shown".into(),
        n => format!("{n} points pressed 0 s are not shown"),
    };
    let several = distinct(points.iter().map(|point| &point.group)).len() > 1;
    let gap = |point: &PointResult| match point.setting("gap_mm") {
        Some(gap) => format!("gap {} mm", short(gap)),
        None => "unknown gap".into(),
    };
    let kind = |point: &PointResult| match several {
        true => format!("{}, {}", point.group, gap(point)),
        false => gap(point),
    };
    let mut ordered = points.to_vec();
    ordered.sort_by(|a, b| {
        let size = |point: &PointResult| point.setting("gap_mm").unwrap_or(f64::INFINITY);
        a.group.cmp(&b.group).then(size(a).total_cmp(&size(b)))
    });
    let shown = ordered.into_iter().map(|point| (press(point), point));
    Chart {
        title: "Residuals of the recovery angles".into(),
        x_label: "pressing time [s]".into(),
        x_scale: Scale::Log,
        ..axes(
            result,
            &hidden,
            shown.filter(|(press, _)| *press > 0.0).collect(),
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
    let twists = points.iter().filter(|point| point.test == "twist").count();
    let title = match twists {
        0 => "Residuals of the bending tests",
        n if n == points.len() => "Residuals of the torques",
        _ => "Residuals of bending tests and torques",
    };
    Chart {
        title: title.into(),
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
                series.push(Series {
                    label: format!("{name}{}", if held_out { ", held out" } else { "" }),
                    points,
                    mark,
                    color: Some(color),
                    ..Series::default()
                });
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
