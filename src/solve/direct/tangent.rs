//! What a time step hands over: the parts of A, element by element.

use super::pattern::BlockPattern;
use crate::error::{Result, bad_input};

/// A = Σ_vertices D + Σ_hinges w·g·gᵀ + Σ_triangles K, as slices with the element's index fastest.
/// Time step and areas are included, so that A has the units of a mass (kg).
///
/// With J_u = B_u ⊗ F_u, J_v = B_v ⊗ F_v and J_s = ½(B_u ⊗ F_v + B_v ⊗ F_u), a triangle's block is
///
/// K = c₁₁ J_u J_uᵀ + c₁₂ (J_u J_vᵀ + J_v J_uᵀ) + c₂₂ J_v J_vᵀ + c₃₃ J_s J_sᵀ
///   + (g_uu B_u B_uᵀ + g_vv B_v B_vᵀ + g_uv (B_u B_vᵀ + B_v B_uᵀ)) ⊗ I₃.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TangentSlices<'a> {
    /// g, the gradient of each hinge's angle [1/m], shape `[12][H]`, row = 3·corner + axis.
    pub hinge_gradient: &'a [f64],
    /// w [kg·m²], shape `[H]`.
    pub hinge_weight: &'a [f64],
    /// Deformation gradient F_u then F_v, shape `[6][T]`.
    pub deformation: &'a [f64],
    /// Shape gradients B_u of the three corners, then B_v [1/m], shape `[6][T]`.
    pub shape: &'a [f64],
    /// c₁₁, c₁₂, c₂₂, c₃₃ [kg·m²], shape `[4][T]`.
    pub modulus: &'a [f64],
    /// g_uu, g_vv, g_uv [kg·m²], shape `[3][T]`.
    pub geometric: &'a [f64],
    /// D: xx, yy, zz, xy, xz, yz of mass, handles and contacts (kg), shape `[6][V]`.
    pub vertex: &'a [f64],
    /// Pinned vertices, whose rows and columns become those of the identity, shape `[V]`.
    pub fixed: &'a [bool],
}

impl TangentSlices<'_> {
    /// Checks every length against the pattern.
    pub(crate) fn check(&self, pattern: &BlockPattern) -> Result<()> {
        let (v, h, t) = (pattern.vertices(), pattern.hinges, pattern.triangles);
        let lengths = [
            ("hinge_gradient", self.hinge_gradient.len(), 12 * h),
            ("hinge_weight", self.hinge_weight.len(), h),
            ("deformation", self.deformation.len(), 6 * t),
            ("shape", self.shape.len(), 6 * t),
            ("modulus", self.modulus.len(), 4 * t),
            ("geometric", self.geometric.len(), 3 * t),
            ("vertex", self.vertex.len(), 6 * v),
            ("fixed", self.fixed.len(), v),
        ];
        for (name, length, wanted) in lengths {
            if length != wanted {
                return bad_input(format!(
                    "tangent's {name} has {length} values; the pattern of {v} vertices, {h} hinges and {t} triangles needs {wanted}"
                ));
            }
        }
        Ok(())
    }
}
