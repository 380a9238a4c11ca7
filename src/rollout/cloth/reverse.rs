//! The way back through a roll-out.

use super::{ClothRollout, Passed, WatchedReading, checkpoints};
use crate::{
    error::Result,
    numeric::Field,
    solve::Solver,
    step::{Cloth, Parameters, State},
};

/// The gradient of a weighted sum of readings.
#[derive(Debug, Clone)]
pub struct ClothGradient {
    /// The readings, in the order of the watches.
    pub values: Vec<f64>,
    /// Of the initial state.
    pub start: State,
    /// Of the parameters with the initial state held.
    pub parameters: Parameters,
    /// Most states that were alive at once.
    pub kept_states: usize,
}

/// The gradient of what is done in one step.
#[derive(Debug, Clone)]
pub struct DriveGradient {
    /// Of the anchors, `[3, vertices]`.
    pub anchors: Field,
    /// Of the obstacles' centres, `[3, 1]` each.
    pub centers: Vec<Field>,
}

impl ClothGradient {
    /// Of the parameters where the cloth started virgin, whose history depends on them. `cloth` and `parameters` are
    /// those of the gradient.
    pub fn since_virgin(&self, cloth: &Cloth, parameters: &Parameters) -> Parameters {
        let start = cloth.pull_back_start(parameters, &self.start);
        self.parameters.plus(&start)
    }
}

/// A forward run with the states that the way back starts from.
#[derive(Debug, Clone)]
pub struct Recording {
    /// Steps before which a state was kept, increasing.
    kept: Vec<usize>,
    /// These states.
    saved: Vec<State>,
    last: State,
}

impl Recording {
    /// The state after the last step.
    pub fn last(&self) -> &State {
        &self.last
    }
}

impl ClothRollout<'_> {
    /// All steps from `start`, with what the way back needs: every state where the memory allows it, else the
    /// checkpoints ([`ClothRollout::forecast`] says which). The steps, their checks and their bits are those of
    /// [`ClothRollout::forward`].
    pub fn record(
        &self,
        solver: &mut Solver,
        start: &State,
        parameters: &Parameters,
        mut visit: impl FnMut(&Passed) -> Result<()>,
    ) -> Result<Recording> {
        let kept = if self.forecast(start).keeps_all {
            (0..self.steps).collect()
        } else {
            checkpoints(self.steps)
        };
        let mut saved = Vec::with_capacity(kept.len());
        let last = self.forward(solver, start, parameters, |passed| {
            if kept.binary_search(&(passed.done - 1)).is_ok() {
                saved.push(passed.before.clone());
            }
            visit(passed)
        })?;
        Ok(Recording { kept, saved, last })
    }

    /// The readings and the gradient of Σ weight·reading.
    pub fn gradient(
        &self,
        solver: &mut Solver,
        start: &State,
        parameters: &Parameters,
        watches: &[WatchedReading],
    ) -> Result<ClothGradient> {
        self.gradient_of_all(solver, start, parameters, watches, |_, _| Ok(()))
    }

    /// The same with the gradient of every drive: `visit` has it with the number of its step, from the last
    /// to the first. They are not kept, since together they would take memory that grows with the roll-out.
    pub fn gradient_of_all(
        &self,
        solver: &mut Solver,
        start: &State,
        parameters: &Parameters,
        watches: &[WatchedReading],
        visit: impl FnMut(usize, DriveGradient) -> Result<()>,
    ) -> Result<ClothGradient> {
        self.check(watches)?;
        let recording = self.record(solver, start, parameters, |_| Ok(()))?;
        self.reverse(solver, &recording, parameters, watches, visit)
    }

    /// The way back through a recorded run: the readings and the gradient of Σ weight·reading. One recording may be
    /// gone back through many times, for other watches.
    ///
    /// # Errors
    /// A watch after more steps than there are; a step that fails on the way back, with its number.
    pub fn reverse(
        &self,
        solver: &mut Solver,
        recording: &Recording,
        parameters: &Parameters,
        watches: &[WatchedReading],
        mut visit: impl FnMut(usize, DriveGradient) -> Result<()>,
    ) -> Result<ClothGradient> {
        self.check(watches)?;
        let Recording { kept, saved, last } = recording;
        let mut reverse = ClothReverse::new(self, parameters, watches, last);
        reverse.read(self.steps, last)?;
        let mut state = last.clone();
        let mut end = self.steps;
        let mut alive = saved.len() + 1;
        for (&first, checkpoint) in kept.iter().zip(saved).rev() {
            let mut states = vec![checkpoint.clone()];
            self.march(solver, checkpoint, parameters, first..end - 1, |passed| {
                states.push(passed.state.clone());
                Ok(())
            })?;
            alive = alive.max(states.len() + kept.len());
            states.push(state);
            for k in (first..end).rev() {
                let before_and_after = (&states[k - first], &states[k + 1 - first]);
                visit(k, reverse.step(solver, k, before_and_after)?)?;
            }
            state = states.swap_remove(0);
            end = first;
        }
        Ok(reverse.finish(alive))
    }
}

/// The way back.
struct ClothReverse<'a> {
    rollout: &'a ClothRollout<'a>,
    parameters: &'a Parameters,
    watches: &'a [WatchedReading],
    values: Vec<f64>,
    adjoint: State,
    total: Parameters,
    /// Of the anchors of the step that is next on the way back, from readings of its result.
    read_anchors: Field,
}

impl<'a> ClothReverse<'a> {
    fn new(
        rollout: &'a ClothRollout<'a>,
        parameters: &'a Parameters,
        watches: &'a [WatchedReading],
        last: &State,
    ) -> Self {
        ClothReverse {
            rollout,
            parameters,
            watches,
            values: vec![f64::NAN; watches.len()],
            adjoint: last.map(Field::zeros_like),
            total: parameters.map(Field::zeros_like),
            read_anchors: last.positions.zeros_like(),
        }
    }

    /// Readings of the state after `done` steps.
    fn read(&mut self, done: usize, state: &State) -> Result<()> {
        for (value, watch) in self.values.iter_mut().zip(self.watches) {
            if watch.after != done {
                continue;
            }
            let drive = self.rollout.drive_before(done);
            let cloth = self.rollout.cloth;
            let read =
                watch
                    .reading
                    .linearized(cloth, state, self.parameters, &drive, watch.weight)?;
            *value = read.value;
            self.adjoint = self.adjoint.plus(&read.state);
            self.total = self.total.plus(&read.parameters);
            self.read_anchors = self.read_anchors.clone() + read.anchors;
        }
        Ok(())
    }

    fn step(
        &mut self,
        solver: &mut Solver,
        k: usize,
        states: (&State, &State),
    ) -> Result<DriveGradient> {
        let drive = (self.rollout.drive)(k);
        let cloth = self.rollout.cloth;
        let back = cloth.pull_back(solver, states, self.parameters, &drive, &self.adjoint);
        let back = back.map_err(|e| e.at(&format!("step {k} of the reverse sweep")))?;
        self.adjoint = back.state;
        self.total = self.total.plus(&back.parameters);
        let mut anchors = back.anchors + self.take_read_anchors();
        self.read(k, states.0)?;
        if k == 0 {
            // A reading of the initial state looks at the first step's drive.
            anchors = anchors + self.take_read_anchors();
        }
        Ok(DriveGradient {
            anchors,
            centers: back.centers,
        })
    }

    fn take_read_anchors(&mut self) -> Field {
        let none = self.read_anchors.zeros_like();
        std::mem::replace(&mut self.read_anchors, none)
    }

    fn finish(self, kept_states: usize) -> ClothGradient {
        ClothGradient {
            values: self.values,
            parameters: self.total,
            start: self.adjoint,
            kept_states,
        }
    }
}
