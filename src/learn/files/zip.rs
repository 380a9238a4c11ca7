//! Just enough of ZIP for `.npz` files and checkpoints: one volume, less than 4 GiB; read stored or deflated,
//! written stored.

use std::io::Read;

use flate2::{Crc, read::DeflateDecoder};

use crate::error::{Result, bad_input};

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
/// Largest array that is unpacked \[bytes\]: a small file must not fill the memory.
const MOST_BYTES: usize = 2 << 30;
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

/// The files of an archive; `place` names it in messages.
pub(super) fn entries(bytes: &[u8], place: &str) -> Result<Vec<Entry>> {
    if !bytes.starts_with(b"PK") {
        return bad_input(format!(
            "{place}: not an .npz file (it does not begin as a ZIP archive); save it with numpy.savez"
        ));
    }
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
    let unpacked = |entry: &Entry| Ok((entry.name.clone(), entry.unpack(bytes, place)?));
    entries(bytes, place)?.iter().map(unpacked).collect()
}

/// An archive of files by name, stored as they are. The same files make the same bytes: all are of 1980.
pub(in crate::learn) fn archive(files: &[(&str, Vec<u8>)]) -> Result<Vec<u8>> {
    let (mut bytes, mut list) = (Vec::new(), Vec::new());
    for (name, file) in files {
        let (Ok(size), Ok(start)) = (u32::try_from(file.len()), u32::try_from(bytes.len())) else {
            return bad_input(format!(
                "'{name}' would end beyond 4 GiB of an archive; save fewer frames or a smaller garment"
            ));
        };
        let mut crc = Crc::new();
        crc.update(file);
        // What both headers say: version, flags, method, time, date, checksum, sizes, length of the name, no extra.
        let mut about = Vec::new();
        about.extend(
            [VERSION, 0, STORED, 0, FIRST_DAY]
                .map(u16::to_le_bytes)
                .concat(),
        );
        about.extend([crc.sum(), size, size].map(u32::to_le_bytes).concat());
        about.extend([name.len() as u16, 0].map(u16::to_le_bytes).concat());
        bytes.extend(LOCAL_MARK);
        bytes.extend(&about);
        bytes.extend(name.as_bytes());
        bytes.extend(file);
        list.extend(ENTRY_MARK);
        list.extend(VERSION.to_le_bytes());
        list.extend(&about);
        // No comment, first volume, no attributes.
        list.extend([0; 10]);
        list.extend(start.to_le_bytes());
        list.extend(name.as_bytes());
    }
    let Ok(start) = u32::try_from(bytes.len()) else {
        return bad_input("an archive of more than 4 GiB; save fewer frames or a smaller garment");
    };
    let count = files.len() as u16;
    bytes.extend(&list);
    bytes.extend(END_MARK);
    bytes.extend([0, 0, count, count].map(u16::to_le_bytes).concat());
    bytes.extend([list.len() as u32, start].map(u32::to_le_bytes).concat());
    bytes.extend([0, 0]);
    Ok(bytes)
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
    pub fn unpack(&self, bytes: &[u8], place: &str) -> Result<Vec<u8>> {
        let name = &self.name;
        if self.size > MOST_BYTES {
            return bad_input(format!(
                "{place}: '{name}' is larger than {} MiB; save it smaller, for example as float32",
                MOST_BYTES >> 20
            ));
        }
        let Some(packed) = self.packed_bytes(bytes) else {
            return bad_input(format!(
                "{place}: the file is cut off or damaged in '{name}'; {REMEDY}"
            ));
        };
        let plain = match self.method {
            STORED => packed.to_vec(),
            DEFLATED => {
                let mut plain = Vec::new();
                // One byte more than promised shows that there is more.
                let read = DeflateDecoder::new(packed)
                    .take(self.size as u64 + 1)
                    .read_to_end(&mut plain);
                if let Err(e) = read {
                    return bad_input(format!(
                        "{place}: '{name}' cannot be unpacked ({e}); {REMEDY}"
                    ));
                }
                plain
            }
            other => {
                return bad_input(format!(
                    "{place}: '{name}' is packed by method {other}; save it with numpy.savez or savez_compressed"
                ));
            }
        };
        let mut crc = Crc::new();
        crc.update(&plain);
        if plain.len() != self.size || crc.sum() != self.crc {
            return bad_input(format!(
                "{place}: '{name}' does not match its checksum; {REMEDY}"
            ));
        }
        Ok(plain)
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
