//! `rumple learn predict`

use std::path::PathBuf;

use clap::Args;
use serde_json::json;

use super::compute;
use crate::{
    cli::{Common, count, print, print_json, say, spinner},
    error::Result,
    learn::Prediction,
};

/// Predict the garment along a motion that was not trained
#[derive(Debug, Args)]
pub(crate) struct PredictArguments {
    /// Folder of `rumple learn train`
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Bend by this angle [default: 90]
    #[arg(long, value_name = "DEG", conflicts_with = "motion")]
    peak_deg: Option<f64>,
    /// A motion in AMASS' layout (poses, trans, betas, mocap_framerate) with as many joints as the body
    #[arg(long, value_name = "FILE.npz")]
    motion: Option<PathBuf>,
    /// The networks after this cycle [default: the last that is done]
    #[arg(long, value_name = "N", value_parser = count)]
    cycle: Option<usize>,
}

pub(crate) fn run(common: &Common, arguments: &PredictArguments) -> Result<()> {
    let compute = compute(common)?;
    let (run, cycle) = (&arguments.folder, arguments.cycle);
    let progress = spinner("prediction".into());
    let predicted = match &arguments.motion {
        Some(file) => Prediction::of_recording(run, file, cycle, &compute),
        None => Prediction::of_bend(run, arguments.peak_deg.unwrap_or(90.0), cycle, &compute),
    };
    progress.finish_and_clear();
    let found = predicted?;
    found.draw()?;
    if common.json {
        print_json(&json!({
            "synthetic": arguments.motion.is_none(),
            "motion": found.name,
            "frames": found.frames,
            "inference_s_a_frame": found.seconds_a_frame,
            "final_mean_rest_bending_rad": found.final_rest_bending,
            "file": found.file.display().to_string(),
        }))?;
    } else {
        print(&format!(
            "synthetic {} in a {}, motion {}: {} frames, {:.2} ms a frame for both networks\n\
             mean |rest bending| of the last frame {:.4} rad\n",
            found.scene.body.name,
            found.scene.garment.name,
            found.name,
            found.frames,
            1e3 * found.seconds_a_frame,
            found.final_rest_bending
        ))?;
    }
    say(&format!(
        "results: {} (positions, strain, rest_bending); beside it a picture (.png), a film (.glb) and garment.obj",
        found.file.display()
    ));
    Ok(())
}
