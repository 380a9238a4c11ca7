//! A training run in a folder: Algorithm 1 step by step, kept on disk so that it goes on after a stop.
//!
//! ```text
//! case.json               the whole case
//! elastic.csv             every step of E-Net: loss and terms
//! plastic.csv             every step of P-Net
//! cycles.csv              a row a cycle: the rest bending that was learned, and how much it moved
//! checkpoint.zip          where training goes on
//! networks/cycle-1.zip    both networks after a cycle, in burn's own format
//! networks/first-turn.zip E-Net before it hears of rest bending: other runs may begin with it
//! ```
//!
//! A run that was killed at any moment and opened again ends with the same bits in networks and logs (but for
//! the seconds in cycles.csv): batches are functions of cycle and step, and rows beyond the checkpoint are cut away.

mod checkpoint;
mod folder;
pub mod rows;

use std::{
    path::{Path, PathBuf},
    time::Instant,
};

use burn::optim::ModuleOptimizer;
use serde::{Deserialize, Serialize};

pub use self::folder::{
    CASE, CYCLES, ELASTIC, PLASTIC, cycles, elastic_steps, load, plastic_steps, read_case,
};
use self::{
    checkpoint::Mark,
    folder::{
        CHECKPOINT, FIRST_TURN, NETWORKS, check_same, clear, made_by, networks_file, open_logs,
        write_case,
    },
};
use super::{
    LearnCase,
    curriculum::{Curriculum, Predicted, Students, adam},
};
use crate::{
    error::{Error, Result, bad_input},
    files::Log,
    numeric::{Compute, Field},
};

/// Which network learns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Network {
    /// E-Net.
    Elastic,
    /// P-Net.
    Plastic,
}

/// The next step of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// Of Algorithm 1, from 0.
    pub cycle: usize,
    /// Which half of it.
    pub network: Network,
    /// Within the half.
    pub step: usize,
}

/// What a cycle brought, over all frames and hinges of the training motions.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Cycle {
    /// From 0.
    pub cycle: usize,
    /// Mean |rest bending| of P-Net's target, which the plastic rule makes from E-Net's prediction \[rad\].
    pub target: f64,
    /// Mean size of the error of P-Net's increments added up along that prediction \[rad\].
    pub error: f64,
    /// Mean |rest bending| of the roll-out of both networks, the next cycle's rest bending \[rad\].
    pub roll_out: f64,
    /// Mean |roll-out − roll-out of the cycle before| \[rad\]; before the first there is none.
    pub change: f64,
    /// The error on motions of the validation, along the roll-out of both networks \[rad\].
    pub validation_error: f64,
    /// How far E-Net is from where the minimiser leads on these, mean over frames and vertices \[m\].
    pub validation_away: f64,
    /// How long the cycle took \[s\].
    pub seconds: f64,
}

/// An open run.
pub struct Run {
    /// Where it is kept.
    pub folder: PathBuf,
    /// What is trained, and with what.
    pub course: Curriculum,
    /// The networks so far.
    pub students: Students,
    compute: Compute,
    place: Place,
    adam: ModuleOptimizer,
    /// E-Net's predictions of the lessons and P-Net's targets; none while E-Net learns.
    seen: Vec<(Predicted, Field)>,
    logs: [Log; 3],
    /// Time of this cycle in earlier sessions \[s\].
    earlier: f64,
    clock: Instant,
}

impl Run {
    /// Opens a folder for a case: a new one, or where an earlier run of the same case stopped. A case that differs in
    /// nothing but more cycles goes on too. `fresh` throws away what is there.
    pub fn open(folder: &Path, case: &LearnCase, compute: &Compute, fresh: bool) -> Result<Run> {
        case.check()?;
        let begun = folder.join(CHECKPOINT).is_file() && !fresh;
        if begun {
            check_same(folder, case)?;
        } else {
            clear(folder, fresh)?;
        }
        let course = Curriculum::new(case.clone(), case.scene()?, compute)?;
        let students = course.students()?;
        std::fs::create_dir_all(folder.join(NETWORKS)).map_err(|e| Error::writing(folder, e))?;
        match begun {
            true => Run::go_on(folder, course, students, compute),
            false => Run::start(folder, course, students, compute),
        }
    }

    fn start(
        folder: &Path,
        course: Curriculum,
        students: Students,
        compute: &Compute,
    ) -> Result<Run> {
        let mut logs = open_logs(folder, [0; 3])?;
        write_case(folder, &course.case)?;
        for log in &mut logs {
            log.append(rows::SYNTHETIC.as_bytes())?;
        }
        let run = Run {
            folder: folder.into(),
            course,
            students,
            compute: compute.clone(),
            place: Place {
                cycle: 0,
                network: Network::Elastic,
                step: 0,
            },
            adam: adam(),
            seen: Vec::new(),
            logs,
            earlier: 0.0,
            clock: Instant::now(),
        };
        run.save()?;
        Ok(run)
    }

    fn go_on(
        folder: &Path,
        course: Curriculum,
        students: Students,
        compute: &Compute,
    ) -> Result<Run> {
        let path = folder.join(CHECKPOINT);
        let (mark, students, adam) = checkpoint::load(&path, students, compute)?;
        let here = made_by(compute);
        if mark.made_by != here {
            return bad_input(format!(
                "{}: trained by {}, and this is {here}, which rounds differently; go on with the same one, or give \
                 --fresh to throw it away",
                folder.display(),
                mark.made_by
            ));
        }
        let logs = open_logs(folder, mark.logs)?;
        let held = LearnCase::load(&folder.join(CASE))?;
        if held.cycles < course.case.cycles {
            write_case(folder, &course.case)?;
        }
        let mut run = Run {
            folder: folder.into(),
            course,
            students,
            compute: compute.clone(),
            place: mark.place,
            adam,
            seen: Vec::new(),
            logs,
            earlier: mark.seconds,
            clock: Instant::now(),
        };
        if run.place.network == Network::Plastic {
            run.look();
        }
        Ok(run)
    }

    /// What comes next.
    pub fn place(&self) -> Place {
        self.place
    }

    /// Whether all cycles are done.
    pub fn finished(&self) -> bool {
        self.place.cycle >= self.course.case.cycles
    }

    /// Whether E-Net has learned without rest bending, so that others can begin as this run.
    pub fn has_first_turn(&self) -> bool {
        self.done()[0] >= self.course.elastic_steps(0)
    }

    /// Steps of E-Net and of P-Net in the whole run.
    pub fn steps(&self) -> [usize; 2] {
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
    pub fn done(&self) -> [usize; 2] {
        let Place {
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
    pub fn advance(&mut self) -> Result<f64> {
        let at = (self.place.cycle, self.place.step);
        let loss = match self.place.network {
            Network::Elastic => {
                let step = self
                    .course
                    .teach_elastic(&mut self.students, &mut self.adam, at)?;
                self.log(0, step.loss, &step)?
            }
            Network::Plastic => {
                let step = self.course.teach_plastic(
                    &mut self.students,
                    &mut self.adam,
                    &self.seen,
                    at,
                )?;
                self.log(1, step.loss, &step)?
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
        if self.place.cycle == 0 && self.place.network == Network::Elastic {
            let path = self.folder.join(NETWORKS).join(FIRST_TURN);
            checkpoint::save_elastic(&path, &self.mark(), &self.students)?;
        }
        match self.place.network {
            Network::Elastic if self.course.plastic_steps(self.place.cycle) > 0 => self.end_half(),
            _ => self.end_cycle(),
        }
    }

    /// Takes E-Net's first turn over from the run in another folder if that began in the same way: in its first turn
    /// E-Net has not heard of rest bending yet. Says whether it did; the bits are those of a run on its own.
    pub fn begin_as(&mut self, other: &Path) -> Result<bool> {
        let path = other.join(NETWORKS).join(FIRST_TURN);
        if self.done() != [0, 0] || !path.is_file() {
            return Ok(false);
        }
        let theirs = LearnCase::load(&other.join(CASE))?;
        if !self.course.case.begins_as(&theirs) {
            return Ok(false);
        }
        let (mark, elastic) = checkpoint::load_elastic(&path, self.students.elastic.clone())?;
        if mark.made_by != made_by(&self.compute) {
            return Ok(false);
        }
        let log = other.join(ELASTIC);
        let rows = std::fs::read(&log).map_err(|e| Error::reading(&log, e))?;
        let Some(rows) = rows.get(rows::SYNTHETIC.len()..mark.logs[0] as usize) else {
            return Ok(false);
        };
        self.logs[0].append(rows)?;
        self.students.elastic = elastic;
        self.place = mark.place;
        self.earlier = mark.seconds;
        self.end_turn()?;
        Ok(true)
    }

    /// Takes down a step, or refuses one that has blown up.
    fn log(&mut self, log: usize, loss: f64, row: &impl Serialize) -> Result<f64> {
        let Place { cycle, step, .. } = self.place;
        if !loss.is_finite() {
            let (name, rate) = [
                ("E-Net", "training.elastic_rate"),
                ("P-Net", "training.plastic_rate"),
            ][log];
            return bad_input(format!(
                "{}: {name} diverged in cycle {} at step {step}: its loss is {loss}; lower {rate} in the case and train \
                 into another folder",
                self.folder.display(),
                cycle + 1
            ));
        }
        self.append(log, row)?;
        Ok(loss)
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
        let seen = |lesson| {
            let predicted = self.course.see(&self.students.elastic, lesson);
            let target = self.course.target(&predicted);
            (predicted, target)
        };
        self.seen = self.students.lessons.iter().map(seen).collect();
    }

    /// Both have learned for now: their roll-out is the next rest bending.
    fn end_cycle(&mut self) -> Result<()> {
        let mut row = Cycle {
            cycle: self.place.cycle,
            target: 0.0,
            roll_out: 0.0,
            error: 0.0,
            change: 0.0,
            validation_error: 0.0,
            validation_away: 0.0,
            seconds: 0.0,
        };
        let mut next = Vec::new();
        for ((predicted, target), lesson) in self.seen.iter().zip(&self.students.lessons) {
            let followed = self.course.follow(&self.students.plastic, predicted)?;
            let roll_out = self.course.predict(&self.students, lesson)?.rest_bending;
            row.target += self.size(target.clone())?;
            row.roll_out += self.size(roll_out.clone())?;
            row.error += self.size(followed - target.clone())?;
            row.change += self.size(roll_out.clone() - lesson.rest_bending.clone())?;
            next.push(roll_out);
        }
        let share = 1.0 / self.students.lessons.len() as f64;
        for sum in [
            &mut row.target,
            &mut row.roll_out,
            &mut row.error,
            &mut row.change,
        ] {
            *sum *= share;
        }
        for (lesson, rest_bending) in self.students.lessons.iter_mut().zip(next) {
            lesson.rest_bending = rest_bending;
        }
        [row.validation_error, row.validation_away] = self.course.validate(&self.students)?;
        row.seconds = self.seconds();
        self.append(2, &row)?;
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

    /// Mean size.
    fn size(&self, field: Field) -> Result<f64> {
        let values = self.compute.values(field)?;
        Ok(values.iter().map(|x| x.abs()).sum::<f64>() / values.len().max(1) as f64)
    }

    fn seconds(&self) -> f64 {
        self.earlier + self.clock.elapsed().as_secs_f64()
    }

    /// Saves where training goes on.
    pub fn save(&self) -> Result<()> {
        let path = self.folder.join(CHECKPOINT);
        checkpoint::save(
            &path,
            &self.mark(),
            &self.students,
            &self.adam,
            &self.compute,
        )
    }

    fn mark(&self) -> Mark {
        Mark {
            place: self.place,
            seconds: self.seconds(),
            logs: [0, 1, 2].map(|k| self.logs[k].length()),
            made_by: made_by(&self.compute),
        }
    }
}
