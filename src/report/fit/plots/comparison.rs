//! Curves of two fits on common axes.

use super::angles::{
    AngleGroup, MeasuredPoints, Panel, PanelForm, axes, fitted_curve, forms, measured,
};
use super::{NamedPicture, common, distinct, fill, provenance, slug};
use crate::fit::result::{FitResult, PointResult};
use crate::laboratory::Figure;
use crate::report::plot::{Chart, Mark, Series};

/// How the curves and the points of the two fits look.
const LOOKS: [(&str, Mark, Mark); 2] = [
    ("A", Mark::Line, Mark::Points),
    ("B", Mark::Dashed, Mark::Hollow),
];

/// A picture for every test and group that either fit has.
pub(super) fn pictures(a: &FitResult, b: &FitResult) -> Vec<NamedPicture> {
    let mut entries = Vec::new();
    for form in forms() {
        entries.extend(of_angles(a, b, &form));
    }
    for (test, figure) in common::tests() {
        let names = [a, b].map(|fit| common::group_names(fit, test, &figure));
        let pairs = pairs(&names[0], &names[1]);
        for &(name_a, name_b) in &pairs {
            let groups = [(a, name_a), (b, name_b)]
                .map(|(fit, name)| common::group(fit, test, &figure, name));
            let name = both(name_a, name_b);
            let stem = match pairs.len() {
                1 => figure.stem.into(),
                _ => format!("{}-{}", figure.stem, slug(&name)),
            };
            let caption = format!("{} {name}, {}", figure.title, fitted_by(a, b));
            let series = of_common(&figure, &groups);
            let chart = Chart {
                title: format!("{} {name}: two fits", figure.title),
                note: Some(sources(a, b, "", &series)),
                x_label: figure.x_label.into(),
                y_label: figure.y_label.into(),
                series,
                ..Chart::default()
            };
            entries.push((stem, caption, chart.into()));
        }
    }
    entries
}

/// Groups of two fits that share a picture. Two fits of one group each, whatever their names, share it.
fn pairs<'a>(a: &[&'a str], b: &[&'a str]) -> Vec<(&'a str, &'a str)> {
    match (a, b) {
        ([one], [other]) => vec![(*one, *other)],
        _ => distinct(a.iter().chain(b).map(|name| (*name, *name))),
    }
}

fn both(a: &str, b: &str) -> String {
    match a == b {
        true => a.into(),
        false => format!("{a} and {b}"),
    }
}

fn fitted_by(a: &FitResult, b: &FitResult) -> String {
    format!(
        "as fitted by {} (A, solid) and {} (B, dashed)",
        a.name, b.name
    )
}

/// The note: where the fits come from, and what the marks mean.
fn sources(a: &FitResult, b: &FitResult, reading: &str, series: &[Series]) -> String {
    let hollow = series
        .iter()
        .any(|one| one.mark == Mark::Hollow && !one.points.is_empty());
    let data = match hollow {
        false => "points: measured ± one standard deviation",
        true => "points: measured ± one standard deviation, hollow where only B has them",
    };
    let fits = format!("A: {}; B: {}", provenance(a), provenance(b));
    let parts = [fits.as_str(), reading, data];
    let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    parts.join("; ")
}

fn of_angles(a: &FitResult, b: &FitResult, form: &PanelForm) -> Vec<NamedPicture> {
    let pairs = pairs(&form.group_names(a), &form.group_names(b));
    let mut entries = Vec::new();
    for &(name_a, name_b) in &pairs {
        let groups = [
            AngleGroup::new(a, form, name_a),
            AngleGroup::new(b, form, name_b),
        ];
        let name = both(name_a, name_b);
        for panel in Panel::split(form, groups.iter().flat_map(AngleGroup::conditions)) {
            let stem = panel.stem((pairs.len() > 1).then_some(&name));
            let of = form.angles.caption.replace("{}", &name);
            let caption = format!("{of} {}", fitted_by(a, b));
            let series = overlaid(&groups, &panel);
            let chart = Chart {
                title: format!("{} {name}: two fits", form.figure.title),
                note: Some(sources(a, b, &panel.reading(), &series)),
                ..axes(&form.figure, series)
            };
            entries.push((stem, caption, chart.into()));
        }
    }
    entries
}

/// Curves of both fits and the points of both. Points that both have are drawn once.
fn of_common(figure: &Figure, groups: &[common::PointsAndCurves; 2]) -> Vec<Series> {
    let (of_point, of_curve, words) = figure.series;
    let own = |point: &PointResult| point.setting(of_point).unwrap_or(0.0);
    let place = |point: &PointResult| point.setting(figure.x).unwrap_or(f64::NAN);
    let all = common::series_of(figure, groups);
    let (mut curves, mut points) = (Vec::new(), Vec::new());
    for ((of_fit, fitted), (fit, line, marker)) in groups.iter().zip(LOOKS) {
        for (color, &one) in all.iter().enumerate() {
            let label = match all.len() {
                1 => fit.to_string(),
                _ => format!("{fit}, {}", fill(words, one)),
            };
            for curve in fitted.iter().filter(|c| c.setting(of_curve) == one) {
                let x = curve.x.iter().copied();
                curves.push(
                    Series::new(label.clone(), line, x.zip(curve.fitted.iter().copied()))
                        .color(color),
                );
            }
            let numbers = |p: &PointResult| (own(p), place(p), p.measured, p.sd);
            let known = |p: &PointResult| groups[0].0.iter().any(|q| numbers(q) == numbers(p));
            let fresh = |p: &PointResult| marker == Mark::Points || !known(p);
            let here = of_fit.iter().filter(|p| own(p) == one && fresh(p));
            let here: Vec<(f64, [f64; 4])> = here.map(|p| (place(p), p.numbers())).collect();
            // A line must be seen between its own points.
            points.push(common::with_errors(label, marker, &here).color(color + all.len()));
        }
    }
    points.retain(|series| !series.points.is_empty());
    points.into_iter().chain(curves).collect()
}

/// Curves of both fits below the points of both. Points that both have are drawn once.
fn overlaid(groups: &[AngleGroup; 2], panel: &Panel) -> Vec<Series> {
    let [first, _] = groups;
    let (mut curves, mut points) = (Vec::new(), Vec::new());
    for (group, (fit, line, marker)) in groups.iter().zip(LOOKS) {
        for (color, &condition) in panel.conditions.iter().enumerate() {
            let label = format!("{fit}, {}", panel.label(condition));
            for (_, curve) in group.curves.iter().filter(|(c, _)| *c == condition) {
                curves.push(Series {
                    mark: line,
                    spread: Vec::new(),
                    ..fitted_curve(curve, &label, color)
                });
            }
            let here = group.points.iter().filter(|p| p.condition == condition);
            let fresh = |p: &&MeasuredPoints| marker == Mark::Points || !first.has_reading(p);
            let here: Vec<&MeasuredPoints> = here.filter(fresh).collect();
            points.push(measured(&here, &label, marker, color));
        }
    }
    curves.into_iter().chain(points).collect()
}
