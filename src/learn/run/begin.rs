//! How a run begins: anew, where it stopped, or with what another has learned.

use std::{path::Path, time::Instant};

use super::{
    CASE, ELASTIC, ELASTIC_LOG, Network, Place, Run,
    checkpoint::{self, Mark},
    folder::{
        CHECKPOINT, FIRST_TURN, NETWORKS, check_begun, clear, lock_logs, made_by, write_case,
    },
    rows,
};
use crate::{
    error::{Error, Result, bad_input},
    files::Log,
    learn::{
        LearnCase,
        curriculum::{Curriculum, Students, adam},
    },
    numeric::Compute,
};

impl Run {
    /// Opens a folder for a case: a new one, or where an earlier run of the same case stopped. A case that differs in
    /// nothing but more cycles goes on too. `fresh` throws away what is there, but not before the case is known to be
    /// good and no other run writes there.
    pub fn open(folder: &Path, case: &LearnCase, compute: &Compute, fresh: bool) -> Result<Run> {
        case.check()?;
        let begun = check_begun(folder, case, fresh)?;
        let course = Curriculum::new(case.clone(), case.scene()?, compute)?;
        let students = course.students()?;
        let logs = lock_logs(folder)?;
        if fresh {
            clear(folder)?;
        } else if folder.join(CHECKPOINT).is_file() != begun {
            return bad_input(format!(
                "{}: another run has changed it meanwhile; give the same command again",
                folder.display()
            ));
        }
        match begun {
            true => Run::go_on(folder, course, students, compute, logs),
            false => Run::start(folder, course, students, compute, logs),
        }
    }

    fn start(
        folder: &Path,
        course: Curriculum,
        students: Students,
        compute: &Compute,
        mut logs: [Log; 3],
    ) -> Result<Run> {
        for log in &mut logs {
            log.cut(0)?;
        }
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
        mut logs: [Log; 3],
    ) -> Result<Run> {
        let path = folder.join(CHECKPOINT);
        let (mark, students, adam) = checkpoint::load(&path, students, compute)?;
        check_maker(folder, &mark, compute)?;
        for (log, length) in logs.iter_mut().zip(mark.logs) {
            log.cut(length)?;
        }
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

/// Refuses a checkpoint of a program or device that rounds differently: the bits would be those of neither.
fn check_maker(folder: &Path, mark: &Mark, compute: &Compute) -> Result<()> {
    let here = made_by(compute);
    match mark.made_by == here {
        true => Ok(()),
        false => bad_input(format!(
            "{}: trained by {}, and this is {here}, which rounds differently; go on with the same one, or give --fresh \
             to throw it away",
            folder.display(),
            mark.made_by
        )),
    }
}
