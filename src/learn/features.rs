//! What the networks are told.

use burn::tensor::Tensor;

use super::{
    Motion, Scene, Transform,
    network::{DYNAMIC_INPUTS, EDGE_INPUTS, HingeGraph, Pose, STATIC_INPUTS},
    rotation,
};
use crate::{
    error::Result,
    mesh::vector::{dot, length, minus},
    numeric::{Compute, Field},
};

/// Down.
const DOWN: [f64; 3] = [0.0, 0.0, -1.0];
/// Accelerations are told in units of this \[m/s²\].
const ACCELERATION: f64 = 9.81;

/// A motion as E-Net sees it: for every joint two columns of its own rotation and gravity in its frame, their
/// rates \[1/s\], and its acceleration. A motion begins at rest.
pub fn pose(scene: &Scene, motion: &Motion, compute: &Compute) -> Result<Pose> {
    let frames = motion.frames();
    let poses = scene.poses(motion, 0..frames)?;
    let joints = scene.body.skeleton.joints();
    let still: Vec<Vec<[f64; STATIC_INPUTS]>> = poses
        .iter()
        .zip(&motion.turns)
        .map(|(pose, turns)| pose.iter().zip(turns).map(|(p, t)| still(p, *t)).collect())
        .collect();
    let place = |frame: usize, joint: usize| poses[frame][joint].apply(joints[joint].place);
    let mut moving = Vec::with_capacity(frames * joints.len() * DYNAMIC_INPUTS);
    for frame in 0..frames {
        let (last, before) = (frame.saturating_sub(1), frame.saturating_sub(2));
        for joint in 0..joints.len() {
            let (now, then) = (&still[frame][joint], &still[last][joint]);
            moving.extend(now.iter().zip(then).map(|(a, b)| (a - b) / motion.seconds));
            let (new, old) = (
                minus(place(frame, joint), place(last, joint)),
                minus(place(last, joint), place(before, joint)),
            );
            let scale = ACCELERATION * motion.seconds * motion.seconds;
            moving.extend(minus(new, old).map(|a| a / scale));
        }
    }
    let flat: Vec<f64> = still.iter().flatten().flatten().copied().collect();
    Ok(Pose {
        still: compute.tensor(&flat, [1, frames, joints.len() * STATIC_INPUTS]),
        moving: compute.tensor(&moving, [frames, joints.len(), DYNAMIC_INPUTS]),
    })
}

fn still(posed: &Transform, turn: [f64; 3]) -> [f64; STATIC_INPUTS] {
    let own = rotation(turn);
    let column = |c: usize| own.map(|row| row[c]);
    // Gravity in the joint's frame: the transpose of its rotation.
    let gravity = |c: usize| dot(posed.turn.map(|row| row[c]), DOWN);
    let all = [column(0), column(1), std::array::from_fn(gravity)];
    std::array::from_fn(|k| all[k / 3][k % 3])
}

/// Edges of the hinge graph as P-Net sees them: the way from a hinge's midpoint to its neighbour's and its length, now
/// and as sewn, in units of the mean length as sewn; the step \[s\] and the yield angle \[rad\]. Only ways between
/// midpoints enter, so that it does not matter where the garment is.
pub struct EdgeFeatures {
    /// Ends of the hinges and of their neighbours, four a row.
    ends: Vec<[usize; 4]>,
    sewn: Vec<[f64; 4]>,
    unit: f64,
    constants: [f64; 2],
}

impl EdgeFeatures {
    /// For a garment, a step and a yield angle.
    pub fn new(scene: &Scene, graph: &HingeGraph, seconds: f64, yield_angle: f64) -> EdgeFeatures {
        let mesh = &scene.garment.mesh;
        let hinges = &scene.garment.topology.hinges;
        let edge = |hinge: usize| [hinges[hinge].vertices[0], hinges[hinge].vertices[1]];
        let ends: Vec<[usize; 4]> = graph
            .places()
            .iter()
            .enumerate()
            .map(|(k, place)| {
                // An empty place leads nowhere.
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
    pub fn at(&self, positions: &[f64], compute: &Compute) -> Tensor<2> {
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
pub fn nodes(rest_bending: [&Field; 2], strain: [&Field; 2]) -> Tensor<2> {
    let all = rest_bending.into_iter().chain(strain).cloned().collect();
    Tensor::cat(all, 0).transpose()
}
