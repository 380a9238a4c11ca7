//! Measured points and fitted curves of every test but those of angles, and readings that are on no curve.

use super::{NamedPicture, angles::zipped, distinct, fill, level, note, slug};
use crate::fit::result::{FitResult, FittedCurve, PointResult};
use crate::laboratory::{Figure, TESTS, Test};
use crate::report::plot::{Chart, Mark, Scale, Series};

/// Points and curves of a group.
pub(super) type PointsAndCurves<'a> = (Vec<&'a PointResult>, Vec<&'a FittedCurve>);

/// Tests whose pictures have the common form.
pub(super) fn tests() -> impl Iterator<Item = (&'static dyn Test, Figure)> {
    let all = TESTS.into_iter().map(|test| (test, test.figure()));
    all.filter(|(_, figure)| figure.angles.is_none())
}

/// Names of the groups that have points or curves of a test.
pub(super) fn group_names<'a>(
    result: &'a FitResult,
    test: &dyn Test,
    figure: &Figure,
) -> Vec<&'a str> {
    let points = result.points.iter().filter(|p| p.test == figure.kind);
    let curves = result.curves.of(test.name());
    let names = points.map(|point| point.group.as_str());
    distinct(names.chain(curves.map(|curve| curve.group.as_str())))
}

pub(super) fn group<'a>(
    result: &'a FitResult,
    test: &dyn Test,
    figure: &Figure,
    name: &str,
) -> PointsAndCurves<'a> {
    let points = result.points.iter();
    let points = points.filter(|p| p.test == figure.kind && p.group == name);
    let curves = result.curves.of(test.name());
    let curves = curves.filter(|curve| curve.group == name);
    (points.collect(), curves.collect())
}

/// The series that points and curves belong to, in order.
pub(super) fn series_of(figure: &Figure, groups: &[PointsAndCurves]) -> Vec<f64> {
    let (of_point, of_curve, _) = figure.series;
    let curves = groups.iter().flat_map(|(_, curves)| curves);
    let points = groups.iter().flat_map(|(points, _)| points);
    let points = points.map(|point| point.setting(of_point).unwrap_or(0.0));
    let mut all = distinct(curves.map(|curve| curve.setting(of_curve)).chain(points));
    all.sort_by(f64::total_cmp);
    all
}

/// A picture of every test and group: measured points and fitted curves, a colour a series.
pub(super) fn pictures(result: &FitResult) -> Vec<NamedPicture> {
    let mut entries = Vec::new();
    for (test, figure) in tests() {
        for name in group_names(result, test, &figure) {
            let group = group(result, test, &figure, name);
            entries.push((
                format!("{}-{}", figure.stem, slug(name)),
                format!("{} {name}: {}", figure.title, figure.shows),
                chart(result, &figure, name, &group).into(),
            ));
        }
    }
    entries
}

fn chart(result: &FitResult, figure: &Figure, name: &str, group: &PointsAndCurves) -> Chart {
    let (points, curves) = group;
    let (of_point, of_curve, words) = figure.series;
    let own = |point: &PointResult| point.setting(of_point).unwrap_or(0.0);
    let all = series_of(figure, std::slice::from_ref(group));
    let (mut lines, mut markers) = (Vec::new(), Vec::new());
    for (index, &one) in all.iter().enumerate() {
        let which = match all.len() {
            1 => String::new(),
            _ => format!(", {}", fill(words, one)),
        };
        for curve in curves.iter().filter(|c| c.setting(of_curve) == one) {
            let fitted = zipped(&curve.x, &curve.fitted);
            lines.push(Series::new(format!("fitted{which}"), Mark::Line, fitted).color(index));
        }
        for (held_out, mark) in [(false, Mark::Points), (true, Mark::Hollow)] {
            let here = points.iter().filter(|point| own(point) == one);
            let here: Vec<(f64, [f64; 4])> = here
                .filter(|point| point.held_out == held_out)
                .map(|p| (p.setting(figure.x).unwrap_or(f64::NAN), p.numbers()))
                .collect();
            let label = if held_out { "held out" } else { "measured" };
            // A line must be seen between its own points.
            markers
                .push(with_errors(format!("{label}{which}"), mark, &here).color(index + all.len()));
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

/// Markers at `x` and measured value of each point, with an error bar of one standard deviation.
pub(super) fn with_errors(label: String, mark: Mark, here: &[(f64, [f64; 4])]) -> Series {
    let value = here.iter().map(|(x, [value, ..])| (*x, *value));
    let spread = here
        .iter()
        .map(|(_, [value, sd, ..])| (value - sd, value + sd));
    Series::new(label, mark, value).spread(spread)
}

/// Readings that are on no curve in units of their measured value, which makes points of any unit comparable.
pub(super) fn readings(result: &FitResult) -> Vec<NamedPicture> {
    let tests = TESTS.iter().filter_map(|test| test.without_curve());
    let entries = tests.filter_map(|(kind, what)| relative_readings(result, kind, what));
    entries.collect()
}

fn relative_readings(result: &FitResult, kind: &str, what: &str) -> Option<NamedPicture> {
    let stem = slug(kind);
    let points = result.points.iter().filter(|point| point.test == kind);
    let numbered = points.enumerate().map(|(i, point)| (i as f64 + 1.0, point));
    // A measured 0 is no unit.
    let points: Vec<(f64, &PointResult)> =
        numbered.filter(|(_, p)| p.numbers()[0] != 0.0).collect();
    let relative = |point: &PointResult| {
        let [measured, sd, fitted, _] = point.numbers();
        (sd / measured.abs(), fitted / measured)
    };
    let errors = points.iter().map(|(_, point)| relative(point).0);
    let mut series = vec![
        Series::new(
            "measured ± one standard deviation",
            Mark::Points,
            points.iter().map(|(x, _)| (*x, 1.0)),
        )
        .color(0)
        .spread(errors.map(|error| (1.0 - error, 1.0 + error))),
    ];
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
        let mark = if one.1 { Mark::Hollow } else { Mark::Points };
        series.push(
            Series::new(&one.0, mark, here.map(|(x, point)| (*x, relative(point).1)))
                .color(index + 1),
        );
    }
    series.push(level("", 1.0));
    let chart = Chart {
        title: what.into(),
        note: note(result, &["each in units of its measured value".into()]),
        x_label: "point, in the order of the data".into(),
        y_label: "relative to measured".into(),
        x_scale: Scale::Count,
        series,
        ..Chart::default()
    };
    let caption = format!("{what} as fitted, in units of their measured values");
    (!points.is_empty()).then(|| (stem, caption, chart.into()))
}
