//! The matrix of one time step, as an operator over elements.

use burn::tensor::Tensor;

use crate::{
    element::{Bend, Columns, HingeSpan, Incidence, Stiffness, Vector},
    numeric::Field,
};

/// A = blocks + Σ hinges + Σ triangles, symmetric and positive definite, with identity rows and columns
/// for pinned vertices.
///
/// ```text
/// hinge      w·(∇θ)(∇θ)ᵀ                                                        Gauss-Newton
/// triangle   Σ_ab C_ab·(∇ε_a)(∇ε_b)ᵀ + Σ_a T_a·B_a B_aᵀ ⊗ I      a, b over uu, vv, uv; T over uu, vv
/// ```
///
/// All factors of time and area are inside.
#[derive(Debug, Clone)]
pub struct Tangent {
    /// Angles and their gradients.
    pub bend: Bend,
    /// w \[kg·m²\], `[1, hinges]`.
    pub bend_weight: Field,
    /// Deformation of the triangles.
    pub columns: Columns,
    /// C \[kg·m²\]; every field `[1, triangles]`.
    pub modulus: Stiffness,
    /// T, rows uu and vv, `[2, triangles]`.
    pub tension: Field,
    /// Symmetric 3×3 block of each vertex \[kg\], rows xx, yy, zz, xy, xz, yz, `[6, vertices]`.
    pub blocks: Field,
    /// 1 for free vertices, 0 for pinned ones, `[1, vertices]`.
    pub free: Field,
}

impl Tangent {
    /// A·w of a vertex tensor `[3, vertices]`, pins as identity.
    pub fn apply(&self, incidence: &Incidence, w: &Field) -> Field {
        let moving = w.clone() * self.free.clone();
        let product = self.apply_unpinned(incidence, &moving);
        w.clone() - moving + product * self.free.clone()
    }

    /// A·w as if no vertex were pinned.
    pub fn apply_unpinned(&self, incidence: &Incidence, w: &Field) -> Field {
        let spans = self.hinges(&incidence.spans(w));
        let columns = self.triangles(&incidence.columns(w));
        incidence.assemble_parts(&spans, &columns) + self.vertices(w)
    }

    /// The diagonal 3×3 blocks, rows xx, yy, zz, xy, xz, yz, `[6, vertices]`; identity for pins.
    pub fn diagonal(&self, incidence: &Incidence) -> Field {
        let hinges = incidence.corners_of_span(&self.bend.gradient());
        let weight = self.bend_weight.clone();
        let hinge = |a: usize, b: usize| {
            let rows = |axis: usize| hinges.clone().narrow(0, 4 * axis, 4);
            rows(a) * rows(b) * weight.clone()
        };
        let triangles = self.triangle_blocks(incidence);
        let both = |pairs: [(usize, usize); 3], first: usize| {
            let hinges = Tensor::cat(pairs.map(|(a, b)| hinge(a, b)).to_vec(), 0);
            let triangles = Tensor::cat(triangles[first..first + 3].to_vec(), 0);
            incidence.assemble(hinges, triangles)
        };
        let diagonal = both([(0, 0), (1, 1), (2, 2)], 0);
        let mixed = both([(0, 1), (0, 2), (1, 2)], 3);
        let sum = Tensor::cat(vec![diagonal, mixed], 0) + self.blocks.clone();
        let identity = Tensor::cat(
            vec![
                self.free.ones_like().repeat_dim(0, 3),
                self.free.zeros_like().repeat_dim(0, 3),
            ],
            0,
        );
        identity.clone() + (sum - identity) * self.free.clone()
    }

    /// Diagonal blocks of the triangles' corners, xx, yy, zz, xy, xz, yz, each `[3, triangles]`.
    fn triangle_blocks(&self, incidence: &Incidence) -> [Field; 6] {
        let (bu, bv) = incidence.shapes();
        let (u, v) = (&self.columns.u, &self.columns.v);
        let m = &self.modulus;
        // ∇ε_uu, ∇ε_vv and ∇ε_uv of every corner.
        let axis = |u: &Field, v: &Field| {
            let (along, across) = (bu.clone() * u.clone(), bv.clone() * v.clone());
            let shear = (bu.clone() * v.clone() + bv.clone() * u.clone()) * 0.5;
            [along, across, shear]
        };
        let gradients = [axis(&u.x, &v.x), axis(&u.y, &v.y), axis(&u.z, &v.z)];
        let pair = |a: usize, b: usize| {
            let ([au, av, s], [bu, bv, t]) = (&gradients[a], &gradients[b]);
            let mixed = au.clone() * bv.clone() + av.clone() * bu.clone();
            au.clone() * bu.clone() * m.warp.clone()
                + av.clone() * bv.clone() * m.weft.clone()
                + mixed * m.coupling.clone()
                + s.clone() * t.clone() * m.shear.clone() * 2.0
        };
        let tension = |r: usize| self.tension.clone().narrow(0, r, 1);
        let turning = bu.clone() * bu.clone() * tension(0) + bv.clone() * bv.clone() * tension(1);
        let diagonal = |a: usize| pair(a, a) + turning.clone();
        [
            diagonal(0),
            diagonal(1),
            diagonal(2),
            pair(0, 1),
            pair(0, 2),
            pair(1, 2),
        ]
    }

    /// The same off the tape.
    pub fn inner(&self) -> Tangent {
        let off = |f: &Field| f.clone().inner();
        Tangent {
            bend: self.bend.inner(),
            bend_weight: off(&self.bend_weight),
            columns: Columns {
                u: self.columns.u.map(off),
                v: self.columns.v.map(off),
            },
            modulus: self.modulus.map(off),
            tension: off(&self.tension),
            blocks: off(&self.blocks),
            free: self.free.clone(),
        }
    }

    fn hinges(&self, w: &HingeSpan) -> HingeSpan {
        let rate = self.bend.rate(w) * self.bend_weight.clone();
        let gradient = self.bend.gradient();
        HingeSpan {
            edge: gradient.edge.times(&rate),
            wings: gradient.wings.times(&rate),
        }
    }

    fn triangles(&self, w: &Columns) -> Columns {
        let stress = self.modulus.stress(&self.columns.strain_rate(w));
        let elastic = self.columns.force(&stress);
        let tension = |r: usize| self.tension.clone().narrow(0, r, 1);
        Columns {
            u: elastic.u.plus(&w.u.times(&tension(0))),
            v: elastic.v.plus(&w.v.times(&tension(1))),
        }
    }

    fn vertices(&self, w: &Field) -> Field {
        let w = Vector::from_rows(w);
        let b = |r: usize| self.blocks.clone().narrow(0, r, 1);
        let (x, y, z) = (w.x, w.y, w.z);
        let row =
            |a: usize, b_: usize, c: usize| b(a) * x.clone() + b(b_) * y.clone() + b(c) * z.clone();
        Tensor::cat(vec![row(0, 3, 4), row(3, 1, 5), row(4, 5, 2)], 0)
    }
}
