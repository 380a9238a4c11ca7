//! Line charts as SVG or PNG files, drawn on the backends of `plotters` with an embedded font.
//!
//! The layout is our own: `plotters`' mesh cannot keep the legend outside the plot, clip curves to a
//! range or write decades as 10³. A chart becomes a list of shapes, the shapes become a picture in
//! memory, and the picture is written in one go, because the file backends lose write errors.

mod axis;
mod paint;

use std::path::Path;

use plotters::style::text_anchor::HPos;

use self::axis::Axis;
use self::paint::{
    NOTE, Point, SIZE, SMALL, Shape, TITLE, WHOLE_PICTURE, png, register_fonts, svg, trace,
};
#[cfg(doc)]
use crate::error::Error;
use crate::{
    error::{Result, bad_input},
    files::write_whole,
};

const MARGIN: f64 = 20.0;
const LONGEST_LEGEND_LINE: f64 = 240.0;

/// How an axis maps values to lengths.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scale {
    /// Equal differences have equal lengths.
    Linear,
    /// Like [`Scale::Linear`], with ticks that suit angles in degrees.
    Degrees,
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

/// Kinds of picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Vector graphics.
    Svg,
    /// Pixels.
    Png,
}

impl Format {
    /// The kind that a file name asks for.
    ///
    /// # Errors
    /// [`Error::BadInput`] for any other.
    pub fn of(path: &Path) -> Result<Format> {
        let extension = path.extension().unwrap_or_default();
        match extension.to_ascii_lowercase().to_str() {
            Some("svg") => Ok(Format::Svg),
            Some("png") => Ok(Format::Png),
            _ => bad_input(format!(
                "{}: a chart's file name ends in .svg or .png",
                path.display()
            )),
        }
    }
}

impl Chart {
    /// Writes the chart as `.svg` (900×560) or `.png` (1800×1120 pixels).
    ///
    /// # Errors
    /// [`Error::BadInput`] for another extension, an unusable `y_range` or no point that can be
    /// drawn; [`Error::Io`] when the file cannot be written.
    pub fn save(&self, path: &Path) -> Result<()> {
        let bytes = match Format::of(path)? {
            Format::Svg => svg(&self.shapes()?)?,
            Format::Png => png(&self.shapes()?)?,
        };
        write_whole(path, &bytes)
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
            return bad_input(format!("chart '{title}' has no series; add one"));
        } else if xs.is_empty() {
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
