//! A training run in a folder: Algorithm 1 step by step, kept on disk so that it goes on after a stop.
//!
//! ```text
//! case.json               the whole case
//! elastic.csv             every step of E-Net: loss and terms
//! plastic.csv             every step of P-Net
//! cycles.csv              a row a cycle: the rest bending that was learned, and how much it moved
//! checkpoint.zip          where training goes on
//! networks/cycle-1.zip    both networks after a cycle, in burn's own format
//! networks/first-turn.zip E-Net trained without rest bending: other runs may begin with it
//! ```
//!
//! A run that was killed at any moment and opened again ends with the same bits in networks and logs (but for
//! the seconds in cycles.csv): batches are functions of cycle and step, and rows beyond the checkpoint are cut away.
//! A power cut counts as a kill: rows and networks are on the disk before the checkpoint that counts on them.

mod begin;
mod checkpoint;
mod cycle;
mod folder;
pub(crate) mod rows;
mod teach;

use std::{path::PathBuf, time::Instant};

use burn::optim::ModuleOptimizer;
use serde::{Deserialize, Serialize};

pub(crate) use self::cycle::Cycle;
pub(crate) use self::folder::{CASE, CYCLES, ELASTIC, EVALUATION, PLASTIC, load, read_case};
use self::{
    checkpoint::CheckpointHead,
    folder::{CHECKPOINT, FIRST_TURN, NETWORKS, maker, networks_file},
};
use super::{
    curriculum::{Curriculum, Predicted, Students, adam},
    evaluate::mean_size,
};
use crate::{
    error::{Result, bad_input},
    numeric::{Compute, Field},
    study::Log,
};

/// Which network learns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Network {
    /// E-Net.
    Elastic,
    /// P-Net.
    Plastic,
}

/// The next step of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct NextStep {
    /// Of Algorithm 1, from 0.
    pub cycle: usize,
    /// Which half of it.
    pub network: Network,
    /// Within the half.
    pub step: usize,
}

/// Places of the logs in a run and in its mark.
const ELASTIC_LOG: usize = 0;
const PLASTIC_LOG: usize = 1;
const CYCLES_LOG: usize = 2;

/// An open run.
pub(crate) struct TrainingRun {
    /// Where it is kept.
    pub folder: PathBuf,
    /// What is trained, and with what.
    pub course: Curriculum,
    /// The networks so far.
    pub students: Students,
    compute: Compute,
    place: NextStep,
    adam: ModuleOptimizer,
    /// E-Net's predictions of the lessons and P-Net's targets; none while E-Net learns.
    seen: Vec<(Predicted, Field)>,
    /// Locked as long as the run is open.
    logs: [Log; 3],
    /// Time of this cycle in earlier sessions \[s\].
    earlier: f64,
    clock: Instant,
}

impl TrainingRun {
    /// What comes next.
    pub(crate) fn place(&self) -> NextStep {
        self.place
    }

    /// Whether all cycles are done.
    pub(crate) fn finished(&self) -> bool {
        self.place.cycle >= self.course.case.cycles
    }

    /// Whether E-Net has learned without rest bending, so that others can begin as this run.
    pub(crate) fn has_first_turn(&self) -> bool {
        self.done()[0] >= self.course.elastic_steps(0)
    }

    /// Steps of E-Net and of P-Net in the whole run.
    pub(crate) fn steps(&self) -> [usize; 2] {
        self.steps_before(self.course.case.cycles)
    }

    /// Steps of both in the cycles before one.
    fn steps_before(&self, cycle: usize) -> [usize; 2] {
        let course = &self.course;
        [
            (0..cycle).map(|c| course.elastic_steps(c)).sum(),
            (0..cycle).map(|c| course.plastic_steps(c)).sum(),
        ]
    }

    /// Steps of both that are done.
    pub(crate) fn done(&self) -> [usize; 2] {
        let NextStep {
            cycle,
            network,
            step,
        } = self.place;
        let [elastic, plastic] = self.steps_before(cycle);
        match network {
            Network::Elastic => [elastic + step, plastic],
            Network::Plastic => [elastic + self.course.elastic_steps(cycle), plastic + step],
        }
    }

    /// One step of one network, and what follows when it was the last of its half; returns the loss.
    pub(crate) fn advance(&mut self) -> Result<f64> {
        let at = (self.place.cycle, self.place.step);
        let loss = match self.place.network {
            Network::Elastic => {
                let step = self
                    .course
                    .teach_elastic(&mut self.students, &mut self.adam, at)?;
                // The loss is that of before the round: what is left tells how the round itself went.
                let left = ("its distance from the aims after the round", step.left);
                self.log(&[("its loss", step.loss), left], &step)?;
                step.loss
            }
            Network::Plastic => {
                let step = self.course.teach_plastic(
                    &mut self.students,
                    &mut self.adam,
                    &self.seen,
                    at,
                )?;
                self.log(&[("its loss", step.loss)], &step)?;
                step.loss
            }
        };
        self.place.step += 1;
        let last = match self.place.network {
            Network::Elastic => self.course.elastic_steps(self.place.cycle),
            Network::Plastic => self.course.plastic_steps(self.place.cycle),
        };
        if self.place.step == last {
            self.end_turn()?;
        }
        Ok(loss)
    }

    /// A network has learned for now.
    fn end_turn(&mut self) -> Result<()> {
        if self.place.network == Network::Elastic {
            self.check_elastic()?;
        }
        if self.place.cycle == 0 && self.place.network == Network::Elastic {
            let path = self.folder.join(NETWORKS).join(FIRST_TURN);
            checkpoint::save_elastic(&path, &self.mark(), &self.students)?;
        }
        match self.place.network {
            Network::Elastic if self.course.plastic_steps(self.place.cycle) > 0 => self.end_half(),
            _ => self.end_cycle(),
        }
    }

    /// Takes down a step, or refuses one whose `numbers` have blown up.
    fn log(&mut self, numbers: &[(&str, f64)], row: &impl Serialize) -> Result<()> {
        self.check_finite(self.place.step, numbers)?;
        let log = match self.place.network {
            Network::Elastic => ELASTIC_LOG,
            Network::Plastic => PLASTIC_LOG,
        };
        self.append(log, row)
    }

    /// Refuses numbers that are no longer finite, in the name of the network that learns: nothing that follows from
    /// them may be saved.
    fn check_finite(&self, step: usize, numbers: &[(&str, f64)]) -> Result<()> {
        let Some((what, value)) = numbers.iter().find(|(_, value)| !value.is_finite()) else {
            return Ok(());
        };
        let (name, rate) = match self.place.network {
            Network::Elastic => ("E-Net", "training.elastic_rate"),
            Network::Plastic => ("P-Net", "training.plastic_rate"),
        };
        bad_input(format!(
            "{}: {name} diverged in cycle {} at step {step}: {what} is {value}; lower {rate} in the case and train into \
             another folder",
            self.folder.display(),
            self.place.cycle + 1
        ))
    }

    /// Refuses a non-finite E-Net before it is saved. Otherwise P-Net would fail later, with a misleading message.
    /// The last frame of one lesson is checked, because a number in the network that is not finite spreads to every
    /// frame.
    fn check_elastic(&self) -> Result<()> {
        let lesson = &self.students.lessons[0];
        let end = self.course.see(&self.students.elastic, lesson).positions;
        let end = match end.last() {
            Some(positions) => mean_size(&self.compute.values(positions.clone())?),
            None => 0.0,
        };
        let where_to = ("where it puts the garment in a lesson's last frame", end);
        self.check_finite(self.last_step(), &[where_to])
    }

    /// The step that was done last, at the end of a turn.
    fn last_step(&self) -> usize {
        self.place.step.saturating_sub(1)
    }

    fn append(&mut self, log: usize, row: &impl Serialize) -> Result<()> {
        let mut text = rows::line(row)?;
        if self.logs[log].length() == rows::SYNTHETIC.len() as u64 {
            text = rows::header(row)? + &text;
        }
        self.logs[log].append(text.as_bytes())
    }

    /// E-Net has learned for now: P-Net's turn.
    fn end_half(&mut self) -> Result<()> {
        self.place.network = Network::Plastic;
        self.place.step = 0;
        self.adam = adam();
        self.look();
        self.save()
    }

    /// What E-Net predicts for the lessons, and what the plastic rule makes of that.
    fn look(&mut self) {
        let Students {
            elastic, lessons, ..
        } = &self.students;
        self.seen = self.course.targets(elastic, lessons);
    }

    /// Both have learned for now: their roll-out is the next rest bending. A network that the last step has spoiled is
    /// refused before anything is saved; no later step would be there to tell.
    fn end_cycle(&mut self) -> Result<()> {
        let (mut row, roll_outs) = Cycle::measure(
            self.place.cycle,
            &self.course,
            &self.students,
            &self.seen,
            &self.compute,
        )?;
        self.check_finite(self.last_step(), &row.numbers())?;
        [row.validation_error, row.validation_away] = self.course.validate(&self.students)?;
        self.check_finite(self.last_step(), &row.numbers())?;
        for (lesson, rest_bending) in self.students.lessons.iter_mut().zip(roll_outs) {
            lesson.rolled_out = rest_bending.clone();
            lesson.rest_bending = rest_bending;
        }
        row.seconds = self.seconds();
        self.append(CYCLES_LOG, &row)?;
        self.place.cycle += 1;
        self.place.network = Network::Elastic;
        self.place.step = 0;
        checkpoint::save_networks(
            &networks_file(&self.folder, self.place.cycle),
            &self.students,
        )?;
        self.adam = adam();
        self.seen.clear();
        self.earlier = 0.0;
        self.clock = Instant::now();
        self.save()
    }

    fn seconds(&self) -> f64 {
        self.earlier + self.clock.elapsed().as_secs_f64()
    }

    /// Saves the state of the training. The rows of the logs are flushed to the disk first: if a power cut removed
    /// them, the training could not be resumed from the checkpoint.
    pub(crate) fn save(&self) -> Result<()> {
        for log in &self.logs {
            log.sync()?;
        }
        let path = self.folder.join(CHECKPOINT);
        checkpoint::save(
            &path,
            &self.mark(),
            &self.students,
            &self.adam,
            &self.compute,
        )
    }

    fn mark(&self) -> CheckpointHead {
        CheckpointHead {
            place: self.place,
            seconds: self.seconds(),
            logs: [0, 1, 2].map(|k| self.logs[k].length()),
            made_by: maker(&self.compute),
        }
    }
}
