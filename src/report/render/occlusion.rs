//! How much light reaches each pixel, read off the z-buffer: creases and valleys are darker, ridges
//! lighter, and they throw short shadows away from the key light. This makes small wrinkles readable.
//!
//! Ambient light: in each of a few directions across the picture, the surface rises over the
//! tangent plane by some angle; the mean of its sines is hidden sky, as in Bavoil, Sainz and
//! Dimitrov, "Image-space horizon-based ambient occlusion" (SIGGRAPH 2008 talk), without their
//! exact integral. Key light: the z-buffer is followed towards the light. What the camera does not
//! see throws no shadow. Relief: where normals spread there is a ridge, where they meet a valley;
//! this shows wrinkles along the key light too, which any sum of plain lights is blind to.

use rayon::prelude::*;

use super::geometry::{Geometry, Triple32};
use super::light::KEY;
use super::visible::Visible;

/// How far ambient light looks \[share of the picture's smaller side\]: wider than a wrinkle.
const AMBIENT_REACH: f32 = 0.045;
/// Directions and steps along each; with the turn from pixel to pixel they leave no pattern.
const DIRECTIONS: usize = 5;
const STEPS: usize = 5;
/// Sine of the rise that is still flat: facets and single precision must not darken a plane.
const FLAT: f32 = 0.06;
/// Share of the ambient light that a fully hidden pixel loses, before it is cut off.
const AMBIENT_STRENGTH: f32 = 1.6;

/// How far a shadow reaches \[share of the picture's smaller side\].
const SHADOW_REACH: f32 = 0.16;
const SHADOW_STEPS: usize = 20;
/// Width of a shadow's soft edge a length of its throw.
const SOFTNESS: f32 = 0.12;
/// What is this much nearer than the light's ray passes before it \[share of the reach\].
const THICKNESS: f32 = 0.6;

/// Side of the square of pixels over which directions turn and results are averaged \[px\].
const TILE: usize = 4;
const TURNS: usize = TILE * TILE;
/// Neighbours further from the tangent plane than this are on another layer \[px\].
const LAYER: f32 = 1.5;

/// Distance over which normals are compared \[share of the picture's smaller side\].
const RELIEF_REACH: f32 = 0.004;
/// Change of the light at the sharpest ridge or valley.
const RELIEF_STRENGTH: f32 = 0.55;

/// Light that reaches a pixel.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Reached {
    /// Of the light from all around, 0 to 1.
    pub(super) ambient: f32,
    /// Of the key light, 0 to 1.
    pub(super) key: f32,
    /// Of all light, above 1 on ridges and below in valleys.
    pub(super) relief: f32,
}

/// All light, where nothing is seen.
const OPEN: Reached = Reached {
    ambient: 1.0,
    key: 1.0,
    relief: 1.0,
};

/// The picture at the middles of its pixels, row by row.
struct Middles {
    width: usize,
    height: usize,
    /// Towards the viewer \[px\]; [`NOWHERE`] where nothing is seen. Apart from the normals, because
    /// many of them are read for each pixel.
    depths: Vec<f32>,
    normals: Vec<Triple32>,
}

const NOWHERE: f32 = f32::NEG_INFINITY;

/// Where a pixel looks for ambient light: right, up and their length \[px\].
type Look = [[Triple32; STEPS]; DIRECTIONS];

/// The light of every pixel, row by row.
pub(super) fn reached(geometry: &Geometry, visible: &Visible) -> Vec<Reached> {
    let middles = Middles::of(geometry, visible);
    let reach = AMBIENT_REACH * middles.side();
    let looks: Vec<Look> = (0..TURNS).map(|turn| look(share(turn), reach)).collect();
    let raw = each(visible, |x, y| middles.reached(&looks, x, y));
    each(visible, |x, y| middles.averaged(&raw, x, y))
}

fn each<T: Send>(visible: &Visible, value: impl Fn(usize, usize) -> T + Sync) -> Vec<T> {
    let pixels = (0..visible.width * visible.height).into_par_iter();
    pixels
        .map(|index| value(index % visible.width, index / visible.width))
        .collect()
}

/// The turn of a pixel, in an order that scatters over its tile.
fn turn(x: usize, y: usize) -> usize {
    (5 * (x % TILE) + 7 * TILE * (y % TILE)) % TURNS
}

/// A turn as a share of one step.
fn share(turn: usize) -> f32 {
    (turn as f32 + 0.5) / TURNS as f32
}

fn look(turn: f32, reach: f32) -> Look {
    std::array::from_fn(|direction| {
        let angle = (direction as f32 + turn) / DIRECTIONS as f32 * std::f32::consts::TAU;
        std::array::from_fn(|step| {
            // Closer steps near the pixel, where narrow creases are.
            let part = (step + 1) as f32 / STEPS as f32;
            let far = 1.0 + part * part * (reach - 1.0);
            [far * angle.cos(), far * angle.sin(), far]
        })
    })
}

impl Middles {
    fn of(geometry: &Geometry, visible: &Visible) -> Middles {
        let seen = each(visible, |x, y| match visible.middle(x, y) {
            Some((triangle, depth)) => {
                let spot = geometry.spot(triangle, x as f32 + 0.5, y as f32 + 0.5);
                (depth, spot.normal)
            }
            None => (NOWHERE, [0.0; 3]),
        });
        let (depths, normals) = seen.into_iter().unzip();
        Middles {
            width: visible.width,
            height: visible.height,
            depths,
            normals,
        }
    }

    /// Depth at a place of the picture \[px\].
    fn depth(&self, x: f32, y: f32) -> f32 {
        // Negative numbers would become 0.
        if x < 0.0 || y < 0.0 || x >= self.width as f32 || y >= self.height as f32 {
            return NOWHERE;
        }
        self.depths[y as usize * self.width + x as usize]
    }

    fn side(&self) -> f32 {
        self.width.min(self.height) as f32
    }

    fn reached(&self, looks: &[Look], x: usize, y: usize) -> Reached {
        let index = y * self.width + x;
        let (depth, normal, turn) = (self.depths[index], self.normals[index], turn(x, y));
        if depth == NOWHERE {
            return OPEN;
        }
        let from = [x as f32 + 0.5, y as f32 + 0.5, depth];
        // What is turned away from the key light has none to lose.
        let lit = (0..3).map(|i| normal[i] * KEY[i]).sum::<f32>() > 0.0;
        Reached {
            ambient: self.ambient(from, normal, &looks[turn]),
            key: if lit {
                self.key(from, share(turn))
            } else {
                0.0
            },
            relief: self.relief(x, y),
        }
    }

    fn ambient(&self, from: Triple32, normal: Triple32, look: &Look) -> f32 {
        // Squared length at which nothing is hidden any more [px²].
        let limit = (1.5 * AMBIENT_REACH * self.side()).powi(2);
        let mut hidden = 0.0;
        for steps in look {
            let mut highest = 0.0_f32;
            for [right, up, far] in steps {
                let rise = self.depth(from[0] + right, from[1] - up) - from[2];
                let square = far * far + rise * rise;
                // What is far in front, such as another layer, hides less and less.
                if square < limit {
                    let above = normal[0] * right + normal[1] * up + normal[2] * rise;
                    let near = 1.0 - square / limit;
                    highest = highest.max((above / square.sqrt() - FLAT) * near);
                }
            }
            hidden += highest / DIRECTIONS as f32;
        }
        (1.0 - AMBIENT_STRENGTH * hidden).max(0.0)
    }

    /// Share of the key light that passes over what stands between.
    fn key(&self, from: Triple32, turn: f32) -> f32 {
        let reach = SHADOW_REACH * self.side();
        let mut hidden = 0.0_f32;
        for step in 0..SHADOW_STEPS {
            let part = (step as f32 + turn) / SHADOW_STEPS as f32;
            // From 1.5 px on: nearer, the surface would shade itself.
            let far = 1.5 + part * part * reach;
            let depth = self.depth(from[0] + far * KEY[0], from[1] - far * KEY[1]);
            let over = depth - (from[2] + far * KEY[2]);
            if over > 0.5 {
                let inside = ((over - 0.5) / (SOFTNESS * far + 0.5)).min(1.0);
                // Neither end may show as an edge: that of the reach, nor that of the thickness.
                let passing = (over / (THICKNESS * reach)).min(1.0);
                hidden = hidden.max(inside * (1.0 - part * part) * (1.0 - passing * passing));
            }
        }
        1.0 - hidden
    }

    /// How much lighter a ridge or darker a valley is drawn.
    fn relief(&self, x: usize, y: usize) -> f32 {
        let far = (RELIEF_REACH * self.side()).round().max(1.0) as isize;
        let normal = |right: isize, up: isize| self.neighbour(x, y, right, up);
        let spread =
            normal(far, 0)[0] - normal(-far, 0)[0] + normal(0, far)[1] - normal(0, -far)[1];
        1.0 + RELIEF_STRENGTH * spread / (1.0 + spread.abs())
    }

    /// Normal of a pixel nearby; the pixel's own, where another layer or nothing is seen there.
    fn neighbour(&self, x: usize, y: usize, right: isize, up: isize) -> Triple32 {
        let middle = y * self.width + x;
        let own = self.normals[middle];
        let (Some(x), Some(y)) = (x.checked_add_signed(right), y.checked_add_signed(-up)) else {
            return own;
        };
        if x >= self.width || y >= self.height {
            return own;
        }
        let other = y * self.width + x;
        match self.above(middle, other, [right as f32, up as f32]).abs() < LAYER {
            true => self.normals[other],
            false => own,
        }
    }

    /// How far a pixel's surface is above the tangent plane of another \[px\].
    fn above(&self, middle: usize, other: usize, [right, up]: [f32; 2]) -> f32 {
        let normal = self.normals[middle];
        let rise = self.depths[other] - self.depths[middle];
        normal[0] * right + normal[1] * up + normal[2] * rise
    }

    /// Mean over a tile's worth of neighbours that lie on the same surface.
    fn averaged(&self, raw: &[Reached], x: usize, y: usize) -> Reached {
        let middle = y * self.width + x;
        if self.depths[middle] == NOWHERE {
            return OPEN;
        }
        let (mut ambient, mut key, mut count) = (0.0, 0.0, 0.0);
        let span = |middle: usize, end: usize| {
            middle.saturating_sub(TILE / 2 - 1)..(middle + TILE / 2 + 1).min(end)
        };
        for row in span(y, self.height) {
            for column in span(x, self.width) {
                let other = row * self.width + column;
                let apart = [column as f32 - x as f32, y as f32 - row as f32];
                if self.above(middle, other, apart).abs() < LAYER {
                    ambient += raw[other].ambient;
                    key += raw[other].key;
                    count += 1.0;
                }
            }
        }
        // The pixel itself is always counted.
        Reached {
            ambient: ambient / count,
            key: key / count,
            relief: raw[middle].relief,
        }
    }
}
