//! The cantilever test (ASTM D1388, Shirley): a strip is pushed over an edge until the line from the edge to its tip
//! falls by a set angle, usually 41.5°, and the overhang is read.
//!
//! The strip is an elastica under its own weight: with s from the edge, θ the angle below the horizontal and w the
//! weight per area, the moment is M(s) = ∫ w·(L − u)·cos θ(u) du from s to L, and M = σ(κ) with κ = dθ/ds and σ the
//! law. The strip bends while it moves, so yarns have no time to lock and nothing flows: the law is taken from 0 to κ in
//! no time. The standard reports the bending length c = L/2 and the flexural rigidity G = w·c³.
//!
//! This folder and a line in [`super::TESTS`] are all that fits, designs, studies, reports and the command line know of
//! the test. Its parts: `columns` (data files), `settings` (cases and options), `elastica` (the strip's mechanics, which
//! know neither data files nor reports) and `measured` (the implementation of [`super::Test`]).
mod columns;
mod elastica;
mod measured;
mod settings;

pub(crate) use measured::Cantilever;

use super::{Condition, Test};

/// Angle of the standard \[degrees\].
pub(crate) const STANDARD_ANGLE: f64 = 41.5;
/// \[m/s²\]
const GRAVITY: f64 = 9.806_65;

/// What is read of a strip.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CantileverReading {
    /// The overhang \[m\].
    Overhang,
    /// The bending length \[m\]: the overhang times `bending_length_share`.
    BendingLength,
}

/// One cantilever test. As a condition it is its overhang \[m\].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CantileverPoint {
    /// Angle from the horizontal to the line from edge to tip \[rad\], within (0, π/2).
    pub angle: f64,
    /// Mass per area \[kg/m²\].
    pub density: f64,
}

/// Bending length over overhang. Peirce's factor (cos(φ/2)/(8·tan φ))^(1/3), scaled so that it is a half at 41.5°, as
/// the standard has it.
pub(crate) fn bending_length_share(angle: f64) -> f64 {
    let peirce = |angle: f64| ((0.5 * angle).cos() / (8.0 * angle.tan())).cbrt();
    0.5 * peirce(angle) / peirce(STANDARD_ANGLE.to_radians())
}

impl CantileverReading {
    /// The reading of a condition that is known to be of this test.
    fn of(condition: &Condition) -> CantileverReading {
        match condition.reading {
            0 => CantileverReading::Overhang,
            _ => CantileverReading::BendingLength,
        }
    }
}

impl CantileverPoint {
    /// The point of a condition of the cantilever test.
    fn of(condition: &Condition) -> Option<CantileverPoint> {
        (condition.test.name() == Cantilever.name()).then(|| point(condition))
    }

    /// The condition of a reading.
    fn condition(self, read: CantileverReading) -> Condition {
        Condition {
            test: &Cantilever,
            reading: read as usize,
            numbers: [self.angle, self.density, 0.0, 0.0],
        }
    }

    /// Weight per area \[N/m²\].
    fn weight(&self) -> f64 {
        GRAVITY * self.density
    }

    /// Bending length c \[m\] of an overhang \[m\].
    pub fn bending_length(&self, overhang: f64) -> f64 {
        bending_length_share(self.angle) * overhang
    }

    /// Flexural rigidity G = w·c³ \[N·m\] of an overhang \[m\].
    pub fn flexural_rigidity(&self, overhang: f64) -> f64 {
        self.weight() * self.bending_length(overhang).powi(3)
    }
}

impl From<CantileverPoint> for Condition {
    fn from(point: CantileverPoint) -> Condition {
        point.condition(CantileverReading::Overhang)
    }
}

/// The point of a condition that is known to be of this test.
fn point(condition: &Condition) -> CantileverPoint {
    let [angle, density, ..] = condition.numbers;
    CantileverPoint { angle, density }
}

/// The reading of a condition over its overhang.
fn share(condition: &Condition) -> f64 {
    match CantileverReading::of(condition) {
        CantileverReading::Overhang => 1.0,
        CantileverReading::BendingLength => bending_length_share(point(condition).angle),
    }
}

#[cfg(test)]
mod tests;
