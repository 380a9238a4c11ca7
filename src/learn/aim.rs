//! Where the reference's minimiser leads from what E-Net predicts: what E-Net learns in a round.

use rayon::prelude::*;

use super::{
    Given, Loss, Scene, Sheet,
    lesson::Lesson,
    reference::{Accuracy, SOLVE_TOLERANCE, minimise},
};
use crate::{
    error::Result,
    numeric::{Compute, Field},
    solve::Solver,
};

/// Frames that share a factor as preconditioner; also the work of one task.
const FRAMES_A_TASK: usize = 16;
/// Errors are counted in this unit \[m\].
const UNIT: f64 = 0.01;

/// What it takes to minimise a frame.
#[derive(Clone, Copy)]
pub(super) struct Minimiser<'a> {
    pub scene: &'a Scene,
    /// Of one frame.
    pub sheet: &'a Sheet,
    pub loss: &'a Loss,
    /// Newton steps that are taken.
    pub steps: usize,
}

/// Where each frame should go.
pub(super) struct Aims {
    /// \[m\], `[3, frames·vertices]` a lesson; as predicted where nothing is asked.
    positions: Vec<Field>,
    /// 1 for frames that are asked for, else 0, `[frames, 1]`, lessons below each other.
    pub asked_for: Field,
    asked: usize,
    /// The loss of the prediction, mean over these frames.
    pub loss: f64,
}

impl Aims {
    /// Goes on from the prediction in all frames that `asked` names, lesson by lesson. Inertia sees the frames
    /// before as predicted.
    pub fn new(
        parts: Minimiser,
        lessons: &[&Lesson],
        predicted: &[Field],
        asked: impl Fn(&Lesson, usize) -> bool + Sync,
    ) -> Result<Aims> {
        let tasks: Vec<(usize, Vec<usize>)> = lessons
            .iter()
            .enumerate()
            .flat_map(|(k, lesson)| {
                let frames: Vec<usize> = (0..lesson.frames()).collect();
                let pieces = frames.chunks(FRAMES_A_TASK);
                pieces.map(|p| (k, p.to_vec())).collect::<Vec<_>>()
            })
            .collect();
        let ahead = tasks.par_iter().map(|(k, frames)| {
            let (lesson, predicted) = (lessons[*k], &predicted[*k]);
            let garment = &parts.scene.garment;
            let mut solver = Solver::new(&garment.mesh, &garment.topology, &parts.sheet.compute)?
                .with_tolerance(SOLVE_TOLERANCE);
            let one = |&frame: &usize| match asked(lesson, frame) {
                true => parts.ahead(lesson, predicted, frame, &mut solver).map(Some),
                false => Ok(None),
            };
            frames.iter().map(one).collect()
        });
        let ahead: Vec<Result<Vec<Option<(Field, f64)>>>> = ahead.collect();
        let mut aims = Aims {
            positions: Vec::new(),
            asked_for: parts.sheet.compute.zeros([1, 1]),
            asked: 0,
            loss: 0.0,
        };
        let mut rows: Vec<Vec<Field>> = vec![Vec::new(); lessons.len()];
        for ((k, frames), task) in tasks.iter().zip(ahead) {
            for (&frame, one) in frames.iter().zip(task?) {
                rows[*k].push(match one {
                    Some((positions, loss)) => {
                        aims.asked += 1;
                        aims.loss += loss;
                        positions
                    }
                    None => parts.frame(&predicted[*k], frame),
                });
            }
        }
        let asked_for: Vec<f64> = lessons
            .iter()
            .flat_map(|lesson| (0..lesson.frames()).map(|frame| asked(lesson, frame)))
            .map(|asked| if asked { 1.0 } else { 0.0 })
            .collect();
        aims.asked_for = parts.sheet.compute.tensor(&asked_for, [asked_for.len(), 1]);
        aims.loss /= aims.asked.max(1) as f64;
        aims.positions = rows.into_iter().map(|row| Field::cat(row, 1)).collect();
        Ok(aims)
    }

    /// Its gradient by the positions is that of half the mean square of the error.
    pub fn slope(&self, positions: &[Field]) -> Field {
        let scale = 1.0 / (UNIT * UNIT * self.asked.max(1) as f64);
        let of = |(x, aim): (&Field, &Field)| {
            let error = (x.clone().inner() - aim.clone()) * scale;
            (x.clone() * error.autodiff()).sum().reshape([1, 1])
        };
        Field::cat(positions.iter().zip(&self.positions).map(of).collect(), 0).sum().reshape([1, 1])
    }

    /// Offsets before skinning that are missing \[m\], `[frames, 3·vertices]`, lessons below each other.
    pub fn missing(&self, lessons: &[&Lesson], positions: &[Field]) -> Field {
        let each = lessons.iter().zip(positions.iter().zip(&self.positions));
        let one = |(lesson, (x, aim)): (&&Lesson, (&Field, &Field))| {
            let offsets = lesson.skinned.undone(&(aim.clone() - x.clone()));
            Field::cat(vec![offsets.x, offsets.y, offsets.z], 1)
        };
        Field::cat(each.map(one).collect(), 0)
    }

    /// Mean distance of the vertices from their aims \[m\], over the frames that are asked for.
    pub fn distance(&self, positions: &[Field], compute: &Compute) -> Result<f64> {
        let (mut sum, mut vertices) = (0.0, 0);
        for (x, aim) in positions.iter().zip(&self.positions) {
            let gap = (x.clone() - aim.clone()).powi_scalar(2).sum_dim(0).sqrt();
            vertices += gap.dims()[1];
            sum += compute.values(gap.sum().unsqueeze::<1>())?[0];
        }
        Ok(sum / vertices.max(1) as f64)
    }
}

impl Minimiser<'_> {
    fn frame(&self, stacked: &Field, frame: usize) -> Field {
        let vertices = self.sheet.vertices;
        stacked.clone().narrow(1, frame * vertices, vertices)
    }

    /// A frame some steps further on, and the loss before.
    fn ahead(
        &self,
        lesson: &Lesson,
        predicted: &Field,
        frame: usize,
        solver: &mut Solver,
    ) -> Result<(Field, f64)> {
        let compute = &self.sheet.compute;
        let earlier = |by: usize| self.frame(predicted, frame.saturating_sub(by));
        let given = Given {
            previous: earlier(1),
            before: earlier(2),
            moving: compute.tensor(&[if frame < 2 { 0.0 } else { 1.0 }], [1, 1]),
            plastic: lesson.rest_bending.clone().narrow(0, frame, 1),
            anchors: lesson.skinned.frame(frame).plain(),
            body: self.scene.posed(&lesson.poses[frame..=frame], compute),
        };
        let start = earlier(0);
        let loss = self.loss.value(self.sheet, &start, &given)?;
        let accuracy = Accuracy {
            iterations: self.steps,
            ..Accuracy::default()
        };
        let least = minimise(self.sheet, self.loss, &given, start, accuracy, solver)?;
        Ok((least.positions, loss))
    }
}
