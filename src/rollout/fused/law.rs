//! The time-dependent law for one hinge, forward and reverse, as straight-line code without branches. It is written
//! once, as a macro: [`super::lane`] makes functions of it that the compiler vectorises over hinges, and
//! `super::kernel` makes functions that CubeCL compiles for a GPU. The equations are those of
//! [`crate::material::TimeDependent`], the reference that both are tested against.
//!
//! CubeCL sets the form of the text: free functions instead of methods, every field of a structure written out.

/// Writes out the law. `derive` stands before each structure and `attribute` before each function. `plain` are the
/// generic parameters of a function without a gate, `gated` those of one with a gate, whose type is `gate`. Where the
/// macro is used, the functions `one`, `zero`, `sign` and `magnitude` must be known. A gate has the methods of
/// [`super::gate::LawGate`] without `weights`.
macro_rules! law {
    (
        derive: [$(#[$derive:meta])*],
        attribute: [$(#[$attribute:meta])*],
        plain: [$($plain:tt)*],
        gated: [$($gated:tt)*],
        gate: [$($gate:tt)*],
    ) => {
        /// Parameters of one hinge, in the law's order with times inverted.
        $(#[$derive])*
        pub(crate) struct Coefficients<$($plain)*> {
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
        $(#[$derive])*
        pub(crate) struct LaneState<$($plain)*> {
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
        $(#[$derive])*
        pub(crate) struct Saved<$($plain)*> {
            pub fresh: R,
            pub slip: R,
            pub yielding: R,
            pub fading: R,
        }

        /// σ with the history held.
        $(#[$attribute])*
        pub(crate) fn stress<$($plain)*>(p: &Coefficients<R>, hinge: &LaneState<R>) -> R {
            p.bending * (hinge.strain - hinge.plastic) + p.friction * (hinge.strain - hinge.anchor)
        }

        /// Reverse of [`stress`]: adds the gradient of weight·σ.
        $(#[$attribute])*
        pub(crate) fn pull_back_stress<$($plain)*>(
            p: &Coefficients<R>,
            hinge: &LaneState<R>,
            weight: R,
            adjoint: &mut LaneState<R>,
            total: &mut Coefficients<R>,
        ) {
            adjoint.strain += weight * (p.bending + p.friction);
            adjoint.anchor += -(weight * p.friction);
            adjoint.plastic += -(weight * p.bending);
            total.bending += weight * (hinge.strain - hinge.plastic);
            total.friction += weight * (hinge.strain - hinge.anchor);
        }

        /// The friction part of [`crate::material::Law::release`] for one hinge, with what its reverse needs.
        $(#[$derive])*
        pub(crate) struct Released<$($plain)*> {
            pub strain: R,
            pub anchor: R,
            pub stick_time: R,
            pub slip: R,
            side: R,
            excess: R,
            slid_anchor: R,
        }

        /// One release step from `before`, whose freshness exp(−t_s/τ_f) is given.
        $(#[$attribute])*
        pub(crate) fn release<$($gated)*>(
            p: &Coefficients<R>,
            gate: $($gate)*,
            before: &LaneState<R>,
            fresh: R,
            dt: R,
        ) -> Released<R> {
            let inverse = one::<R>() / (p.bending + p.friction);
            let offset = p.bending * (before.plastic - before.anchor) * inverse;
            let threshold = p.threshold_saturated - (p.threshold_saturated - p.threshold_initial) * fresh;
            let side = sign::<R>(offset);
            let excess = magnitude::<R>(offset) - threshold;
            let slip = gate.weight(excess);
            let reach = one::<R>() + p.friction * p.inverse_bending;
            let slid_anchor = before.plastic - side * p.threshold_initial * reach;
            let anchor = before.anchor + slip * (slid_anchor - before.anchor);
            Released::<R> {
                strain: (p.bending * before.plastic + p.friction * anchor) * inverse,
                anchor,
                stick_time: (one::<R>() - slip) * (before.stick_time + dt),
                slip,
                side,
                excess,
                slid_anchor,
            }
        }

        /// Reverse of [`release`], whose result is given. On entry `adjoint` is that of the state after the release, with the plastic part already
        /// pulled back. On return it is that of the state before the release. The strain of that state has none, because a
        /// release does not depend on it.
        $(#[$attribute])*
        pub(crate) fn pull_back_release<$($gated)*>(
            p: &Coefficients<R>,
            gate: $($gate)*,
            before: &LaneState<R>,
            fresh: R,
            dt: R,
            r: &Released<R>,
            adjoint: &mut LaneState<R>,
            total: &mut Coefficients<R>,
        ) {
            let one = one::<R>();
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
            let weight_slope = gate.weight_slope(r.excess, r.slip);
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
            adjoint.strain = zero::<R>();
        }

        /// exp(−t_s/τ_f): 1 right after a slip, falling as yarns lock.
        $(#[$attribute])*
        pub(crate) fn freshness<$($gated)*>(p: &Coefficients<R>, gate: $($gate)*, before: &LaneState<R>) -> R {
            gate.exp_of_nonpositive(-(before.stick_time * p.inverse_dwell))
        }

        /// How far `strain` is beyond the friction threshold.
        ///
        /// An update is cut into parts, each a loop of its own over the hinges of a block: in one long loop the
        /// exponentials of a hinge wait for each other, and the processor sees too few hinges at a time to fill
        /// the gaps (measured: a third slower).
        $(#[$attribute])*
        pub(crate) fn friction_excess<$($plain)*>(
            p: &Coefficients<R>,
            before: &LaneState<R>,
            strain: R,
            fresh: R,
        ) -> R {
            let threshold = p.threshold_saturated - (p.threshold_saturated - p.threshold_initial) * fresh;
            magnitude::<R>(strain - before.anchor) - threshold
        }

        /// How far `strain` is beyond the yield surface.
        $(#[$attribute])*
        pub(crate) fn yield_excess<$($plain)*>(before: &LaneState<R>, strain: R) -> R {
            magnitude::<R>(strain - before.plastic) - before.yield_strain
        }

        /// The new flow time and exp(−t_p/τ_p) of it.
        $(#[$attribute])*
        pub(crate) fn flow_time<$($gated)*>(
            p: &Coefficients<R>,
            gate: $($gate)*,
            before: &LaneState<R>,
            strain: R,
            dt: R,
            yielding: R,
        ) -> (R, R) {
            let direction = sign::<R>(strain - before.plastic);
            let novelty = gate.novelty(direction * before.flow_direction);
            let flow_time = (before.flow_time + dt) * (one::<R>() - yielding * novelty);
            let fading = gate.exp_of_nonpositive(-(flow_time * p.inverse_flow));
            (flow_time, fading)
        }

        /// The new anchor and stick time.
        $(#[$attribute])*
        pub(crate) fn slide<$($gated)*>(
            gate: $($gate)*,
            before: &LaneState<R>,
            strain: R,
            dt: R,
            excess: R,
            slip: R,
        ) -> (R, R) {
            let side = sign::<R>(strain - before.anchor);
            (
                before.anchor + side * gate.ramp(excess, slip),
                (one::<R>() - slip) * (before.stick_time + dt),
            )
        }

        /// The plastic part of the new state; `after` has its strain, friction and flow time already.
        $(#[$attribute])*
        pub(crate) fn flow<$($gated)*>(
            p: &Coefficients<R>,
            gate: $($gate)*,
            before: &LaneState<R>,
            after: LaneState<R>,
            excess: R,
            saved: &Saved<R>,
        ) -> LaneState<R> {
            let direction = sign::<R>(after.strain - before.plastic);
            let modulus = p.hardening * (one::<R>() - p.drop * (one::<R>() - saved.fading));
            let flowed = p.bending / (p.bending + modulus) * gate.ramp(excess, saved.yielding);
            let accumulated = before.accumulated + flowed;
            let turned = saved.yielding * (direction - before.flow_direction);
            LaneState::<R> {
                strain: after.strain,
                anchor: after.anchor,
                stick_time: after.stick_time,
                plastic: before.plastic + direction * flowed,
                accumulated,
                flow_time: after.flow_time,
                flow_direction: before.flow_direction + turned,
                yield_strain: p.yield_initial + accumulated * modulus * p.inverse_bending,
            }
        }

        /// Reverse of the plastic part of an update: turns the adjoint of the state after it into that of the
        /// state before, adds the share of the new strain to `adjoint.strain`, and adds to the adjoint of the
        /// coefficients. `inverse_bending` stays out of it: its share is booked on `bending`.
        $(#[$attribute])*
        pub(crate) fn pull_back_plasticity<$($gated)*>(
            p: &Coefficients<R>,
            gate: $($gate)*,
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
            let direction = sign::<R>(elastic);
            let excess = magnitude::<R>(elastic) - before.yield_strain;
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
            let weight_slope = gate.weight_slope(excess, saved.yielding);
            let ramp_slope = gate.ramp_slope(excess, saved.yielding);
            let excess_bar = yielding_bar * weight_slope + flowed_bar * ratio * ramp_slope;
            let elastic_bar = direction * excess_bar;
            adjoint.strain += elastic_bar;
            adjoint.plastic += -elastic_bar;
            adjoint.flow_time = flow_time_bar * (one - saved.yielding * novelty);
            adjoint.flow_direction = adjoint.flow_direction * (one - saved.yielding) + novelty_bar;
            adjoint.yield_strain = -excess_bar;
        }

        /// Reverse of the friction part of an update, like [`pull_back_plasticity`].
        $(#[$attribute])*
        pub(crate) fn pull_back_friction<$($gated)*>(
            p: &Coefficients<R>,
            gate: $($gate)*,
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
            let side = sign::<R>(offset);
            let excess = magnitude::<R>(offset) - threshold;
            let slip_bar = -(adjoint.stick_time * (before.stick_time + dt));
            let weight_slope = gate.weight_slope(excess, saved.slip);
            let ramp_slope = gate.ramp_slope(excess, saved.slip);
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
    };
}
pub(super) use law;
