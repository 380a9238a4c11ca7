//! Which triangle is seen at each sample: a z-buffer, filled in bands of rows side by side.

use rayon::prelude::*;

use super::geometry::{Geometry, Weights};

/// Samples along each side of a pixel: 9 a pixel, which leaves no steps at silhouettes.
pub(super) const FINE: usize = 3;
/// Rows of pixels in a band: a few dozen bands keep all cores busy to the end.
const BAND: usize = 24;
/// Marks a sample where nothing is seen.
const NOTHING: u32 = u32::MAX;

/// The samples of a picture, row by row.
pub(super) struct Visible {
    /// Size of the picture \[px\].
    pub(super) width: usize,
    pub(super) height: usize,
    triangles: Vec<u32>,
    depths: Vec<f32>,
}

impl Visible {
    /// Draws all triangles. The nearest wins, and among equals the first: cores change nothing.
    pub(super) fn of(geometry: &Geometry, width: usize, height: usize) -> Visible {
        let samples = FINE * width * FINE * height;
        let mut visible = Visible {
            width,
            height,
            triangles: vec![NOTHING; samples],
            depths: vec![f32::NEG_INFINITY; samples],
        };
        let bands = bands(geometry, height);
        let samples = FINE * BAND * FINE * width;
        visible
            .triangles
            .par_chunks_mut(samples)
            .zip(visible.depths.par_chunks_mut(samples))
            .zip(bands)
            .enumerate()
            .for_each(|(index, ((triangles, depths), members))| {
                let mut band = Band {
                    top: index * BAND * FINE,
                    columns: FINE * width,
                    triangles,
                    depths,
                };
                for triangle in members {
                    band.draw(geometry, triangle);
                }
            });
        visible
    }

    /// The triangle at a sample, in samples from the left and from the top.
    pub(super) fn triangle(&self, column: usize, row: usize) -> Option<usize> {
        let triangle = self.triangles[row * FINE * self.width + column];
        (triangle != NOTHING).then_some(triangle as usize)
    }

    /// The triangle and the depth \[px towards the viewer\] at the middle of a pixel.
    pub(super) fn middle(&self, x: usize, y: usize) -> Option<(usize, f32)> {
        let (column, row) = (FINE * x + FINE / 2, FINE * y + FINE / 2);
        let depth = self.depths[row * FINE * self.width + column];
        self.triangle(column, row).map(|triangle| (triangle, depth))
    }
}

/// Place of a sample in the picture \[px\].
pub(super) fn place(index: usize) -> f32 {
    (index as f32 + 0.5) / FINE as f32
}

/// First and last sample whose place lies between two pixels, of `count` samples.
fn samples_between(low: f32, high: f32, count: usize) -> (usize, usize) {
    let first = (low * FINE as f32 - 0.5).ceil().max(0.0) as usize;
    // One past the last; a negative number becomes 0.
    let end = ((high * FINE as f32 - 0.5).floor() + 1.0) as usize;
    (first, end.min(count))
}

/// Smallest and largest of three.
fn range([a, b, c]: [f32; 3]) -> (f32, f32) {
    (a.min(b).min(c), a.max(b).max(c))
}

/// Triangles that reach into each band, in their order.
fn bands(geometry: &Geometry, height: usize) -> Vec<Vec<u32>> {
    let mut bands = vec![Vec::new(); height.div_ceil(BAND)];
    for triangle in 0..geometry.len() {
        let (top, bottom) = range(geometry.places(triangle).map(|corner| corner[1]));
        let (first, end) = samples_between(top, bottom, FINE * height);
        if first < end {
            let size = FINE * BAND;
            for band in &mut bands[first / size..=(end - 1) / size] {
                band.push(triangle as u32);
            }
        }
    }
    bands
}

/// Some rows of the picture's samples.
struct Band<'a> {
    top: usize,
    columns: usize,
    triangles: &'a mut [u32],
    depths: &'a mut [f32],
}

impl Band<'_> {
    fn draw(&mut self, geometry: &Geometry, triangle: u32) {
        let corners = geometry.places(triangle as usize);
        let Some(weights) = Weights::of(corners) else {
            return;
        };
        let bottom = self.top + self.triangles.len() / self.columns;
        let (low, high) = range(corners.map(|corner| corner[1]));
        let (first_row, end_row) = samples_between(low, high, bottom);
        let (left, right) = range(corners.map(|corner| corner[0]));
        let (first, end) = samples_between(left, right, self.columns);
        for row in first_row.max(self.top)..end_row {
            let start = (row - self.top) * self.columns;
            for column in first..end {
                let [a, b, c] = weights.at(place(column), place(row));
                // Edges belong to both neighbours, with room for rounding: no gaps between them.
                if a.min(b).min(c) < -1e-5 {
                    continue;
                }
                let depth = a * corners[0][2] + b * corners[1][2] + c * corners[2][2];
                let sample = start + column;
                if depth > self.depths[sample] {
                    self.depths[sample] = depth;
                    self.triangles[sample] = triangle;
                }
            }
        }
    }
}
