//! Checks of a fit: hold-out, distance from the hard law.

use crate::{
    fit::{
        result::{HardLaw, HoldOut, PointResult},
        summary::digits,
    },
    laboratory::{Specimen, TestSettings},
    numeric::statistics::chi2_exceeds,
};

/// Probability below which held-out points are called badly predicted.
const IMPROBABLE: f64 = 0.01;

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
    let probability = chi2_exceeds(square, held.len() as f64);
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

/// How far the fitted readings are from those of the hard law. `error` is the quadrature's own, where folds are taken by
/// one \[degrees\].
pub(super) fn hard_law(
    points: &[PointResult],
    settings: &TestSettings,
    error: Option<f64>,
) -> HardLaw {
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
        (Some(_), _) if whole => Some(format!(
            "angles are those of whole folds under the hard law; {}",
            match error {
                None => "their own error is rounding, below 1e-6°".into(),
                Some(error) if error < ROUNDING =>
                    "they are taken by quadrature, and a finer one differs by less than 1e-6°"
                        .into(),
                Some(error) => format!(
                    "they are taken by quadrature, and a finer one differs by up to {}°",
                    digits(error)
                ),
            }
        )),
        (Some(degrees), _) => Some(format!(
            "angles are up to {}° from the hard law, because {}",
            digits(degrees),
            match settings.hinges {
                Some(hinges) => format!(
                    "tests.hinges = {hinges} asks for sums over hinges under a smooth gate; leave it out to read whole folds"
                ),
                None =>
                    "some folds have no closed form and are sums over hinges under a smooth gate"
                        .into(),
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
