//! A file that grows with a run and can be cut back to where a snapshot was taken.

use std::{
    fs::{File, OpenOptions},
    io::{Seek, SeekFrom, Write},
    path::{Path, PathBuf},
};

use super::folder::lock;
use crate::error::{Error, Result, bad_input};

/// An open file of rows or records; at most one process has it.
#[derive(Debug)]
pub(crate) struct Log {
    path: PathBuf,
    file: File,
    length: u64,
}

impl Log {
    /// Opens a file for appending, creates it if needed, and locks it against other writers. The contents stay. A
    /// caller that wants to remove other files as well must hold this lock first.
    pub(crate) fn lock(path: &Path) -> Result<Log> {
        let failed = |e| Error::writing(path, e);
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(path)
            .map_err(failed)?;
        lock(&file, path)?;
        let length = file.seek(SeekFrom::End(0)).map_err(failed)?;
        Ok(Log {
            path: path.to_path_buf(),
            file,
            length,
        })
    }

    /// Cuts it to `length` bytes; refuses where there are fewer.
    pub(crate) fn cut(&mut self, length: u64) -> Result<()> {
        if self.length < length {
            return bad_input(format!(
                "{}: {} bytes long where the saved state needs {length}; it was changed since: start again with --fresh",
                self.path.display(),
                self.length
            ));
        }
        let failed = |e| Error::writing(&self.path, e);
        self.file.set_len(length).map_err(failed)?;
        self.file.seek(SeekFrom::End(0)).map_err(failed)?;
        self.length = length;
        Ok(())
    }

    /// Adds bytes at the end.
    pub(crate) fn append(&mut self, bytes: &[u8]) -> Result<()> {
        self.file
            .write_all(bytes)
            .map_err(|e| Error::writing(&self.path, e))?;
        self.length += bytes.len() as u64;
        Ok(())
    }

    /// Waits until the disk has all bytes, so that a snapshot which counts on them does not outlive them.
    pub(crate) fn sync(&self) -> Result<()> {
        let synced = self.file.sync_data();
        synced.map_err(|e| Error::writing(&self.path, e))
    }

    /// Bytes so far.
    pub(crate) fn length(&self) -> u64 {
        self.length
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_changes_nothing_and_holds_until_the_log_is_closed() {
        let name = format!("rumple-log-{}.csv", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::write(&path, "row 1\nrow 2\n").unwrap();
        let text = || std::fs::read_to_string(&path).unwrap();
        let mut log = Log::lock(&path).unwrap();
        let refused = Log::lock(&path).unwrap_err().to_string();
        assert!(refused.contains("another run is writing"), "{refused}");
        assert_eq!((log.length(), text().as_str()), (12, "row 1\nrow 2\n"));
        log.cut(6).unwrap();
        log.append(b"new\n").unwrap();
        log.sync().unwrap();
        assert_eq!((log.length(), text().as_str()), (10, "row 1\nnew\n"));
        let refused = log.cut(11).unwrap_err().to_string();
        assert!(refused.contains("10 bytes long"), "{refused}");
        drop(log);
        assert!(Log::lock(&path).is_ok());
        std::fs::remove_file(&path).unwrap();
    }
}
