//! The second derivative of the loss of one frame, made positive definite: what Newton's method needs.

use burn::tensor::Tensor;

use super::{GravityForm, Loss, Reduction, StretchForm};
use crate::{
    element::{Stiffness, Vector},
    error::{Result, bad_input},
    learn::{Given, Sheet},
    numeric::{Field, indicator, max_zero},
    solve::Tangent,
};

/// Height of a triangle below which its hinges count less in the matrix \[m\]. Their angle turns without bound
/// as a triangle collapses, which would spoil the matrix without saying anything about the energy further on.
const COLLAPSED: f64 = 5e-4;

impl Loss {
    /// Refuses what [`Loss::tangent`] cannot do.
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

    /// A matrix near the second derivative at `positions`, `[3, vertices]`, of one frame (a sheet of one). Left out
    /// is what can be negative: hinges are Gauss-Newton, compressed triangles do not turn by themselves, shear
    /// and contact have no curvature of their own.
    /// `shift` \[N/m\] is added to the diagonal: it shortens the step.
    pub(in crate::learn) fn tangent(
        &self,
        sheet: &Sheet,
        positions: &Field,
        given: &Given,
        shift: f64,
    ) -> Tangent {
        let (config, materials) = (&self.config, &self.config.materials);
        let shape = self.shape(sheet, positions);
        let stiffness = sheet.area.clone() * (2.0 * materials.stretch * config.stretch.weight);
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
        let shear = sheet.area.clone() * (4.0 * materials.shear * config.shear.weight);
        let normals = shape.bend.gradient().wings;
        let steepness = normals.dot(&normals).sum_dim(0) * (COLLAPSED * COLLAPSED) + 1.0;
        let bend_weight = sheet.bend_shape.clone() / steepness;
        Tangent {
            bend_weight: bend_weight * (2.0 * materials.bending * config.bending.weight),
            modulus: Stiffness {
                coupling: warp.zeros_like(),
                warp,
                weft,
                shear,
            },
            tension: Tensor::cat(vec![tension_u, tension_v], 0),
            blocks: self.vertex_blocks(sheet, &shape.points, given, shift),
            free: sheet.free.clone(),
            bend: shape.bend,
            columns: shape.columns,
        }
    }

    /// Inertia, springs and contact, rows xx, yy, zz, xy, xz, yz.
    fn vertex_blocks(&self, sheet: &Sheet, points: &Vector, given: &Given, shift: f64) -> Field {
        let (config, materials) = (&self.config, &self.config.materials);
        let inertia = self.masses(sheet)
            * given.moving.clone()
            * (config.inertia.weight / (materials.seconds * materials.seconds));
        let plain = inertia + sheet.springs.clone() * config.springs.weight + shift;
        let distance = given.body.distance(points);
        let touching = indicator(&(distance.value.neg() + materials.thickness));
        let contact = touching * (2.0 * materials.collision * config.collision.weight);
        let normal = distance.slope;
        let pair = |a: &Field, b: &Field| a.clone() * b.clone() * contact.clone();
        let Vector { x, y, z } = &normal;
        let rows = vec![
            pair(x, x) + plain.clone(),
            pair(y, y) + plain.clone(),
            pair(z, z) + plain,
            pair(x, y),
            pair(x, z),
            pair(y, z),
        ];
        Tensor::cat(rows, 0)
    }
}
