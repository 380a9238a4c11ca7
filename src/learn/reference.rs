//! The reference simulation: the loss minimised frame by frame, with hard return mapping in between. The
//! yardstick of every metric.
//!
//! Each frame is found by Newton's method with a positive definite matrix ([`crate::solve`]: sparse Cholesky on the
//! CPU) and a backtracking line search, from the frame before moved along with the body.

use super::{
    BodyMotion, BodyScene, GarmentBatch, GarmentLoss, GarmentMotion, Given, LinearizedLoss,
    Plasticity, Terms,
};
use crate::{
    error::{Error, Result, bad_input},
    numeric::{Compute, Field},
    solve::Solver,
};

/// How well each frame is minimised.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Accuracy {
    /// A frame is done when Newton's step, of a matrix without a shift, moves no vertex further than this \[m\].
    pub step: f64,
    /// It is left after so many steps, done or not.
    pub iterations: usize,
}

impl Default for Accuracy {
    /// A hundredth of a millimetre, a thousandth of a cell. While cloth buckles a frame can take more than 60 steps;
    /// the next one then goes on from where it is.
    fn default() -> Self {
        Accuracy {
            step: 1e-5,
            iterations: 60,
        }
    }
}

/// How a simulation went.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct ReferenceRun {
    /// The motion.
    pub track: GarmentMotion,
    /// Newton steps of every frame.
    pub iterations: Vec<usize>,
    /// Number of frames that were not done: the steps did not suffice, or only a shifted matrix led on.
    pub unfinished: usize,
}

/// A share of the expected decrease that a step must bring, as usual.
const ARMIJO: f64 = 1e-4;
/// The furthest that a vertex moves in one step \[m\]. Newton's steps along soft directions are long while cloth
/// buckles, and jump between folds: without this bound rounding alone put the rest bending of three yield strains
/// out of order (docs/explanation/curriculum.md).
const LONGEST_STEP: f64 = 2e-3;
/// The least share of a step that is tried.
const LEAST_SHARE: f64 = 1e-3;
/// Relative residual of the linear solves: Newton's method corrects the rest.
pub(super) const SOLVE_TOLERANCE: f64 = 1e-4;
/// Shifts of a matrix that cannot be solved \[N/m\]: from the size of inertia to beyond that of the membrane.
const FIRST_SHIFT: f64 = 0.1;
const SHIFT_GROWTH: f64 = 10.0;
const LARGEST_SHIFT: f64 = 1e3;

/// Frames after which the solver starts anew. Which frames share a factor decides about the last bits, so a simulation
/// that goes on from here ends as one that was never stopped.
pub(in crate::learn) const PART: usize = 500;

/// What is simulated, and how.
#[derive(Clone, Copy)]
pub(crate) struct ReferenceSimulation<'a> {
    /// Body and garment.
    pub scene: &'a BodyScene,
    /// Of the body.
    pub motion: &'a BodyMotion,
    /// The energy, in its default forms.
    pub loss: &'a GarmentLoss,
    /// When hinges yield.
    pub plasticity: &'a Plasticity,
    /// How well each frame is minimised.
    pub accuracy: Accuracy,
    /// The reference is meant for double precision.
    pub compute: &'a Compute,
}

impl ReferenceSimulation<'_> {
    /// All frames. `progress` is called after every frame and may stop the work by an error.
    pub(crate) fn run(
        &self,
        progress: &mut dyn FnMut(usize) -> Result<()>,
    ) -> Result<ReferenceRun> {
        let mut outcome = ReferenceRun::default();
        while outcome.track.frames() < self.motion.frames() {
            self.go_on(&mut outcome, progress)?;
        }
        Ok(outcome)
    }

    /// The next [`PART`] frames, or as many as are left; `outcome` has those before, a whole number of parts.
    pub(in crate::learn) fn go_on(
        &self,
        outcome: &mut ReferenceRun,
        progress: &mut dyn FnMut(usize) -> Result<()>,
    ) -> Result<()> {
        let ReferenceSimulation {
            scene,
            motion,
            loss,
            plasticity,
            accuracy,
            compute,
        } = *self;
        loss.is_physical()?;
        loss.config().materials.check_step(motion)?;
        plasticity.check()?;
        let sheet = GarmentBatch::new(&scene.garment, 1, compute);
        let mut solver = Solver::new(&scene.garment.mesh, &scene.garment.topology, compute)?
            .with_tolerance(SOLVE_TOLERANCE);
        let first = outcome.track.frames();
        let end = (first + PART).min(motion.frames());
        // The pose before is needed too: the guess moves along with the body.
        let poses = scene.poses(motion, first.saturating_sub(1)..end)?;
        let skinned = |frame: usize| {
            let pose = &poses[frame - first.saturating_sub(1)];
            scene.skinned(std::slice::from_ref(pose), compute).plain()
        };
        let positions = |row: &Vec<f64>| compute.tensor(row, [3, sheet.vertices]);
        let track = &outcome.track;
        let mut past: Vec<Field> = track.positions[first.saturating_sub(2)..]
            .iter()
            .map(positions)
            .collect();
        let row = |row: &Vec<f64>| compute.tensor(row, [1, sheet.hinges]);
        let mut plastic = match (track.plastic.last(), track.strain.last()) {
            (Some(plastic), Some(strain)) => plasticity.update(&row(plastic), &row(strain)),
            _ => compute.zeros([1, sheet.hinges]),
        };
        let mut last_anchors = (first > 0).then(|| skinned(first - 1));
        for frame in first..end {
            let anchors = skinned(frame);
            let latest = past.last();
            let guess = match (latest, &last_anchors) {
                (Some(x), Some(last)) => x.clone() + anchors.clone() - last.clone(),
                _ => anchors.clone(),
            };
            let free = sheet.free.clone();
            let guess = anchors.clone() + (guess - anchors.clone()) * free;
            let pose = &poses[frame - first.saturating_sub(1)];
            let given = Given {
                previous: latest.unwrap_or(&anchors).clone(),
                before: past.iter().rev().nth(1).unwrap_or(&anchors).clone(),
                moving: compute.tensor(&[if past.len() < 2 { 0.0 } else { 1.0 }], [1, 1]),
                plastic: plastic.clone(),
                anchors: anchors.clone(),
                body: scene.posed(std::slice::from_ref(pose), compute),
            };
            let least = minimise(&sheet, loss, &given, guess, accuracy, &mut solver)
                .map_err(|e| e.at(&format!("reference simulation, frame {frame}")))?;
            let strain = sheet.strain(&least.positions);
            let track = &mut outcome.track;
            track
                .positions
                .push(compute.values(least.positions.clone())?);
            track.strain.push(compute.values(strain.clone())?);
            track.plastic.push(compute.values(plastic.clone())?);
            outcome.iterations.push(least.iterations);
            outcome.unfinished += usize::from(!least.done);
            plastic = plasticity.update(&plastic, &strain);
            past.push(least.positions);
            if past.len() > 2 {
                past.remove(0);
            }
            last_anchors = Some(anchors);
            progress(frame)?;
        }
        Ok(())
    }
}

/// Where minimising one frame ended.
pub(super) struct Least {
    /// \[m\], `[3, vertices]`.
    pub positions: Field,
    /// The loss where it began, term by term.
    pub start: Terms<f64>,
    /// Newton steps.
    pub iterations: usize,
    /// Whether that is as near as asked for.
    pub done: bool,
}

/// Newton's method for one frame. Where no step lowers the energy, or the matrix cannot be solved, the diagonal of the
/// matrix is raised, which shortens the step and turns it downhill. A good step takes this back.
pub(super) fn minimise(
    sheet: &GarmentBatch,
    loss: &GarmentLoss,
    given: &Given,
    mut positions: Field,
    accuracy: Accuracy,
    solver: &mut Solver,
) -> Result<Least> {
    let mut shift = 0.0;
    let mut here = loss.linearized(sheet, &positions, given)?;
    let start = here.terms;
    for iterations in 0..accuracy.iterations {
        let step = newton_step(sheet, loss, given, &here, shift, solver)?;
        let attempt = match step {
            Some(step) => downhill(sheet, loss, given, &positions, &here, step, accuracy.step)?,
            None => Attempt::Blocked,
        };
        match attempt {
            Attempt::Arrived => {
                // A shift shortens every step: then a short one does not say that the minimum is near.
                return Ok(Least {
                    positions,
                    start,
                    iterations,
                    done: shift == 0.0,
                });
            }
            Attempt::Lower(next, share) => {
                (positions, here) = *next;
                if share == 1.0 {
                    shift = if shift > FIRST_SHIFT {
                        shift / SHIFT_GROWTH
                    } else {
                        0.0
                    };
                }
            }
            _ if shift >= LARGEST_SHIFT => {
                // No lower point can be told apart: a kink, or rounding. How near the minimum is nobody knows.
                return Ok(Least {
                    positions,
                    start,
                    iterations,
                    done: false,
                });
            }
            _ => shift = (SHIFT_GROWTH * shift).max(FIRST_SHIFT),
        }
    }
    Ok(Least {
        positions,
        start,
        iterations: accuracy.iterations,
        done: false,
    })
}

/// What came of one step.
enum Attempt {
    /// Lower: where, what it costs there, and the share that was taken of the step that was allowed.
    Lower(Box<(Field, LinearizedLoss)>, f64),
    /// The step is shorter than asked for.
    Arrived,
    /// Nothing lower on the way.
    Blocked,
}

/// Newton's step with a shifted matrix; none where the linear solve does not converge. Newton's method tolerates
/// that, and no other error: a larger shift makes the next matrix easier, and the outcome says whether the frame
/// was done ([`Least::done`]).
fn newton_step(
    sheet: &GarmentBatch,
    loss: &GarmentLoss,
    given: &Given,
    here: &LinearizedLoss,
    shift: f64,
    solver: &mut Solver,
) -> Result<Option<Field>> {
    if !here.value.is_finite() {
        return bad_input(format!(
            "the energy is {}; check stiffnesses and the motion",
            here.value
        ));
    }
    let tangent = loss.tangent(sheet, here, given, shift);
    let down = here.gradient.clone().neg();
    let guess = down.zeros_like();
    match solver.solve(&sheet.incidence, &tangent, &down, &guess) {
        Ok((step, _)) => Ok(Some(step)),
        Err(Error::NotConverged(_)) => Ok(None),
        Err(other) => Err(other),
    }
}

/// Goes along a step as far as it leads down enough.
fn downhill(
    sheet: &GarmentBatch,
    loss: &GarmentLoss,
    given: &Given,
    positions: &Field,
    here: &LinearizedLoss,
    step: Field,
    shortest: f64,
) -> Result<Attempt> {
    let longest = step.clone().abs().max().reshape([1, 1]);
    let slope = (step.clone() * here.gradient.clone()).sum().reshape([1, 1]);
    let summary = sheet.compute.values(Field::cat(vec![longest, slope], 0))?;
    let (longest, slope) = (summary[0], summary[1]);
    if longest < shortest {
        return Ok(Attempt::Arrived);
    }
    let most = (LONGEST_STEP / longest).min(1.0);
    let mut share = most;
    while share > LEAST_SHARE * most {
        let next = positions.clone() + step.clone() * share;
        // Most first shares are taken, and then the gradient is needed next.
        let there = loss.linearized(sheet, &next, given)?;
        if there.value <= here.value + ARMIJO * share * slope {
            return Ok(Attempt::Lower(Box::new((next, there)), share / most));
        }
        share *= 0.5;
    }
    Ok(Attempt::Blocked)
}
