//! What hinges and triangles answer to the strain at the start of a step.

use burn::tensor::Tensor;

use super::{Cloth, Drive, Parameters, State, cloth::TENSILE_LAW};
use crate::{
    element::{Bend, Columns, HingeSpan, Stiffness, tension},
    material::Law,
    numeric::Field,
};

/// Answer of the hinges.
#[derive(Debug, Clone)]
pub struct HingeResponse {
    /// Angles and their gradients.
    pub bend: Bend,
    /// Strain in the measure of the material, `[1, hinges]`.
    pub strain: Field,
    /// New history.
    pub history: Vec<Field>,
    /// ∂energy/∂θ \[N·m\], `[1, hinges]`.
    pub moment: Field,
    /// ∂moment/∂θ with the history held \[N·m/rad\], `[1, hinges]`.
    pub stiffness: Field,
}

/// Answer of the triangles.
#[derive(Debug, Clone)]
pub struct TriangleResponse {
    /// Deformation.
    pub columns: Columns,
    /// New history; empty for an elastic membrane.
    pub history: Vec<Field>,
    /// Stress times area \[N·m\], rows uu, vv, uv.
    pub stress: Field,
    /// Tangent of the stress times area \[N·m\].
    pub modulus: Stiffness,
    /// Tension times area \[N·m\], rows uu, vv.
    pub tension: Field,
}

/// Answer of all elements.
#[derive(Debug, Clone)]
pub struct Response {
    /// Of the hinges.
    pub hinges: HingeResponse,
    /// Of the triangles.
    pub triangles: TriangleResponse,
}

impl Cloth {
    /// The answer to a state that stands for the material's time of a step.
    pub fn respond(&self, state: &State, parameters: &Parameters, drive: &Drive) -> Response {
        let hinges = || {
            let span = self.incidence.spans(&state.positions);
            self.bend_response(&span, &state.bending, parameters, drive)
        };
        let triangles = || {
            let columns = self.incidence.columns(&state.positions);
            self.stretch_response(&columns, &state.tensile, parameters, drive)
        };
        // Operations of burn's CPU backend use one core.
        let (hinges, triangles) = if self.compute.is_cpu() {
            rayon::join(hinges, triangles)
        } else {
            (hinges(), triangles())
        };
        Response { hinges, triangles }
    }

    /// The hinges alone. Not smooth where the law's gate is not.
    pub(super) fn bend_response(
        &self,
        span: &HingeSpan,
        history: &[Field],
        parameters: &Parameters,
        drive: &Drive,
    ) -> HingeResponse {
        let law = self.setup.law.as_ref();
        let bend = Bend::new(span, &self.compute);
        let strain = self.hinge_strain(&bend.angle);
        let one = || self.compute.tensor(&[drive.material_seconds], [1, 1]);
        let dt = drive.hinge_seconds.clone().unwrap_or_else(one);
        let bending = &parameters.bending;
        let history = law.update(bending, history, &strain, &dt, &self.setup.gate);
        let scale = self.moment_scale(parameters);
        HingeResponse {
            moment: law.stress(bending, &history, &strain) * scale.clone(),
            stiffness: law.stiffness(bending) * scale * self.strain_per_angle.clone(),
            bend,
            strain,
            history,
        }
    }

    /// Strain of hinges at some angles, in the measure of the material.
    pub(super) fn hinge_strain(&self, angle: &Field) -> Field {
        (angle.clone() - self.rest_angle.clone()) * self.strain_per_angle.clone()
    }

    /// Moment over stress of each hinge: its length, and how much stiffer or softer than along the warp it
    /// bends.
    pub(super) fn moment_scale(&self, parameters: &Parameters) -> Field {
        let anisotropy = (parameters.weft_ratio.clone() - 1.0) * self.weft_share.clone() + 1.0;
        anisotropy * self.moment_per_stress.clone()
    }

    /// The triangles alone. Not smooth where a strain passes zero (the clamp of the tension, unless it is soft)
    /// and where the law's gate is not.
    pub(super) fn stretch_response(
        &self,
        columns: &Columns,
        history: &[Field],
        parameters: &Parameters,
        drive: &Drive,
    ) -> TriangleResponse {
        let strain = columns.strain();
        let (stiffness, softness) = (&parameters.membrane, self.setup.tension_softness);
        let area = &self.area;
        if parameters.tensile.is_empty() {
            return TriangleResponse {
                columns: columns.clone(),
                history: Vec::new(),
                stress: self.membrane_stress(&strain, &[], parameters),
                modulus: stiffness.map(|k| k.clone() * area.clone()),
                tension: tension(stiffness, &strain, softness) * area.clone(),
            };
        }
        let law = parameters.tensile_law();
        let dt = self.compute.tensor(&[drive.material_seconds], [1, 1]);
        let history = TENSILE_LAW.update(&law, history, &strain, &dt, &self.setup.tensile_gate);
        let friction = friction_stiffness(&parameters.tensile[0]);
        let elastic = strain.clone() - history[2].clone();
        let sticking = strain.clone() - history[0].clone();
        let held = tension(stiffness, &elastic, softness) + tension(&friction, &sticking, softness);
        TriangleResponse {
            columns: columns.clone(),
            stress: self.membrane_stress(&strain, &history, parameters),
            history,
            modulus: stiffness.plus(&friction).map(|k| k.clone() * area.clone()),
            tension: held * area.clone(),
        }
    }

    /// Stress of the triangles times area \[N·m\] with a history held, rows uu, vv, uv.
    pub(super) fn membrane_stress(
        &self,
        strain: &Field,
        history: &[Field],
        parameters: &Parameters,
    ) -> Field {
        let stress = match (history, parameters.tensile.first()) {
            ([anchor, _, plastic, ..], Some(friction)) => {
                parameters
                    .membrane
                    .stress(&(strain.clone() - plastic.clone()))
                    + friction_stiffness(friction).stress(&(strain.clone() - anchor.clone()))
            }
            _ => parameters.membrane.stress(strain),
        };
        stress * self.area.clone()
    }

    /// Forces on the vertices \[N\], `[3, vertices]`, of hinges with moments and triangles with stresses times area.
    pub(super) fn element_forces(
        &self,
        (bend, moment): (&Bend, &Field),
        (columns, stress): (&Columns, &Field),
    ) -> Field {
        let gradient = bend.gradient();
        let span = HingeSpan {
            edge: gradient.edge.times(moment),
            wings: gradient.wings.times(moment),
        };
        let columns = columns.force(stress);
        self.incidence.assemble_parts(&span, &columns).neg()
    }
}

/// Friction of each component without coupling (paper 1, Eq. 15), from rows uu, vv, uv.
fn friction_stiffness(rows: &Field) -> Stiffness {
    let row = |r: usize| rows.clone().narrow(0, r, 1);
    Stiffness {
        warp: row(0),
        coupling: row(0).zeros_like(),
        weft: row(1),
        shear: row(2),
    }
}

impl Response {
    /// Forces of all elements on the vertices \[N\], `[3, vertices]`.
    pub fn forces(&self, cloth: &Cloth) -> Field {
        let (hinges, triangles) = (&self.hinges, &self.triangles);
        cloth.element_forces(
            (&hinges.bend, &hinges.moment),
            (&triangles.columns, &triangles.stress),
        )
    }

    /// The elements' part of the potential whose gradient is the step's vector-Jacobian product:
    /// λ·(h·f − h·(h + β)·K·v'), with λ and v' given by their spans and columns.
    pub(super) fn potential(
        &self,
        (along, columns_along): (&HingeSpan, &Columns),
        (moving, columns_moving): (&HingeSpan, &Columns),
        h: f64,
        stiff: f64,
    ) -> (Tensor<1>, Tensor<1>) {
        (
            self.hinges.potential(along, moving, h, stiff),
            self.triangles
                .potential(columns_along, columns_moving, h, stiff),
        )
    }
}

impl HingeResponse {
    /// Of the hinges: −Σ ∇θ·λ·(h·moment + stiff·stiffness·∇θ·v').
    pub(super) fn potential(
        &self,
        along: &HingeSpan,
        moving: &HingeSpan,
        h: f64,
        stiff: f64,
    ) -> Tensor<1> {
        let push =
            self.moment.clone() * h + self.stiffness.clone() * self.bend.rate(moving) * stiff;
        (self.bend.rate(along) * push).sum().neg()
    }
}

impl TriangleResponse {
    /// Of the triangles, likewise.
    pub(super) fn potential(
        &self,
        along: &Columns,
        moving: &Columns,
        h: f64,
        stiff: f64,
    ) -> Tensor<1> {
        let rates = self.columns.strain_rate(along);
        let stress = self.stress.clone() * h
            + self.modulus.stress(&self.columns.strain_rate(moving)) * stiff;
        let turning = Tensor::cat(vec![along.u.dot(&moving.u), along.v.dot(&moving.v)], 0);
        let turning = (turning * self.tension.clone()).sum() * stiff;
        ((rates * stress).sum() + turning).neg()
    }
}
