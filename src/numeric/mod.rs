//! What the physics is written in: devices and precision, safe forms, gates, gradient checks.

mod adapter;
mod compute;
mod gate;
mod random;
mod safe;
mod sobol;
pub(crate) mod statistics;
mod taylor;

pub(crate) use adapter::{Adapter, adapters};
pub use compute::{Compute, Precision};
pub use gate::Gate;
pub(crate) use gate::YieldSide;
pub(crate) use random::Random;
pub(crate) use safe::{abs, indicator, max_zero, nearest_turn, sign, smoothstep};
pub(crate) use sobol::sobol;
pub(crate) use taylor::{GradientCheck, TaylorSteps, judge, probes};

use burn::tensor::Tensor;

/// One scalar per hinge of every curve point, shape `[points, hinges]`. A parameter that all hinges
/// of a point share has shape `[points, 1]` and broadcasts.
pub(crate) type Field = Tensor<2>;
