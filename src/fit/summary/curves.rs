//! Curves of all tests for plots.

use crate::{
    error::Result,
    fit::{
        result::FittedCurve,
        run::{Fit, Optimum},
        verdict::Evidence,
    },
    laboratory::{Condition, Sweep, TESTS, Test},
};

/// The curves of every test and group of the data.
pub(super) fn curves(
    fit: &Fit,
    optimum: &Optimum,
    evidence: &Evidence,
) -> Result<Vec<FittedCurve>> {
    let mut list = Vec::new();
    for test in TESTS {
        for (group, name) in fit.data.groups.iter().enumerate() {
            let rows = fit.data.rows.iter().filter(|row| row.group == group);
            let conditions: Vec<Condition> = rows
                .map(|row| row.condition)
                .filter(|c| c.test.name() == test.name())
                .collect();
            if conditions.is_empty() {
                continue;
            }
            for sweep in test.sweeps(&conditions, &fit.case.tests) {
                let mut curve = curve(fit, optimum, evidence, (test, group), sweep)?;
                curve.group = name.clone();
                list.push(curve);
            }
        }
    }
    Ok(list)
}

fn curve(
    fit: &Fit,
    optimum: &Optimum,
    evidence: &Evidence,
    (test, group): (&dyn Test, usize),
    sweep: Sweep,
) -> Result<FittedCurve> {
    let conditions: Vec<(usize, Condition)> =
        sweep.conditions.iter().map(|c| (group, *c)).collect();
    let settings = sweep.settings.iter();
    let mut curve = FittedCurve {
        test: test.name().into(),
        settings: settings
            .map(|(name, value)| ((*name).into(), *value))
            .collect(),
        x: sweep.x,
        ..FittedCurve::default()
    };
    let keys = test.curve_keys();
    if keys.band.is_none() {
        curve.fitted = match keys.hard {
            true => fit.problem.hard(&optimum.point, &conditions)?,
            false => fit.problem.predict(&optimum.point, &conditions)?.0,
        };
        return Ok(curve);
    }
    // The largest spread of a reading of this curve, as the fit found it.
    let on_curve = |c: &Condition| {
        let has = |(name, value): &(&str, f64)| c.setting(name) == Some(*value);
        c.test.name() == test.name() && sweep.settings.iter().all(has)
    };
    let rows = fit.data.rows.iter();
    let rows = rows.filter(|row| row.group == group && on_curve(&row.condition));
    let sd = rows
        .map(|row| row.sd * optimum.judged.scale(row.spread))
        .fold(0.0, f64::max);
    let (fitted, spread) = fit.predictions(optimum, evidence.uncertainty, &conditions)?;
    let half = |i: usize| optimum.judged.half_width * spread[i].hypot(sd);
    curve.low = (0..fitted.len()).map(|i| fitted[i] - half(i)).collect();
    curve.high = (0..fitted.len()).map(|i| fitted[i] + half(i)).collect();
    // Meshes are under the hard law already.
    curve.hard = match test.needs_meshes(&fit.case.tests) {
        true => fitted.clone(),
        false => fit.problem.hard(&optimum.point, &conditions)?,
    };
    curve.fitted = fitted;
    Ok(curve)
}
