//! Words and bars over a picture: caption, scale bar, bar of colours.

use std::sync::Once;

use plotters::prelude::{BitMapBackend, DrawingBackend};
use plotters::style::{FontStyle, TextStyle, register_font};

use super::color::{map_color, srgb};
use crate::error::{Error, Result, readable};

const INK: [u8; 3] = [40, 40, 40];
/// Name of the embedded font, apart from the plots' own entry.
const FAMILY: &str = "DejaVu Sans of pictures";
/// Longest scale bar and the bar of colours \[share of the picture's width\].
const LONGEST: f64 = 0.22;
/// Text is drawn this much larger and averaged: letters are set on whole pixels, which shows.
const LARGER: usize = 4;

/// A finished picture on which is written.
pub(super) struct Caption<'a> {
    pixels: &'a mut [u8],
    width: usize,
    height: usize,
    /// Height of a line \[px\]: it grows with the picture.
    pub(super) line: usize,
}

/// Which end of a text stands at a place.
#[derive(Clone, Copy)]
pub(super) enum LabelSide {
    Left,
    Middle,
    Right,
}

impl<'a> Caption<'a> {
    pub(super) fn on(pixels: &'a mut [u8], width: usize, height: usize) -> Caption<'a> {
        static FONT: Once = Once::new();
        FONT.call_once(|| {
            // A failure shows when text is drawn.
            let _ = register_font(FAMILY, FontStyle::Normal, dejavu::sans::regular());
        });
        Caption {
            pixels,
            width,
            height,
            line: (width.min(height) / 42).max(11),
        }
    }

    /// Text at the upper left.
    pub(super) fn caption(&mut self, text: &str) -> Result<()> {
        self.text(text, (self.line, self.line), LabelSide::Left)
    }

    /// A bar of a round length at the lower left, with the length over it, for a part of the picture so many pixels
    /// wide.
    pub(super) fn scale_bar(&mut self, pixels_per_metre: f64, width: usize) -> Result<()> {
        let (metres, name) = round_length(LONGEST * width as f64 / pixels_per_metre);
        let long = (metres * pixels_per_metre).round() as usize;
        let (left, bottom) = (self.line, self.height - self.line);
        let thick = (self.line / 7).max(2);
        let top = bottom - thick - self.line / 3;
        self.bar((left, bottom - thick), (left + long, bottom), INK);
        for end in [left, left + long - thick.min(long)] {
            self.bar((end, top), (end + thick, bottom), INK);
        }
        let over = top - self.line * 5 / 4;
        self.text(&name, (left + long / 2, over), LabelSide::Middle)
    }

    /// The bar of colours at the lower right, with its name and the numbers at its ends.
    pub(crate) fn color_bar(&mut self, name: &str, ends: (f64, f64)) -> Result<()> {
        let long = (LONGEST * self.width as f64) as usize;
        let high = self.line * 2 / 3;
        let left = self.width - self.line - long;
        let top = self.height - self.line * 5 / 2 - high;
        for column in 0..long {
            let color = map_color((column as f32 + 0.5) / long as f32).map(srgb);
            let at = left + column;
            self.bar((at, top), (at + 1, top + high), color);
        }
        let below = top + high + self.line / 3;
        self.text(&short(ends.0), (left, below), LabelSide::Left)?;
        self.text(&short(ends.1), (left + long, below), LabelSide::Right)?;
        let above = top - self.line * 3 / 2;
        self.text(name, (left + long / 2, above), LabelSide::Middle)
    }

    /// A line of text; what reaches out of the picture is cut off.
    pub(super) fn text(
        &mut self,
        text: &str,
        (x, y): (usize, usize),
        side: LabelSide,
    ) -> Result<()> {
        let size = (self.line * LARGER) as f64;
        let style = TextStyle::from((FAMILY, size, FontStyle::Normal));
        let (from, to) = style.font.layout_box(text).map_err(unwritable)?;
        let long = to.0.max(0) as usize / LARGER + 1;
        // Letters such as g reach below their box, and some above it.
        let room = self.line / 2;
        let high = (to.1 - from.1).max(0) as usize / LARGER + 2 * room;
        let left = match side {
            LabelSide::Left => x,
            LabelSide::Middle => x.saturating_sub(long / 2),
            LabelSide::Right => x.saturating_sub(long),
        };
        let mut large = vec![255; 3 * long * high * LARGER * LARGER];
        let sheet = ((long * LARGER) as u32, (high * LARGER) as u32);
        BitMapBackend::with_buffer(&mut large, sheet)
            .draw_text(text, &style, (0, (room * LARGER) as i32))
            .map_err(unwritable)?;
        for (row, column) in (0..high).flat_map(|row| (0..long).map(move |column| (row, column))) {
            let white = mean(&large, long * LARGER, column, row);
            self.blend(
                (left + column, (y + row).saturating_sub(room)),
                INK,
                1.0 - white,
            );
        }
        Ok(())
    }

    /// A filled rectangle, without its right and lower ends.
    fn bar(&mut self, from: (usize, usize), to: (usize, usize), color: [u8; 3]) {
        for row in from.1..to.1 {
            for column in from.0..to.0 {
                self.blend((column, row), color, 1.0);
            }
        }
    }

    fn blend(&mut self, (x, y): (usize, usize), color: [u8; 3], share: f32) {
        if x < self.width && y < self.height {
            let start = 3 * (y * self.width + x);
            for (byte, ink) in self.pixels[start..start + 3].iter_mut().zip(color) {
                let mixed = f32::from(*byte) * (1.0 - share) + f32::from(ink) * share;
                *byte = mixed.round() as u8;
            }
        }
    }
}

/// Mean of the red bytes under one pixel, 0 to 1.
fn mean(large: &[u8], columns: usize, x: usize, y: usize) -> f32 {
    let mut sum = 0;
    for row in y * LARGER..(y + 1) * LARGER {
        for column in x * LARGER..(x + 1) * LARGER {
            sum += u32::from(large[3 * (row * columns + column)]);
        }
    }
    sum as f32 / (255 * LARGER * LARGER) as f32
}

fn unwritable(cause: impl std::fmt::Display) -> Error {
    Error::BadInput(format!(
        "the words on the picture could not be drawn: {cause}; leave out its caption and values"
    ))
}

/// The largest length of 1, 2 or 5 times a power of ten up to `limit` \[m\], and its name.
fn round_length(limit: f64) -> (f64, String) {
    let decade = 10_f64.powf(limit.log10().floor());
    let step = [5.0, 2.0, 1.0]
        .into_iter()
        .find(|step| step * decade <= limit);
    let metres = step.unwrap_or(1.0) * decade;
    let units = [(1.0, "m"), (1e-2, "cm"), (1e-3, "mm"), (1e-6, "µm")];
    let known = units.into_iter().find(|(size, _)| metres > 0.999 * size);
    let (size, unit) = known.unwrap_or((1.0, "m"));
    let name = format!("{} {unit}", short(metres / size));
    (metres, name)
}

/// A number in three digits.
fn short(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return readable(value);
    }
    let unit = 10_f64.powf(value.abs().log10().floor() - 2.0);
    let digits = (value / unit).round();
    // Divided by a power of ten where that is exact, or 0.3 would get 17 digits.
    let rounded = match unit < 1.0 {
        true => digits / (1.0 / unit).round(),
        false => digits * unit,
    };
    readable(rounded).replace('-', "−")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_round_and_named() {
        let named = |limit| round_length(limit).1;
        assert_eq!(named(0.23), "20 cm");
        assert_eq!(named(0.0999), "5 cm");
        assert_eq!(named(0.01), "1 cm");
        assert_eq!(named(0.009), "5 mm");
        assert_eq!(named(7.0), "5 m");
        assert_eq!(named(1.5e-3), "1 mm");
    }

    #[test]
    fn numbers_are_short() {
        assert_eq!(short(1.0 / 3.0), "0.333");
        assert_eq!(short(-0.3), "−0.3");
        assert_eq!(short(1234.5), "1230");
        assert_eq!(short(0.0), "0");
        assert_eq!(short(2.0e-7), "2e−7");
    }
}
