//! Measured points and fitted curves of every test, and the readings B and 2HB.

use super::{Entry, distinct, level, note, short, slug};
use crate::fit::result::{FitResult, FittedCurve, PointResult};
use crate::laboratory::{Figure, TESTS};
use crate::report::plot::{Chart, Mark, Scale, Series};

/// A picture of every test and group that follow the common form: measured points and fitted curves, a colour a
/// series.
pub(super) fn pictures(result: &FitResult) -> Vec<Entry> {
    let mut entries = Vec::new();
    for test in TESTS {
        let Some(figure) = test.figure() else {
            continue;
        };
        let curves: Vec<&FittedCurve> = result.curves.of(test.name()).collect();
        let measured = || result.points.iter().filter(|p| p.test == figure.kind);
        let groups = measured().map(|point| &point.group);
        for name in distinct(groups.chain(curves.iter().map(|curve| &curve.group))) {
            let points: Vec<&PointResult> = measured().filter(|p| p.group == *name).collect();
            let curves = curves.iter().filter(|curve| curve.group == *name);
            let curves: Vec<&FittedCurve> = curves.copied().collect();
            entries.push((
                format!("{}-{}", figure.stem, slug(name)),
                format!("{} {name}: {}", figure.title, figure.shows),
                chart(result, &figure, name, &points, &curves).into(),
            ));
        }
    }
    entries
}

fn chart(
    result: &FitResult,
    figure: &Figure,
    name: &str,
    points: &[&PointResult],
    curves: &[&FittedCurve],
) -> Chart {
    let (of_point, of_curve, word) = figure.series;
    let series_of = |point: &PointResult| point.setting(of_point).unwrap_or(0.0);
    let all = curves.iter().map(|curve| curve.setting(of_curve));
    let mut all = distinct(all.chain(points.iter().map(|point| series_of(point))));
    all.sort_by(f64::total_cmp);
    let unit = if of_point == "press_s" { " s" } else { "" };
    let (mut lines, mut markers) = (Vec::new(), Vec::new());
    for (index, &one) in all.iter().enumerate() {
        let which = match all.len() {
            1 => String::new(),
            _ => format!(", {word} {}{unit}", short(one)),
        };
        for curve in curves.iter().filter(|c| c.setting(of_curve) == one) {
            let x = curve.x.iter().copied();
            lines.push(Series {
                label: format!("fitted{which}"),
                points: x.zip(curve.fitted.iter().copied()).collect(),
                mark: Mark::Line,
                color: Some(index),
                ..Series::default()
            });
        }
        for (held_out, mark) in [(false, Mark::Points), (true, Mark::Hollow)] {
            let here = points.iter().filter(|point| series_of(point) == one);
            let here: Vec<(f64, [f64; 4])> = here
                .filter(|point| point.held_out == held_out)
                .map(|p| (p.setting(figure.x).unwrap_or(f64::NAN), p.numbers()))
                .collect();
            markers.push(Series {
                label: format!("{}{which}", if held_out { "held out" } else { "measured" }),
                points: here.iter().map(|(x, [value, ..])| (*x, *value)).collect(),
                mark,
                // A line must be seen between its own points.
                color: Some(index + all.len()),
                spread: here
                    .iter()
                    .map(|(_, [value, sd, ..])| (value - sd, value + sd))
                    .collect(),
            });
        }
    }
    markers.retain(|series| !series.points.is_empty());
    let key = match markers.is_empty() {
        true => "",
        false => "points: measured ± one standard deviation, line: fitted",
    };
    Chart {
        title: format!("{} {name}", figure.title),
        note: note(result, &[key.into()]),
        x_label: figure.x_label.into(),
        y_label: figure.y_label.into(),
        series: markers.into_iter().chain(lines).collect(),
        ..Chart::default()
    }
}

/// B and 2HB in units of their measured value, which makes points of any unit comparable.
pub(super) fn readings(result: &FitResult) -> Option<Entry> {
    let points = result.points.iter().filter(|point| point.test == "kes");
    let numbered = points.enumerate().map(|(i, point)| (i as f64 + 1.0, point));
    // A measured 0 is no unit.
    let points: Vec<(f64, &PointResult)> =
        numbered.filter(|(_, p)| p.numbers()[0] != 0.0).collect();
    let relative = |point: &PointResult| {
        let [measured, sd, fitted, _] = point.numbers();
        (sd / measured.abs(), fitted / measured)
    };
    let errors = points.iter().map(|(_, point)| relative(point).0);
    let mut series = vec![Series {
        label: "measured ± one standard deviation".into(),
        points: points.iter().map(|(x, _)| (*x, 1.0)).collect(),
        mark: Mark::Points,
        color: Some(0),
        spread: errors.map(|error| (1.0 - error, 1.0 + error)).collect(),
    }];
    let kind = |point: &PointResult| {
        let quantity = point.quantity.as_deref().unwrap_or("reading");
        let held_out = if point.held_out { ", held out" } else { "" };
        (
            format!("fitted {quantity}, {}{held_out}", point.group),
            point.held_out,
        )
    };
    let kinds = distinct(points.iter().map(|(_, point)| kind(point)));
    for (index, one) in kinds.iter().enumerate() {
        let here = points.iter().filter(|(_, point)| kind(point) == *one);
        series.push(Series {
            label: one.0.clone(),
            points: here.map(|(x, point)| (*x, relative(point).1)).collect(),
            mark: if one.1 { Mark::Hollow } else { Mark::Points },
            color: Some(index + 1),
            ..Series::default()
        });
    }
    series.push(level("", 1.0));
    let chart = Chart {
        title: "Bending rigidity B and hysteresis 2HB".into(),
        note: note(result, &["each in units of its measured value".into()]),
        x_label: "point, in the order of the data".into(),
        y_label: "relative to measured".into(),
        x_scale: Scale::Count,
        series,
        ..Chart::default()
    };
    let caption =
        "Bending rigidity B and hysteresis 2HB as fitted, in units of their measured values";
    (!points.is_empty()).then(|| ("kes".into(), caption.into(), chart.into()))
}
