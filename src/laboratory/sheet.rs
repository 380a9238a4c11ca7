//! Data files as tables of known columns: reading, with checks of names, units and ranges.

mod concept;
mod names;

pub(crate) use concept::{
    BRANCH, COUNT, Cells, Column, Concept, DIRECTION, DWELL, FABRIC, accepted, column, column_help,
};
use concept::{REMARK, columns, concepts};

use super::TESTS;
use crate::{
    error::{Result, bad_input, readable},
    files::Table,
};

/// What was taken for granted while a file was read.
#[derive(Debug, Default)]
pub(crate) struct Assumptions {
    /// A sentence and the lines that it holds for.
    rows: Vec<(&'static str, Vec<usize>)>,
    /// Sentences of their own.
    pub sentences: Vec<String>,
}

impl Assumptions {
    /// Notes that a sentence holds for a line.
    pub(crate) fn of_line(&mut self, sentence: &'static str, line: usize) {
        match self.rows.iter_mut().find(|(known, _)| *known == sentence) {
            Some((_, lines)) => lines.push(line),
            None => self.rows.push((sentence, vec![line])),
        }
    }

    /// All sentences, each with its first line and the number of rows.
    pub(crate) fn sentences(self, sheet: &DataSheet) -> Vec<String> {
        let sentence = |(what, lines): (&str, Vec<usize>)| {
            let rows = match lines.len() {
                1 => "1 row".to_string(),
                n => format!("{n} rows from there"),
            };
            format!("{} ({rows}): {what}", sheet.table.at(lines[0]))
        };
        let rows = self.rows.into_iter().map(sentence);
        rows.chain(self.sentences).collect()
    }
}

/// A table whose columns are known.
pub(crate) struct DataSheet<'a> {
    /// The table.
    pub table: &'a Table,
    known: Vec<(usize, &'static Concept, &'static Column)>,
}

impl<'a> DataSheet<'a> {
    /// Refuses names that look wrong, a quantity in two units, and spreads of nothing.
    pub(crate) fn of(table: &'a Table) -> Result<DataSheet<'a>> {
        let header = table.at(table.header_line());
        let mut sheet = DataSheet {
            table,
            known: Vec::new(),
        };
        for (i, name) in table.columns().iter().enumerate() {
            let Some((concept, column)) = columns().find(|(_, c)| c.name == name) else {
                names::check_unknown(name, &header)?;
                continue;
            };
            if let Some((_, twin)) = sheet.find(concept)
                && *concept != REMARK
            {
                return bad_input(format!(
                    "{header}: '{}' and '{name}' give the same quantity twice; keep one",
                    twin.name
                ));
            }
            sheet.known.push((i, concept, column));
        }
        for (_, concept, column) in &sheet.known {
            let Cells::SpreadOf(owner) = concept.cells else {
                continue;
            };
            if let Some(owner) = concepts().find(|c| c.id == owner)
                && !sheet.has(owner)
            {
                return bad_input(format!(
                    "{header}: '{}' has no quantity to belong to; add {} or remove it",
                    column.name,
                    accepted(&[owner])
                ));
            }
        }
        Ok(sheet)
    }

    /// The header's place, for messages.
    pub(crate) fn header(&self) -> String {
        self.table.at(self.table.header_line())
    }

    /// A row's place, for messages.
    pub(crate) fn place(&self, row: usize) -> String {
        self.table.at(self.table.line(row))
    }

    /// Numbers of all rows.
    pub(crate) fn rows(&self) -> std::ops::Range<usize> {
        0..self.table.row_count()
    }

    fn find(&self, concept: &Concept) -> Option<(usize, &'static Column)> {
        let found = self.known.iter().find(|(_, c, _)| *c == concept);
        found.map(|(i, _, column)| (*i, *column))
    }

    /// Whether a concept has a column.
    pub(crate) fn has(&self, concept: &Concept) -> bool {
        self.find(concept).is_some()
    }

    /// The file's name for a concept; empty where it has none.
    pub(crate) fn name(&self, concept: &Concept) -> &'static str {
        self.find(concept).map_or("", |(_, c)| c.name)
    }

    /// Whether a column, by its position, is a remark, and what to say of it: a column that is not known, or a setting
    /// that no test of this file uses.
    pub(crate) fn unused(&self, column: usize) -> Option<&'static str> {
        let found = self.known.iter().find(|(i, _, _)| *i == column);
        match found.map_or(Cells::Remark, |(_, concept, _)| concept.cells) {
            Cells::Remark | Cells::ShownSetting => Some(""),
            Cells::SettingOf(owners) => {
                let used = self.known.iter().any(|(_, c, _)| owners.contains(&c.id));
                (!used).then_some(" (not used)")
            }
            _ => None,
        }
    }

    /// Whether a row has a value of a test that takes this concept as a setting.
    pub(crate) fn is_borrowed(&self, row: usize, concept: &Concept) -> Result<bool> {
        for test in TESTS.iter().filter(|test| test.borrows(concept)) {
            for quantity in test.quantities() {
                if self.number(row, quantity)?.is_some() {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    /// A word; none where the cell is empty or the column is absent.
    pub(crate) fn word(&self, row: usize, concept: &Concept) -> Option<&'a str> {
        let (column, _) = self.find(concept)?;
        Some(self.table.text(row, column)).filter(|word| !word.is_empty())
    }

    /// A number in the unit of the concept, checked; none where the cell is empty or the column absent.
    pub(crate) fn number(&self, row: usize, concept: &Concept) -> Result<Option<f64>> {
        let Some((index, column)) = self.find(concept) else {
            return Ok(None);
        };
        let Some(cell) = self.table.number(row, index)? else {
            return Ok(None);
        };
        let at = self.table.at(self.table.line(row));
        let shown = format!("{at}: {} = {}", column.name, self.table.text(row, index));
        if concept.is_spread() && cell <= 0.0 {
            return bad_input(format!(
                "{shown} must be above 0; leave the cell empty where the spread is not known"
            ));
        }
        if matches!(concept.cells, Cells::Count) && (cell < 1.0 || cell.fract() != 0.0) {
            return bad_input(format!(
                "{shown} must be a whole number of specimens, at least 1"
            ));
        }
        let (low, high) = concept.range;
        // π written with a few digits may come out above half a turn.
        let slack = if column.unit == "radians" { 2e-4 } else { 1e-9 };
        let value = cell * column.scale;
        if value < low - low.abs() * slack || value > high + high.abs() * slack {
            return bad_input(format!(
                "{shown} is outside {} to {} {}; {}",
                rounded(low / column.scale),
                rounded(high / column.scale),
                column.unit,
                range_hint(concept)
            ));
        }
        Ok(Some(value.clamp(low, high)))
    }

    /// Checks every number of a row, used or not.
    pub(crate) fn check_numbers(&self, row: usize) -> Result<()> {
        for (_, concept, _) in self.known.iter().filter(|(_, c, _)| c.is_number()) {
            self.number(row, concept)?;
        }
        Ok(())
    }
}

/// "warp" and "weft" in any capitals, the trade's other words for weft, or the word as it is.
pub(crate) fn direction(word: &str) -> String {
    match word.to_lowercase().as_str() {
        "warp" => "warp".into(),
        "weft" | "fill" | "filling" => "weft".into(),
        _ => word.to_string(),
    }
}

/// A limit in another unit, without the last digits that the division leaves.
fn rounded(limit: f64) -> String {
    readable(format!("{limit:.4e}").parse().unwrap_or(limit))
}

fn range_hint(concept: &Concept) -> String {
    if matches!(concept.cells, Cells::Count) {
        return "give the number of specimens".into();
    }
    let names = accepted(&[concept]);
    match (concept.columns.len(), concept.hint) {
        (1, "") => format!("is the unit right (the column is {names})?"),
        (_, "") => format!("is the unit right ({names})?"),
        (_, hint) => format!("is the unit right ({names})? {hint}"),
    }
}
