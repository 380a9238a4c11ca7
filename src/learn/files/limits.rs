//! How much of a file is taken: neither a device that never ends nor a small file that claims much may fill the memory.

/// Largest archive \[bytes\], read or written: what could not be read again is not written. AMASS files are below
/// 100 MB; a reference of 10,000 frames of the default garment (864 vertices, 2496 hinges) has 607 MB.
pub(super) const MOST_FILE: usize = 2 << 30;

/// Most that something smaller may become \[bytes\]: a deflated array unpacked, or narrow numbers as 8-byte floats. The
/// largest real array, SMPL's `shapedirs`, has 6890·3·300 numbers, 50 MB. Stored arrays of 8-byte numbers take
/// no more than they have in their file, so [`MOST_FILE`] is enough for them.
pub(super) const MOST_GROWN: usize = 512 << 20;

/// Longest header of an array \[bytes\]; NumPy's own reader refuses longer ones too.
pub(super) const MOST_HEADER: usize = 10_000;

/// Most lengths of a shape, as in NumPy; so a shape can be printed whole.
pub(super) const MOST_LENGTHS: usize = 64;

/// Most characters of a file's own text in a message.
const MOST_SHOWN: usize = 400;

/// Enough of a text to recognise it in a message.
pub(super) fn shortened(text: &str) -> String {
    let mut characters = text.chars();
    let mut short: String = characters.by_ref().take(MOST_SHOWN).collect();
    if characters.next().is_some() {
        short.push('…');
    }
    short
}

/// Whole MiB, rounded up so that a byte beyond a limit shows.
pub(super) fn mebibytes(bytes: usize) -> usize {
    bytes.div_ceil(1 << 20)
}
