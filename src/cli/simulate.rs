//! `rumple simulate`

mod folder;
mod forecast;
mod results;

use std::{
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::json;

use self::folder::RunFolder;
use super::{Common, interrupted, memory::peak_mib, print, print_json, say};
use crate::{
    error::{Error, Result},
    scene::{
        Prepared, Scene,
        run::{Row, Simulation},
    },
};

/// Simulate a scene: frames, a film, tables, plots and pictures; run again to go on after a stop
#[derive(Debug, Args)]
pub struct Arguments {
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

/// Time between two saved states \[s\].
const SAVE_EVERY: Duration = Duration::from_secs(5);

pub fn run(common: &Common, arguments: &Arguments) -> Result<()> {
    let clock = Instant::now();
    let scene = Scene::load(&arguments.scene)?;
    // Before a generated mesh is made, and after one was read.
    forecast::check_memory(&scene.place, scene.mesh.vertices().unwrap_or(0))?;
    let prepared = scene.prepare(&common.compute()?)?;
    forecast::check_memory(&scene.place, prepared.cloth.vertices())?;
    for word in &prepared.words {
        say(&format!("mesh: {word}"));
    }
    let out = out_folder(arguments);
    let (mut folder, mut simulation) = RunFolder::open(&out, &prepared, arguments.fresh)?;
    let ended = watched(&mut simulation, &mut folder);
    let on = format!("the same command then goes on in {}", out.display());
    let ended = ended.map_err(|e| e.with_remedy(&on));
    folder.save()?;
    let files = results::draw(&prepared, &mut folder)?;
    report(common, &simulation, &out, &files, clock.elapsed())?;
    ended
}

/// The folder asked for, or one of the scene's name.
fn out_folder(arguments: &Arguments) -> PathBuf {
    arguments.out.clone().unwrap_or_else(|| {
        let stem = arguments.scene.file_stem().unwrap_or_default();
        PathBuf::from(format!("{}-run", stem.to_string_lossy()))
    })
}

/// The steps that are left, with a bar, stopped by Ctrl-C; what was done is saved now and then.
fn watched(simulation: &mut Simulation, folder: &mut RunFolder) -> Result<()> {
    let steps = simulation.prepared.scene.clock.steps;
    let style = ProgressStyle::with_template("{bar:30} {pos}/{len} steps, {eta} left  {msg}");
    let progress = ProgressBar::new(steps as u64);
    progress.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    progress.set_position(simulation.step as u64);
    progress.reset_eta();
    interrupted();
    let mut forecast =
        forecast::Forecast::start(simulation.step, steps, simulation.prepared.cloth.vertices());
    let mut saved = Instant::now();
    let outcome = loop {
        if simulation.finished() {
            break Ok(());
        }
        if interrupted() {
            break Err(Error::Interrupted(format!(
                "interrupted after step {} of {steps}; the same command goes on",
                simulation.step
            )));
        }
        if let Err(error) = one_step(simulation, folder, &progress) {
            break Err(error);
        }
        if let Some(words) = forecast.after(simulation.step) {
            progress.suspend(|| say(&words));
        }
        if saved.elapsed() > SAVE_EVERY {
            folder.save()?;
            saved = Instant::now();
        }
    };
    progress.finish_and_clear();
    outcome
}

fn one_step(
    simulation: &mut Simulation,
    folder: &mut RunFolder,
    progress: &ProgressBar,
) -> Result<()> {
    let clock = Instant::now();
    let (before, statistics) = simulation.advance()?;
    let seconds = clock.elapsed().as_secs_f64();
    let scene = &simulation.prepared.scene;
    let done = simulation.step - 1;
    progress.set_position(simulation.step as u64);
    if scene.output.row_after(&scene.clock, done) {
        let row = Row::of(simulation, &before, Some(statistics))?;
        progress.set_message(format!(
            "t = {:.3} s, largest angle {:.1}°",
            row.time,
            row.max_angle.to_degrees()
        ));
        folder.add_row(&row, seconds)?;
    }
    if scene.output.frame_after(&scene.clock, done) || folder.is_picture(simulation.step) {
        folder.add_frame(simulation)?;
    }
    folder.mark(simulation)
}

fn report(
    common: &Common,
    simulation: &Simulation,
    out: &Path,
    files: &[String],
    elapsed: Duration,
) -> Result<()> {
    let Prepared { scene, cloth, .. } = simulation.prepared;
    let peak = peak_mib();
    let row = Row::of(simulation, &simulation.state, None)?;
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
