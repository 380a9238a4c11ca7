//! Recovery curves of two fits on common axes.

use super::recovery::{Group, Measured, Panel, axes, fitted_curve, group_names, measured};
use super::{Entry, distinct, provenance};
use crate::fit::result::FitResult;
use crate::report::plot::{Chart, Mark, Series};

/// A picture a group that either fit has. Two fits of one group each, whatever their names, share it.
pub(super) fn pictures(a: &FitResult, b: &FitResult) -> Vec<Entry> {
    let (names_a, names_b) = (group_names(a), group_names(b));
    let pairs: Vec<(&str, &str)> = match (&names_a[..], &names_b[..]) {
        ([one], [other]) => vec![(*one, *other)],
        _ => distinct(names_a.iter().chain(&names_b).map(|name| (*name, *name))),
    };
    let mut entries = Vec::new();
    for &(name_a, name_b) in &pairs {
        let groups = [Group::new(a, name_a), Group::new(b, name_b)];
        let name = if name_a == name_b {
            name_a.to_string()
        } else {
            format!("{name_a} and {name_b}")
        };
        for panel in Panel::split(groups.iter().flat_map(Group::conditions)) {
            let stem = panel.stem((pairs.len() > 1).then_some(&name));
            let caption = format!(
                "Recovery angle of {name} against pressing time as fitted by {} (A, solid) and {} (B, dashed)",
                a.name, b.name
            );
            let series = overlaid(&groups, &panel);
            let hollow = series
                .iter()
                .any(|one| one.mark == Mark::Hollow && !one.points.is_empty());
            let data = match hollow {
                false => "points: measured ± one standard deviation",
                true => "points: measured ± one standard deviation, hollow where only B has them",
            };
            let sources = format!("A: {}; B: {}", provenance(a), provenance(b));
            let parts = [sources, panel.reading(), data.into()];
            let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
            let chart = Chart {
                title: format!("Crease recovery of {name}: two fits"),
                note: Some(parts.join("; ")),
                ..axes(series)
            };
            entries.push((stem, caption, chart.into()));
        }
    }
    entries
}

/// Curves of both fits below the points of both. Points that both have are drawn once.
fn overlaid(groups: &[Group; 2], panel: &Panel) -> Vec<Series> {
    let looks = [
        ("A", Mark::Line, Mark::Points),
        ("B", Mark::Dashed, Mark::Hollow),
    ];
    let [first, _] = groups;
    let (mut curves, mut points) = (Vec::new(), Vec::new());
    for (group, (fit, line, marker)) in groups.iter().zip(looks) {
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
            let fresh = |p: &&Measured| marker == Mark::Points || !first.has_reading(p);
            let here: Vec<&Measured> = here.filter(fresh).collect();
            points.push(measured(&here, &label, marker, color));
        }
    }
    curves.into_iter().chain(points).collect()
}
