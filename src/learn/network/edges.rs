//! What P-Net is told.

use burn::tensor::Tensor;

use super::{EDGE_INPUTS, HingeGraph};
use crate::{
    learn::BodyScene,
    mesh::vector::{length, minus},
    numeric::{Compute, Field},
};

/// Edges of the hinge graph as P-Net sees them: the way from a hinge's midpoint to its neighbour's and its length, now
/// and as sewn, in units of the mean length as sewn; the step \[s\] and the yield angle \[rad\]. Only ways between
/// midpoints enter, so that it does not matter where the garment is.
pub(crate) struct EdgeFeatures {
    /// Ends of the hinges and of their neighbours, four a row.
    ends: Vec<[usize; 4]>,
    sewn: Vec<[f64; 4]>,
    unit: f64,
    constants: [f64; 2],
}

impl EdgeFeatures {
    /// For a garment, a step and a yield angle.
    pub(crate) fn new(
        scene: &BodyScene,
        graph: &HingeGraph,
        seconds: f64,
        yield_angle: f64,
    ) -> EdgeFeatures {
        let mesh = &scene.garment.mesh;
        let hinges = &scene.garment.topology.hinges;
        let edge = |hinge: usize| [hinges[hinge].vertices[0], hinges[hinge].vertices[1]];
        let ends: Vec<[usize; 4]> = graph
            .places()
            .iter()
            .enumerate()
            .map(|(k, place)| {
                // An empty place is an edge to itself.
                let (own, other) = (k / 4, place.unwrap_or(k / 4));
                let ([a, b], [c, d]) = (edge(own), edge(other));
                [a, b, c, d]
            })
            .collect();
        let at = |v: usize| mesh.positions[v];
        let sewn: Vec<[f64; 4]> = ends.iter().map(|e| way(*e, at, 1.0)).collect();
        let filled = sewn.iter().filter(|w| w[3] > 0.0);
        let unit = filled.clone().map(|w| w[3]).sum::<f64>() / filled.count().max(1) as f64;
        EdgeFeatures {
            sewn: sewn.iter().map(|w| w.map(|x| x / unit)).collect(),
            ends,
            unit,
            constants: [seconds, yield_angle],
        }
    }

    /// Rows of all edges, `[hinges·4, EDGE_INPUTS]`, for positions \[m\] of one frame, `[3][vertices]` row-major.
    pub(crate) fn at(&self, positions: &[f64], compute: &Compute) -> Tensor<2> {
        let count = positions.len() / 3;
        let at = |v: usize| [positions[v], positions[count + v], positions[2 * count + v]];
        let mut rows = Vec::with_capacity(self.ends.len() * EDGE_INPUTS);
        for (ends, sewn) in self.ends.iter().zip(&self.sewn) {
            rows.extend(way(*ends, at, self.unit));
            rows.extend(sewn);
            rows.extend(self.constants);
        }
        compute.tensor(&rows, [self.ends.len(), EDGE_INPUTS])
    }
}

/// From the middle of a-b to the middle of c-d, and how far that is, in units of `unit`.
fn way([a, b, c, d]: [usize; 4], at: impl Fn(usize) -> [f64; 3], unit: f64) -> [f64; 4] {
    let middle =
        |p: [f64; 3], q: [f64; 3]| -> [f64; 3] { std::array::from_fn(|k| 0.5 * (p[k] + q[k])) };
    let [x, y, z] = minus(middle(at(c), at(d)), middle(at(a), at(b))).map(|x| x / unit);
    [x, y, z, length([x, y, z])]
}

/// Hinges as P-Net sees them, `[hinges, 4]`: rest bending and strain \[rad\], before and now, each `[1, hinges]`.
pub(crate) fn nodes(rest_bending: [&Field; 2], strain: [&Field; 2]) -> Tensor<2> {
    let all = rest_bending.into_iter().chain(strain).cloned().collect();
    Tensor::cat(all, 0).transpose()
}
