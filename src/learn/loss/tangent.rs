//! The second derivative of the loss of one frame, made positive definite: what Newton's method needs.

use burn::tensor::Tensor;

use super::{GarmentLoss, GravityForm, LinearizedLoss, Reduction, StretchForm, Term};
use crate::{
    element::{Stiffness, Vector},
    error::{Result, bad_input},
    learn::{Distance, GarmentBatch, Given},
    numeric::{Field, abs, indicator, max_zero},
    solve::Tangent,
};

/// Height of a triangle below which its hinges count less in the matrix \[m\]. Their angle turns without bound
/// as a triangle collapses, which would spoil the matrix without saying anything about the energy further on.
const COLLAPSED: f64 = 5e-4;

impl GarmentLoss {
    /// Refuses what is not the energy of a garment.
    pub(in crate::learn) fn is_physical(&self) -> Result<()> {
        let config = &self.config;
        let off = config.regression.weight == 0.0 && config.crease_regression.weight == 0.0;
        let sums = [
            config.bending,
            config.stretch,
            config.shear,
            config.collision,
            config.inertia,
            config.gravity,
            config.springs,
        ];
        let sums = sums.iter().all(|term| term.over == Reduction::Sum);
        let forms = config.forms.stretch == StretchForm::Columns
            && config.forms.gravity == GravityForm::Falling;
        if off && sums && forms {
            return Ok(());
        }
        bad_input(
            "the reference simulation minimises an energy: give it a loss with the default forms, sums over \
             elements and no regression",
        )
    }

    /// A matrix near the second derivative of one frame (a sheet of one), where it was linearised, with the
    /// weights and reductions of all terms. Left out is what can be negative: hinges are Gauss-Newton, compressed
    /// triangles do not turn by themselves, shear and contact have no curvature of their own. A printed stretch has
    /// the matrix of the default form.
    /// `shift` \[N/m\] is added to the diagonal: it shortens the step.
    pub(in crate::learn) fn tangent(
        &self,
        sheet: &GarmentBatch,
        here: &LinearizedLoss,
        given: &Given,
        shift: f64,
    ) -> Tangent {
        let (config, materials, shape) = (&self.config, &self.config.materials, &here.shape);
        let weight = |term: &Term, count: usize| term.weight * term.share(count);
        let of_stretch = weight(&config.stretch, sheet.triangles);
        let stiffness = sheet.area.clone() * (2.0 * materials.stretch * of_stretch);
        // 2kA·[ŵŵᵀ + (1 − 1/|w|)·(I − ŵŵᵀ)], the second part for stretched triangles only.
        let along = |column: &Vector| {
            let squared = column.dot(column);
            let turning = max_zero(&(squared.clone().sqrt().recip().neg() + 1.0));
            let straight = turning.clone().neg() + 1.0;
            (
                straight / squared * stiffness.clone(),
                turning * stiffness.clone(),
            )
        };
        let (warp, tension_u) = along(&shape.columns.u);
        let (weft, tension_v) = along(&shape.columns.v);
        // [`Tangent`] takes shear as 2·k·(∇ε_uv)(∇ε_uv)ᵀ with ε_uv = ½·w_u·w_v.
        let of_shear = weight(&config.shear, sheet.triangles);
        let shear = sheet.area.clone() * (4.0 * materials.shear * of_shear);
        let normals = shape.bend.gradient().wings;
        let steepness = normals.dot(&normals).sum_dim(0) * (COLLAPSED * COLLAPSED) + 1.0;
        let of_bending = weight(&config.bending, sheet.hinges);
        let bending =
            sheet.bend_shape.clone() / steepness.clone() * (2.0 * materials.bending * of_bending);
        // Regressions know neither the hinge's shape nor k_b.
        let of_all = weight(&config.regression, sheet.hinges);
        let of_creased = weight(&config.crease_regression, sheet.hinges);
        let creased = indicator(&abs(&given.plastic));
        let regression = (creased * (2.0 * of_creased) + 2.0 * of_all) / steepness;
        Tangent {
            bend_weight: bending + regression,
            modulus: Stiffness {
                coupling: warp.zeros_like(),
                warp,
                weft,
                shear,
            },
            tension: Tensor::cat(vec![tension_u, tension_v], 0),
            blocks: self.vertex_blocks(sheet, &shape.distances, given, shift),
            free: sheet.free.clone(),
            bend: shape.bend.clone(),
            columns: shape.columns.clone(),
        }
    }

    /// Inertia, springs and contact, rows xx, yy, zz, xy, xz, yz.
    fn vertex_blocks(
        &self,
        sheet: &GarmentBatch,
        distances: &[Distance],
        given: &Given,
        shift: f64,
    ) -> Field {
        let (config, materials) = (&self.config, &self.config.materials);
        let weight = |term: &Term| term.weight * term.share(sheet.vertices);
        let inertia = self.masses(sheet)
            * given.moving.clone()
            * (weight(&config.inertia) / (materials.seconds * materials.seconds));
        let plain = inertia + sheet.springs.clone() * weight(&config.springs) + shift;
        let none = plain.zeros_like();
        let mut rows = [
            plain.clone(),
            plain.clone(),
            plain,
            none.clone(),
            none.clone(),
            none,
        ];
        for distance in distances {
            let touching = indicator(&(distance.value.clone().neg() + materials.thickness));
            let contact = touching * (2.0 * materials.collision * weight(&config.collision));
            let Vector { x, y, z } = &distance.slope;
            let pairs = [(x, x), (y, y), (z, z), (x, y), (x, z), (y, z)];
            for (row, (a, b)) in rows.iter_mut().zip(pairs) {
                *row = row.clone() + a.clone() * b.clone() * contact.clone();
            }
        }
        Tensor::cat(rows.into(), 0)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{
        learn::{BodyMotion, BodyScene, LossConfig, SceneName, Terms},
        numeric::{Compute, Precision},
    };

    /// A crumpled coarse sleeve in a frame of a bend whose rest bending is its strain, and a direction.
    fn crumpled() -> (GarmentBatch, Field, Given, Field) {
        let compute = Compute::cpu(Precision::F64);
        let scene = BodyScene::new(SceneName::Arm, 4, [8, 7]).unwrap();
        let sheet = GarmentBatch::new(&scene.garment, 1, &compute);
        let motion = BodyMotion::canonical(&scene.body);
        let poses = scene.poses(&motion, 20..21).unwrap();
        let anchors = scene.skinned(&poses, &compute).plain();
        let noise = |step: f64| {
            let values: Vec<f64> = (0..3 * sheet.vertices)
                .map(|n| (step * n as f64).sin())
                .collect();
            compute.tensor(&values, [3, sheet.vertices])
        };
        let positions = anchors.clone() + noise(7.3) * 0.006;
        let direction = noise(3.1) * sheet.free.clone();
        let given = Given {
            previous: anchors.clone(),
            before: anchors.clone(),
            moving: compute.tensor(&[1.0], [1, 1]),
            plastic: sheet.strain(&positions),
            anchors,
            body: scene.posed(&poses, &compute),
        };
        (sheet, positions, given, direction)
    }

    /// All terms off but one; the body pushes from afar, so that contact is never idle.
    fn only(name: &str, over: &str) -> GarmentLoss {
        let mut config = serde_json::to_value(LossConfig::default()).unwrap();
        let terms: Terms<f64> = Terms::default();
        for (term, _) in terms.named() {
            let weight = if term == name { 0.7 } else { 0.0 };
            config[term] = json!({"weight": weight, "over": over});
        }
        config["materials"]["thickness"] = json!(0.05);
        GarmentLoss::new(serde_json::from_value(config).unwrap()).unwrap()
    }

    fn length(values: &[f64]) -> f64 {
        values.iter().map(|x| x * x).sum::<f64>().sqrt()
    }

    #[test]
    fn the_matrix_of_a_mean_is_that_of_the_sum_divided_by_the_elements() {
        let (sheet, positions, given, direction) = crumpled();
        let (hinges, triangles, vertices) = (sheet.hinges, sheet.triangles, sheet.vertices);
        for (name, count) in [
            ("bending", hinges),
            ("stretch", triangles),
            ("shear", triangles),
            ("collision", vertices),
            ("inertia", vertices),
            ("springs", vertices),
            ("regression", hinges),
            ("crease_regression", hinges),
        ] {
            let product = |over: &str| {
                let loss = only(name, over);
                let here = loss.linearized(&sheet, &positions, &given).unwrap();
                let tangent = loss.tangent(&sheet, &here, &given, 0.0);
                let product = tangent.apply(&sheet.incidence, &direction);
                sheet.compute.values(product).unwrap()
            };
            let (sum, mean) = (product("sum"), product("mean"));
            assert!(length(&sum) > 0.0, "{name} is idle");
            let pairs = sum.iter().zip(&mean);
            let gap: Vec<f64> = pairs.map(|(s, m)| s - m * count as f64).collect();
            // Rounding.
            assert!(length(&gap) < 1e-12 * length(&sum), "{name}");
        }
    }

    // Where strain and rest bending are the same Gauss-Newton is exact, but for hinges that count less as their
    // triangles are low: 5e-4 m of some 30 mm, squared, for both triangles.
    #[test]
    fn the_matrix_of_hinges_is_the_second_derivative_where_nothing_pulls() {
        let (sheet, positions, given, direction) = crumpled();
        for name in ["bending", "regression", "crease_regression"] {
            let loss = only(name, "mean");
            let slope = |by: f64| {
                let moved = positions.clone() + direction.clone() * by;
                let here = loss.linearized(&sheet, &moved, &given).unwrap();
                sheet.compute.values(here.gradient).unwrap()
            };
            let (ahead, behind) = (slope(1e-6), slope(-1e-6));
            let here = loss.linearized(&sheet, &positions, &given).unwrap();
            let tangent = loss.tangent(&sheet, &here, &given, 0.0);
            let product = tangent.apply(&sheet.incidence, &direction);
            let product = sheet.compute.values(product).unwrap();
            let differences = ahead.iter().zip(&behind).map(|(a, b)| (a - b) / 2e-6);
            let gap: Vec<f64> = differences.zip(&product).map(|(d, p)| d - p).collect();
            let (gap, whole) = (length(&gap), length(&product));
            assert!(
                whole > 0.0 && gap < 1e-3 * whole,
                "{name}: {gap} of {whole}"
            );
        }
    }
}
