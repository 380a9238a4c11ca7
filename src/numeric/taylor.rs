//! Gradient checks: central differences over a sweep of steps, and the Taylor slope.

/// The verdict on one component of a gradient.
#[derive(Debug, Clone)]
pub(crate) struct GradientCheck {
    /// The derivative under test.
    pub derivative: f64,
    /// Central difference at the step where it agrees best.
    pub difference: f64,
    /// |derivative − difference| over the largest of the two and the floor.
    pub relative_error: f64,
    /// Slope of log remainder against log step; 2 for a right gradient of a C1 function, 1 for a
    /// wrong one. `None` where the remainder is rounding everywhere (a locally linear function).
    pub slope: Option<f64>,
    /// (relative step, root mean square of f(x ± s) − f(x) ∓ s·f'), largest step first.
    pub remainders: Vec<(f64, f64)>,
}

/// Relative steps at which a function is looked at.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct TaylorSteps {
    /// The largest.
    pub first: f64,
    /// How many a decade.
    pub per_decade: usize,
    /// How many in all.
    pub steps: usize,
}

/// Six a decade from 10⁻² down to 10⁻⁷.
const FINE: TaylorSteps = TaylorSteps {
    first: 1e-2,
    per_decade: 6,
    steps: 31,
};

impl TaylorSteps {
    fn step(&self, k: usize) -> f64 {
        self.first * 10f64.powf(-(k as f64) / self.per_decade as f64)
    }
}

fn scale_of(x: f64) -> f64 {
    if x == 0.0 { 1.0 } else { x.abs() }
}

/// Where a function has to be evaluated to check its derivative at `x`: x itself, then x ± step for
/// each step of the sweep.
pub(crate) fn probes(x: f64) -> Vec<f64> {
    FINE.probes(x)
}

/// Judges `derivative` from the values of the function at [`probes`]`(x)`.
///
/// `size` is the magnitude of the terms that make up the function, which sets its rounding; a
/// derivative that moves it by less than 10⁻⁵ of that over the whole of x counts as zero.
pub(crate) fn judge(x: f64, derivative: f64, size: f64, values: &[f64]) -> GradientCheck {
    FINE.judge(x, derivative, size, values)
}

impl TaylorSteps {
    /// [`probes`] of this sweep.
    pub(crate) fn probes(&self, x: f64) -> Vec<f64> {
        let steps = (0..self.steps).map(|k| self.step(k) * scale_of(x));
        [x].into_iter()
            .chain(steps.flat_map(|s| [x + s, x - s]))
            .collect()
    }

    /// [`judge`] of this sweep.
    pub(crate) fn judge(
        &self,
        x: f64,
        derivative: f64,
        size: f64,
        values: &[f64],
    ) -> GradientCheck {
        judge_sweep(self, x, derivative, size, values)
    }
}

fn judge_sweep(
    sweep: &TaylorSteps,
    x: f64,
    derivative: f64,
    size: f64,
    values: &[f64],
) -> GradientCheck {
    let scale = scale_of(x);
    let floor = 1e-5 * size / scale;
    let centre = values[0];
    let mut best = (f64::INFINITY, f64::NAN);
    let mut remainders = Vec::with_capacity(sweep.steps);
    for (k, pair) in values[1..].chunks_exact(2).enumerate() {
        let step = sweep.step(k) * scale;
        let difference = (pair[0] - pair[1]) / (2.0 * step);
        // The smallest number keeps a function that is zero throughout from being 0/0.
        let error = (difference - derivative).abs()
            / derivative
                .abs()
                .max(difference.abs())
                .max(floor)
                .max(f64::MIN_POSITIVE);
        if error < best.0 {
            best = (error, difference);
        }
        // Both sides together: the third derivative, of opposite sign on them, hardly shows.
        let up = pair[0] - centre - derivative * step;
        let down = pair[1] - centre + derivative * step;
        remainders.push((sweep.step(k), up.hypot(down) / 2f64.sqrt()));
    }
    GradientCheck {
        derivative,
        difference: best.1,
        relative_error: best.0,
        slope: slope(sweep.per_decade, &remainders, 1e4 * f64::EPSILON * size),
        remainders,
    }
}

/// Slope over a decade: the median of the three smallest steps that stand clear of rounding.
fn slope(per_decade: usize, remainders: &[(f64, f64)], rounding: f64) -> Option<f64> {
    let mut slopes: Vec<f64> = remainders
        .windows(per_decade + 1)
        .map(|w| (w[0].1, w[per_decade].1))
        .filter(|(_, small)| *small > rounding)
        .map(|(large, small)| (large / small).log10())
        .collect();
    slopes.drain(..slopes.len().saturating_sub(3));
    slopes.sort_by(f64::total_cmp);
    (!slopes.is_empty()).then(|| slopes[slopes.len() / 2])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(x: f64, derivative: f64, f: impl Fn(f64) -> f64) -> GradientCheck {
        let values: Vec<f64> = probes(x).into_iter().map(&f).collect();
        judge(x, derivative, values[0].abs(), &values)
    }

    #[test]
    fn a_right_gradient_has_slope_two_and_a_wrong_one_slope_one() {
        let right = check(0.7, 0.7f64.cos(), f64::sin);
        assert!(right.relative_error < 1e-9, "{right:?}");
        assert!((right.slope.unwrap() - 2.0).abs() < 0.05, "{right:?}");
        let wrong = check(0.7, 1.01 * 0.7f64.cos(), f64::sin);
        assert!(wrong.relative_error > 5e-3, "{wrong:?}");
        assert!(wrong.slope.unwrap() < 1.9, "{wrong:?}");
    }

    #[test]
    fn a_linear_function_has_no_slope() {
        let check = check(3.0, 2.0, |x| 2.0 * x);
        assert!(check.slope.is_none() && check.relative_error < 1e-9);
    }
}
