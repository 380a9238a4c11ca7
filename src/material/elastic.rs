//! Linear elasticity: the baseline without memory.

use super::{DeterminedBy, Law, LawForm, Parameter, ParameterRole, Source, parameter};
use crate::numeric::{Field, Gate};

/// σ = K_b·ε \[Grinspun et al. 2003\]. No history; a released fold recovers fully.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Elastic;

impl Law for Elastic {
    fn name(&self) -> &'static str {
        "elastic"
    }

    fn parameters(&self) -> Vec<Parameter> {
        vec![parameter::bending_stiffness()]
    }

    fn determined_by(&self, _: ParameterRole) -> DeterminedBy {
        DeterminedBy::Test(
            "recovery angles determine only ratios of stiffnesses; a KES B or a cantilever would tell",
        )
    }

    fn form(&self) -> LawForm {
        LawForm::special_case(Source::without_friction(Source::NEVER, Source::NONE))
    }

    fn history(&self) -> Vec<String> {
        Vec::new()
    }

    fn start(&self, _: &[Field], _: &Field) -> Vec<Field> {
        Vec::new()
    }

    fn update(&self, _: &[Field], _: &[Field], _: &Field, _: &Field, _: &Gate) -> Vec<Field> {
        Vec::new()
    }

    fn stress(&self, parameters: &[Field], _: &[Field], strain: &Field) -> Field {
        parameters[0].clone() * strain.clone()
    }

    /// At once.
    fn release(
        &self,
        _: &[Field],
        _: &[Field],
        strain: &Field,
        _: &Field,
        _: &Gate,
    ) -> (Field, Vec<Field>) {
        (strain.zeros_like(), Vec::new())
    }
}
