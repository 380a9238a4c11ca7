//! How a run begins: anew, where it stopped, or with what another has learned.

use std::{path::Path, time::Instant};

use burn::optim::ModuleOptimizer;

use super::{
    CASE, ELASTIC, ELASTIC_LOG, Network, NextStep, TrainingRun,
    checkpoint::{self, CheckpointHead},
    folder::{
        CHECKPOINT, FIRST_TURN, NETWORKS, REMEDY, check_begun, clear, lock_logs, maker, write_case,
    },
    rows,
};
use crate::{
    error::{Error, Result, bad_input},
    learn::{
        LearnCase,
        curriculum::{Curriculum, Students, adam},
    },
    numeric::Compute,
    study::{Folder, Log},
};

impl TrainingRun {
    /// Opens a folder for a case: a new one, or where an earlier run of the same case stopped. A case that differs in
    /// nothing but more cycles goes on too. `fresh` throws away what is there, but not before the case is known to be
    /// good and no other run writes there.
    pub(crate) fn open(
        folder: &Path,
        case: &LearnCase,
        compute: &Compute,
        fresh: bool,
    ) -> Result<TrainingRun> {
        case.check()?;
        let begun = check_begun(folder, case, fresh)?;
        let course = Curriculum::new(case.clone(), case.scene()?, compute)?;
        let students = course.students()?;
        let mut logs = lock_logs(folder)?;
        // Another run may have been here before the lock.
        if check_begun(folder, case, fresh)? != begun {
            return bad_input(format!(
                "{}: another run has changed it meanwhile; give the same command again",
                folder.display()
            ));
        }
        if fresh {
            clear(folder)?;
        }
        let (mark, students, adam) = match begun {
            true => continued(folder, &course, students, compute)?,
            false => (
                begun_now(folder, &course, &mut logs, compute)?,
                students,
                adam(),
            ),
        };
        for (log, length) in logs.iter_mut().zip(mark.logs) {
            log.cut(length)?;
        }
        let mut run = TrainingRun {
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
        match (begun, run.place.network) {
            (false, _) => run.save()?,
            (true, Network::Plastic) => run.look(),
            (true, Network::Elastic) => (),
        }
        Ok(run)
    }

    /// Copies E-Net's first turn from the run in another folder if that run began in the same way. The first turn
    /// does not depend on rest bending. Returns whether it was copied; the bits are those of a separate run.
    pub(crate) fn begin_as(&mut self, other: &Path) -> Result<bool> {
        let path = other.join(NETWORKS).join(FIRST_TURN);
        if self.done() != [0, 0] || !path.is_file() {
            return Ok(false);
        }
        let theirs = LearnCase::load(&other.join(CASE))?;
        if !self.course.case.begins_as(&theirs) {
            return Ok(false);
        }
        // Before the network is read: that of another version may have other parts.
        if checkpoint::maker(&path)? != maker(&self.compute) {
            return Ok(false);
        }
        let (mark, elastic) = checkpoint::load_elastic(&path, self.students.elastic.clone())?;
        let log = other.join(ELASTIC);
        let rows = std::fs::read(&log).map_err(|e| Error::reading(&log, e))?;
        let Some(rows) = rows.get(rows::SYNTHETIC.len()..mark.logs[ELASTIC_LOG] as usize) else {
            return Ok(false);
        };
        self.logs[ELASTIC_LOG].append(rows)?;
        self.students.elastic = elastic;
        self.place = mark.place;
        self.earlier = mark.seconds;
        self.end_turn()?;
        Ok(true)
    }
}

/// Writes the first lines of a new run.
fn begun_now(
    folder: &Path,
    course: &Curriculum,
    logs: &mut [Log; 3],
    compute: &Compute,
) -> Result<CheckpointHead> {
    write_case(folder, &course.case)?;
    for log in logs.iter_mut() {
        log.cut(0)?;
        log.append(rows::SYNTHETIC.as_bytes())?;
    }
    Ok(CheckpointHead {
        place: NextStep {
            cycle: 0,
            network: Network::Elastic,
            step: 0,
        },
        seconds: 0.0,
        logs: [0, 1, 2].map(|k| logs[k].length()),
        made_by: maker(compute),
    })
}

/// Where a run stopped. A checkpoint of a program or device that rounds differently is refused: the bits would be those of
/// neither.
fn continued(
    folder: &Path,
    course: &Curriculum,
    students: Students,
    compute: &Compute,
) -> Result<(CheckpointHead, Students, ModuleOptimizer)> {
    let path = folder.join(CHECKPOINT);
    let (there, here) = (checkpoint::maker(&path)?, maker(compute));
    Folder::new(folder).check_maker(&there, &here, REMEDY)?;
    let held = LearnCase::load(&folder.join(CASE))?;
    if held.cycles < course.case.cycles {
        write_case(folder, &course.case)?;
    }
    checkpoint::load(&path, students, compute)
}
