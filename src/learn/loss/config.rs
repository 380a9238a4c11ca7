//! Weights, reductions, stiffnesses and forms of the loss.

use serde::{Deserialize, Serialize};

use super::Terms;
use crate::{
    error::{Result, bad_input},
    learn::BodyMotion,
};

/// How a term is taken over its elements, or the loss over its frames.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reduction {
    /// Added up: an energy.
    #[default]
    Sum,
    /// Divided by their number.
    Mean,
}

/// One term's weight and reduction over elements.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Term {
    /// Not negative; 0 turns the term off.
    pub weight: f64,
    /// Over hinges, triangles or vertices.
    #[serde(default)]
    pub over: Reduction,
}

impl Term {
    /// What each of `count` elements counts for.
    pub(super) fn share(&self, count: usize) -> f64 {
        match self.over {
            Reduction::Sum => 1.0,
            Reduction::Mean => 1.0 / count as f64,
        }
    }
}

/// What the garment is made of.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Materials {
    /// k_b \[J\].
    pub bending: f64,
    /// k_s \[N/m\].
    pub stretch: f64,
    /// k_sh \[N/m\].
    pub shear: f64,
    /// k_c \[N/m\].
    pub collision: f64,
    /// Distance from the body below which it pushes \[m\].
    pub thickness: f64,
    /// \[kg/m²\]
    pub density: f64,
    /// h \[s\].
    pub seconds: f64,
    /// \[m/s²\]
    pub gravity: [f64; 3],
}

impl Default for Materials {
    fn default() -> Self {
        Materials {
            bending: 3e-3,
            stretch: 20.0,
            shear: 20.0,
            collision: 200.0,
            thickness: 4e-3,
            density: 0.2,
            seconds: 1.0 / 30.0,
            gravity: [0.0, 0.0, -9.81],
        }
    }
}

/// Steps that differ by less are the same \[s\]: 1/30 is written with few or many digits.
const SAME_SECONDS: f64 = 1e-9;

impl Materials {
    /// Refuses a motion whose frames are not h apart: its inertia would be that of another speed.
    pub(in crate::learn) fn check_step(&self, motion: &BodyMotion) -> Result<()> {
        let (of_motion, of_loss) = (motion.seconds, self.seconds);
        if (of_motion - of_loss).abs() <= SAME_SECONDS {
            return Ok(());
        }
        bad_input(format!(
            "motion {}: its frames are {of_motion} s apart, but the loss has materials.seconds {of_loss}; set \
             materials.seconds to {of_motion}, or give the motion at {} frames a second",
            motion.name,
            of_loss.recip()
        ))
    }
}

/// Eq. 13 has a misprint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StretchForm {
    /// (|w_u| − 1)² + (|w_v| − 1)², zero for a cloth at rest.
    #[default]
    Columns,
    /// (‖J‖_F − 1)² as printed: smallest where the cloth has shrunk to 1/√2, since ‖I‖_F = √2.
    Printed,
}

/// Eq. 17 has the wrong sign.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GravityForm {
    /// −m·g·x: cloth falls along g.
    #[default]
    Falling,
    /// +m·g·x as printed: cloth rises against g.
    Printed,
}

/// Which form a term takes where print and sense differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Forms {
    /// Of the stretch.
    pub stretch: StretchForm,
    /// Of gravity.
    pub gravity: GravityForm,
}

/// Everything that can be set about the loss. The default is an energy \[J\]: true areas, weights of 1, sums over
/// elements, and the mean over the frames of a batch.
///
/// `regression` and `crease_regression` pull angles towards the rest bending, without the shape factor l²/(8a),
/// over all hinges and over those with any rest bending. They stand for the two extra losses of the paper's
/// released program, which the paper does not mention; off by default.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LossConfig {
    /// Stiffnesses, density, time step.
    pub materials: Materials,
    /// Printed forms for comparison.
    pub forms: Forms,
    /// Over the frames of a batch.
    pub frames: Reduction,
    /// Of the bending.
    pub bending: Term,
    /// Of the stretch.
    pub stretch: Term,
    /// Of the shear.
    pub shear: Term,
    /// Of the collision.
    pub collision: Term,
    /// Of the inertia.
    pub inertia: Term,
    /// Of gravity.
    pub gravity: Term,
    /// Of cuffs and hems.
    pub springs: Term,
    /// Of the regression of all angles.
    pub regression: Term,
    /// Of the regression of creased hinges' angles.
    pub crease_regression: Term,
}

const fn term(weight: f64, over: Reduction) -> Term {
    Term { weight, over }
}

impl Default for LossConfig {
    fn default() -> Self {
        let one = term(1.0, Reduction::Sum);
        LossConfig {
            materials: Materials::default(),
            forms: Forms::default(),
            frames: Reduction::Mean,
            bending: one,
            stretch: one,
            shear: one,
            collision: one,
            inertia: one,
            gravity: one,
            springs: one,
            regression: term(0.0, Reduction::Mean),
            crease_regression: term(0.0, Reduction::Mean),
        }
    }
}

impl LossConfig {
    /// Weights, constants, reductions and forms as paper 2 prints them (Eqs. 9 to 17 and section C), for
    /// comparison. Its bending is some 10⁷ times weaker than that of its released program, and does nothing.
    pub fn printed() -> LossConfig {
        let sum = |weight| term(weight, Reduction::Sum);
        LossConfig {
            materials: Materials {
                bending: 3.96e-5,
                stretch: 1.0,
                shear: 1.0,
                collision: 5e3,
                thickness: 1e-3,
                gravity: [0.0, 0.0, -9.8],
                ..Materials::default()
            },
            forms: Forms {
                stretch: StretchForm::Printed,
                gravity: GravityForm::Printed,
            },
            bending: term(4e-3, Reduction::Mean),
            stretch: sum(10.0),
            shear: sum(1.0),
            collision: sum(10.0),
            inertia: sum(1.0),
            gravity: sum(1.0),
            springs: sum(0.0),
            ..LossConfig::default()
        }
    }

    /// Weights of the terms with the reduction over `frames`.
    pub(super) fn weights(&self, frames: usize) -> Terms<f64> {
        let share = match self.frames {
            Reduction::Sum => 1.0,
            Reduction::Mean => 1.0 / frames as f64,
        };
        self.terms().map(|term| term.weight * share)
    }

    fn terms(&self) -> Terms<Term> {
        Terms {
            bending: self.bending,
            stretch: self.stretch,
            shear: self.shear,
            collision: self.collision,
            inertia: self.inertia,
            gravity: self.gravity,
            springs: self.springs,
            regression: self.regression,
            crease_regression: self.crease_regression,
        }
    }

    /// Refuses numbers out of their range, by name.
    pub fn check(&self) -> Result<()> {
        for (name, term) in self.terms().named() {
            if !(term.weight.is_finite() && term.weight >= 0.0) {
                return bad_input(format!(
                    "loss: {name}.weight is {}; give 0 (off) or a positive number",
                    term.weight
                ));
            }
        }
        let m = &self.materials;
        let positive = [
            ("bending", m.bending),
            ("stretch", m.stretch),
            ("shear", m.shear),
            ("collision", m.collision),
            ("thickness", m.thickness),
            ("density", m.density),
            ("seconds", m.seconds),
        ];
        for (name, value) in positive {
            if !(value.is_finite() && value > 0.0) {
                return bad_input(format!(
                    "loss: materials.{name} is {value}; give a positive number, and turn a term off by its weight"
                ));
            }
        }
        if m.gravity.iter().any(|g| !g.is_finite()) {
            return bad_input(format!(
                "loss: materials.gravity is {:?}; give three finite numbers in m/s²",
                m.gravity
            ));
        }
        Ok(())
    }
}
