//! `rumple learn ablate`

mod runs;
mod tables;

use std::path::{Path, PathBuf};

use clap::Args;
use serde::Serialize;

use self::tables::{blocks, errors};
use super::{
    compute,
    evaluate::{LONG, REFERENCES, Request},
    out_folder, read_case,
};
use crate::{
    cli::{Common, print, print_json, say},
    error::{Error, Result, bad_input},
    files::write_whole,
    learn::{
        LearnCase,
        ablate::{CASE, Variant, ZERO, choose, home},
        evaluate::{ELASTIC, Evaluation, MEAN, REFERENCE, References, method},
        metrics::Metrics,
        run::rows,
    },
    numeric::Compute,
    report,
};

/// Train variants that differ from a case in one thing, and judge them side by side
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// A case (`rumple schema learn`) [default: the arm scene at the small size]
    #[arg(value_name = "CASE.json")]
    case: Option<PathBuf>,
    /// Folder of the runs; the same command goes on with what was stopped [default: the case's file name and
    /// -ablations, here]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// case, zero, graph1 to graph3, rnn, lstm, yield30, yield60, yield90, cycles1 to cycles6, regression,
    /// crease_regression, regressions (both), once, gradient, printed [default: all]
    #[arg(long, value_delimiter = ',', value_name = "NAME,…")]
    only: Vec<String>,
    /// Train each with these seeds, and give the spread [default: that of the case]
    #[arg(long, value_delimiter = ',', value_name = "N,…")]
    seeds: Vec<u64>,
}

/// One variant with one seed.
#[derive(Debug, Clone, Default, Serialize)]
struct Row {
    name: String,
    about: String,
    seed: u64,
    cycles: usize,
    /// On the canonical bend.
    bend: Metrics,
    /// The same of the elastic simulation.
    bend_elastic: Metrics,
    /// Mean over the unseen motions.
    mean: Metrics,
    /// The same of the elastic simulation.
    mean_elastic: Metrics,
    /// Mean of the tenth with the largest |ε| before the canonical bend \[rad\].
    wrinkles_before: f64,
    /// The same after it.
    wrinkles_after: f64,
    /// Mean |ε_p| after the canonical bend \[rad\].
    after: f64,
    /// The same of the reference.
    after_reference: f64,
    /// Largest |ε_p| that a body leaves which never moves \[rad\].
    control: f64,
    /// Largest error of ε_p along the canonical bend, over frames and hinges \[rad\].
    largest_plastic_error: f64,
    /// Numbers that E-Net has learned.
    elastic_parameters: usize,
    /// Numbers that P-Net has learned; none without it.
    plastic_parameters: usize,
    /// Time of both networks for a frame of the canonical bend \[s\].
    seconds_a_frame: f64,
}

pub(crate) fn run(common: &Common, arguments: &Arguments) -> Result<()> {
    let compute = compute(common)?;
    let case = read_case(common, arguments.case.as_deref())?;
    let folder = out_folder(&arguments.out, arguments.case.as_deref(), "ablations");
    let seeds = seeds(&arguments.seeds, case.seed)?;
    let mut chosen: Vec<(u64, Vec<Variant>)> = Vec::new();
    for seed in seeds {
        let case = LearnCase {
            seed,
            ..case.clone()
        };
        chosen.push((seed, choose(&case, &arguments.only)?));
    }
    let bench = Bench {
        references: References::new(&folder.join(REFERENCES)),
        folder,
        compute,
    };
    let trained = runs::trained(&bench.folder, &chosen, &bench.compute)?;
    let (mut rows, mut failed) = (Vec::new(), Vec::new());
    for (seed, variants) in &chosen {
        let why = |home: &str| {
            trained
                .iter()
                .find(|run| run.is(home, *seed))?
                .failed
                .clone()
        };
        let judged = variants.iter().filter(|v| why(&v.home).is_none());
        let judged: Vec<&Variant> = judged.collect();
        for variant in variants {
            let outcome = match why(&variant.home) {
                Some(why) => Err(Error::BadInput(why)),
                None => bench.judge(variant, &judged, *seed),
            };
            match outcome {
                Ok(row) => rows.push(row),
                // Others may still do well.
                Err(Error::BadInput(why)) => {
                    failed.push(format!("{} seed {seed}: {why}", variant.name));
                }
                Err(other) => return Err(other),
            }
        }
    }
    report(common, &bench.folder, &rows, &failed)
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

/// Writes and prints what was found; what failed makes the command fail, after everything else.
fn report(common: &Common, folder: &Path, rows: &[Row], failed: &[String]) -> Result<()> {
    if !rows.is_empty() {
        write(folder, rows, failed)
            .map_err(|e| e.with_remedy("the runs are kept, and the same command goes on"))?;
        match common.json {
            true => print_json(&serde_json::to_value(rows).unwrap_or_default())?,
            false => print(&blocks(rows).map(|b| b.text()).concat())?,
        }
        say(&format!(
            "results: {} (ablations.md, ablations.csv, ablations.json, ablations.svg, a folder a run, evaluations with pictures)",
            folder.display()
        ));
    }
    match failed {
        [] => Ok(()),
        failed => Err(Error::CheckFailed(format!(
            "{} of {} ablations failed:\n{}",
            failed.len(),
            failed.len() + rows.len(),
            failed.join("\n")
        ))),
    }
}

/// Where variants are trained and judged.
struct Bench {
    folder: PathBuf,
    references: References,
    compute: Compute,
}

impl Bench {
    fn home(&self, variant: &Variant, seed: u64) -> PathBuf {
        home(&self.folder, variant, seed)
    }

    /// Judges the networks after the variant's cycles; the case itself beside the one without rest bending, and for long.
    fn judge(&self, variant: &Variant, trained: &[&Variant], seed: u64) -> Result<Row> {
        let is_case = variant.name == CASE;
        let zero = trained.iter().find(|v| v.name == ZERO && is_case);
        let zero = zero.map(|v| self.home(v, seed));
        let name = format!("{}-seed{seed}", variant.name);
        let request = Request {
            folder: &self.home(variant, seed),
            out: &self.folder.join("evaluations").join(name),
            baseline: zero.as_deref(),
            cycle: Some(variant.case.cycles),
            frames: is_case.then_some(LONG),
            long_reference: false,
        };
        let evaluation = request.judge(&self.references, &self.compute)?;
        Ok(row(variant, &evaluation))
    }
}

fn row(variant: &Variant, evaluation: &Evaluation) -> Row {
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
    Row {
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

fn write(folder: &Path, rows: &[Row], failed: &[String]) -> Result<()> {
    let put = |name: &str, text: String| write_whole(&folder.join(name), text.as_bytes());
    let tables = blocks(rows).map(|b| b.markdown()).concat();
    let mut text = format!("# Ablations on synthetic data\n\n{tables}");
    for why in failed {
        text += &format!("Failed: {why}\n");
    }
    put("ablations.md", text)?;
    put("ablations.csv", rows::table(rows)?)?;
    report::learn::ablations::picture(&errors(rows)).save(&folder.join("ablations.svg"))?;
    let json = serde_json::json!({ "synthetic": true, "rows": rows, "failed": failed });
    put("ablations.json", format!("{json:#}\n"))
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
