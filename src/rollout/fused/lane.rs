//! The time-dependent law for one hinge, forward and reverse, as straight-line code without branches
//! so that a loop over hinges becomes vector code. The equations are those of
//! [`crate::material::TimeDependent`], which is the reference it is tested against.

use super::{
    gate::{LaneGate, one, sign, zero},
    real::Real,
};

/// Parameters of one hinge, in the law's order with times inverted.
#[derive(Clone, Copy, Default)]
pub(crate) struct Coefficients<R> {
    pub bending: R,
    pub friction: R,
    pub threshold_initial: R,
    pub threshold_saturated: R,
    pub inverse_dwell: R,
    pub yield_initial: R,
    pub hardening: R,
    pub drop: R,
    pub inverse_flow: R,
    pub inverse_bending: R,
}

/// State of one hinge, or its adjoint.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct LaneState<R> {
    pub strain: R,
    pub anchor: R,
    pub stick_time: R,
    pub plastic: R,
    pub accumulated: R,
    pub flow_time: R,
    pub flow_direction: R,
    pub yield_strain: R,
}

/// Intermediate results of an update that the reverse pass would otherwise compute again.
#[derive(Clone, Copy, Default)]
pub(crate) struct Saved<R> {
    pub fresh: R,
    pub slip: R,
    pub yielding: R,
    pub fading: R,
}

impl<R: Real> LaneState<R> {
    /// σ with the history held.
    #[inline(always)]
    pub(crate) fn stress(&self, p: &Coefficients<R>) -> R {
        p.bending * (self.strain - self.plastic) + p.friction * (self.strain - self.anchor)
    }
}

/// The friction part of [`crate::material::Law::release`] for one hinge, with what its reverse needs.
pub(crate) struct Released<R> {
    pub strain: R,
    pub anchor: R,
    pub stick_time: R,
    pub slip: R,
    side: R,
    excess: R,
    slid_anchor: R,
}

/// One release step from `before`, whose freshness exp(−t_s/τ_f) is given.
#[inline(always)]
pub(crate) fn release<R: Real, G: LaneGate<R>, const FMA: bool>(
    p: &Coefficients<R>,
    gate: G,
    before: &LaneState<R>,
    fresh: R,
    dt: R,
) -> Released<R> {
    let inverse = one::<R>() / (p.bending + p.friction);
    let offset = p.bending * (before.plastic - before.anchor) * inverse;
    let threshold = p.threshold_saturated - (p.threshold_saturated - p.threshold_initial) * fresh;
    let side = sign(offset);
    let excess = offset.magnitude() - threshold;
    let slip = gate.weight::<FMA>(excess);
    let reach = one::<R>() + p.friction * p.inverse_bending;
    let slid_anchor = before.plastic - side * p.threshold_initial * reach;
    let anchor = before.anchor + slip * (slid_anchor - before.anchor);
    Released {
        strain: (p.bending * before.plastic + p.friction * anchor) * inverse,
        anchor,
        stick_time: (one::<R>() - slip) * (before.stick_time + dt),
        slip,
        side,
        excess,
        slid_anchor,
    }
}

/// Reverse of [`release`]. On entry `adjoint` is that of the state after the release, with the plastic part already
/// pulled back. On return it is that of the state before the release. The strain of that state has none, because a
/// release does not depend on it.
#[inline(always)]
#[allow(clippy::too_many_arguments)]
pub(crate) fn pull_back_release<R: Real, G: LaneGate<R>, const FMA: bool>(
    p: &Coefficients<R>,
    gate: G,
    before: &LaneState<R>,
    fresh: R,
    dt: R,
    adjoint: &mut LaneState<R>,
    total: &mut Coefficients<R>,
) {
    let one = one::<R>();
    let r = release::<R, G, FMA>(p, gate, before, fresh, dt);
    let inverse = one / (p.bending + p.friction);
    // Rest of the new anchor.
    let moved = adjoint.strain * inverse;
    let anchor_bar = adjoint.anchor + moved * p.friction;
    let mut plastic_bar = moved * p.bending;
    let mut bending_bar = moved * (before.plastic - r.strain);
    let mut friction_bar = moved * (r.anchor - r.strain);
    // Mixture of resting and sliding.
    let slip_bar = anchor_bar * (r.slid_anchor - before.anchor)
        - adjoint.stick_time * (before.stick_time + dt);
    let slid_bar = anchor_bar * r.slip;
    let lever = slid_bar * r.side * p.inverse_bending;
    let pushed = lever * p.threshold_initial;
    plastic_bar += slid_bar;
    friction_bar += -pushed;
    bending_bar += pushed * p.friction * p.inverse_bending;
    // Excess.
    let (weight_slope, _) = gate.slopes(r.excess, r.slip);
    let excess_bar = slip_bar * weight_slope;
    let offset_bar = r.side * excess_bar * inverse;
    plastic_bar += offset_bar * p.bending;
    let turned = offset_bar * (before.plastic - before.anchor) * inverse;
    bending_bar += turned * p.friction;
    friction_bar += -(turned * p.bending);
    // Threshold.
    let range = p.threshold_saturated - p.threshold_initial;
    let fresh_bar = excess_bar * range * fresh;
    total.bending += bending_bar;
    total.friction += friction_bar;
    total.threshold_saturated += -(excess_bar * (one - fresh));
    total.threshold_initial += -(excess_bar * fresh) - lever * (p.bending + p.friction);
    total.inverse_dwell += -(fresh_bar * before.stick_time);
    adjoint.anchor = anchor_bar * (one - r.slip) - offset_bar * p.bending;
    adjoint.stick_time = adjoint.stick_time * (one - r.slip) - fresh_bar * p.inverse_dwell;
    adjoint.plastic += plastic_bar;
    adjoint.strain = zero();
}

/// exp(−t_s/τ_f): 1 right after a slip, falling as yarns lock.
#[inline(always)]
pub(crate) fn freshness<R: Real, const FMA: bool>(p: &Coefficients<R>, before: &LaneState<R>) -> R {
    (-(before.stick_time * p.inverse_dwell)).exp_of_nonpositive::<FMA>()
}

/// How far `strain` is beyond the friction threshold.
///
/// An update is cut into parts, each a loop of its own over the hinges of a block: in one long loop the
/// exponentials of a hinge wait for each other, and the processor sees too few hinges at a time to fill
/// the gaps (measured: a third slower).
#[inline(always)]
pub(crate) fn friction_excess<R: Real>(
    p: &Coefficients<R>,
    before: &LaneState<R>,
    strain: R,
    fresh: R,
) -> R {
    let threshold = p.threshold_saturated - (p.threshold_saturated - p.threshold_initial) * fresh;
    (strain - before.anchor).magnitude() - threshold
}

/// How far `strain` is beyond the yield surface.
#[inline(always)]
pub(crate) fn yield_excess<R: Real>(before: &LaneState<R>, strain: R) -> R {
    (strain - before.plastic).magnitude() - before.yield_strain
}

/// The new flow time and exp(−t_p/τ_p) of it.
#[inline(always)]
pub(crate) fn flow_time<R: Real, G: LaneGate<R>, const FMA: bool>(
    p: &Coefficients<R>,
    gate: G,
    before: &LaneState<R>,
    strain: R,
    dt: R,
    yielding: R,
) -> (R, R) {
    let direction = sign(strain - before.plastic);
    let novelty = gate.novelty(direction * before.flow_direction);
    let flow_time = (before.flow_time + dt) * (one::<R>() - yielding * novelty);
    let fading = (-(flow_time * p.inverse_flow)).exp_of_nonpositive::<FMA>();
    (flow_time, fading)
}

/// The new anchor and stick time.
#[inline(always)]
pub(crate) fn slide<R: Real, G: LaneGate<R>>(
    gate: G,
    before: &LaneState<R>,
    strain: R,
    dt: R,
    excess: R,
    slip: R,
) -> (R, R) {
    let side = sign(strain - before.anchor);
    (
        before.anchor + side * gate.ramp(excess, slip),
        (one::<R>() - slip) * (before.stick_time + dt),
    )
}

/// The plastic part of the new state; `after` has its strain, friction and flow time already.
#[inline(always)]
pub(crate) fn flow<R: Real, G: LaneGate<R>>(
    p: &Coefficients<R>,
    gate: G,
    before: &LaneState<R>,
    after: LaneState<R>,
    excess: R,
    saved: &Saved<R>,
) -> LaneState<R> {
    let direction = sign(after.strain - before.plastic);
    let modulus = p.hardening * (one::<R>() - p.drop * (one::<R>() - saved.fading));
    let flowed = p.bending / (p.bending + modulus) * gate.ramp(excess, saved.yielding);
    let accumulated = before.accumulated + flowed;
    let turned = saved.yielding * (direction - before.flow_direction);
    LaneState {
        plastic: before.plastic + direction * flowed,
        accumulated,
        flow_direction: before.flow_direction + turned,
        yield_strain: p.yield_initial + accumulated * modulus * p.inverse_bending,
        ..after
    }
}

/// Reverse of the plastic part of an update: turns the adjoint of the state after it into that of the
/// state before, adds the share of the new strain to `adjoint.strain`, and adds to the adjoint of the
/// coefficients. `inverse_bending` stays out of it: its share is booked on `bending`.
#[inline(always)]
#[allow(clippy::too_many_arguments)]
pub(crate) fn pull_back_plasticity<R: Real, G: LaneGate<R>>(
    p: &Coefficients<R>,
    gate: G,
    before: &LaneState<R>,
    after: &LaneState<R>,
    saved: &Saved<R>,
    dt: R,
    adjoint: &mut LaneState<R>,
    total: &mut Coefficients<R>,
) {
    let one = one::<R>();
    // Yield surface.
    let elastic = after.strain - before.plastic;
    let direction = sign(elastic);
    let excess = elastic.magnitude() - before.yield_strain;
    let faded = one - saved.fading;
    let share = one - p.drop * faded;
    let modulus = p.hardening * share;
    let surface = adjoint.yield_strain * p.inverse_bending;
    total.yield_initial += adjoint.yield_strain;
    adjoint.accumulated += surface * modulus;
    let mut modulus_bar = surface * after.accumulated;
    let mut bending_bar = -(modulus_bar * modulus * p.inverse_bending);
    // Flow.
    let inverse = one / (p.bending + modulus);
    let ratio = p.bending * inverse;
    let flowed_bar = adjoint.accumulated + direction * adjoint.plastic;
    let ratio_bar = flowed_bar * gate.ramp(excess, saved.yielding) * inverse;
    bending_bar += ratio_bar * modulus * inverse;
    modulus_bar += -(ratio_bar * ratio);
    total.bending += bending_bar;
    // Hardening.
    total.hardening += modulus_bar * share;
    let drop_bar = modulus_bar * p.hardening;
    total.drop += -(drop_bar * faded);
    let rate_bar = drop_bar * p.drop * saved.fading;
    total.inverse_flow += -(rate_bar * after.flow_time);
    // Flow time and direction.
    let flow_time_bar = adjoint.flow_time - rate_bar * p.inverse_flow;
    let agreement = direction * before.flow_direction;
    let novelty = gate.novelty(agreement);
    let aged = (before.flow_time + dt) * flow_time_bar;
    let yielding_bar =
        adjoint.flow_direction * (direction - before.flow_direction) - aged * novelty;
    let novelty_bar = -(aged * saved.yielding) * gate.novelty_slope(agreement) * direction;
    let (weight_slope, ramp_slope) = gate.slopes(excess, saved.yielding);
    let excess_bar = yielding_bar * weight_slope + flowed_bar * ratio * ramp_slope;
    let elastic_bar = direction * excess_bar;
    adjoint.strain += elastic_bar;
    adjoint.plastic += -elastic_bar;
    adjoint.flow_time = flow_time_bar * (one - saved.yielding * novelty);
    adjoint.flow_direction = adjoint.flow_direction * (one - saved.yielding) + novelty_bar;
    adjoint.yield_strain = -excess_bar;
}

/// Reverse of the friction part of an update, like [`pull_back_plasticity`].
#[inline(always)]
#[allow(clippy::too_many_arguments)]
pub(crate) fn pull_back_friction<R: Real, G: LaneGate<R>>(
    p: &Coefficients<R>,
    gate: G,
    before: &LaneState<R>,
    after: &LaneState<R>,
    saved: &Saved<R>,
    dt: R,
    adjoint: &mut LaneState<R>,
    total: &mut Coefficients<R>,
) {
    let one = one::<R>();
    let range = p.threshold_saturated - p.threshold_initial;
    let threshold = p.threshold_saturated - range * saved.fresh;
    let offset = after.strain - before.anchor;
    let side = sign(offset);
    let excess = offset.magnitude() - threshold;
    let slip_bar = -(adjoint.stick_time * (before.stick_time + dt));
    let (weight_slope, ramp_slope) = gate.slopes(excess, saved.slip);
    let excess_bar = slip_bar * weight_slope + adjoint.anchor * side * ramp_slope;
    let offset_bar = side * excess_bar;
    total.threshold_saturated += -(excess_bar * (one - saved.fresh));
    total.threshold_initial += -(excess_bar * saved.fresh);
    let fresh_bar = excess_bar * range * saved.fresh;
    total.inverse_dwell += -(fresh_bar * before.stick_time);
    adjoint.strain += offset_bar;
    adjoint.anchor += -offset_bar;
    adjoint.stick_time = adjoint.stick_time * (one - saved.slip) - fresh_bar * p.inverse_dwell;
}
