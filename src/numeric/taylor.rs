//! Gradient checks: central differences over a sweep of steps, and the Taylor slope.

/// The verdict on one component of a gradient.
#[derive(Debug, Clone)]
pub struct GradientCheck {
    /// The derivative under test.
    pub derivative: f64,
    /// Central difference at the step where it agrees best.
    pub difference: f64,
    /// |derivative − difference| over the larger of |derivative| and `floor`.
    pub relative_error: f64,
    /// Slope of log remainder against log step; 2 for a right gradient of a C1 function, 1 for a
    /// wrong one. `None` where the remainder is rounding everywhere (a locally linear function).
    pub slope: Option<f64>,
    /// (relative step, |f(x + s) − f(x) − s·f'|), largest step first.
    pub remainders: Vec<(f64, f64)>,
}

/// Relative steps of the sweep: three a decade, from 10⁻² to 10⁻⁷.
const STEPS: usize = 16;

/// Checks `derivative` of `f` at `x` along this one component.
///
/// `floor` is the size below which a derivative counts as zero (derivative times x, in units of
/// f): rounding of f decides it.
pub fn check_gradient(
    x: f64,
    derivative: f64,
    floor: f64,
    mut f: impl FnMut(f64) -> f64,
) -> GradientCheck {
    let scale = if x == 0.0 { 1.0 } else { x.abs() };
    let centre = f(x);
    let mut best = (f64::INFINITY, f64::NAN);
    let mut remainders = Vec::with_capacity(STEPS);
    for k in 0..STEPS {
        let relative = 10f64.powf(-2.0 - k as f64 / 3.0);
        let step = relative * scale;
        let (up, down) = (f(x + step), f(x - step));
        let difference = (up - down) / (2.0 * step);
        let error =
            (difference - derivative).abs() / derivative.abs().max(difference.abs()).max(floor / scale);
        if error < best.0 {
            best = (error, difference);
        }
        remainders.push((relative, (up - centre - derivative * step).abs()));
    }
    // Rounding of f, and of the products in the remainder.
    let rounding = 64.0 * f64::EPSILON * centre.abs().max(floor / 1e-9);
    GradientCheck {
        derivative,
        difference: best.1,
        relative_error: best.0,
        slope: slope(&remainders, rounding),
        remainders,
    }
}

/// Median slope between neighbours that stand clear of rounding.
fn slope(remainders: &[(f64, f64)], rounding: f64) -> Option<f64> {
    let mut slopes: Vec<f64> = remainders
        .windows(4)
        .filter(|w| w[3].1 > rounding)
        .map(|w| (w[0].1 / w[3].1).log10() / (w[0].0 / w[3].0).log10())
        .collect();
    slopes.sort_by(f64::total_cmp);
    (!slopes.is_empty()).then(|| slopes[slopes.len() / 2])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_right_gradient_has_slope_two_and_a_wrong_one_slope_one() {
        let right = check_gradient(0.7, 0.7f64.cos(), 1e-9, f64::sin);
        assert!(right.relative_error < 1e-9, "{right:?}");
        assert!((right.slope.unwrap() - 2.0).abs() < 0.05, "{right:?}");
        let wrong = check_gradient(0.7, 1.01 * 0.7f64.cos(), 1e-9, f64::sin);
        assert!(wrong.relative_error > 5e-3, "{wrong:?}");
        assert!(wrong.slope.unwrap() < 1.9, "{wrong:?}");
    }

    #[test]
    fn a_linear_function_has_no_slope() {
        let check = check_gradient(3.0, 2.0, 1e-9, |x| 2.0 * x);
        assert!(check.slope.is_none() && check.relative_error < 1e-9);
    }
}
