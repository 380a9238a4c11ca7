//! `rumple bench`

use std::time::Instant;

use clap::{Args, Subcommand};
use serde_json::json;

use super::{Common, count, print};
use crate::{
    calibrate::hinge_fit::HingeFit,
    error::{Result, bad_input},
    experiment::{BENCH_PARAMETERS, HingeBench},
    fit::{
        levenberg::{Levenberg, Walker},
        multistart::{Plan, Progress, Wish, search},
    },
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
    Fit,
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
        Workload::Fit => run_fit(common),
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

/// The smallest cost that the other tools have found for the fit (SciPy, from start 3 of 16).
const PEERS_CHI2: f64 = 10.4;
/// The smallest cost known for the fit, of seed 2 with 16 000 rounds of kicks.
const BEST_KNOWN_CHI2: f64 = 5.54;
/// A start has succeeded when its cost is at most this much above a known one.
const SUCCESS: f64 = 1.01;
/// Rounds in which the starts of the fit are kicked: about 6 s on two cores.
const FIT_KICK_ROUNDS: usize = 4000;
/// Rounds of a descent. With 24, 30, 40, 50 and 70 of them 52, 57, 60, 61 and 63 of 64 starts (4 seeds)
/// succeeded within 3500 rounds.
const FIT_ROUNDS: usize = 70;

fn run_fit(common: &Common) -> Result<()> {
    let compute = common.compute()?;
    let device = compute.describe();
    let problem = HingeFit::new(compute)?;
    let plan = Plan {
        levenberg: Levenberg::default(),
        rounds: FIT_ROUNDS,
        kick_rounds: FIT_KICK_ROUNDS,
        seed: common.seed(),
    };
    let begin = Instant::now();
    let mut to_best = None;
    let mut watch = |progress: &Progress| {
        let reached = |(_, chi2): (usize, f64)| chi2 <= SUCCESS * PEERS_CHI2;
        if to_best.is_none() && progress.best().is_some_and(reached) {
            to_best = Some(begin.elapsed().as_secs_f64());
        }
        Ok(Wish::GoOn)
    };
    let progress = Progress::new(&plan, problem.starts());
    let end = search(&problem, &plan, progress, &mut watch)?;
    let seconds = begin.elapsed().as_secs_f64();
    let starts = &end.walkers;
    let reached = |chi2: f64| {
        let success = |w: &&Walker| w.cost.is_some_and(|cost| cost <= SUCCESS * chi2);
        starts.iter().filter(success).count() as f64 / starts.len() as f64
    };
    let best = end.best().map(|(start, _)| end.walker(start));
    let line = json!({
        "workload": "fit",
        "data": "synthetic",
        "device": device,
        "threads": rayon::current_num_threads(),
        "starts": starts.len(),
        "chi2": best.and_then(|w| w.cost),
        "chi2_of_starts": starts.iter().map(|w| w.cost).collect::<Vec<_>>(),
        "peers_chi2": PEERS_CHI2,
        "best_known_chi2": BEST_KNOWN_CHI2,
        "success_rate": reached(PEERS_CHI2),
        "success_rate_of_best": reached(BEST_KNOWN_CHI2),
        "seconds": seconds,
        "seconds_to_best": to_best,
        "rounds": end.trace.len(),
        "parameters": BENCH_PARAMETERS.map(|(name, _, _)| name),
        "values": best.map(|w| w.point.iter().map(|v| v.exp()).collect::<Vec<f64>>()),
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
