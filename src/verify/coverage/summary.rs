//! What the data sets say together: how often intervals hold, parameter by parameter and noise by noise.

use serde::{Deserialize, Serialize};

use super::{CoveragePlan, DataSet, Estimate, RankHistogram};
use crate::numeric::statistics::share_interval;

/// The contents of `coverage.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Coverage {
    /// All data are.
    pub synthetic: bool,
    pub plan: CoveragePlan,
    /// In the order of the plan.
    pub noises: Vec<NoiseCoverage>,
    /// How it was run; the only part that differs between two equal runs.
    pub run: CoverageRun,
    /// Every data set, noise by noise.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sets: Vec<DataSet>,
}

/// How a study was run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct CoverageRun {
    pub version: String,
    pub device: String,
    pub command: String,
    /// Time of this run \[s\]; less than the whole when it went on with another.
    pub seconds: f64,
}

/// All data sets of one noise.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct NoiseCoverage {
    pub noise_deg: f64,
    pub sets: usize,
    /// Data sets whose fit failed.
    pub failed: usize,
    /// Data sets whose fit has a larger χ² than the truth: the search has not found the optimum.
    pub above_truth: usize,
    /// Intervals of identified parameters that leave the truth out although all of the truth together has a χ² within that of
    /// a 95 % interval: the profile has not found its minimum there.
    pub stuck_profiles: usize,
    /// Data sets whose fit is called a misfit.
    pub misfits: usize,
    /// A line a parameter.
    pub parameters: Vec<ParameterCoverage>,
    /// All parameters together, without ranks.
    pub total: ParameterCoverage,
}

/// How often the intervals of a parameter hold.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct ParameterCoverage {
    pub name: String,
    /// Data sets in which it was fitted.
    pub fitted: usize,
    /// Data sets in which it is called identified.
    pub identified: usize,
    /// Of these, how often its interval holds the truth.
    pub holds: usize,
    /// Of these, how often the truth is below the interval.
    pub truth_below: usize,
    /// Of these, how often the truth is above the interval.
    pub truth_above: usize,
    /// Of these, how often the value is off by more than a factor of two.
    pub off_by_two: usize,
    /// `holds` over `identified`; none where it is never identified.
    pub share: Option<f64>,
    /// 95 % interval of the share (Wilson).
    pub share_ci95: Option<[f64; 2]>,
    /// Ranks of the truth in the bootstraps in which it is identified.
    pub ranks: Option<RankHistogram>,
}

impl Coverage {
    /// Of data sets in any order.
    pub(crate) fn new(plan: &CoveragePlan, mut sets: Vec<DataSet>, run: CoverageRun) -> Coverage {
        let place = |set: &DataSet| plan.noise_deg.iter().position(|n| *n == set.noise_deg);
        sets.sort_by_key(|set| (place(set), set.law));
        let noise = |noise: &f64| {
            let of_noise = sets.iter().filter(|set| set.noise_deg == *noise);
            NoiseCoverage::of(*noise, &of_noise.collect::<Vec<_>>())
        };
        Coverage {
            synthetic: true,
            plan: plan.clone(),
            noises: plan.noise_deg.iter().map(noise).collect(),
            run,
            sets,
        }
    }

    /// The same without its data sets.
    pub(crate) fn without_sets(&self) -> Coverage {
        Coverage {
            sets: Vec::new(),
            ..self.clone()
        }
    }
}

/// A χ² may be this much larger than that of the truth by rounding.
const ROUNDING: f64 = 1e-6;

impl NoiseCoverage {
    fn of(noise_deg: f64, sets: &[&DataSet]) -> NoiseCoverage {
        let mut names: Vec<&str> = Vec::new();
        let all = || sets.iter().flat_map(|set| &set.estimates);
        for estimate in all() {
            if !names.contains(&estimate.name.as_str()) {
                names.push(&estimate.name);
            }
        }
        let line = |name: &&str| {
            let own: Vec<&Estimate> = all().filter(|e| e.name == *name).collect();
            ParameterCoverage {
                ranks: RankHistogram::of(own.iter().copied().filter(|e| e.identified)),
                ..ParameterCoverage::of(name, &own)
            }
        };
        let count = |wanted: fn(&DataSet) -> bool| sets.iter().filter(|s| wanted(s)).count();
        NoiseCoverage {
            noise_deg,
            sets: sets.len(),
            failed: count(|set| set.chi2.is_none()),
            above_truth: count(|set| set.chi2.is_some_and(|c| c > set.truth_chi2 + ROUNDING)),
            stuck_profiles: sets.iter().map(|set| set.stuck_profiles()).sum(),
            misfits: count(|set| set.verdict.starts_with("misfit")),
            parameters: names.iter().map(line).collect(),
            total: ParameterCoverage::of("all", &all().collect::<Vec<_>>()),
        }
    }
}

impl ParameterCoverage {
    fn of(name: &str, estimates: &[&Estimate]) -> ParameterCoverage {
        let count = |wanted: fn(&Estimate) -> bool| {
            let identified = estimates.iter().filter(|e| e.identified);
            identified.filter(|e| wanted(e)).count()
        };
        let (identified, holds) = (count(|_| true), count(Estimate::holds));
        let any = identified > 0;
        ParameterCoverage {
            name: name.into(),
            fitted: estimates.len(),
            identified,
            holds,
            truth_below: count(Estimate::below),
            truth_above: count(Estimate::above),
            off_by_two: count(Estimate::off),
            share: any.then(|| holds as f64 / identified as f64),
            share_ci95: any.then(|| share_interval(holds, identified)),
            ranks: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn estimate(truth: f64, ci95: [Option<f64>; 2], identified: bool) -> Estimate {
        Estimate {
            name: "flow_time".into(),
            truth,
            best: 10.0,
            std_error: None,
            ci95,
            identified,
            verdict: String::new(),
            rank: Some((3, 9)),
        }
    }

    /// Each kind of interval is counted where it belongs, and what is not identified is not counted.
    #[test]
    fn intervals_are_counted() {
        let ends = [Some(8.0), Some(13.0)];
        let set = |law: usize, chi2: Option<f64>, estimates: Vec<Estimate>| DataSet {
            law,
            noise_deg: 2.0,
            truth_chi2: 40.0,
            chi2,
            verdict: "the law follows the data".into(),
            estimates,
        };
        let sets = vec![
            set(
                5,
                Some(39.0),
                vec![estimate(30.0, [Some(8.0), None], false)],
            ),
            set(1, Some(41.0), vec![estimate(9.0, ends, true)]),
            set(2, Some(39.0), vec![estimate(7.0, ends, true)]),
            set(3, Some(39.0), vec![estimate(21.0, ends, true)]),
            set(4, None, Vec::new()),
        ];
        let plan = CoveragePlan {
            laws: 5,
            noise_deg: vec![2.0],
            refits: Some(9),
            starts: 16,
            seed: 1,
            material: None,
        };
        let run = CoverageRun {
            version: String::new(),
            device: String::new(),
            command: String::new(),
            seconds: 0.0,
        };
        let found = Coverage::new(&plan, sets, run);
        assert!(found.sets.iter().map(|s| s.law).eq(1..=5));
        let noise = &found.noises[0];
        assert_eq!((noise.sets, noise.failed, noise.above_truth), (5, 1, 1));
        // The fits of laws 2 and 3 are 1 below the truth, which their intervals leave out.
        assert_eq!(noise.stuck_profiles, 2);
        let p = &noise.parameters[0];
        assert_eq!((p.fitted, p.identified, p.holds), (4, 3, 1));
        assert_eq!((p.truth_below, p.truth_above, p.off_by_two), (1, 1, 1));
        assert_eq!(p.share, Some(1.0 / 3.0));
        assert_eq!(p.ranks.as_ref().map(|r| r.sets), Some(3));
        assert!(found.without_sets().sets.is_empty());
    }
}
