//! `rumple bench cloth`

use serde_json::json;

use super::{measure_least, peak_mib};
use crate::{
    cli::{Common, print},
    error::Result,
    experiment::ClothBench,
    numeric::Compute,
};

/// Vertices along the side of the square cloths.
const SQUARES: [usize; 2] = [32, 64];
/// Calls that are timed at least: a roll-out is long and steady.
const LEAST: usize = 2;
/// Vertices of the twisted cylinders.
const TWISTS: [usize; 3] = [2_000, 7_000, 27_000];

/// Times the square cloths and the twists, one JSON line each.
pub fn run(common: &Common, only: Option<&str>, steps: usize) -> Result<()> {
    let compute = common.compute()?;
    let wanted = |name: &str| only.is_none_or(|only| only == name);
    for n in SQUARES {
        let name = format!("square{n}");
        if wanted(&name) {
            time(&name, ClothBench::square(n, steps, &compute)?, &compute)?;
        }
    }
    for vertices in TWISTS {
        for (inelastic, ending) in [(false, "_off"), (true, "")] {
            let name = format!("twist{}k{ending}", vertices / 1000);
            if wanted(&name) {
                time(
                    &name,
                    ClothBench::twist(vertices, inelastic, &compute)?,
                    &compute,
                )?;
            }
        }
    }
    Ok(())
}

fn time(name: &str, bench: ClothBench, compute: &Compute) -> Result<()> {
    let mut solver = bench.solver()?;
    let mut reading = f64::NAN;
    let forward = measure_least(LEAST, || {
        reading = bench.forward(&mut solver)?;
        Ok(())
    })?;
    let (iterations, factors) = bench.solves(&mut solver)?;
    let mut gradient = None;
    let both = measure_least(LEAST, || {
        gradient = Some(bench.gradient(&mut solver)?);
        Ok(())
    })?;
    let mut slopes = serde_json::Map::new();
    if let Some(gradient) = gradient {
        let total = gradient.from_virgin(&bench.cloth, &bench.parameters);
        let names = bench.parameters.names(&bench.cloth.setup.law);
        for (name, field) in names.into_iter().zip(total.list()) {
            slopes.insert(name, json!(compute.values(field.clone())?[0]));
        }
    }
    let steps = bench.steps as f64;
    let line = json!({
        "workload": "cloth",
        "scene": name,
        "device": compute.describe(),
        "precision": compute.precision().name(),
        "threads": rayon::current_num_threads(),
        "solver": solver.name(),
        "iterations_per_step": iterations,
        "factors_per_step": factors,
        "vertices": bench.cloth.vertices(),
        "hinges": bench.cloth.topology.hinges.len(),
        "steps": bench.steps,
        "reading": reading,
        "gradient": slopes,
        "forward_s_per_step": forward.0 / steps,
        "forward_backward_s_per_step": both.0 / steps,
        "ratio": both.0 / forward.0,
        "peak_mib": peak_mib(),
    });
    print(&format!("{line}\n"))
}
