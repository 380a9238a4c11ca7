//! The membrane triangle: orthotropic Saint-Venant-Kirchhoff stretch.

use burn::tensor::Tensor;

use super::Vector;
use crate::numeric::{Field, max_zero};

/// The two columns of a triangle's deformation gradient, F_u = Σ_k B_u,k·x_k and F_v likewise, where B
/// are the shape gradients \[1/m\]; the same form holds for velocities or multipliers. Shapes
/// `[1, triangles]`.
#[derive(Debug, Clone)]
pub struct Columns {
    /// Along the warp.
    pub u: Vector,
    /// Along the weft.
    pub v: Vector,
}

impl Columns {
    /// One function of every component.
    pub fn map(&self, f: impl Fn(&Field) -> Field) -> Columns {
        Columns {
            u: self.u.map(&f),
            v: self.v.map(&f),
        }
    }

    /// Green-Lagrange strain, rows ε_uu, ε_vv, ε_uv (half the shear angle), shape `[3, triangles]`
    /// (paper 1, Eq. 23).
    pub fn strain(&self) -> Field {
        Tensor::cat(
            vec![
                (self.u.dot(&self.u) - 1.0) * 0.5,
                (self.v.dot(&self.v) - 1.0) * 0.5,
                self.u.dot(&self.v) * 0.5,
            ],
            0,
        )
    }

    /// The derivative of the strain along `w`, shape `[3, triangles]`.
    pub fn strain_rate(&self, w: &Columns) -> Field {
        Tensor::cat(
            vec![
                self.u.dot(&w.u),
                self.v.dot(&w.v),
                (self.u.dot(&w.v) + self.v.dot(&w.u)) * 0.5,
            ],
            0,
        )
    }

    /// Σ_a stress_a·∂ε_a/∂(columns) for stresses `[3, triangles]`: what
    /// [`super::Incidence::corners_of_columns`] turns into forces, up to sign and area.
    pub fn force(&self, stress: &Field) -> Columns {
        let row = |r: usize| stress.clone().narrow(0, r, 1);
        let (uu, vv, half) = (row(0), row(1), row(2) * 0.5);
        Columns {
            u: self.u.times(&uu).plus(&self.v.times(&half)),
            v: self.v.times(&vv).plus(&self.u.times(&half)),
        }
    }
}

/// Warp, coupling, weft and shear stiffness \[N/m\], each `[1, 1]` or `[1, triangles]`
/// (k11, k12, k22, k33 of paper 1, Eq. 24).
///
/// ```text
/// W = A·(½·k11·ε_uu² + k12·ε_uu·ε_vv + ½·k22·ε_vv² + k33·ε_uv²)
/// ```
///
/// The shear counts twice, once for each of the tensor's equal entries: the stress that works on ε_uv is
/// 2·k33·ε_uv, as in the authors' program, twice what the paper prints.
#[derive(Debug, Clone)]
pub struct Stiffness {
    /// k11.
    pub warp: Field,
    /// k12.
    pub coupling: Field,
    /// k22.
    pub weft: Field,
    /// k33.
    pub shear: Field,
}

impl Stiffness {
    /// One function of every entry.
    pub fn map(&self, f: impl Fn(&Field) -> Field) -> Stiffness {
        Stiffness {
            warp: f(&self.warp),
            coupling: f(&self.coupling),
            weft: f(&self.weft),
            shear: f(&self.shear),
        }
    }

    /// The sum of two.
    pub fn plus(&self, other: &Stiffness) -> Stiffness {
        Stiffness {
            warp: self.warp.clone() + other.warp.clone(),
            coupling: self.coupling.clone() + other.coupling.clone(),
            weft: self.weft.clone() + other.weft.clone(),
            shear: self.shear.clone() + other.shear.clone(),
        }
    }

    /// K·ε, rows uu, vv, uv, shape `[3, triangles]`.
    pub fn stress(&self, strain: &Field) -> Field {
        let row = |r: usize| strain.clone().narrow(0, r, 1);
        let product = |k: &Field, r: usize| k.clone() * row(r);
        Tensor::cat(
            vec![
                product(&self.warp, 0) + product(&self.coupling, 1),
                product(&self.coupling, 0) + product(&self.weft, 1),
                product(&self.shear, 2) * 2.0,
            ],
            0,
        )
    }

    /// The stiffness that stress and strain of each component have without coupling, rows uu, vv, uv: what
    /// decides how much of a strain beyond yield flows. Shape `[3, 1]` or `[3, triangles]`.
    pub fn diagonal(&self) -> Field {
        Tensor::cat(
            vec![self.warp.clone(), self.weft.clone(), self.shear.clone()],
            0,
        )
    }
}

/// The part of the stress that stiffens a triangle against turning: K·max(ε, 0) of uu and vv, rows uu and
/// vv. Only tension counts, so that the tangent stays positive semi-definite; the authors' program clamps
/// the same way and leaves the shear out.
///
/// With `softness` δ > 0 the clamp is ½·(ε + √(ε² + δ²)), smooth and at most δ/2 above. It is needed for
/// gradients: max(ε, 0) has none at zero strain, which is where every cloth at rest starts. A clamp from
/// below would be smooth as well, but leave a weakly stretched cloth without the stiffness that keeps the
/// step stable. With δ = 0 continuous, but not smooth where a strain is zero.
pub(crate) fn tension(stiffness: &Stiffness, strain: &Field, softness: f64) -> Field {
    let stretched = if softness > 0.0 {
        let root = (strain.clone() * strain.clone() + softness * softness).sqrt();
        (strain.clone() + root) * 0.5
    } else {
        max_zero(strain)
    };
    stiffness.stress(&stretched).narrow(0, 0, 2)
}
