//! `rumple bench`

use std::time::Instant;

use clap::{Args, Subcommand};
use serde_json::json;

use super::{Common, count, print};
use crate::{
    error::{Result, bad_input},
    experiment::{BENCH_PARAMETERS, HingeBench},
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
    let Workload::Hinge {
        hinges,
        steps,
        plain,
    } = arguments.workload;
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
