//! From an optimum to the contents of `result.json`.

mod checks;
mod curves;
mod gradient;
mod points;

pub(crate) use gradient::gradient_check;

use super::{
    case::Role,
    problem::{Calibration, conditions},
    result::*,
    run::{Fit, Optimum},
    verdict::Evidence,
};
use crate::{
    error::Result,
    laboratory::TESTS,
    material::{Parameter, StrainMeasure},
    numeric::statistics::quantile,
    optimize::{
        Problem, bootstrap::Sample, levenberg::WalkerEnd, multistart::SearchProgress,
        profile::ProfileSide,
    },
};
use nalgebra::DVector;

/// All of a result but how it was run and where its files are.
pub(crate) fn result(
    fit: &Fit,
    progress: &SearchProgress,
    (start, outcome): (usize, Option<WalkerEnd>),
    optimum: &Optimum,
    evidence: &Evidence,
) -> Result<FitResult> {
    let points = points::points(fit, optimum, evidence)?;
    let list = conditions(fit.data.rows.iter());
    let error = fit.problem.quadrature_error(&optimum.point, &list);
    let statistics = points::statistics(&optimum.judged, fit.problem.unknowns.len(), &points);
    let parameters = parameters(fit, progress, start, optimum, evidence);
    Ok(FitResult {
        name: fit.case.name.clone(),
        synthetic: fit.data.synthetic,
        law: fit.case.law.name().into(),
        relaxation_branches: fit.case.relaxation_branches,
        population: fit.case.has_population(),
        notes: notes(fit, &parameters, &points),
        convergence: convergence(outcome),
        interrupted: outcome.is_none(),
        correlations: correlations(fit, evidence),
        misfit: optimum.judged.misfit.clone(),
        hold_out: checks::hold_out(&points),
        hard_law: checks::hard_law(&points, &fit.case.tests, error),
        gradient_check: evidence.gradient.clone(),
        curves: Curves(curves::curves(fit, optimum, evidence)?),
        profiles: profiles(&fit.problem, evidence.sides, evidence.thresholds),
        starts: starts(progress),
        rounds: rounds(&fit.problem, progress),
        bootstrap: None,
        spread: None,
        data: fit.data.files.clone(),
        run: RunResult {
            version: env!("CARGO_PKG_VERSION").into(),
            folder: String::new(),
            command: String::new(),
            device: String::new(),
            optimizer: fit.optimizer.name().into(),
            seed: fit.case.seed,
            seconds: 0.0,
        },
        files: Vec::new(),
        parameters,
        statistics,
        points,
    })
}

fn notes(fit: &Fit, parameters: &[ParameterResult], points: &[PointResult]) -> Vec<String> {
    let mut notes = fit.case.notes.clone();
    for (name, role) in &fit.case.parameters {
        if let Role::Fixed { value, why } = role {
            notes.push(format!("{name} is fixed at {}: {why}.", digits(*value)));
        }
    }
    notes.extend(fit.data.notes.clone());
    notes.extend(TESTS.iter().filter_map(|test| test.note(&fit.case.tests)));
    for p in parameters.iter().filter(|p| p.free) {
        let Some([low, high]) = p.bounds else {
            continue;
        };
        let near = |wall: f64| (p.best - wall).abs() <= 1e-6 * (high - low);
        if near(low) || near(high) {
            notes.push(format!(
                "{} is at a bound of its search, {} {}.",
                p.name,
                digits(p.best),
                p.unit
            ));
        }
    }
    for p in parameters
        .iter()
        .filter(|p| p.free && p.value.is_some() && p.std_error.is_none())
        .filter(|p| p.ci95.iter().any(Option::is_some))
    {
        notes.push(format!(
            "{} has no standard error: the covariance does not agree with the profile, because other parameters are not determined; use the interval.",
            p.name
        ));
    }
    let (fitted, free) = (
        points.iter().filter(|p| !p.held_out).count(),
        fit.problem.unknowns.len(),
    );
    if fitted < free {
        notes.push(format!(
            "{fitted} points cannot determine {free} free parameters; see the verdicts."
        ));
    }
    notes
}

/// A number of a sentence, with four digits.
pub(super) fn digits(value: f64) -> String {
    let size = value.abs();
    if size != 0.0 && !(1e-2..1e5).contains(&size) {
        return format!("{value:.3e}");
    }
    let places = (3 - size.max(1e-2).log10().floor() as i32).max(0) as usize;
    let text = format!("{value:.places$}");
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_string(),
        false => text,
    }
}

fn convergence(outcome: Option<WalkerEnd>) -> String {
    outcome.map_or(
        "interrupted: the best point so far is reported; `rumple fit --resume` goes on".into(),
        WalkerEnd::message,
    )
}

fn parameters(
    fit: &Fit,
    progress: &SearchProgress,
    start: usize,
    optimum: &Optimum,
    evidence: &Evidence,
) -> Vec<ParameterResult> {
    let problem = &fit.problem;
    let law = problem.law().parameters();
    let verdicts = evidence.verdicts();
    let first = progress
        .first_points
        .get(start)
        .map(|p| DVector::from_column_slice(p));
    let line = |p: &Parameter, name: &str, best: f64| ParameterResult {
        name: name.into(),
        symbol: p.symbol.into(),
        unit: p.dimension.unit(StrainMeasure::Curvature).into(),
        value: Some(best),
        best,
        std_error: None,
        ci95: [None, None],
        verdict: String::new(),
        free: false,
        start: None,
        bounds: None,
        prior: None,
    };
    let mut list = Vec::new();
    for (k, (unknown, verdict)) in problem.unknowns.iter().zip(verdicts).enumerate() {
        let (best, gradient) = problem.parameter(k, &optimum.point);
        let error = evidence.uncertainty.std_error(&gradient);
        list.push(ParameterResult {
            value: verdict.determined.then_some(best),
            std_error: Some(error).filter(|e| verdict.has_error && agrees(*e, verdict.ci95)),
            ci95: verdict.ci95,
            verdict: verdict.text,
            free: true,
            start: first.as_ref().map(|point| problem.parameter(k, point).0),
            bounds: Some([unknown.bounds.0, unknown.bounds.1]),
            prior: unknown.prior.map(|(mean, sd)| [mean, sd]),
            ..line(&law[unknown.parameter], &unknown.name, best)
        });
    }
    for (p, parameter) in law.iter().enumerate() {
        let verdict = match fit.case.role(&parameter.name) {
            Some(Role::Fixed { why, .. }) => format!("fixed: {why}"),
            Some(Role::Tied { to, ratio }) => format!("tied to {to}, times {ratio}"),
            _ => continue,
        };
        let values: Vec<f64> = (0..fit.data.groups.len())
            .map(|group| problem.group_values(group, &optimum.point)[p])
            .collect();
        // A tie to a local parameter makes a value for each group.
        let local = values.iter().any(|v| *v != values[0]);
        for (group, &best) in fit.data.groups.iter().zip(&values) {
            let name = match local {
                true => format!("{}[{group}]", parameter.name),
                false => parameter.name.clone(),
            };
            list.push(ParameterResult {
                verdict: verdict.clone(),
                ..line(parameter, &name, best)
            });
            if !local {
                break;
            }
        }
    }
    list
}

/// Whether a standard error is of the size that the profile shows; where other parameters are not
/// identified the covariance says nothing of this one.
fn agrees(error: f64, ci95: [Option<f64>; 2]) -> bool {
    match ci95 {
        [Some(low), Some(high)] => error <= 2.0 * (high - low) / 3.92,
        _ => error.is_finite(),
    }
}

fn correlations(fit: &Fit, evidence: &Evidence) -> Correlations {
    let unknowns = &fit.problem.unknowns;
    let gradients: Vec<DVector<f64>> = (0..unknowns.len())
        .map(|k| fit.problem.quantity(k, evidence.best).1)
        .collect();
    let row = |a: &DVector<f64>| {
        let cell = |b: &DVector<f64>| {
            Some(evidence.uncertainty.correlation(a, b)).filter(|c| c.is_finite())
        };
        gradients.iter().map(cell).collect()
    };
    Correlations {
        names: unknowns.iter().map(|u| u.name.clone()).collect(),
        matrix: gradients.iter().map(row).collect(),
    }
}

/// Both sides of every profile as one curve.
pub(crate) fn profiles(
    problem: &Calibration,
    sides: &[ProfileSide],
    thresholds: &[f64],
) -> Vec<ProfileResult> {
    let names = problem.unknowns.iter().enumerate();
    let curve = |(k, unknown): (usize, &super::problem::Unknown)| {
        let mut path: Vec<(f64, f64)> = sides
            .iter()
            .filter(|s| s.quantity == k)
            .flat_map(|s| s.path.iter().skip(usize::from(s.direction > 0.0)))
            .filter(|p| p.1 < f64::MAX)
            .map(|(q, delta)| (problem.unscaled(k, *q), delta.max(0.0)))
            .collect();
        path.sort_by(|a, b| a.0.total_cmp(&b.0));
        let (values, delta_chi2) = path.into_iter().unzip();
        ProfileResult {
            name: unknown.name.clone(),
            values,
            delta_chi2,
            limit: thresholds[k],
        }
    };
    names.map(curve).filter(|p| p.values.len() > 1).collect()
}

/// Means, spreads and quantiles of refitted parameters; samples whose fit failed are left out.
pub(crate) fn bootstrap(problem: &Calibration, samples: &[Sample]) -> BootstrapResult {
    let points: Vec<DVector<f64>> = samples
        .iter()
        .filter(|s| s.cost.is_some())
        .map(|s| DVector::from_column_slice(&s.point))
        .collect();
    let line = |(k, unknown): (usize, &super::problem::Unknown)| {
        let mut values: Vec<f64> = points.iter().map(|p| problem.parameter(k, p).0).collect();
        values.sort_by(f64::total_cmp);
        let count = values.len().max(1) as f64;
        let mean = values.iter().sum::<f64>() / count;
        let square: f64 = values.iter().map(|v| (v - mean).powi(2)).sum();
        let end = |share| {
            if values.is_empty() {
                mean
            } else {
                quantile(&values, share)
            }
        };
        BootstrapLine {
            name: unknown.name.clone(),
            mean,
            sd: (square / (count - 1.0).max(1.0)).sqrt(),
            ci95: [end(0.025), end(0.975)],
        }
    };
    BootstrapResult {
        samples: points.len(),
        parameters: problem.unknowns.iter().enumerate().map(line).collect(),
    }
}

/// A start reached the best minimum when its χ² is this close to it.
const SAME_MINIMUM: f64 = 0.01;

fn starts(progress: &SearchProgress) -> Vec<StartResult> {
    let best = progress.best().map_or(f64::NAN, |b| b.1);
    (0..progress.walkers.len())
        .map(|i| {
            let walker = progress.walker(i);
            let near = |cost: f64| cost <= best + SAME_MINIMUM * best.max(1.0);
            StartResult {
                start: i + 1,
                first_chi2: progress.first_costs[i],
                chi2: walker.cost,
                best: walker.cost.is_some_and(near),
                rounds: walker.rounds,
                outcome: walker
                    .outcome
                    .map_or("still moving".into(), WalkerEnd::message),
            }
        })
        .collect()
}

fn rounds(problem: &Calibration, progress: &SearchProgress) -> Vec<RoundResult> {
    let round = |r: &crate::optimize::multistart::Round| RoundResult {
        stage: r.stage + 1,
        gate_width: problem.width(r.stage),
        alive: r.alive,
        best_chi2: r.best.min(1e300),
    };
    progress.trace.iter().map(round).collect()
}
