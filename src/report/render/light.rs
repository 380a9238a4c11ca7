//! Lights, and the picture they make: a raking key light from the left that wrinkles answer to, a
//! weak fill from the right, a rim light from behind, and light from all around.
//!
//! All lights are fixed to the camera, so that every mesh and every view is lit alike. Colours are
//! added up in linear light and written in sRGB.

use rayon::prelude::*;

use super::color::{BACKGROUND, LinearColor, linear, srgb};
use super::geometry::{Geometry, Spot, Triple32, unit};
use super::occlusion::{Reached, reached};
use super::visible::{FINE, Visible, place};

/// Direction towards the key light: right, up, towards the viewer. It stands 21° over a sheet that
/// faces the viewer and 18° over one that lies flat in the three-quarter view.
pub(super) const KEY: Triple32 = [-0.927, 0.130, 0.352];
const FILL: Triple32 = [0.48, -0.37, 0.795];
const RIM: Triple32 = [0.35, 0.80, -0.487];
/// Strengths; front-lit cloth stays below full white.
const KEY_STRENGTH: f32 = 1.5;
const FILL_STRENGTH: f32 = 0.42;
const RIM_STRENGTH: f32 = 0.26;
const AMBIENT_STRENGTH: f32 = 0.30;
/// Share of the light that a cloth's fibres reflect without its colour, and how narrow that is.
const GLOSS: f32 = 0.10;
const GLOSS_POWER: i32 = 18;

/// Colour of what is seen, before lighting.
pub(super) type Paint<'a> = &'a (dyn Fn(&Spot) -> LinearColor + Sync);

/// The lit picture as red, green and blue bytes, row by row.
pub(super) fn lit(geometry: &Geometry, visible: &Visible, paint: Paint) -> Vec<u8> {
    let light = reached(geometry, visible);
    let mut pixels = vec![0; 3 * visible.width * visible.height];
    pixels
        .par_chunks_mut(3 * visible.width)
        .enumerate()
        .for_each(|(y, row)| {
            for (x, bytes) in row.chunks_exact_mut(3).enumerate() {
                let reached = light[y * visible.width + x];
                let color = pixel(geometry, visible, paint, reached, x, y);
                bytes.copy_from_slice(&color.map(srgb));
            }
        });
    pixels
}

/// Mean colour of a pixel's samples. Samples of one triangle are lit once, at their mean place.
fn pixel(
    geometry: &Geometry,
    visible: &Visible,
    paint: Paint,
    reached: Reached,
    x: usize,
    y: usize,
) -> LinearColor {
    const SAMPLES: usize = FINE * FINE;
    let mut seen = [(None, 0.0, 0.0, 0.0); SAMPLES];
    let mut kinds = 0;
    for sample in 0..SAMPLES {
        let (column, row) = (FINE * x + sample % FINE, FINE * y + sample / FINE);
        let triangle = visible.triangle(column, row);
        let known = seen[..kinds].iter().position(|kind| kind.0 == triangle);
        let kind = known.unwrap_or(kinds);
        kinds = kinds.max(kind + 1);
        let (_, count, right, down) = seen[kind];
        seen[kind] = (
            triangle,
            count + 1.0,
            right + place(column),
            down + place(row),
        );
    }
    let mut sum = [0.0; 3];
    for &(triangle, count, right, down) in &seen[..kinds] {
        let color = match triangle {
            Some(triangle) => {
                let spot = geometry.spot(triangle, right / count, down / count);
                shaded(&spot, paint(&spot), reached)
            }
            None => linear(BACKGROUND),
        };
        sum = add(sum, color, count / SAMPLES as f32);
    }
    sum
}

fn shaded(spot: &Spot, color: LinearColor, reached: Reached) -> LinearColor {
    let normal = spot.normal;
    let facing = |light: Triple32| dot(normal, light).max(0.0);
    let key = KEY_STRENGTH * facing(KEY) * reached.key;
    // Hidden places get less of the wide lights too.
    let fill = FILL_STRENGTH * facing(FILL) * reached.ambient;
    let rim = RIM_STRENGTH * facing(RIM) * reached.ambient;
    // More light comes from above than from below.
    let around = AMBIENT_STRENGTH * (0.75 + 0.25 * normal[1]) * reached.ambient;
    let diffuse = (key + fill + rim + around) * reached.relief;
    let halfway = unit([KEY[0], KEY[1], KEY[2] + 1.0]);
    let gloss = GLOSS * key * facing(halfway).powi(GLOSS_POWER);
    color.map(|part| part * diffuse + gloss)
}

fn dot(a: Triple32, b: Triple32) -> f32 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

fn add(sum: LinearColor, color: LinearColor, share: f32) -> LinearColor {
    [
        sum[0] + share * color[0],
        sum[1] + share * color[1],
        sum[2] + share * color[2],
    ]
}
