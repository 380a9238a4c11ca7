//! Variants that are trained, judged and set side by side.

use std::path::Path;

use serde::Serialize;
use serde_json::{Value, json};

use super::{
    CASE, Variant, ZERO, choose,
    train::{Watchers, home, train},
};
use crate::{
    error::{Error, Result, bad_input},
    learn::{
        LearnCase,
        evaluate::{
            ELASTIC, Evaluated, Evaluation, EvaluationOptions, LONG, MEAN, REFERENCE, method,
        },
        metrics::Metrics,
        run::rows,
    },
    numeric::Compute,
    study::Folder,
};

/// Which ablations.
#[derive(Debug, Clone, Default)]
pub(crate) struct AblationOptions {
    /// Names of variants; all where none is named.
    pub only: Vec<String>,
    /// Each variant is trained with each of these seeds; with that of the case where none is given.
    pub seeds: Vec<u64>,
}

/// Variants that were judged.
pub(crate) struct Ablations {
    /// A row a variant and seed.
    pub(crate) rows: Vec<AblationRow>,
    /// What failed, and why.
    pub failed: Vec<String>,
    folder: Folder,
}

/// One variant with one seed.
#[derive(Debug, Clone, Default, Serialize)]
pub(crate) struct AblationRow {
    pub name: String,
    pub about: String,
    pub seed: u64,
    pub cycles: usize,
    /// On the canonical bend.
    pub bend: Metrics,
    /// The same of the elastic simulation.
    pub bend_elastic: Metrics,
    /// Mean over the unseen motions.
    pub mean: Metrics,
    /// The same of the elastic simulation.
    pub mean_elastic: Metrics,
    /// Mean of the tenth with the largest |ε| before the canonical bend \[rad\].
    pub wrinkles_before: f64,
    /// The same after it.
    pub wrinkles_after: f64,
    /// Mean |ε_p| after the canonical bend \[rad\].
    pub after: f64,
    /// The same of the reference.
    pub after_reference: f64,
    /// Largest |ε_p| that a body leaves which never moves \[rad\].
    pub control: f64,
    /// Largest error of ε_p along the canonical bend, over frames and hinges \[rad\].
    pub largest_plastic_error: f64,
    /// Numbers that E-Net has learned.
    pub elastic_parameters: usize,
    /// Numbers that P-Net has learned; none without it.
    pub plastic_parameters: usize,
    /// Time of both networks for a frame of the canonical bend \[s\].
    pub seconds_a_frame: f64,
}

/// Said where tables cannot be written.
pub(crate) const REMEDY: &str = "the runs are kept, and the same command goes on";

/// Trains variants of a case that differ from it in one thing, and judges them side by side in a folder. The same call goes
/// on with what was stopped. A variant that fails is named in [`Ablations::failed`]; the others go on.
pub(crate) fn ablate(
    case: &LearnCase,
    folder: &Path,
    options: &AblationOptions,
    compute: &Compute,
    watchers: &Watchers,
) -> Result<Ablations> {
    let mut chosen: Vec<(u64, Vec<Variant>)> = Vec::new();
    for seed in seeds(&options.seeds, case.seed)? {
        let case = LearnCase {
            seed,
            ..case.clone()
        };
        chosen.push((seed, choose(&case, &options.only)?));
    }
    let trained = train(folder, &chosen, compute, watchers)?;
    let mut found = Ablations {
        rows: Vec::new(),
        failed: Vec::new(),
        folder: Folder::new(folder),
    };
    for (seed, variants) in &chosen {
        let why = |home: &str| {
            let mut runs = trained.iter();
            runs.find(|run| run.is(home, *seed))?.failed.clone()
        };
        let judged = variants.iter().filter(|v| why(&v.home).is_none());
        let judged: Vec<&Variant> = judged.collect();
        for variant in variants {
            let outcome = match why(&variant.home) {
                Some(why) => Err(Error::BadInput(why)),
                None => judge(&found.folder, variant, &judged, *seed, compute, watchers),
            };
            match outcome {
                Ok(row) => found.rows.push(row),
                // Others may still do well.
                Err(Error::BadInput(why)) => {
                    let name = &variant.name;
                    found.failed.push(format!("{name} seed {seed}: {why}"));
                }
                Err(other) => return Err(other),
            }
        }
    }
    found.write().map_err(|e| e.with_remedy(REMEDY))?;
    Ok(found)
}

/// The seeds that were asked for, or that of the case; one that is named twice would count twice in the spread.
fn seeds(asked: &[u64], of_case: u64) -> Result<Vec<u64>> {
    if asked.is_empty() {
        return Ok(vec![of_case]);
    }
    let mut again = asked.iter().enumerate();
    let again = again.find(|(k, seed)| asked[..*k].contains(seed));
    match again {
        Some((_, seed)) => bad_input(format!(
            "--seeds has {seed} more than once; give every seed once"
        )),
        None => Ok(asked.to_vec()),
    }
}

/// Judges the networks after the variant's cycles; the case itself beside the one without rest bending, and for long.
fn judge(
    folder: &Folder,
    variant: &Variant,
    trained: &[&Variant],
    seed: u64,
    compute: &Compute,
    watchers: &Watchers,
) -> Result<AblationRow> {
    let is_case = variant.name == CASE;
    let zero = trained.iter().find(|v| v.name == ZERO && is_case);
    let name = format!("{}-seed{seed}", variant.name);
    let options = EvaluationOptions {
        out: Some(folder.file("evaluations").join(name)),
        references: Some(folder.file("references")),
        baseline: zero.map(|v| home(folder.path(), v, seed)),
        cycle: Some(variant.case.cycles),
    };
    let run = home(folder.path(), variant, seed);
    let mut watch = (watchers.evaluation)();
    let mut found = Evaluated::judge(&run, &options, compute, &mut *watch)?;
    if is_case {
        found.roll_out(LONG, false, &mut *watch)?;
    }
    drop(watch);
    (watchers.judged)(&found)?;
    Ok(row(variant, &found.evaluation))
}

fn row(variant: &Variant, evaluation: &Evaluation) -> AblationRow {
    let own = method(&evaluation.case);
    let bend = evaluation.bent.first().map_or("", |b| b.motion.as_str());
    let score = |method: &str, motion: &str| {
        let found = evaluation.score(method, motion);
        found.copied().unwrap_or_default()
    };
    let bent = |method: &str, moment: &str| {
        let mut rows = evaluation.bent.iter();
        rows.find(|b| b.motion == bend && b.method == method && b.moment == moment)
    };
    let wrinkles = |moment: &str| bent(own, moment).map_or(f64::NAN, |b| b.top_tenth_strain);
    let after = |method: &str| bent(method, "after").map_or(f64::NAN, |b| b.rest_bending);
    let mut control = evaluation.control.iter();
    let control = control.find(|c| c.method == own);
    let [elastic_parameters, plastic_parameters] = evaluation.parameters;
    AblationRow {
        name: variant.name.clone(),
        about: variant.about.clone(),
        seed: evaluation.case.seed,
        cycles: evaluation.cycles,
        bend: score(own, bend),
        bend_elastic: score(ELASTIC, bend),
        mean: score(own, MEAN),
        mean_elastic: score(ELASTIC, MEAN),
        wrinkles_before: wrinkles("before"),
        wrinkles_after: wrinkles("after"),
        after: after(own),
        after_reference: after(REFERENCE),
        control: control.map_or(f64::NAN, |c| c.largest_rest_bending),
        largest_plastic_error: evaluation
            .largest_plastic_error(own, bend)
            .unwrap_or(f64::NAN),
        elastic_parameters,
        plastic_parameters,
        seconds_a_frame: evaluation.times.networks,
    }
}

impl Ablations {
    /// Where the results are.
    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The rows, as `ablations.json` has them.
    pub(crate) fn to_json(&self) -> Value {
        json!(self.rows)
    }

    /// An error that names all variants that failed.
    pub(crate) fn check(&self) -> Result<()> {
        let failed = &self.failed;
        match failed.len() {
            0 => Ok(()),
            count => Err(Error::CheckFailed(format!(
                "{count} of {} ablations failed:\n{}",
                count + self.rows.len(),
                failed.join("\n")
            ))),
        }
    }

    /// Nothing where all have failed.
    fn write(&self) -> Result<()> {
        if self.rows.is_empty() {
            return Ok(());
        }
        let text = rows::table(&self.rows)?;
        self.folder.write("ablations.csv", text.as_bytes())?;
        let json = json!({ "synthetic": true, "rows": self.rows, "failed": self.failed });
        let text = format!("{json:#}\n");
        self.folder.write("ablations.json", text.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_seed_is_given_once() {
        assert_eq!(seeds(&[], 7).unwrap(), [7]);
        assert_eq!(seeds(&[3, 1], 7).unwrap(), [3, 1]);
        let text = seeds(&[1, 2, 1], 7).unwrap_err().to_string();
        assert!(
            text.contains("--seeds has 1 more than once") && text.contains("once"),
            "{text}"
        );
    }
}
