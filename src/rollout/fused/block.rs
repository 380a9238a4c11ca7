//! A block of hinges through the whole schedule, forward and reverse.
//!
//! A block is small enough that its tape stays in the second-level cache, and every loop over its
//! lanes is straight-line code, which the compiler turns into vector instructions; a hinge's
//! neighbours hide the latency of its exponentials.

// Lane loops run over many arrays at once: an index says it plainly and vectorises.
#![allow(clippy::needless_range_loop)]

use super::{
    gate::{Compiled, LaneGate, LawGate},
    lane::{
        Coefficients, flow, flow_time, freshness, friction_excess, pull_back_friction,
        pull_back_plasticity, pull_back_release, pull_back_stress, release, slide, stress,
        yield_excess,
    },
    real::Real,
    row::{LANES, LaneRow, Lanes, PARAMETERS, load, store},
};
use crate::rollout::{HingeReading, Schedule, Step, StepKind};

/// What a block needs to run: coefficients and drive of its lanes. A short last block repeats its
/// last hinge.
pub(crate) struct Block<R> {
    coefficients: [Lanes<R>; 10],
    amplitude: Lanes<R>,
    duration: Lanes<R>,
}

impl<R: Real> Block<R> {
    /// Gathers the lanes of hinges `first..last` from row-major parameters `[points, 9]`.
    pub(crate) fn gather(
        first: usize,
        last: usize,
        hinges: usize,
        parameters: &[R],
        amplitude: &[f64],
        duration: &[f64],
    ) -> Self {
        let mut block = Block {
            coefficients: [[R::default(); LANES]; 10],
            amplitude: [R::default(); LANES],
            duration: [R::default(); LANES],
        };
        let one = R::from_f64(1.0);
        for i in 0..LANES {
            let hinge = (first + i).min(last - 1);
            let row = &parameters[hinge / hinges * PARAMETERS..][..PARAMETERS];
            for (c, value) in block.coefficients.iter_mut().zip(row) {
                c[i] = *value;
            }
            block.coefficients[4][i] = one / row[4];
            block.coefficients[8][i] = one / row[8];
            block.coefficients[9][i] = one / row[0];
            block.amplitude[i] = R::from_f64(amplitude[hinge]);
            block.duration[i] = R::from_f64(duration[hinge]);
        }
        block
    }

    #[inline(always)]
    fn coefficients(&self, i: usize) -> Coefficients<R> {
        load(&self.coefficients, i)
    }

    /// Virgin cloth.
    #[inline(always)]
    fn start(&self) -> LaneRow<R> {
        let mut row = LaneRow::zeros();
        row.state[7] = self.coefficients[5];
        row
    }

    /// One step from `before` to `after`.
    #[inline(always)]
    fn step<G: LawGate<R>>(
        &self,
        gate: G,
        schedule: &Schedule,
        k: usize,
        before: &mut LaneRow<R>,
        after: &mut LaneRow<R>,
    ) {
        let step = &schedule.steps[k];
        let dt: Lanes<R> = self.step_time(step);
        for i in 0..LANES {
            let (p, hinge) = (self.coefficients(i), before.hinge(i));
            before.saved[0][i] = freshness(&p, gate, &hinge);
        }
        let mut yielding = [R::default(); LANES];
        match step.motion {
            StepKind::Prescribe { fraction } => {
                let fraction = R::from_f64(fraction);
                for i in 0..LANES {
                    after.state[0][i] = self.amplitude[i] * fraction;
                }
                self.slide(gate, &dt, before, after, &mut yielding);
            }
            StepKind::Creep { mobility } => {
                let mobility = R::from_f64(mobility);
                for i in 0..LANES {
                    let (p, hinge) = (self.coefficients(i), before.hinge(i));
                    after.state[0][i] = hinge.strain - stress(&p, &hinge) * mobility;
                }
                self.slide(gate, &dt, before, after, &mut yielding);
            }
            StepKind::Release => {
                for i in 0..LANES {
                    let (p, hinge) = (self.coefficients(i), before.hinge(i));
                    let fresh = before.saved[0][i];
                    let released = release(&p, gate, &hinge, fresh, dt[i]);
                    after.state[0][i] = released.strain;
                    after.state[1][i] = released.anchor;
                    after.state[2][i] = released.stick_time;
                    before.saved[1][i] = released.slip;
                    yielding[i] = yield_excess(&hinge, released.strain);
                    before.saved[2][i] = gate.weight(yielding[i]);
                }
            }
        }
        self.flow(gate, &dt, before, after, &yielding);
    }

    /// Time of a step for each lane.
    #[inline(always)]
    fn step_time(&self, step: &Step) -> Lanes<R> {
        let (seconds, share) = (R::from_f64(step.seconds), R::from_f64(step.share));
        let mut dt = [R::default(); LANES];
        for i in 0..LANES {
            dt[i] = self.duration[i] * share + seconds;
        }
        dt
    }

    /// Friction at a known strain, and the excess over the yield surface with its weight.
    #[inline(always)]
    fn slide<G: LawGate<R>>(
        &self,
        gate: G,
        dt: &Lanes<R>,
        before: &mut LaneRow<R>,
        after: &mut LaneRow<R>,
        yielding: &mut Lanes<R>,
    ) {
        let mut slipping = [R::default(); LANES];
        for i in 0..LANES {
            let (p, hinge, strain) = (self.coefficients(i), before.hinge(i), after.state[0][i]);
            slipping[i] = friction_excess(&p, &hinge, strain, before.saved[0][i]);
            yielding[i] = yield_excess(&hinge, strain);
        }
        for i in 0..LANES {
            (before.saved[1][i], before.saved[2][i]) = gate.weights(slipping[i], yielding[i]);
        }
        for i in 0..LANES {
            let (hinge, strain, slip) = (before.hinge(i), after.state[0][i], before.saved[1][i]);
            (after.state[1][i], after.state[2][i]) =
                slide(gate, &hinge, strain, dt[i], slipping[i], slip);
        }
    }

    /// Plasticity at a known strain.
    #[inline(always)]
    fn flow<G: LawGate<R>>(
        &self,
        gate: G,
        dt: &Lanes<R>,
        before: &mut LaneRow<R>,
        after: &mut LaneRow<R>,
        yielding: &Lanes<R>,
    ) {
        for i in 0..LANES {
            let (p, hinge) = (self.coefficients(i), before.hinge(i));
            let (strain, weight) = (after.state[0][i], before.saved[2][i]);
            (after.state[5][i], before.saved[3][i]) =
                flow_time(&p, gate, &hinge, strain, dt[i], weight);
        }
        for i in 0..LANES {
            let (p, hinge, saved) = (self.coefficients(i), before.hinge(i), before.saved(i));
            let new = flow(&p, gate, &hinge, after.hinge(i), yielding[i], &saved);
            after.set(i, new);
        }
    }

    /// Runs the schedule; `readings` is `[lane, reading]` of the lanes that exist.
    #[inline(always)]
    pub(crate) fn forward<G: LaneGate<R>, const FMA: bool>(
        &self,
        gate: G,
        schedule: &Schedule,
        readings: &mut [R],
    ) {
        let gate = Compiled::<G, FMA>(gate);
        // Two rows by turns: swapping them would move their contents.
        let (mut even, mut odd) = (self.start(), LaneRow::zeros());
        for k in 0..schedule.steps.len() {
            let (before, after) = if k % 2 == 0 {
                (&mut even, &mut odd)
            } else {
                (&mut odd, &mut even)
            };
            self.step(gate, schedule, k, before, after);
            self.read(schedule, k, after, readings);
        }
    }

    /// Takes the reading of step `k`, if there is one.
    #[inline(always)]
    fn read(&self, schedule: &Schedule, k: usize, after: &LaneRow<R>, readings: &mut [R]) {
        let Some(r) = schedule.reading_at(k) else {
            return;
        };
        for (i, row) in readings
            .chunks_exact_mut(schedule.readings.len())
            .enumerate()
        {
            row[r] = match schedule.reading {
                HingeReading::Strain => after.state[0][i],
                HingeReading::Stress => stress(&self.coefficients(i), &after.hinge(i)),
            };
        }
    }

    /// Runs the schedule and returns the gradient of Σ cotangent·readings with respect to each lane's
    /// parameters. `readings` and `cotangent` are `[lane, reading]` of the lanes that exist; `tape` is
    /// working space.
    #[inline(always)]
    pub(crate) fn gradient<G: LaneGate<R>, const FMA: bool>(
        &self,
        gate: G,
        schedule: &Schedule,
        readings: &mut [R],
        cotangent: &[R],
        tape: &mut Vec<LaneRow<R>>,
    ) -> [Lanes<R>; PARAMETERS] {
        let gate = Compiled::<G, FMA>(gate);
        let steps = schedule.steps.len();
        tape.resize(steps + 1, LaneRow::zeros());
        tape[0] = self.start();
        for k in 0..steps {
            let (before, after) = tape[k..k + 2].split_at_mut(1);
            self.step(gate, schedule, k, &mut before[0], &mut after[0]);
            self.read(schedule, k, &after[0], readings);
        }
        let mut adjoint = LaneRow::zeros();
        let mut total = [[R::default(); LANES]; 10];
        for k in (0..steps).rev() {
            if let Some(r) = schedule.reading_at(k) {
                self.seed(
                    schedule,
                    &tape[k + 1],
                    cotangent,
                    r,
                    &mut adjoint,
                    &mut total,
                );
            }
            self.step_back(
                gate,
                schedule,
                k,
                &tape[k],
                &tape[k + 1],
                &mut adjoint,
                &mut total,
            );
        }
        self.parameter_gradient(&adjoint, &total)
    }

    /// Adds the cotangent of reading `r` to the adjoint.
    #[inline(always)]
    fn seed(
        &self,
        schedule: &Schedule,
        after: &LaneRow<R>,
        cotangent: &[R],
        r: usize,
        adjoint: &mut LaneRow<R>,
        total: &mut [Lanes<R>; 10],
    ) {
        for (i, row) in cotangent.chunks_exact(schedule.readings.len()).enumerate() {
            let weight = row[r];
            match schedule.reading {
                HingeReading::Strain => adjoint.state[0][i] += weight,
                HingeReading::Stress => {
                    let (p, hinge) = (self.coefficients(i), after.hinge(i));
                    let (mut back, mut sum) = (adjoint.hinge(i), load(total, i));
                    pull_back_stress(&p, &hinge, weight, &mut back, &mut sum);
                    adjoint.set(i, back);
                    store(total, i, &sum);
                }
            }
        }
    }

    /// Reverse of [`Block::step`].
    #[inline(always)]
    #[allow(clippy::too_many_arguments)]
    fn step_back<G: LawGate<R>>(
        &self,
        gate: G,
        schedule: &Schedule,
        k: usize,
        before: &LaneRow<R>,
        after: &LaneRow<R>,
        adjoint: &mut LaneRow<R>,
        total: &mut [Lanes<R>; 10],
    ) {
        let step = &schedule.steps[k];
        let dt = self.step_time(step);
        for i in 0..LANES {
            let (p, old, new) = (self.coefficients(i), before.hinge(i), after.hinge(i));
            let (mut back, mut sum) = (adjoint.hinge(i), load(total, i));
            let saved = before.saved(i);
            pull_back_plasticity(&p, gate, &old, &new, &saved, dt[i], &mut back, &mut sum);
            adjoint.set(i, back);
            store(total, i, &sum);
        }
        if let StepKind::Release = step.motion {
            for i in 0..LANES {
                let (p, hinge, fresh) = (self.coefficients(i), before.hinge(i), before.saved[0][i]);
                let (mut back, mut sum) = (adjoint.hinge(i), load(total, i));
                let released = release(&p, gate, &hinge, fresh, dt[i]);
                pull_back_release(
                    &p, gate, &hinge, fresh, dt[i], &released, &mut back, &mut sum,
                );
                adjoint.set(i, back);
                store(total, i, &sum);
            }
            return;
        }
        for i in 0..LANES {
            let (p, old, new) = (self.coefficients(i), before.hinge(i), after.hinge(i));
            let (mut back, mut sum) = (adjoint.hinge(i), load(total, i));
            let saved = before.saved(i);
            pull_back_friction(&p, gate, &old, &new, &saved, dt[i], &mut back, &mut sum);
            adjoint.set(i, back);
            store(total, i, &sum);
        }
        let StepKind::Creep { mobility } = step.motion else {
            adjoint.state[0] = [R::default(); LANES];
            return;
        };
        let mobility = R::from_f64(mobility);
        for i in 0..LANES {
            let (p, hinge) = (self.coefficients(i), before.hinge(i));
            let (mut back, mut sum) = (adjoint.hinge(i), load(total, i));
            let moved = -(back.strain * mobility);
            pull_back_stress(&p, &hinge, moved, &mut back, &mut sum);
            adjoint.set(i, back);
            store(total, i, &sum);
        }
    }

    /// From the adjoints of coefficients and virgin state to the law's parameters.
    fn parameter_gradient(
        &self,
        start: &LaneRow<R>,
        total: &[Lanes<R>; 10],
    ) -> [Lanes<R>; PARAMETERS] {
        let mut gradient = [[R::default(); LANES]; PARAMETERS];
        gradient.copy_from_slice(&total[..PARAMETERS]);
        for i in 0..LANES {
            let (dwell, flow) = (self.coefficients[4][i], self.coefficients[8][i]);
            gradient[4][i] = -(total[4][i] * dwell * dwell);
            gradient[5][i] += start.state[7][i];
            gradient[8][i] = -(total[8][i] * flow * flow);
        }
        gradient
    }
}
