//! A triangle mesh to be drawn or written: checked once, with its normals.

use crate::error::{Result, bad_input};

/// A point or direction with three coordinates.
pub(crate) type Triple = [f64; 3];

/// Largest coordinate \[m\]: beyond it a run has diverged, and 32-bit files lose all detail.
const LARGEST: f64 = 1e9;

/// A triangle mesh in space, borrowed.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Surface<'a> {
    /// Positions \[m\], shape \[vertices, 3\].
    pub positions: &'a [[f64; 3]],
    /// Vertices of each triangle, counter-clockwise seen from its front, shape \[triangles, 3\].
    pub triangles: &'a [[usize; 3]],
}

impl Surface<'_> {
    /// Refuses what cannot be drawn; `name` stands in the message.
    pub(crate) fn check(&self, name: &str) -> Result<()> {
        if self.positions.is_empty() || self.triangles.is_empty() {
            return bad_input(format!(
                "{name} has {} vertices and {} triangles; give a mesh with at least one triangle",
                self.positions.len(),
                self.triangles.len()
            ));
        }
        check_points(self.positions, name)?;
        let count = self.positions.len();
        let strays = |triangle: &&[usize; 3]| triangle.iter().any(|&vertex| vertex >= count);
        match self.triangles.iter().find(strays) {
            Some(triangle) => bad_input(format!(
                "{name} has a triangle {triangle:?} but only {count} vertices, numbered from 0; \
                 give the triangles and positions of the same mesh"
            )),
            None => Ok(()),
        }
    }

    /// Unit normals of the vertices, each triangle weighted by its area, shape \[vertices, 3\]. A
    /// vertex without area around it has the normal `otherwise`.
    pub(crate) fn normals(&self, otherwise: Triple) -> Vec<Triple> {
        let mut sums = vec![[0.0; 3]; self.positions.len()];
        for triangle in self.triangles {
            let [a, b, c] = triangle.map(|vertex| self.positions[vertex]);
            let normal = cross(minus(b, a), minus(c, a));
            for &vertex in triangle {
                sums[vertex] = plus(sums[vertex], normal);
            }
        }
        let finished = |sum: Triple| unit(sum).unwrap_or(otherwise);
        sums.into_iter().map(finished).collect()
    }
}

/// Refuses positions that are not numbers or are out of all proportion.
pub(crate) fn check_points(positions: &[Triple], name: &str) -> Result<()> {
    // Written so that NaN is refused as well.
    let strange = |point: &Triple| !point.iter().all(|x| x.abs() <= LARGEST);
    match positions.iter().position(strange) {
        Some(vertex) => bad_input(format!(
            "vertex {vertex} of {name} is at {:?} m; the run diverged before this frame: \
             take an earlier frame, or run again with a smaller step",
            positions[vertex]
        )),
        None => Ok(()),
    }
}

pub(crate) fn plus(a: Triple, b: Triple) -> Triple {
    [a[0] + b[0], a[1] + b[1], a[2] + b[2]]
}

pub(crate) fn minus(a: Triple, b: Triple) -> Triple {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

pub(crate) fn dot(a: Triple, b: Triple) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

pub(crate) fn cross(a: Triple, b: Triple) -> Triple {
    [
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    ]
}

/// The direction of a vector; none where it has no length.
pub(crate) fn unit(a: Triple) -> Option<Triple> {
    // Scaled first: the square of a tiny triangle's area would vanish.
    let size = a.iter().fold(0.0, |size: f64, x| size.max(x.abs()));
    if size == 0.0 || !size.is_finite() {
        return None;
    }
    let scaled = a.map(|x| x / size);
    let length = dot(scaled, scaled).sqrt();
    Some(scaled.map(|x| x / length))
}

#[cfg(test)]
mod tests {
    use super::*;

    const CORNER: [[f64; 3]; 4] = [
        [0.0, 0.0, 0.0],
        [3e-9, 0.0, 0.0],
        [0.0, 3e-9, 0.0],
        [0.0, 0.0, 1e-9],
    ];

    /// The larger triangle counts for more; its area of 1e-18 m² must not vanish.
    #[test]
    fn normals_are_weighted_by_area() {
        let surface = Surface {
            positions: &CORNER,
            triangles: &[[0, 1, 2], [0, 3, 1], [1, 1, 2]],
        };
        let normals = surface.normals([1.0, 0.0, 0.0]);
        let root = 10.0_f64.sqrt();
        let expected = [0.0, 1.0 / root, 3.0 / root];
        for (value, expected) in normals[0].into_iter().zip(expected) {
            // A few roundings of f64.
            assert!((value - expected).abs() < 1e-14, "{value} {expected}");
        }
        let lonely = Surface {
            positions: &CORNER,
            triangles: &[[0, 0, 0]],
        };
        assert_eq!(lonely.normals([1.0, 0.0, 0.0])[3], [1.0, 0.0, 0.0]);
    }

    /// Messages name the vertex or triangle and what to do.
    #[test]
    fn says_what_is_wrong() {
        let refusal = |positions: &[Triple], triangles: &[[usize; 3]]| {
            Surface {
                positions,
                triangles,
            }
            .check("the cloth")
            .expect_err("a bad mesh")
            .to_string()
        };
        assert!(refusal(&CORNER, &[]).contains("the cloth has 4 vertices and 0 triangles"));
        assert!(refusal(&CORNER, &[[0, 1, 4]]).contains("[0, 1, 4] but only 4 vertices"));
        for bad in [f64::NAN, f64::INFINITY, 1e12] {
            let mut positions = CORNER;
            positions[2][1] = bad;
            let message = refusal(&positions, &[[0, 1, 2]]);
            assert!(message.contains("vertex 2 of the cloth"), "{message}");
            assert!(message.contains("smaller step"), "{message}");
        }
    }
}
