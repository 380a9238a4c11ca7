//! Files: read whole with a limit, written whole or not at all, tables with true line numbers, logs that grow.

mod difference;
pub(crate) mod json;
mod table;
mod words;

use std::{
    io::{Read, Write},
    path::{Path, PathBuf},
};

pub(crate) use difference::difference;
pub(crate) use table::Table;
pub(crate) use words::words;

use crate::error::{Error, Result, bad_input};

/// Largest file that is read \[bytes\]; a device that never ends must not fill the memory.
const MAX_BYTES: u64 = 256 << 20;

/// Reads a text file, without the mark that some programs put first.
pub(crate) fn read_text(path: &Path) -> Result<String> {
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
pub(crate) fn write_whole(path: &Path, bytes: &[u8]) -> Result<()> {
    write_by(path, bytes, |part, bytes| std::fs::write(part, bytes))
}

/// The same of what must survive a power cut too: waits until the disk has it, since a file that is renamed sooner may then be
/// empty.
pub(crate) fn write_lasting(path: &Path, bytes: &[u8]) -> Result<()> {
    write_by(path, bytes, |part, bytes| {
        let mut file = std::fs::File::create(part)?;
        file.write_all(bytes)?;
        file.sync_data()
    })
}

fn write_by(
    path: &Path,
    bytes: &[u8],
    write: impl Fn(&Path, &[u8]) -> std::io::Result<()>,
) -> Result<()> {
    let failed = |e| Error::writing(path, e);
    // A link, a pipe or a device must be written through, not replaced.
    if std::fs::symlink_metadata(path).is_ok_and(|m| !m.is_file()) {
        return std::fs::write(path, bytes).map_err(failed);
    }
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{}.part", std::process::id()));
    let part = PathBuf::from(name);
    write(&part, bytes)
        .and_then(|()| std::fs::rename(&part, path))
        .map_err(|e| {
            let _ = std::fs::remove_file(&part);
            failed(e)
        })
}

/// Refuses a path whose folder does not exist, before any work is done for it.
pub(crate) fn check_folder(path: &Path) -> Result<()> {
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

/// Refuses a file name with another extension.
pub(crate) fn check_extension(path: &Path, kind: &str, extension: &str) -> Result<()> {
    let given = path.extension().unwrap_or_default();
    if given.eq_ignore_ascii_case(extension) {
        return Ok(());
    }
    bad_input(format!(
        "{}: the file name of a {kind} ends in .{extension}",
        path.display()
    ))
}

/// FNV-1a in 53 bits: JSON numbers of other programs hold no more.
pub(crate) fn fingerprint(bytes: impl IntoIterator<Item = u8>) -> u64 {
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    bytes.into_iter().fold(0xcbf2_9ce4_8422_2325, step) >> 11
}
