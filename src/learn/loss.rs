//! The self-supervised loss: the energy of a garment in a batch of frames (paper 2, Eqs. 1, 2, 9 to 17).
//!
//! ```text
//! bending     k_b·l²/(8a)·(ε − ε_p)²                   hinges      Eqs. 6, 12
//! stretch     k_s·A·[(|w_u| − 1)² + (|w_v| − 1)²]      triangles   for Eq. 13
//! shear       k_sh·A·(w_u·w_v)²                        triangles   Eq. 14
//! collision   k_c·min(d − thickness, 0)²               vertices    Eq. 15; of each part of the body
//! inertia     m/(2h²)·|x₂ − 2x₁ + x₀|²                 vertices    Eq. 16; x₁ and x₀ held fixed
//! gravity     −m·g·x                                   vertices    for Eq. 17
//! springs     ½·k·|x − anchor|²                        vertices    cuffs and hems; not in the paper
//! regression  (ε − ε_p)², of all or of creased hinges  hinges      off; see [`LossConfig`]
//! ```
//!
//! Each term is summed or averaged over its elements, averaged or summed over the frames, and weighted:
//! [`LossConfig`] says which. Where the print is wrong (stretch, gravity) its form is a variant, [`Forms`].
//! [`GarmentLoss::linearized`] gives the gradient in closed form, without a tape: forces are cheaper than a backward
//! pass, and no gather is taped. E-Net is shown where steps of Newton's method with it lead.

mod config;
mod elements;
mod tangent;
mod vertices;

#[cfg(test)]
pub(crate) use config::Forms;
pub(crate) use config::{GravityForm, LossConfig, Materials, Reduction, StretchForm, Term};

use burn::tensor::Tensor;

use super::{Distance, GarmentBatch, Given, PosedBody};
use crate::{
    element::{Bend, Columns, HingeSpan, Vector},
    error::Result,
    numeric::Field,
};

/// One value a term.
#[derive(Debug, Clone, Copy, PartialEq, Default, serde::Serialize, serde::Deserialize)]
pub(crate) struct Terms<T> {
    /// Bending against the rest bending.
    pub bending: T,
    /// Stretch along warp and weft.
    pub stretch: T,
    /// Shear.
    pub shear: T,
    /// Penetration of the body.
    pub collision: T,
    /// Acceleration.
    pub inertia: T,
    /// Height.
    pub gravity: T,
    /// Cuffs and hems.
    pub springs: T,
    /// Angles against rest bending, all hinges.
    pub regression: T,
    /// Angles against rest bending, creased hinges only.
    pub crease_regression: T,
}

impl<T> Terms<T> {
    /// One function of every term.
    pub(crate) fn map<U>(&self, mut f: impl FnMut(&T) -> U) -> Terms<U> {
        Terms {
            bending: f(&self.bending),
            stretch: f(&self.stretch),
            shear: f(&self.shear),
            collision: f(&self.collision),
            inertia: f(&self.inertia),
            gravity: f(&self.gravity),
            springs: f(&self.springs),
            regression: f(&self.regression),
            crease_regression: f(&self.crease_regression),
        }
    }

    /// All terms with their names.
    pub(crate) fn named(&self) -> [(&'static str, &T); 9] {
        [
            ("bending", &self.bending),
            ("stretch", &self.stretch),
            ("shear", &self.shear),
            ("collision", &self.collision),
            ("inertia", &self.inertia),
            ("gravity", &self.gravity),
            ("springs", &self.springs),
            ("regression", &self.regression),
            ("crease_regression", &self.crease_regression),
        ]
    }
}

impl Terms<f64> {
    /// Term by term.
    pub(crate) fn plus(&self, other: &Terms<f64>) -> Terms<f64> {
        let mut others = other.named().map(|(_, value)| *value).into_iter();
        self.map(|value| value + others.next().unwrap_or(0.0))
    }

    /// The loss, if the terms are weighted.
    pub(crate) fn sum(&self) -> f64 {
        self.named().iter().map(|(_, value)| **value).sum()
    }
}

/// What a batch costs.
#[derive(Debug, Clone)]
pub(crate) struct LinearizedLoss {
    /// The loss.
    pub value: f64,
    /// Its terms, weighted: they sum to the loss.
    pub terms: Terms<f64>,
    /// Of the loss by the positions, `[3, frames·vertices]`; zero at pinned vertices.
    pub gradient: Field,
    /// What the matrix of Newton's method is made of.
    shape: ElementShapes,
}

/// The loss with a configuration that was checked.
#[derive(Debug, Clone)]
pub(crate) struct GarmentLoss {
    config: LossConfig,
}

/// Energy of each frame, `[frames, 1]`, and its slope by what it is a function of.
struct LossPart<S> {
    energy: Field,
    slope: S,
}

/// Shapes of all elements of a batch.
#[derive(Debug, Clone)]
struct ElementShapes {
    bend: Bend,
    /// ε, `[frames, hinges]`.
    strain: Field,
    columns: Columns,
    /// `[frames, vertices]` a component.
    points: Vector,
    /// From the parts of the body, `[frames, vertices]` each.
    distances: Vec<Distance>,
}

impl GarmentLoss {
    /// Checks a configuration.
    pub(crate) fn new(config: LossConfig) -> Result<GarmentLoss> {
        config.check()?;
        Ok(GarmentLoss { config })
    }

    /// How it was configured.
    pub(crate) fn config(&self) -> &LossConfig {
        &self.config
    }

    fn shape(&self, sheet: &GarmentBatch, positions: &Field, body: &PosedBody) -> ElementShapes {
        let bend = Bend::new(&sheet.incidence.spans(positions), &sheet.compute);
        let points = sheet.by_axis(positions);
        ElementShapes {
            strain: sheet.by_frame(&bend.angle) - sheet.sewn_angle.clone(),
            bend,
            columns: sheet.incidence.columns(positions),
            distances: body.distances(&points),
            points,
        }
    }

    /// The terms of every frame, neither weighted nor reduced over frames, `[frames, 1]` each. They can be
    /// differentiated by a tape, at the price of a gather on it; [`GarmentLoss::linearized`] is the quicker way.
    pub(crate) fn energies(
        &self,
        sheet: &GarmentBatch,
        positions: &Field,
        given: &Given,
    ) -> Terms<Field> {
        let shape = self.shape(sheet, positions, &given.body);
        Terms {
            bending: self.bending(sheet, &shape.strain, &given.plastic).energy,
            stretch: self.stretch(sheet, &shape.columns).energy,
            shear: self.shear(sheet, &shape.columns).energy,
            collision: self.collision(&shape.points, &shape.distances).energy,
            inertia: self.inertia(sheet, &shape.points, given).energy,
            gravity: self.gravity(sheet, &shape.points).energy,
            springs: self.springs(sheet, &shape.points, given).energy,
            regression: self.regression(&shape.strain, &given.plastic, false).energy,
            crease_regression: self.regression(&shape.strain, &given.plastic, true).energy,
        }
    }

    /// The loss of a batch and its gradient. Positions are `[3, frames·vertices]`.
    pub(crate) fn linearized(
        &self,
        sheet: &GarmentBatch,
        positions: &Field,
        given: &Given,
    ) -> Result<LinearizedLoss> {
        let shape = self.shape(sheet, positions, &given.body);
        let weights = self.config.weights(sheet.frames);
        let bending = self.bending(sheet, &shape.strain, &given.plastic);
        let regression = self.regression(&shape.strain, &given.plastic, false);
        let creases = self.regression(&shape.strain, &given.plastic, true);
        let moment = bending.slope * weights.bending
            + regression.slope * weights.regression
            + creases.slope * weights.crease_regression;

        let stretch = self.stretch(sheet, &shape.columns);
        let shear = self.shear(sheet, &shape.columns);
        let pull = Columns {
            u: weighted(&[
                (&stretch.slope.u, weights.stretch),
                (&shear.slope.u, weights.shear),
            ]),
            v: weighted(&[
                (&stretch.slope.v, weights.stretch),
                (&shear.slope.v, weights.shear),
            ]),
        };

        let collision = self.collision(&shape.points, &shape.distances);
        let inertia = self.inertia(sheet, &shape.points, given);
        let gravity = self.gravity(sheet, &shape.points);
        let springs = self.springs(sheet, &shape.points, given);
        let push = weighted(&[
            (&collision.slope, weights.collision),
            (&inertia.slope, weights.inertia),
            (&gravity.slope, weights.gravity),
            (&springs.slope, weights.springs),
        ]);

        let energies = Terms {
            bending: bending.energy,
            stretch: stretch.energy,
            shear: shear.energy,
            collision: collision.energy,
            inertia: inertia.energy,
            gravity: gravity.energy,
            springs: springs.energy,
            regression: regression.energy,
            crease_regression: creases.energy,
        };
        let terms = totals(sheet, &energies, &weights)?;
        Ok(LinearizedLoss {
            value: terms.sum(),
            terms,
            gradient: gather_forces(sheet, &shape.bend, &moment, &pull, &push),
            shape,
        })
    }

    /// The loss alone.
    #[cfg(test)]
    pub(crate) fn value(
        &self,
        sheet: &GarmentBatch,
        positions: &Field,
        given: &Given,
    ) -> Result<f64> {
        let weights = self.config.weights(sheet.frames);
        let energies = self.energies(sheet, positions, given);
        Ok(totals(sheet, &energies, &weights)?.sum())
    }
}

/// Σ factor·vector.
fn weighted(parts: &[(&Vector, f64)]) -> Vector {
    let times = |(v, factor): &(&Vector, f64)| v.map(|c| c.clone() * *factor);
    let first = times(&parts[0]);
    parts[1..]
        .iter()
        .fold(first, |sum, part| sum.plus(&times(part)))
}

/// Weighted sums over the frames, read back at once.
fn totals(
    sheet: &GarmentBatch,
    energies: &Terms<Field>,
    weights: &Terms<f64>,
) -> Result<Terms<f64>> {
    let columns: Vec<Field> = energies.named().iter().map(|(_, e)| (*e).clone()).collect();
    let sums = sheet.compute.values(Tensor::cat(columns, 1).sum_dim(0))?;
    let mut sums = sums.into_iter();
    Ok(weights.map(|w| w * sums.next().unwrap_or(f64::NAN)))
}

/// Slopes by angles `[frames, hinges]`, deformation columns and vertices as one gradient by positions.
fn gather_forces(
    sheet: &GarmentBatch,
    bend: &Bend,
    moment: &Field,
    pull: &Columns,
    push: &Vector,
) -> Field {
    let moment = sheet.side_by_side(moment);
    let gradient = bend.gradient();
    let span = HingeSpan {
        edge: gradient.edge.times(&moment),
        wings: gradient.wings.times(&moment),
    };
    let elements = sheet.incidence.assemble_parts(&span, pull);
    let vertices = push.map(|c| sheet.side_by_side(c)).to_rows();
    let free = sheet.free.clone().repeat_dim(0, sheet.frames);
    (elements + vertices) * sheet.side_by_side(&free)
}
