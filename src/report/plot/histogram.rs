//! Histograms side by side: counts in bins of a share from 0 to 1, beside those that are expected.

use plotters::style::{RGBColor, text_anchor::HPos};

use super::axis::Axis;
use super::paint::{INK, LABEL, PaintSheet, Painted, Point, SMALL, WIDTH, register_fonts};
use super::{MARGIN, Scale, heading};
use crate::error::{Result, bad_input};

/// Panels in a row.
const ROW: usize = 4;
/// Height of a panel, and the room above and below it \[px\].
const PANEL: f64 = 150.0;
const ABOVE: f64 = 42.0;
const BELOW: f64 = 34.0;
/// Room left of a panel for the numbers of its axis \[px\].
const BESIDE: f64 = 36.0;

const BAR: RGBColor = RGBColor(0x00, 0x72, 0xB2);
const BAND: RGBColor = RGBColor(0xE6, 0x9F, 0x00);

/// One panel.
#[derive(Debug, Clone, Default)]
pub(crate) struct Histogram {
    /// Text above it.
    pub name: String,
    /// Small grey text below the name.
    pub note: String,
    /// Counts in bins of equal width.
    pub bins: Vec<f64>,
    /// Low and high end of the counts that are expected.
    pub band: (f64, f64),
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Histograms {
    /// Heading, wrapped when it is long.
    pub title: String,
    /// Small grey line under the title.
    pub note: Option<String>,
    /// Label of all horizontal axes, in the middle below.
    pub x_label: String,
    /// Panels, row by row.
    pub panels: Vec<Histogram>,
}

impl Histograms {
    /// Whether there is anything to draw.
    pub(crate) fn is_drawable(&self) -> bool {
        let usable = |p: &Histogram| !p.bins.is_empty() && p.bins.iter().all(|n| n.is_finite());
        !self.panels.is_empty() && self.panels.iter().all(usable)
    }

    pub(super) fn sheet(&self) -> Result<PaintSheet> {
        if !self.is_drawable() {
            return bad_input(format!(
                "histograms '{}' have nothing to draw; give each panel finite counts",
                self.title
            ));
        }
        register_fonts();
        let (mut shapes, top) = heading(&self.title, self.note.as_deref());
        let wide = (WIDTH - 2.0 * MARGIN) / ROW as f64;
        let high = ABOVE + PANEL + BELOW;
        for (k, panel) in self.panels.iter().enumerate() {
            let left = MARGIN + wide * (k % ROW) as f64 + BESIDE;
            let floor = top + high * (k / ROW) as f64 + ABOVE + PANEL;
            shapes.extend(panel.draw((left, left + wide - BESIDE - 8.0), (floor, floor - PANEL)));
        }
        let bottom = top + high * self.panels.len().div_ceil(ROW) as f64;
        shapes.push(Painted::Text(
            self.x_label.clone(),
            (0.5 * WIDTH, bottom + 6.0),
            HPos::Center,
            LABEL.fitted(&self.x_label, WIDTH - 2.0 * MARGIN),
        ));
        Ok(PaintSheet {
            size: (WIDTH, bottom + 6.0 + MARGIN),
            shapes,
        })
    }
}

impl Histogram {
    /// The panel between two ends of each axis \[px\].
    fn draw(&self, (left, right): Point, (floor, ceiling): Point) -> Vec<Painted> {
        let tallest = self.bins.iter().copied().fold(self.band.1, f64::max);
        let x = Axis::new(Scale::Linear, (0.0, 1.0), (left, right), false);
        let y = Axis::new(
            Scale::Count,
            (0.0, 1.08 * tallest.max(1.0)),
            (floor, ceiling),
            true,
        );
        let middle = 0.5 * (left + right);
        let text = |text: &str, at, side, font| Painted::Text(text.into(), at, side, font);
        let mut shapes = vec![
            text(
                &self.name,
                (middle, ceiling - 26.0),
                HPos::Center,
                LABEL.fitted(&self.name, right - left + BESIDE),
            ),
            text(
                &self.note,
                (middle, ceiling - 9.0),
                HPos::Center,
                SMALL.fitted(&self.note, right - left + BESIDE),
            ),
        ];
        shapes.extend(y.grid((left, right)));
        let [low, high] = [self.band.0, self.band.1].map(|n| y.place(n));
        shapes.push(rectangle((left, high), (right, low), (BAND, 0.35)));
        let width = 1.0 / self.bins.len() as f64;
        for (b, count) in self.bins.iter().enumerate() {
            let from = x.place(b as f64 * width) + 1.0;
            let to = x.place((b + 1) as f64 * width) - 1.0;
            shapes.push(rectangle((from, y.place(*count)), (to, floor), (BAR, 0.85)));
        }
        shapes.push(Painted::Line(vec![(left, floor), (right, floor)], INK, 1.0));
        for share in [0.0, 0.5, 1.0] {
            let at = (x.place(share), floor + 14.0);
            shapes.push(text(&format!("{share}"), at, HPos::Center, SMALL));
        }
        for (value, label) in &y.ticks {
            shapes.push(text(
                label,
                (left - 6.0, y.place(*value)),
                HPos::Right,
                SMALL,
            ));
        }
        shapes
    }
}

fn rectangle(from: Point, to: Point, color: (RGBColor, f64)) -> Painted {
    let corners = [from, (to.0, from.1), to, (from.0, to.1)];
    Painted::Polygon(corners.into(), color.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn panels_are_drawn_and_nothing_is_refused() {
        let panel = |name: &str| Histogram {
            name: name.into(),
            note: "12 sets".into(),
            bins: vec![3.0, 5.0, 4.0],
            band: (1.0, 8.0),
        };
        let mut all = Histograms {
            title: "Ranks".into(),
            x_label: "rank".into(),
            panels: ["a", "b", "c", "d", "flow_time"].map(panel).into(),
            ..Histograms::default()
        };
        let svg = all.sheet().and_then(|s| s.svg()).expect("histograms");
        for text in ["flow_time", "Ranks", "rank", "12 sets"] {
            assert!(svg.contains(text), "{text} is missing");
        }
        // Three bars and a band in each panel.
        assert_eq!(svg.matches("<polygon").count(), 5 * 4);
        all.panels[0].bins[1] = f64::NAN;
        let refusal = all.sheet().err().map(|e| e.to_string());
        assert!(refusal.is_some_and(|r| r.contains("nothing to draw")));
    }
}
