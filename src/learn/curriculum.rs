//! Algorithm 1 of paper 2: E-Net and P-Net take turns.
//!
//! 1. E-Net learns to minimise the energy with the rest bending as it is, at first none.
//! 2. The plastic rule makes a rest bending from what E-Net predicts.
//! 3. P-Net learns the increments of that.
//! 4. P-Net's roll-out along E-Net's prediction is the next rest bending.
//!
//! Both networks go on from where they were in the cycle before; Adam's moments start anew, since what is
//! minimised has moved. Batches are drawn from streams of the seed by cycle and step, so that a run that was
//! stopped goes on as if it had not been.

use burn::{
    module::Module,
    optim::{AdamConfig, GradientsParams, ModuleOptimizer},
    tensor::Tensor,
};
use serde::{Deserialize, Serialize};

use super::{
    LearnCase, Loss, RestBending, Scene, Sheet, Terms, Track,
    aim::{Aims, Minimiser},
    lesson::{Lesson, dressed},
    network::{EdgeFeatures, ElasticNet, HingeGraph, Memory, PlasticNet, Pose, nodes, seeded},
};
use crate::{
    error::Result,
    numeric::{Compute, Field, Random},
};

/// Everything that stays the same while training.
pub struct Curriculum {
    /// The case.
    pub case: LearnCase,
    /// Body and garment.
    pub scene: Scene,
    compute: Compute,
    loss: Loss,
    sheet: Sheet,
    graph: HingeGraph,
    edges: EdgeFeatures,
}

/// What training has made so far.
#[derive(Clone)]
pub struct Students {
    /// E-Net.
    pub elastic: ElasticNet,
    /// P-Net.
    pub plastic: PlasticNet,
    /// The motions with the rest bending of the last cycle.
    pub lessons: Vec<Lesson>,
}

/// One round of E-Net, for the log.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ElasticStep {
    /// Of Algorithm 1, from 0.
    pub cycle: usize,
    /// Within the cycle.
    pub step: usize,
    /// The loss of what E-Net predicts before the round, mean over the frames \[J\].
    pub loss: f64,
    /// Its terms, weighted.
    pub terms: Terms<f64>,
    /// Mean distance of the vertices from where the minimiser led, before the round \[m\].
    pub away: f64,
    /// The same after it.
    pub left: f64,
}

/// One step of P-Net, for the log.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct PlasticStep {
    /// Of Algorithm 1, from 0.
    pub cycle: usize,
    /// Within the cycle.
    pub step: usize,
    /// Mean size of the increments' errors \[rad\], small ones squared.
    pub loss: f64,
}

/// A motion as predicted.
#[derive(Debug, Clone)]
pub struct Predicted {
    /// \[m\], `[3, vertices]` a frame.
    pub positions: Vec<Field>,
    /// ε \[rad\], `[frames, hinges]`.
    pub strain: Field,
    /// What each frame is bent against \[rad\], `[frames, hinges]`.
    pub rest_bending: Field,
}

impl Predicted {
    /// As numbers.
    pub fn track(&self, compute: &Compute) -> Result<Track> {
        let rows = |field: &Field| -> Result<Vec<Vec<f64>>> {
            let width = field.dims()[1];
            let values = compute.values(field.clone())?;
            Ok(values.chunks_exact(width).map(<[f64]>::to_vec).collect())
        };
        let positions = self.positions.iter();
        Ok(Track {
            positions: positions
                .map(|p| compute.values(p.clone()))
                .collect::<Result<_>>()?,
            strain: rows(&self.strain)?,
            plastic: rows(&self.rest_bending)?,
        })
    }
}

/// Share of the first cycle after which all bends are trained: cloth that buckles has many shapes, and the one that
/// follows from the smaller bend is the one that is asked for.
const GROWN: f64 = 0.6;

/// Every so many frames are asked for in a round, others in the next.
const STRIDE: usize = 2;

/// Weight of the other frames where the shapes are completed.
const UNASKED: f64 = 0.2;

/// Number of the random stream.
const PLASTIC_BATCHES: u64 = 2 << 32;

impl Curriculum {
    /// Prepares a case for a scene, that of [`LearnCase::scene`] or another. Networks are trained in single
    /// precision.
    pub fn new(case: LearnCase, scene: Scene, compute: &Compute) -> Result<Curriculum> {
        case.check()?;
        let garment = &scene.garment;
        let graph = HingeGraph::new(&garment.mesh, &garment.topology, compute);
        let seconds = case.loss.materials.seconds;
        Ok(Curriculum {
            loss: Loss::new(case.loss)?,
            sheet: Sheet::new(garment, 1, compute),
            edges: EdgeFeatures::new(&scene, &graph, seconds, case.plasticity.yield_strain),
            graph,
            compute: compute.clone(),
            scene,
            case,
        })
    }

    /// Networks that know nothing yet.
    pub fn students(&self) -> Result<Students> {
        let device = self.compute.device().clone().autodiff();
        let LearnCase {
            size,
            plastic_net,
            seed,
            ..
        } = self.case;
        let joints = self.scene.body.skeleton.joints().len();
        let shape = (joints, self.sheet.hinges, self.sheet.vertices);
        let lesson = |motion| Lesson::new(&self.scene, motion, &self.compute);
        let motions = self.case.lessons(&self.scene).into_iter();
        Ok(Students {
            elastic: seeded(ElasticNet::new(size, shape, &device), 2 * seed),
            plastic: seeded(PlasticNet::new(size, plastic_net, &device), 2 * seed + 1),
            lessons: motions.map(lesson).collect::<Result<_>>()?,
        })
    }

    /// Steps of E-Net in a cycle.
    pub fn elastic_steps(&self, cycle: usize) -> usize {
        match cycle {
            0 => 2 * self.case.training.elastic_steps,
            _ => self.case.training.elastic_steps,
        }
    }

    /// One round of E-Net: it predicts the motions, a few steps of the reference's minimiser go on from there, and E-Net
    /// learns where they led.
    ///
    /// The loss is far stiffer against stretch than against bending, and its plain gradient would teach the one and
    /// forget the other; Newton's matrix makes them equal.
    pub fn teach_elastic(
        &self,
        students: &mut Students,
        adam: &mut ModuleOptimizer,
        (cycle, step): (usize, usize),
    ) -> Result<ElasticStep> {
        let training = &self.case.training;
        let steps = self.elastic_steps(cycle);
        let grown = match cycle {
            0 => (step + 1) as f64 / (GROWN * steps as f64),
            _ => 1.0,
        };
        let lessons: Vec<&Lesson> = students.lessons.iter().collect();
        let predicted = self.dress(&students.elastic.valid(), &lessons);
        let turned = lessons.iter().flat_map(|lesson| &lesson.turned);
        let furthest = grown * turned.fold(0.0, |m: f64, x| m.max(*x));
        // Neighbouring frames tell much the same.
        let asked = |lesson: &Lesson, frame: usize| {
            (frame + step).is_multiple_of(STRIDE) && lesson.turned[frame] <= furthest
        };
        let aims = Aims::new(self.minimiser(), &lessons, &predicted, asked)?;
        let rate = rate(training.elastic_rate, step, steps);
        for _ in 0..training.fits {
            let positions = self.dress(&students.elastic, &lessons);
            let slope = aims.slope(&positions);
            let gradients = GradientsParams::from_grads(slope.backward(), &students.elastic);
            students.elastic = adam.step(rate, students.elastic.clone(), gradients);
        }
        let still = students.elastic.valid();
        let (codes, bent) = self.seen(&still, &lessons);
        let shares = still.shares(codes, bent);
        let missing = aims.missing(&lessons, &self.dress(&still, &lessons));
        let elastic = students.elastic.clone();
        // Frames that are not asked for stay where they are, more or less.
        let weights = aims.asked.clone() * (1.0 - UNASKED) + UNASKED;
        students.elastic = elastic.complete(shares, missing, weights, &self.compute)?;
        let after = self.dress(&students.elastic.valid(), &lessons);
        Ok(ElasticStep {
            cycle,
            step,
            loss: aims.terms.sum(),
            terms: aims.terms,
            away: aims.distance(&predicted, &self.compute)?,
            left: aims.distance(&after, &self.compute)?,
        })
    }

    fn minimiser(&self) -> Minimiser<'_> {
        Minimiser {
            scene: &self.scene,
            sheet: &self.sheet,
            loss: &self.loss,
            steps: self.case.training.minimiser_steps,
        }
    }

    /// The garment in all frames of some lessons \[m\], `[3, frames·vertices]` each; on a tape if the network is.
    fn dress(&self, elastic: &ElasticNet, lessons: &[&Lesson]) -> Vec<Field> {
        let (codes, bent) = self.seen(elastic, lessons);
        let offsets = elastic.decode(codes, bent);
        let frames = offsets.dims()[0] / lessons.len();
        let one = |(k, lesson): (usize, &&Lesson)| {
            let offsets = offsets.clone().narrow(0, k * frames, frames);
            dressed(&lesson.skinned, &self.sheet.free, &offsets)
        };
        lessons.iter().enumerate().map(one).collect()
    }

    /// What the decoder is told of all frames of some lessons.
    fn seen(&self, elastic: &ElasticNet, lessons: &[&Lesson]) -> (Field, Field) {
        let all = |f: &dyn Fn(&Lesson) -> Tensor<3>| {
            Tensor::cat(lessons.iter().map(|lesson| f(lesson)).collect(), 0)
        };
        let codes = elastic.encode(&Pose {
            still: all(&|l| l.pose.still.clone()),
            moving: all(&|l| l.pose.moving.clone()),
        });
        let [motions, frames, width] = codes.dims();
        let bent = lessons.iter().map(|l| l.rest_bending.clone()).collect();
        (
            codes.reshape([motions * frames, width]),
            Field::cat(bent, 0),
        )
    }

    /// What E-Net makes of a motion with the rest bending of the lesson.
    pub fn see(&self, elastic: &ElasticNet, lesson: &Lesson) -> Predicted {
        let bending = lesson.rest_bending.clone();
        self.roll_out(elastic, lesson, |frame, _, _| {
            bending.clone().narrow(0, frame, 1)
        })
    }

    /// What both networks make of a motion, frame by frame: nothing is known but the body.
    pub fn predict(&self, students: &Students, lesson: &Lesson) -> Result<Predicted> {
        let none = self.compute.zeros([1, self.sheet.hinges]);
        if self.case.rest_bending == RestBending::None {
            return Ok(self.roll_out(&students.elastic, lesson, |_, _, _| none.clone()));
        }
        let plastic = students.plastic.valid();
        let mut failed = None;
        let mut memory = Memory::default();
        let (mut bent, mut strains) = ([none.clone(), none.clone()], [none.clone(), none.clone()]);
        let predicted = self.roll_out(&students.elastic, lesson, |_, strain, positions| {
            let (Some(strain), Some(positions)) = (strain, positions) else {
                return none.clone();
            };
            strains = [strains[1].clone(), strain.clone()];
            match self.increment(
                &plastic,
                &bent,
                &strains,
                positions,
                std::mem::take(&mut memory),
            ) {
                Ok((increment, next)) => {
                    memory = next;
                    bent = [bent[1].clone(), angle(bent[1].clone() + increment)];
                }
                Err(error) => failed = Some(error),
            }
            bent[1].clone()
        });
        match failed {
            Some(error) => Err(error),
            None => Ok(predicted),
        }
    }

    /// The increment of the rest bending, `[1, hinges]`.
    fn increment(
        &self,
        plastic: &PlasticNet,
        bent: &[Field; 2],
        strains: &[Field; 2],
        positions: &Field,
        memory: Memory,
    ) -> Result<(Field, Memory)> {
        let place = self.compute.values(positions.clone())?;
        let edges = self.edges.at(&place, &self.compute);
        let nodes = nodes([&bent[0], &bent[1]], [&strains[0], &strains[1]]);
        let (increment, memory) = plastic.step(&self.graph, nodes, &edges, memory);
        Ok((increment.transpose(), memory))
    }

    /// E-Net frame by frame. `bending` is asked for the rest bending of a frame, given strain and positions of the
    /// frame before.
    fn roll_out(
        &self,
        elastic: &ElasticNet,
        lesson: &Lesson,
        mut bending: impl FnMut(usize, Option<&Field>, Option<&Field>) -> Field,
    ) -> Predicted {
        let elastic = elastic.valid();
        let [_, frames, width] = elastic.encode(&lesson.pose).dims();
        let codes = elastic.encode(&lesson.pose).reshape([frames, width]);
        let (mut all_positions, mut strains, mut bendings) = (Vec::new(), Vec::new(), Vec::new());
        for frame in 0..frames {
            let bent = bending(frame, strains.last(), all_positions.last());
            let offsets = elastic.decode(codes.clone().narrow(0, frame, 1), bent.clone());
            let skinned = lesson.skinned.frame(frame);
            let positions = dressed(&skinned, &self.sheet.free, &offsets);
            strains.push(self.sheet.strain(&positions));
            all_positions.push(positions);
            bendings.push(bent);
        }
        Predicted {
            positions: all_positions,
            strain: Field::cat(strains, 0),
            rest_bending: Field::cat(bendings, 0),
        }
    }

    /// What the plastic rule makes of a prediction: P-Net's target, `[frames, hinges]`.
    pub fn target(&self, predicted: &Predicted) -> Field {
        let start = self.compute.zeros([1, self.sheet.hinges]);
        self.case.plasticity.history(&start, &predicted.strain)
    }

    /// One step of P-Net: the increment after one frame of one lesson, from a rest bending that may be off. A recurrent network sees the frames
    /// before it too.
    pub fn teach_plastic(
        &self,
        students: &mut Students,
        adam: &mut ModuleOptimizer,
        seen: &[(Predicted, Field)],
        (cycle, step): (usize, usize),
    ) -> Result<PlasticStep> {
        let training = &self.case.training;
        let number = ((cycle as u64) << 24) + step as u64;
        let mut random = Random::stream(self.case.seed, PLASTIC_BATCHES + number);
        let mut below = |count: usize| (random.uniform() * count as f64) as usize;
        let (predicted, target) = &seen[below(seen.len())];
        let frames = target.dims()[0];
        let frame = below(frames);
        let off = OFF[step % OFF.len()] * self.case.plasticity.yield_strain;
        let off: Vec<f64> = (0..self.sheet.hinges)
            .map(|_| off * random.normal())
            .collect();
        let off = self.compute.tensor(&off, [1, self.sheet.hinges]);
        let first = match students.plastic.remembers() {
            true => frame.saturating_sub(RECALL),
            false => frame,
        };
        let row = |field: &Field, frame: usize| field.clone().narrow(0, frame, 1);
        let mut memory = Memory::default();
        let mut last = None;
        for now in first..=frame {
            let before = now.saturating_sub(1);
            let place = self.compute.values(predicted.positions[now].clone())?;
            let edges = self.edges.at(&place, &self.compute).autodiff();
            let nodes = nodes(
                [
                    &(row(target, before) + off.clone()),
                    &(row(target, now) + off.clone()),
                ],
                [
                    &row(&predicted.strain, before),
                    &row(&predicted.strain, now),
                ],
            );
            let (increment, next) =
                students
                    .plastic
                    .step(&self.graph, nodes.autodiff(), &edges, memory);
            memory = next;
            last = Some(increment);
        }
        let start = row(target, frame) + off;
        let end = self
            .case
            .plasticity
            .update(&start, &row(&predicted.strain, frame));
        let wanted = end - start;
        let increment = last.expect("at least one frame").transpose();
        let error = increment - wanted.autodiff();
        let loss = ((error.powi_scalar(2) + TOUCH * TOUCH).sqrt() - TOUCH).mean();
        let value = self.compute.values(loss.clone().inner().unsqueeze::<1>())?[0];
        let gradients = GradientsParams::from_grads(loss.backward(), &students.plastic);
        let rate = rate(training.plastic_rate, step, training.plastic_steps);
        students.plastic = adam.step(rate, students.plastic.clone(), gradients);
        Ok(PlasticStep {
            cycle,
            step,
            loss: value,
        })
    }

    /// P-Net along a prediction of E-Net: the rest bending of the next cycle, `[frames, hinges]`.
    pub fn follow(&self, plastic: &PlasticNet, predicted: &Predicted) -> Result<Field> {
        let plastic = plastic.valid();
        let none = self.compute.zeros([1, self.sheet.hinges]);
        let mut rows = vec![none];
        let mut memory = Memory::default();
        for (frame, positions) in predicted.positions.iter().enumerate() {
            let before = frame.saturating_sub(1);
            let bent = [rows[before].clone(), rows[frame].clone()];
            let strain = |f: usize| predicted.strain.clone().narrow(0, f, 1);
            let strains = [strain(before), strain(frame)];
            let (increment, next) = self.increment(&plastic, &bent, &strains, positions, memory)?;
            memory = next;
            rows.push(angle(bent[1].clone() + increment));
        }
        rows.pop();
        Ok(Field::cat(rows, 0))
    }
}

/// Rest bending is shifted by so much of the yield strain, hinge by hinge, step by step: few hinges yield along a
/// motion, and in a roll-out P-Net must find back from its own errors. The plastic rule says what follows.
const OFF: [f64; 3] = [0.0, 0.1, 1.0];

/// P-Net's loss is √(e² + TOUCH²) − TOUCH of an error e \[rad\]: few hinges yield, by much, and with the plain square they
/// alone would be heard.
const TOUCH: f64 = 0.01;

/// Frames that a recurrent P-Net is shown before the one it is asked for.
const RECALL: usize = 8;

/// Far below the gradients of either network, which are small where all is nearly right; burn's 1e-5 would turn
/// Adam into plain descent.
const EPSILON: f32 = 1e-8;

/// Rest bending between −π and π: a network that has hardly learned may ask for more, and E-Net knows nothing there.
fn angle(rest_bending: Field) -> Field {
    rest_bending.clamp(-std::f64::consts::PI, std::f64::consts::PI)
}

/// Adam without moments.
pub fn adam() -> ModuleOptimizer {
    AdamConfig::new().with_epsilon(EPSILON).init()
}

/// Up to the first rate within a twentieth of the steps, since Adam's first steps are as long as any, then down to a
/// hundredth along half a cosine.
fn rate(first: f64, step: usize, steps: usize) -> f64 {
    let done = (step + 1) as f64 / steps as f64;
    let angle = std::f64::consts::PI * step as f64 / steps as f64;
    first * (0.505 + 0.495 * angle.cos()) * (done / 0.05).min(1.0)
}
