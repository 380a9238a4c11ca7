//! `rumple bench`

use std::time::Instant;

use clap::{Args, Subcommand};
use serde_json::json;

use super::{Common, count, print, spinner};
use crate::{
    calibrate::{coverage::Trial, hinge_fit::HingeFit},
    error::{Result, bad_input},
    experiment::{BENCH_PARAMETERS, HingeBench},
    fit::{
        levenberg::Levenberg,
        multistart::{Plan, Progress, Wish, search},
    },
    material::Material,
    rollout::Path,
};

/// Time a workload and print one JSON line
#[derive(Debug, Args)]
pub struct Arguments {
    #[command(subcommand)]
    workload: Workload,
}

#[derive(Debug, Subcommand)]
enum Workload {
    /// The fit that other tools solve too: 8 parameters from 24 points, from 16 starts
    Fit {
        #[arg(long, default_value_t = 8)]
        kicks: usize,
        #[arg(long, default_value_t = 0.25)]
        kick: f64,
        #[arg(long, default_value_t = 0.5)]
        step: f64,
        #[arg(long, default_value_t = 60)]
        rounds: usize,
    },
    /// Error bars: synthetic cotton with 2° noise is fitted again and again, and the truth looked for in
    /// the 95 % intervals
    Coverage {
        /// How many data sets
        #[arg(long, default_value = "100", value_parser = count)]
        sets: usize,
    },
    /// A batch of hinges: fold, hold, release; forward, and with the gradient of 8 parameters
    Hinge {
        /// How many hinges
        #[arg(long, default_value = "10000", value_parser = count)]
        hinges: usize,
        /// How many steps: a sixth folding, a sixth holding, the rest releasing
        #[arg(long, default_value = "300", value_parser = count)]
        steps: usize,
        /// Tensor operations one by one instead of the fused roll-out
        #[arg(long)]
        plain: bool,
    },
}

/// Hinges times steps that a bench may ask for: some minutes.
const MOST_WORK: usize = 10_000_000_000;

pub fn run(common: &Common, arguments: &Arguments) -> Result<()> {
    match arguments.workload {
        Workload::Fit {
            kicks,
            kick,
            step,
            rounds,
        } => run_fit(common, kicks, kick, step, rounds),
        Workload::Coverage { sets } => run_coverage(common, sets),
        Workload::Hinge {
            hinges,
            steps,
            plain,
        } => run_hinge(common, hinges, steps, plain),
    }
}

fn run_hinge(common: &Common, hinges: usize, steps: usize, plain: bool) -> Result<()> {
    if hinges.saturating_mul(steps) > MOST_WORK {
        return bad_input(format!(
            "--hinges {hinges} over --steps {steps} is too much work; give at most 1e10 in all"
        ));
    }
    let compute = common.compute()?;
    let path = if plain || !compute.is_cpu() {
        Path::Plain
    } else {
        Path::Fused
    };
    let bench = HingeBench::new(&compute, hinges, steps)?;
    let mut loss = f64::NAN;
    let forward = measure(|| {
        loss = bench.loss(&compute, path)?;
        Ok(())
    })?;
    let mut gradient = [f64::NAN; 8];
    let both = measure(|| {
        (loss, gradient) = bench.loss_and_gradient(&compute, path)?;
        Ok(())
    })?;
    let line = json!({
        "workload": "hinge",
        "path": path.name(),
        "device": compute.describe(),
        "threads": rayon::current_num_threads(),
        "hinges": hinges,
        "steps": steps,
        "precision": compute.precision().name(),
        "loss": loss,
        "parameters": BENCH_PARAMETERS.map(|(name, _, _)| name),
        "grad": gradient,
        "forward_s": forward.0,
        "forward_reps": forward.1,
        "forward_backward_s": both.0,
        "forward_backward_reps": both.1,
        "peak_mib": peak_mib(),
    });
    print(&format!("{line}\n"))
}

/// The smallest cost that any tool has found for the fit.
const BEST_KNOWN_CHI2: f64 = 10.4;

fn run_fit(common: &Common, kicks: usize, kick: f64, step: f64, rounds: usize) -> Result<()> {
    let problem = HingeFit::new(common.compute()?)?;
    let plan = Plan {
        levenberg: Levenberg {
            longest_step: step,
            ..Levenberg::default()
        },
        rounds,
        kicks,
        kick,
        seed: common.seed(),
    };
    let begin = Instant::now();
    let mut trace: Vec<(f64, f64)> = Vec::new();
    let mut watch = |progress: &Progress| {
        let best = progress.best().map_or(f64::INFINITY, |b| b.1);
        if trace.last().is_none_or(|(_, chi2)| best < *chi2) {
            trace.push((begin.elapsed().as_secs_f64(), best));
        }
        Ok(Wish::GoOn)
    };
    let end = search(
        &problem,
        &plan,
        Progress::new(&plan, problem.starts()),
        &mut watch,
    )?;
    let seconds = begin.elapsed().as_secs_f64();
    let chi2: Vec<f64> = end
        .walkers
        .iter()
        .map(|w| w.cost.unwrap_or(f64::NAN))
        .collect();
    let best = chi2.iter().copied().fold(f64::INFINITY, f64::min);
    let reached =
        |limit: f64| chi2.iter().filter(|c| **c <= limit).count() as f64 / chi2.len() as f64;
    let line = json!({
        "workload": "fit",
        "chi2": best,
        "chi2_of_starts": chi2,
        "success_rate": reached(1.01 * best.min(BEST_KNOWN_CHI2)),
        "seconds": seconds,
        "seconds_to_best": trace.iter().find(|(_, c)| *c <= 1.01 * BEST_KNOWN_CHI2).map(|t| t.0),
        "rounds": end.walkers.iter().map(|w| w.rounds).sum::<usize>(),
        "batches": end.trace.len(),
        "values": end.walkers.iter().map(|w| w.point.iter().map(|v| v.exp()).collect::<Vec<f64>>()).collect::<Vec<_>>(),
    });
    print(&format!("{line}\n"))
}

/// The truth behind the shipped cotton set.
const COTTON: &str = include_str!("../../data/levison_like_cotton.truth.json");

fn run_coverage(common: &Common, sets: usize) -> Result<()> {
    let trial = Trial {
        truth: Material::parse(COTTON, "data/levison_like_cotton.truth.json")?,
        gaps_mm: vec![0.5, 1.0, 2.0, 4.0],
        presses: [0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0, 4.5, 5.0]
            .map(|d| 10f64.powf(d))
            .to_vec(),
        noise_deg: 2.0,
        starts: 4,
        hinges: 2048,
        seed: common.seed(),
    };
    let begin = Instant::now();
    let progress = spinner("coverage".into());
    let covered = trial.coverage(&common.compute()?, sets, |done| {
        progress.set_message(format!("coverage: {done} of {sets} data sets"));
    })?;
    progress.finish_and_clear();
    let line = json!({
        "workload": "coverage",
        "data": "synthetic",
        "sets": sets,
        "noise_deg": trial.noise_deg,
        "seconds": begin.elapsed().as_secs_f64(),
        "covered": covered.iter().map(|c| (c.name.clone(), json!(c.sets))).collect::<serde_json::Map<_, _>>(),
        "open": covered.iter().map(|c| (c.name.clone(), json!(c.open))).collect::<serde_json::Map<_, _>>(),
    });
    print(&format!("{line}\n"))
}

/// Shortest of at least 5 calls and about 3 seconds, and their number, after one call to warm up.
fn measure(mut work: impl FnMut() -> Result<()>) -> Result<(f64, usize)> {
    const LEAST: usize = 5;
    const MOST: usize = 200;
    const SECONDS: f64 = 3.0;
    work()?;
    let begin = Instant::now();
    let mut best = f64::INFINITY;
    for k in 1..=MOST {
        let start = Instant::now();
        work()?;
        best = best.min(start.elapsed().as_secs_f64());
        if k >= LEAST && begin.elapsed().as_secs_f64() > SECONDS {
            return Ok((best, k));
        }
    }
    Ok((best, MOST))
}

/// Largest resident memory of this process so far \[MiB\], where the system tells.
fn peak_mib() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|l| l.starts_with("VmHWM:"))?;
    let kib: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kib / 1024)
}
