//! Shapes and how they become SVG and PNG bytes.

use std::{f64::consts::TAU, fmt::Display, sync::Once};

use plotters::prelude::{BitMapBackend, DrawingBackend, RGBColor, SVGBackend, WHITE};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{Color, FontStyle, FontTransform, TextStyle, register_font};

use super::Mark;
use crate::error::{Error, Result};

pub(super) type Point = (f64, f64);

pub(super) const SIZE: Point = (900.0, 560.0);
pub(super) const WHOLE_PICTURE: (Point, Point) = ((0.0, SIZE.0), (0.0, SIZE.1));
/// Backends place things on integers: four steps to a pixel keep curves smooth. A PNG, which has
/// two pixels to a logical one, is averaged from these steps, which smooths its edges.
const GRID: f64 = 4.0;
const STEPS: (u32, u32) = ((SIZE.0 * GRID) as u32, (SIZE.1 * GRID) as u32);

pub(super) const INK: RGBColor = RGBColor(40, 40, 40);
pub(super) const TITLE: Font = font(20.0, FontStyle::Bold, INK);
pub(super) const LABEL: Font = font(15.0, FontStyle::Normal, INK);
pub(super) const SMALL: Font = font(13.0, FontStyle::Normal, INK);
pub(super) const NOTE: Font = font(13.0, FontStyle::Normal, RGBColor(115, 115, 115));
/// Name of the embedded font; a viewer of an SVG that lacks DejaVu takes the next family.
const FAMILY: &str = "DejaVu Sans, Verdana, sans-serif";
/// `plotters` sizes fonts by the height of a line \[em\]: DejaVu's own, and a fixed one in SVG.
const DEJAVU_LINE: f64 = 1.164;
const SVG_LINE: f64 = 1.24;

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

/// What a picture is made of, in logical pixels.
pub(super) enum Shape {
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
pub(super) fn trace(
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

/// The embedded font at a size \[px to the em\].
#[derive(Clone, Copy)]
pub(super) struct Font {
    pub(super) size: f64,
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
pub(super) fn register_fonts() {
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

    pub(super) fn width(self, text: &str) -> f64 {
        let layout = self.style(DEJAVU_LINE, HPos::Left).font.layout_box(text);
        layout.map_or(0.0, |(_, end)| f64::from(end.0) / GRID)
    }

    pub(super) fn widest<'a>(self, texts: impl Iterator<Item = &'a String>) -> f64 {
        texts.map(|text| self.width(text)).fold(0.0, f64::max)
    }

    /// The font, smaller where the text would be longer than `room` \[px\].
    pub(super) fn fitted(self, text: &str, room: f64) -> Font {
        let size = self.size * (room / self.width(text)).min(1.0);
        Font { size, ..self }
    }

    /// The text in lines no longer than `limit` \[px\], unless one word is.
    pub(super) fn wrapped(self, text: &str, limit: f64) -> Vec<String> {
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

pub(super) fn svg(shapes: &[Shape]) -> Result<Vec<u8>> {
    let mut text = String::new();
    paint(SVGBackend::with_string(&mut text, STEPS), false, shapes)?;
    // The grid stays the view box, while viewers show the size in pixels.
    let size = format!("width=\"{}\" height=\"{}\"", SIZE.0, SIZE.1);
    let root = format!("<svg {size} stroke-linejoin=\"round\" stroke-linecap=\"round\" ");
    text.replace_range(..text.find("viewBox").unwrap_or(0), &root);
    Ok(text.into_bytes())
}

pub(super) fn png(shapes: &[Shape]) -> Result<Vec<u8>> {
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
