//! Angles against time, such as recovery angles against pressing time.

use super::{NamedPicture, distinct, fill, note, short, slug};
use crate::fit::result::{FitResult, FittedCurve};
use crate::laboratory::{AngleFigure, Figure, TESTS, Test};
use crate::report::plot::{Chart, Mark, Scale, Series};

/// More curves than this in one picture cannot be told apart: then each reading time gets its own.
const MOST_CURVES: usize = 6;
/// A hard law closer than this to the fitted curve \[degrees\] is the same curve to a reader.
const VISIBLE_DEG: f64 = 0.5;
/// Points that cannot stand on a log axis are listed, but not more of them.
const MOST_LISTED: usize = 6;

/// A measured angle.
pub(super) struct MeasuredPoints {
    pub(super) condition: CurvePlace,
    time: f64,
    angle: f64,
    sd: f64,
    fitted: f64,
    held_out: bool,
}

/// What a curve has in common: the settings of its series and of its picture, such as gap \[mm\] and reading time \[s\].
#[derive(Clone, Copy)]
pub(super) struct CurvePlace {
    series: f64,
    panel: f64,
}

impl PartialEq for CurvePlace {
    /// Equal up to the rounding of units.
    fn eq(&self, other: &Self) -> bool {
        let near = |a: f64, b: f64| (a - b).abs() <= 1e-6 * a.abs().max(b.abs());
        near(self.series, other.series) && near(self.panel, other.panel)
    }
}

/// How the angles of a test are drawn.
#[derive(Clone, Copy)]
pub(super) struct PanelForm {
    test: &'static dyn Test,
    pub(super) figure: Figure,
    pub(super) angles: AngleFigure,
}

/// Those of every test that reads angles.
pub(super) fn forms() -> impl Iterator<Item = PanelForm> {
    TESTS.into_iter().filter_map(|test| {
        let figure = test.figure();
        let angles = figure.angles?;
        Some(PanelForm {
            test,
            figure,
            angles,
        })
    })
}

/// The measured points and fitted curves of a group.
pub(super) struct AngleGroup<'a> {
    pub(super) points: Vec<MeasuredPoints>,
    pub(super) curves: Vec<(CurvePlace, &'a FittedCurve)>,
}

impl<'a> AngleGroup<'a> {
    pub(super) fn new(result: &'a FitResult, form: &PanelForm, name: &str) -> Self {
        let (series, of_curve, _) = form.figure.series;
        let panel = form.angles.panel;
        let points = result
            .points
            .iter()
            .filter(|p| p.test == form.figure.kind && p.group == name);
        let measured = points.filter_map(|p| {
            let (series, panel) = (p.setting(series)?, p.setting(panel)?);
            let [angle, sd, fitted, _] = p.numbers();
            Some(MeasuredPoints {
                condition: CurvePlace { series, panel },
                time: p.setting(form.figure.x)?,
                angle,
                sd,
                fitted,
                held_out: p.held_out,
            })
        });
        let curves = result
            .curves
            .of(form.test.name())
            .filter(|curve| curve.group == name);
        let condition = |curve: &FittedCurve| CurvePlace {
            series: curve.setting(of_curve),
            panel: curve.setting(panel),
        };
        AngleGroup {
            points: measured.collect(),
            curves: curves.map(|curve| (condition(curve), curve)).collect(),
        }
    }

    /// Whether a reading is among its own, fitted or held out.
    pub(super) fn has_reading(&self, other: &MeasuredPoints) -> bool {
        let numbers = |p: &MeasuredPoints| (p.time, p.angle, p.sd);
        let same =
            |p: &MeasuredPoints| p.condition == other.condition && numbers(p) == numbers(other);
        self.points.iter().any(same)
    }

    pub(super) fn conditions(&self) -> impl Iterator<Item = CurvePlace> {
        let measured = self.points.iter().map(|point| point.condition);
        measured.chain(self.curves.iter().map(|(condition, _)| *condition))
    }
}

impl PanelForm {
    pub(super) fn group_names<'a>(&self, result: &'a FitResult) -> Vec<&'a str> {
        super::common::group_names(result, self.test, &self.figure)
    }
}

/// Which curves go into one picture.
pub(super) struct Panel {
    form: PanelForm,
    /// Whether there are other pictures of the group.
    one_of_many: bool,
    /// Its setting, where all curves have the same.
    setting: Option<f64>,
    /// In the order of their colours.
    pub(super) conditions: Vec<CurvePlace>,
}

impl Panel {
    /// One panel, or one a setting where there are too many curves.
    pub(super) fn split(
        form: &PanelForm,
        conditions: impl Iterator<Item = CurvePlace>,
    ) -> Vec<Panel> {
        let mut all = distinct(conditions);
        all.sort_by(|a, b| {
            (a.series, a.panel)
                .partial_cmp(&(b.series, b.panel))
                .unwrap_or(std::cmp::Ordering::Equal)
        });
        let mut settings = distinct(all.iter().map(|condition| condition.panel));
        settings.sort_by(f64::total_cmp);
        let panel = |setting: Option<f64>, one_of_many: bool| Panel {
            form: *form,
            one_of_many,
            setting,
            conditions: all
                .iter()
                .copied()
                .filter(|c| !one_of_many || Some(c.panel) == setting)
                .collect(),
        };
        match settings[..] {
            [one] => vec![panel(Some(one), false)],
            _ if all.len() <= MOST_CURVES => vec![panel(None, false)],
            _ => settings.iter().map(|one| panel(Some(*one), true)).collect(),
        }
    }

    pub(super) fn label(&self, condition: CurvePlace) -> String {
        let series = fill(self.form.figure.series.2, condition.series);
        match self.setting {
            Some(_) => series,
            None => format!(
                "{series}, {}",
                fill(self.form.angles.label, condition.panel)
            ),
        }
    }

    /// What the note says of the setting.
    pub(super) fn reading(&self) -> String {
        let sentence = self.form.angles.sentence;
        self.setting.map_or(String::new(), |s| fill(sentence, s))
    }

    pub(super) fn stem(&self, group: Option<&str>) -> String {
        let setting = self.setting.filter(|_| self.one_of_many);
        // The unit stays with its number: read-60s.
        let ending = setting.map(|s| self.form.angles.label.replace("{} ", &short(s)));
        let parts = [
            self.form.figure.stem.to_string(),
            slug(group.unwrap_or_default()),
            slug(&ending.unwrap_or_default()),
        ];
        let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        parts.join("-")
    }
}

/// A picture a group: points, curves and prediction bands.
pub(super) fn pictures(result: &FitResult) -> Vec<NamedPicture> {
    let mut entries = Vec::new();
    for form in forms() {
        let names = form.group_names(result);
        for name in &names {
            let group = AngleGroup::new(result, &form, name);
            for panel in Panel::split(&form, group.conditions()) {
                let stem = panel.stem((names.len() > 1).then_some(*name));
                let of = form.angles.caption.replace("{}", name);
                let caption = format!("{of}: {}", form.figure.shows);
                entries.push((stem, caption, chart(result, name, &group, &panel).into()));
            }
        }
    }
    entries
}

fn chart(result: &FitResult, name: &str, group: &AngleGroup, panel: &Panel) -> Chart {
    let (mut curves, mut points) = (Vec::new(), Vec::new());
    let (mut unplaced, mut any_hard) = (Vec::new(), false);
    for (color, &condition) in panel.conditions.iter().enumerate() {
        let label = panel.label(condition);
        let held_out_label = format!("{label}, held out");
        let here = group
            .points
            .iter()
            .filter(|point| point.condition == condition);
        let (held_out, fitted): (Vec<&MeasuredPoints>, Vec<&MeasuredPoints>) =
            here.partition(|p| p.held_out);
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
            .filter(|point| point.time <= 0.0)
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
    let form = &panel.form;
    let unplaced = listed(form.angles.at_zero, &unplaced);
    let more = [panel.reading(), key.into(), hard.into(), unplaced];
    Chart {
        title: format!("{} {name}", form.figure.title),
        note: note(result, &more),
        ..axes(&form.figure, curves.into_iter().chain(points).collect())
    }
}

/// Time against degrees: 0 to 180 unless points lie outside.
pub(super) fn axes(figure: &Figure, mut series: Vec<Series>) -> Chart {
    series.retain(|one| !one.points.is_empty());
    let marked = series
        .iter()
        .filter(|s| matches!(s.mark, Mark::Points | Mark::Hollow));
    let heights: Vec<f64> = marked.flat_map(|s| s.points.iter().map(|p| p.1)).collect();
    let low = heights.iter().copied().fold(0.0, f64::min);
    let high = heights.iter().copied().fold(180.0, f64::max);
    Chart {
        x_label: figure.x_label.into(),
        y_label: figure.y_label.into(),
        x_scale: Scale::Log,
        y_scale: Scale::Degrees,
        y_range: (low.is_finite() && high.is_finite()).then_some((low, high)),
        series,
        ..Chart::default()
    }
}

pub(super) fn fitted_curve(curve: &FittedCurve, label: &str, color: usize) -> Series {
    Series::new(label, Mark::Line, zipped(&curve.x, &curve.fitted))
        .color(color)
        .spread(zipped(&curve.low, &curve.high))
}

/// The hard law's curve where it can be told from the fitted one.
fn hard_curve(curve: &FittedCurve, color: usize) -> Option<Series> {
    let differs = |(hard, fitted): (&f64, &f64)| (hard - fitted).abs() > VISIBLE_DEG;
    let visible = curve.hard.iter().zip(&curve.fitted).any(differs);
    visible.then(|| Series::new("", Mark::Thin, zipped(&curve.x, &curve.hard)).color(color))
}

pub(super) fn measured(
    points: &[&MeasuredPoints],
    label: &str,
    mark: Mark,
    color: usize,
) -> Series {
    // A series whose points cannot be drawn must not stand in the legend.
    let shown = || points.iter().filter(|point| point.time > 0.0);
    Series::new(label, mark, shown().map(|p| (p.time, p.angle)))
        .color(color)
        .spread(shown().map(|p| (p.angle - p.sd, p.angle + p.sd)))
}

fn listed(at_zero: &str, unplaced: &[String]) -> String {
    if unplaced.is_empty() {
        return String::new();
    }
    let first = unplaced[..unplaced.len().min(MOST_LISTED)].join(", ");
    let more = match unplaced.len().saturating_sub(MOST_LISTED) {
        0 => String::new(),
        n => format!(" and {n} more"),
    };
    format!("{at_zero}, which has no place on a log axis: {first}{more}")
}

pub(super) fn zipped(xs: &[f64], ys: &[f64]) -> Vec<(f64, f64)> {
    xs.iter().copied().zip(ys.iter().copied()).collect()
}
