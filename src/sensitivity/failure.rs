//! Runs that failed: which, why, and in which region of the parameters.

use serde::{Deserialize, Serialize};

use super::factor::Factor;

/// Runs that failed, of all runs of a study.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Failures {
    /// How many runs there were.
    pub runs: usize,
    /// How many failed.
    pub failed: usize,
    /// Reasons with how often each occurred, the most frequent first.
    pub reasons: Vec<(String, usize)>,
    /// How the indices take them.
    pub treatment: String,
    /// Where they are, a line a parameter; empty where none or all failed.
    pub region: Vec<Region>,
    /// The first of them with their parameters; `samples.csv` has all.
    pub list: Vec<Failed>,
}

/// Where failed runs lie in one parameter.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Region {
    /// The parameter.
    pub name: String,
    /// Smallest and largest value among failed runs.
    pub range: [f64; 2],
    /// Largest distance between the distributions of failed and of other runs (Kolmogorov and Smirnov): 0 where
    /// the parameter has nothing to do with it, 1 where a threshold separates them.
    pub distance: f64,
}

/// A run that failed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Failed {
    /// Method and row, as in `samples.csv`.
    pub row: String,
    /// Values of the parameters.
    pub values: Vec<f64>,
    /// Why.
    pub why: String,
}

/// More would make a report unreadable.
const LISTED: usize = 50;

impl Failures {
    /// From all runs: name, values, and the reason where one failed.
    pub fn new(factors: &[Factor], runs: &[(String, Vec<f64>, Option<&str>)]) -> Failures {
        let bad: Vec<_> = runs.iter().filter(|r| r.2.is_some()).collect();
        let mut reasons: Vec<(String, usize)> = Vec::new();
        for why in bad.iter().filter_map(|r| r.2) {
            match reasons.iter_mut().find(|(known, _)| known == why) {
                Some((_, count)) => *count += 1,
                None => reasons.push((why.into(), 1)),
            }
        }
        reasons.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        let region = match bad.len() {
            0 => Vec::new(),
            n if n == runs.len() => Vec::new(),
            _ => (0..factors.len())
                .map(|k| region(factors, runs, k))
                .collect(),
        };
        Failures {
            runs: runs.len(),
            failed: bad.len(),
            treatment: treatment(runs.len(), bad.len()),
            reasons,
            region,
            list: bad
                .iter()
                .take(LISTED)
                .map(|(row, values, why)| Failed {
                    row: row.clone(),
                    values: values.clone(),
                    why: why.unwrap_or_default().into(),
                })
                .collect(),
        }
    }
}

fn treatment(runs: usize, failed: usize) -> String {
    if failed == 0 {
        return "no run failed".into();
    }
    let share = 100.0 * failed as f64 / runs as f64;
    format!(
        "{failed} of {runs} runs failed ({share:.2} %): a base sample of Sobol' indices is left out whole where any of its runs failed, an elementary effect where either of its two did, a point of derivatives where its own did; the indices therefore describe the parameters at which the model runs"
    )
}

fn region(factors: &[Factor], runs: &[(String, Vec<f64>, Option<&str>)], k: usize) -> Region {
    let mut sorted: Vec<(f64, bool)> = runs.iter().map(|r| (r.1[k], r.2.is_some())).collect();
    sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
    let failed = sorted.iter().filter(|r| r.1).count() as f64;
    let others = sorted.len() as f64 - failed;
    let (mut bad, mut good, mut distance) = (0.0, 0.0, 0.0f64);
    for (i, (value, is_bad)) in sorted.iter().enumerate() {
        if *is_bad {
            bad += 1.0 / failed;
        } else {
            good += 1.0 / others;
        }
        // Between equal values there is no place to look at.
        if sorted.get(i + 1).is_none_or(|next| next.0 > *value) {
            distance = distance.max((bad - good).abs());
        }
    }
    let ends = sorted.iter().filter(|r| r.1).map(|r| r.0);
    let (low, high) = ends.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| {
        (low.min(v), high.max(v))
    });
    Region {
        name: factors[k].name.clone(),
        range: [low, high],
        distance,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sensitivity::distribution::Distribution;

    #[test]
    fn a_threshold_in_one_parameter_is_seen_as_such() {
        let factor = |name: &str| Factor {
            name: name.into(),
            symbol: name.into(),
            unit: "1".into(),
            distribution: Distribution::Uniform {
                low: 0.0,
                high: 1.0,
            },
            nominal: 0.5,
        };
        let points = crate::numeric::sobol(256, 2, 1).unwrap();
        let runs: Vec<_> = points
            .into_iter()
            .enumerate()
            .map(|(i, p)| {
                let why = (p[0] > 0.75).then_some("too large");
                (format!("row {i}"), p, why)
            })
            .collect();
        let failures = Failures::new(&["a", "b"].map(factor), &runs);
        assert_eq!((failures.runs, failures.failed), (256, 64));
        assert_eq!(failures.reasons, [("too large".to_string(), 64)]);
        assert!((failures.region[0].distance - 1.0).abs() < 1e-12);
        assert!(failures.region[0].range[0] > 0.75);
        assert!(
            failures.region[1].distance < 0.1,
            "{:?}",
            failures.region[1]
        );
        assert!(
            failures.treatment.contains("64 of 256"),
            "{}",
            failures.treatment
        );
        assert_eq!(failures.list.len(), LISTED);
    }
}
