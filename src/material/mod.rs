//! Material laws: one scalar strain in, a stress and a new history out.
//!
//! A law does not know whether its strain is a hinge's curvature or a triangle's stretch. Every law
//! is one file and one implementation of `Law`; `properties.rs` and `gradients.rs` in `tests/inside/law` hold
//! the contract that all of them must pass.

mod dahl;
mod elastic;
mod file;
mod form;
mod format;
mod hardening_plastic;
pub(crate) mod parameter;
mod perfect_plastic;
pub(crate) mod population;
mod preset;
mod ready;
mod schema;
mod time_dependent;

use std::fmt::Debug;

pub(crate) use dahl::Dahl;
pub(crate) use elastic::Elastic;
pub use file::Material;
pub(crate) use form::{LawForm, Source};
pub(crate) use format::LawName;
pub(crate) use hardening_plastic::HardeningPlastic;
pub(crate) use parameter::{
    DeterminedBy, Dimension, Parameter, ParameterRole, StrainMeasure, Transform,
};
pub(crate) use perfect_plastic::PerfectPlastic;
pub use ready::ReadyMaterial;
pub(crate) use time_dependent::TimeDependent;
pub use time_dependent::Timer;

use crate::numeric::{Field, Gate};

/// Names of all parameters but those of relaxation branches, in the order of material files.
pub(crate) fn parameter_names() -> Vec<String> {
    format::PLACES
        .iter()
        .map(|p| (p.parameter)().name)
        .collect()
}

/// A scalar, history-dependent stress-strain law.
///
/// `parameters` are fields in the order of [`Law::parameters`], `history` in the order of
/// [`Law::history`]; all are `[points, hinges]` or broadcast to it.
pub(crate) trait Law: Debug + Send + Sync {
    /// The name in material files.
    fn name(&self) -> &'static str;

    /// The parameters, in order.
    fn parameters(&self) -> Vec<Parameter>;

    /// Which measurement determines its parameter of a role.
    fn determined_by(&self, role: ParameterRole) -> DeterminedBy;

    /// The names of the history variables, in order.
    fn history(&self) -> Vec<String>;

    /// The history of virgin cloth; `like` gives shape, device and precision.
    fn start(&self, parameters: &[Field], like: &Field) -> Vec<Field>;

    /// The history after `strain` has stood for `dt` seconds.
    fn update(
        &self,
        parameters: &[Field],
        history: &[Field],
        strain: &Field,
        dt: &Field,
        gate: &Gate,
    ) -> Vec<Field>;

    /// Stress at `strain` with the history held: a bending moment per width \[N·m/m\] for curvature.
    fn stress(&self, parameters: &[Field], history: &[Field], strain: &Field) -> Field;

    /// ∂stress/∂strain with the history held \[N·m\]: the tangent of the mesh step. No stress here bends with
    /// the strain, so it depends on the parameters only.
    fn stiffness(&self, parameters: &[Field]) -> Field {
        parameters[0].clone()
    }

    /// The history variable of a name, such as `plastic`, where the law has it.
    fn variable(&self, history: &[Field], name: &str) -> Option<Field> {
        let place = self.history().iter().position(|own| own == name)?;
        Some(history[place].clone())
    }

    /// The history after the clocks alone have gone on by `seconds`, as paper 1 skips a long hold: no strain
    /// is looked at, so nothing slips or flows before the next update.
    fn elapse(&self, history: &[Field], _seconds: f64) -> Vec<Field> {
        history.to_vec()
    }

    /// Strain and history after `dt` seconds without a load: the overdamped release, implicit in time,
    /// without viscosity. Where the hinge would slip or not on the way is one decision of the gate, so
    /// that a smooth gate mixes the two ends and not the states on the way to them.
    fn release(
        &self,
        parameters: &[Field],
        history: &[Field],
        strain: &Field,
        dt: &Field,
        gate: &Gate,
    ) -> (Field, Vec<Field>);

    /// What a whole fold under this law is computed from.
    fn form(&self) -> LawForm;

    /// Whether the fused roll-out of the time-dependent law computes this law.
    fn has_fused_form(&self) -> bool {
        false
    }
}

/// Release of a law whose unloading is elastic and whose first history variable is the plastic strain.
fn unload(
    law: &dyn Law,
    parameters: &[Field],
    history: &[Field],
    dt: &Field,
    gate: &Gate,
) -> (Field, Vec<Field>) {
    let rest = history[0].clone();
    let history = law.update(parameters, history, &rest, dt, gate);
    (rest, history)
}
