//! Charts, bars, histograms and heat maps as SVG or PNG files, drawn on the backends of `plotters` with an embedded
//! font.
//!
//! The layout is our own: `plotters`' mesh cannot keep the legend outside the plot, clip curves to a
//! range or write decades as 10³. A picture becomes a list of shapes, the shapes become bytes in
//! memory, and these are written in one go, because the file backends lose write errors.

mod axis;
mod bars;
mod chart;
mod heat;
mod histogram;
mod paint;
mod trace;

use std::path::Path;

use plotters::style::text_anchor::HPos;

pub(crate) use self::bars::{Bar, BarSeries, Bars};
pub(crate) use self::chart::{Chart, Mark, Scale, Series};
pub(crate) use self::heat::HeatMap;
pub(crate) use self::histogram::{Histogram, Histograms};
pub(super) use self::paint::png;
use self::paint::{NOTE, PaintSheet, Painted, TITLE, WIDTH};
#[cfg(doc)]
use crate::error::Error;
use crate::{
    error::{Result, bad_input},
    files::write_whole,
};

const MARGIN: f64 = 20.0;

/// Anything that can be drawn.
#[derive(Debug, Clone)]
pub(crate) enum Picture {
    /// Series on common axes.
    Chart(Chart),
    HeatMap(HeatMap),
    Bars(Bars),
    Histograms(Histograms),
}

impl From<Chart> for Picture {
    fn from(chart: Chart) -> Self {
        Picture::Chart(chart)
    }
}

impl From<HeatMap> for Picture {
    fn from(map: HeatMap) -> Self {
        Picture::HeatMap(map)
    }
}

impl From<Bars> for Picture {
    fn from(bars: Bars) -> Self {
        Picture::Bars(bars)
    }
}

impl From<Histograms> for Picture {
    fn from(histograms: Histograms) -> Self {
        Picture::Histograms(histograms)
    }
}

impl Picture {
    /// Whether there is anything to draw.
    pub(crate) fn is_drawable(&self) -> bool {
        match self {
            Picture::Chart(chart) => chart.is_drawable(),
            Picture::Bars(bars) => bars.is_drawable(),
            Picture::Histograms(histograms) => histograms.is_drawable(),
            Picture::HeatMap(_) => true,
        }
    }

    /// Writes the picture as `.svg` (900 wide, 560 high for charts) or `.png` (twice as many pixels).
    ///
    /// # Errors
    /// [`Error::BadInput`] for another extension or a picture that cannot be drawn, such as one
    /// without points or with an unusable range; [`Error::Io`] when the file cannot be written.
    pub(crate) fn save(&self, path: &Path) -> Result<()> {
        let bytes = match Format::of(path)? {
            Format::Svg => self.svg()?.into_bytes(),
            Format::Png => self.sheet()?.png()?,
        };
        write_whole(path, &bytes)
    }

    /// The picture as an `<svg>` element without an XML header, to be embedded in a web page.
    ///
    /// # Errors
    /// [`Error::BadInput`] for a picture that cannot be drawn.
    pub(crate) fn svg(&self) -> Result<String> {
        self.sheet()?.svg()
    }

    fn sheet(&self) -> Result<PaintSheet> {
        match self {
            Picture::Chart(chart) => chart.sheet(),
            Picture::HeatMap(map) => map.sheet(),
            Picture::Bars(bars) => bars.sheet(),
            Picture::Histograms(histograms) => histograms.sheet(),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
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
    pub(crate) fn of(path: &Path) -> Result<Format> {
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

/// Title and note, and the top of what is drawn below them.
fn heading(title: &str, note: Option<&str>) -> (Vec<Painted>, f64) {
    let (mut shapes, mut y) = (Vec::new(), MARGIN);
    let width = WIDTH - 2.0 * MARGIN;
    for (text, mut font) in [(title, TITLE), (note.unwrap_or_default(), NOTE)] {
        // Many lines are written smaller, so that they leave room for the plot.
        let mut lines = font.wrapped(text, width);
        while lines.len() as f64 * font.size > 120.0 {
            font.size *= 0.9;
            lines = font.wrapped(text, width);
        }
        for line in lines {
            y += 0.65 * font.size;
            let fitted = font.fitted(&line, width);
            shapes.push(Painted::Text(line, (MARGIN, y), HPos::Left, fitted));
            y += 0.65 * font.size;
        }
    }
    (shapes, y + 24.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart(points: Vec<(f64, f64)>) -> Chart {
        let series = |label: &str, mark| Series::new(label, mark, points.clone());
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
        Picture::from(chart.clone()).save(&path)?;
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
        let refusal = |chart: &Chart, name: &str| match Picture::from(chart.clone())
            .save(&folder.join(name))
        {
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
