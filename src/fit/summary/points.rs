//! The points of a result, and the statistics over those that were fitted.

use crate::{
    error::Result,
    fit::{
        dataset::DataRow,
        problem::conditions,
        result::{FitStatistics, PointResult},
        run::{Fit, Judgement, Optimum},
        verdict::Evidence,
    },
};

pub(super) fn points(
    fit: &Fit,
    optimum: &Optimum,
    evidence: &Evidence,
) -> Result<Vec<PointResult>> {
    let list = conditions(fit.data.rows.iter());
    let (fitted, spread) = fit.predictions(optimum, evidence.uncertainty, &list)?;
    let hard = fit.problem.hard(&optimum.point, &list)?;
    let point = |(i, row): (usize, &DataRow)| {
        let condition = &row.condition;
        let settings = condition.test.settings(condition).into_iter();
        let mut point = PointResult {
            test: condition.test.kind(condition).into(),
            group: fit.data.groups[row.group].clone(),
            place: row.place.clone(),
            held_out: row.held_out,
            settings: settings.map(|(name, value)| (name.into(), value)).collect(),
            prediction_sd: Some(spread[i].hypot(optimum.judged.scale(row.spread) * row.sd)),
            sd_from: row.spread.name().into(),
            ..PointResult::default()
        };
        let numbers = [row.value, row.sd, fitted[i], hard[i]].map(Some);
        match condition.test.quantity(condition) {
            None => {
                [
                    point.measured_deg,
                    point.sd_deg,
                    point.fitted_deg,
                    point.hard_deg,
                ] = numbers;
            }
            Some((quantity, unit)) => {
                point.quantity = Some(quantity.into());
                point.unit = Some(unit.into());
                [point.measured, point.sd, point.fitted, point.hard] = numbers;
            }
        }
        point
    };
    Ok(fit.data.rows.iter().enumerate().map(point).collect())
}

pub(super) fn statistics(judged: &Judgement, free: usize, points: &[PointResult]) -> FitStatistics {
    let fitted: Vec<&PointResult> = points.iter().filter(|p| !p.held_out).collect();
    let hard = |p: &&PointResult| {
        let [measured, sd, _, hard] = p.numbers();
        ((measured - hard) / sd).powi(2)
    };
    let &Judgement {
        chi2,
        seen,
        freedom,
        ..
    } = judged;
    FitStatistics {
        points: fitted.len(),
        free,
        seen,
        freedom,
        chi2,
        reduced_chi2: (freedom > 0).then(|| chi2 / freedom as f64),
        aic: chi2 + 2.0 * seen as f64,
        bic: chi2 + seen as f64 * (fitted.len() as f64).ln(),
        r2: explained(&fitted, chi2),
        hard_chi2: fitted.iter().map(hard).sum(),
        error_scale: judged.assumed_scale,
        misfit_scale: judged.known_scale,
    }
}

/// R² over readings of one kind, weighted: the variance is about the mean of the kind.
fn explained(points: &[&PointResult], chi2: f64) -> Option<f64> {
    let kind = |p: &PointResult| (p.test.clone(), p.quantity.clone());
    let mut kinds: Vec<_> = points.iter().map(|p| kind(p)).collect();
    kinds.sort();
    kinds.dedup();
    let mut total = 0.0;
    for wanted in kinds {
        let of_kind: Vec<[f64; 4]> = points
            .iter()
            .filter(|p| kind(p) == wanted)
            .map(|p| p.numbers())
            .collect();
        let weight = |n: &[f64; 4]| n[1].powi(-2);
        let sum: f64 = of_kind.iter().map(weight).sum();
        let mean = of_kind.iter().map(|n| weight(n) * n[0]).sum::<f64>() / sum;
        total += of_kind
            .iter()
            .map(|n| weight(n) * (n[0] - mean).powi(2))
            .sum::<f64>();
    }
    // Single readings have no variance to explain, but rounding leaves a little.
    (total > 1e-9).then(|| 1.0 - chi2 / total)
}
