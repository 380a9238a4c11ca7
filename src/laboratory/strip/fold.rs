//! The shape of a fold between plates: the rectangular elastica.

use std::f64::consts::PI;

use crate::laboratory::CREST_CURVATURE;

/// Length of a strip between plates a gap apart from where it leaves one to where it meets the other \[m\]:
/// ∫ dα/κ = gap/2.396·∫ dα/√cos α.
pub(super) fn fold_length(gap: f64) -> f64 {
    gap / CREST_CURVATURE * arc(PI / 2.0)
}

/// ∫ dα/√cos α from −π/2 to `alpha`, by the midpoint rule after α = (π/2)·sin τ, which removes the poles.
fn arc(alpha: f64) -> f64 {
    const POINTS: usize = 400;
    let end = (alpha / (PI / 2.0)).clamp(-1.0, 1.0).asin();
    let width = (end + PI / 2.0) / POINTS as f64;
    let at = |k: usize| {
        let tau = -PI / 2.0 + (k as f64 + 0.5) * width;
        PI / 2.0 * tau.cos() / (PI / 2.0 * tau.sin()).cos().sqrt()
    };
    (0..POINTS).map(at).sum::<f64>() * width
}

/// Tangent angle where `share` of a fold's length has passed: the inverse of [`arc`], by bisection.
pub(super) fn tangent(share: f64) -> f64 {
    let wanted = share.clamp(0.0, 1.0) * arc(PI / 2.0);
    let (mut low, mut high) = (-PI / 2.0, PI / 2.0);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if arc(middle) < wanted {
            low = middle;
        } else {
            high = middle;
        }
    }
    0.5 * (low + high)
}
