//! `.npz` files and checkpoints as ZIP archives of limited size, by the `zip` crate: read stored or deflated, written
//! stored. The crate knows the format; the limits and the messages are ours.

use std::{
    borrow::Cow,
    fs::File,
    io::{Cursor, Read, Write},
    path::Path,
};

use flate2::Crc;
use zip::{
    CompressionMethod, ZipArchive, ZipWriter,
    read::{ArchiveOffset, Config},
    result::ZipError,
    write::SimpleFileOptions,
};

use super::limits::{MOST_FILE, MOST_GROWN, mebibytes};
use crate::error::{Error, Result, bad_input};

/// What every archive begins with.
const START: [u8; 2] = *b"PK";

/// More than an archive says of a file beside its name \[bytes\], its share of the list of files included.
const SAID_OF_A_FILE: usize = 128;

const REMEDY: &str = "copy or download it again";

/// An archive in memory.
pub(super) type Archive<'a> = ZipArchive<Cursor<&'a [u8]>>;

/// Reads an archive whole.
pub(super) fn read_archive(path: &Path) -> Result<Vec<u8>> {
    let failed = |e| Error::reading(path, e);
    let file = File::open(path).map_err(failed)?;
    if file.metadata().map_err(failed)?.len() > MOST_FILE as u64 {
        return too_large(path, MOST_FILE);
    }
    read_within(MOST_FILE, file, path)
}

/// Reads an archive of at most `most` bytes, whatever length the system says: that of a device is 0, and it may never
/// end. What is no archive is refused by its first bytes.
fn read_within(most: usize, reader: impl Read, path: &Path) -> Result<Vec<u8>> {
    let failed = |e| Error::reading(path, e);
    let mut reader = reader.take(most as u64 + 1);
    let mut bytes = Vec::new();
    let mut start = reader.by_ref().take(START.len() as u64);
    start.read_to_end(&mut bytes).map_err(failed)?;
    check_start(&bytes, &path.display().to_string())?;
    reader.read_to_end(&mut bytes).map_err(failed)?;
    match bytes.len() > most {
        true => too_large(path, most),
        false => Ok(bytes),
    }
}

fn too_large<T>(path: &Path, most: usize) -> Result<T> {
    bad_input(format!(
        "{}: larger than {} MiB; give a smaller file",
        path.display(),
        mebibytes(most)
    ))
}

fn check_start(bytes: &[u8], place: &str) -> Result<()> {
    match bytes.starts_with(&START) {
        true => Ok(()),
        false => bad_input(format!(
            "{place}: not an .npz file (it does not begin as a ZIP archive); save it with numpy.savez"
        )),
    }
}

/// Opens an archive; `place` names it in messages.
pub(super) fn open<'a>(bytes: &'a [u8], place: &str) -> Result<Archive<'a>> {
    check_start(bytes, place)?;
    // Nothing stands before the archive, so nothing is searched for.
    let config = Config {
        archive_offset: ArchiveOffset::Known(0),
    };
    ZipArchive::with_config(config, Cursor::new(bytes)).or_else(|e| {
        bad_input(format!(
            "{place}: the file is cut off or damaged (its list of arrays is not whole: {e}); {REMEDY}"
        ))
    })
}

/// Names of the files of an archive.
pub(super) fn names(archive: &Archive<'_>) -> Vec<String> {
    let raw = archive.file_names_raw();
    raw.map(|name| String::from_utf8_lossy(name).into_owned())
        .collect()
}

/// All files of an archive by name, each checked.
pub(in crate::learn) fn unpack_all(bytes: &[u8], place: &str) -> Result<Vec<(String, Vec<u8>)>> {
    let mut archive = open(bytes, place)?;
    let Some(together) = archive.decompressed_size() else {
        return bad_input(format!(
            "{place}: the file does not list the sizes of its parts; {REMEDY}"
        ));
    };
    if together > MOST_FILE as u128 {
        return bad_input(format!(
            "{place}: it has {} MiB unpacked, but at most {} are read; {REMEDY}",
            mebibytes(usize::try_from(together).unwrap_or(usize::MAX)),
            mebibytes(MOST_FILE)
        ));
    }
    let names = names(&archive).into_iter().enumerate();
    let unpacked = |(number, name)| Ok((name, unpack(&mut archive, number, place)?.into_owned()));
    names.map(unpacked).collect()
}

/// The bytes of a file of an archive, checked against size and checksum.
pub(super) fn unpack<'a>(
    archive: &mut Archive<'a>,
    number: usize,
    place: &str,
) -> Result<Cow<'a, [u8]>> {
    let bytes: &'a [u8] = archive.clone().into_inner().into_inner();
    let name = match archive.name_for_index(number) {
        Some(Ok(name)) => name.into_owned(),
        _ => format!("file {number}"),
    };
    let file = match archive.by_index(number) {
        Ok(file) => file,
        Err(ZipError::CompressionMethodNotSupported(method)) => {
            return bad_input(format!(
                "{place}: '{name}' is packed by method {method}; save it with numpy.savez or savez_compressed"
            ));
        }
        Err(e) => {
            return bad_input(format!(
                "{place}: the file is cut off or damaged in '{name}' ({e}); {REMEDY}"
            ));
        }
    };
    let (size, crc) = (file.size(), file.crc32());
    let plain = match (file.compression(), file.data_start()) {
        // Not copied: it may be as large as the whole archive.
        (CompressionMethod::Stored, Some(start)) => {
            let start = usize::try_from(start).unwrap_or(usize::MAX);
            let rest = bytes.get(start..).unwrap_or_default();
            let packed = usize::try_from(file.compressed_size()).unwrap_or(usize::MAX);
            Cow::Borrowed(&rest[..packed.min(rest.len())])
        }
        _ if size > MOST_GROWN as u64 => {
            return bad_input(format!(
                "{place}: '{name}' has {} MiB unpacked, but at most {} are unpacked; \
                 save it smaller, for example as float32, or as it is with numpy.savez",
                mebibytes(usize::try_from(size).unwrap_or(usize::MAX)),
                mebibytes(MOST_GROWN)
            ));
        }
        _ => {
            let mut plain = Vec::new();
            // One byte more than promised shows that there is more.
            if let Err(e) = file.take(size + 1).read_to_end(&mut plain) {
                return bad_input(format!(
                    "{place}: '{name}' does not have the {size} bytes that the file lists for it ({e}); {REMEDY}"
                ));
            }
            Cow::Owned(plain)
        }
    };
    if plain.len() as u64 != size {
        return bad_input(format!(
            "{place}: '{name}' does not have the {size} bytes that the file lists for it; {REMEDY}"
        ));
    }
    let mut sum = Crc::new();
    sum.update(&plain);
    if sum.sum() != crc {
        return bad_input(format!(
            "{place}: '{name}' does not match its checksum; {REMEDY}"
        ));
    }
    Ok(plain)
}

/// An archive of files by name, stored as they are.
pub(in crate::learn) fn archive(files: &[(&str, Vec<u8>)]) -> Result<Vec<u8>> {
    let lengths = files.iter().map(|(name, file)| (*name, file.len()));
    let mut packing = Packing::new(&lengths.collect::<Vec<_>>())?;
    for (name, file) in files {
        packing.add(name, [file])?;
    }
    packing.finish()
}

/// An archive that is being made. The same files make the same bytes: all are of 1980.
pub(super) struct Packing(ZipWriter<Cursor<Vec<u8>>>);

impl Packing {
    /// Makes room for files of these names and lengths \[bytes\]; refuses more than can be read again.
    pub(crate) fn new(files: &[(&str, usize)]) -> Result<Packing> {
        let lengths = files
            .iter()
            .map(|(name, length)| SAID_OF_A_FILE + 2 * name.len() + length);
        let length = lengths.fold(SAID_OF_A_FILE, usize::saturating_add);
        if length > MOST_FILE {
            let names: Vec<&str> = files.iter().map(|(name, _)| *name).collect();
            return bad_input(format!(
                "{} would have {} MiB together, but no file of more than {} is read again; \
                 save fewer frames or motions, or a smaller garment",
                names.join(", "),
                mebibytes(length),
                mebibytes(MOST_FILE)
            ));
        }
        let bytes = Vec::with_capacity(length);
        Ok(Packing(ZipWriter::new(Cursor::new(bytes))))
    }

    /// Adds a file, its bytes in pieces.
    pub(crate) fn add(
        &mut self,
        name: &str,
        pieces: impl IntoIterator<Item: AsRef<[u8]>>,
    ) -> Result<()> {
        let stored = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
        let started = self.0.start_file(name, stored);
        let mut pieces = pieces.into_iter();
        let added = started
            .and_then(|()| Ok(pieces.try_for_each(|piece| self.0.write_all(piece.as_ref()))?));
        added.map_err(|e| not_packed(name, &e))
    }

    /// The archive.
    pub(crate) fn finish(self) -> Result<Vec<u8>> {
        let finished = self.0.finish();
        Ok(finished
            .map_err(|e| not_packed("the list of files", &e))?
            .into_inner())
    }
}

fn not_packed(what: &str, error: &ZipError) -> Error {
    Error::BadInput(format!(
        "{what} cannot be packed into an archive ({error}); give every part a short name of its own"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    // A device that begins as an archive and never ends is left at the limit.
    #[test]
    fn reading_ends_at_the_limit() {
        let path = Path::new("endless.npz");
        let endless = b"PK".as_slice().chain(std::io::repeat(0));
        let text = read_within(1000, endless, path).unwrap_err().to_string();
        assert!(
            text.contains("endless.npz: larger than 1 MiB; give a smaller file"),
            "{text}"
        );
        let whole = b"PK".as_slice().chain(std::io::repeat(7).take(998));
        assert_eq!(read_within(1000, whole, path).unwrap().len(), 1000);
    }

    // Files that claim to be large together are refused before any is unpacked.
    #[test]
    fn unpacking_everything_has_a_limit() {
        let mut bytes = archive(&[("a", vec![1, 2, 3])]).unwrap();
        assert_eq!(
            unpack_all(&bytes, "small.zip").unwrap(),
            [("a".to_string(), vec![1_u8, 2, 3])]
        );
        // Behind the size stand, in the list, 18 bytes and the name, and then the 22 bytes of its end.
        let size = bytes.len() - 22 - 1 - 18 - 4;
        bytes[size..size + 4].copy_from_slice(&(3_u32 << 30).to_le_bytes());
        let text = unpack_all(&bytes, "large.zip").unwrap_err().to_string();
        assert!(
            text.contains("large.zip: it has 3072 MiB unpacked"),
            "{text}"
        );
    }
}
