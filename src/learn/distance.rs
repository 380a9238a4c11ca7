//! Signed distances from a body over batches of frames.

use std::sync::Arc;

use rayon::prelude::*;

use super::{Body, skeleton::JointTransform, surface_distance::PlacedSurface};
use crate::{
    element::Vector,
    numeric::{Compute, Field, max_zero},
};

/// Squared length that keeps square roots off zero \[m²\]; nothing is known about the direction there.
const TINY: f64 = 1e-24;

/// How far points are from a body.
#[derive(Debug, Clone)]
pub struct Distance {
    /// \[m\], negative inside, `[frames, points]`.
    pub value: Field,
    /// Its derivative by the point; a unit vector where sections are round.
    pub slope: Vector,
}

/// A body in the poses of a batch of frames.
#[derive(Debug, Clone)]
pub struct PosedBody {
    bones: Vec<PosedBone>,
    /// One a frame; none where the body has no skin.
    skin: Option<Arc<Vec<PlacedSurface>>>,
    compute: Compute,
}

#[derive(Debug, Clone)]
struct PosedBone {
    /// Columns of the joint's rotation, each `[frames, 1]`: x, y, z of the rest pose in space.
    axes: [Vector; 3],
    /// Of the joint, `[frames, 1]` \[m\].
    shift: Vector,
    from: [f64; 3],
    /// To the other end \[m\].
    reach: [f64; 3],
    radii: [f64; 3],
}

impl PosedBody {
    /// A body in one pose a frame, as [`super::Skeleton::pose`] gives them.
    pub fn new(body: &Body, poses: &[Vec<JointTransform>], compute: &Compute) -> PosedBody {
        let column = |f: &dyn Fn(&Vec<JointTransform>) -> f64| {
            let values: Vec<f64> = poses.iter().map(f).collect();
            compute.tensor(&values, [values.len(), 1])
        };
        let bones = body.bones.iter().map(|bone| {
            let joint = bone.joint;
            let axis = |k: usize| Vector {
                x: column(&|p| p[joint].turn[0][k]),
                y: column(&|p| p[joint].turn[1][k]),
                z: column(&|p| p[joint].turn[2][k]),
            };
            PosedBone {
                axes: [axis(0), axis(1), axis(2)],
                shift: Vector {
                    x: column(&|p| p[joint].shift[0]),
                    y: column(&|p| p[joint].shift[1]),
                    z: column(&|p| p[joint].shift[2]),
                },
                from: bone.from,
                reach: std::array::from_fn(|a| bone.to[a] - bone.from[a]),
                radii: bone.radii,
            }
        });
        let skin = body.skin.as_ref().map(|skin| {
            let placed = poses.par_iter().map(|pose| skin.posed(pose));
            Arc::new(placed.collect())
        });
        PosedBody {
            bones: bones.collect(),
            skin,
            compute: compute.clone(),
        }
    }

    /// Signed distances of `points`, components `[frames, points]`, from every bone and the skin. Smooth but for the axes
    /// of bones, and where two places of the skin are equally near.
    pub fn distances(&self, points: &Vector) -> Vec<Distance> {
        let skin = self.skin.iter();
        let skin = skin.map(|skin| self.skin_distance(skin, points));
        let bones = self.bones.iter().map(|bone| bone.distance(points));
        bones.chain(skin).collect()
    }

    /// Signed distance from the nearest of these: from the body. Not smooth where two are equally near.
    pub fn distance(&self, points: &Vector) -> Distance {
        let mut parts = self.distances(points).into_iter();
        let first = parts.next().unwrap_or_else(|| Distance {
            value: points.x.zeros_like() + f64::MAX.sqrt(),
            slope: points.map(Field::zeros_like),
        });
        parts.fold(first, |near, other| {
            let nearer = other.value.clone().lower(near.value.clone());
            let choose = |a: Field, b: &Field| a.mask_where(nearer.clone(), b.clone());
            Distance {
                value: choose(near.value, &other.value),
                slope: Vector {
                    x: choose(near.slope.x, &other.slope.x),
                    y: choose(near.slope.y, &other.slope.y),
                    z: choose(near.slope.z, &other.slope.z),
                },
            }
        })
    }
}

impl PosedBody {
    /// From surfaces, one a frame: d₀ + n·(x − x₀), with the distance d₀ and its slope n at the points x₀ as they are.
    /// The value is exact, and so is the derivative; a tape sees nothing of the search for the nearest point.
    fn skin_distance(&self, skin: &[PlacedSurface], points: &Vector) -> Distance {
        let [frames, count] = points.x.dims();
        let read = |field: &Field| {
            let read = self.compute.values(field.clone());
            // A device that is lost is noticed in the energy.
            read.unwrap_or_else(|_| vec![f64::NAN; frames * count])
        };
        let [x, y, z] = [&points.x, &points.y, &points.z].map(read);
        let found: Vec<(f64, [f64; 3])> = (0..frames * count)
            .into_par_iter()
            .map(|n| skin[n / count].distance([x[n], y[n], z[n]]))
            .collect();
        let field = |values: Vec<f64>| self.compute.tensor(&values, [frames, count]);
        let slope = |axis: usize| field(found.iter().map(|(_, slope)| slope[axis]).collect());
        let slope = Vector {
            x: slope(0),
            y: slope(1),
            z: slope(2),
        };
        let here = Vector {
            x: field(x),
            y: field(y),
            z: field(z),
        };
        let value = field(found.iter().map(|(value, _)| *value).collect());
        Distance {
            value: points.minus(&here).dot(&slope) + value,
            slope,
        }
    }
}

impl PosedBone {
    /// With q the vector from the nearest point of the segment in the rest pose, r the half axes,
    /// k₀ = |q/r| and k₁ = |q/r²|:
    ///
    /// ```text
    /// d = k₀·(k₀ − 1)/k₁
    /// ```
    ///
    /// the implicit function k₀ − 1 over the length of its gradient. Exact for round sections, |q| − r, and to
    /// first order at the surface of others.
    fn distance(&self, points: &Vector) -> Distance {
        let relative = points.minus(&self.shift);
        let [px, py, pz] = [0, 1, 2].map(|a| relative.dot(&self.axes[a]) - self.from[a]);
        let [rx, ry, rz] = self.reach;
        // A bone may be a point.
        let squared = (rx * rx + ry * ry + rz * rz).max(TINY);
        // Products instead of quotients: burn differentiates a division by a number in single precision.
        let along =
            px.clone() * (rx / squared) + py.clone() * (ry / squared) + pz.clone() * (rz / squared);
        let along = along.clone() - max_zero(&(along.clone() - 1.0)) + max_zero(&along.neg());
        let q = [(px, rx), (py, ry), (pz, rz)].map(|(p, r)| p - along.clone() * r);
        let scaled = |power: i32| [0, 1, 2].map(|a| q[a].clone() * self.radii[a].powi(-power));
        // In the units of either, so that the axis of a bone is a radius deep.
        let radius = self.radii.iter().copied().fold(f64::INFINITY, f64::min);
        let norm = |v: &[Field; 3], power: i32| {
            let square = |k: usize| v[k].clone() * v[k].clone();
            (square(0) + square(1) + square(2) + TINY * radius.powi(-2 * power)).sqrt()
        };
        let (once, twice) = (scaled(1), scaled(2));
        let (k0, k1) = (norm(&once, 1), norm(&twice, 2));
        let value = k0.clone() * (k0.clone() - 1.0) / k1.clone();
        // ∇k₀ = (q/r²)/k₀ and ∇k₁ = (q/r⁴)/k₁. The nearest point of the segment moves only along it, which
        // changes nothing where the segment is a principal axis.
        let outer = (k0.clone() * 2.0 - 1.0) / (k1.clone() * k0);
        let inner = value.clone() / (k1.clone() * k1);
        let slope = [0, 1, 2]
            .map(|a| twice[a].clone() * (outer.clone() - inner.clone() * self.radii[a].powi(-2)));
        let turned = |pick: fn(&Vector) -> &Field| {
            let part = |a: usize| slope[a].clone() * pick(&self.axes[a]).clone();
            part(0) + part(1) + part(2)
        };
        Distance {
            value,
            slope: Vector {
                x: turned(|v| &v.x),
                y: turned(|v| &v.y),
                z: turned(|v| &v.z),
            },
        }
    }
}
