//! Gates for one hinge, as straight-line code; see [`crate::numeric::Gate`].

use super::real::Real;

/// A gate on an excess, for one hinge; see [`crate::numeric::Gate`].
pub(crate) trait LaneGate<R: Real>: Copy + Send + Sync {
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
    #[inline(always)]
    fn novelty(self, agreement: R) -> R {
        one::<R>() - smoothstep(agreement)
    }
    /// Derivative of the novelty.
    #[inline(always)]
    fn novelty_slope(self, agreement: R) -> R {
        -smoothstep_slope(agreement)
    }
}

/// A gate as the law uses it, which knows how exponentials are compiled.
pub(crate) trait LawGate<R: Real>: Copy {
    /// Weight of an excess.
    fn weight(self, excess: R) -> R;
    /// Weights of two excesses at once.
    fn weights(self, a: R, b: R) -> (R, R);
    /// Ramp of an excess whose weight is known.
    fn ramp(self, excess: R, weight: R) -> R;
    /// Derivative of the weight.
    fn weight_slope(self, excess: R, weight: R) -> R;
    /// Derivative of the ramp.
    fn ramp_slope(self, excess: R, weight: R) -> R;
    /// [`crate::numeric::Gate::novelty`] of an agreement.
    fn novelty(self, agreement: R) -> R;
    /// Derivative of the novelty.
    fn novelty_slope(self, agreement: R) -> R;
    /// exp(x) for x ≤ 0.
    fn exp_of_nonpositive(self, x: R) -> R;
}

/// A gate with or without fused multiply-add.
#[derive(Clone, Copy)]
pub(crate) struct Compiled<G, const FMA: bool>(pub G);

impl<R: Real, G: LaneGate<R>, const FMA: bool> LawGate<R> for Compiled<G, FMA> {
    #[inline(always)]
    fn weight(self, excess: R) -> R {
        self.0.weight::<FMA>(excess)
    }

    #[inline(always)]
    fn weights(self, a: R, b: R) -> (R, R) {
        self.0.weights::<FMA>(a, b)
    }

    #[inline(always)]
    fn ramp(self, excess: R, weight: R) -> R {
        self.0.ramp(excess, weight)
    }

    #[inline(always)]
    fn weight_slope(self, excess: R, weight: R) -> R {
        self.0.slopes(excess, weight).0
    }

    #[inline(always)]
    fn ramp_slope(self, excess: R, weight: R) -> R {
        self.0.slopes(excess, weight).1
    }

    #[inline(always)]
    fn novelty(self, agreement: R) -> R {
        self.0.novelty(agreement)
    }

    #[inline(always)]
    fn novelty_slope(self, agreement: R) -> R {
        self.0.novelty_slope(agreement)
    }

    #[inline(always)]
    fn exp_of_nonpositive(self, x: R) -> R {
        x.exp_of_nonpositive::<FMA>()
    }
}

/// [`crate::numeric::Gate::Hard`].
#[derive(Clone, Copy)]
pub(crate) struct HardLane;

/// [`crate::numeric::Gate::Smoothstep`].
#[derive(Clone, Copy)]
pub(crate) struct SmoothstepLane<R> {
    /// 1/width.
    pub inverse_width: R,
}

/// [`crate::numeric::Gate::StraightThrough`].
#[derive(Clone, Copy)]
pub(crate) struct StraightThroughLane<R> {
    /// The gate of the backward pass.
    pub backward: SmoothstepLane<R>,
}

/// [`crate::numeric::Gate::Sigmoid`], signed.
#[derive(Clone, Copy)]
pub(crate) struct SigmoidLane<R> {
    /// Sharpness.
    pub gain: R,
}

#[inline(always)]
pub(super) fn zero<R: Real>() -> R {
    R::default()
}

#[inline(always)]
pub(super) fn one<R: Real>() -> R {
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
pub(super) fn magnitude<R: Real>(x: R) -> R {
    x.magnitude()
}

#[inline(always)]
pub(super) fn sign<R: Real>(x: R) -> R {
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
