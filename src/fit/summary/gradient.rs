//! The Jacobian at an optimum against central differences.

use nalgebra::DVector;

use crate::{
    error::Result,
    fit::{
        result::{GradientLine, JacobianCheck},
        run::{Fit, Optimum},
    },
    numeric::Precision,
    optimize::Linearized,
};

/// Steps of the differences in an unknown, and the largest error that passes, against the largest entry of the
/// Jacobian. A step that crosses an event, such as a threshold at the crest of a fold, is taken again, smaller.
struct Tolerance {
    steps: &'static [f64],
    error: f64,
}

impl Tolerance {
    fn of(precision: Precision) -> Tolerance {
        match precision {
            Precision::F64 => Tolerance {
                steps: &[1e-5, 1e-6, 1e-7, 1e-9],
                error: 1e-4,
            },
            // Rounding of a reading is 4e-7 of it.
            Precision::F32 => Tolerance {
                steps: &[1e-2, 3e-3, 1e-3],
                error: 1e-2,
            },
        }
    }
}

/// Every column of the Jacobian against differences, as far as a reverse pass or a closed form made it.
pub(crate) fn gradient_check(fit: &Fit, optimum: &Optimum) -> Result<JacobianCheck> {
    let problem = &fit.problem;
    let names: Vec<&str> = problem.unknowns.iter().map(|u| u.name.as_str()).collect();
    check(
        &|points| problem.by_reverse_pass(points),
        &optimum.point,
        &names,
        &Tolerance::of(problem.fine().precision()),
    )
}

/// Residuals and Jacobians of points; none where no reverse pass was taken.
type Evaluate<'a> = &'a dyn Fn(&[DVector<f64>]) -> Result<Option<Vec<Linearized>>>;

fn check(
    evaluate: Evaluate,
    point: &DVector<f64>,
    names: &[&str],
    tolerance: &Tolerance,
) -> Result<JacobianCheck> {
    let Some(mut here) = evaluate(std::slice::from_ref(point))? else {
        return Ok(JacobianCheck {
            parameters: Vec::new(),
            largest_error: 0.0,
            passed: true,
        });
    };
    let here = here.remove(0);
    let size = here.jacobian.amax().max(1e-300);
    let mut lines: Vec<(f64, GradientLine)> = Vec::new();
    for (k, name) in names.iter().enumerate() {
        let column = here.jacobian.column(k).into_owned();
        let line = GradientLine {
            name: (*name).into(),
            reverse: written(column.norm()),
            differences: f64::MAX,
        };
        lines.push((f64::INFINITY, line));
    }
    for (i, &step) in tolerance.steps.iter().enumerate() {
        let passes = |error: f64| error < tolerance.error;
        let failing = lines.iter().enumerate();
        let failing = failing.filter(|(_, (error, _))| !passes(*error));
        let failing: Vec<usize> = failing.map(|(k, _)| k).collect();
        if failing.is_empty() {
            break;
        }
        let moved = |k: usize, step: f64| {
            let mut point = point.clone();
            point[k] += step;
            point
        };
        let around = failing.iter();
        let around: Vec<_> = around
            .flat_map(|&k| [moved(k, step), moved(k, -step)])
            .collect();
        let Some(around) = evaluate(&around)? else {
            break;
        };
        let last = i + 1 == tolerance.steps.len();
        for (&k, pair) in failing.iter().zip(around.chunks(2)) {
            let column = here.jacobian.column(k).into_owned();
            let after = (&pair[0].residuals - &here.residuals) / step;
            let before = (&here.residuals - &pair[1].residuals) / step;
            let central = (&after + &before) / 2.0;
            let mut error = largest((&central - &column).iter().map(|d| d.abs())) / size;
            if last {
                error = error.min(outside(&column, &after, &before) / size);
            }
            // The first is always taken down, be it infinite.
            if i == 0 || error < lines[k].0 {
                lines[k].0 = error;
                lines[k].1.differences = written(central.norm());
            }
        }
    }
    let largest_error = largest(lines.iter().map(|l| l.0));
    Ok(JacobianCheck {
        parameters: lines.into_iter().map(|l| l.1).collect(),
        largest_error: written(largest_error),
        passed: largest_error < tolerance.error,
    })
}

/// How far entries are outside of the slopes before and after: at a kink every slope between the two is one.
fn outside(column: &DVector<f64>, after: &DVector<f64>, before: &DVector<f64>) -> f64 {
    let sides = after.iter().zip(before);
    largest(column.iter().zip(sides).map(|(entry, (a, b))| {
        let (low, high) = match a < b {
            true => (*a, *b),
            false => (*b, *a),
        };
        match (low..=high).contains(entry) {
            true => 0.0,
            false => (low - entry).abs().min((entry - high).abs()),
        }
    }))
}

/// A number that JSON has: the largest where it is not finite.
fn written(value: f64) -> f64 {
    if value.is_finite() { value } else { f64::MAX }
}

/// The largest of some numbers; infinite where one is none.
fn largest(numbers: impl Iterator<Item = f64>) -> f64 {
    let or_infinite = |n: f64| if n.is_nan() { f64::INFINITY } else { n };
    numbers.map(or_infinite).fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;
    use nalgebra::DMatrix;

    /// One residual with a kink, steeper beyond it, and its slope times `factor`.
    fn checked(kink: f64, factor: f64) -> JacobianCheck {
        let evaluate = |points: &[DVector<f64>]| {
            let at = |p: &DVector<f64>| {
                let x = p[0] - kink;
                let (value, slope) = match x > 0.0 {
                    true => (3.0 * x, 3.0),
                    false => (-x.abs().powf(1.5) + x, 1.0 + 1.5 * x.abs().sqrt()),
                };
                Linearized {
                    residuals: DVector::from_element(1, value),
                    jacobian: DMatrix::from_element(1, 1, factor * slope),
                }
            };
            Ok(Some(points.iter().map(at).collect()))
        };
        let tolerance = Tolerance::of(Precision::F64);
        check(&evaluate, &DVector::zeros(1), &["x"], &tolerance).unwrap()
    }

    // A kink within the first step, and one at the point itself, pass; a wrong slope fails wherever the kink is.
    #[test]
    fn a_step_across_a_kink_is_taken_again() {
        for kink in [1.0, 4e-6, 3e-7, -3e-6, 0.0] {
            let right = checked(kink, 1.0);
            assert!(right.passed, "{kink}: {right:?}");
            let wrong = checked(kink, 1.01 + f64::from(u8::from(kink == 0.0)) * 3.0);
            assert!(!wrong.passed, "{kink}: {wrong:?}");
        }
        assert!(!checked(1.0, f64::NAN).passed);
    }
}
