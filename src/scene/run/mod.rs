//! Runs of scenes: step by step, measured, kept on disk so that they go on after a stop.
//!
//! - [`Simulation`]: a state and the step it is at; [`Simulation::advance`] stops at the first step that is
//!   not finite and names the worst element.
//! - [`Row`]: what is read off the cloth after a step, for the tables.
//! - [`Snapshot`]: the exact bits of a state in a file.
//! - [`FrameFile`]: frames that grow with the run and can be cut back to a snapshot, as the tables can
//!   ([`crate::study::Log`]).
//! - [`simulate`]: all of it in a folder.

mod folder;
mod forecast;
mod job;
mod measure;
mod snapshot;
mod track;

pub use self::{
    folder::{FILM, FRAMES, PICTURES, PLOTS, SCENE, TABLES, TRACK},
    forecast::prepare_within_memory,
    job::{SceneRun, simulate},
    measure::{Energies, Row, vertex_angles},
    snapshot::Snapshot,
    track::{FrameFile, StoredFrame},
};

use crate::{
    error::{Error, Result},
    scene::Prepared,
    solve::{Solver, Statistics},
    step::State,
};

/// A run at some step.
pub struct Simulation<'a> {
    /// What is run.
    pub prepared: &'a Prepared,
    /// Where it is.
    pub state: State,
    /// How many steps are done.
    pub step: usize,
    /// Age of the material \[s\]: differs from the time where the scene's clock does.
    pub material_time: f64,
    solver: Solver,
}

/// Steps after which the solver drops the factor that it keeps; a run goes on from such steps. One more factor
/// in so many steps costs little, and a stop loses no more than these.
const FORGET_EVERY: usize = 25;
/// Coordinates beyond this \[m\] count as diverged: no scene is as large.
const LARGEST: f64 = 1e6;

impl<'a> Simulation<'a> {
    /// Before the first step.
    pub fn start(prepared: &'a Prepared) -> Result<Simulation<'a>> {
        Ok(Simulation {
            state: prepared.start(),
            step: 0,
            material_time: 0.0,
            solver: prepared.solver()?,
            prepared,
        })
    }

    /// Where a snapshot was taken.
    pub fn resume(prepared: &'a Prepared, snapshot: &Snapshot) -> Result<Simulation<'a>> {
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

    /// One step. The state before it is returned, for comparison.
    ///
    /// # Errors
    /// [`Error::CheckFailed`] where the step gives numbers that are not finite; the state is then still the
    /// one before it.
    pub fn advance(&mut self) -> Result<(State, Statistics)> {
        let Prepared {
            cloth, parameters, ..
        } = self.prepared;
        if self.step.is_multiple_of(FORGET_EVERY) {
            self.solver.forget();
        }
        let drive = self.prepared.drive(self.step);
        let advanced = match cloth.advance(&mut self.solver, &self.state, parameters, &drive) {
            Ok(advanced) => advanced,
            Err(Error::BadInput(why)) => return Err(self.diverged(&why)),
            Err(other) => return Err(other),
        };
        let positions = cloth.compute.values(advanced.state.positions.clone())?;
        // Written so that NaN is refused as well.
        if !positions.iter().all(|x| x.abs() <= LARGEST) {
            return Err(self.diverged("a vertex is nowhere"));
        }
        self.material_time += drive.material_seconds + drive.elapse;
        self.step += 1;
        let before = std::mem::replace(&mut self.state, advanced.state);
        Ok((before, advanced.statistics))
    }

    fn diverged(&self, why: &str) -> Error {
        let h = self.prepared.scene.clock.step;
        let worst = self
            .prepared
            .cloth
            .worst(&self.state)
            .unwrap_or_else(|_| "the state before it cannot be read".into());
        Error::CheckFailed(format!(
            "the run diverged in step {} (from {:.6} to {:.6} s): {why}. In the state before it {worst}. \
             Take a smaller time_step_s, slower motions or softer springs, or add damping",
            self.step,
            self.time(),
            self.time() + h
        ))
    }
}
