//! A garment along a motion that was not trained, as the networks of a run predict it.

use std::path::{Path, PathBuf};

use super::{
    BodyMotion, BodyScene, GarmentMotion, JointBend,
    evaluate::{BendFrames, mean_size, predict_timed},
    files::{Amass, Array},
    run,
};
use crate::{
    error::{Result, bad_input, readable},
    mesh::write_obj,
    numeric::Compute,
    study::Folder,
};

/// Largest bend that can be asked for \[deg\]: beyond it the forearm is in the upper arm.
const LARGEST_DEG: f64 = 150.0;
/// Frames of a bend with the rest after it.
const FRAMES: usize = 95;
/// Where predictions are in the folder of a run.
const PREDICTIONS: &str = "predictions";

/// A garment along a motion, and the file that holds it: positions, strain and rest bending of every frame.
pub struct Prediction {
    /// Name of the motion.
    pub name: String,
    /// Frames of the motion.
    pub frames: usize,
    /// What both networks took for a frame \[s\].
    pub seconds_a_frame: f64,
    /// Mean size of the rest bending in the last frame of the motion, before any rest after it \[rad\].
    pub final_rest_bending: f64,
    /// An archive of arrays, `.npz`.
    pub file: PathBuf,
    pub(crate) scene: BodyScene,
    pub(crate) motion: BodyMotion,
    pub(crate) track: GarmentMotion,
}

impl Prediction {
    /// Along a bend of the scene's joint by an angle above 0 and up to 150 \[degrees\], with the networks after a cycle;
    /// without one, after the last that is done. Writes into `predictions` of the run's folder.
    pub fn of_bend(
        run: &Path,
        degrees: f64,
        cycle: Option<usize>,
        compute: &Compute,
    ) -> Result<Prediction> {
        Prediction::of_run(run, cycle, compute, |scene, _| {
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
        })
    }

    /// Along a recorded motion in the layout of AMASS, with as many joints as the body. The rest is as with
    /// [`Prediction::of_bend`].
    pub fn of_recording(
        run: &Path,
        file: &Path,
        cycle: Option<usize>,
        compute: &Compute,
    ) -> Result<Prediction> {
        Prediction::of_run(run, cycle, compute, |scene, seconds| {
            recorded(file, scene, seconds)
        })
    }

    /// Along the motion that is made for the run's scene and the seconds between its frames.
    fn of_run(
        run: &Path,
        cycle: Option<usize>,
        compute: &Compute,
        motion: impl FnOnce(&BodyScene, f64) -> Result<BodyMotion>,
    ) -> Result<Prediction> {
        let (course, students, _) = run::load(run, cycle, compute)?;
        let motion = motion(&course.scene, course.case.loss.materials.seconds)?;
        let (track, seconds_a_frame) = predict_timed(&course, &students, &motion, compute)?;

        let folder = Folder::new(run).inner(PREDICTIONS);
        folder.make()?;
        let file = folder.file(&format!("{}.npz", motion.file_stem()));
        let step = Array {
            shape: vec![1],
            values: vec![motion.seconds],
        };
        track.save(&file, &[("seconds_between_frames", step)])?;
        write_obj(&folder.file("garment.obj"), &course.scene.garment.mesh)?;

        let after = BendFrames::of(&motion).and_then(|m| m.after);
        let last = after.unwrap_or(motion.frames() - 1);
        Ok(Prediction {
            name: motion.name.clone(),
            frames: motion.frames(),
            seconds_a_frame,
            final_rest_bending: mean_size(&track.plastic[last]),
            file,
            scene: course.scene,
            motion,
            track,
        })
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
