//! The journal: an append-only file from which a run goes on after a stop at any moment.
//!
//! Each line is one JSON object with a key and a value. What was computed under a key is found again by
//! that key; the last line wins. A line that was cut short by a kill is dropped when the file is opened
//! again.

use std::{
    collections::HashMap,
    fs::{File, OpenOptions, TryLockError},
    io::{Seek, SeekFrom, Write},
    path::{Path, PathBuf},
};

use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};

use super::folder::lock;
use crate::error::{Error, Result, bad_input};

/// An open journal; at most one process has it.
#[derive(Debug)]
pub(crate) struct Journal {
    path: PathBuf,
    /// None for a journal that is kept in memory only.
    file: Option<File>,
    entries: HashMap<String, LastLine>,
    lines: usize,
}

/// The last line of a key.
#[derive(Debug)]
struct LastLine {
    /// Its number, from 1.
    line: usize,
    value: Value,
}

impl Journal {
    /// Opens a journal, making it where there is none.
    pub(crate) fn open(path: &Path) -> Result<Journal> {
        let failed = |e| Error::writing(path, e);
        let mut file = OpenOptions::new()
            .read(true)
            .append(true)
            .create(true)
            .open(path)
            .map_err(failed)?;
        lock(&file, path)?;
        let bytes = std::fs::read(path).map_err(|e| Error::reading(path, e))?;
        let (entries, lines, good) = entries(&bytes, path)?;
        file.set_len(good as u64).map_err(failed)?;
        file.seek(SeekFrom::End(0)).map_err(failed)?;
        Ok(Journal {
            path: path.to_path_buf(),
            file: Some(file),
            entries,
            lines,
        })
    }

    /// Reads a journal that nobody writes to; what is put to it later goes nowhere.
    pub(crate) fn read(path: &Path) -> Result<Journal> {
        let file = File::open(path).map_err(|e| Error::reading(path, e))?;
        if let Err(TryLockError::WouldBlock) = file.try_lock_shared() {
            return bad_input(format!(
                "{}: a run is writing to it; wait for it",
                path.display()
            ));
        }
        let bytes = std::fs::read(path).map_err(|e| Error::reading(path, e))?;
        let (entries, lines, _) = entries(&bytes, path)?;
        Ok(Journal {
            path: path.to_path_buf(),
            file: None,
            entries,
            lines,
        })
    }

    /// A journal that nothing survives, for fits of no further use.
    pub(crate) fn in_memory() -> Journal {
        Journal {
            path: PathBuf::new(),
            file: None,
            entries: HashMap::new(),
            lines: 0,
        }
    }

    /// The file.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// All keys, in no order.
    pub(crate) fn keys(&self) -> impl Iterator<Item = &str> {
        self.entries.keys().map(String::as_str)
    }

    /// Number of the line of a key, from 1.
    pub(crate) fn line(&self, key: &str) -> Option<usize> {
        self.entries.get(key).map(|entry| entry.line)
    }

    /// What stands under a key.
    pub(crate) fn get<T: DeserializeOwned>(&self, key: &str) -> Result<Option<T>> {
        let Some(entry) = self.entries.get(key) else {
            return Ok(None);
        };
        serde_json::from_value(entry.value.clone()).map(Some).map_err(|e| {
            Error::BadInput(format!(
                "{}: the entry '{key}' cannot be read: {e}; it was written by another version: start again in another folder",
                self.path.display()
            ))
        })
    }

    /// Puts a value under a key.
    pub(crate) fn put<T: Serialize>(&mut self, key: &str, value: &T) -> Result<()> {
        let failed = |e: std::io::Error| Error::writing(&self.path, e);
        let value = serde_json::to_value(value).map_err(|e| failed(e.into()))?;
        if let Some(file) = &mut self.file {
            // One write a line: a kill leaves at most the last line cut short.
            let line = format!("{}\n", json!({ "key": key, "value": value }));
            file.write_all(line.as_bytes()).map_err(failed)?;
        }
        self.lines += 1;
        let line = self.lines;
        self.entries.insert(key.into(), LastLine { line, value });
        Ok(())
    }
}

/// The entries, the number of lines, and the length of the part that is whole \[bytes\].
fn entries(text: &[u8], path: &Path) -> Result<(HashMap<String, LastLine>, usize, usize)> {
    let mut map = HashMap::new();
    let (mut lines, mut good) = (0, 0);
    for (i, line) in text.split_inclusive(|b| *b == b'\n').enumerate() {
        let parsed = serde_json::from_slice::<Value>(line).ok();
        let entry = parsed.filter(|_| line.ends_with(b"\n")).and_then(|mut v| {
            let value = v.get_mut("value")?.take();
            Some((v.get("key")?.as_str()?.to_string(), value))
        });
        match entry {
            Some((key, value)) => {
                lines += 1;
                map.insert(key, LastLine { line: lines, value });
                good += line.len();
            }
            // Only the last line can have been cut short.
            None if good + line.len() == text.len() => {}
            None => {
                return bad_input(format!(
                    "{} line {}: not a line of a journal; remove that line, and what it held is computed again",
                    path.display(),
                    i + 1
                ));
            }
        }
    }
    Ok((map, lines, good))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_torn_line_is_dropped_and_numbers_keep_their_bits() {
        let path = std::env::temp_dir().join(format!("rumple-journal-{}", std::process::id()));
        let _ = std::fs::remove_file(&path);
        let values = vec![0.1 + 0.2, 1e-300, -7.0 / 3.0];
        let mut journal = Journal::open(&path).unwrap();
        journal.put("a", &values).unwrap();
        assert!(
            Journal::open(&path)
                .unwrap_err()
                .to_string()
                .contains("another run")
        );
        drop(journal);
        let whole = std::fs::read(&path).unwrap();
        for cut in [1, 5, whole.len() - 1] {
            let mut torn = whole.clone();
            torn.extend(&whole[..cut]);
            std::fs::write(&path, torn).unwrap();
            let mut journal = Journal::open(&path).unwrap();
            assert_eq!(journal.get::<Vec<f64>>("a").unwrap().unwrap(), values);
            journal.put("b", &cut).unwrap();
            drop(journal);
            let journal = Journal::open(&path).unwrap();
            assert_eq!(journal.get::<usize>("b").unwrap(), Some(cut));
            std::fs::write(&path, &whole).unwrap();
        }
        std::fs::write(&path, [&b"rubbish\n"[..], &whole].concat()).unwrap();
        assert!(
            Journal::open(&path)
                .unwrap_err()
                .to_string()
                .contains("line 1")
        );
        std::fs::remove_file(&path).unwrap();
    }
}
