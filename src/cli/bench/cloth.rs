//! `rumple bench cloth`

use serde_json::json;

use super::measure_least;
use crate::{
    cli::{Common, memory::peak_mib, print},
    error::Result,
    numeric::Compute,
    verify::{ClothBench, ClothEnd},
};

/// Vertices along the side of the square cloths.
const SQUARES: [usize; 2] = [32, 64];
/// Calls that are timed at least: a roll-out is long and steady.
const LEAST: usize = 2;
/// Vertices of the twisted cylinders.
const TWISTS: [usize; 3] = [2_000, 7_000, 27_000];

/// Times the square cloths and the twists, one JSON line each.
pub(crate) fn run(common: &Common, only: Option<&str>, steps: usize) -> Result<()> {
    let compute = common.compute()?;
    let wanted = |name: &str| only.is_none_or(|only| only == name);
    for n in SQUARES {
        let name = format!("square{n}");
        if wanted(&name) {
            let square = ClothBench::square(n, steps, &compute)?;
            time(&name, square, None, &compute)?;
        }
    }
    for vertices in TWISTS {
        for (inelastic, ending) in [(false, "_off"), (true, "")] {
            let name = format!("twist{}k{ending}", vertices / 1000);
            if wanted(&name) {
                let twist = |on: bool| ClothBench::twist(vertices, on, &compute);
                let elastic = inelastic.then(|| twist(false)).transpose()?;
                time(&name, twist(inelastic)?, elastic, &compute)?;
            }
        }
    }
    Ok(())
}

/// Seconds that the elements take to answer to the last shape.
fn respond(bench: &ClothBench, end: &ClothEnd) -> Result<f64> {
    let least = measure_least(LEAST, || {
        bench.respond(&end.state);
        Ok(())
    })?;
    Ok(least.0)
}

/// Times a cloth; `elastic` is the same without friction and plasticity, where it has any.
fn time(
    name: &str,
    bench: ClothBench,
    elastic: Option<ClothBench>,
    compute: &Compute,
) -> Result<()> {
    let mut solver = bench.solver()?;
    let mut reading = f64::NAN;
    let forward = measure_least(LEAST, || {
        reading = bench.forward(&mut solver)?;
        Ok(())
    })?;
    let end = bench.end(&mut solver)?;
    let mut gradient = None;
    let both = measure_least(LEAST, || {
        gradient = Some(bench.gradient(&mut solver)?);
        Ok(())
    })?;
    let mut slopes = serde_json::Map::new();
    if let Some(gradient) = gradient {
        let total = gradient.since_virgin(&bench.cloth, &bench.parameters);
        let names = bench.parameters.names(&bench.cloth.setup.law);
        for (name, field) in names.into_iter().zip(total.list()) {
            slopes.insert(name, json!(compute.values(field.clone())?[0]));
        }
    }
    let share = match elastic {
        Some(elastic) => {
            let inelastic = respond(&bench, &end)? - respond(&elastic, &end)?;
            Some(inelastic / (forward.0 / bench.steps as f64))
        }
        None => None,
    };
    let steps = bench.steps as f64;
    let line = json!({
        "workload": "cloth",
        "scene": name,
        "device": compute.describe(),
        "precision": compute.precision().name(),
        "threads": rayon::current_num_threads(),
        "solver": solver.name(),
        "iterations_per_step": end.iterations,
        "factors_per_step": end.factors,
        "vertices": bench.cloth.vertices(),
        "hinges": bench.cloth.topology.hinges.len(),
        "steps": bench.steps,
        "reading": reading,
        "gradient": slopes,
        "forward_s_per_step": forward.0 / steps,
        "forward_backward_s_per_step": both.0 / steps,
        "share_of_friction_and_plasticity": share,
        "ratio": both.0 / forward.0,
        "peak_mib": peak_mib(),
    });
    print(&format!("{line}\n"))
}
