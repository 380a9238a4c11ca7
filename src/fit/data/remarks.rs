//! What a measurement file says about itself beside its numbers.

use super::Measured;
use crate::{error::readable, files::Table, laboratory::sheet::DataSheet};

/// Leading comments that are carried into the remarks.
const MAX_COMMENTS: usize = 10;
/// Distinct values of a column that its remark lists.
const MAX_VALUES: usize = 6;
/// Leading comments, then the columns that are not used, then values that are possible but odd.
pub(super) fn all(sheet: &DataSheet, points: &[Measured]) -> Vec<String> {
    let mut remarks = comments(sheet.table);
    remarks.extend(column_remarks(sheet));
    remarks.extend(unusual(sheet, points));
    remarks
}

fn comments(table: &Table) -> Vec<String> {
    table
        .comments()
        .iter()
        .filter(|(line, text)| *line < table.header_line() && !text.is_empty())
        .take(MAX_COMMENTS)
        .map(|(_, text)| text.clone())
        .collect()
}

/// "column: its distinct values" for every column that no point uses.
fn column_remarks(sheet: &DataSheet) -> Vec<String> {
    let table = sheet.table;
    let mut remarks = Vec::new();
    for (column, name) in table.columns().iter().enumerate() {
        let Some(unused) = sheet.unused(column) else {
            continue;
        };
        let mut values: Vec<&str> = Vec::new();
        for row in 0..table.row_count() {
            let value = table.text(row, column);
            if !value.is_empty() && !values.contains(&value) {
                values.push(value);
            }
            if values.len() > MAX_VALUES {
                values[MAX_VALUES] = "…";
                break;
            }
        }
        if !values.is_empty() {
            remarks.push(format!("{name}{unused}: {}", values.join(", ")));
        }
    }
    remarks
}

/// Values that are possible but so far from apparel that their unit is worth a look.
fn unusual(sheet: &DataSheet, points: &[Measured]) -> Vec<String> {
    let mut remarks = Vec::new();
    for point in points {
        let Some((low, high, unit)) = point.concept.usual else {
            continue;
        };
        if !(low..=high).contains(&point.value) {
            remarks.push(format!(
                "{}: {} is {} {unit}, far from any apparel fabric; check the unit",
                point.place,
                sheet.name(point.concept),
                readable(point.value)
            ));
        }
    }
    remarks
}

/// Whether a comment or one of the columns that tell the origin says so.
pub(super) fn is_synthetic(table: &Table) -> bool {
    let says_so = |text: &str| text.to_lowercase().contains("synthetic");
    table.comments().iter().any(|(_, text)| says_so(text))
        || ["evidence", "source", "method"]
            .iter()
            .filter_map(|name| table.column(name))
            .any(|column| (0..table.row_count()).any(|row| says_so(table.text(row, column))))
}
