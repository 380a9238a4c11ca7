//! Colours: the cloth's two sides, obstacles, the background, and maps from numbers to colours.

use crate::error::{Result, bad_input};

/// Red, green and blue in linear light, 0 to 1.
pub(super) type LinearColor = [f32; 3];

/// Front and back of the cloth, and obstacles, as sRGB bytes. Middle tones: there is room for both
/// highlights and shadows.
pub(super) const FRONT: [u8; 3] = [128, 152, 184];
pub(super) const BACK: [u8; 3] = [186, 162, 136];
pub(super) const OBSTACLE: [u8; 3] = [158, 158, 158];
pub(super) const BACKGROUND: [u8; 3] = [240, 240, 241];

/// Grey for nothing, then yellow, vermilion and dark red; lightness falls, so that it can be read
/// without colours, but stays high enough for the shading to show.
const RISING: [[u8; 3]; 5] = [
    [196, 200, 206],
    [236, 212, 130],
    [238, 160, 70],
    [213, 94, 20],
    [150, 30, 44],
];
/// Colour of a number at a share of the map, 0 to 1.
pub(crate) fn map_color(share: f32) -> LinearColor {
    let place = share.clamp(0.0, 1.0) * (RISING.len() - 1) as f32;
    let below = (place as usize).min(RISING.len() - 2);
    let part = place - below as f32;
    let (low, high) = (RISING[below], RISING[below + 1]);
    // Mixed as they look, which sRGB is close to.
    let mix = |i: usize| f32::from(low[i]) * (1.0 - part) + f32::from(high[i]) * part;
    [mix(0), mix(1), mix(2)].map(|byte| decoded(byte / 255.0))
}

/// A number at each vertex of the cloth, shown as its colour.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct VertexValues<'a> {
    /// One a vertex. Where one is not finite, the lowest colour is shown.
    pub values: &'a [f64],
    /// Name and unit beside the bar of colours, such as `|θ| [rad]`.
    pub label: &'a str,
    /// Numbers at the ends of the map; without it those of the data. Give it for the frames of a film.
    pub range: Option<(f64, f64)>,
}

impl VertexValues<'_> {
    /// Numbers at the ends of the map.
    pub(super) fn ends(&self, vertices: usize) -> Result<(f64, f64)> {
        let VertexValues { label, values, .. } = self;
        if values.len() != vertices {
            return bad_input(format!(
                "'{label}' has {} values for {vertices} vertices; give one a vertex",
                values.len()
            ));
        }
        if let Some((low, high)) = self.range {
            return match low < high && (high - low).is_finite() {
                true => Ok((low, high)),
                false => bad_input(format!(
                    "the range ({low}, {high}) of '{label}' is empty; give a low and a higher end"
                )),
            };
        }
        let finite = || values.iter().copied().filter(|value| value.is_finite());
        let (low, high) = (
            finite().fold(f64::INFINITY, f64::min),
            finite().fold(f64::NEG_INFINITY, f64::max),
        );
        if low > high {
            return bad_input(format!("'{label}' has no finite value; leave it out"));
        }
        Ok(match low == high {
            // A constant still needs a range: of one, upwards.
            true => (low, low + low.abs().max(1.0)),
            false => (low, high),
        })
    }

    /// Places on the map, 0 to 1.
    pub(super) fn shares(&self, (low, high): (f64, f64)) -> Vec<f32> {
        let share = |value: &f64| match value.is_finite() {
            true => ((value - low) / (high - low)).clamp(0.0, 1.0) as f32,
            false => 0.0,
        };
        self.values.iter().map(share).collect()
    }
}

/// Linear light of sRGB bytes.
pub(super) fn linear(bytes: [u8; 3]) -> LinearColor {
    bytes.map(|byte| decoded(f32::from(byte) / 255.0))
}

/// The transfer function of sRGB (IEC 61966-2-1) and its inverse.
fn decoded(value: f32) -> f32 {
    match value <= 0.04045 {
        true => value / 12.92,
        false => ((value + 0.055) / 1.055).powf(2.4),
    }
}

/// The byte of a linear light; more than full light is white.
pub(super) fn srgb(light: f32) -> u8 {
    let value = match light <= 0.003_130_8 {
        true => 12.92 * light,
        false => 1.055 * light.powf(1.0 / 2.4) - 0.055,
    };
    (255.0 * value).round() as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every byte survives the way to linear light and back.
    #[test]
    fn srgb_goes_both_ways() {
        for byte in 0..=255 {
            assert_eq!(srgb(linear([byte; 3])[0]), byte);
        }
    }

    /// Grey is at the low end of the map, red at the high one.
    #[test]
    fn maps_have_their_ends() {
        let values = VertexValues {
            values: &[-1.0, 0.0, 4.0, f64::NAN],
            label: "κ",
            ..VertexValues::default()
        };
        let ends = values.ends(4).expect("a range");
        assert_eq!(ends, (-1.0, 4.0));
        assert_eq!(values.shares(ends), [0.0, 0.2, 1.0, 0.0]);
        assert_eq!(
            [0.0, 1.0].map(|s| map_color(s).map(srgb)),
            [RISING[0], RISING[4]]
        );
    }

    /// Refusals name the values.
    #[test]
    fn refuses_values_that_do_not_fit() {
        let refusal = |values: &[f64], range| {
            let values = VertexValues {
                values,
                label: "κ",
                range,
            };
            values.ends(2).expect_err("bad values").to_string()
        };
        assert!(refusal(&[1.0], None).contains("'κ' has 1 values for 2 vertices"));
        assert!(refusal(&[1.0, 2.0], Some((2.0, 2.0))).contains("(2, 2) of 'κ' is empty"));
        assert!(refusal(&[f64::NAN; 2], None).contains("no finite value"));
    }
}
