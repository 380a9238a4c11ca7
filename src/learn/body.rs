//! Bodies: an arm and a torso made of bones, in place of SMPL bodies, which may not be redistributed; and bodies with a
//! skin, read from files.

use std::sync::Arc;

use super::{
    skeleton::{Joint, Skeleton},
    skin::{ClosedSkin, Skin},
};
use crate::{
    error::{Result, bad_input},
    mesh::vector::{dot, minus},
};

/// A rounded bar about a segment, of elliptic section; with equal radii a capsule. Everything is given in the
/// rest pose.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bone {
    /// The joint it turns with.
    pub joint: usize,
    /// One end of the segment \[m\].
    pub from: [f64; 3],
    /// The other \[m\].
    pub to: [f64; 3],
    /// Half axes along x, y and z \[m\].
    pub radii: [f64; 3],
}

/// A skeleton with flesh.
#[derive(Debug, Clone, PartialEq)]
pub struct Body {
    /// For reports.
    pub name: String,
    /// Its joints; those of the bodies made here form a chain.
    pub skeleton: Skeleton,
    /// What cloth collides with.
    pub bones: Vec<Bone>,
    /// The surface of a real body, with which cloth collides too.
    pub skin: Option<Arc<ClosedSkin>>,
    /// Unit vector along the chain in the rest pose.
    pub axis: [f64; 3],
    /// Unit vector about which joint 1 bends.
    pub bend_axis: [f64; 3],
    /// Half of the length over which the blend weights of neighbouring bones change over \[m\]: more than the body
    /// is deep in the plane of the bend, or skinning turns the garment inside out there.
    pub blend: f64,
}

impl Body {
    /// An arm that hangs along −z: shoulder at 0, elbow 22 cm below, radius 4.5 cm. The elbow turns about −x, which
    /// lifts the forearm towards −y.
    pub fn arm() -> Body {
        let radii = [0.045; 3];
        let chain = [("shoulder", [0.0; 3]), ("elbow", [0.0, 0.0, -0.22])];
        let bones = vec![
            bone(0, [0.0, 0.0, 0.1], [0.0, 0.0, -0.22], radii),
            bone(1, [0.0, 0.0, -0.22], [0.0, 0.0, -0.5], radii),
        ];
        Body {
            name: "arm".into(),
            skeleton: chained(chain),
            bones,
            skin: None,
            axis: [0.0, 0.0, -1.0],
            bend_axis: [-1.0, 0.0, 0.0],
            blend: 0.06,
        }
    }

    /// A torso upright along z: the pelvis is the root, at 0, and the chest turns at the waist, at 22 cm, about
    /// +x, which bends it towards −y. Half axes 15 cm across (x) and 10 cm deep (y).
    pub fn torso() -> Body {
        let radii = [0.15, 0.10, 0.10];
        let chain = [("pelvis", [0.0; 3]), ("waist", [0.0, 0.0, 0.22])];
        let bones = vec![
            bone(0, [0.0, 0.0, -0.1], [0.0, 0.0, 0.22], radii),
            bone(1, [0.0, 0.0, 0.22], [0.0, 0.0, 0.55], radii),
        ];
        Body {
            name: "torso".into(),
            skeleton: chained(chain),
            bones,
            skin: None,
            axis: [0.0, 0.0, 1.0],
            bend_axis: [1.0, 0.0, 0.0],
            blend: 0.13,
        }
    }

    /// A body with a closed skin and no bones; its motions come from files. `axis` and `bend_axis` are those of a
    /// world with y upwards, as SMPL's rest pose has it.
    pub fn with_skin(name: &str, skeleton: Skeleton, skin: Skin) -> Result<Body> {
        let joints = skeleton.joints().len();
        if skin.weights.len() != joints {
            return bad_input(format!(
                "{name}: blend weights of {} joints for a skeleton of {joints}; give one row a joint",
                skin.weights.len()
            ));
        }
        let vertices = skin.rest.len();
        if let Some(row) = skin.weights.iter().find(|row| row.len() != vertices) {
            return bad_input(format!(
                "{name}: {} blend weights of a joint for {vertices} vertices; give one a vertex",
                row.len()
            ));
        }
        Ok(Body {
            skin: Some(Arc::new(ClosedSkin::new(name, skin)?)),
            name: name.into(),
            skeleton,
            bones: Vec::new(),
            axis: [0.0, 1.0, 0.0],
            bend_axis: [1.0, 0.0, 0.0],
            blend: 0.0,
        })
    }

    /// Blend weights of points of the rest pose \[m\], shape `[joints][points]`; they sum to 1. Near a skin they are
    /// those of its nearest vertex. Along a chain of bones a joint's weight rises by a smoothstep around it.
    pub fn weights(&self, points: &[[f64; 3]]) -> Vec<Vec<f64>> {
        if let Some(closed) = &self.skin {
            return closed.skin().weights_at(points);
        }
        let joints = self.skeleton.joints();
        let beyond = |number: usize, point: [f64; 3]| match joints.get(number) {
            None => 0.0,
            Some(_) if number == 0 => 1.0,
            Some(joint) => {
                let along = dot(minus(point, joint.place), self.axis);
                let u = ((along + self.blend) / (2.0 * self.blend)).clamp(0.0, 1.0);
                u * u * (3.0 - 2.0 * u)
            }
        };
        let weight = |joint: usize, point| beyond(joint, point) - beyond(joint + 1, point);
        let row = |joint: usize| points.iter().map(|&p| weight(joint, p)).collect();
        (0..joints.len()).map(row).collect()
    }
}

fn bone(joint: usize, from: [f64; 3], to: [f64; 3], radii: [f64; 3]) -> Bone {
    Bone {
        joint,
        from,
        to,
        radii,
    }
}

/// Joints that hang on one another.
fn chained<const N: usize>(chain: [(&str, [f64; 3]); N]) -> Skeleton {
    let joints = chain.into_iter().enumerate();
    let joints = joints.map(|(number, (name, place))| Joint {
        name: name.into(),
        parent: number.checked_sub(1),
        place,
    });
    Skeleton::of_chain(joints.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_skin_without_weights_for_every_joint_and_vertex_is_refused() {
        let mesh = Body::arm().bones[0].mesh(6, 2);
        let refusal = |weights: Vec<Vec<f64>>| {
            let skin = Skin {
                rest: mesh.positions.clone(),
                triangles: mesh.triangles.clone(),
                weights,
            };
            let made = Body::with_skin("arm", Body::arm().skeleton, skin);
            made.map_err(|e| e.to_string())
        };
        let count = mesh.positions.len();
        let text = refusal(vec![vec![1.0; count]]).unwrap_err();
        assert!(
            text.contains("weights of 1 joints for a skeleton of 2"),
            "{text}"
        );
        let text = refusal(vec![vec![1.0; count], vec![0.0; 3]]).unwrap_err();
        assert!(text.contains("arm: 3 blend weights of a joint"), "{text}");
        let body = refusal(vec![vec![1.0; count], vec![0.0; count]]).unwrap();
        // Near a skin weights are those of its vertices.
        let at = [mesh.positions[0], mesh.positions[count - 1]];
        assert_eq!(body.weights(&at), [[1.0, 1.0], [0.0, 0.0]]);
    }

    #[test]
    fn weights_change_over_at_the_joint_and_sum_to_one() {
        for body in [Body::arm(), Body::torso()] {
            let joint = body.skeleton.joints()[1].place;
            let point = |along: f64| std::array::from_fn(|a| joint[a] + along * body.axis[a]);
            let weights = body.weights(&[-1.1, -0.5, 0.0, 1.0].map(|x| point(x * body.blend)));
            let second = &weights[1];
            // S(1/4) = 3/16 − 2/64.
            for (weight, expected) in second.iter().zip([0.0, 0.15625, 0.5, 1.0]) {
                assert!((weight - expected).abs() < 1e-12, "{weights:?}");
            }
            for (a, b) in weights[0].iter().zip(second) {
                assert!((a + b - 1.0).abs() < 1e-15);
            }
        }
    }
}
