//! The frames of a run in one file: what film and pictures are drawn from, also after a stop.
//!
//! Each record is the number of steps done (8 bytes) and the positions as 32-bit floating point, little
//! endian, vertex by vertex.

use std::{
    fs::File,
    io::{Read, Seek, SeekFrom},
    path::Path,
};

use crate::error::{Error, Result};

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct StoredFrame {
    /// Steps done.
    pub step: usize,
    /// \[m\]
    pub positions: Vec<[f64; 3]>,
}

/// A file of frames, open for reading.
#[derive(Debug)]
pub(crate) struct FrameFile {
    file: File,
    path: std::path::PathBuf,
    vertices: usize,
    /// Steps done at each frame.
    pub steps: Vec<usize>,
}

impl StoredFrame {
    /// The record of a frame.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let numbers = self.positions.iter().flatten();
        let numbers = numbers.flat_map(|x| (*x as f32).to_le_bytes());
        (self.step as u64)
            .to_le_bytes()
            .into_iter()
            .chain(numbers)
            .collect()
    }
}

impl FrameFile {
    /// Opens a file of frames of a mesh; a record cut short is left out.
    pub(crate) fn open(path: &Path, vertices: usize) -> Result<FrameFile> {
        let failed = |e| Error::reading(path, e);
        let mut file = File::open(path).map_err(failed)?;
        let record = record_bytes(vertices);
        let count = file.metadata().map_err(failed)?.len() / record;
        let mut steps = Vec::new();
        for index in 0..count {
            let mut number = [0; 8];
            file.seek(SeekFrom::Start(index * record)).map_err(failed)?;
            file.read_exact(&mut number).map_err(failed)?;
            steps.push(u64::from_le_bytes(number) as usize);
        }
        Ok(FrameFile {
            file,
            path: path.to_path_buf(),
            vertices,
            steps,
        })
    }

    pub(crate) fn frame(&mut self, index: usize) -> Result<StoredFrame> {
        let record = record_bytes(self.vertices);
        let mut bytes = vec![0; record as usize];
        self.file
            .seek(SeekFrom::Start(index as u64 * record))
            .and_then(|_| self.file.read_exact(&mut bytes))
            .map_err(|e| Error::reading(&self.path, e))?;
        let number = |b: &[u8]| f64::from(f32::from_le_bytes([b[0], b[1], b[2], b[3]]));
        let positions = bytes[8..].chunks_exact(12);
        Ok(StoredFrame {
            step: self.steps[index],
            positions: positions
                .map(|p| [0, 4, 8].map(|i| number(&p[i..i + 4])))
                .collect(),
        })
    }

    /// The frame closest to a number of steps.
    pub(crate) fn nearest(&self, step: usize) -> Option<usize> {
        (0..self.steps.len()).min_by_key(|&i| self.steps[i].abs_diff(step))
    }
}

fn record_bytes(vertices: usize) -> u64 {
    8 + 12 * vertices as u64
}
