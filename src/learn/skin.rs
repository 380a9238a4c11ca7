//! The surface of a body that goes with its joints: what a real body has instead of [`super::Bone`]s.

use std::sync::Arc;

use super::{
    skeleton::JointTransform,
    surface_distance::{PlacedSurface, SurfaceTree},
};
use crate::{
    error::Result,
    mesh::vector::{dot, minus},
};

/// Triangles with blend weights.
#[derive(Debug, Clone, PartialEq)]
pub struct Skin {
    /// Vertices in the rest pose \[m\].
    pub rest: Vec<[f64; 3]>,
    /// Vertices of every triangle, counter-clockwise seen from outside.
    pub triangles: Vec<[usize; 3]>,
    /// Blend weights, shape `[joints][vertices]`.
    pub weights: Vec<Vec<f64>>,
}

impl Skin {
    /// Vertices in a pose \[m\], by linear blend skinning.
    pub fn posed(&self, pose: &[JointTransform]) -> Vec<[f64; 3]> {
        let mut places = vec![[0.0; 3]; self.rest.len()];
        for (weights, transform) in self.weights.iter().zip(pose) {
            for ((place, rest), &weight) in places.iter_mut().zip(&self.rest).zip(weights) {
                // A vertex of SMPL goes with four joints of 24.
                if weight != 0.0 {
                    let moved = transform.apply(*rest);
                    *place = std::array::from_fn(|axis| place[axis] + weight * moved[axis]);
                }
            }
        }
        places
    }

    /// Blend weights for points around the rest pose \[m\]: those of the nearest vertex, shape
    /// `[joints][points]`.
    pub fn weights_at(&self, points: &[[f64; 3]]) -> Vec<Vec<f64>> {
        let nearest = |point: &[f64; 3]| {
            let gap = |v: &usize| {
                let gap = minus(self.rest[*v], *point);
                dot(gap, gap)
            };
            (0..self.rest.len())
                .min_by(|a, b| gap(a).total_cmp(&gap(b)))
                .unwrap_or(0)
        };
        let nearest: Vec<usize> = points.iter().map(nearest).collect();
        let row = |row: &Vec<f64>| nearest.iter().map(|&v| row[v]).collect();
        self.weights.iter().map(row).collect()
    }
}

/// A skin that encloses a body, so that it has an inside.
#[derive(Debug, Clone, PartialEq)]
pub struct ClosedSkin {
    skin: Skin,
    tree: Arc<SurfaceTree>,
}

impl ClosedSkin {
    /// Refuses a skin with holes, see [`super::ClosedSurface::new`]; `name` stands in the message.
    pub fn new(name: &str, skin: Skin) -> Result<ClosedSkin> {
        Ok(ClosedSkin {
            tree: Arc::new(SurfaceTree::new(name, &skin.rest, &skin.triangles)?),
            skin,
        })
    }

    /// Vertices, triangles and weights.
    pub fn skin(&self) -> &Skin {
        &self.skin
    }

    /// In a pose, for distances.
    pub fn posed(&self, pose: &[JointTransform]) -> PlacedSurface {
        self.tree.at(self.skin.posed(pose))
    }
}
