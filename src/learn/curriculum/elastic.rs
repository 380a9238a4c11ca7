//! A round of E-Net.

use burn::{
    module::Module,
    optim::{GradientsParams, ModuleOptimizer},
    tensor::Tensor,
};
use serde::{Deserialize, Serialize};

use super::{Curriculum, Students, asked::AskedFrames, plastic::angle, rate};
use crate::{
    error::Result,
    learn::{
        RestBending, Terms, Training,
        aim::{Aims, Minimiser},
        lesson::{Lesson, dressed},
        network::{ElasticNet, PoseBatch},
        reference::Accuracy,
    },
    numeric::{Field, Random},
};

/// One round of E-Net, for the log.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct ElasticStep {
    /// Of Algorithm 1, from 0.
    pub cycle: usize,
    /// Within the cycle.
    pub step: usize,
    /// The loss of what E-Net predicts before the round, for new frames that of where they begin, mean over the frames that the
    /// round asks for \[J\]; along the plain gradient the mean over the steps of the round.
    pub loss: f64,
    /// Its terms, weighted.
    pub terms: Terms<f64>,
    /// Mean distance of the vertices from where the minimiser led, before the round \[m\]; 0 where none is used.
    pub away: f64,
    /// The same after it.
    pub left: f64,
}

/// Weight of the other frames where the shapes are completed, 0.04 of an error's square. They are not held where they
/// were before: in the first cycle that is where an untrained network puts them.
const UNASKED: f64 = 0.2;

/// Lessons of one step of Adam. More and smaller steps are better: with all lessons at once E-Net was half as near to where
/// the minimiser leads.
pub(super) const LESSONS_A_STEP: usize = 2;

/// Share of the lessons that a round shows with less or more rest bending.
const SCALED: f64 = 0.5;
/// Up to this share of the rest bending is added or taken away, divided by the number of the cycle: it grows from cycle to
/// cycle by less and less, and what is known in advance need not be found out one cycle later.
const SPREAD: f64 = 1.0;
/// But at least so much: a roll-out meets its own errors.
const LEAST_SPREAD: f64 = 0.3;
/// Number of the random stream.
const SHARES: u64 = 1 << 32;

impl Curriculum {
    /// One round of E-Net on the lessons, some with less or more rest bending; after the first cycle the rest bending then
    /// follows what E-Net has learned, unless [`Training::renew`] is off.
    pub(crate) fn teach_elastic(
        &self,
        students: &mut Students,
        adam: &mut ModuleOptimizer,
        at: (usize, usize),
    ) -> Result<ElasticStep> {
        let scales = self.scales(students.lessons.len(), at);
        let scaled = |(lesson, scale): (&Lesson, &f64)| Lesson {
            rest_bending: lesson.rest_bending.clone() * *scale,
            ..lesson.clone()
        };
        let shown: Vec<Lesson> = students.lessons.iter().zip(&scales).map(scaled).collect();
        let shown: Vec<&Lesson> = shown.iter().collect();
        let round = match self.case.training.minimiser_steps {
            0 => self.descend(students, adam, &shown, at),
            _ => self.aim(students, adam, &shown, at),
        }?;
        let yields = self.case.rest_bending == RestBending::Learned;
        if yields && at.0 > 0 && self.case.training.renew {
            self.renew(students, &scales);
        }
        Ok(round)
    }

    /// E-Net predicts the motions, a few steps of the reference's minimiser go on from there, and E-Net learns where they
    /// led.
    ///
    /// The loss is far stiffer against stretch than against bending, and its plain gradient would teach the one and
    /// forget the other; Newton's matrix makes them equal.
    fn aim(
        &self,
        students: &mut Students,
        adam: &mut ModuleOptimizer,
        lessons: &[&Lesson],
        (cycle, step): (usize, usize),
    ) -> Result<ElasticStep> {
        let training = &self.case.training;
        let steps = self.elastic_steps(cycle);
        let asked = AskedFrames::new(lessons, (cycle, step), self);
        let before = students.elastic.valid();
        let start = self.shares(&before, lessons);
        let predicted = self.dress(&before, &start, lessons);
        let begun = match asked.starts_at_neighbours() {
            true => self.begin(&before, &start, lessons, &asked),
            false => predicted.clone(),
        };
        let newton = |lesson: &Lesson, frame: usize| match asked.asks(lesson, frame) {
            true if asked.is_new(lesson, frame) => Accuracy::default().iterations,
            true => training.minimiser_steps,
            false => 0,
        };
        let aims = Aims::new(self.minimiser(), lessons, &begun, newton)?;
        let rate = rate(training.elastic_rate, step, steps);
        let missing = aims.missing(lessons, &predicted);
        self.fit(
            students,
            adam,
            lessons,
            (start, missing),
            &aims.shares(),
            rate,
        );
        let fitted = students.elastic.valid();
        let shares = self.shares(&fitted, lessons);
        let missing = aims.missing(lessons, &self.dress(&fitted, &shares, lessons));
        let elastic = students.elastic.clone();
        // Frames that are not asked for stay where Adam has put them, more or less.
        let weights = aims.asked.clone() * (1.0 - UNASKED) + UNASKED;
        students.elastic = elastic.complete(shares.clone(), missing, weights, &self.compute)?;
        let after = self.dress(&students.elastic.valid(), &shares, lessons);
        Ok(ElasticStep {
            cycle,
            step,
            loss: aims.terms.sum(),
            terms: aims.terms,
            away: aims.distance(&predicted, &self.compute)?,
            left: aims.distance(&after, &self.compute)?,
        })
    }

    /// How far E-Net is from where the minimiser leads in all frames of some lessons, mean over the vertices \[m\].
    pub(super) fn away(&self, elastic: &ElasticNet, lessons: &[&Lesson]) -> Result<f64> {
        let elastic = elastic.valid();
        let predicted = self.dress(&elastic, &self.shares(&elastic, lessons), lessons);
        let steps = match self.case.training.minimiser_steps {
            // E-Net has learned without it.
            0 => Training::default().minimiser_steps,
            steps => steps,
        };
        let aims = Aims::new(self.minimiser(), lessons, &predicted, |_, _| steps)?;
        aims.distance(&predicted, &self.compute)
    }

    /// Steps of Adam towards the aims, for everything but the pose-space shapes. With these held fixed the squared error is a
    /// quadratic form of how much of each there is, so that no step sees a vertex. `start` is how much there is, `[frames, n]`,
    /// `missing` are the offsets from there to the aims \[m\], `[frames, 3·vertices]`, `weights` those of the frames,
    /// `[frames, 1]`.
    fn fit(
        &self,
        students: &mut Students,
        adam: &mut ModuleOptimizer,
        lessons: &[&Lesson],
        (start, missing): (Field, Field),
        weights: &Field,
        rate: f64,
    ) {
        let still = students.elastic.valid();
        let (squares, pull) = still.pull(missing, &self.sheet.free);
        let frames = start.dims()[0] / lessons.len();
        for _ in 0..self.case.training.fits {
            for first in (0..lessons.len()).step_by(LESSONS_A_STEP) {
                let last = (first + LESSONS_A_STEP).min(lessons.len());
                let rows = |field: &Field| {
                    let field = field.clone();
                    field.narrow(0, first * frames, (last - first) * frames)
                };
                let shares = self.shares(&students.elastic, &lessons[first..last]);
                let moved = shares.clone().inner() - rows(&start);
                let error = (moved.matmul(squares.clone()) - rows(&pull)) * rows(weights);
                let slope = (shares * error.autodiff()).sum();
                let gradients = GradientsParams::from_grads(slope.backward(), &students.elastic);
                students.elastic = adam.step(rate, students.elastic.clone(), gradients);
            }
        }
    }

    /// How much of its rest bending a round shows of every lesson: 1, or for some, drawn at random, less or more. E-Net would
    /// otherwise see one rest bending a frame and never learn how the shape follows it, and a roll-out of both networks
    /// would run away from its own errors.
    fn scales(&self, lessons: usize, (cycle, step): (usize, usize)) -> Vec<f64> {
        let number = ((cycle as u64) << 24) + step as u64;
        let mut random = Random::stream(self.case.seed, SHARES + number);
        let spread = (SPREAD / cycle.max(1) as f64).max(LEAST_SPREAD);
        let mut one = || {
            let (draw, place) = (random.uniform(), 2.0 * random.uniform() - 1.0);
            if draw < SCALED {
                1.0 + spread * place
            } else {
                1.0
            }
        };
        (0..lessons).map(|_| one()).collect()
    }

    /// The plastic rule makes the rest bending anew from what E-Net now predicts, in lessons that the round showed with all
    /// of theirs.
    ///
    /// What yields early in a bend decides where the garment folds later on, so that the right rest bending spreads from
    /// frame to frame, and needs some ten such steps on the arm even with an exact minimiser; Algorithm 1 takes one a cycle.
    fn renew(&self, students: &mut Students, scales: &[f64]) {
        let elastic = students.elastic.valid();
        let lessons = students.lessons.iter_mut().zip(scales);
        for (lesson, _) in lessons.filter(|(_, scale)| **scale == 1.0) {
            let one = [&*lesson];
            let positions = self.dress(&elastic, &self.shares(&elastic, &one), &one);
            lesson.rest_bending = angle(self.target(&self.strain(&positions[0])));
        }
    }

    /// ε of all frames \[rad\], `[frames, hinges]`, of positions `[3, frames·vertices]`.
    fn strain(&self, positions: &Field) -> Field {
        let vertices = self.sheet.vertices;
        let frames = positions.dims()[1] / vertices;
        let one = |frame: usize| {
            let positions = positions.clone().narrow(1, frame * vertices, vertices);
            self.sheet.strain(&positions)
        };
        Field::cat((0..frames).map(one).collect(), 0)
    }

    pub(super) fn minimiser(&self) -> Minimiser<'_> {
        Minimiser {
            scene: &self.scene,
            sheet: &self.sheet,
            loss: &self.loss,
            solver: &self.solver,
        }
    }

    /// Where the frames of a round begin \[m\], `[3, frames·vertices]` a lesson: as predicted, or with the offsets of a
    /// neighbour.
    fn begin(
        &self,
        elastic: &ElasticNet,
        shares: &Field,
        lessons: &[&Lesson],
        round: &AskedFrames,
    ) -> Vec<Field> {
        let offsets = elastic.offsets(shares.clone());
        let frames = offsets.dims()[0] / lessons.len();
        let one = |(k, lesson): (usize, &&Lesson)| {
            let row = |frame: usize| {
                let from = round.from(lesson, frame);
                offsets.clone().narrow(0, k * frames + from, 1)
            };
            let offsets = Field::cat((0..frames).map(row).collect(), 0);
            dressed(&lesson.skinned, &self.sheet.free, &offsets)
        };
        lessons.iter().enumerate().map(one).collect()
    }

    /// The garment in all frames of some lessons \[m\], `[3, frames·vertices]` each, of [`Curriculum::shares`].
    fn dress(&self, elastic: &ElasticNet, shares: &Field, lessons: &[&Lesson]) -> Vec<Field> {
        let offsets = elastic.offsets(shares.clone());
        let frames = offsets.dims()[0] / lessons.len();
        let one = |(k, lesson): (usize, &&Lesson)| {
            let offsets = offsets.clone().narrow(0, k * frames, frames);
            dressed(&lesson.skinned, &self.sheet.free, &offsets)
        };
        lessons.iter().enumerate().map(one).collect()
    }

    /// How much of each shape there is in all frames of some lessons, `[frames, n]`; on a tape if the network is.
    pub(super) fn shares(&self, elastic: &ElasticNet, lessons: &[&Lesson]) -> Field {
        let all = |f: &dyn Fn(&Lesson) -> Tensor<3>| {
            Tensor::cat(lessons.iter().map(|lesson| f(lesson)).collect(), 0)
        };
        let codes = elastic.encode(&PoseBatch {
            still: all(&|l| l.pose.still.clone()),
            moving: all(&|l| l.pose.moving.clone()),
        });
        let [motions, frames, width] = codes.dims();
        let bent = lessons.iter().map(|l| l.rest_bending.clone()).collect();
        elastic.shares(
            codes.reshape([motions * frames, width]),
            Field::cat(bent, 0),
        )
    }
}
