//! An evaluation as a job: the networks of a folder are judged, and another folder holds what was found.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::{
    Evaluation, Judged, References, Trial, Yields, all_frame_rows, check_baseline, check_frames,
    evaluate, long_motion, long_roll_out, references::stopped,
};
use crate::{
    error::{Error, Result},
    learn::{
        BodyScene,
        curriculum::{Curriculum, Students},
        run::{self, EVALUATION, rows},
    },
    numeric::Compute,
    study::{Folder, Watcher, tell},
};

/// Which networks of a run are judged, and where.
#[derive(Debug, Clone, Default)]
pub(crate) struct EvaluationOptions {
    /// Folder of the results. None: `evaluation` in that of the run, or `evaluation-cycle-N` where a cycle is named.
    pub out: Option<PathBuf>,
    /// Folder in which references are kept. None: `references` in that of the run.
    pub references: Option<PathBuf>,
    /// A run of the same case without rest bending, to stand beside it.
    pub baseline: Option<PathBuf>,
    /// The networks after this cycle. None: after the last that is done.
    pub cycle: Option<usize>,
}

/// A run that was judged.
pub struct Evaluated {
    /// What was measured.
    pub(crate) evaluation: Evaluation,
    /// Every motion of it.
    pub(crate) trials: Vec<Trial>,
    out: Folder,
    course: Curriculum,
    students: Students,
    references: References,
    /// What is said of a failure.
    remedy: String,
    compute: Compute,
}

impl Evaluated {
    /// Judges the networks of a run on unseen motions against the reference simulation: those after a cycle, or after the
    /// last that is done. `baseline` is a run of the same case without rest bending, to stand beside it. What was found is
    /// written into `evaluation` in the run's folder, or `evaluation-cycle-N` where a cycle is named. References are kept in
    /// `references`, and not simulated again.
    ///
    /// # Errors
    /// [`Error::Interrupted`] where the watcher stops it; the same call goes on. [`Error::BadInput`] for a folder without
    /// networks, and for a baseline that does not fit.
    pub fn of_run(
        run: &Path,
        cycle: Option<usize>,
        baseline: Option<&Path>,
        compute: &Compute,
        watch: &mut Watcher,
    ) -> Result<Evaluated> {
        let options = EvaluationOptions {
            baseline: baseline.map(Path::to_path_buf),
            cycle,
            ..EvaluationOptions::default()
        };
        Evaluated::judge(run, &options, compute, watch)
    }

    /// The same with folders of its own for results and references.
    pub(crate) fn judge(
        run: &Path,
        options: &EvaluationOptions,
        compute: &Compute,
        watch: &mut Watcher,
    ) -> Result<Evaluated> {
        let of_run = Folder::new(run);
        let (course, students, cycles) = run::load(run, options.cycle, compute)?;
        let baseline = match &options.baseline {
            Some(folder) => {
                check_baseline(folder, &run::read_case(folder)?, &course.case)?;
                Some(run::load(folder, Some(cycles), compute)?)
            }
            None => None,
        };
        let baseline = baseline.as_ref().map(|(course, students, cycles)| Judged {
            course,
            students,
            cycles: *cycles,
        });
        let references = options.references.clone();
        let references = References::new(&references.unwrap_or(of_run.file("references")));
        let remedy = format!("what was simulated is kept in {}", run.display());
        let judged = Judged {
            course: &course,
            students: &students,
            cycles,
        };
        let (evaluation, trials) =
            evaluate(&judged, baseline.as_ref(), &references, compute, watch)
                .map_err(|e| e.with_remedy(&remedy))?;
        let named = || match options.cycle {
            Some(cycle) => of_run.inner(&format!("{EVALUATION}-cycle-{cycle}")),
            None => of_run.inner(EVALUATION),
        };
        let found = Evaluated {
            out: options.out.as_ref().map_or_else(named, Folder::new),
            evaluation,
            trials,
            course,
            students,
            references,
            remedy,
            compute: compute.clone(),
        };
        found.write()?;
        Ok(found)
    }

    /// Adds a long roll-out of bends, to see what drifts. Where its reference is kept, or `with_reference` asks to simulate it,
    /// which takes minutes, the error is measured too.
    ///
    /// # Errors
    /// [`Error::Interrupted`] where the watcher stops it; [`Error::BadInput`] for fewer frames than one bend has.
    pub fn roll_out(
        &mut self,
        frames: usize,
        with_reference: bool,
        watch: &mut Watcher,
    ) -> Result<()> {
        check_frames(frames)?;
        let (case, scene) = (&self.course.case, &self.course.scene);
        let motion = long_motion(&scene.body, frames);
        let jobs = [(&motion, Yields::AsInCase)];
        let is_kept = self.references.missing_frames(case, scene, &jobs) == 0;
        let reference = match with_reference || is_kept {
            true => {
                let found = self.references.of(case, scene, &jobs, watch);
                found.map_err(|e| e.with_remedy(&self.remedy))?.pop()
            }
            false => None,
        };
        if tell(watch, 0, frames, "frames of the long roll-out".into()).is_break() {
            return Err(stopped().with_remedy(&self.remedy));
        }
        let reference = reference.as_ref().map(|r| &r.track);
        let (rows, error) = long_roll_out(
            &self.course,
            &self.students,
            motion,
            reference,
            &self.compute,
        )?;
        self.evaluation.long = rows;
        self.evaluation.long_error = error;
        self.evaluation.long_frames = frames;
        self.write()
    }

    /// Where the results are.
    pub fn folder(&self) -> &Path {
        self.out.path()
    }

    /// Body and garment.
    pub fn scene(&self) -> &BodyScene {
        &self.course.scene
    }

    /// Everything that was measured, as `evaluation.json` has it.
    pub fn to_json(&self) -> Result<Value> {
        as_json(&self.evaluation)
    }

    fn write(&self) -> Result<()> {
        let put = |name: &str, text: String| self.out.write(name, text.as_bytes());
        put("frames.csv", rows::table(&all_frame_rows(&self.trials))?)?;
        put("bent.csv", rows::table(&self.evaluation.bent)?)?;
        if self.evaluation.long_frames > 0 {
            put("long.csv", self.long_table()?)?;
        }
        put("evaluation.json", format!("{:#}\n", self.to_json()?))
    }

    /// A row a bend. Below them, as a comment, the error over all frames: rows have only that of their frame.
    fn long_table(&self) -> Result<String> {
        let mut text = rows::table(&self.evaluation.long)?;
        if let Some(error) = &self.evaluation.long_error {
            text += &format!(
                "# against the reference, over all frames: {}\n",
                as_json(error)?
            );
        }
        Ok(text)
    }
}

fn as_json(value: &impl serde::Serialize) -> Result<Value> {
    serde_json::to_value(value)
        .map_err(|e| Error::BadInput(format!("the evaluation cannot be written as JSON: {e}")))
}
