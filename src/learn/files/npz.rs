//! `.npz` files: arrays by name.

use std::path::Path;

use super::{
    npy::Array,
    zip::{Entry, archive, entries},
};
use crate::{
    error::{Error, Result, bad_input, nearest},
    files::write_whole,
};

/// An opened `.npz` file. Arrays are unpacked when they are asked for, so that what is not needed may be of any
/// kind.
#[derive(Debug)]
pub struct Npz {
    place: String,
    bytes: Vec<u8>,
    entries: Vec<Entry>,
}

/// Most that is read \[bytes\]; AMASS files are below 100 MB.
const MOST_BYTES: u64 = 2 << 30;

impl Npz {
    /// Opens a file.
    pub fn open(path: &Path) -> Result<Npz> {
        let size = std::fs::metadata(path)
            .map_err(|e| Error::reading(path, e))?
            .len();
        if size > MOST_BYTES {
            return bad_input(format!(
                "{}: larger than {} MiB; give a smaller file",
                path.display(),
                MOST_BYTES >> 20
            ));
        }
        let bytes = std::fs::read(path).map_err(|e| Error::reading(path, e))?;
        let place = path.display().to_string();
        let entries = entries(&bytes, &place)?;
        Ok(Npz {
            place,
            bytes,
            entries,
        })
    }

    /// Writes arrays by name, whole or not at all.
    pub fn write(path: &Path, arrays: &[(&str, Array)]) -> Result<()> {
        let names: Vec<String> = arrays.iter().map(|(key, _)| format!("{key}.npy")).collect();
        let files = names.iter().zip(arrays);
        let files: Vec<(&str, Vec<u8>)> = files
            .map(|(name, (_, array))| (name.as_str(), array.bytes()))
            .collect();
        write_whole(path, &archive(&files)?)
    }

    /// Its name, for messages.
    pub fn place(&self) -> &str {
        &self.place
    }

    /// Names of all arrays.
    pub fn keys(&self) -> Vec<&str> {
        let name = |entry: &'_ Entry| -> usize { entry.name.trim_end_matches(".npy").len() };
        self.entries.iter().map(|e| &e.name[..name(e)]).collect()
    }

    /// Whether there is such an array.
    pub fn has(&self, key: &str) -> bool {
        self.keys().contains(&key)
    }

    /// The array `key`.
    pub fn array(&self, key: &str) -> Result<Array> {
        let keys = self.keys();
        let Some(number) = keys.iter().position(|k| *k == key) else {
            let hint = nearest(key, keys.iter().copied())
                .map(|name| format!("; did it mean '{name}'?"))
                .unwrap_or_default();
            return bad_input(format!(
                "{}: no array '{key}'{hint} (it has: {}); give a file that has it",
                self.place,
                keys.join(", ")
            ));
        };
        let place = format!("{}, '{key}'", self.place);
        Array::parse(
            &self.entries[number].unpack(&self.bytes, &self.place)?,
            &place,
        )
    }

    /// The array `key` with a certain shape; `None` stands for any length. Refuses values that are not finite.
    pub fn shaped(&self, key: &str, shape: &[Option<usize>]) -> Result<Array> {
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
