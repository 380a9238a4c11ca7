//! What the residuals at an optimum say: degrees of freedom, the size of spreads that were assumed, and misfit.

use nalgebra::{DMatrix, DVector};

use super::Fit;
use crate::{
    fit::{
        dataset::{DataRow, SpreadSource},
        result::Misfit,
        summary::digits,
    },
    laboratory::Test,
    numeric::statistics::{chi2_exceeds, f_exceeds, runs, student_quantile},
    optimize::{Linearized, Problem},
};

/// The data see a direction of the unknowns if moving through the whole box along it changes the readings by more than
/// this, in standard deviations: the tolerance of the rank.
const SEEN: f64 = 1.0;
/// Probability below which a fit is called a misfit.
const IMPROBABLE: f64 = 0.01;
/// χ² a point below which the signs of residuals mean nothing: a hundredth of a standard deviation each.
const WITHIN_SPREAD: f64 = 1e-4;
/// An assumed standard deviation may be wrong by this factor. Residuals beyond it are those of the law.
const PLAUSIBLE: f64 = 3.0;
/// Fewer degrees of freedom than this are none: shares of a mixture are not whole numbers.
const LEAST_FREEDOM: f64 = 0.5;
/// Least factor on assumed spreads: data without noise leave residuals of rounding.
const LEAST_SCALE: f64 = 1e-3;

/// What the residuals at an optimum say.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Judgement {
    /// Σ ((measured − fitted)/sd)² over the fitted points.
    pub chi2: f64,
    /// Directions of the unknowns that the data see: the rank of their Jacobian.
    pub seen: usize,
    /// Fitted points less the directions that they see.
    pub freedom: usize,
    /// Factor on standard deviations that were assumed: the scatter of their residuals.
    pub assumed_scale: f64,
    /// Factor on all other standard deviations: above 1 only under a misfit.
    pub known_scale: f64,
    /// Half of a 95 % interval in standard errors: 1.96, or more where a spread is an estimate.
    pub half_width: f64,
    /// Whether a misfit leaves nothing to tell intervals from.
    pub withheld: bool,
    pub misfit: Misfit,
}

/// Residuals of rows whose spreads have one origin.
#[derive(Debug, Clone, Copy, Default)]
struct Share {
    count: usize,
    chi2: f64,
    /// Rows less their part of the directions that all data see.
    freedom: f64,
}

impl Share {
    fn is_free(&self) -> bool {
        self.freedom >= LEAST_FREEDOM
    }

    /// √(χ²/freedom).
    fn scatter(&self) -> f64 {
        (self.chi2 / self.freedom).sqrt()
    }
}

impl Judgement {
    /// Factor on a standard deviation of some origin.
    pub(crate) fn scale(&self, spread: SpreadSource) -> f64 {
        match spread {
            SpreadSource::Assumed => self.assumed_scale,
            SpreadSource::Stated | SpreadSource::Repeats => self.known_scale,
        }
    }

    /// Judges residuals and Jacobian of the last stage.
    pub(super) fn of(fit: &Fit, at: &Linearized) -> Judgement {
        let count = fit.problem.data();
        let rows: Vec<&DataRow> = fit.data.fitted().collect();
        let chi2 = at.residuals.rows(0, count).norm_squared();
        // Outliers that a robust loss discounts count for as little here.
        let counted = fit.case.loss.reweighted(at, count);
        let (seen, leverages) = seen(&at.jacobian, count, fit.problem.bounds());
        let share = |assumed: bool| {
            let mut share = Share::default();
            for (i, row) in rows.iter().enumerate() {
                if (row.spread == SpreadSource::Assumed) == assumed {
                    share.count += 1;
                    share.chi2 += counted.residuals[i].powi(2);
                    share.freedom += 1.0 - leverages[i];
                }
            }
            share
        };
        let (mut known, assumed) = (share(false), share(true));
        // The scatter of repeats about their means has told their spread and cannot be judged by it.
        let repeats = fit.data.repeats.iter().sum::<usize>();
        known.chi2 = (known.chi2 - repeats as f64).max(0.0);
        known.freedom -= repeats as f64;
        known.count -= repeats.min(known.count);
        let least_repeats = fit.data.repeats.iter().min().map(|d| *d as f64);
        let assumed_scale = match assumed.is_free() {
            true => assumed.scatter().max(LEAST_SCALE),
            false => 1.0,
        };
        let residuals: Vec<f64> = at.residuals.iter().take(count).copied().collect();
        let misfit = misfit(&rows, &residuals, chi2, (known, assumed), least_repeats);
        let known_scale = match misfit.declared && known.is_free() {
            true => known.scatter().max(1.0),
            false => 1.0,
        };
        // Spreads that are estimates have the tails of Student's t.
        let mut estimates: Vec<f64> = least_repeats.into_iter().collect();
        estimates.extend(Some(assumed.freedom).filter(|_| assumed.is_free()));
        estimates.extend(Some(known.freedom).filter(|_| known_scale > 1.0));
        let fewest = estimates.into_iter().reduce(f64::min);
        Judgement {
            chi2,
            seen,
            freedom: count - seen,
            assumed_scale,
            known_scale,
            half_width: fewest.map_or(NORMAL_975, |d| student_quantile(0.975, d.max(1.0))),
            withheld: misfit.declared && !known.is_free() && !assumed.is_free(),
            misfit,
        }
    }
}

/// 97.5 % quantile of the normal distribution.
const NORMAL_975: f64 = 1.959_963_984_540_054;

/// The rank of the data's Jacobian for unknowns in units of their box, and how much of it each row takes.
fn seen(jacobian: &DMatrix<f64>, data: usize, bounds: &[(f64, f64)]) -> (usize, DVector<f64>) {
    let scaled = DMatrix::from_fn(data, bounds.len(), |i, j| {
        jacobian[(i, j)] * (bounds[j].1 - bounds[j].0)
    });
    let svd = scaled.svd(true, false);
    let mut leverages = DVector::zeros(data);
    let mut rank = 0;
    if let Some(u) = svd.u {
        for (column, _) in u
            .column_iter()
            .zip(&svd.singular_values)
            .filter(|(_, s)| **s > SEEN)
        {
            leverages += column.component_mul(&column);
            rank += 1;
        }
    }
    (rank, leverages)
}

fn misfit(
    rows: &[&DataRow],
    residuals: &[f64],
    chi2: f64,
    (known, assumed): (Share, Share),
    repeats: Option<f64>,
) -> Misfit {
    let chi2_probability = known.is_free().then(|| match repeats {
        // Lack of fit against the scatter of repeats.
        Some(below) => f_exceeds(known.chi2 / known.freedom, (known.freedom, below)),
        None => chi2_exceeds(known.chi2, known.freedom),
    });
    let (runs, expected_runs, runs_probability) = runs(&residual_curves(rows, residuals));
    // Signs of residuals far within their spread are rounding, as where all rows are alike.
    let runs_probability = runs_probability.filter(|_| chi2 > WITHIN_SPREAD * rows.len() as f64);
    let bad = |p: Option<f64>| p.is_some_and(|p| p < IMPROBABLE);
    let (by_chi2, by_runs) = (bad(chi2_probability), bad(runs_probability));
    let scattered = assumed.is_free() && assumed.scatter() > PLAUSIBLE;
    let missed = missed(&known)
        || (!assumed.is_free() && assumed.chi2 > PLAUSIBLE.powi(2) * assumed.count as f64);
    let free = known.is_free() || assumed.is_free();
    let verdict = if !free && missed {
        format!(
            "misfit: χ² = {} although the data see as many directions of the parameters as there are points; the search failed, or the law cannot pass through them: try another --seed or more --starts, then another law",
            digits(chi2)
        )
    } else if missed {
        format!(
            "misfit: some readings have no degree of freedom left and are missed by far (χ² = {}); try another --seed or more --starts, then another law",
            digits(chi2)
        )
    } else if by_chi2 && by_runs {
        format!(
            "misfit: the law does not follow the data (χ² has a probability of {}, the runs of the residuals {}); try another law, or relaxation branches",
            number(chi2_probability),
            number(runs_probability)
        )
    } else if by_chi2 {
        format!(
            "misfit: χ² is too large (probability {}), though the residuals show no trend; the spread may be larger than stated, or single points are off (try \"loss\": \"huber\")",
            number(chi2_probability)
        )
    } else if by_runs {
        format!(
            "misfit: the residuals have a trend (their runs have a probability of {}); try another law, or relaxation branches",
            number(runs_probability)
        )
    } else if scattered {
        format!(
            "misfit: readings are {} times their assumed spread away from the law, more than an assumption may be wrong ({}); give their sd, or try another law",
            digits(assumed.scatter()),
            digits(PLAUSIBLE)
        )
    } else {
        followed((chi2_probability, runs_probability), (known, assumed), free)
    };
    Misfit {
        declared: verdict.starts_with("misfit"),
        chi2_probability,
        runs,
        expected_runs,
        runs_probability,
        verdict,
    }
}

/// Whether rows without a degree of freedom, which any law could pass through, are missed.
fn missed(known: &Share) -> bool {
    !known.is_free() && known.count > 0 && chi2_exceeds(known.chi2, known.count as f64) < IMPROBABLE
}

/// The verdict where nothing speaks against the law.
fn followed(
    (chi2, runs): (Option<f64>, Option<f64>),
    (known, assumed): (Share, Share),
    free: bool,
) -> String {
    let scatter = format!(
        "a spread was assumed (the residuals scatter by {} of it)",
        digits(assumed.scatter())
    );
    match (chi2, runs) {
        _ if !free => "no degree of freedom is left to judge whether the law follows the data: it passes through the points within their spread".into(),
        (Some(_), Some(_)) => "the law follows the data: χ² is as expected, and the residuals change sign as often as chance would have it".into(),
        (Some(_), None) => "the law follows the data as far as χ² tells".into(),
        (None, Some(_)) => format!("the residuals show no trend; χ² cannot judge, because {scatter}"),
        (None, None) if known.count == 0 => format!("too few points to see a trend, and {scatter}: the fit cannot be tested"),
        (None, None) => "too few degrees of freedom: the fit cannot be tested".into(),
    }
}

fn number(p: Option<f64>) -> String {
    match p {
        None => "unknown".into(),
        Some(p) if p > 0.0 => format!("{p:.2e}"),
        Some(_) => "< 1e-300".into(),
    }
}

/// What the readings of a curve have in common: group, kind, quantity and settings.
type CurveKey = (usize, &'static str, Option<&'static str>, Vec<Option<f64>>);

/// Residuals along each curve, in the order that its test gives them.
fn residual_curves(rows: &[&DataRow], residuals: &[f64]) -> Vec<Vec<f64>> {
    let mut curves: Vec<(CurveKey, Vec<(f64, f64)>)> = Vec::new();
    for (i, (row, residual)) in rows.iter().zip(residuals).enumerate() {
        let (condition, test): (_, &dyn Test) = (&row.condition, row.condition.test);
        let apart = test.tells_curves_apart().iter();
        let key = (
            row.group,
            test.kind(condition),
            test.quantity(condition).map(|(quantity, _)| quantity),
            apart.map(|name| condition.setting(name)).collect(),
        );
        // A loop is in the order of its file.
        let place = match test.orders_curve() {
            Some(name) => condition.setting(name).unwrap_or(0.0),
            None => i as f64,
        };
        match curves.iter_mut().find(|c| c.0 == key) {
            Some(curve) => curve.1.push((place, -residual)),
            None => curves.push((key, vec![(place, -residual)])),
        }
    }
    let ordered = |(_, mut curve): (CurveKey, Vec<(f64, f64)>)| {
        curve.sort_by(|a, b| a.0.total_cmp(&b.0));
        curve.into_iter().map(|(_, r)| r).collect()
    };
    curves.into_iter().map(ordered).collect()
}
