//! Files: read whole with a limit, written whole or not at all, tables with true line numbers.

use std::{
    io::Read,
    path::{Path, PathBuf},
};

use crate::error::{Error, Result, bad_input};

/// Largest file that is read \[bytes\]; a device that never ends must not fill the memory.
const MAX_BYTES: u64 = 256 << 20;

/// Reads a text file, without the mark that some programs put first.
pub fn read_text(path: &Path) -> Result<String> {
    let mut bytes = Vec::new();
    std::fs::File::open(path)
        .and_then(|file| file.take(MAX_BYTES + 1).read_to_end(&mut bytes))
        .map_err(|e| Error::reading(path, e))?;
    if bytes.len() as u64 > MAX_BYTES {
        return bad_input(format!(
            "{}: larger than {} MiB; give a smaller file",
            path.display(),
            MAX_BYTES >> 20
        ));
    }
    match String::from_utf8(bytes) {
        Ok(text) => Ok(text.trim_start_matches('\u{feff}').to_string()),
        Err(e) => bad_input(format!(
            "{}: not UTF-8 text (byte {}); save it as UTF-8",
            path.display(),
            e.utf8_error().valid_up_to()
        )),
    }
}

/// Writes a file whole or not at all: what stood there before survives a full disk or a kill.
pub fn write_whole(path: &Path, bytes: &[u8]) -> Result<()> {
    let failed = |e| Error::writing(path, e);
    // A link, a pipe or a device must be written through, not replaced.
    if std::fs::symlink_metadata(path).is_ok_and(|m| !m.is_file()) {
        return std::fs::write(path, bytes).map_err(failed);
    }
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{}.part", std::process::id()));
    let part = PathBuf::from(name);
    std::fs::write(&part, bytes)
        .and_then(|()| std::fs::rename(&part, path))
        .map_err(|e| {
            let _ = std::fs::remove_file(&part);
            failed(e)
        })
}

/// Refuses a path whose folder does not exist, before any work is done for it.
pub fn check_folder(path: &Path) -> Result<()> {
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty());
    match folder {
        Some(folder) if !folder.is_dir() => bad_input(format!(
            "{}: there is no folder {}; make it first or choose another",
            path.display(),
            folder.display()
        )),
        _ => Ok(()),
    }
}

/// A CSV file: named columns, and for every row its line in the file.
#[derive(Debug, Clone)]
pub struct Table {
    place: String,
    header: Vec<String>,
    rows: Vec<(usize, Vec<String>)>,
}

impl Table {
    /// Reads and checks the shape; blank lines are skipped.
    pub fn read(path: &Path) -> Result<Table> {
        let place = path.display().to_string();
        let text = read_text(path)?;
        if text.trim().is_empty() {
            return bad_input(format!(
                "{place}: the file is empty; its first line must name the columns"
            ));
        }
        let mut reader = csv::ReaderBuilder::new()
            .trim(csv::Trim::All)
            .flexible(true)
            .from_reader(text.as_bytes());
        let malformed = |e: csv::Error| Error::BadInput(format!("{place}: not a CSV file: {e}"));
        let header: Vec<String> = reader
            .headers()
            .map_err(malformed)?
            .iter()
            .map(String::from)
            .collect();
        if let [only] = header.as_slice()
            && only.contains([';', '\t'])
        {
            return bad_input(format!(
                "{place} line 1: '{only}' is one column; separate columns by commas"
            ));
        }
        if let Some(name) = header
            .iter()
            .enumerate()
            .find_map(|(i, name)| header[..i].contains(name).then_some(name))
        {
            return bad_input(format!(
                "{place} line 1: the column '{name}' stands twice; rename or remove one"
            ));
        }
        let mut rows = Vec::new();
        for record in reader.records() {
            let record = record.map_err(malformed)?;
            let line = line_of(&text, record.position().map_or(0, |p| p.byte() as usize));
            if record.len() != header.len() {
                return bad_input(format!(
                    "{place} line {line}: {} columns where the first line has {}; every row needs them all",
                    record.len(),
                    header.len()
                ));
            }
            rows.push((line, record.iter().map(String::from).collect()));
        }
        if rows.is_empty() {
            return bad_input(format!(
                "{place}: no rows below the header; give at least one"
            ));
        }
        Ok(Table {
            place,
            header,
            rows,
        })
    }

    /// A column of finite numbers with their lines.
    pub fn numbers(&self, name: &str) -> Result<Vec<(usize, f64)>> {
        let Some(column) = self.header.iter().position(|h| h == name) else {
            return bad_input(format!(
                "{} line 1: no column '{name}' (found: {}); name it in the first line",
                self.place,
                self.header.join(", ")
            ));
        };
        self.rows
            .iter()
            .map(|(line, row)| match row[column].parse::<f64>() {
                Ok(v) if v.is_finite() => Ok((*line, v)),
                _ => bad_input(format!(
                    "{} line {line}: {name} = '{}' is not a finite number",
                    self.place, row[column]
                )),
            })
            .collect()
    }

    /// "FILE line N", for messages.
    pub fn at(&self, line: usize) -> String {
        format!("{} line {line}", self.place)
    }
}

/// The line, from 1, of the first character at or after `byte` that is not a line end. Line ends are
/// \n, \r\n or \r.
fn line_of(text: &str, byte: usize) -> usize {
    let bytes = text.as_bytes();
    let skipped = bytes[byte..]
        .iter()
        .take_while(|b| matches!(b, b'\n' | b'\r'))
        .count();
    let before = &bytes[..byte + skipped];
    let feeds = before.iter().filter(|b| **b == b'\n').count();
    let returns = before
        .windows(2)
        .filter(|w| w[0] == b'\r' && w[1] != b'\n')
        .count();
    1 + feeds + returns + usize::from(before.last() == Some(&b'\r'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_counted_over_blank_ones_and_every_line_end() {
        assert_eq!(line_of("a\n\n\nb", 2), 4);
        assert_eq!(line_of("a\r\n\r\nb", 3), 3);
        assert_eq!(line_of("a\r\rb", 2), 3);
    }
}
