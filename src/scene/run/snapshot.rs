//! The exact bits of a state in a file, from which a run goes on.
//!
//! One line of JSON (what the run is, where it is, the shapes of the fields and a fingerprint of what
//! follows), then all numbers as 64-bit floating point, little endian; those of an f32 run fit in exactly.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::{
    error::{Error, Result, bad_input},
    files::{fingerprint, write_whole},
    numeric::{Compute, Field},
    step::State,
    study::Maker,
};

/// A state and all that is needed to go on from it.
#[derive(Debug, Clone, PartialEq)]
pub struct Snapshot {
    /// Of the scene and its mesh; another run is another number.
    pub run: u64,
    /// Program and device.
    pub maker: Maker,
    /// Steps done.
    pub step: usize,
    /// Age of the material \[s\].
    pub material_time: f64,
    /// Bytes of the growing files that belong to the steps done.
    pub lengths: Vec<u64>,
    /// Shape of each field, in the order of [`State::list`].
    shapes: Vec<[usize; 2]>,
    numbers: Vec<f64>,
}

#[derive(Serialize, Deserialize)]
struct SnapshotHeader {
    rumple_state: u32,
    run: u64,
    maker: Maker,
    step: usize,
    material_time: f64,
    lengths: Vec<u64>,
    shapes: Vec<[usize; 2]>,
    fingerprint: u64,
}

/// Number of the format.
const FORMAT: u32 = 2;

impl Snapshot {
    /// Takes a state off its device.
    pub fn take(
        (run, maker): (u64, Maker),
        (step, material_time): (usize, f64),
        state: &State,
        lengths: Vec<u64>,
        compute: &Compute,
    ) -> Result<Snapshot> {
        let mut numbers = Vec::new();
        for field in state.list() {
            numbers.extend(compute.values(field.clone())?);
        }
        Ok(Snapshot {
            run,
            maker,
            step,
            material_time,
            lengths,
            shapes: state.list().iter().map(|f| f.dims()).collect(),
            numbers,
        })
    }

    /// Puts the state on a device; `like` is any state of the same cloth.
    pub fn state(&self, like: &State, compute: &Compute) -> Result<State> {
        let shapes: Vec<[usize; 2]> = like.list().iter().map(|f| f.dims()).collect();
        if shapes != self.shapes {
            return bad_input("the saved state belongs to another mesh; start again with --fresh");
        }
        let mut rest = &self.numbers[..];
        // The fields of a state in the order of its list.
        let mut next = |field: &Field| {
            let shape = field.dims();
            let (own, others) = rest.split_at(shape[0] * shape[1]);
            rest = others;
            compute.tensor(own, shape)
        };
        Ok(State {
            positions: next(&like.positions),
            velocities: next(&like.velocities),
            bending: like.bending.iter().map(&mut next).collect(),
            tensile: like.tensile.iter().map(&mut next).collect(),
        })
    }

    /// Writes the file whole or not at all.
    pub fn save(&self, path: &Path) -> Result<()> {
        let body: Vec<u8> = self.numbers.iter().flat_map(|v| v.to_le_bytes()).collect();
        let header = SnapshotHeader {
            rumple_state: FORMAT,
            run: self.run,
            maker: self.maker.clone(),
            step: self.step,
            material_time: self.material_time,
            lengths: self.lengths.clone(),
            shapes: self.shapes.clone(),
            fingerprint: fingerprint(body.iter().copied()),
        };
        let header = serde_json::to_string(&header).map_err(|e| Error::writing(path, e.into()))?;
        write_whole(path, &[header.as_bytes(), b"\n", &body].concat())
    }

    /// Reads a file back; a damaged one is refused.
    pub fn load(path: &Path) -> Result<Snapshot> {
        let bytes = std::fs::read(path).map_err(|e| Error::reading(path, e))?;
        let damaged = || {
            Error::BadInput(format!(
                "{}: the saved state is damaged or of another version; start again with --fresh",
                path.display()
            ))
        };
        let end = bytes.iter().position(|b| *b == b'\n').ok_or_else(damaged)?;
        let (line, body) = (&bytes[..end], &bytes[end + 1..]);
        let header: SnapshotHeader = serde_json::from_slice(line).map_err(|_| damaged())?;
        let count: usize = header
            .shapes
            .iter()
            .map(|s| s[0].saturating_mul(s[1]))
            .sum();
        let whole = header.rumple_state == FORMAT
            && body.len() == count.saturating_mul(8)
            && fingerprint(body.iter().copied()) == header.fingerprint;
        if !whole {
            return Err(damaged());
        }
        Ok(Snapshot {
            run: header.run,
            maker: header.maker,
            step: header.step,
            material_time: header.material_time,
            lengths: header.lengths,
            shapes: header.shapes,
            numbers: body
                .as_chunks::<8>()
                .0
                .iter()
                .copied()
                .map(f64::from_le_bytes)
                .collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::Precision;

    /// Every bit comes back in both precisions, and one wrong byte is noticed.
    #[test]
    fn a_state_comes_back_bit_by_bit() {
        for precision in [Precision::F64, Precision::F32] {
            let compute = Compute::cpu(precision);
            let field = |seed: f64| {
                compute.tensor(&[seed, -0.0, 1.0 / seed, 1e-30, 0.1, seed.sqrt()], [3, 2])
            };
            let state = State {
                positions: field(3.0),
                velocities: field(7.0),
                bending: vec![field(11.0)],
                tensile: vec![field(13.0)],
            };
            let origin = (5, Maker::here(compute.describe()));
            let snapshot = Snapshot::take(origin, (17, 0.3), &state, vec![1, 2], &compute);
            let snapshot = snapshot.unwrap();
            let path = std::env::temp_dir().join(format!(
                "rumple-{}-{}.state",
                std::process::id(),
                precision.name()
            ));
            snapshot.save(&path).unwrap();
            let again = Snapshot::load(&path).unwrap();
            assert_eq!(again, snapshot);
            let back = again.state(&state, &compute).unwrap();
            for (a, b) in back.list().into_iter().zip(state.list()) {
                let bits = |f: &Field| -> Vec<u64> {
                    compute
                        .values(f.clone())
                        .unwrap()
                        .iter()
                        .map(|v| v.to_bits())
                        .collect()
                };
                assert_eq!(bits(a), bits(b));
            }
            let mut bytes = std::fs::read(&path).unwrap();
            *bytes.last_mut().unwrap() ^= 1;
            std::fs::write(&path, bytes).unwrap();
            assert!(
                Snapshot::load(&path)
                    .unwrap_err()
                    .to_string()
                    .contains("damaged")
            );
            std::fs::remove_file(&path).unwrap();
        }
    }
}
