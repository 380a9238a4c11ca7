//! Identifiability: what the data determine, what they determine only in combination, and which
//! measurement is missing.

use nalgebra::DVector;

use super::{
    dataset::{DataRow, Dataset},
    problem::{Calibration, Unknown},
    result::JacobianCheck,
    run::Judgement,
    summary::digits,
};
use crate::{
    material::{DeterminedBy, Dimension, Parameter, ParameterRole},
    optimize::{Linearized, Problem, profile::ProfileSide, uncertainty::Uncertainty},
};

/// The verdict on a parameter that the data determine by itself.
pub(crate) const IDENTIFIED: &str = "identified";

/// What is known of one unknown's parameter.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Verdict {
    /// Whether its value means anything by itself.
    pub determined: bool,
    /// Whether a standard error may be given.
    pub has_error: bool,
    /// 95 % interval; an end is none where the data leave it open.
    pub ci95: [Option<f64>; 2],
    pub text: String,
}

/// An optimum and all that was learned around it.
pub(crate) struct Evidence<'a> {
    pub problem: &'a Calibration,
    pub data: &'a Dataset,
    pub best: &'a DVector<f64>,
    /// Residuals and Jacobian there.
    pub at: &'a Linearized,
    /// Covariance there.
    pub uncertainty: &'a Uncertainty,
    /// Profiles; empty when they were not taken.
    pub sides: &'a [ProfileSide],
    /// Δcost at the ends of the 95 % interval of every unknown.
    pub thresholds: &'a [f64],
    /// The Jacobian there against differences.
    pub gradient: &'a JacobianCheck,
    /// What the residuals say.
    pub judged: &'a Judgement,
    /// Unknowns that are yield strains, and the increase of the cost if no fold of their group yields.
    pub without_flow: &'a [(usize, f64)],
}

/// One end of an interval.
#[derive(Debug, Clone, Copy)]
struct IntervalEnd {
    value: Option<f64>,
    /// Whether the data leave it open.
    open: bool,
    /// Whether a limit of nature, not the data, closes it.
    natural: bool,
}

/// 95 % of χ² with one to five degrees of freedom over that with one: yield strain, hardening, drop, flow
/// time and its spread, where they are free, all gain from noise where nothing yields.
const IDLE: [f64; 5] = [1.0, 1.559_7, 2.034_4, 2.469_8, 2.881_9];
/// A combination of two parameters must be this much better known than either.
const SHARPER: f64 = 0.25;
/// And to this many nepers or better.
const SHARP: f64 = 0.3;
/// Residuals that no unknown of a kind moves by more than this (in standard deviations a neper) do not
/// see it.
const BLIND: f64 = 1e-6;
/// "Identified" takes a 95 % interval whose ends differ by less than this factor: a factor of two either way.
const WIDEST: f64 = 4.0;
/// For a ratio, which has natural ends, it takes an interval that is narrower than this share of its range.
const WIDEST_SHARE: f64 = 0.9;
/// Standard error over the prior's above which the data have added nothing.
const ONLY_PRIOR: f64 = 0.9;

impl Evidence<'_> {
    /// One verdict an unknown.
    pub(crate) fn verdicts(&self) -> Vec<Verdict> {
        (0..self.problem.unknowns.len())
            .map(|k| self.verdict(k))
            .collect()
    }

    /// The parameter of the law that an unknown stands for.
    fn parameter(&self, unknown: &Unknown) -> &Parameter {
        self.problem.parameter_of(unknown)
    }

    fn verdict(&self, k: usize) -> Verdict {
        let unknown = &self.problem.unknowns[k];
        let without_errors = |text: &str| Verdict {
            determined: true,
            has_error: false,
            ci95: [None, None],
            text: text.into(),
        };
        if !self.gradient.passed {
            return without_errors(
                "no error bar: the gradient check failed at the best point; search again with another --seed, or smooth the law with \"tests\": {\"hinges\": 2048}",
            );
        }
        if self.sides.is_empty() {
            return Verdict {
                determined: true,
                has_error: true,
                ci95: [None, None],
                text: "not assessed: the search was interrupted; go on with --resume".into(),
            };
        }
        if self.judged.withheld {
            return without_errors(
                "under a misfit: no error bar, because no degree of freedom is left to tell its size",
            );
        }
        let ends = [-1.0, 1.0].map(|direction| self.end(k, direction));
        let ci95 = ends.map(|end| end.value);
        let open = ends.iter().any(|end| end.open) || ends.iter().all(|end| end.natural);
        let (_, gradient) = self.problem.parameter(k, self.best);
        let error = self.uncertainty.std_error(&gradient);
        let verdict = |determined, text| Verdict {
            determined,
            has_error: determined,
            ci95,
            text,
        };
        let known = |text: String| verdict(true, self.under_misfit(text));
        if let Some((_, sd)) = unknown.prior
            && error > ONLY_PRIOR * sd
        {
            let text = "identified only as its prior: the data add nothing to it";
            return known(text.into());
        }
        if self.nothing_yields(unknown.group) && self.parameter(unknown).role.is_plastic() {
            return Verdict {
                determined: false,
                has_error: false,
                ci95: [
                    ci95[0].filter(|_| self.parameter(unknown).role == ParameterRole::YieldStrain),
                    None,
                ],
                text: format!("not identified: {}", self.no_fold_yields(unknown, ci95[0])),
            };
        }
        let wide = wide(self.parameter(unknown), ci95);
        if !open && wide.is_none() {
            return known(IDENTIFIED.into());
        }
        if let Some(text) = self.combination(k).or(wide.filter(|_| !open)) {
            return known(text);
        }
        verdict(
            false,
            format!("not identified: {}", self.missing(unknown, ci95)),
        )
    }

    /// A verdict with what a misfit leaves of it.
    fn under_misfit(&self, text: String) -> String {
        if !self.judged.misfit.declared {
            return text;
        }
        let holds = match self.judged.known_scale {
            scale if scale > 1.0 => format!(
                "its interval, widened {} times, holds only as far as the law does",
                digits(scale)
            ),
            _ => "its interval holds only as far as the law does".into(),
        };
        match text.as_str() {
            IDENTIFIED => format!("under a misfit: {holds}"),
            _ => format!("under a misfit: {text}; {holds}"),
        }
    }

    /// An end of the interval. A limit of nature closes it.
    fn end(&self, k: usize, direction: f64) -> IntervalEnd {
        let unknown = &self.problem.unknowns[k];
        let side = self
            .sides
            .iter()
            .find(|s| s.quantity == k && s.direction == direction);
        if let Some(end) = side.and_then(|s| s.end(self.thresholds[k])) {
            return IntervalEnd {
                value: Some(self.problem.unscaled(k, end)),
                open: false,
                natural: false,
            };
        }
        let parameter = self.parameter(unknown);
        let (wall, limit) = if direction > 0.0 {
            (unknown.bounds.1, parameter.high)
        } else {
            (unknown.bounds.0, parameter.low)
        };
        // Nothing in nature ends a spread.
        let ratio = parameter.dimension == Dimension::Ratio && !parameter.role.is_spread();
        let natural = wall == limit && ratio;
        IntervalEnd {
            value: natural.then_some(wall),
            open: !natural,
            natural,
        }
    }

    /// Whether the data are as well fitted without any plastic flow in a group: no residual sees the
    /// yield strain, or the cost without flow is within what four idle parameters may gain.
    fn nothing_yields(&self, group: Option<usize>) -> bool {
        let rows = self.problem.data();
        let of_group = |k: usize| {
            let unknown = &self.problem.unknowns[k];
            unknown.group == group || unknown.group.is_none()
        };
        let plastic = self.problem.unknowns.iter().enumerate();
        let plastic = plastic
            .filter(|(k, u)| of_group(*k) && self.parameter(u).role.is_plastic())
            .count();
        let idle = IDLE[plastic.clamp(1, IDLE.len()) - 1];
        self.without_flow
            .iter()
            .filter(|(k, _)| of_group(*k))
            .any(|(k, delta)| {
                let seen = self.at.jacobian.column(*k).rows(0, rows).amax();
                seen < BLIND || *delta < idle * self.thresholds[*k]
            })
    }

    /// The row with the sharpest curvature of the data.
    fn sharpest(&self) -> Option<&DataRow> {
        // The first of several that are as sharp.
        self.data
            .fitted()
            .reduce(|best, other| match other.curvature() > best.curvature() {
                true => other,
                false => best,
            })
    }

    fn no_fold_yields(&self, unknown: &Unknown, low: Option<f64>) -> String {
        let Some(sharpest) = self.sharpest() else {
            return "there are no data".into();
        };
        let curvature = sharpest.curvature();
        let condition = &sharpest.condition;
        let (place, remedy) = condition.test.sharpest(condition);
        match (self.parameter(unknown).role, low) {
            (ParameterRole::YieldStrain, Some(low)) => format!(
                "no fold yields: the data are fitted as well without; the sharpest has {curvature:.0} 1/m ({place}), and any yield strain above {low:.0} 1/m will do; {remedy}"
            ),
            (ParameterRole::YieldStrain, None) => {
                format!(
                    "no fold yields: the data are fitted as well without; the sharpest has {curvature:.0} 1/m ({place}); {remedy}"
                )
            }
            _ => format!("no fold yields, so nothing hardens or flows; {remedy}"),
        }
    }

    /// A product or ratio with another unknown that is known where the two are not.
    fn combination(&self, k: usize) -> Option<String> {
        let unknowns = &self.problem.unknowns;
        let quantity = |j: usize| self.problem.quantity(j, self.best);
        let (own, own_gradient) = quantity(k);
        let own_error = self.uncertainty.std_error(&own_gradient);
        let mut best: Option<(f64, String)> = None;
        for j in (0..unknowns.len()).filter(|j| *j != k) {
            // Only logarithms make products.
            if [k, j].iter().any(|i| !unknowns[*i].is_logarithm()) {
                continue;
            }
            let (other, gradient) = quantity(j);
            let other_error = self.uncertainty.std_error(&gradient);
            for sign in [1.0, -1.0] {
                let error = self
                    .uncertainty
                    .std_error(&(&own_gradient + &gradient * sign));
                let sharp = error < SHARPER * own_error.min(other_error) && error < SHARP;
                if sharp && best.as_ref().is_none_or(|b| error < b.0) {
                    let (kind, mark) = if sign > 0.0 {
                        ("product", "·")
                    } else {
                        ("ratio", "/")
                    };
                    let text = format!(
                        "identified only as the {kind} {}{mark}{} = {:.4e} ± {:.1} %",
                        unknowns[k].name,
                        unknowns[j].name,
                        (own + sign * other).exp(),
                        100.0 * error
                    );
                    best = Some((error, text));
                }
            }
        }
        best.map(|b| b.1)
    }

    /// What is missing from the data, and which measurement would bring it.
    fn missing(&self, unknown: &Unknown, [low, high]: [Option<f64>; 2]) -> String {
        let times = self.data.fitted().map(|row| row.condition.held());
        let (mut shortest, mut longest) = (f64::INFINITY, 0.0f64);
        for time in times.filter(|t| *t > 0.0) {
            (shortest, longest) = (shortest.min(time), longest.max(time));
        }
        let known = match (low, high) {
            (Some(low), None) => format!(" (95 %: above {})", digits(low)),
            (None, Some(high)) => format!(" (95 %: below {})", digits(high)),
            _ => String::new(),
        };
        let dwell = |what: &str| match (low, high) {
            _ if longest == 0.0 => {
                format!("no dwell in the data; hold a fold for several times to see {what}")
            }
            (None, Some(_)) => format!(
                "no dwell shorter than {} s in the data; press for less than {} s to see {what}",
                digits(shortest),
                digits(shortest / 3.0)
            ),
            (Some(_), None) => format!(
                "no dwell longer than {} s in the data; press for more than {} s to see {what}",
                digits(longest),
                digits(longest * 3.0)
            ),
            _ if shortest == longest => format!(
                "a single dwell of {} s cannot show {what}; press for other times too",
                digits(longest)
            ),
            _ => format!(
                "dwells from {} to {} s do not show {what}; add times between or around them, or another gap",
                digits(shortest),
                digits(longest)
            ),
        };
        let text = match self
            .problem
            .law()
            .determined_by(self.parameter(unknown).role)
        {
            DeterminedBy::Dwells(what) => dwell(what),
            DeterminedBy::Ends { open_above, .. } if high.is_none() => open_above.into(),
            DeterminedBy::Ends { open_below, .. } => open_below.into(),
            DeterminedBy::Test(advice) => advice.into(),
        };
        format!("{text}{known}")
    }
}

/// What is to be said where an interval with two ends is too wide to call its parameter identified.
fn wide(parameter: &Parameter, ci95: [Option<f64>; 2]) -> Option<String> {
    let [Some(low), Some(high)] = ci95 else {
        return None;
    };
    if parameter.dimension == Dimension::Ratio && !parameter.role.is_spread() {
        let range = parameter.high - parameter.low;
        return (high - low >= WIDEST_SHARE * range).then(|| {
            format!(
                "known only to be between {} and {}",
                digits(low),
                digits(high)
            )
        });
    }
    match low > 0.0 {
        true if high < WIDEST * low => None,
        true => Some(format!("known only to a factor of {}", digits(high / low))),
        false => Some(format!("known only to be below {}", digits(high))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::material::{Material, Timer};

    #[test]
    fn an_interval_of_a_factor_of_four_identifies_nothing() {
        let law = Material::preset("cotton broad")
            .unwrap()
            .build_law(Timer::Authors);
        let parameters = law.parameters();
        let of = |name: &str, low: f64, high: f64| {
            let parameter = parameters.iter().find(|p| p.name == name).unwrap();
            wide(parameter, [Some(low), Some(high)])
        };
        assert_eq!(of("dwell_time", 20.0, 79.0), None);
        let said = of("dwell_time", 10.0, 440.0).unwrap();
        assert_eq!(said, "known only to a factor of 44");
        assert_eq!(of("hardening_drop", 0.2, 1.0), None);
        let said = of("hardening_drop", 0.05, 1.0).unwrap();
        assert_eq!(said, "known only to be between 0.05 and 1");
    }
}
