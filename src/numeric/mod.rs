//! What the physics is written in: devices and precision, safe forms, gates, gradient checks.

mod compute;
mod gate;
mod random;
mod safe;
mod sobol;
pub mod statistics;
mod taylor;

pub use compute::{Compute, Precision, gpu_names};
pub use gate::{Gate, Gated, YieldSide};
pub use random::Random;
pub use safe::{abs, indicator, max_zero, nearest_turn, sign, smoothstep};
pub use sobol::sobol;
pub use taylor::{GradientCheck, Sweep, judge, probes};

use burn::tensor::Tensor;

/// One scalar per hinge of every curve point, shape `[points, hinges]`. A parameter that all hinges
/// of a point share has shape `[points, 1]` and broadcasts.
pub type Field = Tensor<2>;
