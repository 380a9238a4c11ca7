//! Just enough of ZIP for `.npz` files and checkpoints: one volume of limited size; read stored or deflated,
//! written stored.

use std::{borrow::Cow, fs::File, io::Read, path::Path};

use flate2::{Crc, read::DeflateDecoder};

use super::limits::{MOST_FILE, MOST_GROWN, mebibytes};
use crate::error::{Error, Result, bad_input};

/// A file inside the archive.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Entry {
    pub name: String,
    method: u16,
    crc: u32,
    packed: usize,
    size: usize,
    header: usize,
}

/// What every archive begins with.
const START: [u8; 2] = *b"PK";
const END_MARK: [u8; 4] = *b"PK\x05\x06";
const ENTRY_MARK: [u8; 4] = *b"PK\x01\x02";
const LOCAL_MARK: [u8; 4] = *b"PK\x03\x04";
const END_LENGTH: usize = 22;
const ENTRY_LENGTH: usize = 46;
const LOCAL_LENGTH: usize = 30;
/// The longest comment after the end record.
const LONGEST_COMMENT: usize = 0xffff;
/// Stands for a size that only fits the 64-bit extension.
const BEYOND: u32 = 0xffff_ffff;
/// Of ZIP: 2.0.
const VERSION: u16 = 20;
/// 1 January 1980.
const FIRST_DAY: u16 = 0x21;
const STORED: u16 = 0;
const DEFLATED: u16 = 8;

const REMEDY: &str = "copy or download it again";

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    let two = bytes.get(at..at.checked_add(2)?)?;
    Some(u16::from_le_bytes(two.try_into().ok()?))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    let four = bytes.get(at..at.checked_add(4)?)?;
    Some(u32::from_le_bytes(four.try_into().ok()?))
}

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

/// The files of an archive; `place` names it in messages.
pub(super) fn entries(bytes: &[u8], place: &str) -> Result<Vec<Entry>> {
    check_start(bytes, place)?;
    let earliest = bytes.len().saturating_sub(END_LENGTH + LONGEST_COMMENT);
    let latest = bytes.len().saturating_sub(END_LENGTH);
    let is_end = |&at: &usize| bytes[at..].starts_with(&END_MARK);
    let found = (earliest..=latest).rev().find(is_end);
    let listed = found.and_then(|end| listed(bytes, end));
    match listed {
        Some(entries) if entries.iter().any(|e| e.size == BEYOND as usize) => bad_input(format!(
            "{place}: an array of more than 4 GiB; save it smaller, for example as float32"
        )),
        Some(entries) => Ok(entries),
        None => bad_input(format!(
            "{place}: the file is cut off or damaged (its list of arrays is not whole); {REMEDY}"
        )),
    }
}

/// All files of an archive by name, each checked.
pub(in crate::learn) fn unpack_all(bytes: &[u8], place: &str) -> Result<Vec<(String, Vec<u8>)>> {
    let entries = entries(bytes, place)?;
    let sizes = entries.iter().map(|entry| entry.size);
    let together = sizes.fold(0, usize::saturating_add);
    if together > MOST_FILE {
        return bad_input(format!(
            "{place}: it has {} MiB unpacked, but at most {} are read; {REMEDY}",
            mebibytes(together),
            mebibytes(MOST_FILE)
        ));
    }
    let unpacked = |entry: &Entry| {
        let plain = entry.unpack(bytes, place)?;
        Ok((entry.name.clone(), plain.into_owned()))
    };
    entries.iter().map(unpacked).collect()
}

/// An archive of files by name, stored as they are.
pub(in crate::learn) fn archive(files: &[(&str, Vec<u8>)]) -> Result<Vec<u8>> {
    let lengths = files.iter().map(|(name, file)| (*name, file.len()));
    let mut packing = Packing::new(&lengths.collect::<Vec<_>>())?;
    for (name, file) in files {
        packing.add(name, |bytes| bytes.extend_from_slice(file));
    }
    Ok(packing.finish())
}

/// An archive that is being made. The same files make the same bytes: all are of 1980.
pub(super) struct Packing {
    bytes: Vec<u8>,
    /// The central directory.
    list: Vec<u8>,
    count: u16,
}

impl Packing {
    /// Makes room for files of these names and lengths \[bytes\]; refuses more than can be read again.
    pub fn new(files: &[(&str, usize)]) -> Result<Packing> {
        let lengths = files
            .iter()
            .map(|(name, length)| LOCAL_LENGTH + ENTRY_LENGTH + 2 * name.len() + length);
        let length = lengths.fold(END_LENGTH, usize::saturating_add);
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
        Ok(Packing {
            bytes: Vec::with_capacity(length),
            list: Vec::new(),
            count: 0,
        })
    }

    /// Adds a file, whose bytes `write` appends. Lengths fit 32 bits, since [`Packing::new`] has seen them.
    pub fn add(&mut self, name: &str, write: impl FnOnce(&mut Vec<u8>)) {
        let start = self.bytes.len();
        // The header is filled in when the checksum is known.
        self.bytes.extend([0; LOCAL_LENGTH]);
        self.bytes.extend(name.as_bytes());
        let first = self.bytes.len();
        write(&mut self.bytes);
        let about = about(name, &self.bytes[first..]);
        let header = [&LOCAL_MARK[..], &about[..]].concat();
        self.bytes[start..start + LOCAL_LENGTH].copy_from_slice(&header);
        self.list.extend(ENTRY_MARK);
        self.list.extend(VERSION.to_le_bytes());
        self.list.extend(&about);
        // No comment, first volume, no attributes.
        self.list.extend([0; 10]);
        self.list.extend((start as u32).to_le_bytes());
        self.list.extend(name.as_bytes());
        self.count += 1;
    }

    /// The archive.
    pub fn finish(self) -> Vec<u8> {
        let Packing {
            mut bytes,
            list,
            count,
        } = self;
        let start = bytes.len() as u32;
        bytes.extend(&list);
        bytes.extend(END_MARK);
        bytes.extend([0, 0, count, count].map(u16::to_le_bytes).concat());
        bytes.extend([list.len() as u32, start].map(u32::to_le_bytes).concat());
        bytes.extend([0, 0]);
        bytes
    }
}

/// What both headers say of a file: version, flags, method, time, date, checksum, sizes, length of the name, no extra.
fn about(name: &str, file: &[u8]) -> Vec<u8> {
    let mut crc = Crc::new();
    crc.update(file);
    let size = file.len() as u32;
    let mut about = [VERSION, 0, STORED, 0, FIRST_DAY]
        .map(u16::to_le_bytes)
        .concat();
    about.extend([crc.sum(), size, size].map(u32::to_le_bytes).concat());
    about.extend([name.len() as u16, 0].map(u16::to_le_bytes).concat());
    about
}

/// The central directory that the end record points to.
fn listed(bytes: &[u8], end: usize) -> Option<Vec<Entry>> {
    let count = u16_at(bytes, end + 10)?;
    let mut at = u32_at(bytes, end + 16)? as usize;
    let mut entries = Vec::new();
    for _ in 0..count {
        if !bytes.get(at..)?.starts_with(&ENTRY_MARK) {
            return None;
        }
        let [name, extra, comment] = [28, 30, 32].map(|o| u16_at(bytes, at + o));
        let (name, extra, comment) = (name? as usize, extra? as usize, comment? as usize);
        let text = bytes.get(at + ENTRY_LENGTH..at + ENTRY_LENGTH + name)?;
        entries.push(Entry {
            name: String::from_utf8_lossy(text).into_owned(),
            method: u16_at(bytes, at + 10)?,
            crc: u32_at(bytes, at + 16)?,
            packed: u32_at(bytes, at + 20)? as usize,
            size: u32_at(bytes, at + 24)? as usize,
            header: u32_at(bytes, at + 42)? as usize,
        });
        at += ENTRY_LENGTH + name + extra + comment;
    }
    Some(entries)
}

impl Entry {
    /// The bytes of this file, checked against its checksum.
    pub fn unpack<'a>(&self, bytes: &'a [u8], place: &str) -> Result<Cow<'a, [u8]>> {
        let name = &self.name;
        let Some(packed) = self.packed_bytes(bytes) else {
            return bad_input(format!(
                "{place}: the file is cut off or damaged in '{name}'; {REMEDY}"
            ));
        };
        let plain = match self.method {
            STORED => Cow::Borrowed(packed),
            DEFLATED => Cow::Owned(self.inflated(packed, place)?),
            other => {
                return bad_input(format!(
                    "{place}: '{name}' is packed by method {other}; save it with numpy.savez or savez_compressed"
                ));
            }
        };
        if plain.len() != self.size {
            return bad_input(format!(
                "{place}: '{name}' does not have the {} bytes that the file lists for it; {REMEDY}",
                self.size
            ));
        }
        let mut crc = Crc::new();
        crc.update(&plain);
        if crc.sum() != self.crc {
            return bad_input(format!(
                "{place}: '{name}' does not match its checksum; {REMEDY}"
            ));
        }
        Ok(plain)
    }

    /// Inflates at most one byte more than promised, which shows that there is more.
    fn inflated(&self, packed: &[u8], place: &str) -> Result<Vec<u8>> {
        let name = &self.name;
        if self.size > MOST_GROWN {
            return bad_input(format!(
                "{place}: '{name}' has {} MiB unpacked, but at most {} are unpacked; \
                 save it smaller, for example as float32, or as it is with numpy.savez",
                mebibytes(self.size),
                mebibytes(MOST_GROWN)
            ));
        }
        let mut plain = Vec::new();
        let mut decoder = DeflateDecoder::new(packed).take(self.size as u64 + 1);
        match decoder.read_to_end(&mut plain) {
            Ok(_) => Ok(plain),
            Err(e) => bad_input(format!(
                "{place}: '{name}' cannot be unpacked ({e}); {REMEDY}"
            )),
        }
    }

    fn packed_bytes<'a>(&self, bytes: &'a [u8]) -> Option<&'a [u8]> {
        if !bytes.get(self.header..)?.starts_with(&LOCAL_MARK) {
            return None;
        }
        let name = u16_at(bytes, self.header + 26)? as usize;
        let extra = u16_at(bytes, self.header + 28)? as usize;
        let start = self.header + LOCAL_LENGTH + name + extra;
        bytes.get(start..start.checked_add(self.packed)?)
    }
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
        let size = bytes.len() - END_LENGTH - (ENTRY_LENGTH + 1) + 24;
        bytes[size..size + 4].copy_from_slice(&(3_u32 << 30).to_le_bytes());
        let text = unpack_all(&bytes, "large.zip").unwrap_err().to_string();
        assert!(
            text.contains("large.zip: it has 3072 MiB unpacked"),
            "{text}"
        );
    }
}
