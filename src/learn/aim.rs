//! Where the reference's minimiser leads from what E-Net predicts: what E-Net learns in a round.

use rayon::prelude::*;

use super::{
    BodyScene, GarmentBatch, GarmentLoss, Given, LinearizedLoss, Terms,
    lesson::Lesson,
    reference::{Accuracy, minimise},
};
use crate::{
    error::Result,
    numeric::{Compute, Field},
    solve::Solver,
};

/// Frames that share a factor as preconditioner; also the work of one task.
const FRAMES_A_TASK: usize = 16;

/// A frame some steps further on \[m\], `[3, vertices]`, and the loss before.
type Ahead = (Field, Terms<f64>);

/// What it takes to minimise a frame.
#[derive(Clone, Copy)]
pub(super) struct Minimiser<'a> {
    pub scene: &'a BodyScene,
    /// Of one frame.
    pub sheet: &'a GarmentBatch,
    pub loss: &'a GarmentLoss,
    /// As new: which frames share a factor decides about the last bits.
    pub solver: &'a Solver,
}

/// Where frames should go.
pub(super) struct Aims {
    /// \[m\], `[3, frames·vertices]` a lesson; as at the start where nothing is asked.
    positions: Vec<Field>,
    /// 1 for frames that are asked for, else 0, `[frames, 1]`, lessons below each other.
    pub asked: Field,
    /// Number of these.
    count: usize,
    /// The loss at the start, term by term, mean over these frames.
    pub terms: Terms<f64>,
}

impl Aims {
    /// Goes on from `start`, positions of all frames, for so many Newton steps; frames with none are not asked for. Inertia
    /// sees the frames before where they start.
    pub(crate) fn new(
        minimiser: Minimiser,
        lessons: &[&Lesson],
        start: &[Field],
        steps: impl Fn(&Lesson, usize) -> usize + Sync,
    ) -> Result<Aims> {
        let frames = |k: usize| (0..lessons[k].frames()).collect::<Vec<usize>>();
        let tasks: Vec<(usize, Vec<usize>)> = (0..lessons.len())
            .flat_map(|k| {
                let all = frames(k);
                let pieces = all.chunks(FRAMES_A_TASK);
                pieces.map(|p| (k, p.to_vec())).collect::<Vec<_>>()
            })
            .collect();
        let ahead = |(k, frames): &(usize, Vec<usize>)| {
            let mut solver = minimiser.solver.clone();
            let one = |&frame: &usize| match steps(lessons[*k], frame) {
                0 => Ok(None),
                steps => {
                    let at = (lessons[*k], frame);
                    let ahead = minimiser.ahead(at, &start[*k], steps, &mut solver)?;
                    Ok(Some(ahead))
                }
            };
            frames.iter().map(one).collect()
        };
        let done: Vec<Result<Vec<Option<Ahead>>>> = tasks.par_iter().map(ahead).collect();
        let (mut sum, mut weights) = (Terms::<f64>::default(), Vec::new());
        let mut rows: Vec<Vec<Field>> = vec![Vec::new(); lessons.len()];
        for ((k, frames), done) in tasks.iter().zip(done) {
            for (&frame, one) in frames.iter().zip(done?) {
                weights.push(if one.is_some() { 1.0 } else { 0.0 });
                rows[*k].push(match one {
                    Some((positions, terms)) => {
                        sum = sum.plus(&terms);
                        positions
                    }
                    None => minimiser.frame(&start[*k], frame),
                });
            }
        }
        let count = (weights.iter().sum::<f64>() as usize).max(1);
        Ok(Aims {
            positions: rows.into_iter().map(|row| Field::cat(row, 1)).collect(),
            asked: minimiser.sheet.compute.tensor(&weights, [weights.len(), 1]),
            count,
            terms: sum.map(|term| term / count as f64),
        })
    }

    /// What each frame counts, so that what is asked for makes one, `[frames, 1]`.
    pub(crate) fn shares(&self) -> Field {
        self.asked.clone() * (1.0 / self.count as f64)
    }

    /// Offsets before skinning that are missing \[m\], `[frames, 3·vertices]`, lessons below each other; zero where nothing
    /// is asked.
    pub(crate) fn missing(&self, lessons: &[&Lesson], positions: &[Field]) -> Field {
        let one = |(k, x): (usize, &Field)| {
            let offsets = lessons[k]
                .skinned
                .undone(&(self.positions[k].clone() - x.clone()));
            Field::cat(vec![offsets.x, offsets.y, offsets.z], 1)
        };
        let all = Field::cat(positions.iter().enumerate().map(one).collect(), 0);
        all * self.asked.clone()
    }

    /// Mean distance of the vertices from their aims, in frames that are asked for \[m\].
    pub(crate) fn distance(&self, positions: &[Field], compute: &Compute) -> Result<f64> {
        let frames = self.asked.dims()[0] / self.positions.len();
        let mut sum = 0.0;
        for (k, x) in positions.iter().enumerate() {
            let gap = (x.clone() - self.positions[k].clone()).powi_scalar(2);
            let vertices = x.dims()[1] / frames;
            let gap = gap
                .sum_dim(0)
                .sqrt()
                .reshape([frames, vertices])
                .mean_dim(1);
            let asked = self.asked.clone().narrow(0, k * frames, frames);
            sum += compute.values((gap * asked).sum().unsqueeze::<1>())?[0];
        }
        Ok(sum / self.count as f64)
    }
}

impl Minimiser<'_> {
    /// What a frame is judged against, the frames before it as predicted, `[3, frames·vertices]`.
    fn given(&self, lesson: &Lesson, predicted: &Field, frame: usize) -> Given {
        let compute = &self.sheet.compute;
        let earlier = |by: usize| self.frame(predicted, frame.saturating_sub(by));
        Given {
            previous: earlier(1),
            before: earlier(2),
            moving: compute.tensor(&[if frame < 2 { 0.0 } else { 1.0 }], [1, 1]),
            plastic: lesson.rest_bending.clone().narrow(0, frame, 1),
            anchors: lesson.skinned.frame(frame).plain(),
            body: self.scene.posed(&lesson.poses[frame..=frame], compute),
        }
    }

    /// The gradient of the loss, mean over some `frames` of a lesson as predicted \[J/m\], `[3, frames·vertices]`, zero in
    /// all others; and the mean of its terms.
    pub(crate) fn slope(
        &self,
        lesson: &Lesson,
        predicted: &Field,
        frames: &[usize],
    ) -> Result<(Field, Terms<f64>)> {
        let one = |&frame: &usize| {
            let here = self.frame(predicted, frame);
            let given = self.given(lesson, predicted, frame);
            self.loss.linearized(self.sheet, &here, &given)
        };
        let found: Result<Vec<LinearizedLoss>> = frames.par_iter().map(one).collect();
        let share = 1.0 / frames.len().max(1) as f64;
        let none = self.frame(predicted, 0).zeros_like();
        let mut rows = vec![none; lesson.frames()];
        let mut terms = Terms::default();
        for (&frame, here) in frames.iter().zip(found?) {
            terms = terms.plus(&here.terms.map(|term| term * share));
            rows[frame] = here.gradient * share;
        }
        Ok((Field::cat(rows, 1), terms))
    }

    fn frame(&self, stacked: &Field, frame: usize) -> Field {
        let vertices = self.sheet.vertices;
        stacked.clone().narrow(1, frame * vertices, vertices)
    }

    /// A frame some steps further on, and the loss before.
    fn ahead(
        &self,
        (lesson, frame): (&Lesson, usize),
        all: &Field,
        steps: usize,
        solver: &mut Solver,
    ) -> Result<Ahead> {
        let given = self.given(lesson, all, frame);
        let start = self.frame(all, frame);
        let values = self.sheet.compute.values(start.clone())?;
        // The run that gets such a loss names what diverged.
        if values.iter().any(|x| !x.is_finite()) {
            return Ok((start, Terms::default().map(|_: &f64| f64::NAN)));
        }
        let accuracy = Accuracy {
            iterations: steps,
            ..Accuracy::default()
        };
        let least = minimise(self.sheet, self.loss, &given, start, accuracy, solver)?;
        Ok((least.positions, least.start))
    }
}
