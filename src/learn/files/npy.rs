//! One array in NumPy's `.npy` format.

use crate::error::{Result, bad_input};

/// An array of numbers, row by row whatever the file's order.
#[derive(Debug, Clone, PartialEq)]
pub struct Array {
    /// Its lengths.
    pub shape: Vec<usize>,
    /// Its values, the last index fastest.
    pub values: Vec<f64>,
}

const MARK: &[u8] = b"\x93NUMPY";

/// What the header says.
struct Header<'a> {
    kind: &'a str,
    fortran: bool,
    shape: Vec<usize>,
}

impl Array {
    /// Reads an array; `place` names file and key in messages.
    pub fn parse(bytes: &[u8], place: &str) -> Result<Array> {
        let damaged = |what: &str| {
            bad_input(format!(
                "{place}: not a sound .npy array ({what}); save it with numpy.save or savez"
            ))
        };
        let Some((text, data)) = split(bytes) else {
            return damaged("its header is not whole");
        };
        let Some(header) = header(text) else {
            return damaged(&format!("its header reads {:?}", text.trim()));
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
                header.kind
            ));
        };
        let count = header
            .shape
            .iter()
            .try_fold(1_usize, |n, &length| n.checked_mul(length));
        let wanted = count.and_then(|n| n.checked_mul(width));
        if wanted != Some(data.len()) {
            return damaged(&format!(
                "shape {:?} of {width}-byte values does not fit {} bytes",
                header.shape,
                data.len()
            ));
        }
        let values: Vec<f64> = data.chunks_exact(width).map(read).collect();
        let values = if header.fortran {
            row_major(&values, &header.shape)
        } else {
            values
        };
        Ok(Array {
            shape: header.shape,
            values,
        })
    }
}

impl Array {
    /// As a `.npy` file of 8-byte floats, version 1.
    pub fn bytes(&self) -> Vec<u8> {
        let lengths: String = self.shape.iter().map(|n| format!("{n}, ")).collect();
        let mut header =
            format!("{{'descr': '<f8', 'fortran_order': False, 'shape': ({lengths}), }}");
        // Data begin at a multiple of 64 bytes; the header ends with a line end.
        let before = MARK.len() + 4;
        let padding = 63 - (before + header.len()) % 64;
        header.extend(std::iter::repeat_n(' ', padding));
        header.push('\n');
        let mut bytes = MARK.to_vec();
        bytes.extend([1, 0]);
        bytes.extend((header.len() as u16).to_le_bytes());
        bytes.extend(header.as_bytes());
        bytes.extend(self.values.iter().flat_map(|x| x.to_le_bytes()));
        bytes
    }
}

/// Header text and data of versions 1 to 3.
fn split(bytes: &[u8]) -> Option<(&str, &[u8])> {
    let rest = bytes.strip_prefix(MARK)?;
    let (length, start) = match rest.first()? {
        1 => (
            u16::from_le_bytes(rest.get(2..4)?.try_into().ok()?) as usize,
            4,
        ),
        2 | 3 => (
            u32::from_le_bytes(rest.get(2..6)?.try_into().ok()?) as usize,
            6,
        ),
        _ => return None,
    };
    let text = std::str::from_utf8(rest.get(start..start + length)?).ok()?;
    Some((text, &rest[start + length..]))
}

/// `{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }`, the keys in any order.
fn header(text: &str) -> Option<Header<'_>> {
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
    Some(Header {
        kind,
        fortran,
        shape: shape?,
    })
}

/// A value from its bytes.
type Read = fn(&[u8]) -> f64;

/// Bytes of a value, and how it is read; a name such as `<f8` is byte order, kind and size.
fn reader(kind: &str) -> Option<(usize, Read)> {
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

/// From first index fastest to last index fastest.
fn row_major(values: &[f64], shape: &[usize]) -> Vec<f64> {
    let mut strides = Vec::with_capacity(shape.len());
    let mut stride = 1;
    for length in shape {
        strides.push(stride);
        stride *= length;
    }
    let mut index = vec![0; shape.len()];
    let mut sorted = Vec::with_capacity(values.len());
    for _ in 0..values.len() {
        let at: usize = index.iter().zip(&strides).map(|(i, s)| i * s).sum();
        sorted.push(values[at]);
        for axis in (0..shape.len()).rev() {
            index[axis] += 1;
            if index[axis] < shape[axis] {
                break;
            }
            index[axis] = 0;
        }
    }
    sorted
}
