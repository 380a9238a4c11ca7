//! Algorithm 1 of paper 2: E-Net and P-Net take turns.
//!
//! 1. E-Net learns to minimise the energy with the rest bending as it is, at first none.
//! 2. The plastic rule makes a rest bending from what E-Net predicts.
//! 3. P-Net learns the increments of that.
//! 4. The roll-out of both networks is the next rest bending: E-Net is then shown what it will meet.
//!
//! From the second cycle on the rest bending also follows the plastic rule from round to round while E-Net learns
//! ([`super::Training::renew`]).
//!
//! Both networks go on from where they were in the cycle before; Adam's moments start anew, since what is
//! minimised has moved. Batches are drawn from streams of the seed by cycle and step, so that a run that was
//! stopped goes on as if it had not been.

mod asked;
mod descent;
mod elastic;
mod plastic;
mod predict;

use burn::optim::{AdamConfig, ModuleOptimizer};

pub(crate) use self::{elastic::ElasticStep, plastic::PlasticStep, predict::Predicted};
use super::{
    BodyScene, GarmentBatch, GarmentLoss, LearnCase, RestBending,
    lesson::Lesson,
    network::{EdgeFeatures, ElasticNet, HingeGraph, PlasticNet, seeded},
    reference::SOLVE_TOLERANCE,
};
use crate::{error::Result, numeric::Compute, solve::Solver};

/// Everything that stays the same while training.
pub(crate) struct Curriculum {
    /// The case.
    pub case: LearnCase,
    /// Body and garment.
    pub scene: BodyScene,
    compute: Compute,
    loss: GarmentLoss,
    sheet: GarmentBatch,
    solver: Solver,
    graph: HingeGraph,
    edges: EdgeFeatures,
}

/// What training has made so far.
#[derive(Clone)]
pub(crate) struct Students {
    /// E-Net.
    pub elastic: ElasticNet,
    /// P-Net.
    pub plastic: PlasticNet,
    /// The motions with the rest bending as it is now.
    pub lessons: Vec<Lesson>,
}

/// Times as many steps of P-Net in the first cycle, which starts from nothing.
const FIRST: usize = 6;

impl Curriculum {
    /// Prepares a case for a scene, that of [`LearnCase::scene`] or another. Networks are trained in single
    /// precision.
    pub(crate) fn new(case: LearnCase, scene: BodyScene, compute: &Compute) -> Result<Curriculum> {
        case.check()?;
        let garment = &scene.garment;
        let graph = HingeGraph::new(&garment.mesh, &garment.topology, compute);
        let seconds = case.loss.materials.seconds;
        Ok(Curriculum {
            loss: GarmentLoss::new(case.loss)?,
            sheet: GarmentBatch::new(garment, 1, compute),
            solver: Solver::new(&garment.mesh, &garment.topology, compute)?
                .with_tolerance(SOLVE_TOLERANCE),
            edges: EdgeFeatures::new(&scene, &graph, seconds, case.plasticity.yield_strain),
            graph,
            compute: compute.clone(),
            scene,
            case,
        })
    }

    /// Untrained networks.
    pub(crate) fn students(&self) -> Result<Students> {
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
            elastic: seeded(ElasticNet::new(size, shape, &device), seed.wrapping_mul(2)),
            plastic: seeded(
                PlasticNet::new(size, plastic_net, &device),
                seed.wrapping_mul(2).wrapping_add(1),
            ),
            lessons: motions.map(lesson).collect::<Result<_>>()?,
        })
    }

    /// Steps of E-Net in a cycle.
    pub(crate) fn elastic_steps(&self, cycle: usize) -> usize {
        match cycle {
            0 => 2 * self.case.training.elastic_steps,
            _ => self.case.training.elastic_steps,
        }
    }

    /// Steps of P-Net in a cycle; none where there is no rest bending.
    pub(crate) fn plastic_steps(&self, cycle: usize) -> usize {
        match (self.case.rest_bending, cycle) {
            (RestBending::None, _) => 0,
            (_, 0) => FIRST * self.case.training.plastic_steps,
            _ => self.case.training.plastic_steps,
        }
    }
}

/// Far below the gradients of either network, which are small where all is nearly right; burn's 1e-5 would turn
/// Adam into plain descent.
const EPSILON: f32 = 1e-8;

/// Adam without moments.
pub(crate) fn adam() -> ModuleOptimizer {
    AdamConfig::new().with_epsilon(EPSILON).init()
}

/// Share of the steps in which the rate grows: Adam's first steps are as long as any, and would spoil what was learned in the
/// cycle before.
const WARM_UP: f64 = 0.2;

/// Up to the first rate, then down to a hundredth along half a cosine.
fn rate(first: f64, step: usize, steps: usize) -> f64 {
    let done = (step + 1) as f64 / steps as f64;
    let angle = std::f64::consts::PI * step as f64 / steps as f64;
    first * (0.505 + 0.495 * angle.cos()) * (done / WARM_UP).min(1.0)
}
