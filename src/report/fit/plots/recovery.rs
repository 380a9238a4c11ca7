//! Recovery angle against pressing time.

use super::{Entry, distinct, note, short, slug};
use crate::fit::result::{FitResult, FittedCurve};
use crate::report::plot::{Chart, Mark, Scale, Series};

/// More curves than this in one picture cannot be told apart: then each reading time gets its own.
const MOST_CURVES: usize = 6;
/// A hard law closer than this to the smoothed one \[degrees\] is the same curve to a reader.
const VISIBLE_DEG: f64 = 0.5;
/// Points that cannot stand on a log axis are listed, but not more of them.
const MOST_LISTED: usize = 6;

/// A measured recovery angle.
pub(super) struct Measured {
    pub(super) condition: CurvePlace,
    press: f64,
    angle: f64,
    sd: f64,
    fitted: f64,
    held_out: bool,
}

/// What a curve has in common: plate distance \[mm\] and reading time \[s\].
#[derive(Clone, Copy)]
pub(super) struct CurvePlace {
    gap: f64,
    read: f64,
}

impl PartialEq for CurvePlace {
    /// Equal up to the rounding of units.
    fn eq(&self, other: &Self) -> bool {
        let near = |a: f64, b: f64| (a - b).abs() <= 1e-6 * a.abs().max(b.abs());
        near(self.gap, other.gap) && near(self.read, other.read)
    }
}

/// The measured points and fitted curves of a group.
pub(super) struct Group<'a> {
    pub(super) points: Vec<Measured>,
    pub(super) curves: Vec<(CurvePlace, &'a FittedCurve)>,
}

impl<'a> Group<'a> {
    pub(super) fn new(result: &'a FitResult, name: &str) -> Self {
        let points = result
            .points
            .iter()
            .filter(|p| p.test == "crease" && p.group == name);
        let measured = points.filter_map(|p| {
            let (gap, read) = (p.setting("gap_mm")?, p.setting("read_s")?);
            let [angle, sd, fitted, _] = p.numbers();
            Some(Measured {
                condition: CurvePlace { gap, read },
                press: p.setting("press_s")?,
                angle,
                sd,
                fitted,
                held_out: p.held_out,
            })
        });
        let curves = result
            .curves
            .of("crease")
            .filter(|curve| curve.group == name);
        let condition = |curve: &FittedCurve| CurvePlace {
            gap: curve.setting("gap_mm"),
            read: curve.setting("read_s"),
        };
        Group {
            points: measured.collect(),
            curves: curves.map(|curve| (condition(curve), curve)).collect(),
        }
    }

    /// Whether a reading is among its own, fitted or held out.
    pub(super) fn has_reading(&self, other: &Measured) -> bool {
        let numbers = |p: &Measured| (p.press, p.angle, p.sd);
        let same = |p: &Measured| p.condition == other.condition && numbers(p) == numbers(other);
        self.points.iter().any(same)
    }

    pub(super) fn conditions(&self) -> impl Iterator<Item = CurvePlace> {
        let measured = self.points.iter().map(|point| point.condition);
        measured.chain(self.curves.iter().map(|(condition, _)| *condition))
    }
}

pub(super) fn group_names(result: &FitResult) -> Vec<&str> {
    let points = result.points.iter().filter(|point| point.test == "crease");
    let names = points.map(|point| point.group.as_str());
    distinct(names.chain(result.curves.of("crease").map(|curve| curve.group.as_str())))
}

/// Which curves go into one picture.
pub(super) struct Panel {
    /// Ending of the file stem.
    stem: String,
    /// Reading time, where it is one.
    read: Option<f64>,
    /// In the order of their colours.
    pub(super) conditions: Vec<CurvePlace>,
}

impl Panel {
    /// One panel, or one a reading time where there are too many curves.
    pub(super) fn split(conditions: impl Iterator<Item = CurvePlace>) -> Vec<Panel> {
        let mut all = distinct(conditions);
        all.sort_by(|a, b| {
            (a.gap, a.read)
                .partial_cmp(&(b.gap, b.read))
                .unwrap_or(std::cmp::Ordering::Equal)
        });
        let mut reads = distinct(all.iter().map(|condition| condition.read));
        reads.sort_by(f64::total_cmp);
        if let [read] = reads[..] {
            return vec![Panel {
                stem: String::new(),
                read: Some(read),
                conditions: all,
            }];
        } else if all.len() <= MOST_CURVES {
            return vec![Panel {
                stem: String::new(),
                read: None,
                conditions: all,
            }];
        }
        let panel = |read: f64| Panel {
            stem: slug(&format!("-read-{}s", short(read))),
            read: Some(read),
            conditions: all.iter().copied().filter(|c| c.read == read).collect(),
        };
        reads.into_iter().map(panel).collect()
    }

    pub(super) fn label(&self, condition: CurvePlace) -> String {
        let gap = format!("gap {} mm", short(condition.gap));
        match self.read {
            Some(_) => gap,
            None => format!("{gap}, read {} s", short(condition.read)),
        }
    }

    /// What the note says about reading.
    pub(super) fn reading(&self) -> String {
        self.read.map_or(String::new(), |read| {
            format!("read {} s after release", short(read))
        })
    }

    pub(super) fn stem(&self, group: Option<&str>) -> String {
        let parts = [
            "recovery".to_string(),
            slug(group.unwrap_or_default()),
            self.stem.clone(),
        ];
        let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        parts.join("-")
    }
}

/// A picture a group: points, curves and prediction bands.
pub(super) fn pictures(result: &FitResult) -> Vec<Entry> {
    let names = group_names(result);
    let mut entries = Vec::new();
    for name in &names {
        let group = Group::new(result, name);
        for panel in Panel::split(group.conditions()) {
            let stem = panel.stem((names.len() > 1).then_some(*name));
            let caption = format!(
                "Recovery angle of {name} against pressing time: measured points, fitted curves and their 95 % prediction bands"
            );
            entries.push((stem, caption, chart(result, name, &group, &panel).into()));
        }
    }
    entries
}

fn chart(result: &FitResult, name: &str, group: &Group, panel: &Panel) -> Chart {
    let (mut curves, mut points) = (Vec::new(), Vec::new());
    let (mut unplaced, mut any_hard) = (Vec::new(), false);
    for (color, &condition) in panel.conditions.iter().enumerate() {
        let label = panel.label(condition);
        let held_out_label = format!("{label}, held out");
        let here = group
            .points
            .iter()
            .filter(|point| point.condition == condition);
        let (held_out, fitted): (Vec<&Measured>, Vec<&Measured>) = here.partition(|p| p.held_out);
        let wholly_held_out = fitted.is_empty() && !held_out.is_empty();
        let curve_label = if wholly_held_out {
            &held_out_label
        } else {
            &label
        };
        for (_, curve) in group.curves.iter().filter(|(c, _)| *c == condition) {
            curves.push(fitted_curve(curve, curve_label, color));
            let hard = hard_curve(curve, color);
            any_hard |= hard.is_some();
            curves.extend(hard);
        }
        for one in held_out
            .iter()
            .chain(&fitted)
            .filter(|point| point.press <= 0.0)
        {
            let (angle, fit) = (short(one.angle), short(one.fitted));
            unplaced.push(format!("{label}: {angle}° (fitted {fit}°)"));
        }
        points.push(measured(&fitted, &label, Mark::Points, color));
        points.push(measured(&held_out, &held_out_label, Mark::Hollow, color));
    }
    let key = "points: measured ± one standard deviation, lines: fitted, bands: 95 % prediction";
    let hard = if any_hard {
        "thin dashed: hard law"
    } else {
        ""
    };
    let more = [panel.reading(), key.into(), hard.into(), listed(&unplaced)];
    Chart {
        title: format!("Crease recovery of {name}"),
        note: note(result, &more),
        ..axes(curves.into_iter().chain(points).collect())
    }
}

/// Pressing time against degrees: 0 to 180 unless points lie outside.
pub(super) fn axes(mut series: Vec<Series>) -> Chart {
    series.retain(|one| !one.points.is_empty());
    let marked = series
        .iter()
        .filter(|s| matches!(s.mark, Mark::Points | Mark::Hollow));
    let heights: Vec<f64> = marked.flat_map(|s| s.points.iter().map(|p| p.1)).collect();
    let low = heights.iter().copied().fold(0.0, f64::min);
    let high = heights.iter().copied().fold(180.0, f64::max);
    Chart {
        x_label: "pressing time [s]".into(),
        y_label: "recovery angle [°]".into(),
        x_scale: Scale::Log,
        y_scale: Scale::Degrees,
        y_range: (low.is_finite() && high.is_finite()).then_some((low, high)),
        series,
        ..Chart::default()
    }
}

pub(super) fn fitted_curve(curve: &FittedCurve, label: &str, color: usize) -> Series {
    Series {
        label: label.into(),
        points: zipped(&curve.x, &curve.fitted),
        mark: Mark::Line,
        color: Some(color),
        spread: zipped(&curve.low, &curve.high),
    }
}

/// The hard law's curve where it can be told from the fitted one.
fn hard_curve(curve: &FittedCurve, color: usize) -> Option<Series> {
    let differs = |(hard, fitted): (&f64, &f64)| (hard - fitted).abs() > VISIBLE_DEG;
    let visible = curve.hard.iter().zip(&curve.fitted).any(differs);
    visible.then(|| Series {
        points: zipped(&curve.x, &curve.hard),
        mark: Mark::Thin,
        color: Some(color),
        ..Series::default()
    })
}

pub(super) fn measured(points: &[&Measured], label: &str, mark: Mark, color: usize) -> Series {
    // A series whose points cannot be drawn must not stand in the legend.
    let shown = || points.iter().filter(|point| point.press > 0.0);
    Series {
        label: label.into(),
        points: shown().map(|p| (p.press, p.angle)).collect(),
        mark,
        color: Some(color),
        spread: shown().map(|p| (p.angle - p.sd, p.angle + p.sd)).collect(),
    }
}

fn listed(unplaced: &[String]) -> String {
    if unplaced.is_empty() {
        return String::new();
    }
    let first = unplaced[..unplaced.len().min(MOST_LISTED)].join(", ");
    let more = match unplaced.len().saturating_sub(MOST_LISTED) {
        0 => String::new(),
        n => format!(" and {n} more"),
    };
    format!("pressed 0 s, which has no place on a log axis: {first}{more}")
}

fn zipped(xs: &[f64], ys: &[f64]) -> Vec<(f64, f64)> {
    xs.iter().copied().zip(ys.iter().copied()).collect()
}
