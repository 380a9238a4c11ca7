//! `rumple learn ablate`

use std::path::{Path, PathBuf};

use clap::Args;
use serde::Serialize;

use super::{
    compute,
    evaluate::{REFERENCES, Request},
    out_folder, pictures, read_case,
    table::{Block, digits, names, values},
    train::teach,
};
use crate::{
    cli::{Common, print, print_json, say},
    error::{Error, Result},
    files::write_whole,
    learn::{
        LearnCase,
        ablate::{Variant, choose},
        evaluate::{ELASTIC, Evaluation, MEAN, REFERENCE, References, method},
        metrics::Metrics,
        run::{Run, rows},
    },
    numeric::Compute,
    report::learn_ablations::{self, VariantErrors},
};

/// Train variants that differ from a case in one thing, and judge them side by side
#[derive(Debug, Args)]
pub struct Arguments {
    /// A case (`rumple schema learn`) [default: the arm scene at the small size]
    #[arg(value_name = "CASE.json")]
    case: Option<PathBuf>,
    /// Folder of the runs; the same command goes on with what was stopped [default: the case's file name and
    /// -ablations, here]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// case, zero, graph1 to graph3, rnn, lstm, yield30, yield60, yield90, cycles1 to cycles6, regression,
    /// crease_regression, printed [default: all]
    #[arg(long, value_delimiter = ',', value_name = "NAME,…")]
    only: Vec<String>,
    /// Train each with these seeds, and give the spread [default: that of the case]
    #[arg(long, value_delimiter = ',', value_name = "N,…")]
    seeds: Vec<u64>,
}

/// One variant with one seed.
#[derive(Debug, Clone, Serialize)]
struct Row {
    name: String,
    about: String,
    seed: u64,
    cycles: usize,
    /// Mean over the unseen motions.
    metrics: Metrics,
    /// The same of the elastic simulation.
    elastic: Metrics,
    /// Mean |ε_p| after the canonical bend \[rad\].
    after: f64,
    /// The same of the reference.
    after_reference: f64,
    /// Largest |ε_p| that a body leaves which never moves \[rad\].
    control: f64,
}

pub fn run(common: &Common, arguments: &Arguments) -> Result<()> {
    let compute = compute(common)?;
    let case = read_case(common, arguments.case.as_deref())?;
    let folder = out_folder(&arguments.out, arguments.case.as_deref(), "ablations");
    let seeds = match arguments.seeds.is_empty() {
        true => vec![case.seed],
        false => arguments.seeds.clone(),
    };
    let mut chosen: Vec<(u64, Vec<Variant>)> = Vec::new();
    for seed in seeds {
        let case = LearnCase {
            seed,
            ..case.clone()
        };
        chosen.push((seed, choose(&case, &arguments.only)?));
    }
    let count: usize = chosen.iter().map(|(_, variants)| variants.len()).sum();
    let bench = Bench {
        references: References::new(&folder.join(REFERENCES)),
        folder,
        compute,
    };
    let (mut rows, mut failed) = (Vec::new(), Vec::new());
    for (seed, variants) in &chosen {
        for variant in variants {
            let number = rows.len() + failed.len() + 1;
            let name = format!("{} seed {seed}", variant.name);
            let run = bench.open(variant, variants, *seed)?;
            match bench.judge(run, variant, &format!("{number} of {count}: {name}  ")) {
                Ok(row) => rows.push(row),
                // Others may still do well.
                Err(Error::BadInput(why)) => failed.push(format!("{name}: {why}")),
                Err(other) => return Err(other),
            }
        }
    }
    report(common, &bench.folder, &rows, &failed)
}

/// Writes and prints what was found; what failed makes the command fail, after everything else.
fn report(common: &Common, folder: &Path, rows: &[Row], failed: &[String]) -> Result<()> {
    if !rows.is_empty() {
        write(folder, rows, failed)
            .map_err(|e| e.with_remedy("the runs are kept, and the same command goes on"))?;
        match common.json {
            true => print_json(&serde_json::to_value(rows).unwrap_or_default())?,
            false => print(&block(rows).text())?,
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
    /// Opens the run that a variant shares with others, for as many cycles as any of them wants.
    fn open(&self, variant: &Variant, all: &[Variant], seed: u64) -> Result<Run> {
        let sharing = all.iter().filter(|v| v.home == variant.home);
        let cycles = sharing.map(|v| v.case.cycles).max();
        let case = LearnCase {
            cycles: cycles.unwrap_or(variant.case.cycles),
            ..variant.case.clone()
        };
        let home = self.folder.join(format!("{}-seed{seed}", variant.home));
        Run::open(&home, &case, &self.compute, false)
    }

    /// Trains what is left of a run, and judges the networks after the variant's cycles.
    fn judge(&self, mut run: Run, variant: &Variant, label: &str) -> Result<Row> {
        teach(&mut run, label)?;
        let (home, case) = (run.folder.clone(), run.course.case.clone());
        drop(run);
        pictures::of_run(&home, &case)?;
        let name = format!("{}-seed{}", variant.name, case.seed);
        let request = Request {
            folder: &home,
            out: &self.folder.join("evaluations").join(name),
            baseline: None,
            cycle: Some(variant.case.cycles),
            frames: None,
        };
        let (evaluation, _) = request.judge(&self.references, &self.compute)?;
        Ok(row(variant, &evaluation))
    }
}

fn row(variant: &Variant, evaluation: &Evaluation) -> Row {
    let own = method(&evaluation.case);
    let score = |method: &str| evaluation.score(method, MEAN).copied().unwrap_or_default();
    let first = evaluation.bent.first().map(|b| b.motion.clone());
    let after = |method: &str| {
        let mut bent = evaluation.bent.iter();
        let found = bent.find(|b| {
            Some(&b.motion) == first.as_ref() && b.method == method && b.moment == "after"
        });
        found.map_or(f64::NAN, |b| b.rest_bending)
    };
    let mut control = evaluation.control.iter();
    let control = control.find(|c| c.method == own);
    Row {
        name: variant.name.clone(),
        about: variant.about.clone(),
        seed: evaluation.case.seed,
        cycles: evaluation.cycles,
        metrics: score(own),
        elastic: score(ELASTIC),
        after: after(own),
        after_reference: after(REFERENCE),
        control: control.map_or(f64::NAN, |c| c.largest_rest_bending),
    }
}

fn write(folder: &Path, rows: &[Row], failed: &[String]) -> Result<()> {
    let put = |name: &str, text: String| write_whole(&folder.join(name), text.as_bytes());
    let mut text = format!(
        "# Ablations on synthetic data\n\n{}",
        block(rows).markdown()
    );
    for why in failed {
        text += &format!("Failed: {why}\n");
    }
    put("ablations.md", text)?;
    put("ablations.csv", rows::table(rows)?)?;
    learn_ablations::picture(&errors(rows)).save(&folder.join("ablations.svg"))?;
    let json = serde_json::json!({ "synthetic": true, "rows": rows, "failed": failed });
    put("ablations.json", format!("{json:#}\n"))
}

/// Plastic errors of every variant, in the order of the rows.
fn errors(rows: &[Row]) -> Vec<VariantErrors> {
    let mut all: Vec<VariantErrors> = Vec::new();
    for row in rows {
        let known = all.iter().position(|v| v.name == row.name);
        let at = known.unwrap_or_else(|| {
            all.push(VariantErrors {
                name: row.name.clone(),
                errors: Vec::new(),
                zero: Vec::new(),
            });
            all.len() - 1
        });
        all[at].errors.push(row.metrics.plastic_error);
        all[at].zero.push(row.elastic.plastic_error);
    }
    all
}

/// A row a variant: means over the seeds, and where there are several their standard deviation.
fn block(rows: &[Row]) -> Block {
    let mut header = vec!["ablation".to_string()];
    header.extend(names());
    header.extend(
        [
            "PE below elastic",
            "mean |ε_p| after 90° rad",
            "reference",
            "control rad",
        ]
        .map(String::from),
    );
    let mut named: Vec<&str> = Vec::new();
    for row in rows {
        if !named.contains(&row.name.as_str()) {
            named.push(&row.name);
        }
    }
    let line = |name: &str| {
        let of: Vec<&Row> = rows.iter().filter(|r| r.name == name).collect();
        let over =
            |pick: &dyn Fn(&Row) -> f64| spread(&of.iter().map(|r| pick(r)).collect::<Vec<_>>());
        let mut cells = vec![name.to_string()];
        cells.extend((0..names().len()).map(|k| over(&|r| values(&r.metrics)[k])));
        cells.push(
            over(&|r| 100.0 * (1.0 - r.metrics.plastic_error / r.elastic.plastic_error)) + " %",
        );
        cells.push(over(&|r| r.after));
        cells.push(over(&|r| r.after_reference));
        cells.push(over(&|r| r.control));
        cells
    };
    let mut seeds: Vec<u64> = rows.iter().map(|r| r.seed).collect();
    seeds.sort_unstable();
    seeds.dedup();
    let seeds: Vec<String> = seeds.iter().map(u64::to_string).collect();
    Block {
        title: format!(
            "Mean of the unseen motions, against the reference simulation of the same yield strain; synthetic, lower is \
             better; seeds {}{}.",
            seeds.join(", "),
            match seeds.len() {
                1 => "",
                _ => ", mean ± standard deviation over them",
            }
        ),
        header,
        rows: named.into_iter().map(line).collect(),
    }
}

fn spread(values: &[f64]) -> String {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    if values.len() < 2 {
        return digits(mean);
    }
    let squares: f64 = values.iter().map(|v| (v - mean) * (v - mean)).sum();
    let deviation = (squares / (count - 1.0)).sqrt();
    format!("{} ± {}", digits(mean), digits(deviation))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_spread_is_that_of_a_sample() {
        assert_eq!(spread(&[2.0]), "2.00");
        assert_eq!(spread(&[1.0, 2.0, 3.0]), "2.00 ± 1.00");
    }
}
