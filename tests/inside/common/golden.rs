//! The reference numbers in `tests/data/golden`, whose README says where they come from.

use std::{
    fs::{self, File},
    io::Read,
    path::PathBuf,
};

use flate2::read::GzDecoder;

/// The place of a file of reference numbers. The file may be compressed: see [`text`].
pub fn path(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("tests/data/golden")
        .join(name)
}

/// The text of a file of reference numbers: `NAME` as it is, or unpacked from `NAME.gz`.
///
/// A file that is missing fails the test, because nothing would be compared without it.
pub fn text(name: &str) -> String {
    let plain = path(name);
    if plain.is_file() {
        return fs::read_to_string(&plain).unwrap_or_else(|e| panic!("{}: {e}", plain.display()));
    }
    let packed = path(&format!("{name}.gz"));
    let file = File::open(&packed).unwrap_or_else(|e| {
        let (plain, packed) = (plain.display(), packed.display());
        panic!("neither {plain} nor {packed}: {e}; check out tests/data/golden")
    });
    let mut text = String::new();
    if let Err(e) = GzDecoder::new(file).read_to_string(&mut text) {
        panic!("{}: {e}; check it out again", packed.display());
    }
    text
}

/// The numbers of a table below its header, row by row.
pub fn rows(name: &str) -> Vec<Vec<f64>> {
    Table::read(name).rows
}

/// A table of numbers with names of its columns.
pub struct Table {
    header: Vec<String>,
    rows: Vec<Vec<f64>>,
}

impl Table {
    pub fn read(name: &str) -> Table {
        let text = text(name);
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        let header = reader.headers().unwrap().iter().map(String::from).collect();
        let rows: Vec<Vec<f64>> = reader
            .records()
            .map(|r| r.unwrap().iter().map(|c| c.parse().unwrap()).collect())
            .collect();
        assert!(!rows.is_empty(), "{name} has no rows");
        Table { header, rows }
    }

    pub fn column(&self, name: &str) -> Option<Vec<f64>> {
        let place = self.header.iter().position(|h| h == name)?;
        Some(self.rows.iter().map(|r| r[place]).collect())
    }
}
