//! `rumple simulate`

use std::{
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use clap::Args;
use serde_json::json;

use super::{Common, Shown, memory::peak_mib, print, print_json, say};
use crate::{
    error::Result,
    scene::{
        PreparedScene, Scene,
        run::{SceneRow, Simulation, prepare_within_memory},
    },
};

/// Simulate a scene: frames, a film, tables, plots and pictures; run again to go on after a stop
#[derive(Debug, Args)]
pub(crate) struct SimulateArguments {
    /// A scene file (`rumple schema scene`, examples/scenes)
    #[arg(value_name = "SCENE.json")]
    scene: PathBuf,
    /// Folder of the results [default: the scene's file name and -run, here]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Throw away what the folder holds of an earlier run
    #[arg(long)]
    fresh: bool,
}

pub(crate) fn run(common: &Common, arguments: &SimulateArguments) -> Result<()> {
    let clock = Instant::now();
    let scene = Scene::load(&arguments.scene)?;
    let prepared = prepare_within_memory(&scene, &common.compute()?)?;
    for word in &prepared.words {
        say(&format!("mesh: {word}"));
    }
    let out = out_folder(arguments);
    let mut shown = Shown::bar("steps");
    let run = prepared.simulate(&out, arguments.fresh, &mut |news| shown.hear(news))?;
    drop(shown);
    let files = prepared.draw(&out)?;
    report(common, &run.simulation, &out, &files, clock.elapsed())?;
    run.outcome
}

/// The folder asked for, or one of the scene's name.
fn out_folder(arguments: &SimulateArguments) -> PathBuf {
    arguments.out.clone().unwrap_or_else(|| {
        let stem = arguments.scene.file_stem().unwrap_or_default();
        PathBuf::from(format!("{}-run", stem.to_string_lossy()))
    })
}

fn report(
    common: &Common,
    simulation: &Simulation,
    out: &Path,
    files: &[String],
    elapsed: Duration,
) -> Result<()> {
    let PreparedScene { scene, cloth, .. } = simulation.prepared;
    let peak = peak_mib();
    let row = SceneRow::of(simulation, &simulation.state, None)?;
    if common.json {
        print_json(&json!({
            "scene": scene.name,
            "folder": out.display().to_string(),
            "vertices": cloth.vertices(),
            "triangles": cloth.mesh.triangles.len(),
            "steps_done": simulation.step,
            "steps": scene.clock.steps,
            "time_s": row.time,
            "material_time_s": row.material_time,
            "max_angle_deg": row.max_angle.to_degrees(),
            "rms_angle_deg": row.rms_angle.to_degrees(),
            "max_stretch": row.max_stretch,
            "kinetic_J": row.energies.kinetic,
            "bending_J": row.energies.bending,
            "membrane_J": row.energies.membrane,
            "elapsed_s": elapsed.as_secs_f64(),
            "peak_MiB": peak,
            "files": files,
        }))?;
    } else {
        print(&format!(
            "{}: {} vertices, {} of {} steps, {:.3} s ({:.3} s for the material)\n\
             at the end: largest angle {:.1}°, root mean square {:.2}°, largest stretch {:.2} %\n\
             took {:.1} s{}\n",
            scene.name,
            cloth.vertices(),
            simulation.step,
            scene.clock.steps,
            row.time,
            row.material_time,
            row.max_angle.to_degrees(),
            row.rms_angle.to_degrees(),
            100.0 * row.max_stretch,
            elapsed.as_secs_f64(),
            peak.map_or(String::new(), |mib| format!(", peak memory {mib} MiB"))
        ))?;
    }
    say(&format!(
        "results: {} ({})",
        out.display(),
        files.join(", ")
    ));
    Ok(())
}
