//! A run of a scene from beginning to end in a folder, stopped and gone on with.

use std::{
    ops::ControlFlow,
    path::Path,
    time::{Duration, Instant},
};

use super::{SceneRow, Simulation, folder::SceneFolder, forecast::Forecast};
use crate::{
    error::{Error, Result},
    scene::PreparedScene,
    solve::SolveStatistics,
    step::State,
    study::{News, Watcher, tell},
};

/// Time between two saved states \[s\].
const SAVE_EVERY: Duration = Duration::from_secs(5);

/// Where a run of a scene is now.
pub struct SceneRun<'a> {
    /// The last state.
    pub simulation: Simulation<'a>,
    /// An error where the watcher stopped the run or a step failed. Tables and frames hold all steps before it.
    pub outcome: Result<()>,
}

impl PreparedScene {
    /// Simulates a scene in a folder: scene.json, tables, frames, and the state from which the same call goes on after a stop.
    /// A run that was stopped and gone on with has the bits of one without a stop. `fresh` throws an earlier run away.
    ///
    /// # Errors
    /// [`Error::BadInput`] for a folder of something else; [`Error::Io`] where it cannot be written. What ends the run later
    /// is in [`SceneRun::outcome`].
    pub fn simulate(&self, path: &Path, fresh: bool, watch: &mut Watcher) -> Result<SceneRun<'_>> {
        let (mut folder, mut simulation) = SceneFolder::open(path, self, fresh, watch)?;
        let on = format!("the same command then goes on in {}", path.display());
        let outcome = steps(&mut simulation, &mut folder, watch).map_err(|e| e.with_remedy(&on));
        folder.save()?;
        Ok(SceneRun {
            simulation,
            outcome,
        })
    }
}

/// The steps that are left; what was done is saved now and then.
fn steps(simulation: &mut Simulation, folder: &mut SceneFolder, watch: &mut Watcher) -> Result<()> {
    let all = simulation.prepared.scene.clock.steps;
    let vertices = simulation.prepared.cloth.vertices();
    let mut forecast = Forecast::start(simulation.step, all, vertices);
    let mut saved = Instant::now();
    let mut clock = Instant::now();
    let mut text = String::new();
    if !simulation.finished() {
        ask(watch, simulation.step, all, &text)?;
    }
    simulation.run(|simulation, before, statistics| {
        let seconds = clock.elapsed().as_secs_f64();
        if let Some(row) = keep(simulation, before, statistics, seconds, folder)? {
            text = format!(
                "t = {:.3} s, largest angle {:.1}°",
                row.time,
                row.max_angle.to_degrees()
            );
        }
        if let Some(words) = forecast.after(simulation.step) {
            let _ = watch(News::Remark(&words));
        }
        if saved.elapsed() > SAVE_EVERY {
            folder.save()?;
            saved = Instant::now();
        }
        if !simulation.finished() {
            ask(watch, simulation.step, all, &text)?;
        }
        clock = Instant::now();
        Ok(())
    })
}

/// Tells the watcher of the steps done, and ends the run where it asks for that.
fn ask(watch: &mut Watcher, step: usize, all: usize, text: &str) -> Result<()> {
    match tell(watch, step, all, text.into()) {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(()) => Err(Error::Interrupted(format!(
            "interrupted after step {step} of {all}; the same command goes on"
        ))),
    }
}

/// Keeps what the scene wants to be kept of a step.
fn keep(
    simulation: &Simulation,
    before: &State,
    statistics: SolveStatistics,
    seconds: f64,
    folder: &mut SceneFolder,
) -> Result<Option<SceneRow>> {
    let scene = &simulation.prepared.scene;
    let done = simulation.step;
    let due = |every: usize| done.is_multiple_of(every) || done == scene.clock.steps;
    let mut row = None;
    if due(scene.output.row_every) {
        let new = SceneRow::of(simulation, before, Some(statistics))?;
        folder.add_row(&new, seconds)?;
        row = Some(new);
    }
    if due(scene.output.frame_every) || folder.picture_steps.contains(&done) {
        folder.add_frame(simulation)?;
    }
    folder.mark(simulation)?;
    Ok(row)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        numeric::{Compute, Precision},
        scene::{
            Scene,
            run::{SCENE, TABLES, TRACK},
        },
        study::Folder,
    };

    const TEXT: &str = r#"{"name": "tiny",
      "mesh": {"shape": "rectangle", "width_m": 0.1, "height_m": 0.1, "nx": 3, "ny": 3},
      "fabric": {"material": "cotton"}, "time_step_s": 0.01, "duration_s": 0.6,
      "handles": [{"name": "left", "vertices": {"end": "-x"}, "kind": "pin",
        "motions": [{"translate_m": [0, 0, 0.02], "from_s": 0, "to_s": 0.5}]}],
      "readings": ["total_angle"], "output": {"frames": "none", "film": false}}"#;

    fn prepared(text: &str) -> PreparedScene {
        let scene = Scene::parse(text, "scene.json", Path::new("")).unwrap();
        scene.prepare(&Compute::cpu(Precision::F64)).unwrap()
    }

    // A run that its watcher stops goes on from the last saved state and leaves the files of one that nobody stopped; its
    // folder takes no other scene.
    #[test]
    fn a_run_stopped_by_its_watcher_goes_on_to_the_same_bits() {
        let name = format!("rumple-scene-job-{}", std::process::id());
        let home = Folder::new(std::env::temp_dir().join(name));
        home.remove("").unwrap();
        let prepared = prepared(TEXT);
        let whole = home.inner("whole");
        let run = prepared
            .simulate(whole.path(), false, &mut |_| ControlFlow::Continue(()))
            .unwrap();
        run.outcome.unwrap();
        assert_eq!(run.simulation.step, 60);
        let stopped = home.inner("stopped");
        let mut stop_at_30 = |news: News| match news {
            News::Progress(p) if p.done >= 30 => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        };
        let run = prepared
            .simulate(stopped.path(), false, &mut stop_at_30)
            .unwrap();
        assert_eq!(run.simulation.step, 30);
        assert!(matches!(run.outcome, Err(Error::Interrupted(_))));
        let mut remarks = Vec::new();
        let run = prepared.simulate(stopped.path(), false, &mut |news| {
            if let News::Remark(text) = news {
                remarks.push(text.to_string());
            }
            ControlFlow::Continue(())
        });
        run.unwrap().outcome.unwrap();
        assert!(
            remarks[0].contains("going on after step 25 of 60"),
            "{remarks:?}"
        );
        let bytes = |folder: &Folder, name: &str| std::fs::read(folder.file(name)).unwrap();
        for name in [TABLES[0], TABLES[1], TRACK, SCENE, "state.bin"] {
            assert!(!bytes(&whole, name).is_empty());
            assert_eq!(bytes(&whole, name), bytes(&stopped, name), "{name}");
        }
        let other = self::prepared(&TEXT.replace("0.6", "0.7"));
        let refused = other.simulate(stopped.path(), false, &mut |_| ControlFlow::Continue(()));
        let said = refused.err().unwrap().to_string();
        assert!(
            said.contains("another scene") && said.contains("0.6 against 0.7"),
            "{said}"
        );
        home.remove("").unwrap();
    }
}
