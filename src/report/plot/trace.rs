//! Lines, markers, error bars and bands of a series as shapes, cut at the edges of the plot.

use std::f64::consts::TAU;

use plotters::prelude::{RGBColor, WHITE};

use super::Mark;
use super::paint::{Painted, Point};

/// An area so large that nothing is cut.
pub(super) const WHOLE_PICTURE: (Point, Point) = ((0.0, 1e4), (0.0, 1e4));

/// Okabe and Ito's colour-blind-safe palette without its yellow (too pale for lines), each with a
/// marker: corners, turn of the first corner, radii \[px\] of even and odd corners.
const LOOKS: [(RGBColor, (u32, f64, f64, f64)); 7] = [
    (RGBColor(0x00, 0x00, 0x00), (24, 0.0, 4.2, 4.2)),
    (RGBColor(0xE6, 0x9F, 0x00), (4, 0.125, 5.3, 5.3)),
    (RGBColor(0x56, 0xB4, 0xE9), (3, 0.75, 5.8, 5.8)),
    (RGBColor(0x00, 0x9E, 0x73), (4, 0.0, 5.8, 5.8)),
    (RGBColor(0x00, 0x72, 0xB2), (3, 0.25, 5.8, 5.8)),
    (RGBColor(0xD5, 0x5E, 0x00), (8, 0.0, 7.0, 2.6)),
    (RGBColor(0xCC, 0x79, 0xA7), (8, 0.125, 7.0, 2.6)),
];

/// Error bars must show beside their marker, which is therefore smaller than others.
const MARKER_WITH_BAR: f64 = 0.75;
const BAR_CAP: f64 = 3.5;
/// Opacity of bands: three on top of each other leave the grid visible.
const BAND_OPACITY: f64 = 0.16;

/// How a series is drawn: its mark, its colour and marker, and the area (x and y ends) to draw in.
#[derive(Clone, Copy)]
pub(super) struct Pen {
    pub(super) mark: Mark,
    pub(super) look: usize,
    pub(super) area: (Point, Point),
}

impl Pen {
    fn color(self) -> RGBColor {
        LOOKS[self.look % LOOKS.len()].0
    }

    /// Whether the palette was used up, and colours return with other dashes and markers.
    fn again(self) -> bool {
        self.look / LOOKS.len() % 2 == 1
    }

    /// The line along `path` and the markers at `marked`, with error bars whose low and high ends are
    /// in `spread`, as far as the mark asks for them.
    pub(super) fn trace(self, path: &[Point], marked: &[Point], spread: &[Point]) -> Vec<Painted> {
        let (dashes, width) = self.dashes();
        let mut shapes = Vec::new();
        for line in self.lines(path) {
            let pieces = clipped(&line, self.area).into_iter();
            let dashes = pieces.flat_map(|piece| dashed(&piece, dashes));
            shapes.extend(dashes.map(|dash| Painted::Line(dash, self.color(), width)));
        }
        // A lone point has no line to show it.
        let lone = path.len() == 1 && !matches!(self.mark, Mark::Level | Mark::Upright);
        if self.mark.has_markers() {
            shapes.extend(self.bars(marked, spread));
        }
        if self.mark.has_markers() || lone {
            shapes.extend(self.markers(marked, !spread.is_empty()));
        }
        shapes
    }

    /// Lengths of dashes and gaps, and the line's width, which round caps add to the former.
    fn dashes(self) -> ([f64; 4], f64) {
        match (self.mark, self.again()) {
            (Mark::Thin | Mark::Level | Mark::Upright, _) => ([3.5, 4.0, 3.5, 4.0], 1.25),
            (Mark::Dashed, false) => ([6.0, 6.0, 6.0, 6.0], 2.0),
            (Mark::Dashed, true) => ([0.1, 5.0, 0.1, 5.0], 2.0),
            (_, true) => ([9.0, 5.0, 0.1, 5.0], 2.0),
            (_, false) => ([f64::INFINITY, 0.0, 0.0, 0.0], 2.0),
        }
    }

    fn lines(self, path: &[Point]) -> Vec<Vec<Point>> {
        let ((left, right), (bottom, top)) = self.area;
        match self.mark {
            Mark::Points | Mark::Hollow => Vec::new(),
            Mark::Line | Mark::Dashed | Mark::Thin | Mark::LinePoints => vec![path.to_vec()],
            Mark::Level => path
                .iter()
                .map(|p| vec![(left, p.1), (right, p.1)])
                .collect(),
            Mark::Upright => path
                .iter()
                .map(|p| vec![(p.0, bottom), (p.0, top)])
                .collect(),
        }
    }

    fn markers(self, marked: &[Point], with_bars: bool) -> Vec<Painted> {
        let (color, (corners, turn, even, odd)) = LOOKS[self.look % LOOKS.len()];
        let hollow = self.mark == Mark::Hollow || self.again();
        let (inside, edge) = if hollow { (WHITE, 1.6) } else { (color, 1.0) };
        let size = if with_bars { MARKER_WITH_BAR } else { 1.0 };
        let visible = |point: &&Point| clip(**point, **point, self.area).is_some();
        let mut shapes = Vec::new();
        for &point in marked.iter().filter(visible) {
            let outline = marker_outline(point, (corners, turn, size * even, size * odd));
            shapes.push(Painted::Polygon(outline.clone(), inside.into()));
            shapes.push(Painted::Line(outline, color, edge));
        }
        shapes
    }

    /// Error bars; one with an end that is not a number is left out.
    fn bars(self, marked: &[Point], spread: &[Point]) -> Vec<Painted> {
        let mut shapes = Vec::new();
        for (&(x, _), &(low, high)) in marked.iter().zip(spread) {
            let cap = |y: f64| [(x - BAR_CAP, y), (x + BAR_CAP, y)];
            // `clip` takes what is not a number for the whole range.
            if low.is_nan() || high.is_nan() {
                continue;
            }
            for line in [[(x, low), (x, high)], cap(low), cap(high)] {
                let pieces = clipped(&line, self.area).into_iter();
                shapes.extend(pieces.map(|piece| Painted::Line(piece, self.color(), 1.25)));
            }
        }
        shapes
    }

    /// The pale area between the low and high ends along a line; nothing for markers.
    pub(super) fn band(self, path: &[Point], spread: &[Point]) -> Vec<Painted> {
        if self.mark.has_markers() {
            return Vec::new();
        }
        let ends: Vec<(f64, Point)> = path
            .iter()
            .map(|p| p.0)
            .zip(spread.iter().copied())
            .collect();
        let stretches = ends.split(|(_, ends)| ends.0.is_nan() || ends.1.is_nan());
        let outline = |stretch: &[(f64, Point)]| {
            let low = stretch.iter().map(|&(x, ends)| (x, ends.0));
            let high = stretch.iter().rev().map(|&(x, ends)| (x, ends.1));
            clipped_polygon(low.chain(high).collect(), self.area)
        };
        let visible = stretches.map(outline).filter(|path| path.len() > 2);
        visible
            .map(|path| Painted::Polygon(path, (self.color(), BAND_OPACITY).into()))
            .collect()
    }
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

/// The part of a polygon inside an area (Sutherland and Hodgman 1974), cut at one edge after the
/// other.
fn clipped_polygon(mut path: Vec<Point>, (x, y): (Point, Point)) -> Vec<Point> {
    let swap = |p: Point| (p.1, p.0);
    for ends in [x, y] {
        for (edge, sign) in [(ends.0.min(ends.1), 1.0), (ends.0.max(ends.1), -1.0)] {
            let depth = |p: Point| sign * (p.0 - edge);
            let next = path.iter().cycle().skip(1);
            let sides: Vec<(Point, Point)> = path.iter().copied().zip(next.copied()).collect();
            path = Vec::new();
            for (a, b) in sides {
                if depth(a) >= 0.0 {
                    path.push(a);
                }
                if (depth(a) >= 0.0) != (depth(b) >= 0.0) {
                    let part = depth(a) / (depth(a) - depth(b));
                    path.push((edge, a.1 + part * (b.1 - a.1)));
                }
            }
        }
        // Twice: y is cut as if it were x, and all is back in place at the end.
        path = path.into_iter().map(swap).collect();
    }
    path
}

/// A path cut into dashes; `lengths` \[px\] are dash, gap, dash, gap.
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
