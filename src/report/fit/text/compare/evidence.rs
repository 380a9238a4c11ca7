//! What can be said of two fits: whether intervals overlap, and which law the data prefer.

use crate::fit::result::{FitResult, ParameterResult, PointResult};

/// AIC or BIC differences below this do not choose: the weights are then closer than 0.73 to 0.27
/// (the rule of thumb of Burnham and Anderson: both models are then supported).
const NO_CHOICE: f64 = 2.0;

/// How the 95 % intervals of a parameter lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Intervals {
    /// They have a value in common. A fixed value counts as an interval of no width.
    Overlap,
    /// They have none.
    Apart,
    /// One fit leaves both ends open.
    Open,
    /// Neither fit asked the data.
    BothGiven,
    /// The other law does not have it.
    OnlyA,
    /// The other law does not have it.
    OnlyB,
    /// The units differ, so nothing can be said.
    Units,
}

/// Ends of the interval, infinite where open; none where there is no interval.
fn ends(p: &ParameterResult) -> Option<[f64; 2]> {
    match p.ci95 {
        [None, None] if p.free => None,
        [None, None] => Some([p.best; 2]),
        [low, high] => Some([
            low.unwrap_or(f64::NEG_INFINITY),
            high.unwrap_or(f64::INFINITY),
        ]),
    }
}

/// How the intervals of the two fits lie.
pub(super) fn intervals(a: Option<&ParameterResult>, b: Option<&ParameterResult>) -> Intervals {
    let (a, b) = match (a, b) {
        (Some(a), Some(b)) => (a, b),
        (Some(_), None) => return Intervals::OnlyA,
        _ => return Intervals::OnlyB,
    };
    match (ends(a), ends(b)) {
        _ if a.unit != b.unit => Intervals::Units,
        (Some([low, high]), Some([l, h])) if low == high && l == h => Intervals::BothGiven,
        (Some(x), Some(y)) if x[0].max(y[0]) <= x[1].min(y[1]) => Intervals::Overlap,
        (Some(_), Some(_)) => Intervals::Apart,
        _ => Intervals::Open,
    }
}

/// Which fit the data prefer.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Preference {
    /// exp(−Δ/2), normalised, of A and B.
    Weights {
        /// By Akaike's criterion.
        aic: [f64; 2],
        /// By the Bayesian one.
        bic: [f64; 2],
    },
    /// The fits were to different points; the first difference.
    OtherData(String),
    /// A criterion is not a number, as after a failed fit.
    NoNumber,
}

/// The weights, where both fits were to the same points. Points held out are no part of χ².
pub(super) fn evidence(a: &FitResult, b: &FitResult) -> Preference {
    if let Some(why) = difference(&a.points, &b.points) {
        return Preference::OtherData(why);
    }
    let criteria = [&a.statistics, &b.statistics];
    let (aic, bic) = (criteria.map(|s| s.aic), criteria.map(|s| s.bic));
    match aic.into_iter().chain(bic).all(f64::is_finite) {
        true => Preference::Weights {
            aic: weights(aic),
            bic: weights(bic),
        },
        false => Preference::NoNumber,
    }
}

/// exp(−Δ/2), normalised; Δ to the smaller, so that nothing overflows.
fn weights(criteria: [f64; 2]) -> [f64; 2] {
    let best = criteria[0].min(criteria[1]);
    let [a, b] = criteria.map(|c| (-0.5 * (c - best)).exp());
    [a / (a + b), b / (a + b)]
}

/// Why two fits were not to the same data; none where they were.
fn difference(a: &[PointResult], b: &[PointResult]) -> Option<String> {
    // The files may have been given in another order.
    let fitted = |points: &[PointResult]| {
        let mut rows: Vec<_> = points
            .iter()
            .filter(|p| !p.held_out)
            .map(|p| {
                let [measured, sd, ..] = p.numbers();
                ((p.place.clone(), p.quantity.clone()), measured, sd)
            })
            .collect();
        rows.sort_by(|x, y| x.0.cmp(&y.0).then(x.1.total_cmp(&y.1)));
        rows
    };
    let (a, b) = (fitted(a), fitted(b));
    if a.len() != b.len() {
        return Some(format!(
            "{} points were fitted in A and {} in B",
            a.len(),
            b.len()
        ));
    }
    a.iter().zip(&b).find_map(|(x, y)| {
        let (place, other) = (&x.0.0, &y.0.0);
        if x.0 != y.0 {
            Some(format!("A has a point from {place}, B one from {other}"))
        } else if x.1 != y.1 {
            Some(format!("{place} is {} in A and {} in B", x.1, y.1))
        } else if x.2 != y.2 {
            Some(format!("{place} has sd {} in A and {} in B", x.2, y.2))
        } else {
            None
        }
    })
}

impl Preference {
    /// Which law to prefer, in words; `criteria` are AIC and BIC of each fit.
    pub(super) fn verdict(&self, criteria: [[f64; 2]; 2]) -> String {
        let (aic, bic) = match self {
            Preference::OtherData(why) => {
                return format!("AIC and BIC cannot be compared, because the data differ: {why}");
            }
            Preference::NoNumber => {
                return "AIC and BIC cannot be compared: one of them is not a number".into();
            }
            Preference::Weights { aic, bic } => (aic, bic),
        };
        let choice = |name: &str, weights: &[f64; 2], which: usize| {
            let apart = (criteria[0][which] - criteria[1][which]).abs();
            let (letter, weight) = match weights[0] >= weights[1] {
                true => ("A", weights[0]),
                false => ("B", weights[1]),
            };
            match apart < NO_CHOICE {
                true => format!("{name} does not choose (difference {apart:.2})"),
                false => {
                    format!("{name} prefers {letter} (difference {apart:.2}, weight {weight:.3})")
                }
            }
        };
        format!("{}; {}", choice("AIC", aic, 0), choice("BIC", bic, 1))
    }
}
