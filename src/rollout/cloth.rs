//! Roll-outs of a cloth: many steps forward, and the gradient of readings back through them.
//!
//! Forward runs without a tape. Backward needs the states before every step: all of them where they fit the
//! memory allowed, else those at checkpoints, between which they are computed once more. The schedule is a
//! pure function of integers, and no tape is longer than one step.

use super::checkpoints;
use crate::{
    error::{Error, Result},
    numeric::Field,
    reading::Reading,
    solve::{Solver, Statistics},
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
pub struct Watch {
    /// Steps done before it is read, 0 to the number of steps.
    pub after: usize,
    /// What is read.
    pub reading: Reading,
    /// Its weight.
    pub weight: f64,
}

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
    /// Of the parameters where the cloth started virgin, whose history depends on them.
    pub fn from_virgin(&self, cloth: &Cloth, parameters: &Parameters) -> Parameters {
        let start = cloth.pull_back_start(parameters, &self.start);
        add_parameters(&self.parameters, &start)
    }
}

/// The memory of a gradient: how the states are kept on the way forward, and what one step needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Forecast {
    /// One state \[bytes\].
    pub state: usize,
    /// States alive at once.
    pub states: usize,
    /// Whether all are kept, so that no step is computed twice.
    pub keeps_all: bool,
    /// One step with its tape and its solve \[bytes\].
    pub step: usize,
}

impl Forecast {
    /// What a gradient will take \[bytes\].
    pub fn bytes(&self) -> usize {
        self.state * self.states + self.step
    }
}

/// Numbers that a step takes for each hinge and triangle, all temporaries included: measured on a twist of 400
/// vertices (`tests/inside/mesh/memory.rs` prints it).
const STEP_NUMBERS: usize = 220;

/// Memory for kept states where nothing else is said \[bytes\]: 1 GiB.
pub const MEMORY: usize = 1 << 30;

impl ClothRollout<'_> {
    /// What the gradient will need.
    pub fn forecast(&self, start: &State) -> Forecast {
        let numbers: usize = start.list().iter().map(|f| f.shape().num_elements()).sum();
        let each = self.cloth.compute.bytes_per_number();
        let elements = self.cloth.topology.hinges.len() + self.cloth.mesh.triangles.len();
        let (state, all) = (numbers * each, self.steps + 1);
        let keeps_all = all * state <= self.memory;
        let kept = checkpoints(self.steps);
        let stride = kept.get(1).copied().unwrap_or(self.steps);
        Forecast {
            state,
            states: if keeps_all { all } else { kept.len() + stride },
            keeps_all,
            step: STEP_NUMBERS * elements * each,
        }
    }

    /// All steps from `start`; `visit` sees every state with the number of steps done before it.
    pub fn forward(
        &self,
        solver: &mut Solver,
        start: &State,
        parameters: &Parameters,
        mut visit: impl FnMut(usize, &State, &Statistics) -> Result<()>,
    ) -> Result<State> {
        let mut state = start.clone();
        for k in 0..self.steps {
            let (next, statistics) = self.step(solver, &state, parameters, k)?;
            state = next;
            visit(k + 1, &state, &statistics)?;
        }
        Ok(state)
    }

    /// Step `k`; an error where it is not finite.
    pub fn step(
        &self,
        solver: &mut Solver,
        state: &State,
        parameters: &Parameters,
        k: usize,
    ) -> Result<(State, Statistics)> {
        let drive = (self.drive)(k);
        let in_step = |e: Error| match e {
            Error::BadInput(message) => Error::BadInput(format!("step {}: {message}", k + 1)),
            other => other,
        };
        let next = self.cloth.advance(solver, state, parameters, &drive);
        let next = next.map_err(in_step)?;
        self.cloth.check_finite(state, &next.state, k + 1)?;
        Ok((next.state, next.statistics))
    }

    /// The readings, without a gradient.
    pub fn read(
        &self,
        solver: &mut Solver,
        start: &State,
        parameters: &Parameters,
        watches: &[Watch],
    ) -> Result<Vec<f64>> {
        let mut values = vec![0.0; watches.len()];
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
        self.forward(solver, start, parameters, |done, state, _| {
            look(done, state)
        })?;
        Ok(values)
    }

    /// The readings and the gradient of Σ weight·reading.
    pub fn gradient(
        &self,
        solver: &mut Solver,
        start: &State,
        parameters: &Parameters,
        watches: &[Watch],
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
        watches: &[Watch],
        mut visit: impl FnMut(usize, DriveGradient) -> Result<()>,
    ) -> Result<ClothGradient> {
        let forecast = self.forecast(start);
        let kept = if forecast.keeps_all {
            (0..self.steps).collect()
        } else {
            checkpoints(self.steps)
        };
        let mut saved = Vec::with_capacity(kept.len());
        let mut state = start.clone();
        for k in 0..self.steps {
            if kept.binary_search(&k).is_ok() {
                saved.push(state.clone());
            }
            state = self.step(solver, &state, parameters, k)?.0;
        }
        let mut reverse = Reverse::new(self, parameters, watches, &state);
        reverse.read(self.steps, &state)?;
        let mut end = self.steps;
        let mut alive = saved.len() + 1;
        for (&first, checkpoint) in kept.iter().zip(saved).rev() {
            let mut states = vec![checkpoint];
            for k in first..end - 1 {
                let next = self
                    .step(solver, &states[states.len() - 1], parameters, k)?
                    .0;
                states.push(next);
            }
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

    /// The drive that led to the state after `done` steps.
    fn drive_before(&self, done: usize) -> Drive {
        (self.drive)(done.saturating_sub(1))
    }
}

/// The way back.
struct Reverse<'a> {
    rollout: &'a ClothRollout<'a>,
    parameters: &'a Parameters,
    watches: &'a [Watch],
    values: Vec<f64>,
    adjoint: State,
    total: Parameters,
    /// Of the anchors of the step that is next on the way back, from readings of its result.
    read_anchors: Field,
}

impl<'a> Reverse<'a> {
    fn new(
        rollout: &'a ClothRollout<'a>,
        parameters: &'a Parameters,
        watches: &'a [Watch],
        last: &State,
    ) -> Self {
        Reverse {
            rollout,
            parameters,
            watches,
            values: vec![0.0; watches.len()],
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
            self.adjoint = add_states(&self.adjoint, &read.state);
            self.total = add_parameters(&self.total, &read.parameters);
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
        let back = cloth.pull_back(solver, states, self.parameters, &drive, &self.adjoint)?;
        self.adjoint = back.state;
        self.total = add_parameters(&self.total, &back.parameters);
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

fn add_states(a: &State, b: &State) -> State {
    let add = |a: &[Field], b: &[Field]| {
        let pairs = a.iter().zip(b);
        pairs.map(|(a, b)| a.clone() + b.clone()).collect()
    };
    State {
        positions: a.positions.clone() + b.positions.clone(),
        velocities: a.velocities.clone() + b.velocities.clone(),
        bending: add(&a.bending, &b.bending),
        tensile: add(&a.tensile, &b.tensile),
    }
}

fn add_parameters(a: &Parameters, b: &Parameters) -> Parameters {
    let mut others = b.list().into_iter();
    // The two lists are of one shape: both come from one cloth's parameters.
    a.map(|field| match others.next() {
        Some(other) => field.clone() + other.clone(),
        None => field.clone(),
    })
}
