//! From an optimum to the contents of `result.json`.

use super::{
    case::Role,
    problem::Calibration,
    result::*,
    run::{Fit, Optimum},
    simulate::{BendingReading, Condition},
    verdict::Evidence,
};
use crate::{
    error::Result,
    experiment::{Branch, CreasePoint},
    fit::{Problem, bootstrap::Sample, levenberg::Outcome, multistart::Progress, profile::Side},
    material::{Parameter, StrainMeasure},
    numeric::statistics::{chi2_exceeds, quantile, runs},
    rollout::log_times,
};
use nalgebra::DVector;

/// All of a result but how it was run and where its files are.
pub fn result(
    fit: &Fit,
    progress: &Progress,
    (start, interrupted): (usize, bool),
    optimum: &Optimum,
    evidence: &Evidence,
) -> Result<FitResult> {
    let points = points(fit, optimum, evidence)?;
    let statistics = statistics(fit, optimum, &points);
    let parameters = parameters(fit, progress, start, optimum, evidence);
    Ok(FitResult {
        name: fit.case.name.clone(),
        synthetic: fit.data.synthetic,
        law: fit.case.law.name().into(),
        relaxation_branches: fit.case.relaxation_branches,
        notes: notes(fit, &parameters),
        convergence: convergence(progress, start, interrupted),
        interrupted,
        correlations: correlations(fit, evidence),
        misfit: misfit(fit, &points, &statistics),
        hold_out: hold_out(&points),
        smoothing_bias_deg: smoothing_bias(&points),
        gradient_check: gradient_check(fit, optimum)?,
        curves: curves(fit, optimum, evidence)?,
        loops: loops(fit, optimum)?,
        profiles: profiles(&fit.problem, evidence.sides),
        starts: starts(progress),
        rounds: rounds(&fit.problem, progress),
        bootstrap: None,
        data: fit.data.files.clone(),
        run: RunResult {
            version: env!("CARGO_PKG_VERSION").into(),
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

fn notes(fit: &Fit, parameters: &[ParameterResult]) -> Vec<String> {
    let mut notes = fit.case.notes.clone();
    for (name, role) in &fit.case.parameters {
        if let Role::Fixed { value, why } = role {
            notes.push(format!("{name} is fixed at {value:.4e}: {why}."));
        }
    }
    notes.extend(fit.data.notes.clone());
    for p in parameters.iter().filter(|p| p.free) {
        let Some([low, high]) = p.bounds else {
            continue;
        };
        let near = |wall: f64| (p.best - wall).abs() <= 1e-6 * (high - low);
        if near(low) || near(high) {
            notes.push(format!(
                "{} is at a bound of its search, {:.4e}.",
                p.name, p.best
            ));
        }
    }
    notes
}

fn convergence(progress: &Progress, start: usize, interrupted: bool) -> String {
    if interrupted {
        return "interrupted: the best point so far is reported; `rumple fit --resume` goes on"
            .into();
    }
    let mut leader = start;
    while let Some(Outcome::Joined(other)) = progress.walkers[leader].outcome {
        leader = other;
    }
    let outcome = progress.walkers[leader].outcome;
    outcome.map_or("still moving".into(), Outcome::message)
}

fn parameters(
    fit: &Fit,
    progress: &Progress,
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
            std_error: Some(error).filter(|e| verdict.determined && agrees(*e, verdict.ci95)),
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
        let best = problem.group_values(0, &optimum.point)[p];
        list.push(ParameterResult {
            verdict,
            ..line(parameter, &parameter.name, best)
        });
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

fn points(fit: &Fit, optimum: &Optimum, evidence: &Evidence) -> Result<Vec<PointResult>> {
    let list = fit.all_conditions();
    let (fitted, spread) = fit.predictions(optimum, evidence.uncertainty, &list)?;
    let hard = fit.problem.hard(&optimum.point, &list)?;
    let scale = fit.error_scale(optimum);
    let point = |(i, row): (usize, &super::dataset::Row)| {
        let mut point = PointResult {
            group: fit.data.groups[row.group].clone(),
            place: row.place.clone(),
            held_out: row.held_out,
            prediction_sd: Some(spread[i].hypot(scale * row.sd)),
            ..PointResult::default()
        };
        let numbers = [row.value, row.sd, fitted[i], hard[i]].map(Some);
        match row.condition {
            Condition::Recovery(CreasePoint { gap, press, read }) => {
                point.test = "crease".into();
                // Gaps are read in millimetres: 0.0005 m is to be 0.5 mm again.
                point.gap_mm = Some((1e12 * gap).round() / 1e9);
                point.press_s = Some(press);
                point.read_s = Some(read);
                [
                    point.measured_deg,
                    point.sd_deg,
                    point.fitted_deg,
                    point.hard_deg,
                ] = numbers;
            }
            Condition::Bending { dwell, read, .. } => {
                let (test, quantity, unit) = match read {
                    BendingReading::Rigidity => ("kes", "B", "N·m"),
                    BendingReading::Hysteresis => ("kes", "2HB", "N·m/m"),
                    BendingReading::Moment(_, curvature) => {
                        point.curvature_per_m = Some(curvature);
                        ("kes_loop", "moment", "N·m/m")
                    }
                };
                point.test = test.into();
                point.quantity = Some(quantity.into());
                point.unit = Some(unit.into());
                point.press_s = Some(dwell);
                [point.measured, point.sd, point.fitted, point.hard] = numbers;
            }
        }
        point
    };
    Ok(fit.data.rows.iter().enumerate().map(point).collect())
}

fn statistics(fit: &Fit, optimum: &Optimum, points: &[PointResult]) -> Statistics {
    let fitted: Vec<&PointResult> = points.iter().filter(|p| !p.held_out).collect();
    let (count, free) = (fitted.len(), fit.problem.unknowns.len());
    let chi2: f64 = fitted.iter().map(|p| p.residual().powi(2)).sum();
    let hard = |p: &&PointResult| {
        let [measured, sd, _, hard] = p.numbers();
        ((measured - hard) / sd).powi(2)
    };
    let freedom = count.saturating_sub(free);
    Statistics {
        points: count,
        free,
        chi2,
        reduced_chi2: (freedom > 0).then(|| chi2 / freedom as f64),
        aic: chi2 + 2.0 * free as f64,
        bic: chi2 + free as f64 * (count as f64).ln(),
        r2: explained(&fitted, chi2),
        hard_chi2: fitted.iter().map(hard).sum(),
        error_scale: fit.error_scale(optimum),
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

/// Probability below which a fit is called a misfit.
const IMPROBABLE: f64 = 0.01;
/// χ² a point below which the signs of residuals mean nothing: a hundredth of a standard deviation each.
const WITHIN_SPREAD: f64 = 1e-4;

fn misfit(fit: &Fit, points: &[PointResult], statistics: &Statistics) -> Misfit {
    let freedom = statistics.points.saturating_sub(statistics.free);
    let known = !fit.data.assumed_sd && freedom > 0;
    let chi2_probability = known.then(|| chi2_exceeds(statistics.chi2, freedom));
    let (runs, expected_runs, runs_probability) = runs(&residual_curves(points));
    // Signs of residuals far within their spread are rounding, as where all rows are alike.
    let runs_probability =
        runs_probability.filter(|_| statistics.chi2 > WITHIN_SPREAD * statistics.points as f64);
    let bad = |p: Option<f64>| p.is_some_and(|p| p < IMPROBABLE);
    let number = |p: Option<f64>| p.map_or("unknown".into(), |p| format!("{p:.2e}"));
    let verdict = match (bad(chi2_probability), bad(runs_probability)) {
        (false, false) if freedom == 0 => {
            "no degree of freedom is left to judge whether the law follows the data".into()
        }
        (false, false) => {
            "the law follows the data: neither χ² nor the runs of the residuals object".to_string()
        }
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

/// Residuals along each curve: by group, test, gap and reading time, in order of the pressing time.
fn residual_curves(points: &[PointResult]) -> Vec<Vec<f64>> {
    let mut curves: Vec<(String, Vec<(f64, f64)>)> = Vec::new();
    for (i, p) in points.iter().enumerate().filter(|(_, p)| !p.held_out) {
        let name = format!(
            "{} {} {:?} {:?} {:?}",
            p.group, p.test, p.quantity, p.gap_mm, p.read_s
        );
        // A loop is in the order of its file.
        let place = if p.test == "crease" {
            p.press_s.unwrap_or(0.0)
        } else {
            i as f64
        };
        match curves.iter_mut().find(|c| c.0 == name) {
            Some(curve) => curve.1.push((place, p.residual())),
            None => curves.push((name, vec![(place, p.residual())])),
        }
    }
    let residuals = |(_, mut curve): (String, Vec<(f64, f64)>)| {
        curve.sort_by(|a, b| a.0.total_cmp(&b.0));
        curve.into_iter().map(|(_, r)| r).collect()
    };
    curves.into_iter().map(residuals).collect()
}

fn hold_out(points: &[PointResult]) -> Option<HoldOut> {
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

fn smoothing_bias(points: &[PointResult]) -> f64 {
    let bias = |p: &PointResult| Some((p.fitted_deg? - p.hard_deg?).abs());
    points.iter().filter_map(bias).fold(0.0, f64::max)
}

/// Step of the central differences in an unknown.
const DIFFERENCE: f64 = 1e-5;
/// Largest difference that passes, against the largest entry of the Jacobian.
const CERTIFIED: f64 = 1e-4;

/// Every column of the Jacobian against central differences.
fn gradient_check(fit: &Fit, optimum: &Optimum) -> Result<GradientCheck> {
    let problem = &fit.problem;
    let n = problem.unknowns.len();
    let moved = |k: usize, step: f64| {
        let mut point = optimum.point.clone();
        point[k] += step;
        point
    };
    let points: Vec<DVector<f64>> = (0..n)
        .flat_map(|k| [moved(k, DIFFERENCE), moved(k, -DIFFERENCE)])
        .collect();
    let around = problem.linearized(problem.stages() - 1, &points)?;
    let jacobian = &optimum.at.jacobian;
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
    Ok(GradientCheck {
        parameters: lines,
        largest_error,
        passed: largest_error < CERTIFIED,
    })
}

/// Points of a plotted curve.
const CURVE_POINTS: usize = 120;

fn curves(fit: &Fit, optimum: &Optimum, evidence: &Evidence) -> Result<Vec<CurveResult>> {
    // Group, gap, read; the shortest and longest pressing time; the spread of a reading.
    let mut curves: Vec<(usize, CreasePoint, (f64, f64), f64)> = Vec::new();
    for row in &fit.data.rows {
        let Condition::Recovery(point) = row.condition else {
            continue;
        };
        let same = |c: &&mut (usize, CreasePoint, (f64, f64), f64)| {
            c.0 == row.group && c.1.gap == point.gap && c.1.read == point.read
        };
        match curves.iter_mut().find(same) {
            Some(curve) => {
                let (low, high) = curve.2;
                curve.2 = (low.min(point.press), high.max(point.press));
                curve.3 = curve.3.max(row.sd);
            }
            None => curves.push((row.group, point, (point.press, point.press), row.sd)),
        }
    }
    let scale = fit.error_scale(optimum);
    let mut list = Vec::new();
    for (group, point, (shortest, longest), sd) in curves {
        let first = if shortest > 0.0 {
            0.5 * shortest
        } else {
            1e-3 * longest.max(1.0)
        };
        // A single pressing time gets a decade on either side.
        let (first, last) = match longest > 2.0 * shortest.max(first) {
            true => (first, 2.0 * longest),
            false => (0.1 * first, 20.0 * first),
        };
        let press_s: Vec<f64> = log_times(first, last, CURVE_POINTS);
        let conditions: Vec<(usize, Condition)> = press_s
            .iter()
            .map(|&press| (group, Condition::Recovery(CreasePoint { press, ..point })))
            .collect();
        let (fitted, spread) = fit.predictions(optimum, evidence.uncertainty, &conditions)?;
        let half = |i: usize| 1.96 * spread[i].hypot(scale * sd);
        list.push(CurveResult {
            group: fit.data.groups[group].clone(),
            gap_mm: (1e12 * point.gap).round() / 1e9,
            read_s: point.read,
            low_deg: (0..fitted.len()).map(|i| fitted[i] - half(i)).collect(),
            high_deg: (0..fitted.len()).map(|i| fitted[i] + half(i)).collect(),
            hard_deg: fit.problem.hard(&optimum.point, &conditions)?,
            fitted_deg: fitted,
            press_s,
        });
    }
    Ok(list)
}

fn loops(fit: &Fit, optimum: &Optimum) -> Result<Vec<LoopResult>> {
    let mut cycles: Vec<(usize, f64, f64)> = Vec::new();
    for row in &fit.data.rows {
        if let Condition::Bending {
            max_curvature,
            dwell,
            ..
        } = row.condition
        {
            let cycle = (row.group, max_curvature, dwell);
            if !cycles.contains(&cycle) {
                cycles.push(cycle);
            }
        }
    }
    let mut list = Vec::new();
    for (group, max_curvature, dwell) in cycles {
        let share = |k: usize| k as f64 / CURVE_POINTS as f64;
        let ways = [
            (Branch::Out, 0.0, 1.0),
            (Branch::Down, 1.0, -1.0),
            (Branch::Back, -1.0, 0.0),
        ];
        let mut conditions = Vec::new();
        let mut curvature_per_m = Vec::new();
        for (branch, from, to) in ways {
            for k in 0..=CURVE_POINTS {
                let curvature = max_curvature * (from + (to - from) * share(k));
                curvature_per_m.push(curvature);
                let read = BendingReading::Moment(branch, curvature);
                conditions.push((
                    group,
                    Condition::Bending {
                        max_curvature,
                        dwell,
                        read,
                    },
                ));
            }
        }
        list.push(LoopResult {
            group: fit.data.groups[group].clone(),
            dwell_s: dwell,
            curvature_per_m,
            moment_nm_per_m: fit.problem.predict(&optimum.point, &conditions)?.0,
        });
    }
    Ok(list)
}

/// Both sides of every profile as one curve.
pub fn profiles(problem: &Calibration, sides: &[Side]) -> Vec<ProfileResult> {
    let names = problem.unknowns.iter().enumerate();
    let curve = |(k, unknown): (usize, &super::problem::Unknown)| {
        let mut path: Vec<(f64, f64)> = sides
            .iter()
            .filter(|s| s.quantity == k)
            .flat_map(|s| s.path.iter().skip(usize::from(s.direction > 0.0)))
            .filter(|p| p.1 < f64::MAX)
            .map(|(q, delta)| (problem.from_scale(k, *q), delta.max(0.0)))
            .collect();
        path.sort_by(|a, b| a.0.total_cmp(&b.0));
        let (values, delta_chi2) = path.into_iter().unzip();
        ProfileResult {
            name: unknown.name.clone(),
            values,
            delta_chi2,
        }
    };
    names.map(curve).filter(|p| p.values.len() > 1).collect()
}

/// Means, spreads and quantiles of refitted parameters; samples whose fit failed are left out.
pub fn bootstrap(problem: &Calibration, samples: &[Sample]) -> BootstrapResult {
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

fn starts(progress: &Progress) -> Vec<StartResult> {
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
                    .map_or("still moving".into(), Outcome::message),
            }
        })
        .collect()
}

fn rounds(problem: &Calibration, progress: &Progress) -> Vec<RoundResult> {
    let round = |r: &crate::fit::multistart::Round| RoundResult {
        stage: r.stage + 1,
        gate_width: problem.width(r.stage),
        alive: r.alive,
        best_chi2: if r.best.is_finite() { r.best } else { 1e300 },
    };
    progress.trace.iter().map(round).collect()
}
