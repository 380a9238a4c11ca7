//! One array in NumPy's `.npy` format.

use super::limits::{MOST_GROWN, MOST_HEADER, MOST_LENGTHS, shortened};
use crate::error::{Result, bad_input};

/// An array of numbers, row by row whatever the file's order.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Array {
    /// Its lengths.
    pub shape: Vec<usize>,
    /// Its values, the last index fastest.
    pub values: Vec<f64>,
}

const MARK: &[u8] = b"\x93NUMPY";

/// Most values that are read where they are narrower than the 8-byte floats that they become.
const MOST_NARROW: usize = MOST_GROWN / size_of::<f64>();

/// What the header says.
struct NpyHeader<'a> {
    kind: &'a str,
    fortran: bool,
    shape: Vec<usize>,
}

impl Array {
    /// Reads an array; `place` names file and key in messages.
    pub(crate) fn parse(bytes: &[u8], place: &str) -> Result<Array> {
        let damaged = |what: &str| {
            bad_input(format!(
                "{place}: not a sound .npy array ({what}); save it with numpy.save or savez"
            ))
        };
        let (text, data) = match split(bytes) {
            Ok(parts) => parts,
            Err(what) => return damaged(&what),
        };
        let Some(header) = header(text) else {
            return damaged(&format!("its header reads {:?}", shortened(text.trim())));
        };
        if header.kind.contains('O') {
            return bad_input(format!(
                "{place}: an object array (a pickle), which is not read, since a pickle can run any program; \
                 save it as a plain array of numbers, a sparse matrix with .toarray()"
            ));
        }
        let Some((width, read)) = reader(header.kind) else {
            return bad_input(format!(
                "{place}: values of type '{}'; save them as floats or integers of 1 to 8 bytes",
                shortened(header.kind)
            ));
        };
        let count = header
            .shape
            .iter()
            .try_fold(1_usize, |n, &length| n.checked_mul(length));
        if width < size_of::<f64>() && count.is_none_or(|n| n > MOST_NARROW) {
            return bad_input(format!(
                "{place}: shape {:?} of {width}-byte values, of which at most {MOST_NARROW} are read; \
                 save a smaller array",
                header.shape
            ));
        }
        if count.and_then(|n| n.checked_mul(width)) != Some(data.len()) {
            return damaged(&format!(
                "shape {:?} of {width}-byte values does not fit {} bytes",
                header.shape,
                data.len()
            ));
        }
        let values = match header.fortran {
            true => row_major(data, (width, read), &header.shape),
            false => data.chunks_exact(width).map(read).collect(),
        };
        Ok(Array {
            shape: header.shape,
            values,
        })
    }

    /// As a `.npy` file of 8-byte floats, version 1.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let pieces = self.pieces();
        let mut bytes = Vec::with_capacity(pieces.length());
        pieces.bytes().for_each(|piece| bytes.extend(piece));
        bytes
    }

    /// All of it in one piece.
    pub(in crate::learn) fn pieces(&self) -> Pieces<'_> {
        Pieces {
            shape: self.shape.clone(),
            values: vec![self.values.as_slice()],
        }
    }
}

/// An array to be written, its values in pieces: the frames of a track need not be joined first.
pub(in crate::learn) struct Pieces<'a> {
    /// Its lengths.
    pub shape: Vec<usize>,
    /// Its values piece after piece, the last index fastest.
    pub values: Vec<&'a [f64]>,
}

impl Pieces<'_> {
    /// Length as a `.npy` file \[bytes\].
    pub(crate) fn length(&self) -> usize {
        let count: usize = self.values.iter().map(|piece| piece.len()).sum();
        opening(&self.shape).len() + count * size_of::<f64>()
    }

    /// The `.npy` file of 8-byte floats, version 1, piece after piece.
    pub(crate) fn bytes(&self) -> impl Iterator<Item = Vec<u8>> {
        let values = self.values.iter();
        let values = values.map(|piece| piece.iter().flat_map(|x| x.to_le_bytes()).collect());
        std::iter::once(opening(&self.shape)).chain(values)
    }
}

/// What stands before the values of 8-byte floats, version 1.
fn opening(shape: &[usize]) -> Vec<u8> {
    let lengths: String = shape.iter().map(|n| format!("{n}, ")).collect();
    let mut header = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': ({lengths}), }}");
    // Data begin at a multiple of 64 bytes; the header ends with a line end.
    let before = MARK.len() + 4;
    let padding = 63 - (before + header.len()) % 64;
    header.extend(std::iter::repeat_n(' ', padding));
    header.push('\n');
    let mut bytes = MARK.to_vec();
    bytes.extend([1, 0]);
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes
}

/// Header text and data, or what is wrong with them.
fn split(bytes: &[u8]) -> std::result::Result<(&str, &[u8]), String> {
    let not_whole = || "its header is not whole".to_string();
    let (length, rest) = header_length(bytes).ok_or_else(not_whole)?;
    if length > MOST_HEADER {
        return Err(format!(
            "its header has {length} bytes, but at most {MOST_HEADER} are read"
        ));
    }
    let (text, data) = rest.split_at_checked(length).ok_or_else(not_whole)?;
    let text = std::str::from_utf8(text).map_err(|_| not_whole())?;
    Ok((text, data))
}

/// Length of the header text of versions 1 to 3 as it says itself, and what follows.
fn header_length(bytes: &[u8]) -> Option<(usize, &[u8])> {
    let rest = bytes.strip_prefix(MARK)?;
    match rest.first()? {
        1 => {
            let length = u16::from_le_bytes(rest.get(2..4)?.try_into().ok()?);
            Some((length as usize, &rest[4..]))
        }
        2 | 3 => {
            let length = u32::from_le_bytes(rest.get(2..6)?.try_into().ok()?);
            Some((length as usize, &rest[6..]))
        }
        _ => None,
    }
}

/// `{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }`, the keys in any order.
fn header(text: &str) -> Option<NpyHeader<'_>> {
    let after = |key: &str| {
        let at = text.find(&format!("'{key}'"))? + key.len() + 2;
        Some(text[at..].trim_start().strip_prefix(':')?.trim_start())
    };
    let kind = after("descr")?;
    // A list stands for a record, which has no plain type.
    let kind = match kind.strip_prefix('\'') {
        Some(rest) => rest.split('\'').next()?,
        None => kind.split(']').next()?,
    };
    let order = after("fortran_order")?;
    let fortran = order.starts_with("True");
    if !fortran && !order.starts_with("False") {
        return None;
    }
    let lengths = after("shape")?.strip_prefix('(')?.split(')').next()?;
    let lengths = lengths.split(',').map(str::trim).filter(|n| !n.is_empty());
    let shape: Option<Vec<usize>> = lengths
        .map(|n| n.trim_end_matches('L').parse().ok())
        .collect();
    let shape = shape.filter(|shape| shape.len() <= MOST_LENGTHS)?;
    Some(NpyHeader {
        kind,
        fortran,
        shape,
    })
}

/// A value from its bytes.
type ReadNumber = fn(&[u8]) -> f64;

/// Bytes of a value, and how it is read; a name such as `<f8` is byte order, kind and size.
fn reader(kind: &str) -> Option<(usize, ReadNumber)> {
    macro_rules! number {
        ($type:ty, $from:ident) => {
            (size_of::<$type>(), |bytes: &[u8]| {
                let mut own = [0; size_of::<$type>()];
                own.copy_from_slice(bytes);
                <$type>::$from(own) as f64
            })
        };
    }
    Some(match kind {
        "<f8" => number!(f64, from_le_bytes),
        "<f4" => number!(f32, from_le_bytes),
        "<i8" => number!(i64, from_le_bytes),
        "<i4" => number!(i32, from_le_bytes),
        "<i2" => number!(i16, from_le_bytes),
        "<u8" => number!(u64, from_le_bytes),
        "<u4" => number!(u32, from_le_bytes),
        "<u2" => number!(u16, from_le_bytes),
        ">f8" => number!(f64, from_be_bytes),
        ">f4" => number!(f32, from_be_bytes),
        ">i8" => number!(i64, from_be_bytes),
        ">i4" => number!(i32, from_be_bytes),
        ">i2" => number!(i16, from_be_bytes),
        ">u8" => number!(u64, from_be_bytes),
        ">u4" => number!(u32, from_be_bytes),
        ">u2" => number!(u16, from_be_bytes),
        "|i1" => number!(i8, from_le_bytes),
        "|u1" | "|b1" => number!(u8, from_le_bytes),
        _ => return None,
    })
}

/// The values of data with the first index fastest, the last index fastest. Read one by one from their bytes, since a
/// second list of floats would double the memory.
fn row_major(data: &[u8], (width, read): (usize, ReadNumber), shape: &[usize]) -> Vec<f64> {
    let count = data.len() / width;
    let mut values = Vec::with_capacity(count);
    if count == 0 {
        // Lengths beside one of 0 may be so large that strides overflow.
        return values;
    }
    let mut strides = Vec::with_capacity(shape.len());
    let mut stride = 1;
    for length in shape {
        strides.push(stride);
        stride *= length;
    }
    let mut index = vec![0; shape.len()];
    for _ in 0..count {
        let at: usize = index.iter().zip(&strides).map(|(i, s)| i * s).sum();
        values.push(read(&data[at * width..][..width]));
        for axis in (0..shape.len()).rev() {
            index[axis] += 1;
            if index[axis] < shape[axis] {
                break;
            }
            index[axis] = 0;
        }
    }
    values
}
