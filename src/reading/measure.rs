//! What can be read.

use burn::tensor::Tensor;

use super::View;
use crate::{element::Vector, numeric::Field};

/// A scalar measure of a cloth. Groups of vertices are lists of indices.
#[derive(Debug, Clone, PartialEq)]
pub enum Reading {
    /// Angle between the two legs of a folded strip \[deg\]: 180 is flat, 0 is closed. A leg runs from the mean
    /// position of its root to that of its tip. Not smooth at 0° and 180°.
    RecoveryAngle {
        /// Vertices of the two legs' roots, near the crease.
        roots: [Vec<usize>; 2],
        /// Vertices of the two legs' tips.
        tips: [Vec<usize>; 2],
    },
    /// Σ over hinges of |θ| \[rad\], smooth below 1e-6 rad.
    TotalAngle,
    /// Bending energy that would come back on unloading with the history held \[J\]: Σ σ²/(2·stiffness).
    BendingEnergy,
    /// ½·K_b·ε_p² over the cloth \[J\]: the energy that flattening its plastic creases elastically would take.
    PlasticEnergy,
    /// Membrane energy of the strains, friction and flow aside \[J\].
    StretchEnergy,
    /// ½·Σ m·v² \[J\].
    KineticEnergy,
    /// Root mean square distance from the mean along `axis` \[m\], by area.
    RmsHeight {
        /// Unit vector.
        axis: [f64; 3],
    },
    /// Root mean square deviation of the distance from an axis from its mean \[m\], by area: the wrinkles of a
    /// cylinder.
    RmsRadius {
        /// Unit vector.
        axis: [f64; 3],
        /// A point on the axis \[m\].
        about: [f64; 3],
    },
    /// Mean coordinate along `axis` \[m\], every vertex alike.
    MeanHeight {
        /// Unit vector.
        axis: [f64; 3],
    },
    /// Amplitude \[1/m\] of the curvature's wave of `waves` periods over the cloth's extent in the material.
    CurvatureWave {
        /// Along the weft instead of the warp.
        along_weft: bool,
        /// Periods.
        waves: usize,
    },
    /// (shadow − support)/(cloth − support) of areas: the drape coefficient. The shadow is what the outline
    /// encloses seen along `axis`.
    Drape {
        /// Unit vector, the direction of light.
        axis: [f64; 3],
        /// \[m²\]
        support_area: f64,
    },
    /// Root mean square distance from target positions \[m\].
    Distance {
        /// One position a vertex \[m\].
        targets: Vec<[f64; 3]>,
    },
    /// Force that a handle exerts on the cloth along a direction \[N\]. A pin's is what balances the elements and
    /// gravity at its vertices; the inertia of their own mass is left out.
    HandleForce {
        /// The handle's vertices.
        vertices: Vec<usize>,
        /// Unit vector.
        direction: [f64; 3],
    },
    /// Torque of that force about an axis \[N·m\].
    HandleTorque {
        /// The handle's vertices.
        vertices: Vec<usize>,
        /// Unit vector.
        axis: [f64; 3],
        /// A point on the axis \[m\].
        about: [f64; 3],
    },
}

/// Below this \[rad\] |θ| is rounded off.
const SMALL_ANGLE: f64 = 1e-6;
/// Keeps roots off zero \[m²\].
const TINY: f64 = 1e-30;

impl Reading {
    /// The reading of a view.
    pub(super) fn evaluate(&self, view: &View) -> Tensor<1> {
        match self {
            Reading::RecoveryAngle { roots, tips } => view.recovery(roots, tips),
            Reading::TotalAngle => {
                let angle = view.bend().angle;
                (angle.clone() * angle + SMALL_ANGLE * SMALL_ANGLE)
                    .sqrt()
                    .sum()
            }
            Reading::BendingEnergy => view.bending_energy(),
            Reading::PlasticEnergy => view.plastic_energy(),
            Reading::StretchEnergy => {
                let strain = view.columns.strain();
                let stress = view.parameters.membrane.stress(&strain);
                (stress * strain * view.cloth.area.clone()).sum() * 0.5
            }
            Reading::KineticEnergy => {
                let v = &view.velocities;
                let mass = view.cloth.masses(&view.parameters.density);
                (v.clone() * v.clone() * mass).sum() * 0.5
            }
            Reading::RmsHeight { axis } => {
                let height = view.along(&view.positions, *axis);
                view.spread(&height)
            }
            Reading::RmsRadius { axis, about } => {
                let across = view.across(*axis, *about);
                view.spread(&(across.dot(&across) + TINY).sqrt())
            }
            Reading::MeanHeight { axis } => view.along(&view.positions, *axis).mean(),
            Reading::CurvatureWave { along_weft, waves } => view.wave(*along_weft, *waves),
            Reading::Drape { axis, support_area } => {
                let normal = view.columns.u.cross(&view.columns.v);
                let shadow = normal.dot(&view.constant(*axis)) * view.cloth.area.clone();
                // The cloth may face either way.
                let shadow = (shadow.sum().powf_scalar(2.0) + TINY).sqrt();
                // A product: burn differentiates a division by a number in single precision.
                (shadow - *support_area) * (view.cloth.rest.area() - support_area).recip()
            }
            Reading::Distance { targets } => {
                let gap = view.positions.clone() - view.cloth.vertex_tensor(targets);
                let share = 1.0 / targets.len() as f64;
                ((gap.clone() * gap).sum() * share + TINY).sqrt()
            }
            Reading::HandleForce {
                vertices,
                direction,
            } => view.along(&view.pull(vertices), *direction).sum(),
            Reading::HandleTorque {
                vertices,
                axis,
                about,
            } => {
                let pull = Vector::from_rows(&view.pull(vertices));
                let arm = Vector::from_rows(&view.positions).minus(&view.constant(*about));
                arm.cross(&pull).dot(&view.constant(*axis)).sum()
            }
        }
    }
}

impl View<'_> {
    fn constant(&self, v: [f64; 3]) -> Vector {
        Vector::from_rows(&self.cloth.compute.tensor(&v, [3, 1]))
    }

    fn along(&self, vertices: &Field, axis: [f64; 3]) -> Field {
        Vector::from_rows(vertices).dot(&self.constant(axis))
    }

    /// Positions relative to an axis, without their part along it.
    fn across(&self, axis: [f64; 3], about: [f64; 3]) -> Vector {
        let axis = self.constant(axis);
        let arm = Vector::from_rows(&self.positions).minus(&self.constant(about));
        arm.minus(&axis.times(&arm.dot(&axis)))
    }

    /// Root mean square deviation from the mean, by area.
    fn spread(&self, values: &Field) -> Tensor<1> {
        let share = self.cloth.vertex_area.clone() / self.cloth.rest.area();
        let mean = (values.clone() * share.clone()).sum().reshape([1, 1]);
        let gap = values.clone() - mean;
        ((gap.clone() * gap * share).sum() + TINY).sqrt()
    }

    /// Mean position of some vertices, `[3, 1]`: a product with constant weights, so that no gather is taped.
    fn mean(&self, vertices: &[usize]) -> Field {
        let mut weights = vec![0.0; self.cloth.vertices()];
        for v in vertices {
            weights[*v] += 1.0 / vertices.len() as f64;
        }
        let weights = self.cloth.compute.tensor(&weights, [1, weights.len()]);
        (self.positions.clone() * weights).sum_dim(1)
    }

    fn recovery(&self, roots: &[Vec<usize>; 2], tips: &[Vec<usize>; 2]) -> Tensor<1> {
        let leg = |k: usize| Vector::from_rows(&(self.mean(&tips[k]) - self.mean(&roots[k])));
        let (a, b) = (leg(0), leg(1));
        let normal = a.cross(&b);
        let sine = (normal.dot(&normal) + TINY).sqrt();
        let degrees = 180.0 / std::f64::consts::PI;
        (sine.atan2(a.dot(&b)) * degrees).sum()
    }

    fn bending_energy(&self) -> Tensor<1> {
        let (cloth, parameters) = (self.cloth, &self.parameters);
        let stress = cloth.bending_stress(&self.bend().angle, &self.bending, parameters);
        let scale = cloth.energy_scale(parameters);
        let stiffness = cloth.setup.law.stiffness(&parameters.bending);
        (stress.clone() * stress * scale / stiffness).sum() * 0.5
    }

    fn plastic_energy(&self) -> Tensor<1> {
        let scale = self.cloth.energy_scale(&self.parameters);
        let law = &self.cloth.setup.law;
        let plastic = law.variable(&self.bending, "plastic");
        let plastic = plastic.unwrap_or_else(|| scale.zeros_like());
        let stiffness = self.parameters.bending[0].clone();
        (plastic.clone() * plastic * scale * stiffness).sum() * 0.5
    }

    fn wave(&self, along_weft: bool, waves: usize) -> Tensor<1> {
        let (cosine, sine) = self.cloth.wave_weights(along_weft, waves);
        let angle = self.bend().angle;
        let part = |weights: Vec<f64>| {
            let weights = self.cloth.compute.tensor(&weights, [1, weights.len()]);
            (angle.clone() * weights).sum()
        };
        let (c, s) = (part(cosine), part(sine));
        (c.clone() * c + s.clone() * s + TINY).sqrt()
    }

    /// Force of handles on some vertices \[N\], `[3, vertices]`.
    fn pull(&self, vertices: &[usize]) -> Field {
        let mut chosen = vec![0.0; self.cloth.vertices()];
        for v in vertices {
            chosen[*v] = 1.0;
        }
        let chosen = self.cloth.compute.tensor(&chosen, [1, chosen.len()]);
        let gap = self.anchors.clone() - self.positions.clone();
        let pull = gap * self.drive.grip.clone();
        if !self.drive.pinned {
            return pull * chosen;
        }
        let histories = (&self.bending[..], &self.tensile[..]);
        let cloth = self.cloth;
        let elements = cloth.held_forces(&self.bend(), &self.columns, histories, &self.parameters);
        let gravity = cloth.compute.tensor(&cloth.setup.gravity, [3, 1]);
        let weight = gravity * cloth.masses(&self.parameters.density);
        let pinned = self.drive.free.clone() * -1.0 + 1.0;
        (pull - (elements + weight) * pinned) * chosen
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        numeric::{Compute, Precision},
        verify::ClothBench,
    };

    // burn-autodiff 0.22.1 differentiates a division by a number with the reciprocal in single precision. Neither the
    // number of vertices, 9, nor the area that a support of 0.7 m² leaves free has an exact one.
    #[test]
    fn slopes_of_readings_are_exact_in_double_precision() {
        let compute = Compute::cpu(Precision::F64);
        let bench = ClothBench::square(3, 1, &compute).unwrap();
        let state = bench.cloth.start(&bench.parameters);
        let slopes = |reading: &Reading| {
            let (cloth, fabric, drive) = (&bench.cloth, &bench.parameters, bench.drive(0));
            let read = reading.linearized(cloth, &state, fabric, &drive, 1.0);
            let read = read.unwrap();
            (read.value, compute.values(read.state.positions).unwrap())
        };
        // Some roundings; the single reciprocal leaves 1e-8.
        let near = |a: f64, b: f64, size: f64| (a - b).abs() < 1e-13 * size;
        let positions = bench.cloth.vertex_values(&state.positions).unwrap();
        let targets: Vec<[f64; 3]> = positions.iter().map(|p| p.map(|x| 0.9 * x - 0.1)).collect();
        let (value, found) = slopes(&Reading::Distance {
            targets: targets.clone(),
        });
        for (v, (p, t)) in positions.iter().zip(&targets).enumerate() {
            for axis in 0..3 {
                let exact = (p[axis] - t[axis]) / (9.0 * value);
                let own = found[axis * positions.len() + v];
                assert!(near(own, exact, 1.0 / 9.0), "{own} {exact}");
            }
        }
        let drape = |support_area: f64| {
            let axis = [0.0, 0.0, 1.0];
            slopes(&Reading::Drape { axis, support_area }).1
        };
        // A free area of 0.5 m² has an exact reciprocal.
        let area = bench.cloth.rest.area();
        let (halves, others) = (drape(area - 0.5), drape(area - 0.3));
        let largest = halves.iter().fold(0.0, |m: f64, s| m.max(s.abs()));
        assert!(largest > 0.1);
        for (half, other) in halves.iter().zip(&others) {
            assert!(near(0.5 * half, 0.3 * other, largest), "{half} {other}");
        }
    }
}
