//! `rumple learn ablate`

use std::{
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, AtomicUsize, Ordering},
};

use clap::Args;
use indicatif::MultiProgress;
use serde::Serialize;

use super::{
    compute,
    evaluate::{LONG, REFERENCES, Request},
    out_folder, pictures, read_case,
    table::{Block, below, digits, names, values},
    train::teach,
};
use crate::{
    cli::{Common, print, print_json, say},
    error::{Error, Result},
    files::write_whole,
    learn::{
        LearnCase,
        ablate::{CASE, Variant, ZERO, choose},
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
    let bench = Bench {
        references: References::new(&folder.join(REFERENCES)),
        folder,
        compute,
    };
    let trained = bench.train(&chosen)?;
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
        self.folder.join(format!("{}-seed{seed}", variant.home))
    }

    /// Trains what is left of all runs. E-Net's first turns come first, those that others can begin with; then as many runs
    /// side by side as there are threads, since a run alone cannot keep all of them busy.
    fn train(&self, chosen: &[(u64, Vec<Variant>)]) -> Result<Vec<Trained>> {
        let mut all: Vec<Trained> = Vec::new();
        for (seed, variants) in chosen {
            for variant in variants {
                if all.iter().any(|run| run.is(&variant.home, *seed)) {
                    continue;
                }
                let sharing = variants.iter().filter(|v| v.home == variant.home);
                let cycles = sharing.map(|v| v.case.cycles).max();
                let case = LearnCase {
                    cycles: cycles.unwrap_or(variant.case.cycles),
                    ..variant.case.clone()
                };
                let mut earlier = all.iter();
                let leader = earlier.find(|run| case.begins_as(&run.case));
                all.push(Trained {
                    leader: leader.map(|run| run.folder.clone()),
                    folder: self.home(variant, *seed),
                    home: variant.home.clone(),
                    label: format!("{}: {} seed {seed}  ", all.len() + 1, variant.name),
                    case,
                    failed: None,
                });
            }
        }
        let (leaders, others): (Vec<Trained>, Vec<Trained>) =
            all.into_iter().partition(|run| run.leader.is_none());
        let mut all = self.side_by_side(leaders, Run::has_first_turn)?;
        all.extend(others);
        self.side_by_side(all, Run::finished)
    }

    /// Trains runs until each has learned `enough`. One that cannot be trained says why; what ends the whole command, such as a
    /// full disk, stops the others too.
    fn side_by_side(&self, runs: Vec<Trained>, enough: fn(&Run) -> bool) -> Result<Vec<Trained>> {
        let threads = match self.compute.is_cpu() {
            true => rayon::current_num_threads().min(runs.len()),
            false => 1,
        };
        let bars = MultiProgress::new();
        let (next, over) = (AtomicUsize::new(0), AtomicBool::new(false));
        let enough = |run: &Run| over.load(Ordering::Relaxed) || enough(run);
        let worker = || {
            let mut done = Vec::new();
            while !over.load(Ordering::Relaxed) {
                let number = next.fetch_add(1, Ordering::Relaxed);
                let Some(run) = runs.get(number) else {
                    break;
                };
                let outcome = match run.failed {
                    Some(_) => Ok(()),
                    None => run.train(&enough, &bars, &self.compute),
                };
                let ends_all =
                    matches!(&outcome, Err(error) if !matches!(error, Error::BadInput(_)));
                over.fetch_or(ends_all, Ordering::Relaxed);
                done.push((number, outcome));
            }
            done
        };
        let outcomes = std::thread::scope(|scope| {
            let workers: Vec<_> = (0..threads).map(|_| scope.spawn(worker)).collect();
            let join = |worker: std::thread::ScopedJoinHandle<'_, _>| {
                worker
                    .join()
                    .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            };
            workers.into_iter().flat_map(join).collect::<Vec<_>>()
        });
        let mut runs = runs;
        let mut ends_all = None;
        for (number, outcome) in outcomes {
            match outcome {
                Ok(()) => (),
                Err(Error::BadInput(why)) => runs[number].failed = Some(why),
                // Ctrl-C says less than anything else that went wrong.
                Err(Error::Interrupted(why)) if ends_all.is_none() => {
                    ends_all = Some(Error::Interrupted(why));
                }
                Err(Error::Interrupted(_)) => (),
                Err(other) => ends_all = Some(other),
            }
        }
        ends_all.map_or(Ok(runs), Err)
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
        let (evaluation, _) = request.judge(&self.references, &self.compute)?;
        Ok(row(variant, &evaluation))
    }
}

/// A run, which variants that differ in the number of cycles share.
struct Trained {
    folder: PathBuf,
    /// Name of the first variant that is trained so.
    home: String,
    /// Of its bar.
    label: String,
    case: LearnCase,
    /// The folder whose first turn it begins with.
    leader: Option<PathBuf>,
    /// Why it could not be trained.
    failed: Option<String>,
}

impl Trained {
    fn is(&self, home: &str, seed: u64) -> bool {
        self.home == home && self.case.seed == seed
    }

    fn train(
        &self,
        enough: &dyn Fn(&Run) -> bool,
        bars: &MultiProgress,
        compute: &Compute,
    ) -> Result<()> {
        let mut run = Run::open(&self.folder, &self.case, compute, false)?;
        if let Some(leader) = &self.leader {
            run.begin_as(leader)?;
        }
        teach(&mut run, enough, bars, &self.label)?;
        match run.finished() {
            true => pictures::of_run(&self.folder, &self.case),
            false => Ok(()),
        }
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
        all[at].errors.push(row.mean.plastic_error);
        all[at].zero.push(row.mean_elastic.plastic_error);
    }
    all
}

/// Scores on the canonical bend and over all motions, and what stays.
fn blocks(rows: &[Row]) -> [Block; 3] {
    [
        scores(rows, "The unseen 90° bend", |r| (&r.bend, &r.bend_elastic)),
        scores(rows, "Mean of the unseen motions", |r| {
            (&r.mean, &r.mean_elastic)
        }),
        creases(rows),
    ]
}

/// Names of the variants in their order, each with its rows.
fn grouped(rows: &[Row]) -> Vec<(&str, Vec<&Row>)> {
    let mut groups: Vec<(&str, Vec<&Row>)> = Vec::new();
    for row in rows {
        match groups.iter_mut().find(|(name, _)| *name == row.name) {
            Some((_, group)) => group.push(row),
            None => groups.push((&row.name, vec![row])),
        }
    }
    groups
}

/// How the title of a table ends.
fn over_seeds(rows: &[Row]) -> String {
    let mut seeds: Vec<u64> = rows.iter().map(|r| r.seed).collect();
    seeds.sort_unstable();
    seeds.dedup();
    let named: Vec<String> = seeds.iter().map(u64::to_string).collect();
    match named.len() {
        1 => format!("seed {}", named[0]),
        _ => format!(
            "seeds {}, mean ± standard deviation over them",
            named.join(", ")
        ),
    }
}

/// All metrics of some motions, a row a variant: means over the seeds, and where there are several their standard
/// deviation. What the case saves against methods without rest bending is compared seed by seed.
fn scores(rows: &[Row], what: &str, pick: fn(&Row) -> (&Metrics, &Metrics)) -> Block {
    let line = |name: &str, of: &[&Metrics]| {
        let column = |k: usize| spread(&of.iter().map(|m| values(m)[k]).collect::<Vec<_>>());
        let cells = (0..names().len()).map(column);
        std::iter::once(name.to_string()).chain(cells).collect()
    };
    let groups = grouped(rows);
    let mut lines: Vec<Vec<String>> = Vec::new();
    if let Some((_, group)) = groups.first() {
        let elastic: Vec<&Metrics> = group.iter().map(|r| pick(r).1).collect();
        lines.push(line(ELASTIC, &elastic));
    }
    for (name, group) in &groups {
        let own: Vec<&Metrics> = group.iter().map(|r| pick(r).0).collect();
        lines.push(line(name, &own));
    }
    let of = |name: &str| groups.iter().find(|(n, _)| *n == name).map(|(_, g)| g);
    if let Some(case) = of(CASE) {
        let own: Vec<&Metrics> = case.iter().map(|r| pick(r).0).collect();
        let elastic: Vec<&Metrics> = case.iter().map(|r| pick(r).1).collect();
        lines.push(saved(&format!("{CASE} below {ELASTIC}"), &own, &elastic));
        if let Some(zero) = of(ZERO).filter(|zero| zero.len() == case.len()) {
            let zero: Vec<&Metrics> = zero.iter().map(|r| pick(r).0).collect();
            lines.push(saved(&format!("{CASE} below {ZERO}"), &own, &zero));
        }
    }
    Block {
        title: format!(
            "{what}, against the reference simulation of the same yield strain; synthetic, lower is better; {}.",
            over_seeds(rows)
        ),
        header: std::iter::once("ablation".to_string())
            .chain(names())
            .collect(),
        rows: lines,
    }
}

/// How far metrics are below others [%], pair by pair.
fn saved(name: &str, own: &[&Metrics], other: &[&Metrics]) -> Vec<String> {
    let column = |k: usize| {
        let pairs = own.iter().zip(other);
        let shares: Option<Vec<f64>> = pairs.map(|(a, b)| below(a, b)[k]).collect();
        shares.map_or("–".into(), |s| percent(&s))
    };
    let cells = (0..names().len()).map(column);
    std::iter::once(name.to_string()).chain(cells).collect()
}

/// What stays after the canonical bend.
fn creases(rows: &[Row]) -> Block {
    let line = |(name, of): (&str, Vec<&Row>)| {
        let over =
            |pick: &dyn Fn(&Row) -> f64| spread(&of.iter().map(|r| pick(r)).collect::<Vec<_>>());
        let own: Vec<&Metrics> = of.iter().map(|r| &r.mean).collect();
        let elastic: Vec<&Metrics> = of.iter().map(|r| &r.mean_elastic).collect();
        vec![
            name.to_string(),
            over(&|r| r.after),
            over(&|r| r.after_reference),
            over(&|r| r.wrinkles_before),
            over(&|r| r.wrinkles_after),
            over(&|r| r.control),
            saved("", &own, &elastic)[2].clone(),
        ]
    };
    Block {
        title: format!(
            "What stays after the unseen 90° bend, in rad, and how far the plastic error of all unseen motions is below that of \
             predicting none; synthetic; {}.",
            over_seeds(rows)
        ),
        header: [
            "ablation",
            "mean |ε_p| after",
            "of the reference",
            "top tenth of |ε| before",
            "after",
            "largest |ε_p|, unloaded control",
            "PE below none",
        ]
        .map(String::from)
        .to_vec(),
        rows: grouped(rows).into_iter().map(line).collect(),
    }
}

/// Mean and standard deviation of shares, in whole percent.
fn percent(values: &[f64]) -> String {
    match values {
        [one] => format!("{one:.0} %"),
        _ => {
            let (mean, deviation) = moments(values);
            format!("{mean:.0} ± {deviation:.0} %")
        }
    }
}

fn spread(values: &[f64]) -> String {
    let (mean, deviation) = moments(values);
    match values.len() {
        0 | 1 => digits(mean),
        _ => format!("{} ± {}", digits(mean), digits(deviation)),
    }
}

/// Mean and standard deviation of a sample.
fn moments(values: &[f64]) -> (f64, f64) {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|v| (v - mean) * (v - mean)).sum();
    (mean, (squares / (count - 1.0)).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_spread_is_that_of_a_sample() {
        assert_eq!(spread(&[2.0]), "2.00");
        assert_eq!(spread(&[1.0, 2.0, 3.0]), "2.00 ± 1.00");
        assert_eq!(percent(&[61.4]), "61 %");
        assert_eq!(percent(&[60.0, 70.0]), "65 ± 7 %");
    }
}
