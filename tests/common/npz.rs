//! NumPy's files, written and read without the library's help.

use std::io::{Read, Write};

use flate2::{Compression, Crc, read::DeflateDecoder, write::DeflateEncoder};

/// How an array is written.
#[derive(Clone, Copy, PartialEq)]
pub enum Kind {
    F64,
    F32,
    F64Fortran,
    F32Fortran,
    F64Big,
    F32Big,
    U32,
    I64,
}

/// An `.npy` file; `values` are row by row.
pub fn npy(kind: Kind, shape: &[usize], values: &[f64]) -> Vec<u8> {
    let name = match kind {
        Kind::F64 | Kind::F64Fortran => "<f8",
        Kind::F32 | Kind::F32Fortran => "<f4",
        Kind::F64Big => ">f8",
        Kind::F32Big => ">f4",
        Kind::U32 => "<u4",
        Kind::I64 => ">i8",
    };
    let is_fortran = matches!(kind, Kind::F32Fortran | Kind::F64Fortran);
    let mut bytes = opening(name, is_fortran, shape);
    let sorted = match is_fortran {
        true => fortran(shape, values),
        false => values.to_vec(),
    };
    for value in sorted {
        match kind {
            Kind::F64 | Kind::F64Fortran => bytes.extend(value.to_le_bytes()),
            Kind::F32 | Kind::F32Fortran => bytes.extend((value as f32).to_le_bytes()),
            Kind::F64Big => bytes.extend(value.to_be_bytes()),
            Kind::F32Big => bytes.extend((value as f32).to_be_bytes()),
            Kind::U32 => bytes.extend((value as u32).to_le_bytes()),
            Kind::I64 => bytes.extend((value as i64).to_be_bytes()),
        }
    }
    bytes
}

/// What an `.npy` file says before its values; `name` is the type of those, such as `<f8`.
pub fn opening(name: &str, is_fortran: bool, shape: &[usize]) -> Vec<u8> {
    let order = if is_fortran { "True" } else { "False" };
    let lengths: Vec<String> = shape.iter().map(|n| format!("{n},")).collect();
    let mut header = format!(
        "{{'descr': '{name}', 'fortran_order': {order}, 'shape': ({}), }}",
        lengths.join(" ")
    );
    while (header.len() + 11) % 64 != 0 {
        header.push(' ');
    }
    header.push('\n');
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes
}

/// First index fastest.
fn fortran(shape: &[usize], values: &[f64]) -> Vec<f64> {
    let count = values.len();
    let place = |mut n: usize| {
        let mut index = Vec::new();
        for length in shape {
            index.push(n % length);
            n /= length;
        }
        index
            .iter()
            .zip(shape)
            .fold(0, |at, (i, length)| at * length + i)
    };
    (0..count).map(|n| values[place(n)]).collect()
}

/// A ZIP archive as NumPy writes it.
pub fn zip(files: &[(&str, Vec<u8>)], deflated: bool) -> Vec<u8> {
    let (mut bytes, mut list) = (Vec::new(), Vec::new());
    for (name, plain) in files {
        let name = format!("{name}.npy");
        let mut crc = Crc::new();
        crc.update(plain);
        let packed = match deflated {
            true => {
                let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
                encoder.write_all(plain).unwrap();
                encoder.finish().unwrap()
            }
            false => plain.clone(),
        };
        let method: u16 = if deflated { 8 } else { 0 };
        let mut common = Vec::new();
        common.extend([45, 0, 0, 0]);
        common.extend(method.to_le_bytes());
        common.extend([0; 4]);
        common.extend(crc.sum().to_le_bytes());
        common.extend((packed.len() as u32).to_le_bytes());
        common.extend((plain.len() as u32).to_le_bytes());
        common.extend((name.len() as u16).to_le_bytes());
        let header = bytes.len() as u32;
        bytes.extend(b"PK\x03\x04");
        bytes.extend(&common);
        // NumPy reserves 20 bytes for 64-bit sizes here.
        bytes.extend(20_u16.to_le_bytes());
        bytes.extend(name.as_bytes());
        bytes.extend([0; 20]);
        bytes.extend(packed);
        list.extend(b"PK\x01\x02\x2d\x03");
        list.extend(&common);
        list.extend([0; 12]);
        list.extend(header.to_le_bytes());
        list.extend(name.as_bytes());
    }
    let (start, length) = (bytes.len() as u32, list.len() as u32);
    bytes.extend(&list);
    bytes.extend(b"PK\x05\x06\0\0\0\0");
    for _ in 0..2 {
        bytes.extend((files.len() as u16).to_le_bytes());
    }
    bytes.extend(length.to_le_bytes());
    bytes.extend(start.to_le_bytes());
    bytes.extend([0, 0]);
    bytes
}

/// Changes the unpacked size that an archive lists for its last file.
pub fn claim_size(archive: &mut [u8], size: u32) {
    let listed = |window: &[u8]| window == b"PK\x01\x02";
    let entry = archive.windows(4).rposition(listed).unwrap();
    archive[entry + 24..entry + 28].copy_from_slice(&size.to_le_bytes());
}

/// Shape and values of an array in an archive; panics where the archive or the array is not sound.
pub fn read(archive: &[u8], name: &str) -> (Vec<usize>, Vec<f64>) {
    let bytes = unpacked(archive, &format!("{name}.npy"));
    assert_eq!(&bytes[..8], b"\x93NUMPY\x01\x00", "{name}");
    let start = 10 + short(&bytes, 8);
    let header = std::str::from_utf8(&bytes[10..start]).unwrap();
    assert!(header.contains("'fortran_order': False"), "{header}");
    let (_, shape) = header.split_once("'shape': (").unwrap();
    let (shape, _) = shape.split_once(')').unwrap();
    let lengths = shape.split(',').map(str::trim).filter(|n| !n.is_empty());
    let shape: Vec<usize> = lengths.map(|n| n.parse().unwrap()).collect();
    let values: Vec<f64> = if header.contains("'<f8'") {
        let chunks = bytes[start..].as_chunks::<8>();
        assert!(chunks.1.is_empty());
        chunks.0.iter().map(|b| f64::from_le_bytes(*b)).collect()
    } else {
        assert!(header.contains("'<f4'"), "{header}");
        let chunks = bytes[start..].as_chunks::<4>();
        assert!(chunks.1.is_empty());
        let single = chunks.0.iter().map(|b| f32::from_le_bytes(*b));
        single.map(f64::from).collect()
    };
    assert_eq!(values.len(), shape.iter().product::<usize>(), "{header}");
    (shape, values)
}

/// The bytes of a file in an archive, found by the list at the archive's end.
fn unpacked(archive: &[u8], name: &str) -> Vec<u8> {
    let end = archive.windows(4).rposition(|w| w == b"PK\x05\x06");
    let end = end.expect("the list of an archive ends with its mark");
    let mut entry = long(archive, end + 16);
    for _ in 0..short(archive, end + 10) {
        let length = short(archive, entry + 28);
        if &archive[entry + 46..entry + 46 + length] == name.as_bytes() {
            let place = long(archive, entry + 42);
            let start = place + 30 + short(archive, place + 26) + short(archive, place + 28);
            let packed = &archive[start..start + long(archive, entry + 20)];
            if short(archive, entry + 10) == 0 {
                return packed.to_vec();
            }
            let mut plain = Vec::new();
            DeflateDecoder::new(packed).read_to_end(&mut plain).unwrap();
            assert_eq!(plain.len(), long(archive, entry + 24));
            return plain;
        }
        entry += 46 + length + short(archive, entry + 30) + short(archive, entry + 32);
    }
    panic!("no {name} in the archive");
}

fn short(bytes: &[u8], at: usize) -> usize {
    u16::from_le_bytes([bytes[at], bytes[at + 1]]).into()
}

fn long(bytes: &[u8], at: usize) -> usize {
    short(bytes, at) | short(bytes, at + 2) << 16
}
