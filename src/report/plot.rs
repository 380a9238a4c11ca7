//! Line charts as SVG or PNG files, drawn on the backends of `plotters` with an embedded font.
//!
//! The layout is our own: `plotters`' mesh cannot keep the legend outside the plot, clip curves to a
//! range or write decades as 10³. A chart becomes a list of shapes, the shapes become a picture in
//! memory, and the picture is written in one go, because the file backends lose write errors.

use std::{f64::consts::TAU, fmt::Display, path::Path, sync::Once};

use plotters::prelude::{BitMapBackend, DrawingBackend, RGBColor, SVGBackend, WHITE};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{Color, FontStyle, FontTransform, TextStyle, register_font};

use crate::error::{Error, Result};

const MARGIN: f64 = 20.0;
const LONGEST_LEGEND_LINE: f64 = 240.0;

/// How an axis maps values to lengths.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scale {
    /// Equal differences have equal lengths.
    Linear,
    /// Equal ratios have equal lengths; values that are not positive are left out.
    Log,
}

/// How a series is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    /// A solid line.
    Line,
    /// A dashed line.
    Dashed,
    /// A marker at each point.
    Points,
    /// A solid line with a marker at each point.
    LinePoints,
}

/// A sequence of points. Its line breaks at points that cannot be drawn, so that gaps stay visible.
#[derive(Debug, Clone)]
pub struct Series {
    /// Text in the legend; an empty one makes no entry.
    pub label: String,
    /// `(x, y)` in the units that the axis labels name.
    pub points: Vec<(f64, f64)>,
    /// How the points are drawn.
    pub mark: Mark,
    /// Index of colour and marker, `None` for the series' position in the chart. There are seven;
    /// from index 7 on they return with dash-dotted lines and hollow markers.
    pub color: Option<usize>,
}

/// Series on common axes.
#[derive(Debug, Clone)]
pub struct Chart {
    /// Heading, wrapped when it is long.
    pub title: String,
    /// Small grey line under the title, such as `synthetic data`.
    pub note: Option<String>,
    /// Label of the horizontal axis with its unit.
    pub x_label: String,
    /// Label of the vertical axis with its unit.
    pub y_label: String,
    /// Scale of the horizontal axis.
    pub x_scale: Scale,
    /// Scale of the vertical axis.
    pub y_scale: Scale,
    /// Ends of the vertical axis, to which curves are clipped; `None` fits it to the points.
    pub y_range: Option<(f64, f64)>,
    /// What is drawn, the last on top.
    pub series: Vec<Series>,
}

impl Chart {
    /// Writes the chart as `.svg` (900×560) or `.png` (1800×1120 pixels).
    ///
    /// # Errors
    /// [`Error::BadInput`] for another extension, an unusable `y_range` or no point that can be
    /// drawn; [`Error::Io`] when the file cannot be written.
    pub fn save(&self, path: &Path) -> Result<()> {
        let name = path.display().to_string();
        let extension = path.extension().unwrap_or_default();
        let bytes = match extension.to_ascii_lowercase().to_str() {
            Some("svg") => svg(&self.shapes()?)?,
            Some("png") => png(&self.shapes()?)?,
            _ => return refuse(format!("{name}: a chart's file name ends in .svg or .png")),
        };
        std::fs::write(path, bytes).map_err(|source| Error::Io {
            path: name,
            source,
            remedy: "check that the folder exists, can be written to and has free space".into(),
        })
    }

    fn shapes(&self) -> Result<Vec<Shape>> {
        let (x_range, y_range) = self.ranges()?;
        register_fonts();
        let (mut shapes, top) = self.heading();
        let (legend, right) = self.legend(top);
        let y = Axis::new(self.y_scale, y_range, (SIZE.1 - MARGIN - 50.0, top), true);
        let left = MARGIN + 36.0 + SMALL.widest(y.ticks.iter().map(|tick| &tick.1));
        let x = Axis::new(self.x_scale, x_range, (left, right), false);
        shapes.extend(legend);
        shapes.extend(x.grid(y.ends));
        shapes.extend(y.grid(x.ends));
        shapes.extend(x.outline(y.ends.0, &self.x_label));
        shapes.extend(y.outline(x.ends.0, &self.y_label));
        for (index, series) in self.series.iter().enumerate() {
            let look = series.color.unwrap_or(index);
            for run in self.runs(series) {
                let path: Vec<Point> = run.iter().map(|p| (x.place(p.0), y.place(p.1))).collect();
                shapes.extend(trace(&path, &path, series.mark, look, (x.ends, y.ends)));
            }
        }
        Ok(shapes)
    }

    /// Title and note, and the top of the plot below them.
    fn heading(&self) -> (Vec<Shape>, f64) {
        let (mut shapes, mut y) = (Vec::new(), MARGIN);
        let width = SIZE.0 - 2.0 * MARGIN;
        let note = self.note.as_deref().unwrap_or_default();
        for (text, mut font) in [(self.title.as_str(), TITLE), (note, NOTE)] {
            // Many lines are written smaller, so that they leave room for the plot.
            let mut lines = font.wrapped(text, width);
            while lines.len() as f64 * font.size > 120.0 {
                font.size *= 0.9;
                lines = font.wrapped(text, width);
            }
            for line in lines {
                y += 0.65 * font.size;
                let fitted = font.fitted(&line, width);
                shapes.push(Shape::Text(line, (MARGIN, y), HPos::Left, fitted));
                y += 0.65 * font.size;
            }
        }
        (shapes, y + 24.0)
    }

    /// The legend, and the right end of the plot beside it.
    fn legend(&self, top: f64) -> (Vec<Shape>, f64) {
        let lines = |series: &Series| SMALL.wrapped(&series.label, LONGEST_LEGEND_LINE);
        let labels: Vec<Vec<String>> = self.series.iter().map(lines).collect();
        let width = f64::min(SMALL.widest(labels.iter().flatten()), LONGEST_LEGEND_LINE);
        if width == 0.0 {
            return (Vec::new(), SIZE.0 - MARGIN - 10.0);
        }
        // Entries are a third of a line apart; all move closer when there are many.
        let rows: f64 = labels.iter().map(|lines| lines.len() as f64 + 0.35).sum();
        let pitch = ((SIZE.1 - MARGIN - top) / rows).min(18.0);
        let text_left = SIZE.0 - MARGIN - width;
        let left = text_left - 42.0;
        let (mut shapes, mut y) = (Vec::new(), top + 0.5 * pitch);
        for (index, (series, lines)) in self.series.iter().zip(labels).enumerate() {
            if lines.is_empty() {
                continue;
            }
            let look = series.color.unwrap_or(index);
            let (line, marked) = ([(left, y), (left + 34.0, y)], [(left + 17.0, y)]);
            shapes.extend(trace(&line, &marked, series.mark, look, WHOLE_PICTURE));
            for line in lines {
                let mut font = SMALL.fitted(&line, width);
                font.size = font.size.min(0.8 * pitch);
                shapes.push(Shape::Text(line, (text_left, y), HPos::Left, font));
                y += pitch;
            }
            y += 0.35 * pitch;
        }
        (shapes, left - 22.0)
    }

    /// The stretches of a series between points that cannot be drawn.
    fn runs<'a>(&self, series: &'a Series) -> impl Iterator<Item = &'a [Point]> + use<'a> {
        let (x_scale, y_scale) = (self.x_scale, self.y_scale);
        let broken = move |point: &Point| !x_scale.shows(point.0) || !y_scale.shows(point.1);
        series.points.split(broken).filter(|run| !run.is_empty())
    }

    fn ranges(&self) -> Result<(Point, Point)> {
        let title = &self.title;
        let runs = self.series.iter().flat_map(|series| self.runs(series));
        let (xs, ys): (Vec<f64>, Vec<f64>) = runs.flatten().copied().unzip();
        if self.series.is_empty() {
            return refuse(format!("chart '{title}' has no series; add one"));
        } else if xs.is_empty() {
            let remedy = "give finite values, positive ones on log axes";
            return refuse(format!("chart '{title}' has no point to draw; {remedy}"));
        }
        let y_range = self.y_range.unwrap_or_else(|| self.y_scale.padded(&ys));
        let (low, high) = y_range;
        let shown = self.y_scale.shows(low) && self.y_scale.shows(high);
        if !shown || low >= high {
            let range = format!("y_range ({low}, {high})");
            let remedy = "give finite low < high, positive on a log axis";
            return refuse(format!("chart '{title}' has {range}; {remedy}"));
        }
        Ok((self.x_scale.padded(&xs), y_range))
    }
}

fn refuse<T>(message: String) -> Result<T> {
    Err(Error::BadInput(message))
}

impl Scale {
    /// Beyond 1e±300 the spans and steps of an axis would overflow.
    fn shows(self, value: f64) -> bool {
        value.abs() <= 1e300 && (self == Scale::Linear || value >= 1e-300)
    }

    fn length(self, value: f64) -> f64 {
        match self {
            Scale::Linear => value,
            Scale::Log => value.log10(),
        }
    }

    /// The range of the values with some room around it.
    fn padded(self, values: &[f64]) -> Point {
        let lengths = || values.iter().map(|&value| self.length(value));
        let low = lengths().fold(f64::INFINITY, f64::min);
        let high = lengths().fold(f64::NEG_INFINITY, f64::max);
        let largest = low.abs().max(high.abs());
        let room = match high - low {
            span if span > (1e-10 * largest).max(1e-290) => 0.04 * span,
            _ if self == Scale::Linear && largest > 1e-290 => 0.1 * largest,
            _ => 0.5,
        };
        match self {
            Scale::Log => (10f64.powf(low - room), 10f64.powf(high + room)),
            // A quantity that is never negative gets no negative axis.
            Scale::Linear if (0.0..room).contains(&low) && high > low => (0.0, high + room),
            Scale::Linear => (low - room, high + room),
        }
    }
}

/// An axis and its ticks.
struct Axis {
    scale: Scale,
    range: Point,
    /// Where the range begins and ends [px].
    ends: Point,
    vertical: bool,
    ticks: Vec<(f64, String)>,
    /// Values of the faint grid lines.
    minor: Vec<f64>,
    /// Power of ten that the ticks' texts leave out, such as `×10⁻³`.
    factor: Option<String>,
}

impl Axis {
    /// An axis with the densest ticks whose texts keep apart.
    fn new(scale: Scale, range: Point, ends: Point, vertical: bool) -> Self {
        let (ticks, minor, factor) = Default::default();
        let mut axis = Axis {
            scale,
            range,
            ends,
            vertical,
            ticks,
            minor,
            factor,
        };
        let extent = |text: &str| if vertical { 32.0 } else { SMALL.width(text) };
        let crowded = |axis: &Axis| {
            axis.ticks.windows(2).any(|pair| {
                let gap = (axis.place(pair[1].0) - axis.place(pair[0].0)).abs();
                gap < 0.5 * (extent(&pair[0].1) + extent(&pair[1].1)) + 14.0
            })
        };
        if scale == Scale::Log {
            let strides = [1, 2, 3, 5, 10, 20, 50, 100].map(|stride| (&[1][..], stride));
            let within_two_decades = (range.1 <= 100.0 * range.0).then_some((&[1, 2, 5][..], 1));
            for (digits, stride) in within_two_decades.into_iter().chain(strides) {
                axis.set_log_ticks(digits, stride);
                if !crowded(&axis) {
                    break;
                }
            }
        }
        // A part of a decade may hold too few powers of ten to read values by.
        if axis.ticks.len() < 3 {
            for count in (2..=11).rev() {
                axis.set_linear_ticks(f64::from(count));
                if !crowded(&axis) {
                    break;
                }
            }
        }
        axis
    }

    /// About `count` ticks at multiples of 1, 2 or 5 times a power of ten.
    fn set_linear_ticks(&mut self, count: f64) {
        let (low, high) = self.range;
        let finest = (high - low) / count;
        let power = finest.log10().floor();
        let digits = [1.0, 2.0, 5.0, 10.0].into_iter();
        let mut wide_enough = digits.filter(|digit| digit * 10f64.powf(power) >= 0.999 * finest);
        let digit = wide_enough.next().unwrap_or(10.0);
        let step = digit * 10f64.powf(power);
        let (first, last) = ((low / step - 1e-6).ceil(), (high / step + 1e-6).floor());
        // Numbers from 0.01 to 99 999 are read fastest as they are, and so are larger ones that
        // differ in their last digits only; others leave out a power of ten.
        let largest = (first.abs().max(last.abs()) * step).log10().floor();
        let long = largest > 4.0 && (largest > 8.0 || largest - power < 4.0);
        let has_factor = largest.is_finite() && (largest < -2.0 || long);
        let common = if has_factor { largest } else { 0.0 };
        let decimals = (common - step.log10().floor()).max(0.0) as usize;
        let text = |number: f64| match number * digit * 10f64.powf(power - common) {
            0.0 => "0".into(),
            shown => format!("{shown:.decimals$}").replace('-', "−"),
        };
        let numbers = (first as i64..=last as i64).map(|number| number as f64);
        let tick = |number: f64| (number * step, text(number));
        self.ticks = numbers.map(tick).collect();
        self.factor = has_factor.then(|| format!("×{}", power_of_ten(common as i32)));
    }

    /// Ticks at `digits` times every `stride`-th power of ten.
    fn set_log_ticks(&mut self, digits: &[i32], stride: i32) {
        let (low, high) = self.range;
        let text = |digit: i32, power: i32| match (digit, power) {
            (_, -1) => format!("0.{digit}"),
            (_, 0..=2) => (digit * 10_i32.pow(power as u32)).to_string(),
            (1, _) => power_of_ten(power),
            _ => format!("{digit}×{}", power_of_ten(power)),
        };
        (self.ticks, self.minor) = Default::default();
        let powers = low.log10().floor() as i32..=high.log10().floor() as i32;
        for (power, digit) in powers.flat_map(|power| (1..=9).map(move |digit| (power, digit))) {
            let value = f64::from(digit) * 10f64.powi(power);
            if !(low..=high).contains(&value) {
                continue;
            } else if digits.contains(&digit) && power % stride == 0 {
                self.ticks.push((value, text(digit, power)));
            } else if stride == 1 || digit == 1 && stride <= 10 {
                self.minor.push(value);
            }
        }
    }

    fn place(&self, value: f64) -> f64 {
        let [low, high, at] = [self.range.0, self.range.1, value].map(|v| self.scale.length(v));
        let at = self.ends.0 + (at - low) / (high - low) * (self.ends.1 - self.ends.0);
        // Far outside, where it is clipped anyway, a point must not lose its pixels to rounding.
        at.clamp(-1e9, 1e9)
    }

    /// The point at `along` on the axis and `across` on the other one [px].
    fn point(&self, along: f64, across: f64) -> Point {
        if self.vertical {
            (across, along)
        } else {
            (along, across)
        }
    }

    /// A line across the axis, in the middle of a pixel so that it is sharp.
    fn crossing(&self, value: f64, across: Point, color: RGBColor) -> Shape {
        let at = self.place(value).floor() + 0.5;
        let ends = [across.0, across.1].map(|across| self.point(at, across));
        Shape::Line(ends.into(), color, 1.0)
    }

    fn grid(&self, across: Point) -> Vec<Shape> {
        let line = |value, shade| self.crossing(value, across, RGBColor(shade, shade, shade));
        let minor = self.minor.iter().map(|&value| line(value, 242));
        let shade = |value| if value == 0.0 { 175 } else { 225 };
        let major = self.ticks.iter().map(|tick| line(tick.0, shade(tick.0)));
        minor.chain(major).collect()
    }

    /// The axis' line at `base` [px] with its ticks and texts.
    fn outline(&self, base: f64, label: &str) -> Vec<Shape> {
        let line = [self.ends.0, self.ends.1].map(|end| self.point(end, base.floor() + 0.5));
        let mut shapes = vec![Shape::Line(line.into(), INK, 1.0)];
        let (tick, text_at, side) = if self.vertical {
            (-5.0, -9.0, HPos::Right)
        } else {
            (5.0, 15.0, HPos::Center)
        };
        for (value, text) in &self.ticks {
            shapes.push(self.crossing(*value, (base, base + tick), INK));
            let at = self.point(self.place(*value), base + text_at);
            shapes.push(Shape::Text(text.clone(), at, side, SMALL));
        }
        let (middle, length) = (0.5 * (self.ends.0 + self.ends.1), self.ends.1 - self.ends.0);
        let (label, factor) = (label.to_owned(), self.factor.clone());
        if self.vertical {
            let above = (base, self.ends.1 - 12.0);
            shapes.extend(factor.map(|text| Shape::Text(text, above, HPos::Left, SMALL)));
            let font = LABEL.fitted(&label, -length);
            shapes.push(Shape::RisingText(label, (MARGIN + 4.0, middle), font));
        } else {
            let room = length - if factor.is_some() { 120.0 } else { 0.0 };
            let below = (self.ends.1, base + 38.0);
            shapes.extend(factor.map(|text| Shape::Text(text, below, HPos::Right, SMALL)));
            let font = LABEL.fitted(&label, room);
            shapes.push(Shape::Text(
                label,
                (middle, base + 42.0),
                HPos::Center,
                font,
            ));
        }
        shapes
    }
}

fn power_of_ten(power: i32) -> String {
    let raised = |c: char| match c.to_digit(10) {
        Some(digit) => "⁰¹²³⁴⁵⁶⁷⁸⁹".chars().nth(digit as usize).unwrap_or(c),
        None => '⁻',
    };
    let exponent: String = power.to_string().chars().map(raised).collect();
    format!("10{exponent}")
}

type Point = (f64, f64);

const SIZE: Point = (900.0, 560.0);
const WHOLE_PICTURE: (Point, Point) = ((0.0, SIZE.0), (0.0, SIZE.1));
/// Backends place things on integers: four steps to a pixel keep curves smooth. A PNG, which has
/// two pixels to a logical one, is averaged from these steps, which smooths its edges.
const GRID: f64 = 4.0;
const STEPS: (u32, u32) = ((SIZE.0 * GRID) as u32, (SIZE.1 * GRID) as u32);

const INK: RGBColor = RGBColor(40, 40, 40);
const TITLE: Font = font(20.0, FontStyle::Bold, INK);
const LABEL: Font = font(15.0, FontStyle::Normal, INK);
const SMALL: Font = font(13.0, FontStyle::Normal, INK);
const NOTE: Font = font(13.0, FontStyle::Normal, RGBColor(115, 115, 115));
/// Name of the embedded font; a viewer of an SVG that lacks DejaVu takes the next family.
const FAMILY: &str = "DejaVu Sans, Verdana, sans-serif";
/// `plotters` sizes fonts by the height of a line [em]: DejaVu's own, and a fixed one in SVG.
const DEJAVU_LINE: f64 = 1.164;
const SVG_LINE: f64 = 1.24;

/// Okabe and Ito's colour-blind-safe palette without its yellow (too pale for lines), each with a
/// marker: corners, turn of the first corner, radii [px] of even and odd corners.
const LOOKS: [(RGBColor, (u32, f64, f64, f64)); 7] = [
    (RGBColor(0x00, 0x00, 0x00), (24, 0.0, 4.2, 4.2)),
    (RGBColor(0xE6, 0x9F, 0x00), (4, 0.125, 5.3, 5.3)),
    (RGBColor(0x56, 0xB4, 0xE9), (3, 0.75, 5.8, 5.8)),
    (RGBColor(0x00, 0x9E, 0x73), (4, 0.0, 5.8, 5.8)),
    (RGBColor(0x00, 0x72, 0xB2), (3, 0.25, 5.8, 5.8)),
    (RGBColor(0xD5, 0x5E, 0x00), (8, 0.0, 7.0, 2.6)),
    (RGBColor(0xCC, 0x79, 0xA7), (8, 0.125, 7.0, 2.6)),
];

/// What a picture is made of, in logical pixels.
enum Shape {
    /// Path, colour and width.
    Line(Vec<Point>, RGBColor, f64),
    Polygon(Vec<Point>, RGBColor),
    /// Text with its start, middle or end at a point, capitals centred on it across the line.
    Text(String, Point, HPos, Font),
    /// Text read from below with its middle at a point.
    RisingText(String, Point, Font),
}

/// The line along `path` and the markers at `marked` that a mark asks for, cut at the edges of an
/// area (its x and y ends).
fn trace(
    path: &[Point],
    marked: &[Point],
    mark: Mark,
    look: usize,
    area: (Point, Point),
) -> Vec<Shape> {
    let (color, marker) = LOOKS[look % LOOKS.len()];
    let again = look / LOOKS.len() % 2 == 1;
    // Lengths of dashes and gaps; round caps add the line's width to the former.
    let dashes = match (mark, again) {
        (Mark::Dashed, false) => [6.0, 6.0, 6.0, 6.0],
        (Mark::Dashed, true) => [0.1, 5.0, 0.1, 5.0],
        (_, true) => [9.0, 5.0, 0.1, 5.0],
        (_, false) => [f64::INFINITY, 0.0, 0.0, 0.0],
    };
    let mut shapes = Vec::new();
    if mark != Mark::Points {
        let pieces = clipped(path, area).into_iter();
        let dashes = pieces.flat_map(|piece| dashed(&piece, dashes));
        shapes.extend(dashes.map(|dash| Shape::Line(dash, color, 2.0)));
    }
    // A lone point has no line to show it.
    if matches!(mark, Mark::Points | Mark::LinePoints) || path.len() == 1 {
        let inside = if again { WHITE } else { color };
        let visible = |point: &&Point| clip(**point, **point, area).is_some();
        for &point in marked.iter().filter(visible) {
            let outline = marker_outline(point, marker);
            shapes.push(Shape::Polygon(outline.clone(), inside));
            shapes.push(Shape::Line(outline, color, 1.0));
        }
    }
    shapes
}

fn marker_outline((x, y): Point, (corners, turn, even, odd): (u32, f64, f64, f64)) -> Vec<Point> {
    let corner = |index: u32| {
        let angle = TAU * (turn + f64::from(index) / f64::from(corners));
        let radius = [even, odd][(index % 2) as usize];
        (x + radius * angle.cos(), y + radius * angle.sin())
    };
    (0..=corners).map(corner).collect()
}

/// The parts of a path inside an area.
fn clipped(path: &[Point], area: (Point, Point)) -> Vec<Vec<Point>> {
    let mut pieces: Vec<Vec<Point>> = Vec::new();
    let segments = path.windows(2);
    for (from, to) in segments.filter_map(|pair| clip(pair[0], pair[1], area)) {
        let near = |end: &Point| (end.0 - from.0).hypot(end.1 - from.1) < 1e-6;
        match pieces.last_mut() {
            Some(piece) if piece.last().is_some_and(near) => piece.push(to),
            _ => pieces.push(vec![from, to]),
        }
    }
    pieces
}

/// The part of a segment inside an area (Liang and Barsky 1984).
fn clip(a: Point, b: Point, (x, y): (Point, Point)) -> Option<(Point, Point)> {
    let (mut enter, mut leave) = (0.0_f64, 1.0_f64);
    for (from, to, ends) in [(a.0, b.0, x), (a.1, b.1, y)] {
        // The area is a hair larger than it is drawn, so that lines on its edge are inside.
        let (low, high) = (ends.0.min(ends.1) - 1e-6, ends.0.max(ends.1) + 1e-6);
        let (first, second) = ((low - from) / (to - from), (high - from) / (to - from));
        enter = enter.max(first.min(second));
        leave = leave.min(first.max(second));
    }
    let at = |t: f64| (a.0 + t * (b.0 - a.0), a.1 + t * (b.1 - a.1));
    (enter <= leave).then(|| (at(enter), at(leave)))
}

/// A path cut into dashes; `lengths` [px] are dash, gap, dash, gap.
fn dashed(path: &[Point], lengths: [f64; 4]) -> Vec<Vec<Point>> {
    let (mut dashes, mut slot, mut rest) = (Vec::new(), 0, lengths[0]);
    let mut dash: Vec<Point> = path.iter().take(1).copied().collect();
    for pair in path.windows(2) {
        let (mut from, to) = (pair[0], pair[1]);
        let mut length = (to.0 - from.0).hypot(to.1 - from.1);
        while length > rest {
            let part = rest / length;
            from.0 += part * (to.0 - from.0);
            from.1 += part * (to.1 - from.1);
            length -= rest;
            dash.push(from);
            dashes.push(std::mem::replace(&mut dash, vec![from]));
            slot = (slot + 1) % lengths.len();
            rest = lengths[slot];
        }
        rest -= length;
        dash.push(to);
    }
    dashes.push(dash);
    dashes.into_iter().step_by(2).collect()
}

/// The embedded font at a size [px to the em].
#[derive(Clone, Copy)]
struct Font {
    size: f64,
    weight: FontStyle,
    color: RGBColor,
}

const fn font(size: f64, weight: FontStyle, color: RGBColor) -> Font {
    Font {
        size,
        weight,
        color,
    }
}

/// Loads the embedded font; failures show when text is drawn.
fn register_fonts() {
    static FONTS: Once = Once::new();
    FONTS.call_once(|| {
        let _ = register_font(FAMILY, FontStyle::Normal, dejavu::sans::regular());
        let _ = register_font(FAMILY, FontStyle::Bold, dejavu::sans::bold());
    });
}

impl Font {
    fn style(self, line_height: f64, side: HPos) -> TextStyle<'static> {
        let size = self.size * line_height * GRID;
        let style = TextStyle::from((FAMILY, size, self.weight));
        let color = self.color.to_backend_color();
        TextStyle { color, ..style }.pos(Pos::new(side, VPos::Top))
    }

    fn width(self, text: &str) -> f64 {
        let layout = self.style(DEJAVU_LINE, HPos::Left).font.layout_box(text);
        layout.map_or(0.0, |(_, end)| f64::from(end.0) / GRID)
    }

    fn widest<'a>(self, texts: impl Iterator<Item = &'a String>) -> f64 {
        texts.map(|text| self.width(text)).fold(0.0, f64::max)
    }

    /// The font, smaller where the text would be longer than `room` [px].
    fn fitted(self, text: &str, room: f64) -> Font {
        let size = self.size * (room / self.width(text)).min(1.0);
        Font { size, ..self }
    }

    /// The text in lines no longer than `limit` [px], unless one word is.
    fn wrapped(self, text: &str, limit: f64) -> Vec<String> {
        let mut lines: Vec<String> = Vec::new();
        for word in text.split_ascii_whitespace() {
            match lines.last_mut() {
                Some(line) if self.width(&format!("{line} {word}")) <= limit => {
                    line.extend([" ", word]);
                }
                _ => lines.push(word.into()),
            }
        }
        lines
    }
}

fn svg(shapes: &[Shape]) -> Result<Vec<u8>> {
    let mut text = String::new();
    paint(SVGBackend::with_string(&mut text, STEPS), false, shapes)?;
    // The grid stays the view box, while viewers show the size in pixels.
    let size = format!("width=\"{}\" height=\"{}\"", SIZE.0, SIZE.1);
    let root = format!("<svg {size} stroke-linejoin=\"round\" stroke-linecap=\"round\" ");
    text.replace_range(..text.find("viewBox").unwrap_or(0), &root);
    Ok(text.into_bytes())
}

fn png(shapes: &[Shape]) -> Result<Vec<u8>> {
    let row = 3 * STEPS.0 as usize;
    let mut fine = vec![0; row * STEPS.1 as usize];
    paint(BitMapBackend::with_buffer(&mut fine, STEPS), true, shapes)?;
    let mut pixels = Vec::with_capacity(fine.len() / 4);
    for rows in fine.chunks_exact(2 * row) {
        for i in (0..row).step_by(6).flat_map(|red| red..red + 3) {
            let square = [rows[i], rows[i + 3], rows[row + i], rows[row + i + 3]];
            pixels.push((square.map(u16::from).iter().sum::<u16>() / 4) as u8);
        }
    }
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, STEPS.0 / 2, STEPS.1 / 2);
    encoder.set_color(png::ColorType::Rgb);
    let mut writer = encoder.write_header().map_err(undrawable)?;
    writer.write_image_data(&pixels).map_err(undrawable)?;
    writer.finish().map_err(undrawable)?;
    Ok(bytes)
}

fn undrawable(cause: impl Display) -> Error {
    Error::BadInput(format!("the chart could not be drawn: {cause}"))
}

fn paint<B: DrawingBackend>(mut backend: B, raster: bool, shapes: &[Shape]) -> Result<()> {
    let steps = |(x, y): Point| ((x * GRID).round() as i32, (y * GRID).round() as i32);
    // Backends hang text by a point above its baseline [em]; capitals are 0.73 em high.
    let (line_height, drop) = if raster {
        (DEJAVU_LINE, 0.5 * DEJAVU_LINE)
    } else {
        (SVG_LINE, 0.76)
    };
    let lift = 0.365 - drop;
    let far_corner = (STEPS.0 as i32, STEPS.1 as i32);
    let mut outcome = backend.draw_rect((0, 0), far_corner, &WHITE, true);
    for shape in shapes {
        outcome = outcome.and_then(|()| match shape {
            Shape::Line(path, color, width) if raster => path.windows(2).try_for_each(|ends| {
                backend.fill_polygon(capsule(ends[0], ends[1], *width), color)
            }),
            Shape::Line(path, color, width) => {
                let style = color.stroke_width((width * GRID) as u32);
                backend.draw_path(path.iter().copied().map(steps), &style)
            }
            Shape::Polygon(path, color) => {
                backend.fill_polygon(path.iter().copied().map(steps), color)
            }
            Shape::Text(text, (x, y), side, font) => {
                let at = steps((*x, y + lift * font.size));
                backend.draw_text(text, &font.style(line_height, *side), at)
            }
            Shape::RisingText(text, (x, y), font) => {
                let at = steps((x + lift * font.size, *y));
                let style = font.style(line_height, HPos::Center);
                backend.draw_text(text, &style.transform(FontTransform::Rotate270), at)
            }
        });
    }
    outcome.map_err(undrawable)
}

/// The outline, in steps, of a wide line with round ends. The bitmap backend's own has holes where a
/// path crosses itself, and its wide lines never return when they are a step or two long.
fn capsule(from: Point, to: Point, width: f64) -> Vec<(i32, i32)> {
    let along = (to.1 - from.1).atan2(to.0 - from.0);
    // Filled polygons include their edge, which is half a step on each side.
    let radius = 0.5 * width * GRID - 0.5;
    let corner = |index: u32| {
        // Corners 0 to 7 go around the beginning, 8 to 15 around the end.
        let end = if index < 8 { from } else { to };
        let angle = along + TAU * (0.25 + f64::from(index - index / 8) / 14.0);
        let x = end.0 * GRID - 0.5 + radius * angle.cos();
        let y = end.1 * GRID - 0.5 + radius * angle.sin();
        (x.round() as i32, y.round() as i32)
    };
    (0..16).map(corner).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart(points: Vec<(f64, f64)>) -> Chart {
        let series = |label: &str, mark| Series {
            label: label.into(),
            points: points.clone(),
            mark,
            color: None,
        };
        Chart {
            title: "Bending & recovery".into(),
            note: Some("synthetic data".into()),
            x_label: "time [s]".into(),
            y_label: "angle [°]".into(),
            x_scale: Scale::Log,
            y_scale: Scale::Linear,
            y_range: None,
            series: vec![
                series("model", Mark::Dashed),
                series("data", Mark::LinePoints),
            ],
        }
    }

    fn saved(chart: &Chart, name: &str) -> Result<Vec<u8>> {
        let path = std::env::temp_dir().join(format!("rumple-{}-{name}", std::process::id()));
        chart.save(&path)?;
        let bytes = std::fs::read(&path).expect("the chart that was saved");
        std::fs::remove_file(&path).expect("the chart that was saved");
        Ok(bytes)
    }

    /// The SVG holds every text; the PNG decodes to its size and shows curves and text.
    #[test]
    fn writes_both_formats() {
        let chart = chart(vec![(0.1, 1e-5), (10.0, 3e-5), (5e4, 2e-5)]);
        let svg = String::from_utf8(saved(&chart, "both.svg").expect("svg")).expect("utf-8");
        let heading = ["Bending &amp; recovery", "synthetic data", "model", "data"];
        for text in [
            &heading[..],
            &["time [s]", "angle [°]", "10³", "×10⁻⁵", "</svg>"],
        ]
        .concat()
        {
            assert!(svg.contains(text), "{text} is missing");
        }
        let bytes = std::io::Cursor::new(saved(&chart, "both.PNG").expect("png"));
        let mut reader = png::Decoder::new(bytes).read_info().expect("header");
        assert_eq!(reader.info().size(), (1800, 1120));
        let mut pixels = vec![0; 1800 * 1120 * 3];
        reader.next_frame(&mut pixels).expect("image");
        let count = |color: [u8; 3]| {
            pixels
                .chunks_exact(3)
                .filter(|pixel| **pixel == color)
                .count()
        };
        assert!(count([0xE6, 0x9F, 0x00]) > 1000, "no orange curve");
        assert!(count([115, 115, 115]) > 100, "no grey note");
    }

    /// Points that cannot be drawn change nothing; a chart of such points alone is refused.
    #[test]
    fn drops_points_that_cannot_be_drawn() {
        let good = [(1.0, 2.0), (10.0, 3.0)];
        let bad = [
            (f64::NAN, 1.0),
            (2.0, f64::INFINITY),
            (-1.0, 1.0),
            (0.0, 1.0),
        ];
        let mixed = [&bad[..2], &good, &bad[2..]].concat();
        let svg = |points: &[_]| saved(&chart(points.to_vec()), "dropped.svg");
        assert_eq!(svg(&mixed).expect("mixed"), svg(&good).expect("good"));
        let refusal = svg(&bad).expect_err("nothing to draw").to_string();
        assert!(
            refusal.contains("'Bending & recovery' has no point to draw"),
            "{refusal}"
        );
    }

    /// Wide lines of a step or two once hung in `plotters`; clipped ends must not fail either.
    #[test]
    fn draws_dense_clipped_curves() {
        let wave = |i: i32| (f64::from(i), 9.0 * f64::from(i).sin());
        let mut chart = chart((1..2000).map(wave).collect());
        chart.y_range = Some((-1.0, 1.0));
        assert!(saved(&chart, "dense.png").expect("png").len() > 10_000);
        chart.y_range = Some((1.0, -1.0));
        let refusal = saved(&chart, "dense.png")
            .expect_err("reversed")
            .to_string();
        assert!(refusal.contains("y_range (1, -1)"), "{refusal}");
    }

    /// Refusals name the thing and the remedy.
    #[test]
    fn says_what_is_wrong() {
        let mut chart = chart(vec![(1.0, 1.0)]);
        let folder = std::env::temp_dir().join("rumple-no-such-folder");
        let refusal = |chart: &Chart, name: &str| match chart.save(&folder.join(name)) {
            Ok(()) => panic!("{name} was written"),
            Err(error) => error.to_string(),
        };
        assert!(refusal(&chart, "a.pdf").contains("a.pdf: a chart's file name ends in .svg"));
        let unwritable = refusal(&chart, "a.png");
        assert!(unwritable.contains("rumple-no-such-folder"), "{unwritable}");
        assert!(
            unwritable.contains("check that the folder exists"),
            "{unwritable}"
        );
        chart.series.clear();
        assert!(refusal(&chart, "a.svg").contains("has no series; add one"));
    }
}
