//! Terms of vertices.

use super::{GarmentLoss, GravityForm, LossPart, elements::reduced};
use crate::{
    element::Vector,
    learn::{Distance, GarmentBatch, Given},
    numeric::{Field, max_zero},
};

impl GarmentLoss {
    /// m of each vertex \[kg\], `[1, vertices]`.
    pub(super) fn masses(&self, sheet: &GarmentBatch) -> Field {
        sheet.vertex_area.clone() * self.config.materials.density
    }

    /// Σ k_c·min(d − thickness, 0)² over the parts of the body. Its slope is continuous, its second derivative jumps where contact
    /// begins. The distance from the nearest part alone would have a kink between two, where cloth is caught inside an elbow,
    /// and no minimiser arrives at a kink. The price: where two parts overlap, outside an elbow, contact is up to twice as stiff.
    pub(super) fn collision(&self, points: &Vector, distances: &[Distance]) -> LossPart<Vector> {
        let materials = &self.config.materials;
        let mut energy = points.x.zeros_like();
        let mut slope = points.map(Field::zeros_like);
        for distance in distances {
            let depth = max_zero(&(distance.value.clone().neg() + materials.thickness));
            energy = energy + depth.clone() * depth.clone() * materials.collision;
            slope = slope.plus(&distance.slope.times(&depth));
        }
        let (energy, share) = reduced(energy, &self.config.collision);
        let stiffness = -2.0 * share * materials.collision;
        LossPart {
            energy,
            slope: slope.map(|c| c.clone() * stiffness),
        }
    }

    /// m/(2h²)·|x₂ − 2x₁ + x₀|². Smooth.
    pub(super) fn inertia(
        &self,
        sheet: &GarmentBatch,
        points: &Vector,
        given: &Given,
    ) -> LossPart<Vector> {
        let seconds = self.config.materials.seconds;
        let straight_on = given.previous.clone() * 2.0 - given.before.clone();
        let gap = points.minus(&sheet.by_axis(&straight_on));
        let stiffness = self.masses(sheet) / (seconds * seconds) * given.moving.clone();
        let energy = gap.dot(&gap) * stiffness.clone() * 0.5;
        let (energy, share) = reduced(energy, &self.config.inertia);
        LossPart {
            energy,
            slope: gap.times(&(stiffness * share)),
        }
    }

    /// −m·g·x, or as printed. Linear.
    pub(super) fn gravity(&self, sheet: &GarmentBatch, points: &Vector) -> LossPart<Vector> {
        let sign = match self.config.forms.gravity {
            GravityForm::Falling => -1.0,
            GravityForm::Printed => 1.0,
        };
        let mass = self.masses(sheet);
        let [x, y, z] = self
            .config
            .materials
            .gravity
            .map(|g| mass.clone() * (sign * g));
        let weight = Vector { x, y, z };
        let (energy, share) = reduced(points.dot(&weight), &self.config.gravity);
        let ones = points.x.ones_like() * share;
        LossPart {
            energy,
            slope: weight.times(&ones),
        }
    }

    /// ½·k·|x − anchor|². Smooth.
    pub(super) fn springs(
        &self,
        sheet: &GarmentBatch,
        points: &Vector,
        given: &Given,
    ) -> LossPart<Vector> {
        let gap = points.minus(&sheet.by_axis(&given.anchors));
        let energy = gap.dot(&gap) * sheet.springs.clone() * 0.5;
        let (energy, share) = reduced(energy, &self.config.springs);
        LossPart {
            energy,
            slope: gap.times(&(sheet.springs.clone() * share)),
        }
    }
}
