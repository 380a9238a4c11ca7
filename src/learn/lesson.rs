//! A motion as it is trained with.

use super::{Features, Given, Motion, Scene, Skinned, Transform, network::Pose};
use crate::{
    element::Vector,
    error::Result,
    numeric::{Compute, Field},
};

/// Which way things fall.
const DOWN: [f64; 3] = [0.0, 0.0, -1.0];

/// A motion with the poses of the body and what E-Net is told.
#[derive(Debug, Clone)]
pub struct Lesson {
    /// The motion.
    pub motion: Motion,
    /// The body, frame by frame.
    pub poses: Vec<Vec<Transform>>,
    /// The same for E-Net.
    pub pose: Pose,
    /// What frame t is bent against \[rad\], `[frames, hinges]`.
    pub rest_bending: Field,
}

impl Lesson {
    /// A motion without rest bending.
    pub fn new(scene: &Scene, motion: Motion, compute: &Compute) -> Result<Lesson> {
        let frames = motion.frames();
        let hinges = scene.garment.topology.hinges.len();
        let poses = scene.poses(&motion, 0..frames)?;
        let skeleton = &scene.body.skeleton;
        let features = Features::new(skeleton, &motion, DOWN);
        Ok(Lesson {
            poses,
            pose: Pose::new(&features, skeleton.joints().len(), compute),
            rest_bending: compute.zeros([frames, hinges]),
            motion,
        })
    }

    /// Number of frames.
    pub fn frames(&self) -> usize {
        self.poses.len()
    }
}

/// Consecutive frames of some lessons with two frames before each window, which inertia needs.
#[derive(Debug, Clone)]
pub struct Batch {
    windows: usize,
    window: usize,
    /// Lesson and frame of each decoded frame, windows one after the other.
    decoded: Vec<(usize, usize)>,
}

/// Frames before a window.
const LEAD: usize = 2;

impl Batch {
    /// Windows of `window` frames that begin at a frame of a lesson.
    pub fn new(starts: &[(usize, usize)], window: usize) -> Batch {
        let frames = |&(lesson, start): &(usize, usize)| {
            // Before its first frame a motion stands still.
            (0..window + LEAD).map(move |k| (lesson, (start + k).saturating_sub(LEAD)))
        };
        Batch {
            windows: starts.len(),
            window,
            decoded: starts.iter().flat_map(frames).collect(),
        }
    }

    /// Lesson and frame of each frame that is decoded.
    pub fn decoded(&self) -> &[(usize, usize)] {
        &self.decoded
    }

    /// Lesson and frame of each frame that is judged.
    pub fn judged(&self) -> Vec<(usize, usize)> {
        let windows = self.decoded.chunks_exact(self.window + LEAD);
        windows.flat_map(|w| &w[LEAD..]).copied().collect()
    }

    /// From positions of the decoded frames, `[3, frames·vertices]`, those of the judged ones, or of frames so
    /// many `earlier`.
    pub fn pick(&self, decoded: &Field, earlier: usize) -> Field {
        let frames = self.windows * (self.window + LEAD);
        let vertices = decoded.dims()[1] / frames;
        decoded
            .clone()
            .reshape([3, self.windows, self.window + LEAD, vertices])
            .narrow(2, LEAD - earlier, self.window)
            .reshape([3, self.windows * self.window * vertices])
    }

    /// What the judged frames are judged against.
    pub fn given(
        &self,
        scene: &Scene,
        lessons: &[Lesson],
        positions: &Field,
        compute: &Compute,
    ) -> Given {
        let judged = self.judged();
        let poses: Vec<Vec<Transform>> = judged
            .iter()
            .map(|&(lesson, frame)| lessons[lesson].poses[frame].clone())
            .collect();
        let moving: Vec<f64> = judged
            .iter()
            .map(|&(_, frame)| if frame >= LEAD { 1.0 } else { 0.0 })
            .collect();
        Given {
            previous: self.pick(positions, 1),
            before: self.pick(positions, 2),
            moving: compute.tensor(&moving, [moving.len(), 1]),
            plastic: rest_bending(lessons, &judged),
            anchors: scene.skinned(&poses, compute).plain(),
            body: scene.posed(&poses, compute),
        }
    }
}

/// Rest bending of some frames, `[frames, hinges]`.
pub fn rest_bending(lessons: &[Lesson], frames: &[(usize, usize)]) -> Field {
    let row = |&(lesson, frame): &(usize, usize)| {
        lessons[lesson].rest_bending.clone().narrow(0, frame, 1)
    };
    Field::cat(frames.iter().map(row).collect(), 0)
}

/// The garment \[m\], `[3, frames·vertices]`, with offsets as E-Net gives them, `[frames, 3·vertices]`; pinned
/// vertices have none.
pub fn dressed(skinned: &Skinned, sheet_free: &Field, offsets: &Field) -> Field {
    let vertices = sheet_free.dims()[1];
    let axis = |a: usize| offsets.clone().narrow(1, a * vertices, vertices) * sheet_free.clone();
    skinned.offset(&Vector {
        x: axis(0),
        y: axis(1),
        z: axis(2),
    })
}
