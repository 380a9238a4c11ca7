//! `.npz` files: arrays by name.

use std::path::Path;

use super::{
    limits::shortened,
    npy::{Array, Pieces},
    zip::{Packing, names, open, read_archive, unpack},
};
use crate::{
    error::{Error, Result, bad_input, nearest},
    files::write_whole,
};

/// An opened `.npz` file. Arrays are unpacked when they are asked for, so that what is not needed may be of any
/// kind.
#[derive(Debug)]
pub(crate) struct Npz {
    place: String,
    bytes: Vec<u8>,
    /// Names of the files.
    names: Vec<String>,
}

impl Npz {
    /// Opens a file.
    pub(crate) fn open(path: &Path) -> Result<Npz> {
        let bytes = read_archive(path)?;
        let place = path.display().to_string();
        let names = names(&open(&bytes, &place)?);
        Ok(Npz {
            place,
            bytes,
            names,
        })
    }

    /// Writes arrays in pieces by name, whole or not at all. Refuses more than [`Npz::open`] would read.
    pub(in crate::learn) fn write_pieces(path: &Path, arrays: &[(&str, Pieces<'_>)]) -> Result<()> {
        let names: Vec<String> = arrays.iter().map(|(key, _)| format!("{key}.npy")).collect();
        let lengths = names.iter().zip(arrays);
        let lengths: Vec<(&str, usize)> = lengths
            .map(|(name, (_, array))| (name.as_str(), array.length()))
            .collect();
        let mut packing = Packing::new(&lengths)
            .map_err(|e| Error::BadInput(format!("{}: {e}", path.display())))?;
        for (name, (_, array)) in names.iter().zip(arrays) {
            packing.add(name, array.bytes())?;
        }
        write_whole(path, &packing.finish()?)
    }

    /// Its name, for messages.
    pub(crate) fn place(&self) -> &str {
        &self.place
    }

    /// Names of all arrays.
    pub(crate) fn keys(&self) -> Vec<&str> {
        let names = self.names.iter();
        names.map(|name| name.trim_end_matches(".npy")).collect()
    }

    /// Whether there is such an array.
    pub(crate) fn has(&self, key: &str) -> bool {
        self.keys().contains(&key)
    }

    /// The array `key`.
    pub(crate) fn array(&self, key: &str) -> Result<Array> {
        let keys = self.keys();
        let Some(number) = keys.iter().position(|k| *k == key) else {
            let hint = nearest(key, keys.iter().copied())
                .map(|name| format!("; did it mean '{name}'?"))
                .unwrap_or_default();
            return bad_input(format!(
                "{}: no array '{key}'{hint} (it has: {}); give a file that has it",
                self.place,
                shortened(&keys.join(", "))
            ));
        };
        let place = format!("{}, '{key}'", self.place);
        let mut archive = open(&self.bytes, &self.place)?;
        Array::parse(&unpack(&mut archive, number, &self.place)?, &place)
    }

    /// The array `key` with a certain shape; `None` stands for any length. Refuses values that are not finite.
    pub(crate) fn shaped(&self, key: &str, shape: &[Option<usize>]) -> Result<Array> {
        let array = self.array(key)?;
        let fits = |(length, wanted): (&usize, &Option<usize>)| wanted.is_none_or(|w| w == *length);
        if array.shape.len() != shape.len() || !array.shape.iter().zip(shape).all(fits) {
            let wanted: Vec<String> = shape
                .iter()
                .map(|w| w.map_or("any".into(), |w| w.to_string()))
                .collect();
            return bad_input(format!(
                "{}, '{key}': shape {:?}, but [{}] is needed; check that the file is of the right kind",
                self.place,
                array.shape,
                wanted.join(", ")
            ));
        }
        match array.values.iter().position(|x| !x.is_finite()) {
            Some(at) => bad_input(format!(
                "{}, '{key}': value {at} is {}; give finite numbers",
                self.place, array.values[at]
            )),
            None => Ok(array),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // What could not be read again is refused before anything is allocated or written.
    #[test]
    fn more_than_can_be_read_is_not_written() {
        // The same 8 MiB 256 times are 2 GiB.
        let frame = vec![0.0_f64; 1 << 20];
        let pieces = Pieces {
            shape: vec![256, frame.len()],
            values: vec![frame.as_slice(); 256],
        };
        let path = Path::new("no folder/large.npz");
        let error = Npz::write_pieces(path, &[("positions", pieces)]).unwrap_err();
        let text = error.to_string();
        for part in [
            "large.npz",
            "positions.npy",
            "2049 MiB",
            "save fewer frames",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
    }
}
