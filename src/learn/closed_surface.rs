//! Surfaces that enclose something, and the normals that tell their inside from their outside.

use std::collections::HashMap;

use crate::{
    error::{Result, bad_input},
    mesh::vector::{cross, dot, length, minus},
};

/// Triangles of which each has a neighbour across each side, with the same side out.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ClosedSurface {
    /// Vertices of every triangle.
    pub(super) triangles: Vec<[usize; 3]>,
    /// The triangle across each side; side k runs from corner k to the next.
    across: Vec<[usize; 3]>,
    vertices: usize,
}

/// Unit normals of triangles, and sums of them at their sides and corners.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Normals {
    /// Zero for a triangle without area.
    pub(super) faces: Vec<[f64; 3]>,
    /// Weighted by the angle that each triangle has there; any length.
    pub(super) vertices: Vec<[f64; 3]>,
}

impl ClosedSurface {
    /// Refuses a surface with holes, with more than two triangles at an edge, with neighbours that show different
    /// sides, or that is turned inside out; `name` stands in the message.
    pub(crate) fn new(
        name: &str,
        positions: &[[f64; 3]],
        triangles: &[[usize; 3]],
    ) -> Result<ClosedSurface> {
        let vertices = positions.len();
        let stray = triangles.iter().flatten().find(|v| **v >= vertices);
        if let Some(vertex) = stray {
            return bad_input(format!(
                "{name}: a triangle names vertex {vertex}, but there are {vertices}"
            ));
        }
        let mut owner: HashMap<(usize, usize), usize> = HashMap::new();
        for (number, triangle) in triangles.iter().enumerate() {
            for (a, b) in sides(triangle) {
                if let Some(other) = owner.insert((a, b), number) {
                    return bad_input(format!(
                        "{name}: triangles {other} and {number} both run from vertex {a} to {b}; turn one over, or \
                         leave one out where three meet"
                    ));
                }
            }
        }
        let mut across = Vec::with_capacity(triangles.len());
        for (number, triangle) in triangles.iter().enumerate() {
            let mut neighbours = [0; 3];
            for (neighbour, (a, b)) in neighbours.iter_mut().zip(sides(triangle)) {
                match owner.get(&(b, a)) {
                    Some(other) => *neighbour = *other,
                    None => {
                        return bad_input(format!(
                            "{name}: triangle {number} has no neighbour across the edge from vertex {a} to {b}; inside \
                             and outside are known of closed surfaces only: close the hole"
                        ));
                    }
                }
            }
            across.push(neighbours);
        }
        let volume = volume(positions, triangles);
        if volume <= 0.0 || !volume.is_finite() {
            return bad_input(format!(
                "{name}: it encloses {volume} m³; give a surface whose triangles are counter-clockwise seen from outside"
            ));
        }
        Ok(ClosedSurface {
            triangles: triangles.to_vec(),
            across,
            vertices,
        })
    }

    /// Normals of the surface where its vertices are at `positions` \[m\].
    pub(super) fn normals(&self, positions: &[[f64; 3]]) -> Normals {
        let mut faces = Vec::with_capacity(self.triangles.len());
        let mut vertices = vec![[0.0; 3]; self.vertices];
        for triangle in &self.triangles {
            let corners = triangle.map(|v| positions[v]);
            let normal = unit(cross(
                minus(corners[1], corners[0]),
                minus(corners[2], corners[0]),
            ));
            for k in 0..3 {
                let [to, from] = [(k + 1) % 3, (k + 2) % 3].map(|j| minus(corners[j], corners[k]));
                let angle = length(cross(to, from)).atan2(dot(to, from));
                let sum = &mut vertices[triangle[k]];
                *sum = std::array::from_fn(|a| sum[a] + angle * normal[a]);
            }
            faces.push(normal);
        }
        Normals { faces, vertices }
    }

    /// The normal of a side of a triangle: those of both its triangles, added.
    pub(super) fn side_normal(&self, normals: &Normals, triangle: usize, side: usize) -> [f64; 3] {
        let other = normals.faces[self.across[triangle][side]];
        std::array::from_fn(|a| normals.faces[triangle][a] + other[a])
    }
}

fn sides(triangle: &[usize; 3]) -> [(usize, usize); 3] {
    let [a, b, c] = *triangle;
    [(a, b), (b, c), (c, a)]
}

/// By the divergence theorem \[m³\].
fn volume(positions: &[[f64; 3]], triangles: &[[usize; 3]]) -> f64 {
    let part = |triangle: &[usize; 3]| {
        let [a, b, c] = triangle.map(|v| positions[v]);
        dot(a, cross(b, c)) / 6.0
    };
    triangles.iter().map(part).fold(0.0, |sum, part| sum + part)
}

/// The direction of a vector; zero where it has no length.
pub(super) fn unit(a: [f64; 3]) -> [f64; 3] {
    match length(a) {
        0.0 => [0.0; 3],
        long => a.map(|x| x / long),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CORNERS: [[f64; 3]; 4] = [
        [0.0, 0.0, 0.0],
        [1.0, 0.0, 0.0],
        [0.0, 1.0, 0.0],
        [0.0, 0.0, 1.0],
    ];
    const OUTWARDS: [[usize; 3]; 4] = [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]];

    #[test]
    fn neighbours_and_normals_of_a_corner_of_a_cube() {
        let surface = ClosedSurface::new("corner", &CORNERS, &OUTWARDS).unwrap();
        assert_eq!(surface.across[0], [2, 3, 1]);
        let normals = surface.normals(&CORNERS);
        assert_eq!(normals.faces[0], [0.0, 0.0, -1.0]);
        assert_eq!(surface.side_normal(&normals, 0, 2), [0.0, -1.0, -1.0]);
        // Three right angles: equal shares.
        let right = std::f64::consts::FRAC_PI_2;
        for part in normals.vertices[0] {
            assert!((part + right).abs() < 1e-15);
        }
    }

    #[test]
    fn what_encloses_nothing_is_refused_with_the_place() {
        let refusal = |triangles: &[[usize; 3]]| {
            let refused = ClosedSurface::new("body", &CORNERS, triangles);
            refused.unwrap_err().to_string()
        };
        let text = refusal(&OUTWARDS[..3]);
        assert!(
            text.contains("body: triangle 0 has no neighbour across the edge from vertex 2 to 1"),
            "{text}"
        );
        assert!(text.contains("close the hole"), "{text}");
        let mut one_over = OUTWARDS;
        one_over[3] = [1, 3, 2];
        let text = refusal(&one_over);
        assert!(text.contains("both run from vertex"), "{text}");
        let inwards = OUTWARDS.map(|[a, b, c]| [a, c, b]);
        assert!(refusal(&inwards).contains("encloses -0.1666"));
        assert!(refusal(&[[0, 1, 9]]).contains("names vertex 9, but there are 4"));
        assert!(refusal(&[]).contains("encloses 0 m³"));
    }
}
