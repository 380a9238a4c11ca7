//! What a measurement file says about itself beside its numbers.

use super::{
    Measured, Quantity,
    columns::{Concept, Layout},
};
use crate::{error::readable, files::Table};

/// Leading comments that are carried into the remarks.
const MAX_COMMENTS: usize = 10;
/// Distinct values of a column that its remark lists.
const MAX_VALUES: usize = 6;
/// B \[N·m\] beyond which a remark asks about the unit: ten times the span of apparel, 0.01 to 1 gf·cm²/cm.
const USUAL_RIGIDITY: (f64, f64) = (1e-7, 1e-3);
/// The same for 2HB \[N·m/m\], above only: ten times a stiff cotton.
const USUAL_HYSTERESIS: (f64, f64) = (0.0, 2e-2);

/// Leading comments, then the columns that are not used, then values that are possible but odd.
pub(super) fn all(layout: &Layout, points: &[Measured]) -> Vec<String> {
    let mut remarks = comments(layout.table);
    remarks.extend(column_remarks(layout));
    remarks.extend(unusual(layout, points));
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
fn column_remarks(layout: &Layout) -> Vec<String> {
    use Concept::*;
    let table = layout.table;
    let bending = [Rigidity, Hysteresis, Moment, Torque]
        .iter()
        .any(|c| layout.has(*c));
    let mut remarks = Vec::new();
    for (column, name) in table.columns().iter().enumerate() {
        let unused = match layout.concept(column) {
            Remark | Thickness => "",
            Gap | Press | Read if !layout.has(Angle) => " (not used)",
            Dwell if !bending => " (not used)",
            _ => continue,
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
fn unusual(layout: &Layout, points: &[Measured]) -> Vec<String> {
    let mut remarks = Vec::new();
    for point in points {
        let (concept, unit, (low, high)) = match point.quantity {
            Quantity::Rigidity { .. } => (Concept::Rigidity, "N·m", USUAL_RIGIDITY),
            Quantity::Hysteresis { .. } => (Concept::Hysteresis, "N·m/m", USUAL_HYSTERESIS),
            _ => continue,
        };
        if !(low..=high).contains(&point.value) {
            remarks.push(format!(
                "{}: {} is {} {unit}, far from any apparel fabric; check the unit",
                point.place,
                layout.name(concept),
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
