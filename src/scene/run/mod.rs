//! Runs of scenes: step by step, measured, kept on disk so that they go on after a stop.
//!
//! - [`Simulation`]: a state and the step it is at. Its steps are those of [`crate::rollout::cloth`], which
//!   stops at the first one that fails and names the worst elements.
//! - [`SceneRow`]: what is read off the cloth after a step, for the tables.
//! - [`Snapshot`]: the exact bits of a state in a file.
//! - [`FrameFile`]: frames that grow with the run and can be cut back to a snapshot, as the tables can
//!   ([`crate::study::Log`]).
//! - [`PreparedScene::simulate`]: all of it in a folder.

mod folder;
mod forecast;
mod job;
mod measure;
mod snapshot;
mod track;

pub(crate) use self::folder::{FILM, FRAMES, PICTURES, PLOTS, SCENE, TABLES, TRACK};
pub(crate) use self::forecast::prepare_within_memory;
pub use self::job::SceneRun;
pub(crate) use self::measure::{SceneRow, vertex_angles};
pub(crate) use self::measure::{angle_sizes, read_all};
pub(crate) use self::snapshot::Snapshot;
pub(crate) use self::track::{FrameFile, StoredFrame};

use crate::{
    error::{Error, Result},
    rollout::cloth::Passed,
    scene::{PreparedScene, prepared::FORGET_EVERY},
    solve::{SolveStatistics, Solver},
    step::State,
};

/// A run at some step.
pub struct Simulation<'a> {
    pub prepared: &'a PreparedScene,
    pub state: State,
    /// How many steps are done.
    pub step: usize,
    /// Age of the material \[s\]: differs from the time where the scene's clock does.
    pub material_time: f64,
    solver: Solver,
}

impl<'a> Simulation<'a> {
    /// Before the first step.
    pub fn start(prepared: &'a PreparedScene) -> Result<Simulation<'a>> {
        Ok(Simulation {
            state: prepared.start(),
            step: 0,
            material_time: 0.0,
            solver: prepared.solver()?,
            prepared,
        })
    }

    /// Where a snapshot was taken.
    pub fn resume(prepared: &'a PreparedScene, snapshot: &Snapshot) -> Result<Simulation<'a>> {
        let mut simulation = Simulation::start(prepared)?;
        simulation.state = snapshot.state(&simulation.state, &prepared.cloth.compute)?;
        simulation.step = snapshot.step;
        simulation.material_time = snapshot.material_time;
        Ok(simulation)
    }

    /// Whether all steps are done.
    pub fn finished(&self) -> bool {
        self.step >= self.prepared.scene.clock.steps
    }

    /// \[s\]
    pub fn time(&self) -> f64 {
        self.step as f64 * self.prepared.scene.clock.step
    }

    /// Whether a run that goes on from here gives the same bits as one without a stop: the solver has nothing
    /// left from earlier steps, or no step follows.
    pub fn is_resting_place(&self) -> bool {
        self.step.is_multiple_of(FORGET_EVERY) || self.finished()
    }

    /// All steps that are left. `watch` sees the run after every step, with the state before it and how the solve
    /// went; an error of its own, such as [`Error::Interrupted`], stops the run after that step.
    ///
    /// # Errors
    /// Those of [`crate::rollout::cloth::ClothRollout::step`] and of `watch`. The run is then where the last good step left it.
    pub fn run(
        &mut self,
        mut watch: impl FnMut(&Simulation, &State, SolveStatistics) -> Result<()>,
    ) -> Result<()> {
        let prepared = self.prepared;
        let drive = |step: usize| prepared.drive(step);
        let rollout = prepared.rollout(&drive);
        // The loop needs the solver while the watcher sees the run.
        let mut solver = self.solver.clone();
        let (step, state) = (self.step, self.state.clone());
        let see = |passed: &Passed| {
            self.material_time += passed.drive.material_seconds + passed.drive.elapse;
            self.step = passed.done;
            self.state = passed.state.clone();
            watch(self, passed.before, passed.statistics)
        };
        let ended = rollout.go_on(&mut solver, (step, &state), &prepared.parameters, see);
        self.solver = solver;
        ended.map(|_| ()).map_err(|e| self.in_time(e))
    }

    /// A failed step's error in the words of a scene: the times of the step and the key to change.
    fn in_time(&self, error: Error) -> Error {
        let (from, to) = (self.time(), self.time() + self.prepared.scene.clock.step);
        error.with_note(&format!(
            "The step leads from {from:.6} to {to:.6} s of the scene, which may need a smaller time_step_s"
        ))
    }
}
