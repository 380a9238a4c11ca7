//! A tree of boxes over the triangles of a closed surface. It is made once, for the rest pose; in other poses only its
//! boxes are made anew.

use std::{ops::Range, sync::Arc};

use super::PlacedSurface;
use crate::{error::Result, learn::closed_surface::ClosedSurface, mesh::vector::minus};

/// Triangles of a box that is not cut further.
const LEAF: usize = 4;

/// A closed surface with a tree over its triangles.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct SurfaceTree {
    pub(super) surface: ClosedSurface,
    /// Triangles, those of a node one after the other.
    pub(super) order: Vec<usize>,
    /// The root first, children after their parents.
    pub(super) nodes: Vec<TreeNode>,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct TreeNode {
    /// Of `order`.
    pub(super) triangles: Range<usize>,
    /// None for a leaf.
    pub(super) children: Option<[usize; 2]>,
}

/// A box: lowest and highest corner \[m\].
pub(super) type Bounds = [[f64; 3]; 2];
const NOTHING: Bounds = [[f64::INFINITY; 3], [f64::NEG_INFINITY; 3]];

impl SurfaceTree {
    /// Refuses a surface that is not closed, see [`ClosedSurface::new`].
    pub(crate) fn new(
        name: &str,
        positions: &[[f64; 3]],
        triangles: &[[usize; 3]],
    ) -> Result<Self> {
        let surface = ClosedSurface::new(name, positions, triangles)?;
        let middle = |t: &[usize; 3]| -> [f64; 3] {
            std::array::from_fn(|a| t.iter().map(|&v| positions[v][a]).sum::<f64>() / 3.0)
        };
        let middles: Vec<[f64; 3]> = triangles.iter().map(middle).collect();
        let mut order: Vec<usize> = (0..triangles.len()).collect();
        let mut nodes = vec![TreeNode {
            triangles: 0..order.len(),
            children: None,
        }];
        let mut next = 0;
        while next < nodes.len() {
            let range = nodes[next].triangles.clone();
            if range.len() > LEAF {
                let half = range.start + range.len() / 2;
                halve(&mut order[range.clone()], &middles);
                nodes[next].children = Some([nodes.len(), nodes.len() + 1]);
                for triangles in [range.start..half, half..range.end] {
                    nodes.push(TreeNode {
                        triangles,
                        children: None,
                    });
                }
            }
            next += 1;
        }
        Ok(SurfaceTree {
            surface,
            order,
            nodes,
        })
    }

    /// The surface with its vertices at `positions` \[m\].
    pub(crate) fn at(self: &Arc<Self>, positions: Vec<[f64; 3]>) -> PlacedSurface {
        let mut boxes = vec![NOTHING; self.nodes.len()];
        for (number, node) in self.nodes.iter().enumerate().rev() {
            boxes[number] = match node.children {
                Some([a, b]) => joined(boxes[a], boxes[b]),
                None => self.order[node.triangles.clone()]
                    .iter()
                    .flat_map(|&t| self.surface.triangles[t])
                    .map(|v| [positions[v]; 2])
                    .fold(NOTHING, joined),
            };
        }
        PlacedSurface {
            normals: self.surface.normals(&positions),
            tree: self.clone(),
            positions,
            boxes,
        }
    }
}

/// Puts the half with the lower middles, along the axis on which they reach furthest, first.
fn halve(order: &mut [usize], middles: &[[f64; 3]]) {
    let bounds = order
        .iter()
        .fold(NOTHING, |b, &t| joined(b, [middles[t]; 2]));
    let reach = minus(bounds[1], bounds[0]);
    let axis = (0..3)
        .max_by(|a, b| reach[*a].total_cmp(&reach[*b]))
        .unwrap_or(0);
    let half = order.len() / 2;
    // Equal ones in their order, so that the tree is the same every time.
    order.select_nth_unstable_by(half, |a, b| {
        let along = middles[*a][axis].total_cmp(&middles[*b][axis]);
        along.then(a.cmp(b))
    });
}

fn joined(a: Bounds, b: Bounds) -> Bounds {
    [
        std::array::from_fn(|k| a[0][k].min(b[0][k])),
        std::array::from_fn(|k| a[1][k].max(b[1][k])),
    ]
}

/// Squared distance to a box; 0 inside.
pub(super) fn beyond(bounds: &Bounds, point: [f64; 3]) -> f64 {
    let along = |k: usize| {
        (bounds[0][k] - point[k])
            .max(point[k] - bounds[1][k])
            .max(0.0)
    };
    (0..3).map(|k| along(k) * along(k)).sum()
}
