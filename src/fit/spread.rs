//! Fits with equal yarns and with populations of yarns side by side, and which of them the data prefer.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::{
    case::{Case, Free, Role},
    folder::{FitFolder, FitJob, begun_job, copy_fit, finished, save},
    result::{FitResult, ParameterResult},
};
use crate::{
    error::{Error, Result, bad_input},
    material::{LawName, parameter},
    numeric::Compute,
    study::{Folder, JOURNAL, Watcher},
};

/// AIC differences below this do not choose between laws, as in `rumple compare`.
const NO_CHOICE: f64 = 2.0;

/// A law that is tried.
struct Trial {
    /// Folder of its fit, inside that of the job.
    folder: &'static str,
    what: &'static str,
    /// Spreads that are looked for.
    spreads: fn() -> Vec<String>,
}

/// What is tried, the papers' law first.
const TRIALS: [Trial; 4] = [
    Trial {
        folder: "equal-yarns",
        what: "equal yarns",
        spreads: Vec::new,
    },
    Trial {
        folder: "threshold-spread",
        what: "a spread of the friction thresholds",
        spreads: || vec![parameter::friction_threshold_spread().name],
    },
    Trial {
        folder: "flow-time-spread",
        what: "a spread of the flow times",
        spreads: || vec![parameter::flow_time_spread().name],
    },
    Trial {
        folder: "all-spreads",
        what: "spreads of the thresholds and of both times",
        spreads: || parameter::spreads().map(|spread| spread.name).to_vec(),
    },
];

/// Fits of the same data with and without a population of yarns.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SpreadComparison {
    /// The papers' law first.
    pub fits: Vec<SpreadFit>,
    /// Place of the one with the lowest AIC.
    pub preferred: usize,
    /// What the data say, in a sentence.
    pub verdict: String,
}

/// One of the fits.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SpreadFit {
    /// What its yarns are, such as `equal yarns`.
    pub what: String,
    /// Its folder, inside that of the result.
    pub folder: String,
    /// Free parameters.
    pub free: usize,
    pub chi2: f64,
    pub aic: f64,
}

impl SpreadComparison {
    /// Of the results in the order of [`TRIALS`]. Of fits with the same AIC the first is preferred.
    fn of(results: &[FitResult]) -> SpreadComparison {
        let fit = |(trial, result): (&Trial, &FitResult)| SpreadFit {
            what: trial.what.into(),
            folder: trial.folder.into(),
            free: result.statistics.free,
            chi2: result.statistics.chi2,
            aic: result.statistics.aic,
        };
        let fits: Vec<SpreadFit> = TRIALS.iter().zip(results).map(fit).collect();
        let by_aic = |a: &usize, b: &usize| fits[*a].aic.total_cmp(&fits[*b].aic);
        let preferred = (0..fits.len()).min_by(by_aic).unwrap_or(0);
        let verdict = verdict(&fits, preferred);
        SpreadComparison {
            fits,
            preferred,
            verdict,
        }
    }
}

#[cfg(test)]
impl SpreadComparison {
    /// For reports in tests.
    pub(crate) fn sample() -> SpreadComparison {
        let fit = |(trial, aic): (&Trial, f64)| SpreadFit {
            what: trial.what.into(),
            folder: trial.folder.into(),
            free: 8,
            chi2: aic - 16.0,
            aic,
        };
        let fits: Vec<SpreadFit> = TRIALS
            .iter()
            .zip([410.0, 157.0, 212.0, 161.0])
            .map(fit)
            .collect();
        SpreadComparison {
            verdict: verdict(&fits, 1),
            fits,
            preferred: 1,
        }
    }
}

fn verdict(fits: &[SpreadFit], preferred: usize) -> String {
    let (equal, best) = (&fits[0], &fits[preferred]);
    let by = equal.aic - best.aic;
    if preferred == 0 {
        let next = fits[1..].iter().map(|fit| fit.aic - equal.aic);
        let next = next.fold(f64::INFINITY, f64::min);
        return match next < NO_CHOICE {
            true => format!(
                "the data cannot tell whether yarns differ: a spread changes the AIC by {next:.1}, and equal yarns are simpler"
            ),
            false => format!(
                "equal yarns are preferred: every spread raises the AIC, by {next:.1} at least"
            ),
        };
    }
    match by < NO_CHOICE {
        true => format!(
            "the data hardly tell whether yarns differ: with {} the AIC is lower by {by:.1} only",
            best.what
        ),
        false => format!(
            "a population is preferred: with {} the AIC is lower by {by:.1} ({:.1} instead of {:.1})",
            best.what, best.aic, equal.aic
        ),
    }
}

impl Trial {
    fn of(&self, case: &Case) -> Case {
        let mut case = case.clone();
        let free = (self.spreads)().into_iter();
        let free = free.map(|name| (name, Role::Free(Free::default())));
        case.parameters.extend(free);
        case
    }
}

/// A spread with which yarns are nearly equal, and which still changes the readings.
const SMALL_SPREAD: f64 = 0.1;

/// Gives the first start of a case with several spreads the end of the best fit with one, so that the more general
/// law does not end above the special one. The spreads that the special one lacks begin small. A start belongs to all
/// groups, so parameters that each group has for itself get none.
fn begin_at(case: &mut Case, best: &[ParameterResult]) {
    let spreads = parameter::spreads().map(|spread| spread.name);
    let looked_for = spreads.iter().filter(|name| case.role(name).is_some());
    if looked_for.count() < 2 {
        return;
    }
    for found in best.iter().filter(|p| p.free) {
        // The scale of a search rounds its ends, and one parameter is searched by its distance above another.
        let start = match found.bounds {
            Some([low, high]) => found.best.clamp(low, high),
            None => found.best,
        };
        begin(case, &found.name, start);
    }
    for name in &spreads {
        if case.role(name).is_some() {
            begin(case, name, SMALL_SPREAD);
        }
    }
}

/// Gives a free parameter its first start, unless it has one.
fn begin(case: &mut Case, name: &str, start: f64) {
    match case.parameters.iter_mut().find(|(known, _)| known == name) {
        Some((_, Role::Free(free))) => free.start = free.start.or(Some(start)),
        Some(_) => {}
        // A name such as `yield_strain[weft]` is no parameter of the case.
        None if name.contains('[') => {}
        None => {
            let free = Free {
                start: Some(start),
                ..Free::default()
            };
            case.parameters.push((name.into(), Role::Free(free)));
        }
    }
}

impl FitJob {
    /// Fits with equal yarns, with a spread of the friction thresholds, with a spread of the flow times, and with
    /// all three spreads. Each fit has a folder inside `folder`. `folder` itself then holds the fit with the lowest AIC,
    /// and its [`FitResult::spread`] says what the others came to. The same call goes on with fits that were stopped.
    ///
    /// # Errors
    /// As [`FitJob::run`]; [`Error::BadInput`] for a case of another law, a case that says itself what is done with
    /// spreads, and a share of the starts.
    pub fn run_with_spreads(&self, folder: &Path, watch: &mut Watcher) -> Result<FitResult> {
        self.check_spreads()?;
        let home = Folder::new(folder);
        if home.has(JOURNAL) && !begun(folder) {
            return home.refuse("there is a fit without spreads in it; give another --out");
        }
        let mut results = Vec::new();
        for trial in &TRIALS {
            let mut job = self.clone();
            job.measurements.case = trial.of(&self.measurements.case);
            let chi2 = |result: &&FitResult| result.statistics.chi2;
            if let Some(best) = results.iter().min_by(|a, b| chi2(a).total_cmp(&chi2(b))) {
                begin_at(&mut job.measurements.case, &best.parameters);
            }
            let path = home.file(trial.folder);
            let opened = FitFolder::begin(&job, &path)?;
            let result = match finished(&path) {
                Ok(result) => Some(result),
                Err(_) => opened.run(watch).map_err(|e| stopped(e, folder))?,
            };
            match result {
                Some(result) if !result.interrupted => results.push(result),
                _ => return Err(stopped(Error::Interrupted(String::new()), folder)),
            }
        }
        let comparison = SpreadComparison::of(&results);
        let chosen = &TRIALS[comparison.preferred];
        copy_fit(&home.inner(chosen.folder), &home)?;
        // A bootstrap or finer profiles that were made since are kept.
        let chosen = finished(folder)?;
        let result = FitResult {
            spread: Some(comparison),
            ..chosen
        };
        save(folder, result)
    }

    fn check_spreads(&self) -> Result<()> {
        let case = &self.measurements.case;
        if !self.shard.is_whole() {
            return bad_input(
                "fits with and without spreads cannot be cut into shards; name the spreads in the case, and fit each case by itself",
            );
        }
        if case.law != LawName::TimeDependent {
            return bad_input(format!(
                "spreads over the yarns need the law time_dependent, not {}",
                case.law.name()
            ));
        }
        let named = parameter::spreads()
            .into_iter()
            .find(|s| case.role(&s.name).is_some());
        match named {
            Some(spread) => bad_input(format!(
                "case '{}' says itself what is done with {}; remove it from its parameters, or fit the case as it is",
                case.name, spread.name
            )),
            None => Ok(()),
        }
    }
}

/// An interruption that says how to go on with all of the fits.
fn stopped(error: Error, folder: &Path) -> Error {
    match error {
        Error::Interrupted(_) => Error::Interrupted(format!(
            "interrupted; `rumple fit --resume {}` goes on",
            folder.display()
        )),
        other => other,
    }
}

/// Whether fits with and without spreads were begun in a folder.
pub(crate) fn begun(folder: &Path) -> bool {
    Folder::new(folder.join(TRIALS[0].folder)).has(JOURNAL)
}

/// The job whose fits were begun in a folder.
pub(crate) fn job_of(folder: &Path, compute: &Compute) -> Result<FitJob> {
    begun_job(&folder.join(TRIALS[0].folder), compute)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fits(aics: [f64; 4]) -> Vec<SpreadFit> {
        let fit = |(trial, aic): (&Trial, f64)| SpreadFit {
            what: trial.what.into(),
            folder: trial.folder.into(),
            free: 8,
            chi2: aic - 16.0,
            aic,
        };
        TRIALS.iter().zip(aics).map(fit).collect()
    }

    #[test]
    fn the_verdict_says_which_law_the_data_prefer() {
        for (aics, preferred, said) in [
            (
                [410.0, 157.0, 212.0, 150.0],
                3,
                "a population is preferred: with spreads of the thresholds and of both times the AIC",
            ),
            (
                [410.0, 157.0, 212.0, 161.0],
                1,
                "the AIC is lower by 253.0 (157.0 instead of 410.0)",
            ),
            ([40.0, 39.0, 43.0, 43.0], 1, "the data hardly tell"),
            (
                [40.0, 41.9, 43.0, 46.0],
                0,
                "the data cannot tell whether yarns differ: a spread changes the AIC by 1.9",
            ),
            ([40.0, 43.0, 43.0, 46.0], 0, "equal yarns are preferred"),
        ] {
            let text = verdict(&fits(aics), preferred);
            assert!(text.contains(said), "{text}");
        }
    }

    fn found(name: &str, best: f64, bounds: Option<[f64; 2]>) -> ParameterResult {
        ParameterResult {
            name: name.into(),
            symbol: String::new(),
            unit: String::new(),
            value: None,
            best,
            std_error: None,
            ci95: [None, None],
            verdict: String::new(),
            free: bounds.is_some(),
            start: None,
            bounds,
            prior: None,
        }
    }

    /// All spreads begin where the best fit with one ended, inside the bounds, which rounding may have left.
    #[test]
    fn all_spreads_begin_at_the_best_fit_with_one() {
        let times = parameter::flow_time_spread().name;
        let best = [
            found("yield_strain", 300.0, Some([30.0, 7000.0])),
            found("flow_time", 1e6 * (1.0 + 1e-15), Some([0.1, 1e6])),
            found("bending_stiffness", 1e-5, None),
            found(&times, 1.5, Some([0.02, 3.0])),
        ];
        let start = |case: &Case, name: &str| match case.role(name) {
            Some(Role::Free(free)) => free.start,
            _ => None,
        };
        let case = r#"{"name": "test", "data": ["a.csv"]}"#;
        let case = Case::parse(case, "test case").unwrap();
        let mut all = TRIALS[3].of(&case);
        begin_at(&mut all, &best);
        assert_eq!(start(&all, "yield_strain"), Some(300.0));
        assert_eq!(start(&all, "flow_time"), Some(1e6));
        assert_eq!(start(&all, "bending_stiffness"), None);
        assert_eq!(start(&all, &times), Some(1.5));
        let other = parameter::friction_threshold_spread().name;
        assert_eq!(start(&all, &other), Some(SMALL_SPREAD));
        let mut one = TRIALS[1].of(&case);
        begin_at(&mut one, &best);
        assert_eq!(one, TRIALS[1].of(&case));
    }
}
