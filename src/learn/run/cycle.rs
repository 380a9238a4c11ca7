//! What a cycle brought, measured when its networks have learned.

use serde::{Deserialize, Serialize};

use crate::{
    error::Result,
    learn::{
        curriculum::{Curriculum, Predicted, Students},
        evaluate::mean_size,
    },
    numeric::{Compute, Field},
};

/// What a cycle brought, over all frames and hinges of the training motions.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct Cycle {
    /// From 0.
    pub cycle: usize,
    /// Mean |rest bending| of P-Net's target, which the plastic rule makes from E-Net's prediction \[rad\].
    pub target: f64,
    /// Mean size of the error of P-Net's increments added up along that prediction \[rad\].
    pub error: f64,
    /// Mean |rest bending| of the roll-out of both networks, which the next cycle begins with \[rad\].
    pub roll_out: f64,
    /// Mean |roll-out − roll-out of the cycle before| \[rad\]; before the first there is none.
    pub change: f64,
    /// The error on motions of the validation, along the roll-out of both networks \[rad\].
    pub validation_error: f64,
    /// How far E-Net is from where the minimiser leads on these, mean over frames and vertices \[m\].
    pub validation_away: f64,
    /// How long the cycle took \[s\].
    pub seconds: f64,
}

impl Cycle {
    /// Measures everything but validation and time; also the roll-outs of both networks, lesson by lesson. `seen` are
    /// E-Net's predictions of the lessons and P-Net's targets; without rest bending there are none, and all is zero.
    pub(super) fn measure(
        cycle: usize,
        course: &Curriculum,
        students: &Students,
        seen: &[(Predicted, Field)],
        compute: &Compute,
    ) -> Result<(Cycle, Vec<Field>)> {
        let mut sums = [0.0; 4];
        let mut roll_outs = Vec::new();
        for ((predicted, target), lesson) in seen.iter().zip(&students.lessons) {
            let followed = course.follow(&students.plastic, predicted)?;
            let roll_out = course.predict(students, lesson)?.rest_bending;
            let measured = [
                target.clone(),
                followed - target.clone(),
                roll_out.clone(),
                roll_out.clone() - lesson.rolled_out.clone(),
            ];
            for (sum, field) in sums.iter_mut().zip(measured) {
                *sum += mean_size(&compute.values(field)?);
            }
            roll_outs.push(roll_out);
        }
        let share = 1.0 / students.lessons.len() as f64;
        let [target, error, roll_out, change] = sums.map(|sum| sum * share);
        let row = Cycle {
            cycle,
            target,
            error,
            roll_out,
            change,
            validation_error: 0.0,
            validation_away: 0.0,
            seconds: 0.0,
        };
        Ok((row, roll_outs))
    }

    /// What was measured, in words, for a message about what is not finite.
    pub(super) fn numbers(&self) -> [(&'static str, f64); 6] {
        [
            ("the mean rest bending of its target", self.target),
            ("its mean error along its target", self.error),
            (
                "the mean rest bending of the roll-out of both networks",
                self.roll_out,
            ),
            (
                "the change of that roll-out since the cycle before",
                self.change,
            ),
            (
                "the error of the rest bending on validation motions",
                self.validation_error,
            ),
            (
                "E-Net's distance from the minimiser's aims on validation motions",
                self.validation_away,
            ),
        ]
    }
}
