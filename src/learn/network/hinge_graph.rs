//! Which hinges are neighbours.

use burn::tensor::{Int, Tensor};

use crate::{
    mesh::{Mesh, Topology},
    numeric::Compute,
};

/// A hinge has at most four neighbours: the other edges of its two triangles.
pub(crate) const NEIGHBOURS: usize = 4;

/// Hinges as nodes; hinges that share a triangle are neighbours. Every node has [`NEIGHBOURS`] places for
/// edges, of which those at the boundary of the mesh leave some empty, so that sums over neighbours need no
/// scattering.
#[derive(Debug, Clone)]
pub(crate) struct HingeGraph {
    hinges: usize,
    /// Neighbour at each place, `[hinges·NEIGHBOURS]`; an empty place names the hinge itself.
    neighbours: Tensor<1, Int>,
    /// 1/(number of neighbours) at filled places, else 0, `[hinges·NEIGHBOURS, 1]`.
    shares: Tensor<2>,
    places: Vec<Option<usize>>,
}

impl HingeGraph {
    /// The graph of a mesh.
    pub(crate) fn new(mesh: &Mesh, topology: &Topology, compute: &Compute) -> HingeGraph {
        let mut of_triangle = vec![Vec::new(); mesh.triangles.len()];
        for (hinge, h) in topology.hinges.iter().enumerate() {
            for triangle in h.triangles {
                of_triangle[triangle].push(hinge);
            }
        }
        let places: Vec<Option<usize>> = topology
            .hinges
            .iter()
            .enumerate()
            .flat_map(|(hinge, h)| {
                let both = h.triangles.into_iter().flat_map(|t| &of_triangle[t]);
                let mut near: Vec<Option<usize>> =
                    both.filter(|n| **n != hinge).map(|n| Some(*n)).collect();
                near.resize(NEIGHBOURS, None);
                near
            })
            .collect();
        let filled = |hinge: usize| {
            let places = &places[NEIGHBOURS * hinge..NEIGHBOURS * (hinge + 1)];
            places.iter().flatten().count()
        };
        let shares: Vec<f64> = (0..places.len())
            .map(|k| places[k].map_or(0.0, |_| 1.0 / filled(k / NEIGHBOURS) as f64))
            .collect();
        let named: Vec<usize> = (0..places.len())
            .map(|k| places[k].unwrap_or(k / NEIGHBOURS))
            .collect();
        HingeGraph {
            hinges: topology.hinges.len(),
            neighbours: compute.indices(&named),
            shares: compute.tensor(&shares, [places.len(), 1]),
            places,
        }
    }

    /// Number of nodes.
    #[cfg(test)]
    pub(crate) fn hinges(&self) -> usize {
        self.hinges
    }

    /// The neighbour at each place, [`NEIGHBOURS`] a hinge.
    pub(crate) fn places(&self) -> &[Option<usize>] {
        &self.places
    }

    /// Node rows `[hinges, n]` at both ends of every edge, each `[hinges·NEIGHBOURS, n]`.
    pub(crate) fn ends(&self, nodes: &Tensor<2>) -> (Tensor<2>, Tensor<2>) {
        let [hinges, width] = nodes.dims();
        let own = nodes
            .clone()
            .reshape([hinges, 1, width])
            .repeat_dim(1, NEIGHBOURS)
            .reshape([hinges * NEIGHBOURS, width]);
        (own, nodes.clone().select(0, self.neighbours.clone()))
    }

    /// Mean over the neighbours of edge rows `[hinges·NEIGHBOURS, n]`, `[hinges, n]`.
    pub(crate) fn mean(&self, edges: Tensor<2>) -> Tensor<2> {
        let [_, width] = edges.dims();
        let weighted = edges * self.shares.clone();
        weighted
            .reshape([self.hinges, NEIGHBOURS, width])
            .sum_dim(1)
            .reshape([self.hinges, width])
    }
}
