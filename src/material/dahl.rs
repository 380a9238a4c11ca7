//! Dahl's friction as used for cloth by Miguel et al. 2013 [MTB*13]: paper 1's friction baseline.

use super::{DeterminedBy, Elastic, Law, LawForm, Parameter, ParameterRole, parameter};
use crate::numeric::{Field, Gate, abs, sign};

/// The friction moment F follows the strain with slope K_f at first and saturates at K_f·ε_0:
///
/// ```text
/// dF/dε = K_f·(1 − F/(K_f·ε_0)·sign(dε));   σ = K_b·ε + F
/// ```
///
/// integrated exactly over each monotone step. Stored as the anchored strain f = F/K_f, so that
/// f ← s·ε_0 + (f − s·ε_0)·exp(−|Δε|/ε_0), s = sign(Δε). HB of a KES loop is K_f·ε_0, as for the
/// time-dependent law. ε_0 > 0. Not smooth where the strain turns round (Δε = 0), but continuous.
/// Independent of time, and nothing sticks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Dahl;

/// Iterations of a release.
const NEWTON_STEPS: usize = 8;

impl Law for Dahl {
    fn name(&self) -> &'static str {
        "dahl"
    }

    fn parameters(&self) -> Vec<Parameter> {
        let mut threshold = parameter::friction_threshold_initial();
        // The law divides by it.
        threshold.low = 1e-9;
        vec![
            parameter::bending_stiffness(),
            parameter::friction_stiffness(),
            threshold,
        ]
    }

    fn determined_by(&self, role: ParameterRole) -> DeterminedBy {
        match role {
            ParameterRole::FrictionStiffness | ParameterRole::InitialThreshold => {
                DeterminedBy::Test(
                    "a KES loop would tell: 2HB gives the product of friction stiffness and threshold, the slope after a reversal the stiffness",
                )
            }
            other => Elastic.determined_by(other),
        }
    }

    fn form(&self) -> LawForm {
        LawForm::Dahl
    }

    fn history(&self) -> Vec<String> {
        vec!["friction_strain".into(), "last_strain".into()]
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
        _: &Gate,
    ) -> Vec<Field> {
        let threshold = &parameters[2];
        let change = strain.clone() - history[1].clone();
        let limit = sign(&change) * threshold.clone();
        let kept = (abs(&change) / threshold.clone()).neg().exp();
        vec![
            limit.clone() + (history[0].clone() - limit) * kept,
            strain.clone(),
        ]
    }

    fn stress(&self, parameters: &[Field], history: &[Field], strain: &Field) -> Field {
        let since_update = strain.clone() - history[1].clone();
        parameters[0].clone() * strain.clone()
            + parameters[1].clone() * (history[0].clone() + since_update)
    }

    fn stiffness(&self, parameters: &[Field]) -> Field {
        parameters[0].clone() + parameters[1].clone()
    }

    /// Where K_b·ε + F(ε) = 0 on the branch of unloading, by Newton's method. F is convex there, so
    /// every iterate stays on one side, and eight are exact to rounding for K_f up to 100·K_b.
    fn release(
        &self,
        parameters: &[Field],
        history: &[Field],
        strain: &Field,
        dt: &Field,
        gate: &Gate,
    ) -> (Field, Vec<Field>) {
        let (bending, friction, threshold) = (&parameters[0], &parameters[1], &parameters[2]);
        let moment = self.stress(parameters, history, strain);
        let direction = sign(&moment) * -1.0;
        let limit = direction.clone() * threshold.clone();
        let excess = history[0].clone() - limit.clone();
        let mut rest = strain.clone();
        for _ in 0..NEWTON_STEPS {
            let moved = abs(&(rest.clone() - strain.clone()));
            let left = excess.clone() * (moved / threshold.clone()).neg().exp();
            let stress =
                bending.clone() * rest.clone() + friction.clone() * (limit.clone() + left.clone());
            let slope =
                bending.clone() - friction.clone() * direction.clone() * left / threshold.clone();
            rest = rest - stress / slope;
        }
        let history = self.update(parameters, history, &rest, dt, gate);
        (rest, history)
    }
}
