//! How a grid is cut into triangles, and how its vertices are moved off the grid.

use std::f64::consts::TAU;

use crate::numeric::Random;

/// How the cells of a grid are cut into triangles.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Pattern {
    /// Right-angled triangles, diagonals in turn to the left and to the right: no diagonal is
    /// stiffer than the other. On a cylinder with an odd number of cells around, the turn breaks
    /// at one column.
    #[default]
    Alternating,
    /// Right-angled triangles, all diagonals from the lower left to the upper right.
    OneSided,
    /// Vertices inside moved by up to [`JITTER`] of a cell, each diagonal by the toss of a coin.
    Irregular {
        /// The same seed gives the same mesh.
        seed: u64,
    },
}

/// Largest move of an irregular vertex, in cells. A right-angled triangle with legs of one cell is
/// 1/√2 wide; while each corner stays in a disc of this radius, it stays at least 1/√2 − 0.6 ≈ 0.1
/// wide, whatever its diagonal: it cannot become degenerate or turn over. (Moving by 0.3 in u and
/// in v at once can.)
pub(crate) const JITTER: f64 = 0.3;

/// Streams of the seed, so that moves and diagonals do not depend on each other.
const MOVES: u64 = 1;
const DIAGONALS: u64 = 2;

/// Moves of all vertices in cells, row by row; none on the boundary or in a regular pattern.
pub(super) fn moves(
    pattern: Pattern,
    columns: usize,
    rows: usize,
    inside: impl Fn(usize, usize) -> bool,
) -> Vec<[f64; 2]> {
    let Pattern::Irregular { seed } = pattern else {
        return vec![[0.0; 2]; columns * rows];
    };
    let mut random = Random::stream(seed, MOVES);
    (0..columns * rows)
        .map(|vertex| {
            // The root spreads the points evenly over the disc.
            let radius = JITTER * random.uniform().sqrt();
            let (sin, cos) = (TAU * random.uniform()).sin_cos();
            match inside(vertex % columns, vertex / columns) {
                true => [radius * cos, radius * sin],
                false => [0.0; 2],
            }
        })
        .collect()
}

/// The two triangles of every cell; `index` numbers the point at a column and a row.
pub(super) fn cells(
    [nx, ny]: [usize; 2],
    pattern: Pattern,
    index: impl Fn(usize, usize) -> usize,
) -> Vec<[usize; 3]> {
    let mut coin = match pattern {
        Pattern::Irregular { seed } => Random::stream(seed, DIAGONALS),
        _ => Random(0),
    };
    let mut triangles = Vec::with_capacity(2 * nx * ny);
    for iy in 0..ny {
        for ix in 0..nx {
            let rising = match pattern {
                Pattern::Alternating => (ix + iy) % 2 == 0,
                Pattern::OneSided => true,
                Pattern::Irregular { .. } => coin.uniform() < 0.5,
            };
            let [a, b] = [index(ix, iy), index(ix + 1, iy)];
            let [d, c] = [index(ix, iy + 1), index(ix + 1, iy + 1)];
            triangles.extend(match rising {
                true => [[a, b, c], [a, c, d]],
                false => [[a, b, d], [b, c, d]],
            });
        }
    }
    triangles
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::{
        Rest,
        generate::{cylinder, rectangle},
        vector::{dot, length, minus},
    };

    #[test]
    fn regular_triangles_are_right_angled() {
        let mesh = rectangle(0.3, 0.5, 4, 3, Pattern::Alternating).unwrap();
        for triangle in 0..mesh.triangles.len() {
            let corners = mesh.corners(triangle);
            let cosine = |c: usize| {
                let [a, b] = [1, 2].map(|n| minus(corners[(c + n) % 3], corners[c]));
                dot(a, b) / (length(a) * length(b))
            };
            let smallest = (0..3).map(|c| cosine(c).abs()).fold(1.0, f64::min);
            assert!(smallest < 1e-12, "{smallest}");
        }
    }

    #[test]
    fn irregular_triangles_never_come_near_degenerate() {
        for seed in 0..12 {
            let mesh = rectangle(20.0, 20.0, 20, 20, Pattern::Irregular { seed }).unwrap();
            let topology = mesh.check().unwrap();
            assert!(topology.notes.is_empty());
            let rest = Rest::new(&mesh, &topology);
            for (triangle, measure) in rest.triangles.iter().enumerate() {
                let corners = mesh.material_corners(triangle);
                let longest = (0..3)
                    .map(|c| length(minus(corners[(c + 1) % 3], corners[c])))
                    .fold(0.0, f64::max);
                // The bound in the doc of JITTER, for cells of size 1.
                assert!(2.0 * measure.area / longest > 0.1, "seed {seed}");
            }
        }
    }

    #[test]
    fn a_seed_is_a_mesh() {
        let mesh = |seed| cylinder(1.0, 1.0, 9, 4, Pattern::Irregular { seed }).unwrap();
        assert_eq!(mesh(1), mesh(1));
        assert_ne!(mesh(1).positions, mesh(2).positions);
        assert_ne!(mesh(1).triangles, mesh(2).triangles);
    }
}
