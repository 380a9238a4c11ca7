//! A garment on a body, and where skinning puts it.

use super::{
    Body, BodyMotion, Garment, Imperfection, PosedBody, SceneName, skeleton::JointTransform,
};
use crate::{
    element::Vector,
    error::{Result, bad_input},
    numeric::{Compute, Field},
};

/// What moves and what is worn.
#[derive(Debug, Clone)]
pub struct BodyScene {
    /// The body.
    pub body: Body,
    /// The garment.
    pub garment: Garment,
}

impl BodyScene {
    /// An arm in a sleeve; the seed is that of the sleeve's waves.
    pub fn arm(seed: u64) -> Result<BodyScene> {
        BodyScene::new(SceneName::Arm, seed, Garment::GRID)
    }

    /// A torso in a shirt.
    pub fn torso(seed: u64) -> Result<BodyScene> {
        BodyScene::new(SceneName::Torso, seed, Garment::GRID)
    }

    /// A body and its garment of so many vertices around and along.
    pub fn new(name: SceneName, seed: u64, grid: [usize; 2]) -> Result<BodyScene> {
        let waves = Imperfection::seeded(seed);
        let (body, garment) = match name {
            SceneName::Arm => {
                let body = Body::arm();
                let garment = Garment::sleeve(&body, waves, grid)?;
                (body, garment)
            }
            SceneName::Torso => {
                let body = Body::torso();
                let garment = Garment::shirt(&body, waves, grid)?;
                (body, garment)
            }
        };
        Ok(BodyScene { body, garment })
    }

    /// Poses of some frames of a motion.
    pub fn poses(
        &self,
        motion: &BodyMotion,
        frames: std::ops::Range<usize>,
    ) -> Result<Vec<Vec<JointTransform>>> {
        let joints = self.body.skeleton.joints().len();
        if let Some(frame) = motion.turns.iter().position(|turns| turns.len() != joints) {
            return bad_input(format!(
                "motion {}: frame {frame} turns {} joints, but the {} has {joints}",
                motion.name,
                motion.turns[frame].len(),
                self.body.name
            ));
        }
        if frames.end > motion.frames() {
            return bad_input(format!(
                "motion {}: frames up to {} are asked for, but it has {}",
                motion.name,
                frames.end,
                motion.frames()
            ));
        }
        let pose = |frame: usize| {
            self.body
                .skeleton
                .pose(&motion.turns[frame], motion.root[frame])
        };
        Ok(frames.map(pose).collect())
    }

    /// The body in some poses, for distances.
    pub fn posed(&self, poses: &[Vec<JointTransform>], compute: &Compute) -> PosedBody {
        PosedBody::new(&self.body, poses, compute)
    }

    /// Linear blend skinning of the garment to some poses.
    pub fn skinned(&self, poses: &[Vec<JointTransform>], compute: &Compute) -> Skinned {
        Skinned::new(&self.garment, poses, compute)
    }
}

/// Linear blend skinning of a batch of frames: x = Σ_j w_j·(R_j·x̄ + t_j), kept as one matrix and one shift a
/// vertex, `[frames, vertices]` each.
#[derive(Debug, Clone)]
pub struct Skinned {
    /// Columns of the blended matrix.
    axes: [Vector; 3],
    shift: Vector,
    /// x̄ \[m\], `[1, vertices]`.
    rest: Vector,
}

impl Skinned {
    fn new(garment: &Garment, poses: &[Vec<JointTransform>], compute: &Compute) -> Skinned {
        let count = garment.mesh.positions.len();
        let shape = [poses.len(), count];
        let blended = |entry: &dyn Fn(&JointTransform) -> f64| {
            let mut values = Vec::with_capacity(shape[0] * count);
            for pose in poses {
                let entries: Vec<f64> = pose.iter().map(entry).collect();
                values.extend((0..count).map(|v| -> f64 {
                    let parts = garment.weights.iter().zip(&entries);
                    parts.map(|(w, e)| w[v] * e).sum()
                }));
            }
            compute.tensor(&values, shape)
        };
        let axis = |k: usize| Vector {
            x: blended(&|t| t.turn[0][k]),
            y: blended(&|t| t.turn[1][k]),
            z: blended(&|t| t.turn[2][k]),
        };
        let rest = |a: usize| {
            let values: Vec<f64> = garment.mesh.positions.iter().map(|p| p[a]).collect();
            compute.tensor(&values, [1, count])
        };
        Skinned {
            axes: [axis(0), axis(1), axis(2)],
            shift: Vector {
                x: blended(&|t| t.shift[0]),
                y: blended(&|t| t.shift[1]),
                z: blended(&|t| t.shift[2]),
            },
            rest: Vector {
                x: rest(0),
                y: rest(1),
                z: rest(2),
            },
        }
    }

    /// The same for use on a tape; nothing of it is differentiated.
    pub fn autodiff(&self) -> Skinned {
        let on = |v: &Vector| v.map(|c| c.clone().autodiff());
        Skinned {
            axes: [0, 1, 2].map(|k| on(&self.axes[k])),
            shift: on(&self.shift),
            rest: on(&self.rest),
        }
    }

    /// That of one frame.
    pub fn frame(&self, frame: usize) -> Skinned {
        let of = |v: &Vector| v.map(|c| c.clone().narrow(0, frame, 1));
        Skinned {
            axes: [0, 1, 2].map(|k| of(&self.axes[k])),
            shift: of(&self.shift),
            rest: self.rest.clone(),
        }
    }

    /// The garment as it goes with the body \[m\], `[3, frames·vertices]`.
    pub fn plain(&self) -> Field {
        self.place(&self.rest)
    }

    /// The garment with offsets \[m\] from its sewn shape, `[frames, vertices]` a component, before skinning:
    /// what a network predicts. Linear in the offsets.
    pub fn offset(&self, offsets: &Vector) -> Field {
        self.place(&self.rest.plus(offsets))
    }

    /// Offsets before skinning that move the garment by `moved` \[m\], `[3, frames·vertices]`: the inverse of what
    /// [`Skinned::offset`] does to offsets, `[frames, vertices]` a component.
    pub fn undone(&self, moved: &Field) -> Vector {
        let dims = self.shift.x.dims();
        let moved = Vector::from_rows(moved).map(|c| c.clone().reshape(dims));
        let [x, y, z] = &self.axes;
        let rows = [y.cross(z), z.cross(x), x.cross(y)];
        let volume = x.dot(&rows[0]);
        let part = |k: usize| rows[k].dot(&moved) / volume.clone();
        Vector {
            x: part(0),
            y: part(1),
            z: part(2),
        }
    }

    fn place(&self, points: &Vector) -> Field {
        let [x, y, z] = &self.axes;
        let turned = x
            .times(&points.x)
            .plus(&y.times(&points.y))
            .plus(&z.times(&points.z));
        let placed = turned.plus(&self.shift);
        let [frames, vertices] = placed.x.dims();
        placed
            .map(|c| c.clone().reshape([1, frames * vertices]))
            .to_rows()
    }
}
