//! Measurement files: recovery angles, KES sheets and digitised bending loops, as textile people write
//! them down. Units are in the columns' names, and every value keeps its line.

mod remarks;
#[cfg(test)]
mod tests;

use std::path::Path;

use crate::{
    error::{Result, bad_input},
    files::{Table, read_text},
    laboratory::{
        Condition, TESTS,
        sheet::{Assumptions, COUNT, Concept, DIRECTION, DWELL, DataSheet, FABRIC, direction},
    },
};

#[derive(Debug, Clone, PartialEq)]
pub struct DataFile {
    /// The file, as the user named it.
    pub file: String,
    /// Whether the file calls itself synthetic anywhere; every report and plot must say so.
    pub synthetic: bool,
    /// All measured values, in the order of the rows.
    pub points: Vec<Measured>,
    /// What the file says about itself: leading comments, then "column: values" of every column that is
    /// not used, then values that are possible but odd.
    pub remarks: Vec<String>,
    /// What was taken for granted, a sentence each.
    pub assumptions: Vec<String>,
}

/// One measured value.
#[derive(Debug, Clone, PartialEq)]
pub struct Measured {
    /// Line in the file, from 1.
    pub line: usize,
    /// "FILE line N", for messages.
    pub place: String,
    /// Name of the fabric.
    pub fabric: Option<String>,
    /// "warp", "weft" or another word.
    pub direction: Option<String>,
    /// What was measured. Settings that the file leaves out are NaN.
    pub condition: Condition,
    /// The quantity of its column.
    pub concept: &'static Concept,
    /// The value: degrees for a recovery angle, N·m for B and torques, N·m/m for 2HB and moments.
    pub value: f64,
    /// Standard deviation of this value, in its unit: sd/√n for a mean of n specimens.
    pub sd: Option<f64>,
}

impl DataFile {
    pub fn read(path: &Path) -> Result<DataFile> {
        DataFile::parse(&read_text(path)?, &path.display().to_string())
    }

    /// As [`DataFile::read`], of text that is already here; `file` names it in messages.
    pub fn parse(text: &str, file: &str) -> Result<DataFile> {
        let table = Table::parse(text, file)?;
        let sheet = DataSheet::of(&table)?;
        check_tests(&sheet)?;
        let mut assumed = Assumptions::default();
        let points = points(&sheet, &mut assumed)?;
        Ok(DataFile {
            file: file.to_string(),
            synthetic: remarks::is_synthetic(&table),
            remarks: remarks::all(&sheet, &points),
            points,
            assumptions: assumed.sentences(&sheet),
        })
    }
}

/// Refuses a file in which no test can be recognised, or half a test.
fn check_tests(sheet: &DataSheet) -> Result<()> {
    for test in TESTS {
        test.check_columns(sheet)?;
    }
    let mut quantities = TESTS.iter().flat_map(|test| test.quantities());
    if quantities.any(|concept| sheet.has(concept)) {
        return Ok(());
    }
    let needs: Vec<String> = TESTS.iter().map(|test| test.needs()).collect();
    bad_input(format!(
        "{}: no measured quantity among the columns {}; {}",
        sheet.header(),
        sheet.table.columns().join(", "),
        needs.join("; ")
    ))
}

/// All values of a sheet, row by row, each with the standard deviation of its mean.
fn points(sheet: &DataSheet, assumed: &mut Assumptions) -> Result<Vec<Measured>> {
    let mut of_tests = Vec::new();
    for test in TESTS {
        of_tests.push(test.measured(sheet, assumed)?);
    }
    let mut points = Vec::new();
    for row in sheet.rows() {
        sheet.check_numbers(row)?;
        let line = sheet.table.line(row);
        let here = || of_tests.iter().flat_map(|rows| &rows[row]);
        if here().next().is_none() {
            return bad_input(format!(
                "{}: nothing measured in this row; fill in a value or remove the row",
                sheet.place(row)
            ));
        }
        let count = sheet.number(row, &COUNT)?;
        if count.is_none() && here().any(|m| m.sd.is_some()) {
            assumed.of_line(
                "no n is given; the sd is taken as that of the value itself, not of a single specimen",
                line,
            );
        }
        if here().any(|m| m.condition.test.has_dwell()) && sheet.number(row, &DWELL)?.is_none() {
            assumed.of_line(
                "no dwell_s is given; taken as 0, a cycle without a stop",
                line,
            );
        }
        points.extend(here().map(|m| Measured {
            line,
            place: sheet.place(row),
            fabric: sheet.word(row, &FABRIC).map(String::from),
            direction: sheet.word(row, &DIRECTION).map(direction),
            condition: m.condition,
            concept: m.concept,
            value: m.value,
            sd: m.sd.map(|sd| sd / count.unwrap_or(1.0).sqrt()),
        }));
    }
    Ok(points)
}
