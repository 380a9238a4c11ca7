//! The edges of a list of triangles, in the order in which the triangles run along them.

use std::collections::HashMap;

use super::Mesh;

/// One triangle's side of an edge.
#[derive(Debug, Clone, Copy)]
pub(super) struct EdgeSide {
    /// The triangle.
    pub triangle: usize,
    /// Its corner at which the edge starts in its winding.
    pub corner: usize,
    /// Whether the triangle runs along the edge as the first triangle does.
    pub forward: bool,
}

impl EdgeSide {
    /// The triangle's corner that is not on the edge.
    pub(crate) fn opposite(&self) -> usize {
        (self.corner + 2) % 3
    }

    /// The triangle's corners at the edge's first and second vertex.
    fn ends(&self) -> [usize; 2] {
        let next = (self.corner + 1) % 3;
        if self.forward {
            [self.corner, next]
        } else {
            [next, self.corner]
        }
    }

    /// The edge's ends in the material of this side \[m\].
    pub(crate) fn material_ends(&self, mesh: &Mesh) -> [[f64; 2]; 2] {
        let corners = mesh.material_corners(self.triangle);
        self.ends().map(|corner| corners[corner])
    }
}

/// An edge with every triangle that has it.
#[derive(Debug, Clone)]
pub(super) struct Edge {
    /// Its vertices, as the first triangle runs along it.
    pub vertices: [usize; 2],
    /// Its triangles, in the order of the list; one on the boundary, two inside.
    pub sides: Vec<EdgeSide>,
}

impl Edge {
    /// The triangles at this edge.
    pub(crate) fn triangles(&self) -> Vec<usize> {
        self.sides.iter().map(|side| side.triangle).collect()
    }
}

/// All edges, by first appearance over the triangles. The map only looks up, so that its order
/// reaches no number.
pub(super) fn edges(triangles: &[[usize; 3]]) -> Vec<Edge> {
    let mut known: HashMap<[usize; 2], usize> = HashMap::with_capacity(2 * triangles.len());
    let mut edges: Vec<Edge> = Vec::with_capacity(2 * triangles.len());
    for (triangle, vertices) in triangles.iter().enumerate() {
        for corner in 0..3 {
            let [a, b] = [vertices[corner], vertices[(corner + 1) % 3]];
            let number = *known.entry([a.min(b), a.max(b)]).or_insert(edges.len());
            if number == edges.len() {
                edges.push(Edge {
                    vertices: [a, b],
                    sides: Vec::with_capacity(2),
                });
            }
            let edge = &mut edges[number];
            edge.sides.push(EdgeSide {
                triangle,
                corner,
                forward: edge.vertices == [a, b],
            });
        }
    }
    edges
}

/// Triangles across each edge of each triangle, shape `[triangles, 3]`; edge c runs from corner c
/// to corner c + 1. Needs edges with at most two triangles.
pub(super) fn neighbours(triangle_count: usize, edges: &[Edge]) -> Vec<[Option<usize>; 3]> {
    let mut neighbours = vec![[None; 3]; triangle_count];
    for edge in edges {
        if let [a, b] = edge.sides[..] {
            neighbours[a.triangle][a.corner] = Some(b.triangle);
            neighbours[b.triangle][b.corner] = Some(a.triangle);
        }
    }
    neighbours
}
