//! Networks and training states as files: ZIP archives of burn's own records, each part with its checksum,
//! written whole or not at all.

use std::path::Path;

use burn::{module::Module, optim::ModuleOptimizer, store::ModuleRecord, tensor::Bytes};
use serde::{Deserialize, Serialize};

use super::NextStep;
use crate::{
    error::{Error, Result, bad_input},
    files::write_lasting,
    learn::{
        curriculum::{Students, adam},
        files::{Array, archive, unpack_all},
        lesson::Lesson,
        network::ElasticNet,
    },
    numeric::{Compute, Field},
    study::Maker,
};

/// What a checkpoint says beside the networks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct CheckpointHead {
    /// What comes next.
    pub place: NextStep,
    /// Time that the cycle has taken so far \[s\].
    pub seconds: f64,
    /// Lengths of the logs \[bytes\]; what is beyond was written after this.
    pub logs: [u64; 3],
    /// Version of the program, and where it computes: others round differently.
    pub made_by: Maker,
}

const MARK: &str = "place.json";
const ELASTIC: &str = "elastic.bpk";
const PLASTIC: &str = "plastic.bpk";
const ADAM: &str = "adam.bpk";
const BENT: &str = "rest_bending.npy";
const ROLLED_OUT: &str = "rolled_out.npy";

/// Saves everything that training needs to go on with the same bits.
pub(crate) fn save(
    path: &Path,
    mark: &CheckpointHead,
    students: &Students,
    adam: &ModuleOptimizer,
    compute: &Compute,
) -> Result<()> {
    let mark = serde_json::to_vec(mark).map_err(|e| cannot(path, &e.to_string()))?;
    let adam = adam
        .into_bytes()
        .map_err(|e| cannot(path, &e.to_string()))?;
    let mut parts = vec![(MARK, mark)];
    parts.extend(networks(path, students)?);
    parts.push((ADAM, adam.to_vec()));
    let bent = stacked(students, |l| &l.rest_bending, compute)?;
    let rolled_out = stacked(students, |l| &l.rolled_out, compute)?;
    parts.extend([(BENT, bent.bytes()), (ROLLED_OUT, rolled_out.bytes())]);
    write_lasting(path, &archive(&parts)?)
}

/// Loads what [`save`] wrote into students of the same case.
pub(crate) fn load(
    path: &Path,
    mut students: Students,
    compute: &Compute,
) -> Result<(CheckpointHead, Students, ModuleOptimizer)> {
    let parts = Parts::open(path)?;
    let mark = parts.mark()?;
    students = parts.networks(students)?;
    let bytes = Bytes::from_bytes_vec(parts.part(ADAM)?.to_vec());
    let adam = adam().from_bytes(bytes).map_err(|e| parts.damaged(&e))?;
    let bent = parts.of_lessons(BENT, &students, compute)?;
    let rolled_out = parts.of_lessons(ROLLED_OUT, &students, compute)?;
    for (lesson, fields) in students
        .lessons
        .iter_mut()
        .zip(bent.into_iter().zip(rolled_out))
    {
        (lesson.rest_bending, lesson.rolled_out) = fields;
    }
    Ok((mark, students, adam))
}

/// Who wrote a checkpoint.
pub(crate) fn maker(path: &Path) -> Result<Maker> {
    Ok(Parts::open(path)?.mark()?.made_by)
}

/// Saves E-Net alone with a mark, for runs that begin in the same way.
pub(crate) fn save_elastic(path: &Path, mark: &CheckpointHead, students: &Students) -> Result<()> {
    let mark = serde_json::to_vec(mark).map_err(|e| cannot(path, &e.to_string()))?;
    let elastic = networks(path, students)?.swap_remove(0);
    write_lasting(path, &archive(&[(MARK, mark), elastic])?)
}

/// Loads what [`save_elastic`] wrote.
pub(crate) fn load_elastic(
    path: &Path,
    elastic: ElasticNet,
) -> Result<(CheckpointHead, ElasticNet)> {
    let parts = Parts::open(path)?;
    Ok((parts.mark()?, parts.elastic(elastic)?))
}

/// Saves the networks alone, for use.
pub(crate) fn save_networks(path: &Path, students: &Students) -> Result<()> {
    write_lasting(path, &archive(&networks(path, students)?)?)
}

/// Loads networks into students of the same case.
pub(crate) fn load_networks(path: &Path, students: Students) -> Result<Students> {
    Parts::open(path)?.networks(students)
}

fn networks(path: &Path, students: &Students) -> Result<Vec<(&'static str, Vec<u8>)>> {
    let bytes = |record: ModuleRecord| {
        let bytes = record.into_bytes();
        Ok::<_, Error>(bytes.map_err(|e| cannot(path, &e.to_string()))?.to_vec())
    };
    Ok(vec![
        (ELASTIC, bytes(students.elastic.clone().into_record())?),
        (PLASTIC, bytes(students.plastic.clone().into_record())?),
    ])
}

/// A field of all lessons, one below the other.
fn stacked(
    students: &Students,
    field: impl Fn(&Lesson) -> &Field,
    compute: &Compute,
) -> Result<Array> {
    let mut shape = vec![0, 0];
    let mut values = Vec::new();
    for lesson in &students.lessons {
        let [frames, hinges] = field(lesson).dims();
        shape = vec![shape[0] + frames, hinges];
        values.extend(compute.values(field(lesson).clone())?);
    }
    Ok(Array { shape, values })
}

fn cannot(path: &Path, why: &str) -> Error {
    Error::BadInput(format!(
        "{}: the networks cannot be saved: {why}; report this with the case",
        path.display()
    ))
}

/// The files of an archive.
struct Parts {
    place: String,
    parts: Vec<(String, Vec<u8>)>,
}

impl Parts {
    fn open(path: &Path) -> Result<Parts> {
        let place = path.display().to_string();
        let bytes = std::fs::read(path).map_err(|e| Error::reading(path, e))?;
        if bytes.is_empty() {
            return bad_input(format!("{place}: it is empty; copy it again, {REMEDY}"));
        }
        match unpack_all(&bytes, &place) {
            Ok(parts) => Ok(Parts { place, parts }),
            Err(e) => bad_input(format!("{e}, {REMEDY}")),
        }
    }

    fn part(&self, name: &str) -> Result<&[u8]> {
        match self.parts.iter().find(|(n, _)| n == name) {
            Some((_, bytes)) => Ok(bytes),
            None => Err(self.damaged(&format!("there is no {name} in it"))),
        }
    }

    fn mark(&self) -> Result<CheckpointHead> {
        serde_json::from_slice(self.part(MARK)?).map_err(|e| self.damaged(&e))
    }

    fn record(&self, name: &str) -> Result<ModuleRecord> {
        let bytes = Bytes::from_bytes_vec(self.part(name)?.to_vec());
        ModuleRecord::from_bytes(bytes).map_err(|e| self.damaged(&e))
    }

    fn elastic(&self, elastic: ElasticNet) -> Result<ElasticNet> {
        let loaded = elastic.try_load_record(self.record(ELASTIC)?);
        loaded.map_err(|e| self.damaged(&e))
    }

    fn networks(&self, students: Students) -> Result<Students> {
        let plastic = students.plastic.try_load_record(self.record(PLASTIC)?);
        Ok(Students {
            elastic: self.elastic(students.elastic)?,
            plastic: plastic.map_err(|e| self.damaged(&e))?,
            ..students
        })
    }

    /// A field of every lesson, as [`stacked`] wrote them.
    fn of_lessons(&self, name: &str, students: &Students, compute: &Compute) -> Result<Vec<Field>> {
        let array = Array::parse(self.part(name)?, &self.place)?;
        let [frames, hinges] = students.lessons[0].rest_bending.dims();
        if array.shape != [students.lessons.len() * frames, hinges] {
            return Err(self.damaged(&format!("{name} has shape {:?}", array.shape)));
        }
        let lessons = array.values.chunks_exact(frames * hinges);
        Ok(lessons
            .map(|rows| compute.tensor(rows, [frames, hinges]))
            .collect())
    }

    fn damaged(&self, why: &dyn std::fmt::Display) -> Error {
        Error::BadInput(format!(
            "{}: damaged, or of another version of this program ({why}); copy it again, {REMEDY}",
            self.place
        ))
    }
}

const REMEDY: &str = "or train again with `rumple learn train --fresh`";
