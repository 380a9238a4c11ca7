//! Shapes and how they become SVG and PNG bytes.

use std::{f64::consts::TAU, fmt::Display, sync::Once};

use plotters::prelude::{BitMapBackend, DrawingBackend, RGBAColor, RGBColor, SVGBackend, WHITE};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{Color, FontStyle, FontTransform, TextStyle, register_font};

use crate::error::{Error, Result};

pub(super) type Point = (f64, f64);

/// Width of every picture and height of a chart \[px\].
pub(super) const WIDTH: f64 = 900.0;
pub(super) const HEIGHT: f64 = 560.0;
/// Backends place things on integers: four steps to a pixel keep curves smooth. A PNG, which has
/// two pixels to a logical one, is averaged from these steps, which smooths its edges.
const GRID: f64 = 4.0;

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

/// Colour and opacity of a filled area.
#[derive(Clone, Copy)]
pub(super) struct Fill(RGBAColor);

impl From<RGBColor> for Fill {
    fn from(color: RGBColor) -> Self {
        Fill(color.to_rgba())
    }
}

impl From<(RGBColor, f64)> for Fill {
    fn from((color, opacity): (RGBColor, f64)) -> Self {
        Fill(color.mix(opacity))
    }
}

/// What a picture is made of, in logical pixels.
pub(super) enum Painted {
    /// Path, colour and width.
    Line(Vec<Point>, RGBColor, f64),
    Polygon(Vec<Point>, Fill),
    /// Text with its start, middle or end at a point, capitals centred on it across the line.
    Text(String, Point, HPos, Font),
    /// Text read from below with its middle at a point.
    RisingText(String, Point, Font),
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

    pub(super) fn colored(self, color: RGBColor) -> Font {
        Font { color, ..self }
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

/// A picture laid out: its size and what is on it, in logical pixels.
pub(super) struct PaintSheet {
    pub(super) size: Point,
    pub(super) shapes: Vec<Painted>,
}

impl PaintSheet {
    fn steps(&self) -> (u32, u32) {
        // Whole pixels, so that rows and columns pair up when a PNG is averaged.
        let steps = |pixels: f64| (pixels.ceil() * GRID) as u32;
        (steps(self.size.0), steps(self.size.1))
    }

    pub(super) fn svg(&self) -> Result<String> {
        let (mut text, (wide, high)) = (String::new(), self.steps());
        self.paint(SVGBackend::with_string(&mut text, (wide, high)), false)?;
        // The grid stays the view box, while viewers show the size in pixels.
        let [wide, high] = [wide, high].map(|steps| f64::from(steps) / GRID);
        let size = format!("width=\"{wide}\" height=\"{high}\"");
        let root = format!("<svg {size} stroke-linejoin=\"round\" stroke-linecap=\"round\" ");
        text.replace_range(..text.find("viewBox").unwrap_or(0), &root);
        Ok(text)
    }

    pub(super) fn png(&self) -> Result<Vec<u8>> {
        let (wide, high) = self.steps();
        let row = 3 * wide as usize;
        let mut fine = vec![0; row * high as usize];
        self.paint(BitMapBackend::with_buffer(&mut fine, (wide, high)), true)?;
        let mut pixels = Vec::with_capacity(fine.len() / 4);
        for rows in fine.chunks_exact(2 * row) {
            for i in (0..row).step_by(6).flat_map(|red| red..red + 3) {
                let square = [rows[i], rows[i + 3], rows[row + i], rows[row + i + 3]];
                pixels.push((square.map(u16::from).iter().sum::<u16>() / 4) as u8);
            }
        }
        png(&pixels, wide / 2, high / 2).map_err(undrawable)
    }

    fn paint<B: DrawingBackend>(&self, mut backend: B, raster: bool) -> Result<()> {
        let steps = |(x, y): Point| ((x * GRID).round() as i32, (y * GRID).round() as i32);
        // Backends hang text by a point above its baseline [em]; capitals are 0.73 em high.
        let (line_height, drop) = if raster {
            (DEJAVU_LINE, 0.5 * DEJAVU_LINE)
        } else {
            (SVG_LINE, 0.76)
        };
        let lift = 0.365 - drop;
        let far_corner = (self.steps().0 as i32, self.steps().1 as i32);
        let mut outcome = backend.draw_rect((0, 0), far_corner, &WHITE, true);
        for shape in &self.shapes {
            outcome = outcome.and_then(|()| match shape {
                Painted::Line(path, color, width) if raster => {
                    path.windows(2).try_for_each(|ends| {
                        backend.fill_polygon(capsule(ends[0], ends[1], *width), color)
                    })
                }
                Painted::Line(path, color, width) => {
                    let style = color.stroke_width((width * GRID) as u32);
                    backend.draw_path(path.iter().copied().map(steps), &style)
                }
                Painted::Polygon(path, fill) => {
                    backend.fill_polygon(path.iter().copied().map(steps), &fill.0)
                }
                Painted::Text(text, (x, y), side, font) => {
                    let at = steps((*x, y + lift * font.size));
                    backend.draw_text(text, &font.style(line_height, *side), at)
                }
                Painted::RisingText(text, (x, y), font) => {
                    let at = steps((x + lift * font.size, *y));
                    let style = font.style(line_height, HPos::Center);
                    backend.draw_text(text, &style.transform(FontTransform::Rotate270), at)
                }
            });
        }
        outcome.map_err(undrawable)
    }
}

/// The bytes of a PNG file of colours, three bytes a pixel.
pub(in crate::report) fn png(
    pixels: &[u8],
    width: u32,
    height: u32,
) -> std::result::Result<Vec<u8>, png::EncodingError> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, width, height);
    encoder.set_color(png::ColorType::Rgb);
    let mut writer = encoder.write_header()?;
    writer.write_image_data(pixels)?;
    writer.finish()?;
    Ok(bytes)
}

fn undrawable(cause: impl Display) -> Error {
    Error::BadInput(format!("the chart could not be drawn: {cause}"))
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
