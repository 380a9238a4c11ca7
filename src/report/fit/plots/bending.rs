//! Bending tests: loops, twists, and the readings B and 2HB.

use super::{Entry, distinct, level, note, short, slug};
use crate::fit::result::{FitResult, PointResult};
use crate::report::plot::{Chart, Mark, Scale, Series};

/// A picture a group: measured and fitted moments against curvature, a colour a dwell.
pub(super) fn loops(result: &FitResult) -> Vec<Entry> {
    let measured = || {
        result
            .points
            .iter()
            .filter(|point| point.test == "kes_loop")
    };
    let groups = measured().map(|point| &point.group);
    let groups = distinct(groups.chain(result.loops.iter().map(|one| &one.group)));
    let entry = |name: &String| {
        let points: Vec<&PointResult> = measured().filter(|point| point.group == *name).collect();
        let caption = format!("Bending loop of {name}: measured moments and the fitted cycle");
        let stem = format!("loop-{}", slug(name));
        (stem, caption, loop_chart(result, name, &points).into())
    };
    groups.into_iter().map(entry).collect()
}

fn loop_chart(result: &FitResult, name: &str, points: &[&PointResult]) -> Chart {
    let fitted: Vec<_> = result
        .loops
        .iter()
        .filter(|one| one.group == name)
        .collect();
    let dwell = |point: &PointResult| point.press_s.unwrap_or(0.0);
    let dwells = fitted.iter().map(|one| one.dwell_s);
    let mut dwells = distinct(dwells.chain(points.iter().map(|point| dwell(point))));
    dwells.sort_by(f64::total_cmp);
    let (mut lines, mut markers) = (Vec::new(), Vec::new());
    for (index, &rest) in dwells.iter().enumerate() {
        let when = match dwells.len() {
            1 => String::new(),
            _ => format!(", dwell {} s", short(rest)),
        };
        for one in fitted.iter().filter(|one| one.dwell_s == rest) {
            let cycle = one.curvature_per_m.iter().copied();
            lines.push(Series {
                label: format!("fitted{when}"),
                points: cycle.zip(one.moment_nm_per_m.iter().copied()).collect(),
                mark: Mark::Line,
                color: Some(index),
                ..Series::default()
            });
        }
        for (held_out, mark) in [(false, Mark::Points), (true, Mark::Hollow)] {
            let here = || {
                let there = points.iter().filter(|point| dwell(point) == rest);
                there.filter(|point| point.held_out == held_out)
            };
            let moments = here().map(|p| (p.curvature_per_m.unwrap_or(f64::NAN), p.numbers()));
            let moments: Vec<(f64, [f64; 4])> = moments.collect();
            markers.push(Series {
                label: format!("{}{when}", if held_out { "held out" } else { "measured" }),
                points: moments
                    .iter()
                    .map(|(x, [moment, ..])| (*x, *moment))
                    .collect(),
                mark,
                // A line must be seen between its own points.
                color: Some(index + dwells.len()),
                spread: moments
                    .iter()
                    .map(|(_, [m, sd, ..])| (m - sd, m + sd))
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
        title: format!("Bending loop of {name}"),
        note: note(result, &[key.into()]),
        x_label: "curvature [1/m]".into(),
        y_label: "moment per width [N·m/m]".into(),
        series: markers.into_iter().chain(lines).collect(),
        ..Chart::default()
    }
}

/// A picture a group: measured and fitted torques against the turn, a colour a dwell.
pub(super) fn twists(result: &FitResult) -> Vec<Entry> {
    let measured = || result.points.iter().filter(|point| point.test == "twist");
    let entry = |name: &String| {
        let (mut lines, mut markers) = (Vec::new(), Vec::new());
        let fitted = result.twists.iter().filter(|one| one.group == *name);
        for (index, one) in fitted.enumerate() {
            let when = format!(", held {} s", short(one.dwell_s));
            let turns = one.turn_deg.iter().copied();
            lines.push(Series {
                label: format!("fitted{when}"),
                points: turns.zip(one.torque_nm.iter().copied()).collect(),
                mark: Mark::Line,
                color: Some(index),
                ..Series::default()
            });
            let here = measured().filter(|p| p.group == *name && p.press_s == Some(one.dwell_s));
            let here: Vec<(f64, [f64; 4])> = here
                .map(|p| (p.turn_deg.unwrap_or(f64::NAN), p.numbers()))
                .collect();
            markers.push(Series {
                label: format!("measured{when}"),
                points: here.iter().map(|(x, [torque, ..])| (*x, *torque)).collect(),
                mark: Mark::Points,
                color: Some(index + result.twists.len()),
                spread: here
                    .iter()
                    .map(|(_, [t, sd, ..])| (t - sd, t + sd))
                    .collect(),
            });
        }
        let chart = Chart {
            title: format!("Twist of {name}"),
            note: note(
                result,
                &["points: measured ± one standard deviation, line: fitted, out and back".into()],
            ),
            x_label: "turn of the top [degrees]".into(),
            y_label: "torque [N·m]".into(),
            series: markers.into_iter().chain(lines).collect(),
            ..Chart::default()
        };
        let caption = format!("Twist of {name}: measured torques and the fitted way out and back");
        (format!("twist-{}", slug(name)), caption, chart.into())
    };
    distinct(measured().map(|point| &point.group))
        .into_iter()
        .map(entry)
        .collect()
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
