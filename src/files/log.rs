//! A file that grows with a run and can be cut back to where a snapshot was taken.

use std::{
    fs::{File, OpenOptions},
    io::{Seek, SeekFrom, Write},
    path::{Path, PathBuf},
};

use crate::error::{Error, Result, bad_input};

/// An open file of rows or records; at most one process has it.
#[derive(Debug)]
pub struct Log {
    path: PathBuf,
    file: File,
    length: u64,
}

impl Log {
    /// Opens a file, making it where there is none, and cuts it to `length` bytes.
    pub fn open(path: &Path, length: u64) -> Result<Log> {
        let failed = |e| Error::writing(path, e);
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(path)
            .map_err(failed)?;
        if file.try_lock().is_err() {
            return bad_input(format!(
                "{}: another run is writing to it; wait for it or choose another --out",
                path.display()
            ));
        }
        let there = file.metadata().map_err(failed)?.len();
        if there < length {
            return bad_input(format!(
                "{}: {there} bytes long where the saved state needs {length}; it was changed since: start again with --fresh",
                path.display()
            ));
        }
        file.set_len(length).map_err(failed)?;
        file.seek(SeekFrom::End(0)).map_err(failed)?;
        Ok(Log {
            path: path.to_path_buf(),
            file,
            length,
        })
    }

    /// Adds bytes at the end.
    pub fn append(&mut self, bytes: &[u8]) -> Result<()> {
        self.file
            .write_all(bytes)
            .map_err(|e| Error::writing(&self.path, e))?;
        self.length += bytes.len() as u64;
        Ok(())
    }

    /// Bytes so far.
    pub fn length(&self) -> u64 {
        self.length
    }
}
