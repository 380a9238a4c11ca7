//! The law of one hinge on the CPU.

use super::{
    gate::{LawGate, magnitude, one, sign, zero},
    law::law,
    real::Real,
};

law! {
    derive: [#[derive(Clone, Copy, Default, Debug)]],
    attribute: [#[inline(always)] #[allow(clippy::too_many_arguments)]],
    plain: [R: Real],
    gated: [R: Real, G: LawGate<R>],
    gate: [G],
}
