//! One search on several processes, by MPI: each evaluates its share of every batch.
//!
//! The first rank searches, writes and reports; the others hold the same problem and wait for points. The result for a
//! point does not depend on the other points of its batch, so the bits are those of one process.

use std::path::{Path, PathBuf};

use mpi::{
    Threading,
    environment::Universe,
    point_to_point::{Destination, Source},
    topology::{Communicator, Process, SimpleCommunicator},
};
use nalgebra::{DMatrix, DVector};

use super::{Linearized, Problem};
use crate::error::{Error, Result};

/// All ranks of this run. While it lives MPI can be used; the first rank's dismisses the others at its end.
pub(crate) struct Company {
    world: SimpleCommunicator,
    // Ends MPI when it is dropped.
    _universe: Universe,
}

impl Company {
    /// Starts MPI; none where this is the only process, or MPI cannot be had.
    pub(crate) fn join() -> Option<Company> {
        // Only the thread of the search talks to the others.
        let (universe, _) = mpi::initialize_with_threading(Threading::Funneled)?;
        let world = universe.world();
        (world.size() > 1).then_some(Company {
            world,
            _universe: universe,
        })
    }

    /// Whether this is the rank that searches.
    pub(crate) fn leads(&self) -> bool {
        self.world.rank() == 0
    }

    /// Tells the other ranks where the case is; from then on they evaluate what they are sent.
    pub(crate) fn announce(&self, folder: &Path) {
        let text = folder.display().to_string();
        for other in Ranks(self.world.size()).others(&self.world) {
            other.send(text.as_bytes());
        }
    }

    /// The ranks, for a problem to share its batches with.
    pub(crate) fn ranks(&self) -> Ranks {
        Ranks(self.world.size())
    }

    /// On a rank that does not lead: waits for the folder; none where the first rank has given up before.
    pub(crate) fn folder(&self) -> Option<PathBuf> {
        let (bytes, _) = self.world.process_at_rank(0).receive_vec::<u8>();
        let text = String::from_utf8_lossy(&bytes).into_owned();
        (!text.is_empty()).then(|| PathBuf::from(text))
    }

    /// On every rank but the first: evaluates the points that it receives until the first rank ends the search. If the
    /// problem could not be built, the error is reported with the first batch.
    pub(crate) fn serve(&self, problem: Result<&dyn Problem>) {
        let first = self.world.process_at_rank(0);
        loop {
            let (request, _) = first.receive_vec::<f64>();
            let [stage, unknowns, points @ ..] = request.as_slice() else {
                return;
            };
            let points = points.chunks(*unknowns as usize);
            let points: Vec<DVector<f64>> = points.map(DVector::from_column_slice).collect();
            let answer = match &problem {
                Ok(problem) => problem.linearized(*stage as usize, &points),
                Err(error) => Err(Error::Device(error.to_string())),
            };
            first.send(&answer.map_or_else(|e| refusal(&e), |list| packed(&list))[..]);
        }
    }
}

impl Drop for Company {
    fn drop(&mut self) {
        if self.leads() {
            // An empty message, whatever a rank waits for.
            for other in self.ranks().others(&self.world) {
                other.send(&[0u8; 0][..]);
            }
        }
    }
}

/// Evaluates points on this rank.
pub(crate) type OwnShare<'a> = dyn Fn(&[DVector<f64>]) -> Result<Vec<Linearized>> + 'a;

/// How many ranks share a batch, with the one that asks.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ranks(i32);

impl Ranks {
    fn others(self, world: &SimpleCommunicator) -> impl Iterator<Item = Process<'_>> {
        (1..self.0).map(|rank| world.process_at_rank(rank))
    }

    /// Residuals and Jacobians of all points, the first share by `own`, the others by the other ranks.
    pub(crate) fn linearized(
        self,
        stage: usize,
        points: &[DVector<f64>],
        own: &OwnShare,
    ) -> Result<Vec<Linearized>> {
        let world = SimpleCommunicator::world();
        let share = points.len().div_ceil(self.0 as usize).max(1);
        let mut shares = points.chunks(share);
        let mine = shares.next().unwrap_or_default();
        let mut asked = Vec::new();
        for (other, share) in self.others(&world).zip(shares) {
            let mut request = vec![stage as f64, share[0].len() as f64];
            request.extend(share.iter().flat_map(|point| point.iter()));
            other.send(&request[..]);
            asked.push(other);
        }
        let mut results = own(mine);
        // Every answer is taken, also after a failure: the ranks must stay in step.
        for other in asked {
            let (answer, _) = other.receive_vec::<f64>();
            let theirs = unpacked(&answer)
                .map_err(|why| Error::Device(format!("rank {}: {why}", other.rank())));
            results = results.and_then(|mut all| {
                all.extend(theirs?);
                Ok(all)
            });
        }
        results
    }
}

/// Marks of the first number of an answer.
const GOOD: f64 = 1.0;
const REFUSED: f64 = 0.0;

/// Good, residuals, unknowns, and then all numbers of every point.
fn packed(list: &[Linearized]) -> Vec<f64> {
    let (rows, columns) = list.first().map_or((0, 0), |at| at.jacobian.shape());
    let mut answer = vec![GOOD, rows as f64, columns as f64];
    for at in list {
        answer.extend(at.residuals.iter());
        answer.extend(at.jacobian.iter());
    }
    answer
}

fn refusal(error: &Error) -> Vec<f64> {
    let bytes = error.to_string().into_bytes();
    let text = bytes.into_iter().map(f64::from);
    std::iter::once(REFUSED).chain(text).collect()
}

fn unpacked(answer: &[f64]) -> std::result::Result<Vec<Linearized>, String> {
    match answer {
        [GOOD, rows, columns, numbers @ ..] => {
            let (m, n) = (*rows as usize, *columns as usize);
            let one = |part: &[f64]| Linearized {
                residuals: DVector::from_column_slice(&part[..m]),
                jacobian: DMatrix::from_column_slice(m, n, &part[m..]),
            };
            Ok(numbers.chunks_exact((m + m * n).max(1)).map(one).collect())
        }
        [REFUSED, text @ ..] => {
            let bytes: Vec<u8> = text.iter().map(|b| *b as u8).collect();
            Err(String::from_utf8_lossy(&bytes).into_owned())
        }
        _ => Err("an answer that cannot be read".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_keep_their_bits_and_refusals_their_words() {
        let at = |shift: f64| Linearized {
            residuals: DVector::from_vec(vec![0.1 + shift, f64::NAN, -0.0]),
            jacobian: DMatrix::from_fn(3, 2, |i, j| (i as f64 - shift) / (3.0 + j as f64)),
        };
        let list = vec![at(0.2), at(1e-300)];
        let back = unpacked(&packed(&list)).unwrap();
        assert_eq!(back.len(), 2);
        for (a, b) in list.iter().zip(&back) {
            let bits = |at: &Linearized| -> Vec<u64> {
                let all = at.residuals.iter().chain(at.jacobian.iter());
                all.map(|v| v.to_bits()).collect()
            };
            assert_eq!(bits(a), bits(b));
        }
        let said = unpacked(&refusal(&Error::Device("κ: no".into()))).unwrap_err();
        assert_eq!(said, "κ: no");
    }
}
