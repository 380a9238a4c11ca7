//! A motion as it is trained with.

use super::{BodyMotion, BodyScene, Features, JointTransform, Skinned, network::PoseBatch};
use crate::{
    element::Vector,
    error::Result,
    numeric::{Compute, Field},
};

/// Which way things fall.
const DOWN: [f64; 3] = [0.0, 0.0, -1.0];

/// A motion with the poses of the body and what E-Net is told.
#[derive(Debug, Clone)]
pub(crate) struct Lesson {
    /// The motion.
    #[cfg(test)]
    pub motion: BodyMotion,
    /// The body, frame by frame.
    pub poses: Vec<Vec<JointTransform>>,
    /// The same for E-Net.
    pub pose: PoseBatch,
    /// How the garment goes with the body.
    pub skinned: Skinned,
    /// How far the joint that turned furthest has turned \[rad\], frame by frame.
    pub turned: Vec<f64>,
    /// What frame t is bent against \[rad\], `[frames, hinges]`.
    pub rest_bending: Field,
    /// The same as both networks rolled it out at the end of the cycle before, none in the first.
    pub rolled_out: Field,
}

impl Lesson {
    /// A motion without rest bending.
    pub(crate) fn new(scene: &BodyScene, motion: BodyMotion, compute: &Compute) -> Result<Lesson> {
        let frames = motion.frames();
        let hinges = scene.garment.topology.hinges.len();
        let poses = scene.poses(&motion, 0..frames)?;
        let skeleton = &scene.body.skeleton;
        let features = Features::new(skeleton, &motion, DOWN);
        let turned = |turns: &Vec<[f64; 3]>| {
            let sizes = turns
                .iter()
                .map(|t| t.iter().map(|x| x * x).sum::<f64>().sqrt());
            sizes.fold(0.0, f64::max)
        };
        Ok(Lesson {
            turned: motion.turns.iter().map(turned).collect(),
            skinned: scene.skinned(&poses, compute),
            poses,
            pose: PoseBatch::new(&features, skeleton.joints().len(), compute),
            rest_bending: compute.zeros([frames, hinges]),
            rolled_out: compute.zeros([frames, hinges]),
            #[cfg(test)]
            motion,
        })
    }

    /// Number of frames.
    pub(crate) fn frames(&self) -> usize {
        self.poses.len()
    }
}

/// The garment \[m\], `[3, frames·vertices]`, with offsets as E-Net gives them, `[frames, 3·vertices]`; pinned
/// vertices have none.
pub(crate) fn dressed(skinned: &Skinned, sheet_free: &Field, offsets: &Field) -> Field {
    let vertices = sheet_free.dims()[1];
    let axis = |a: usize| offsets.clone().narrow(1, a * vertices, vertices) * sheet_free.clone();
    skinned.offset(&Vector {
        x: axis(0),
        y: axis(1),
        z: axis(2),
    })
}
