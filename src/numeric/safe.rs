//! Safe forms: no gradient is NaN where the value is finite.
//!
//! Everything that is not smooth in the laws goes through here or through [`crate::numeric::Gate`].

use super::Field;

/// 1 where `x > 0`, else 0. Its gradient is zero everywhere.
pub(crate) fn indicator(x: &Field) -> Field {
    x.zeros_like().mask_fill(x.clone().greater_scalar(0.0), 1.0)
}

/// −1, 0 or 1. Not smooth at 0; its gradient is taken as zero everywhere, also at 0.
pub(crate) fn sign(x: &Field) -> Field {
    let positive = x.zeros_like().mask_fill(x.clone().greater_scalar(0.0), 1.0);
    positive.mask_fill(x.clone().lower_scalar(0.0), -1.0)
}

/// |x| as `x·sign(x)`: the gradient at 0 is 0, never NaN.
pub(crate) fn abs(x: &Field) -> Field {
    x.clone() * sign(x)
}

/// max(x, 0). Not smooth at 0, where the gradient is taken as 0.
pub(crate) fn max_zero(x: &Field) -> Field {
    x.clone().mask_fill(x.clone().lower_equal_scalar(0.0), 0.0)
}

/// S(u) = 3u² − 2u³ of `u` clamped to \[0, 1\]: C1 everywhere, flat outside.
pub(crate) fn smoothstep(u: &Field) -> Field {
    let below = u.clone().lower_equal_scalar(0.0);
    let above = u.clone().greater_equal_scalar(1.0);
    let u = u.clone().mask_fill(below, 0.0).mask_fill(above, 1.0);
    u.clone() * u.clone() * (u * -2.0 + 3.0)
}

/// The angle between −π and π that differs from `x` \[rad\], |x| < 3π, by whole turns. Its gradient is 1; its
/// square is continuous, with a kink at ±π.
pub(crate) fn nearest_turn(x: &Field) -> Field {
    let over = indicator(&(x.clone() - std::f64::consts::PI));
    let under = indicator(&(x.clone().neg() - std::f64::consts::PI));
    x.clone() + (under - over) * std::f64::consts::TAU
}
