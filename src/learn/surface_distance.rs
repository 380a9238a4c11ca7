//! Signed distance from a closed triangle mesh: the nearest point, found with a tree of boxes, and the sign of the
//! normal there.
//!
//! Where the nearest point is inside a triangle its normal tells the side; on an edge the sum of both normals, at a
//! vertex the sum weighted by angles (Bærentzen, Aanæs 2005, "Signed distance computation using the angle weighted
//! pseudonormal"). Where a surface runs through itself, as in the bend of an elbow, the nearest piece decides.

mod tree;

use std::sync::Arc;

pub(crate) use tree::SurfaceTree;
use tree::{Bounds, beyond};

use super::closed_surface::{Normals, unit};
use crate::mesh::vector::{cross, dot, minus};

/// Distance below which the way to the nearest point has no direction \[m\].
const TOUCHING: f64 = 1e-12;

/// A surface in one pose.
#[derive(Debug, Clone, PartialEq)]
pub struct PlacedSurface {
    tree: Arc<SurfaceTree>,
    positions: Vec<[f64; 3]>,
    normals: Normals,
    boxes: Vec<Bounds>,
}

/// Where the nearest point of a triangle is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Feature {
    Face,
    Side(usize),
    Corner(usize),
}

/// The nearest point so far.
struct Nearest {
    squared: f64,
    point: [f64; 3],
    triangle: usize,
    feature: Feature,
}

impl PlacedSurface {
    /// Signed distance of a point \[m\], negative inside, and its derivative by the point, a unit vector. Not
    /// smooth where two points of the surface are equally near.
    pub fn distance(&self, point: [f64; 3]) -> (f64, [f64; 3]) {
        let nearest = self.nearest(point);
        let surface = &self.tree.surface;
        let normal = match nearest.feature {
            Feature::Face => self.normals.faces[nearest.triangle],
            Feature::Side(k) => surface.side_normal(&self.normals, nearest.triangle, k),
            Feature::Corner(k) => self.normals.vertices[surface.triangles[nearest.triangle][k]],
        };
        let gap = minus(point, nearest.point);
        let size = nearest.squared.sqrt();
        let sign = if dot(gap, normal) < 0.0 { -1.0 } else { 1.0 };
        let slope = match size < TOUCHING {
            true => unit(normal),
            false => gap.map(|g| sign * g / size),
        };
        (sign * size, slope)
    }

    fn nearest(&self, point: [f64; 3]) -> Nearest {
        let mut nearest = Nearest {
            squared: f64::INFINITY,
            point: [f64::NAN; 3],
            triangle: 0,
            feature: Feature::Face,
        };
        let mut open = vec![(0, 0.0)];
        while let Some((number, away)) = open.pop() {
            if away >= nearest.squared {
                continue;
            }
            let node = &self.tree.nodes[number];
            match node.children {
                None => {
                    for &triangle in &self.tree.order[node.triangles.clone()] {
                        self.try_triangle(point, triangle, &mut nearest);
                    }
                }
                Some(children) => {
                    let [a, b] = children.map(|c| (c, beyond(&self.boxes[c], point)));
                    // The nearer one is taken first.
                    open.extend(if a.1 < b.1 { [b, a] } else { [a, b] });
                }
            }
        }
        nearest
    }

    fn try_triangle(&self, point: [f64; 3], triangle: usize, nearest: &mut Nearest) {
        let corners = self.tree.surface.triangles[triangle].map(|v| self.positions[v]);
        let normal = self.normals.faces[triangle];
        let mut consider = |candidate: [f64; 3], feature| {
            let gap = minus(point, candidate);
            let squared = dot(gap, gap);
            if squared < nearest.squared {
                *nearest = Nearest {
                    squared,
                    point: candidate,
                    triangle,
                    feature,
                };
            }
        };
        let height = dot(minus(point, corners[0]), normal);
        let below: [f64; 3] = std::array::from_fn(|a| point[a] - height * normal[a]);
        let inside = |k: usize| {
            let along = minus(corners[(k + 1) % 3], corners[k]);
            dot(cross(along, minus(below, corners[k])), normal) > 0.0
        };
        if (0..3).all(inside) {
            return consider(below, Feature::Face);
        }
        for k in 0..3 {
            let next = (k + 1) % 3;
            let along = minus(corners[next], corners[k]);
            let share = dot(minus(point, corners[k]), along) / dot(along, along);
            // A side without length is its corner.
            if share >= 1.0 {
                consider(corners[next], Feature::Corner(next));
            } else if share > 0.0 {
                let on = std::array::from_fn(|a| corners[k][a] + share * along[a]);
                consider(on, Feature::Side(k));
            } else {
                consider(corners[k], Feature::Corner(k));
            }
        }
    }
}

#[cfg(test)]
mod tests;
