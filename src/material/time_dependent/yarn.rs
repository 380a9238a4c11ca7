//! One yarn: friction and plasticity of paper 1.

use super::{BASE, Timer};
use crate::numeric::{Field, Gate, indicator, sign};

/// History variables of a yarn.
pub(super) const YARN_HISTORY: usize = 7;

/// The strain at which a yarn of this history slips.
pub(super) fn threshold(p: &[Field; BASE], s: &[Field]) -> Field {
    let (initial, saturated, dwell, stick_time) = (&p[2], &p[3], &p[4], &s[1]);
    // In exactly this form: a hinge that has just slipped sits on the threshold, and another
    // order of operations decides that tie differently from the reference program.
    let fresh = (stick_time.clone() / dwell.clone()).neg().exp();
    saturated.clone() - (saturated.clone() - initial.clone()) * fresh
}

/// Friction: new anchor and stick time.
pub(super) fn friction(
    p: &[Field; BASE],
    s: &[Field],
    strain: &Field,
    dt: &Field,
    gate: &Gate,
) -> [Field; 2] {
    let (anchor, stick_time) = (&s[0], &s[1]);
    let offset = strain.clone() - anchor.clone();
    let (direction, excess) = gate.excess(&offset, threshold(p, s));
    let slip = gate.open(&excess);
    [
        anchor.clone() + direction * slip.ramp,
        (slip.weight * -1.0 + 1.0) * (stick_time.clone() + dt.clone()),
    ]
}

/// Plasticity: new plastic strain, accumulated plastic strain, flow time, direction, yield strain.
pub(super) fn plasticity(
    timer: Timer,
    p: &[Field; BASE],
    s: &[Field],
    strain: &Field,
    dt: &Field,
    gate: &Gate,
) -> [Field; 5] {
    let (bending, yield_initial, hardening, drop, flow) = (&p[0], &p[5], &p[6], &p[7], &p[8]);
    let [
        plastic,
        accumulated,
        flow_time,
        flow_direction,
        yield_strain,
    ] = [&s[2], &s[3], &s[4], &s[5], &s[6]];
    let (direction, excess) =
        gate.excess(&(strain.clone() - plastic.clone()), yield_strain.clone());
    let yielding = gate.open(&excess);
    let open = &yielding.weight;
    let aged = flow_time.clone() + dt.clone();
    let new_flow_time = match timer {
        Timer::Authors => {
            let reset = open.clone() * gate.novelty(&direction, flow_direction);
            aged * (reset * -1.0 + 1.0)
        }
        Timer::Printed => {
            let along = indicator(&(direction.clone() * sign(plastic)));
            aged * (open.clone() * along)
        }
    };
    let relaxed = (new_flow_time.clone() / flow.clone()).neg().exp() * -1.0 + 1.0;
    let modulus = hardening.clone() * (drop.clone() * relaxed * -1.0 + 1.0);
    let flowed = bending.clone() / (bending.clone() + modulus.clone()) * yielding.ramp;
    let new_accumulated = accumulated.clone() + flowed.clone();
    let surface = yield_initial.clone() + new_accumulated.clone() * modulus / bending.clone();
    let new_yield = match timer {
        Timer::Authors => surface,
        Timer::Printed => yield_strain.clone() + open.clone() * (surface - yield_strain.clone()),
    };
    [
        plastic.clone() + direction.clone() * flowed,
        new_accumulated,
        new_flow_time,
        flow_direction.clone() + open.clone() * (direction - flow_direction.clone()),
        new_yield,
    ]
}
