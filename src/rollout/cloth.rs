//! Roll-outs of a cloth: many steps forward, and the gradient of readings back through them.
//!
//! There is one forward loop, [`ClothRollout::go_on`]. Scenes, readings, gradients and studies all run through it,
//! with the same safeguards: a linear solve that does not converge and a vertex that leaves all bounds are errors
//! that name the step, and the visitor of every step may stop the run by an error of its own.
//!
//! Forward runs without a tape. Backward needs the states before every step: all of them where they fit the
//! memory allowed, else those at checkpoints, between which they are computed once more. The schedule is a
//! pure function of integers, and no tape is longer than one step.

mod reverse;
#[cfg(test)]
mod tests;

pub(crate) use reverse::{ClothGradient, Recording};

use super::checkpoints;
use crate::{
    error::{Error, Result, bad_input},
    reading::Reading,
    solve::{SolveStatistics, Solver},
    step::{Cloth, Drive, Parameters, State},
};

/// A cloth and what is done to it.
pub struct ClothRollout<'a> {
    /// The cloth.
    pub cloth: &'a Cloth,
    /// What is done in step k, counted from 0; asked for again on the way back.
    pub drive: &'a dyn Fn(usize) -> Drive,
    /// How many steps.
    pub steps: usize,
    /// Most memory for kept states \[bytes\].
    pub memory: usize,
}

/// A reading after a number of steps, with the weight that it has in an objective.
#[derive(Debug, Clone)]
pub struct WatchedReading {
    /// Steps done before it is read, 0 to the number of steps.
    pub after: usize,
    /// What is read.
    pub reading: Reading,
    /// Its weight.
    pub weight: f64,
}

/// A step that was done, as the visitor of a forward run sees it.
#[derive(Debug, Clone, Copy)]
pub struct Passed<'a> {
    /// Steps done, this one included.
    pub done: usize,
    /// The state before the step.
    pub before: &'a State,
    /// The state after it.
    pub state: &'a State,
    /// What was done in it.
    pub drive: &'a Drive,
    /// How its linear solve went.
    pub statistics: SolveStatistics,
}

/// What one step leads to.
#[derive(Debug, Clone)]
pub struct Stepped {
    /// The state after it.
    pub state: State,
    /// What was done in it.
    pub drive: Drive,
    /// How its linear solve went.
    pub statistics: SolveStatistics,
}

/// The memory of a gradient: how the states are kept on the way forward, and what one step needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemoryForecast {
    /// One state \[bytes\].
    pub state: usize,
    /// States alive at once.
    pub states: usize,
    /// Whether all are kept, so that no step is computed twice.
    pub keeps_all: bool,
    /// One step with its tape and its solve \[bytes\].
    pub step: usize,
}

impl MemoryForecast {
    /// What a gradient will take \[bytes\].
    pub fn bytes(&self) -> usize {
        self.state * self.states + self.step
    }
}

/// Numbers that a step takes for each hinge and triangle, all temporaries included: measured on a twist of 400
/// vertices (`tests/inside/mesh/memory.rs` prints it).
const STEP_NUMBERS: usize = 220;

/// Memory for kept states where nothing else is said \[bytes\]: 1 GiB.
pub(crate) const MEMORY: usize = 1 << 30;

impl ClothRollout<'_> {
    /// What the gradient will need.
    pub fn forecast(&self, start: &State) -> MemoryForecast {
        let numbers: usize = start.list().iter().map(|f| f.shape().num_elements()).sum();
        let each = self.cloth.compute.bytes_per_number();
        let elements = self.cloth.topology.hinges.len() + self.cloth.mesh.triangles.len();
        let (state, all) = (numbers * each, self.steps + 1);
        let keeps_all = all * state <= self.memory;
        let kept = checkpoints(self.steps);
        // One checkpoint alone is followed by all steps.
        let stride = match kept.get(1) {
            Some(second) => *second,
            None => self.steps,
        };
        MemoryForecast {
            state,
            states: if keeps_all { all } else { kept.len() + stride },
            keeps_all,
            step: STEP_NUMBERS * elements * each,
        }
    }

    /// All steps from `start`; `visit` sees every step after it is done.
    ///
    /// # Errors
    /// Those of [`ClothRollout::step`]; those of `visit`, which ends the run.
    pub fn forward(
        &self,
        solver: &mut Solver,
        start: &State,
        parameters: &Parameters,
        visit: impl FnMut(&Passed) -> Result<()>,
    ) -> Result<State> {
        self.go_on(solver, (0, start), parameters, visit)
    }

    /// The steps that are left after `done` of them led to `state`. This is the one forward loop: whatever runs a
    /// cloth forward runs through it or takes a single [`ClothRollout::step`] of it.
    pub fn go_on(
        &self,
        solver: &mut Solver,
        (done, state): (usize, &State),
        parameters: &Parameters,
        visit: impl FnMut(&Passed) -> Result<()>,
    ) -> Result<State> {
        self.march(solver, state, parameters, done..self.steps, visit)
    }

    /// The steps of a span, from the state before its first.
    fn march(
        &self,
        solver: &mut Solver,
        start: &State,
        parameters: &Parameters,
        span: std::ops::Range<usize>,
        mut visit: impl FnMut(&Passed) -> Result<()>,
    ) -> Result<State> {
        let mut state = start.clone();
        for k in span {
            let next = self.step(solver, &state, parameters, k)?;
            visit(&Passed {
                done: k + 1,
                before: &state,
                state: &next.state,
                drive: &next.drive,
                statistics: next.statistics,
            })?;
            state = next.state;
        }
        Ok(state)
    }

    /// Step `k`, counted from 0, from the state before it.
    ///
    /// # Errors
    /// [`Error::NotConverged`] with step and residual where the linear solve does not reach its tolerance;
    /// [`Error::Diverged`] where a vertex is not finite or beyond all bounds. Both name the worst elements of the
    /// state before the step.
    pub fn step(
        &self,
        solver: &mut Solver,
        state: &State,
        parameters: &Parameters,
        k: usize,
    ) -> Result<Stepped> {
        let drive = (self.drive)(k);
        solver.begin_step(k);
        let advanced = self.cloth.advance(solver, state, parameters, &drive);
        let advanced = advanced.map_err(|e| e.at(&format!("step {k}")));
        let checked = advanced.and_then(|advanced| {
            self.cloth.check_bounds(&advanced.state, k)?;
            Ok(advanced)
        });
        let advanced = checked.map_err(|e| self.with_worst(e, state))?;
        Ok(Stepped {
            state: advanced.state,
            drive,
            statistics: advanced.statistics,
        })
    }

    /// A failed step's error with the worst elements of the state before it.
    fn with_worst(&self, error: Error, before: &State) -> Error {
        if !error.is_failed_run() {
            return error;
        }
        error.with_note(&match self.cloth.worst(before) {
            Ok(worst) => format!("In the state before it {worst}"),
            Err(why) => format!("The state before it cannot be read: {why}"),
        })
    }

    /// The readings, without a gradient.
    pub fn read(
        &self,
        solver: &mut Solver,
        start: &State,
        parameters: &Parameters,
        watches: &[WatchedReading],
    ) -> Result<Vec<f64>> {
        self.check(watches)?;
        let mut values = vec![f64::NAN; watches.len()];
        let mut look = |done: usize, state: &State| -> Result<()> {
            for (value, watch) in values.iter_mut().zip(watches) {
                if watch.after == done {
                    let drive = self.drive_before(done);
                    *value = watch.reading.value(self.cloth, state, parameters, &drive)?;
                }
            }
            Ok(())
        };
        look(0, start)?;
        self.forward(solver, start, parameters, |passed| {
            look(passed.done, passed.state)
        })?;
        Ok(values)
    }

    /// Refuses a reading after more steps than there are: it would never be taken.
    fn check(&self, watches: &[WatchedReading]) -> Result<()> {
        match watches.iter().find(|w| w.after > self.steps) {
            None => Ok(()),
            Some(watch) => bad_input(format!(
                "a reading is wanted after {} steps of a roll-out of {}; read it after at most {}",
                watch.after, self.steps, self.steps
            )),
        }
    }

    /// The drive that led to the state after `done` steps. The initial state has none: the drive of the first step
    /// is taken.
    fn drive_before(&self, done: usize) -> Drive {
        (self.drive)(done.saturating_sub(1))
    }
}
