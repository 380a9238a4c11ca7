//! Perfect plasticity (paper 1, Eq. 9; paper 2, Eq. 3).

use super::{
    DeterminedBy, Elastic, Law, LawForm, Parameter, ParameterRole, Source, parameter, unload,
};
use crate::numeric::{Field, Gate};

/// Everything beyond the yield strain becomes plastic at once:
///
/// ```text
/// ε_e = ε − ε_p;  if |ε_e| > ε_Y0: ε_p += sign(ε_e)·(|ε_e| − ε_Y0);  σ = K_b·(ε − ε_p)
/// ```
///
/// With [`Gate::Sigmoid`] one-sided this is paper 2's printed rule (Eqs. 4, 5), which drifts. Not
/// smooth at |ε_e| = ε_Y0, except as the gate smooths it. Independent of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PerfectPlastic;

impl Law for PerfectPlastic {
    fn name(&self) -> &'static str {
        "perfect_plastic"
    }

    fn parameters(&self) -> Vec<Parameter> {
        vec![parameter::bending_stiffness(), parameter::yield_strain()]
    }

    fn determined_by(&self, role: ParameterRole) -> DeterminedBy {
        match role {
            ParameterRole::YieldStrain => {
                DeterminedBy::Test("a wider and a smaller gap would bracket it")
            }
            other => Elastic.determined_by(other),
        }
    }

    fn form(&self) -> LawForm {
        LawForm::special_case(Source::without_friction(Source::Parameter(1), Source::NONE))
    }

    fn history(&self) -> Vec<String> {
        vec!["plastic".into(), "accumulated_plastic".into()]
    }

    fn start(&self, _: &[Field], like: &Field) -> Vec<Field> {
        vec![like.zeros_like(); 2]
    }

    fn update(
        &self,
        parameters: &[Field],
        history: &[Field],
        strain: &Field,
        _: &Field,
        gate: &Gate,
    ) -> Vec<Field> {
        let elastic = strain.clone() - history[0].clone();
        let (direction, excess) = gate.excess(&elastic, parameters[1].clone());
        let flowed = gate.open(&excess).ramp;
        vec![
            history[0].clone() + direction * flowed.clone(),
            history[1].clone() + flowed,
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
