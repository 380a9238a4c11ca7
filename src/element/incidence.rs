//! From vertices to corners of elements and back. Both ways are gathers, linear, and off the tape.

use burn::tensor::{Int, Tensor};

use super::{Columns, HingeSpan, Vector};
use crate::{
    mesh::{Rest, RestTriangle, Topology},
    numeric::{Compute, Field},
};

/// Which vertices make up which element, as index tensors.
///
/// Corner tensors are "axis first": `[12, hinges]` with rows x of i, j, k, l, then y, then z;
/// `[9, triangles]` likewise. Vertex tensors are `[3, vertices]`.
#[derive(Debug, Clone)]
pub struct Incidence {
    /// Vertices i, then j, k, l of all hinges.
    hinge_corners: Tensor<1, Int>,
    /// First corners of all triangles, then second, then third.
    triangle_corners: Tensor<1, Int>,
    /// For every vertex its slots among hinge corners, triangle corners and one zero, `[valence, vertices]`.
    slots: Tensor<1, Int>,
    valence: usize,
    /// Shape gradients B_u of the three corners \[1/m\], `[3, triangles]`.
    shape_u: Field,
    /// B_v.
    shape_v: Field,
    hinges: usize,
    triangles: usize,
    vertices: usize,
    zero: Field,
}

impl Incidence {
    /// The tables of a mesh.
    pub fn new(
        triangles: &[[usize; 3]],
        topology: &Topology,
        rest: &Rest,
        vertices: usize,
        compute: &Compute,
    ) -> Incidence {
        let hinges = &topology.hinges;
        let by_corner = |corner: usize| hinges.iter().map(move |h| h.vertices[corner]);
        let hinge_corners: Vec<usize> = (0..4).flat_map(by_corner).collect();
        let triangle_corners: Vec<usize> = (0..3)
            .flat_map(|corner| triangles.iter().map(move |t| t[corner]))
            .collect();
        let (slots, valence) = slots(&hinge_corners, &triangle_corners, vertices);
        let shape = |gradient: fn(&RestTriangle) -> [f64; 3]| {
            let rows = (0..3).flat_map(|k| rest.triangles.iter().map(move |t| gradient(t)[k]));
            compute.tensor(&rows.collect::<Vec<f64>>(), [3, triangles.len()])
        };
        Incidence {
            hinge_corners: compute.indices(&hinge_corners),
            triangle_corners: compute.indices(&triangle_corners),
            slots: compute.indices(&slots),
            valence,
            shape_u: shape(|t| t.gradient_u),
            shape_v: shape(|t| t.gradient_v),
            hinges: hinges.len(),
            triangles: triangles.len(),
            vertices,
            zero: compute.zeros([3, 1]),
        }
    }

    /// Shape gradients B_u and B_v of the corners \[1/m\], `[3, triangles]` each.
    pub fn shapes(&self) -> (&Field, &Field) {
        (&self.shape_u, &self.shape_v)
    }

    /// Spans of all hinges of a vertex tensor.
    pub fn spans(&self, vertices: &Field) -> HingeSpan {
        let corners = vertices.clone().select(1, self.hinge_corners.clone());
        let corners = corners.reshape([12, self.hinges]);
        let rows = |axis: usize, first: usize, count: usize| {
            corners.clone().narrow(0, 4 * axis + first, count)
        };
        let relative = |first: usize, count: usize| {
            let part = |axis| rows(axis, first, count) - rows(axis, 0, 1);
            Vector {
                x: part(0),
                y: part(1),
                z: part(2),
            }
        };
        HingeSpan {
            edge: relative(1, 1),
            wings: relative(2, 2),
        }
    }

    /// The transpose of [`Incidence::spans`] up to corners, `[12, hinges]`.
    pub fn corners_of_span(&self, span: &HingeSpan) -> Field {
        let axis = |edge: &Field, wings: &Field| {
            let at_i = (edge.clone() + wings.clone().sum_dim(0)).neg();
            [at_i, edge.clone(), wings.clone()]
        };
        let rows = [
            axis(&span.edge.x, &span.wings.x),
            axis(&span.edge.y, &span.wings.y),
            axis(&span.edge.z, &span.wings.z),
        ];
        Tensor::cat(rows.into_iter().flatten().collect(), 0)
    }

    /// Deformation columns of all triangles of a vertex tensor.
    pub fn columns(&self, vertices: &Field) -> Columns {
        let corners = vertices.clone().select(1, self.triangle_corners.clone());
        let corners = corners.reshape([9, self.triangles]);
        let column = |shape: &Field| {
            let part = |axis: usize| {
                let rows = corners.clone().narrow(0, 3 * axis, 3);
                (rows * shape.clone()).sum_dim(0)
            };
            Vector {
                x: part(0),
                y: part(1),
                z: part(2),
            }
        };
        Columns {
            u: column(&self.shape_u),
            v: column(&self.shape_v),
        }
    }

    /// The transpose of [`Incidence::columns`] up to corners, `[9, triangles]`.
    pub fn corners_of_columns(&self, columns: &Columns) -> Field {
        let axis = |u: &Field, v: &Field| {
            self.shape_u.clone() * u.clone() + self.shape_v.clone() * v.clone()
        };
        Tensor::cat(
            vec![
                axis(&columns.u.x, &columns.v.x),
                axis(&columns.u.y, &columns.v.y),
                axis(&columns.u.z, &columns.v.z),
            ],
            0,
        )
    }

    /// Sums of corner values over the corners of each vertex, `[3, vertices]`.
    pub fn assemble(&self, hinges: Field, triangles: Field) -> Field {
        let hinges = hinges.reshape([3, 4 * self.hinges]);
        let triangles = triangles.reshape([3, 3 * self.triangles]);
        let corners = Tensor::cat(vec![hinges, triangles, self.zero.clone()], 1);
        let gathered = corners.select(1, self.slots.clone());
        let gathered: Tensor<3> = gathered.reshape([3, self.valence, self.vertices]);
        gathered.sum_dim(1).reshape([3, self.vertices])
    }

    /// [`Incidence::assemble`] of a span and columns.
    pub fn assemble_parts(&self, span: &HingeSpan, columns: &Columns) -> Field {
        self.assemble(self.corners_of_span(span), self.corners_of_columns(columns))
    }
}

/// The slots of every vertex, row-major `[valence, vertices]`, padded with the slot of the zero.
fn slots(
    hinge_corners: &[usize],
    triangle_corners: &[usize],
    vertices: usize,
) -> (Vec<usize>, usize) {
    let corners = || hinge_corners.iter().chain(triangle_corners).copied();
    let mut filled = vec![0; vertices];
    for v in corners() {
        filled[v] += 1;
    }
    let valence = filled.iter().copied().max().unwrap_or(0).max(1);
    let padding = hinge_corners.len() + triangle_corners.len();
    let mut slots = vec![padding; valence * vertices];
    filled.fill(0);
    for (slot, v) in corners().enumerate() {
        slots[filled[v] * vertices + v] = slot;
        filled[v] += 1;
    }
    (slots, valence)
}
