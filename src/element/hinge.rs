//! The bending hinge: two triangles that share an edge.

use super::Vector;
use crate::numeric::{Compute, Field};

/// What a hinge is made of: differences of its corners' vectors.
///
/// Corners are i, j (the edge), k (opposite in the first triangle, in which the edge runs i→j) and l
/// (opposite in the second). The same form holds positions \[m\], velocities \[m/s\] or multipliers.
#[derive(Debug, Clone)]
pub struct HingeSpan {
    /// j − i, shape `[1, hinges]`.
    pub edge: Vector,
    /// k − i and l − i, shape `[2, hinges]`.
    pub wings: Vector,
}

impl HingeSpan {
    /// One function of every component.
    pub fn map(&self, f: impl Fn(&Field) -> Field) -> HingeSpan {
        HingeSpan {
            edge: self.edge.map(&f),
            wings: self.wings.map(&f),
        }
    }
}

/// The angle of every hinge and its derivative.
///
/// With e = x_j − x_i, d_r = x_r − x_i for the wings r = k, l, m_r = e × d_r, s = (1, −1):
///
/// ```text
/// θ = atan2(|e|·(m_k·d_l), −m_k·m_l)                        0 is flat, −π < θ < π
/// ∂θ/∂x_r = n_r = s_r·|e|·m_r/|m_r|²                        1/height, along the normal
/// ∂θ/∂x_j = −Σ t_r·n_r,  ∂θ/∂x_i = −Σ (1 − t_r)·n_r,        t_r = (d_r·e)/|e|²
/// ```
///
/// (paper 1 takes these from Tamstorf and Grinspun 2013; its program divides by max(height, |e|) instead of the height,
/// see docs/MODEL.md). Smooth except at θ = ±π, where a hinge is folded flat onto itself, and where a
/// triangle has no area.
#[derive(Debug, Clone)]
pub struct Bend {
    /// θ \[rad\], shape `[1, hinges]`.
    pub angle: Field,
    /// n_r \[1/m\], shape `[2, hinges]`.
    normals: Vector,
    /// t_r, shape `[2, hinges]`.
    feet: Field,
}

impl Bend {
    /// The bend of hinges whose corners span `span`.
    pub fn new(span: &HingeSpan, compute: &Compute) -> Bend {
        let HingeSpan { edge, wings } = span;
        let normals = edge.cross(wings);
        let length_squared = edge.dot(edge);
        let length = length_squared.clone().sqrt();
        let (first, second) = (normals.row(0), normals.row(1));
        let sine = first.dot(&wings.row(1)) * length.clone();
        let angle = sine.atan2(first.dot(&second).neg());
        let signs = compute.tensor(&[1.0, -1.0], [2, 1]);
        let scale = length * signs / normals.dot(&normals);
        Bend {
            angle,
            normals: normals.times(&scale),
            feet: wings.dot(edge) / length_squared,
        }
    }

    /// ∇θ·w for corner vectors w given by their span, shape `[1, hinges]`.
    pub fn rate(&self, w: &HingeSpan) -> Field {
        let relative = w.wings.minus(&w.edge.times(&self.feet));
        self.normals.dot(&relative).sum_dim(0)
    }

    /// The same off the tape.
    pub fn inner(&self) -> Bend {
        let off = |f: &Field| f.clone().inner();
        Bend {
            angle: off(&self.angle),
            normals: self.normals.map(off),
            feet: off(&self.feet),
        }
    }

    /// ∂θ/∂span \[rad/m\]: what [`super::Incidence::corners_of_span`] turns into ∇θ.
    pub fn gradient(&self) -> HingeSpan {
        HingeSpan {
            edge: self
                .normals
                .times(&self.feet)
                .map(|c| c.clone().sum_dim(0).neg()),
            wings: self.normals.clone(),
        }
    }
}
