//! Bodies as triangles, to be looked at.

use std::f64::consts::{FRAC_PI_2, TAU};

use super::{Body, Bone, skeleton::JointTransform};
use crate::mesh::vector::{cross, length, minus};

/// A closed mesh, its front outside.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct BodyMesh {
    /// \[m\], shape `[vertices][3]`.
    pub positions: Vec<[f64; 3]>,
    /// Vertices of every triangle.
    pub triangles: Vec<[usize; 3]>,
}

/// Corners around a bone, and from its middle to a pole: chords within half a percent of the circle.
const AROUND: usize = 32;
const ALONG: usize = 8;

impl Body {
    /// Bones and skin in a pose. All poses have the same triangles.
    pub fn mesh(&self, pose: &[JointTransform]) -> BodyMesh {
        let mut all = BodyMesh::default();
        for bone in &self.bones {
            let mut part = bone.mesh(AROUND, ALONG);
            for place in &mut part.positions {
                *place = pose[bone.joint].apply(*place);
            }
            all.join(part);
        }
        if let Some(closed) = &self.skin {
            let skin = closed.skin();
            all.join(BodyMesh {
                positions: skin.posed(pose),
                triangles: skin.triangles.clone(),
            });
        }
        all
    }
}

impl Bone {
    /// Its surface in the rest pose, with `around` corners about it and `along` from its middle to a pole.
    pub fn mesh(&self, around: usize, along: usize) -> BodyMesh {
        let (axis, first, second) = frame(minus(self.to, self.from));
        let point = |end: [f64; 3], height: f64, turn: usize| -> [f64; 3] {
            let (sine, cosine) = (TAU * turn as f64 / around as f64).sin_cos();
            std::array::from_fn(|a| {
                let across = cosine * first[a] + sine * second[a];
                end[a] + self.radii[a] * (height.sin() * axis[a] + height.cos() * across)
            })
        };
        let step = FRAC_PI_2 / along as f64;
        let lower = (1..=along).map(|i| (self.from, step * i as f64 - FRAC_PI_2));
        let upper = (0..along).map(|i| (self.to, step * i as f64));
        let mut mesh = BodyMesh::default();
        for (end, height) in lower.chain(upper) {
            let ring = (0..around).map(|turn| point(end, height, turn));
            mesh.positions.extend(ring);
        }
        let poles = [mesh.positions.len(), mesh.positions.len() + 1];
        mesh.positions.push(point(self.from, -FRAC_PI_2, 0));
        mesh.positions.push(point(self.to, FRAC_PI_2, 0));
        for i in 0..around {
            let next = (i + 1) % around;
            let last = (2 * along - 1) * around;
            mesh.triangles.push([poles[0], next, i]);
            for ring in (0..last).step_by(around) {
                let (a, b, c, d) = (
                    ring + i,
                    ring + next,
                    ring + around + i,
                    ring + around + next,
                );
                mesh.triangles.extend([[a, b, d], [a, d, c]]);
            }
            mesh.triangles.push([poles[1], last + i, last + next]);
        }
        mesh
    }
}

impl BodyMesh {
    fn join(&mut self, other: BodyMesh) {
        let first = self.positions.len();
        self.positions.extend(other.positions);
        let moved = other.triangles.into_iter().map(|t| t.map(|v| v + first));
        self.triangles.extend(moved);
    }
}

/// Three directions at right angles, right-handed, the first along a vector.
fn frame(along: [f64; 3]) -> ([f64; 3], [f64; 3], [f64; 3]) {
    let unit = |a: [f64; 3]| a.map(|x| x / length(a));
    // A ball has no direction of its own.
    let axis = match length(along) {
        0.0 => [0.0, 0.0, 1.0],
        _ => unit(along),
    };
    let other = if axis[0].abs() < 0.7 {
        [1.0, 0.0, 0.0]
    } else {
        [0.0, 1.0, 0.0]
    };
    let first = unit(cross(axis, other));
    (axis, first, cross(axis, first))
}

#[cfg(test)]
mod tests {
    use crate::{
        element::Vector,
        learn::{BodyMotion, BodyScene, ClosedSurface, PosedBody},
        numeric::{Compute, Precision},
    };

    #[test]
    fn the_mesh_of_a_body_is_closed_and_lies_on_its_surface_in_every_pose() {
        let compute = Compute::cpu(Precision::F64);
        for scene in [BodyScene::arm(1).unwrap(), BodyScene::torso(1).unwrap()] {
            let motion = BodyMotion::canonical(&scene.body);
            let poses = scene.poses(&motion, 40..41).unwrap();
            let mesh = scene.body.mesh(&poses[0]);
            ClosedSurface::new("body", &mesh.positions, &mesh.triangles).unwrap();
            let axis = |a: usize| {
                let values: Vec<f64> = mesh.positions.iter().map(|p| p[a]).collect();
                compute.tensor(&values, [1, values.len()])
            };
            let points = Vector {
                x: axis(0),
                y: axis(1),
                z: axis(2),
            };
            let body = PosedBody::new(&scene.body, &poses, &compute);
            let distances = compute.values(body.distance(&points).value).unwrap();
            // Parts of one bone lie inside the other; none lies outside of both.
            let furthest = distances.iter().fold(f64::MIN, |m, d| m.max(*d));
            assert!(furthest.abs() < 1e-9, "{furthest}");
            let on_it = distances.iter().filter(|d| d.abs() < 1e-9).count();
            assert!(on_it > mesh.positions.len() / 2, "{on_it}");
        }
    }
}
