//! Bars: named quantities with intervals, side by side for several series.

use plotters::style::{RGBColor, text_anchor::HPos};

use super::axis::Axis;
use super::paint::{INK, PaintSheet, Painted, Point, SMALL, WIDTH, register_fonts};
use super::{MARGIN, Scale, heading};
use crate::error::{Result, bad_input};

/// Longest name \[px\]; longer ones are written smaller.
const LONGEST_NAME: f64 = 220.0;
/// Height of a bar, and the gap between the bars of two names \[px\].
const BAR: f64 = 13.0;
const GAP: f64 = 13.0;
/// Half the height of the cap of an interval \[px\].
const CAP: f64 = 3.5;
/// Height of a line of the legend \[px\].
const LINE: f64 = 20.0;

/// Of the charts' palette: blue, orange, green, vermilion.
const COLORS: [RGBColor; 4] = [
    RGBColor(0x00, 0x72, 0xB2),
    RGBColor(0xE6, 0x9F, 0x00),
    RGBColor(0x00, 0x9E, 0x73),
    RGBColor(0xD5, 0x5E, 0x00),
];

/// A bar: where it ends, and its interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Bar {
    /// Length.
    pub value: f64,
    /// Low and high end of its interval.
    pub spread: Option<(f64, f64)>,
    /// A mark of its own beyond or before the end, such as a bound.
    pub limit: Option<f64>,
}

/// Bars of one kind, one a name.
#[derive(Debug, Clone, Default)]
pub(crate) struct BarSeries {
    /// Text in the legend.
    pub label: String,
    /// In the order of the names; none where there is none.
    pub bars: Vec<Option<Bar>>,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Bars {
    /// Heading, wrapped when it is long.
    pub title: String,
    /// Small grey line under the title.
    pub note: Option<String>,
    /// Label of the axis along which bars grow.
    pub x_label: String,
    /// Names, from top to bottom.
    pub names: Vec<String>,
    /// What is drawn.
    pub series: Vec<BarSeries>,
    /// What the limits are, in the legend; limits that would make the axis longer are cut off.
    pub limit_label: String,
}

impl Bars {
    /// Whether there is anything to draw.
    pub(crate) fn is_drawable(&self) -> bool {
        !self.names.is_empty() && self.bars().next().is_some()
    }

    fn bars(&self) -> impl Iterator<Item = &Bar> {
        let all = self.series.iter().flat_map(|s| &s.bars).flatten();
        all.filter(|b| b.value.is_finite())
    }

    pub(super) fn sheet(&self) -> Result<PaintSheet> {
        if !self.is_drawable() {
            return bad_input(format!(
                "bars '{}' have nothing to draw; add some",
                self.title
            ));
        }
        register_fonts();
        let (mut shapes, top) = heading(&self.title, self.note.as_deref());
        let top = self.legend(top, &mut shapes);
        let left = MARGIN + SMALL.widest(self.names.iter()).min(LONGEST_NAME) + 12.0;
        let pitch = BAR * self.series.len() as f64 + GAP;
        let bottom = top + pitch * self.names.len() as f64;
        let axis = Axis::new(
            Scale::Linear,
            self.range(),
            (left, WIDTH - MARGIN - 14.0),
            false,
        );
        shapes.extend(axis.grid((bottom, top)));
        for (row, name) in self.names.iter().enumerate() {
            let middle = top + pitch * (row as f64 + 0.5);
            let font = SMALL.fitted(name, LONGEST_NAME);
            shapes.push(Painted::Text(
                name.clone(),
                (left - 8.0, middle),
                HPos::Right,
                font,
            ));
            for (s, series) in self.series.iter().enumerate() {
                let bar = series.bars.get(row).copied().flatten();
                let y = top + pitch * row as f64 + 0.5 * GAP + BAR * (s as f64 + 0.5);
                if let Some(bar) = bar.filter(|b| b.value.is_finite()) {
                    shapes.extend(draw(&axis, bar, y, COLORS[s % COLORS.len()]));
                }
            }
        }
        shapes.extend(axis.outline(bottom, &self.x_label));
        Ok(PaintSheet {
            size: (WIDTH, bottom + 50.0 + MARGIN),
            shapes,
        })
    }

    /// From 0 or the lowest end to the highest; limits do not count.
    fn range(&self) -> Point {
        let (mut low, mut high) = (0.0f64, 0.0f64);
        for bar in self.bars() {
            let ends = bar.spread.unwrap_or((bar.value, bar.value));
            for value in [bar.value, ends.0, ends.1] {
                if value.is_finite() {
                    (low, high) = (low.min(value), high.max(value));
                }
            }
        }
        let span = if high > low { high - low } else { 1.0 };
        let below = if low < 0.0 { 0.03 * span } else { 0.0 };
        (low - below, high + 0.05 * span)
    }

    /// The legend in one line under the title, and where the bars begin.
    fn legend(&self, top: f64, shapes: &mut Vec<Painted>) -> f64 {
        let mut x = MARGIN;
        let y = top;
        for (s, series) in self.series.iter().enumerate() {
            if series.label.is_empty() {
                continue;
            }
            let color = COLORS[s % COLORS.len()];
            shapes.push(rectangle((x, y - 5.0), (x + 22.0, y + 5.0), color));
            let text = series.label.clone();
            let width = SMALL.width(&text);
            shapes.push(Painted::Text(text, (x + 28.0, y), HPos::Left, SMALL));
            x += 28.0 + width + 26.0;
        }
        if !self.limit_label.is_empty() && self.bars().any(|b| b.limit.is_some()) {
            shapes.push(Painted::Line(
                vec![(x + 3.0, y - 7.0), (x + 3.0, y + 7.0)],
                INK,
                2.0,
            ));
            let text = self.limit_label.clone();
            let width = SMALL.width(&text);
            shapes.push(Painted::Text(text, (x + 12.0, y), HPos::Left, SMALL));
            x += 12.0 + width;
        }
        if x > MARGIN { top + LINE } else { top }
    }
}

fn draw(axis: &Axis, bar: Bar, y: f64, color: RGBColor) -> Vec<Painted> {
    let half = 0.5 * BAR - 1.0;
    let [zero, end] = [0.0, bar.value].map(|v| axis.place(v));
    let mut shapes = vec![rectangle(
        (zero.min(end), y - half),
        (zero.max(end), y + half),
        color,
    )];
    let inside = |x: f64| x.clamp(axis.ends.0, axis.ends.1);
    if let Some((low, high)) = bar.spread.filter(|s| s.0.is_finite() && s.1.is_finite()) {
        let [low, high] = [low, high].map(|v| inside(axis.place(v)));
        shapes.push(Painted::Line(vec![(low, y), (high, y)], INK, 1.4));
        for x in [low, high] {
            shapes.push(Painted::Line(vec![(x, y - CAP), (x, y + CAP)], INK, 1.4));
        }
    }
    if let Some(limit) = bar.limit.filter(|l| l.is_finite()) {
        let x = axis.place(limit);
        // Beyond the axis it says nothing that the bar does not.
        if x <= axis.ends.1 {
            shapes.push(Painted::Line(
                vec![(x, y - half - 1.5), (x, y + half + 1.5)],
                INK,
                2.0,
            ));
        }
    }
    shapes
}

fn rectangle(from: Point, to: Point, color: RGBColor) -> Painted {
    let corners = [from, (to.0, from.1), to, (from.0, to.1)];
    Painted::Polygon(corners.into(), color.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_labels_and_intervals_are_drawn_and_nothing_is_refused() {
        let bar = |value: f64| {
            Some(Bar {
                value,
                spread: Some((value - 0.1, value + 0.1)),
                limit: Some(value + 0.05),
            })
        };
        let mut bars = Bars {
            title: "Indices".into(),
            x_label: "share".into(),
            names: vec!["ε_0".into(), "τ_f".into()],
            series: vec![
                BarSeries {
                    label: "first order".into(),
                    bars: vec![bar(0.2), None],
                },
                BarSeries {
                    label: "total".into(),
                    bars: vec![bar(0.3), bar(0.02)],
                },
            ],
            limit_label: "bound".into(),
            ..Bars::default()
        };
        let svg = bars.sheet().and_then(|s| s.svg()).expect("bars");
        for text in ["ε_0", "τ_f", "first order", "total", "bound", "share"] {
            assert!(svg.contains(text), "{text} is missing");
        }
        // Three bars of two colours, two keys of the legend.
        assert_eq!(svg.matches("<polygon").count(), 5);
        bars.series.clear();
        let refusal = bars.sheet().err().map(|e| e.to_string());
        assert!(refusal.is_some_and(|r| r.contains("nothing to draw")));
    }
}
