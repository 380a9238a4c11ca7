//! What acts on vertices one by one: inertia, gravity, drag, handles and contact.

use burn::tensor::Tensor;

use super::{Cloth, Drive};
use crate::contact::Touch;
use crate::{element::Vector, numeric::Field};

/// The vertices' part of the step, R = momentum − blocks·v'.
pub(super) struct VertexTerms {
    /// \[kg·m/s\], `[3, vertices]`.
    pub momentum: Field,
    /// Symmetric 3×3 blocks \[kg\], rows xx, yy, zz, xy, xz, yz, `[6, vertices]`.
    pub blocks: Field,
}

/// What the vertices' part depends on; leaves of a tape on the way back.
pub(super) struct VertexInputs {
    pub positions: Field,
    pub velocities: Field,
    pub anchors: Field,
    pub density: Field,
    /// Centres of the obstacles, `[3, 1]` each.
    pub centers: Vec<Field>,
}

impl Cloth {
    /// Masses \[kg\], `[1, vertices]`.
    pub(crate) fn masses(&self, density: &Field) -> Field {
        density.clone() * self.vertex_area.clone()
    }

    /// The vertices' part of a step; see [`super`] for the equation.
    pub(super) fn vertex_terms(&self, inputs: &VertexInputs, drive: &Drive) -> VertexTerms {
        let h = drive.seconds;
        let mass = self.masses(&inputs.density);
        let gravity = self.compute.tensor(&self.setup.gravity, [3, 1]);
        let pull = (inputs.anchors.clone() - inputs.positions.clone()) * drive.grip.clone();
        let mut momentum = (inputs.velocities.clone() + gravity * h) * mass.clone() + pull * h;
        let isotropic = mass * (1.0 + h * self.setup.damping.mass) + drive.grip.clone() * (h * h);
        let zero = isotropic.zeros_like();
        let mut diagonal = [isotropic.clone(), isotropic.clone(), isotropic];
        let mut mixed = [zero.clone(), zero.clone(), zero];
        let poses = drive.obstacles.iter().zip(&inputs.centers);
        for (i, (contact, (pose, center))) in self.setup.contacts.iter().zip(poses).enumerate() {
            if drive.absent.get(i) == Some(&true) {
                continue;
            }
            let pose = super::Pose {
                center: center.clone(),
                velocity: pose.velocity.clone(),
            };
            let touch = contact.touch(&pose, &inputs.positions, &inputs.velocities, &self.compute);
            momentum = momentum + touch.momentum(&pose.velocity, h);
            touch.add_blocks(h, &mut diagonal, &mut mixed);
        }
        VertexTerms {
            momentum,
            blocks: Tensor::cat(diagonal.into_iter().chain(mixed).collect(), 0),
        }
    }
}

impl VertexTerms {
    /// λ·(momentum − blocks·v').
    pub(crate) fn potential(&self, along: &Field, moving: &Field) -> Tensor<1> {
        let block = |r: usize| self.blocks.clone().narrow(0, r, 1);
        let (a, m) = (Vector::from_rows(along), Vector::from_rows(moving));
        let pair = |p: &Field, q: &Field, r: &Field, s: &Field| {
            p.clone() * q.clone() + r.clone() * s.clone()
        };
        let quadratic = block(0) * (a.x.clone() * m.x.clone())
            + block(1) * (a.y.clone() * m.y.clone())
            + block(2) * (a.z.clone() * m.z.clone())
            + block(3) * pair(&a.x, &m.y, &a.y, &m.x)
            + block(4) * pair(&a.x, &m.z, &a.z, &m.x)
            + block(5) * pair(&a.y, &m.z, &a.z, &m.y);
        (self.momentum.clone() * along.clone()).sum() - quadratic.sum()
    }
}

impl Touch {
    /// h·(normal force + what a moving obstacle drags along).
    fn momentum(&self, obstacle_velocity: &Field, h: f64) -> Field {
        let ones = self.force.ones_like();
        let velocity = Vector::from_rows(obstacle_velocity).times(&ones);
        let sliding = velocity.minus(&self.normal.times(&self.normal.dot(&velocity)));
        let push = self
            .normal
            .times(&self.force)
            .plus(&sliding.times(&self.drag));
        push.to_rows() * h
    }

    /// h²·slope·n nᵀ + h·drag·(I − n nᵀ).
    fn add_blocks(&self, h: f64, diagonal: &mut [Field; 3], mixed: &mut [Field; 3]) {
        let sliding = self.drag.clone() * h;
        let along = self.slope.clone() * (h * h) - sliding.clone();
        let n = &self.normal;
        for (slot, c) in diagonal.iter_mut().zip([&n.x, &n.y, &n.z]) {
            *slot = slot.clone() + c.clone() * c.clone() * along.clone() + sliding.clone();
        }
        for (slot, (a, b)) in mixed
            .iter_mut()
            .zip([(&n.x, &n.y), (&n.x, &n.z), (&n.y, &n.z)])
        {
            *slot = slot.clone() + a.clone() * b.clone() * along.clone();
        }
    }
}
