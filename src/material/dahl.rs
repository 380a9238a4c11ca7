//! Dahl's friction as used for cloth by Miguel et al. 2013 [MTB*13]: paper 1's friction baseline.

use super::{Law, Parameter, parameter};
use crate::numeric::{Field, Gate, abs, max_zero, sign};

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
pub struct Dahl;

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

    /// With the slope K_b + K_f·(1 + f/ε_0) of unloading from a positive strain, which is steepest at
    /// the start. Capped below by K_b.
    fn release(
        &self,
        parameters: &[Field],
        history: &[Field],
        strain: &Field,
        _: &Field,
        _: &Gate,
    ) -> Field {
        let unloading = sign(&history[1]) * history[0].clone() / parameters[2].clone() + 1.0;
        let slope = parameters[0].clone() + parameters[1].clone() * max_zero(&unloading);
        strain.clone() - self.stress(parameters, history, strain) / slope
    }
}
