//! A round of E-Net as paper 2 trains it: Adam along the gradient of the loss itself.

use burn::{
    optim::{GradientsParams, ModuleOptimizer},
    tensor::Tensor,
};

use super::{Curriculum, ElasticStep, Students, elastic::LESSONS_A_STEP, rate};
use crate::{
    error::Result,
    learn::{
        Terms,
        lesson::{Lesson, dressed},
    },
};

/// Every so many frames of a lesson are judged in a step of Adam, others in the next: the loss of a frame takes as long as
/// all of the network, and neighbouring frames tell much the same.
const SPARSE: usize = 8;

impl Curriculum {
    /// One round along the plain gradient, as often as the other kind of round shows the lessons to Adam. All layers are
    /// learned, the pose-space shapes too. The frames before one are held fixed, as in [`crate::learn::GarmentLoss`].
    pub(super) fn descend(
        &self,
        students: &mut Students,
        adam: &mut ModuleOptimizer,
        lessons: &[&Lesson],
        (cycle, step): (usize, usize),
    ) -> Result<ElasticStep> {
        let training = &self.case.training;
        let rate = rate(training.elastic_rate, step, self.elastic_steps(cycle));
        let mut sum = Terms::default();
        for fit in 0..training.fits {
            for some in lessons.chunks(LESSONS_A_STEP) {
                let elastic = students.elastic.clone().with_shapes_taped();
                let offsets = elastic.offsets(self.shares(&elastic, some));
                let frames = offsets.dims()[0] / some.len();
                let first = (step * training.fits + fit) % SPARSE.min(frames);
                let judged: Vec<usize> = (first..frames).step_by(SPARSE).collect();
                let mut slopes = Vec::new();
                for (k, lesson) in some.iter().enumerate() {
                    let offsets = offsets.clone().narrow(0, k * frames, frames);
                    let free = self.sheet.free.clone().autodiff();
                    let positions = dressed(&lesson.skinned.autodiff(), &free, &offsets);
                    let predicted = positions.clone().inner();
                    let (slope, terms) = self.minimiser().slope(lesson, &predicted, &judged)?;
                    sum = sum.plus(&terms);
                    slopes.push((positions * slope.autodiff()).sum());
                }
                let slope = Tensor::cat(slopes, 0).sum();
                let gradients = GradientsParams::from_grads(slope.backward(), &elastic);
                students.elastic = adam.step(rate, elastic, gradients);
            }
        }
        let seen = (training.fits * lessons.len()) as f64;
        let terms = sum.map(|term| term / seen);
        Ok(ElasticStep {
            cycle,
            step,
            loss: terms.sum(),
            terms,
            away: 0.0,
            left: 0.0,
        })
    }
}
