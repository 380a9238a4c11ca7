//! The time-dependent law for one hinge, forward and reverse, as straight-line code without branches
//! so that a loop over hinges becomes vector code. The equations are those of
//! [`crate::material::TimeDependent`], which is the reference it is tested against.

use super::real::Real;

/// A gate on an excess, for one hinge; see [`crate::numeric::Gate`].
pub trait LaneGate<R: Real>: Copy + Send + Sync {
    /// Weight of an excess.
    fn weight<const FMA: bool>(self, excess: R) -> R;
    /// Weights of two excesses at once.
    #[inline(always)]
    fn weights<const FMA: bool>(self, a: R, b: R) -> (R, R) {
        (self.weight::<FMA>(a), self.weight::<FMA>(b))
    }
    /// Ramp of an excess whose weight is known.
    fn ramp(self, excess: R, weight: R) -> R;
    /// Derivatives of weight and ramp.
    fn slopes(self, excess: R, weight: R) -> (R, R);
    /// [`crate::numeric::Gate::novelty`] of an agreement.
    fn novelty(self, agreement: R) -> R;
    /// Derivative of the novelty.
    fn novelty_slope(self, agreement: R) -> R;
}

/// [`crate::numeric::Gate::Hard`].
#[derive(Clone, Copy)]
pub struct HardLane;

/// [`crate::numeric::Gate::Smoothstep`].
#[derive(Clone, Copy)]
pub struct SmoothstepLane<R> {
    /// 1/width.
    pub inverse_width: R,
}

/// [`crate::numeric::Gate::StraightThrough`].
#[derive(Clone, Copy)]
pub struct StraightThroughLane<R> {
    /// The gate of the backward pass.
    pub backward: SmoothstepLane<R>,
}

/// [`crate::numeric::Gate::Sigmoid`], signed.
#[derive(Clone, Copy)]
pub struct SigmoidLane<R> {
    /// Sharpness.
    pub gain: R,
}

#[inline(always)]
fn zero<R: Real>() -> R {
    R::default()
}

#[inline(always)]
fn one<R: Real>() -> R {
    R::from_f64(1.0)
}

#[inline(always)]
fn max_zero<R: Real>(x: R) -> R {
    if x > zero() { x } else { zero() }
}

#[inline(always)]
fn clamp01<R: Real>(x: R) -> R {
    let x = max_zero(x);
    if x < one() { x } else { one() }
}

#[inline(always)]
fn sign<R: Real>(x: R) -> R {
    let positive = if x > zero() { one() } else { zero::<R>() };
    if x < zero() { -one::<R>() } else { positive }
}

#[inline(always)]
fn smoothstep<R: Real>(x: R) -> R {
    let u = clamp01(x);
    u * u * (R::from_f64(3.0) - R::from_f64(2.0) * u)
}

#[inline(always)]
fn smoothstep_slope<R: Real>(x: R) -> R {
    let u = clamp01(x);
    R::from_f64(6.0) * u * (one::<R>() - u)
}

impl<R: Real> LaneGate<R> for HardLane {
    #[inline(always)]
    fn weight<const FMA: bool>(self, excess: R) -> R {
        if excess > zero() { one() } else { zero() }
    }

    #[inline(always)]
    fn ramp(self, excess: R, _: R) -> R {
        max_zero(excess)
    }

    #[inline(always)]
    fn slopes(self, _: R, weight: R) -> (R, R) {
        (zero(), weight)
    }

    #[inline(always)]
    fn novelty(self, agreement: R) -> R {
        one::<R>() - smoothstep(agreement)
    }

    #[inline(always)]
    fn novelty_slope(self, agreement: R) -> R {
        -smoothstep_slope(agreement)
    }
}

impl<R: Real> LaneGate<R> for SmoothstepLane<R> {
    #[inline(always)]
    fn weight<const FMA: bool>(self, excess: R) -> R {
        smoothstep(excess * self.inverse_width)
    }

    #[inline(always)]
    fn ramp(self, excess: R, weight: R) -> R {
        max_zero(excess) * weight
    }

    #[inline(always)]
    fn slopes(self, excess: R, weight: R) -> (R, R) {
        let slope = smoothstep_slope(excess * self.inverse_width) * self.inverse_width;
        (slope, weight + max_zero(excess) * slope)
    }

    #[inline(always)]
    fn novelty(self, agreement: R) -> R {
        LaneGate::<R>::novelty(HardLane, agreement)
    }

    #[inline(always)]
    fn novelty_slope(self, agreement: R) -> R {
        LaneGate::<R>::novelty_slope(HardLane, agreement)
    }
}

impl<R: Real> LaneGate<R> for StraightThroughLane<R> {
    #[inline(always)]
    fn weight<const FMA: bool>(self, excess: R) -> R {
        HardLane.weight::<FMA>(excess)
    }

    #[inline(always)]
    fn ramp(self, excess: R, weight: R) -> R {
        HardLane.ramp(excess, weight)
    }

    #[inline(always)]
    fn slopes(self, excess: R, _: R) -> (R, R) {
        let weight = smoothstep(excess * self.backward.inverse_width);
        self.backward.slopes(excess, weight)
    }

    #[inline(always)]
    fn novelty(self, agreement: R) -> R {
        LaneGate::<R>::novelty(HardLane, agreement)
    }

    #[inline(always)]
    fn novelty_slope(self, agreement: R) -> R {
        LaneGate::<R>::novelty_slope(HardLane, agreement)
    }
}

impl<R: Real> LaneGate<R> for SigmoidLane<R> {
    #[inline(always)]
    fn weight<const FMA: bool>(self, excess: R) -> R {
        let (top, bottom) = self.fraction::<FMA>(excess);
        top / bottom
    }

    /// Both over one division, which is slow next to three products.
    #[inline(always)]
    fn weights<const FMA: bool>(self, a: R, b: R) -> (R, R) {
        let (top_a, bottom_a) = self.fraction::<FMA>(a);
        let (top_b, bottom_b) = self.fraction::<FMA>(b);
        let inverse = one::<R>() / (bottom_a * bottom_b);
        (top_a * (inverse * bottom_b), top_b * (inverse * bottom_a))
    }

    #[inline(always)]
    fn ramp(self, excess: R, weight: R) -> R {
        excess * weight
    }

    #[inline(always)]
    fn slopes(self, excess: R, weight: R) -> (R, R) {
        let slope = self.gain * weight * (one::<R>() - weight);
        (slope, weight + excess * slope)
    }

    #[inline(always)]
    fn novelty(self, agreement: R) -> R {
        R::from_f64(0.5) * (one::<R>() - agreement)
    }

    #[inline(always)]
    fn novelty_slope(self, _: R) -> R {
        R::from_f64(-0.5)
    }
}

impl<R: Real> SigmoidLane<R> {
    /// σ(z) = 1/(1 + e) or e/(1 + e) with e = exp(−|z|), as (numerator, denominator): one exponential
    /// that cannot overflow.
    #[inline(always)]
    fn fraction<const FMA: bool>(self, excess: R) -> (R, R) {
        let z = excess * self.gain;
        let e = (-z.magnitude()).exp_of_nonpositive::<FMA>();
        (if z < zero() { e } else { one() }, one::<R>() + e)
    }
}

/// Parameters of one hinge, in the law's order with times inverted.
#[derive(Clone, Copy, Default)]
pub struct Coefficients<R> {
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
pub struct Hinge<R> {
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
pub struct Saved<R> {
    pub fresh: R,
    pub slip: R,
    pub yielding: R,
    pub fading: R,
}

impl<R: Real> Hinge<R> {
    /// σ with the history held.
    #[inline(always)]
    pub fn stress(&self, p: &Coefficients<R>) -> R {
        p.bending * (self.strain - self.plastic) + p.friction * (self.strain - self.anchor)
    }
}

/// The friction part of [`crate::material::Law::release`] for one hinge, with what its reverse needs.
pub struct Released<R> {
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
pub fn release<R: Real, G: LaneGate<R>, const FMA: bool>(
    p: &Coefficients<R>,
    gate: G,
    before: &Hinge<R>,
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

/// Reverse of [`release`]. On entry `adjoint` is that of the state after it, with the plastic part
/// already pulled back; on return that of the state before, whose strain a release forgets.
#[inline(always)]
#[allow(clippy::too_many_arguments)]
pub fn pull_back_release<R: Real, G: LaneGate<R>, const FMA: bool>(
    p: &Coefficients<R>,
    gate: G,
    before: &Hinge<R>,
    fresh: R,
    dt: R,
    adjoint: &mut Hinge<R>,
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
pub fn freshness<R: Real, const FMA: bool>(p: &Coefficients<R>, before: &Hinge<R>) -> R {
    (-(before.stick_time * p.inverse_dwell)).exp_of_nonpositive::<FMA>()
}

/// How far `strain` is beyond the friction threshold.
///
/// An update is cut into parts, each a loop of its own over the hinges of a block: in one long loop the
/// exponentials of a hinge wait for each other, and the processor sees too few hinges at a time to fill
/// the gaps (measured: a third slower).
#[inline(always)]
pub fn friction_excess<R: Real>(p: &Coefficients<R>, before: &Hinge<R>, strain: R, fresh: R) -> R {
    let threshold = p.threshold_saturated - (p.threshold_saturated - p.threshold_initial) * fresh;
    (strain - before.anchor).magnitude() - threshold
}

/// How far `strain` is beyond the yield surface.
#[inline(always)]
pub fn yield_excess<R: Real>(before: &Hinge<R>, strain: R) -> R {
    (strain - before.plastic).magnitude() - before.yield_strain
}

/// The new flow time and exp(−t_p/τ_p) of it.
#[inline(always)]
pub fn flow_time<R: Real, G: LaneGate<R>, const FMA: bool>(
    p: &Coefficients<R>,
    gate: G,
    before: &Hinge<R>,
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
pub fn slide<R: Real, G: LaneGate<R>>(
    gate: G,
    before: &Hinge<R>,
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
pub fn flow<R: Real, G: LaneGate<R>>(
    p: &Coefficients<R>,
    gate: G,
    before: &Hinge<R>,
    after: Hinge<R>,
    excess: R,
    saved: &Saved<R>,
) -> Hinge<R> {
    let direction = sign(after.strain - before.plastic);
    let modulus = p.hardening * (one::<R>() - p.drop * (one::<R>() - saved.fading));
    let flowed = p.bending / (p.bending + modulus) * gate.ramp(excess, saved.yielding);
    let accumulated = before.accumulated + flowed;
    let turned = saved.yielding * (direction - before.flow_direction);
    Hinge {
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
pub fn pull_back_plasticity<R: Real, G: LaneGate<R>>(
    p: &Coefficients<R>,
    gate: G,
    before: &Hinge<R>,
    after: &Hinge<R>,
    saved: &Saved<R>,
    dt: R,
    adjoint: &mut Hinge<R>,
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
pub fn pull_back_friction<R: Real, G: LaneGate<R>>(
    p: &Coefficients<R>,
    gate: G,
    before: &Hinge<R>,
    after: &Hinge<R>,
    saved: &Saved<R>,
    dt: R,
    adjoint: &mut Hinge<R>,
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
