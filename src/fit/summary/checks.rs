//! Checks of a fit: misfit, hold-out, distance from the hard law, gradient.

use nalgebra::DVector;

use crate::{
    error::Result,
    fit::{
        result::{
            FitStatistics, GradientLine, HardLaw, HoldOut, JacobianCheck, Misfit, PointResult,
        },
        run::{Fit, Optimum},
        summary::digits,
    },
    laboratory::{Specimen, TestSettings, of_kind},
    numeric::statistics::{chi2_exceeds, runs},
};

/// Probability below which a fit is called a misfit.
const IMPROBABLE: f64 = 0.01;
/// χ² a point below which the signs of residuals mean nothing: a hundredth of a standard deviation each.
const WITHIN_SPREAD: f64 = 1e-4;

pub(super) fn misfit(fit: &Fit, points: &[PointResult], statistics: &FitStatistics) -> Misfit {
    let freedom = statistics.points.saturating_sub(statistics.free);
    let known = !fit.data.assumed_sd && freedom > 0;
    let chi2_probability = known.then(|| chi2_exceeds(statistics.chi2, freedom));
    let (runs, expected_runs, runs_probability) = runs(&residual_curves(points));
    // Signs of residuals far within their spread are rounding, as where all rows are alike.
    let runs_probability =
        runs_probability.filter(|_| statistics.chi2 > WITHIN_SPREAD * statistics.points as f64);
    let bad = |p: Option<f64>| p.is_some_and(|p| p < IMPROBABLE);
    let number = |p: Option<f64>| {
        p.map_or("unknown".into(), |p| {
            if p > 0.0 {
                format!("{p:.2e}")
            } else {
                "< 1e-300".into()
            }
        })
    };
    let verdict = match (bad(chi2_probability), bad(runs_probability)) {
        (false, false) if freedom == 0 => {
            "no degree of freedom is left to judge whether the law follows the data".into()
        }
        (false, false) => match (chi2_probability, runs_probability) {
            (Some(_), Some(_)) => {
                "the law follows the data: χ² is as expected, and the residuals change sign as often as chance would have it".into()
            }
            (Some(_), None) => "the law follows the data as far as χ² tells".to_string(),
            (None, Some(_)) => format!(
                "the residuals show no trend; χ² cannot judge, because a spread was assumed (reduced χ² {:.3})",
                statistics.reduced_chi2.unwrap_or(f64::NAN)
            ),
            (None, None) => {
                "too few points, and a spread was assumed: the fit cannot be tested".into()
            }
        },
        (true, true) => format!(
            "misfit: the law does not follow the data (χ² has a probability of {}, the runs of the residuals {}); try another law, or relaxation branches",
            number(chi2_probability),
            number(runs_probability)
        ),
        (true, false) => format!(
            "misfit: χ² is too large (probability {}), though the residuals show no trend; the spread may be larger than stated, or single points are off (try \"loss\": \"huber\")",
            number(chi2_probability)
        ),
        (false, true) => format!(
            "misfit: the residuals have a trend (their runs have a probability of {}); try another law, or relaxation branches",
            number(runs_probability)
        ),
    };
    Misfit {
        chi2_probability,
        runs,
        expected_runs,
        runs_probability,
        verdict,
    }
}

/// What the readings of a curve have in common: group, kind, quantity and settings.
type CurveKey<'a> = (&'a str, &'a str, Option<&'a str>, Vec<Option<f64>>);

/// Residuals along each curve, in the order that its test gives them.
fn residual_curves(points: &[PointResult]) -> Vec<Vec<f64>> {
    let mut curves: Vec<(CurveKey, Vec<(f64, f64)>)> = Vec::new();
    for (i, p) in points.iter().enumerate().filter(|(_, p)| !p.held_out) {
        let test = of_kind(&p.test);
        let apart = test.map_or(&[][..], |test| test.tells_curves_apart());
        let settings = apart.iter().map(|name| p.setting(name)).collect();
        let key = (
            p.group.as_str(),
            p.test.as_str(),
            p.quantity.as_deref(),
            settings,
        );
        // A loop is in the order of its file.
        let place = match test.and_then(|test| test.orders_curve()) {
            Some(name) => p.setting(name).unwrap_or(0.0),
            None => i as f64,
        };
        match curves.iter_mut().find(|c| c.0 == key) {
            Some(curve) => curve.1.push((place, p.residual())),
            None => curves.push((key, vec![(place, p.residual())])),
        }
    }
    let residuals = |(_, mut curve): (CurveKey, Vec<(f64, f64)>)| {
        curve.sort_by(|a, b| a.0.total_cmp(&b.0));
        curve.into_iter().map(|(_, r)| r).collect()
    };
    curves.into_iter().map(residuals).collect()
}

pub(super) fn hold_out(points: &[PointResult]) -> Option<HoldOut> {
    let held: Vec<&PointResult> = points.iter().filter(|p| p.held_out).collect();
    if held.is_empty() {
        return None;
    }
    let z = |p: &&PointResult| {
        let [measured, sd, fitted, _] = p.numbers();
        (measured - fitted) / p.prediction_sd.unwrap_or(sd)
    };
    let square: f64 = held.iter().map(|p| z(p).powi(2)).sum();
    let probability = chi2_exceeds(square, held.len());
    let verdict = if probability < IMPROBABLE {
        format!(
            "the points held out are not predicted within their noise (probability {probability:.2e})"
        )
    } else {
        "the points held out are predicted within their noise".into()
    };
    Some(HoldOut {
        points: held.len(),
        rms_z: (square / held.len() as f64).sqrt(),
        inside_95: held.iter().filter(|p| z(p).abs() <= 1.96).count(),
        verdict,
    })
}

/// Differences from the hard law that are rounding, in degrees and in standard deviations.
const ROUNDING: f64 = 1e-6;

/// How far the fitted readings are from those of the hard law.
pub(super) fn hard_law(points: &[PointResult], settings: &TestSettings) -> HardLaw {
    let angle = |p: &PointResult| Some((p.fitted_deg? - p.hard_deg?).abs());
    let largest_deg = points.iter().filter_map(angle).reduce(f64::max);
    let away = points.iter().filter(|p| !p.held_out).map(|p| {
        let [_, sd, fitted, hard] = p.numbers();
        (fitted - hard).abs() / sd
    });
    let away: Vec<f64> = away.collect();
    let largest_sd = away.iter().copied().fold(0.0, f64::max);
    let whole = largest_deg.is_none_or(|degrees| degrees < ROUNDING);
    let angles = match (largest_deg, settings.specimen) {
        (None, _) => None,
        (Some(_), Specimen::StripMesh) if whole => {
            Some("angles are those of the meshes under the hard law".to_string())
        }
        (Some(_), _) if whole => Some(
            "angles are those of whole folds under the hard law; their own error is rounding, below 1e-6°".into(),
        ),
        (Some(degrees), _) => Some(format!(
            "angles are up to {}° from the hard law, because {}",
            digits(degrees),
            match settings.hinges {
                Some(hinges) => format!(
                    "tests.hinges = {hinges} asks for sums over hinges under a smooth gate; leave it out to read whole folds"
                ),
                None => "some folds have no closed form and are sums over hinges under a smooth gate".into(),
            }
        )),
    };
    let gated = largest_sd >= ROUNDING;
    let readings = gated.then(|| {
        let beyond = away.iter().filter(|z| **z > 1.0).count();
        let beyond = match beyond {
            0 => String::new(),
            n => format!(", more than the spread at {n} of {} points", away.len()),
        };
        let what = if whole {
            "readings of other tests have a narrow smooth gate and"
        } else {
            "readings"
        };
        format!(
            "{what} are up to {} sd from the hard law{beyond}",
            digits(largest_sd)
        )
    });
    let said: Vec<String> = [angles, readings].into_iter().flatten().collect();
    HardLaw {
        largest_deg,
        largest_sd,
        verdict: match said.is_empty() {
            true => "the fitted readings are those of the hard law".into(),
            false => said.join("; "),
        },
    }
}

/// Step of the central differences in an unknown.
const DIFFERENCE: f64 = 1e-5;
/// Largest difference that passes, against the largest entry of the Jacobian.
const CERTIFIED: f64 = 1e-4;

/// Every column of the Jacobian against central differences, as far as a reverse pass made it.
pub(super) fn gradient_check(fit: &Fit, optimum: &Optimum) -> Result<JacobianCheck> {
    let problem = &fit.problem;
    let n = problem.unknowns.len();
    let moved = |k: usize, step: f64| {
        let mut point = optimum.point.clone();
        point[k] += step;
        point
    };
    let around = (0..n).flat_map(|k| [moved(k, DIFFERENCE), moved(k, -DIFFERENCE)]);
    let points: Vec<DVector<f64>> = around.chain([optimum.point.clone()]).collect();
    let Some(around) = problem.by_reverse_pass(&points)? else {
        return Ok(JacobianCheck {
            parameters: Vec::new(),
            largest_error: 0.0,
            passed: true,
        });
    };
    let jacobian = &around[2 * n].jacobian;
    let size = jacobian.amax().max(1e-300);
    let mut lines = Vec::new();
    let mut largest_error = 0.0f64;
    for k in 0..n {
        let difference =
            (&around[2 * k].residuals - &around[2 * k + 1].residuals) / (2.0 * DIFFERENCE);
        let column = jacobian.column(k);
        largest_error = largest_error.max((&difference - column).amax() / size);
        lines.push(GradientLine {
            name: problem.unknowns[k].name.clone(),
            reverse: column.norm(),
            differences: difference.norm(),
        });
    }
    Ok(JacobianCheck {
        parameters: lines,
        largest_error,
        passed: largest_error < CERTIFIED,
    })
}
