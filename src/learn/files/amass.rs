//! AMASS motions.

use std::path::Path;

use super::Npz;
use crate::{
    error::{Result, bad_input, readable},
    learn::BodyMotion,
};

/// A recorded motion: `poses` `[frames, 3·joints]`, `trans` `[frames, 3]`, `betas`, `mocap_framerate`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Amass {
    /// The file, for messages.
    pub place: String,
    /// Frames a second.
    pub rate: f64,
    /// Axis times angle of every joint \[rad\], shape `[frames][joints]`.
    pub turns: Vec<Vec<[f64; 3]>>,
    /// Where the root is \[m\], shape `[frames]`.
    pub root: Vec<[f64; 3]>,
    /// Shape of the body.
    pub betas: Vec<f64>,
}

/// Joints that SMPL and SMPL-H have in common; what follows are hands.
const COMMON_JOINTS: usize = 22;

/// Names of the frame rate: AMASS itself, and its later SMPL-X files.
const RATES: [&str; 2] = ["mocap_framerate", "mocap_frame_rate"];

impl Amass {
    /// Reads a motion.
    pub(crate) fn read(path: &Path) -> Result<Amass> {
        let npz = Npz::open(path)?;
        let poses = npz.shaped("poses", &[None, None])?;
        let [frames, columns] = [poses.shape[0], poses.shape[1]];
        if frames == 0 || columns == 0 || columns % 3 != 0 {
            return bad_input(format!(
                "{}, 'poses': shape {:?}; give at least one frame, and three numbers a joint",
                npz.place(),
                poses.shape
            ));
        }
        let root = npz.shaped("trans", &[Some(frames), Some(3)])?;
        let key = RATES
            .into_iter()
            .find(|key| npz.has(key))
            .unwrap_or(RATES[0]);
        let rate = npz.array(key)?;
        let rate = match rate.values[..] {
            [rate] if rate.is_finite() && rate > 0.0 => rate,
            _ => {
                return bad_input(format!(
                    "{}, '{key}': {}; give one positive number of frames a second",
                    npz.place(),
                    a_few(&rate.values)
                ));
            }
        };
        Ok(Amass {
            place: npz.place().into(),
            rate,
            turns: poses.values.chunks(columns).map(triples).collect(),
            root: triples(&root.values),
            betas: npz.shaped("betas", &[None])?.values,
        })
    }

    /// The motion of a skeleton with `joints` joints at `rate` frames a second: of each moment the nearest
    /// recorded frame. Of SMPL-H's joints a body with SMPL's takes those that both have; its hands stay still.
    pub(crate) fn motion(&self, name: &str, joints: usize, rate: f64) -> Result<BodyMotion> {
        let common = self.common_joints(name, joints)?;
        let frames = self.frames(name, rate)?;
        let nearest = |frame: usize| {
            ((frame as f64 * self.rate / rate).round() as usize).min(self.turns.len() - 1)
        };
        let turns = |frame: usize| {
            let mut turns = self.turns[nearest(frame)][..common].to_vec();
            turns.resize(joints, [0.0; 3]);
            turns
        };
        Ok(BodyMotion {
            name: name.into(),
            seconds: 1.0 / rate,
            turns: (0..frames).map(turns).collect(),
            root: (0..frames).map(|frame| self.root[nearest(frame)]).collect(),
        })
    }

    /// How many joints a body with `joints` joints takes of this motion.
    fn common_joints(&self, name: &str, joints: usize) -> Result<usize> {
        let recorded = self.turns[0].len();
        let common = match recorded == joints {
            true => joints,
            false => COMMON_JOINTS.min(joints),
        };
        if recorded < common {
            return bad_input(format!(
                "{}, motion {name}: it has {recorded} joints, but the body needs {common}; give a motion of this body",
                self.place
            ));
        }
        Ok(common)
    }

    /// Number of frames at `rate` frames a second, which is large where the recorded rate is written too low.
    fn frames(&self, name: &str, rate: f64) -> Result<usize> {
        if !(rate.is_finite() && rate > 0.0) {
            return bad_input(format!(
                "{}, motion {name}: {rate} frames a second; give a positive number",
                self.place
            ));
        }
        let last = (self.turns.len() - 1) as f64 * rate / self.rate + 1e-9;
        let frames = last.floor() + 1.0;
        if frames > BodyMotion::MOST_FRAMES as f64 {
            return bad_input(format!(
                "{}, motion {name}: {} frames, recorded at {} a second (mocap_framerate), are {} frames at {rate}, \
                 but at most {} fit the memory; cut the motion, or write its true rate",
                self.place,
                self.turns.len(),
                readable(self.rate),
                readable(frames),
                BodyMotion::MOST_FRAMES
            ));
        }
        Ok(frames as usize)
    }
}

/// Values for a message; many are only counted.
fn a_few(values: &[f64]) -> String {
    match values.len() {
        0..=4 => format!("{values:?}"),
        count => format!("{count} numbers"),
    }
}

fn triples(values: &[f64]) -> Vec<[f64; 3]> {
    values.chunks_exact(3).map(|c| [c[0], c[1], c[2]]).collect()
}
