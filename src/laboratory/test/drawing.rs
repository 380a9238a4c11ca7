//! How readings and curves of a test are worded, stored and drawn.

use super::Condition;

/// A reading in words, for tables and plots.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Label {
    /// The reading with its settings.
    pub name: String,
    /// Unit.
    pub unit: &'static str,
    /// Place on a curve: the curve's name, x, and the label of the x axis.
    pub place: Option<(String, f64, &'static str)>,
}

/// Conditions along a curve that is drawn.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Sweep {
    /// What all points of the curve have in common, by the names of results.
    pub settings: Vec<(&'static str, f64)>,
    /// x of every point.
    pub x: Vec<f64>,
    /// What is read at every point.
    pub conditions: Vec<Condition>,
}

/// How the curves of a test are stored in results.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CurveKeys {
    /// Name of the list.
    pub list: &'static str,
    /// Name of x.
    pub x: &'static str,
    /// Name of the fitted values.
    pub fitted: &'static str,
    /// Names of the hard law's values and of the ends of the 95 % band, for tests whose curves have them.
    pub band: Option<[&'static str; 3]>,
    /// Whether the fitted curve is that of the hard law.
    pub hard: bool,
}

/// How the curves of a test are drawn: one picture a group, with measured points and fitted lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Figure {
    /// Beginning of the file's name.
    pub stem: &'static str,
    /// Beginning of the title; the group follows.
    pub title: &'static str,
    /// What the picture shows, for its caption.
    pub shows: &'static str,
    /// Label of the x axis.
    pub x_label: &'static str,
    /// Label of the y axis.
    pub y_label: &'static str,
    /// Which readings are points of the picture, by [`Test::kind`](super::Test::kind).
    pub kind: &'static str,
    /// Setting of a point that is its x.
    pub x: &'static str,
    /// Setting of a point that tells the series apart, the same setting of a curve, and a series in words, with {} for
    /// the setting.
    pub series: (&'static str, &'static str, &'static str),
    /// What a picture of angles has besides.
    pub angles: Option<AngleFigure>,
}

/// What a picture of angles has besides: prediction bands, a log axis of times, and a picture for every value of a
/// setting where there are too many curves. In words {} stands for the setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct AngleFigure {
    /// Beginning of the caption; {} stands for the group.
    pub caption: &'static str,
    /// What x is, without its unit.
    pub x: &'static str,
    /// A point at x = 0, which has no place on the axis.
    pub at_zero: &'static str,
    /// The setting that has pictures of its own.
    pub panel: &'static str,
    /// The setting in the label of a curve.
    pub label: &'static str,
    /// The setting in a sentence.
    pub sentence: &'static str,
}

/// How a design draws what could be measured: what each measurement would teach against one of its settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct DesignFigure {
    /// Setting that tells the series apart, where there is one.
    pub series: Option<&'static str>,
    /// A series in words, with {} for the setting.
    pub words: &'static str,
    /// Setting that is x.
    pub x: &'static str,
    /// What x is, without its unit.
    pub x_name: &'static str,
    /// Unit of x. Tests with the same unit share a picture; times have a log axis.
    pub x_unit: &'static str,
    /// Whether the points of a series are joined.
    pub is_line: bool,
}
