//! `rumple learn predict`

use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::json;

use super::compute;
use crate::{
    cli::{Common, count, print, print_json, say, spinner},
    error::{Error, Result, bad_input, readable},
    learn::{
        BodyMotion, BodyScene, JointBend,
        evaluate::{BendFrames, mean_size, predict_timed},
        files::{Amass, Array},
        run,
    },
    mesh::write_obj,
    report::learn::folder::of_prediction,
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

/// Largest bend that can be asked for \[deg\]: beyond it the forearm is in the upper arm.
const LARGEST_DEG: f64 = 150.0;
/// Frames of a bend with the rest after it.
const FRAMES: usize = 95;
const PREDICTIONS: &str = "predictions";

pub(crate) fn run(common: &Common, arguments: &PredictArguments) -> Result<()> {
    let compute = compute(common)?;
    let (course, students, _) = run::load(&arguments.folder, arguments.cycle, &compute)?;
    let motion = arguments.motion(&course.scene, course.case.loss.materials.seconds)?;
    let progress = spinner(format!("{} frames", motion.frames()));
    let predicted = predict_timed(&course, &students, &motion, &compute);
    progress.finish_and_clear();
    let (track, seconds) = predicted?;

    let folder = arguments.folder.join(PREDICTIONS);
    std::fs::create_dir_all(&folder).map_err(|e| Error::writing(&folder, e))?;
    let file = folder.join(format!("{}.npz", motion.file_stem()));
    let step = Array {
        shape: vec![1],
        values: vec![motion.seconds],
    };
    track.save(&file, &[("seconds_between_frames", step)])?;
    write_obj(&folder.join("garment.obj"), &course.scene.garment.mesh)?;
    of_prediction(&file, &course.scene, &motion, &track)?;

    let after = BendFrames::of(&motion).and_then(|m| m.after);
    let last = after.unwrap_or(motion.frames() - 1);
    let bent = mean_size(&track.plastic[last]);
    if common.json {
        print_json(&json!({
            "synthetic": arguments.motion.is_none(),
            "motion": motion.name,
            "frames": motion.frames(),
            "inference_s_a_frame": seconds,
            "final_mean_rest_bending_rad": bent,
            "file": file.display().to_string(),
        }))?;
    } else {
        print(&format!(
            "synthetic {} in a {}, motion {}: {} frames, {:.2} ms a frame for both networks\n\
             mean |rest bending| of the last frame {bent:.4} rad\n",
            course.scene.body.name,
            course.scene.garment.name,
            motion.name,
            motion.frames(),
            1e3 * seconds
        ))?;
    }
    say(&format!(
        "results: {} (positions, strain, rest_bending); beside it a picture (.png), a film (.glb) and garment.obj",
        file.display()
    ));
    Ok(())
}

impl PredictArguments {
    fn motion(&self, scene: &BodyScene, seconds: f64) -> Result<BodyMotion> {
        if let Some(file) = &self.motion {
            return recorded(file, scene, seconds);
        }
        let degrees = self.peak_deg.unwrap_or(90.0);
        if !(degrees > 0.0 && degrees <= LARGEST_DEG) {
            return bad_input(format!(
                "--peak-deg {} is no bend; give an angle above 0 and up to {LARGEST_DEG}",
                readable(degrees)
            ));
        }
        let bend = JointBend {
            peak: degrees.to_radians(),
            ..JointBend::canonical()
        };
        let name = format!("{}°", readable(degrees));
        Ok(BodyMotion::bends(&name, &scene.body, &[bend], FRAMES))
    }
}

/// A recorded motion, whose joints must be those of the body: SMPL's first two are a hip, not an arm.
fn recorded(file: &Path, scene: &BodyScene, seconds: f64) -> Result<BodyMotion> {
    let amass = Amass::read(file)?;
    let joints = scene.body.skeleton.joints();
    let found = amass.turns.first().map_or(0, Vec::len);
    if found != joints.len() {
        let names: Vec<&str> = joints.iter().map(|j| j.name.as_str()).collect();
        return bad_input(format!(
            "--motion {}: 'poses' has {found} joints, but the {} has {} ({}); write a file with {} columns of those",
            file.display(),
            scene.body.name,
            joints.len(),
            names.join(", "),
            3 * joints.len()
        ));
    }
    let stem = file.file_stem().unwrap_or_default().to_string_lossy();
    amass.motion(&stem, joints.len(), 1.0 / seconds)
}
