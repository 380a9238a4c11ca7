//! A step of P-Net, its target and its roll-out.

use burn::{
    module::Module,
    optim::{GradientsParams, ModuleOptimizer},
};
use serde::{Deserialize, Serialize};

use super::{Curriculum, Predicted, Students, rate};
use crate::{
    error::Result,
    learn::{
        lesson::Lesson,
        network::{ElasticNet, Memory, PlasticNet, nodes},
    },
    numeric::{Field, Random},
};

/// One step of P-Net, for the log.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct PlasticStep {
    /// Of Algorithm 1, from 0.
    pub cycle: usize,
    /// Within the cycle.
    pub step: usize,
    /// Mean size of the increments' errors \[rad\], small ones squared.
    pub loss: f64,
}

/// Number of the random stream.
const PLASTIC_BATCHES: u64 = 2 << 32;

/// Rest bending is shifted by so much of the yield strain, hinge by hinge, step by step: few hinges yield along a
/// motion, and in a roll-out P-Net must find back from its own errors. The plastic rule says what follows.
const OFF: [f64; 3] = [0.0, 0.1, 1.0];

/// P-Net's loss is √(e² + TOUCH²) − TOUCH of an error e \[rad\]: few hinges yield, by much, and with the plain square they
/// alone would be heard.
const TOUCH: f64 = 0.01;

/// Share of the rate in later cycles: with all of it P-Net forgot at first what it knew.
const LATER: f64 = 0.25;

/// Frames that a recurrent P-Net is shown before the one it is asked for.
const RECALL: usize = 8;

impl Curriculum {
    /// What the plastic rule makes of the strain of a motion, both `[frames, hinges]` \[rad\]: P-Net's target.
    pub(crate) fn target(&self, strain: &Field) -> Field {
        let start = self.compute.zeros([1, self.sheet.hinges]);
        self.case.plasticity.history(&start, strain)
    }

    /// What E-Net makes of lessons with their rest bending, and P-Net's target for each.
    pub(crate) fn targets(
        &self,
        elastic: &ElasticNet,
        lessons: &[Lesson],
    ) -> Vec<(Predicted, Field)> {
        let seen = |lesson| {
            let predicted = self.see(elastic, lesson);
            let target = self.target(&predicted.strain);
            (predicted, target)
        };
        lessons.iter().map(seen).collect()
    }

    /// One step of P-Net: the increment after one frame of one lesson, from a rest bending that may be off. A recurrent network
    /// sees the frames before it too.
    pub(crate) fn teach_plastic(
        &self,
        students: &mut Students,
        adam: &mut ModuleOptimizer,
        seen: &[(Predicted, Field)],
        (cycle, step): (usize, usize),
    ) -> Result<PlasticStep> {
        let training = &self.case.training;
        let number = ((cycle as u64) << 24) + step as u64;
        let mut random = Random::stream(self.case.seed, PLASTIC_BATCHES + number);
        let (predicted, target) = &seen[random.below(seen.len())];
        let frames = target.dims()[0];
        let frame = random.below(frames);
        let off = OFF[step % OFF.len()] * self.case.plasticity.yield_strain;
        let off: Vec<f64> = (0..self.sheet.hinges)
            .map(|_| off * random.normal())
            .collect();
        let off = self.compute.tensor(&off, [1, self.sheet.hinges]);
        let recalled = match students.plastic.remembers() {
            true => frame.saturating_sub(RECALL),
            false => frame,
        };
        let row = |field: &Field, frame: usize| field.clone().narrow(0, frame, 1);
        let mut memory = Memory::default();
        let mut last = None;
        for now in recalled..=frame {
            let before = now.saturating_sub(1);
            let place = self.compute.values(predicted.positions[now].clone())?;
            let edges = self.edges.at(&place, &self.compute).autodiff();
            let nodes = nodes(
                [
                    &angle(row(target, before) + off.clone()),
                    &angle(row(target, now) + off.clone()),
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
        let start = angle(row(target, frame) + off);
        let end = self
            .case
            .plasticity
            .update(&start, &row(&predicted.strain, frame));
        let wanted = end - start;
        let increment = lie_down(last.expect("at least one frame"));
        let error = increment - wanted.autodiff();
        // As a quotient: most errors are far below TOUCH, and the difference would lose them in single precision.
        let square = error.powi_scalar(2);
        let loss = (square.clone() / ((square + TOUCH * TOUCH).sqrt() + TOUCH)).mean();
        let value = self.compute.values(loss.clone().inner().unsqueeze::<1>())?[0];
        let gradients = GradientsParams::from_grads(loss.backward(), &students.plastic);
        let first = match cycle {
            0 => training.plastic_rate,
            _ => LATER * training.plastic_rate,
        };
        let rate = rate(first, step, self.plastic_steps(cycle));
        students.plastic = adam.step(rate, students.plastic.clone(), gradients);
        Ok(PlasticStep {
            cycle,
            step,
            loss: value,
        })
    }

    /// P-Net along a prediction of E-Net, `[frames, hinges]`: how well it has learned its target.
    pub(crate) fn follow(&self, plastic: &PlasticNet, predicted: &Predicted) -> Result<Field> {
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

    /// The increment of the rest bending, `[1, hinges]`.
    pub(super) fn increment(
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
        Ok((lie_down(increment), memory))
    }
}

/// From `[hinges, 1]` to `[1, hinges]`. Not by transposing: on the GPU burn 0.22.1 then takes wrong differences with others.
fn lie_down(column: Field) -> Field {
    let [hinges, _] = column.dims();
    column.reshape([1, hinges])
}

/// Rest bending, limited to −π and π: a P-Net at the start of its training may give more, which E-Net was not trained
/// for.
pub(super) fn angle(rest_bending: Field) -> Field {
    rest_bending.clamp(-std::f64::consts::PI, std::f64::consts::PI)
}
