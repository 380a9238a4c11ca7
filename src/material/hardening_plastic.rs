//! Plasticity with linear hardening and no time: paper 1's baseline [NPO13, GSH*04].

use super::{
    DeterminedBy, Law, LawForm, Parameter, ParameterRole, PerfectPlastic, Source, parameter, unload,
};
use crate::numeric::{Field, Gate};

/// Paper 1's plasticity with g = 0:
///
/// ```text
/// ε_e = ε − ε_p;  if |ε_e| > ε_Y: Δ = K_b/(K_b + K_h0)·(|ε_e| − ε_Y); ε_hp += Δ; ε_p += sign(ε_e)·Δ
/// ε_Y = ε_Y0 + ε_hp·K_h0/K_b;  σ = K_b·(ε − ε_p)
/// ```
///
/// K_h0 = 0 is [`super::PerfectPlastic`]. Not smooth at |ε_e| = ε_Y, except as the gate smooths it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct HardeningPlastic;

impl Law for HardeningPlastic {
    fn name(&self) -> &'static str {
        "hardening_plastic"
    }

    fn parameters(&self) -> Vec<Parameter> {
        vec![
            parameter::bending_stiffness(),
            parameter::yield_strain(),
            parameter::hardening_stiffness(),
        ]
    }

    fn determined_by(&self, role: ParameterRole) -> DeterminedBy {
        match role {
            ParameterRole::HardeningStiffness => {
                DeterminedBy::Test("another gap would separate it from the yield strain")
            }
            other => PerfectPlastic.determined_by(other),
        }
    }

    fn form(&self) -> LawForm {
        LawForm::special_case(Source::without_friction(
            Source::Parameter(1),
            Source::Parameter(2),
        ))
    }

    fn history(&self) -> Vec<String> {
        ["plastic", "accumulated_plastic", "yield_strain"]
            .map(String::from)
            .to_vec()
    }

    fn start(&self, parameters: &[Field], like: &Field) -> Vec<Field> {
        let zero = like.zeros_like();
        vec![zero.clone(), zero.clone(), zero + parameters[1].clone()]
    }

    fn update(
        &self,
        parameters: &[Field],
        history: &[Field],
        strain: &Field,
        _: &Field,
        gate: &Gate,
    ) -> Vec<Field> {
        let (bending, yield_initial, hardening) = (&parameters[0], &parameters[1], &parameters[2]);
        let elastic = strain.clone() - history[0].clone();
        let (direction, excess) = gate.excess(&elastic, history[2].clone());
        let share = bending.clone() / (bending.clone() + hardening.clone());
        let flowed = share * gate.open(&excess).ramp;
        let accumulated = history[1].clone() + flowed.clone();
        let surface =
            yield_initial.clone() + accumulated.clone() * hardening.clone() / bending.clone();
        vec![
            history[0].clone() + direction * flowed,
            accumulated,
            surface,
        ]
    }

    fn stress(&self, parameters: &[Field], history: &[Field], strain: &Field) -> Field {
        parameters[0].clone() * (strain.clone() - history[0].clone())
    }

    /// Unloading is elastic: to the plastic strain at once.
    fn release(
        &self,
        parameters: &[Field],
        history: &[Field],
        _: &Field,
        dt: &Field,
        gate: &Gate,
    ) -> (Field, Vec<Field>) {
        unload(self, parameters, history, dt, gate)
    }
}
