//! Charts: series on common axes, with a legend beside the plot.

use plotters::style::text_anchor::HPos;

use super::axis::Axis;
use super::paint::{HEIGHT, PaintSheet, Painted, Point, SMALL, WIDTH, register_fonts};
use super::trace::{Pen, WHOLE_PICTURE};
use super::{MARGIN, heading};
use crate::error::{Result, bad_input};

const LONGEST_LEGEND_LINE: f64 = 240.0;

/// How an axis maps values to lengths.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Scale {
    /// Equal differences have equal lengths.
    #[default]
    Linear,
    /// Like [`Scale::Linear`], with ticks at whole numbers only.
    Count,
    /// Like [`Scale::Linear`], with ticks that suit angles in degrees.
    Degrees,
    /// Equal ratios have equal lengths; values that are not positive are left out.
    Log,
}

/// How a series is drawn.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Mark {
    /// A solid line.
    #[default]
    Line,
    Dashed,
    /// A thin dashed line.
    Thin,
    /// A marker at each point.
    Points,
    /// A white marker with a coloured edge at each point.
    Hollow,
    /// A solid line with a marker at each point.
    LinePoints,
    /// A thin dashed line across the whole plot at the height of each point, whatever its x.
    Level,
    /// A thin dashed line from bottom to top of the plot at the x of each point, whatever its y.
    Upright,
}

impl Mark {
    pub(super) fn has_markers(self) -> bool {
        matches!(self, Mark::Points | Mark::Hollow | Mark::LinePoints)
    }
}

/// A sequence of points. Its line breaks at points that cannot be drawn, so that gaps stay visible.
#[derive(Debug, Clone)]
pub(crate) struct Series {
    /// Text in the legend; an empty one makes no entry, and series with equal ones share an entry.
    pub label: String,
    /// `(x, y)` in the units that the axis labels name.
    pub points: Vec<(f64, f64)>,
    /// How the points are drawn.
    pub mark: Mark,
    /// Index of colour and marker, `None` for the series' position in the chart. There are seven;
    /// from index 7 on they return with dash-dotted lines and hollow markers.
    pub color: Option<usize>,
    /// Low and high end of y at each point: error bars at markers, a pale band along a line. Empty
    /// for none.
    pub spread: Vec<(f64, f64)>,
}

impl Series {
    /// A series without spread, in the colour of its position in the chart.
    pub(crate) fn new(
        label: impl Into<String>,
        mark: Mark,
        points: impl IntoIterator<Item = Point>,
    ) -> Series {
        Series {
            label: label.into(),
            points: points.into_iter().collect(),
            mark,
            color: None,
            spread: Vec::new(),
        }
    }

    pub(crate) fn color(mut self, color: usize) -> Series {
        self.color = Some(color);
        self
    }

    pub(crate) fn spread(mut self, ends: impl IntoIterator<Item = Point>) -> Series {
        self.spread = ends.into_iter().collect();
        self
    }
}

/// Series on common axes.
#[derive(Debug, Clone, Default)]
pub(crate) struct Chart {
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
    /// What is drawn, the last on top, all bands below all else.
    pub series: Vec<Series>,
}

impl Chart {
    /// Whether there is anything to draw.
    pub(crate) fn is_drawable(&self) -> bool {
        self.ranges().is_ok()
    }

    pub(super) fn sheet(&self) -> Result<PaintSheet> {
        let (x_range, y_range) = self.ranges()?;
        register_fonts();
        let (mut shapes, top) = heading(&self.title, self.note.as_deref());
        let (legend, right) = self.legend(top);
        let y = Axis::new(self.y_scale, y_range, (HEIGHT - MARGIN - 50.0, top), true);
        let left = MARGIN + 36.0 + SMALL.widest(y.ticks.iter().map(|tick| &tick.1));
        let x = Axis::new(self.x_scale, x_range, (left, right), false);
        shapes.extend(legend);
        shapes.extend(x.grid(y.ends));
        shapes.extend(y.grid(x.ends));
        let (mut bands, mut traces) = (Vec::new(), Vec::new());
        for (index, series) in self.series.iter().enumerate() {
            let pen = pen(index, series, (x.ends, y.ends));
            for (run, spread) in self.runs(series) {
                let path: Vec<Point> = run.iter().map(|p| (x.place(p.0), y.place(p.1))).collect();
                let spread: Vec<Point> = spread
                    .iter()
                    .map(|ends| (y.place_end(ends.0), y.place_end(ends.1)))
                    .collect();
                bands.extend(pen.band(&path, &spread));
                traces.extend(pen.trace(&path, &path, &spread));
            }
        }
        shapes.extend(bands);
        shapes.extend(x.outline(y.ends.0, &self.x_label));
        shapes.extend(y.outline(x.ends.0, &self.y_label));
        shapes.extend(traces);
        let size = (WIDTH, HEIGHT);
        Ok(PaintSheet { size, shapes })
    }

    /// The legend, and the right end of the plot beside it.
    fn legend(&self, top: f64) -> (Vec<Painted>, f64) {
        let entries = self.legend_entries();
        let lines = |(label, _): &(&str, _)| SMALL.wrapped(label, LONGEST_LEGEND_LINE);
        let labels: Vec<Vec<String>> = entries.iter().map(lines).collect();
        let width = f64::min(SMALL.widest(labels.iter().flatten()), LONGEST_LEGEND_LINE);
        if width == 0.0 {
            return (Vec::new(), WIDTH - MARGIN - 10.0);
        }
        // Entries are a third of a line apart; all move closer when there are many.
        let rows: f64 = labels.iter().map(|lines| lines.len() as f64 + 0.35).sum();
        let pitch = ((HEIGHT - MARGIN - top) / rows).min(18.0);
        let text_left = WIDTH - MARGIN - width;
        let left = text_left - 42.0;
        let (mut shapes, mut y) = (Vec::new(), top + 0.5 * pitch);
        for ((_, members), lines) in entries.iter().zip(labels) {
            for (pen, series) in members {
                let (path, ends) = if series.mark == Mark::Upright {
                    ([(left + 17.0, y - 7.0), (left + 17.0, y + 7.0)], 0.0)
                } else {
                    ([(left, y), (left + 34.0, y)], (0.45 * pitch).min(8.0))
                };
                let spread = vec![(y + ends, y - ends); series.spread.len().min(2)];
                shapes.extend(pen.band(&path, &spread));
                shapes.extend(pen.trace(&path, &[(left + 17.0, y)], &spread));
            }
            for line in lines {
                let mut font = SMALL.fitted(&line, width);
                font.size = font.size.min(0.8 * pitch);
                shapes.push(Painted::Text(line, (text_left, y), HPos::Left, font));
                y += pitch;
            }
            y += 0.35 * pitch;
        }
        (shapes, left - 22.0)
    }

    /// Labels with the series that have them, in the order of first appearance.
    fn legend_entries(&self) -> Vec<(&str, Vec<(Pen, &Series)>)> {
        let mut entries: Vec<(&str, Vec<(Pen, &Series)>)> = Vec::new();
        for (index, series) in self.series.iter().enumerate() {
            let mut pen = pen(index, series, WHOLE_PICTURE);
            // A line across the plot is a short one in the legend.
            if matches!(series.mark, Mark::Level | Mark::Upright) {
                pen.mark = Mark::Thin;
            }
            let member = (pen, series);
            let known = entries
                .iter_mut()
                .find(|(label, _)| *label == series.label.trim());
            match (series.label.trim(), known) {
                ("", _) => {}
                (_, Some((_, members))) => members.push(member),
                (label, None) => entries.push((label, vec![member])),
            }
        }
        entries
    }

    /// The stretches of a series between points that cannot be drawn, with their spread.
    fn runs<'a>(
        &self,
        series: &'a Series,
    ) -> impl Iterator<Item = (&'a [Point], &'a [Point])> + use<'a> {
        let (x_scale, y_scale, mark) = (self.x_scale, self.y_scale, series.mark);
        let broken = move |point: &Point| {
            mark != Mark::Level && !x_scale.shows(point.0)
                || mark != Mark::Upright && !y_scale.shows(point.1)
        };
        let mut begin = 0;
        let with_spread = move |run: &'a [Point]| {
            let spread = series.spread.get(begin..begin + run.len());
            begin += run.len() + 1;
            (run, spread.unwrap_or_default())
        };
        let runs = series.points.split(broken).map(with_spread);
        runs.filter(|(run, _)| !run.is_empty())
    }

    fn ranges(&self) -> Result<(Point, Point)> {
        let title = &self.title;
        let (mut xs, mut ys) = (Vec::new(), Vec::new());
        for series in &self.series {
            for (run, spread) in self.runs(series) {
                if series.mark != Mark::Level {
                    xs.extend(run.iter().map(|point| point.0));
                }
                if series.mark != Mark::Upright {
                    ys.extend(run.iter().map(|point| point.1));
                }
                let ends = spread.iter().flat_map(|ends| [ends.0, ends.1]);
                ys.extend(ends.filter(|&end| self.y_scale.shows(end)));
            }
        }
        if self.series.is_empty() {
            return bad_input(format!("chart '{title}' has no series; add one"));
        } else if xs.is_empty() || ys.is_empty() {
            let remedy = "give finite values, positive ones on log axes";
            return bad_input(format!("chart '{title}' has no point to draw; {remedy}"));
        }
        let y_range = self.y_range.unwrap_or_else(|| self.y_scale.padded(&ys));
        let (low, high) = y_range;
        let shown = self.y_scale.shows(low) && self.y_scale.shows(high);
        if !shown || low >= high {
            let range = format!("y_range ({low}, {high})");
            let remedy = "give finite low < high, positive on a log axis";
            return bad_input(format!("chart '{title}' has {range}; {remedy}"));
        }
        Ok((self.x_scale.padded(&xs), y_range))
    }
}

fn pen(index: usize, series: &Series, area: (Point, Point)) -> Pen {
    Pen {
        mark: series.mark,
        look: series.color.unwrap_or(index),
        area,
    }
}
