//! One implicit Euler step of a cloth mesh, forward and backward.
//!
//! Paper 1, Eqs. 17 to 20, with damping, handles, pins and obstacles. The history is updated from the strain
//! at the start of the step and held within it. In terms of the new velocity v' the step solves
//!
//! ```text
//! R(v') = M·(v − v') + h·f(x) − h·(h + β)·K(x)·v' + (handles, contact, drag) = 0,   x' = x + h·v'
//! ```
//!
//! which is linear in v': A·v' = r. [`Cloth::advance`] does that; [`Cloth::pull_back`] is its
//! vector-Jacobian product with one more solve of the same matrix.

mod cloth;
mod euler;
mod finite;
mod measures;
mod parameters;
mod response;
mod reverse;
mod vertex;

pub(crate) use cloth::{Cloth, ClothSetup, Damping};

pub(crate) use parameters::Parameters;
pub(crate) use response::Response;

pub(crate) use reverse::{leaf, of};

use crate::{contact::Pose, numeric::Field};
#[cfg(test)]
pub(crate) use euler::System;
#[cfg(test)]
pub(crate) use reverse::StepGradient;

/// Everything that one step hands to the next.
#[derive(Debug, Clone)]
pub struct State {
    /// x \[m\], `[3, vertices]`.
    pub positions: Field,
    /// v \[m/s\], `[3, vertices]`.
    pub velocities: Field,
    /// History of the hinges in the order of their law, each `[1, hinges]`.
    pub bending: Vec<Field>,
    /// History of the triangles, each `[3, triangles]`; empty for an elastic membrane.
    pub tensile: Vec<Field>,
}

impl State {
    /// One function of every field.
    pub fn map(&self, f: impl Fn(&Field) -> Field) -> State {
        State {
            positions: f(&self.positions),
            velocities: f(&self.velocities),
            bending: self.bending.iter().map(&f).collect(),
            tensile: self.tensile.iter().map(&f).collect(),
        }
    }

    /// The sum, field by field.
    ///
    /// # Panics
    /// When the two have histories of different length: they then belong to different cloths.
    pub(crate) fn plus(&self, other: &State) -> State {
        State {
            positions: self.positions.clone() + other.positions.clone(),
            velocities: self.velocities.clone() + other.velocities.clone(),
            bending: sums(&self.bending, &other.bending),
            tensile: sums(&self.tensile, &other.tensile),
        }
    }

    /// All fields.
    pub fn list(&self) -> Vec<&Field> {
        let motion = [&self.positions, &self.velocities];
        motion
            .into_iter()
            .chain(&self.bending)
            .chain(&self.tensile)
            .collect()
    }
}

/// The sums of two lists of fields. Lists of different length are a mistake of the program, not of its input.
fn sums(a: &[Field], b: &[Field]) -> Vec<Field> {
    assert_eq!(a.len(), b.len(), "fields of different cloths are added");
    let pairs = a.iter().zip(b);
    pairs.map(|(a, b)| a.clone() + b.clone()).collect()
}

/// What is done to the cloth during one step.
#[derive(Debug, Clone)]
pub struct Drive {
    /// h \[s\].
    pub seconds: f64,
    /// How long the material takes the step to last \[s\]: h times the time scale.
    pub material_seconds: f64,
    /// The same for every hinge apart, `[1, hinges]`: specimens of one batch may be held differently long.
    pub hinge_seconds: Option<Field>,
    /// Added to the clocks of the hinges after the step \[s\].
    pub elapse: f64,
    /// Stiffness of the penalty handles \[N/m\], 0 for vertices that are not held, `[1, vertices]`.
    pub grip: Field,
    /// Whether any vertex is pinned.
    pub pinned: bool,
    /// 0 for pinned vertices, else 1, `[1, vertices]`.
    pub free: Field,
    /// Where held and pinned vertices are drawn to \[m\], `[3, vertices]`; not used for the others.
    pub anchors: Field,
    /// Where the obstacles are at the end of the step, in the order of the cloth's.
    pub obstacles: Vec<Pose>,
    /// Which of the obstacles are not there; empty where all are.
    pub absent: Vec<bool>,
}
