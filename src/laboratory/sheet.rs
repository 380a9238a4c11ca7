//! Data files as tables of known columns: names, units and ranges.

mod names;

use super::TESTS;
use crate::{
    error::{Result, bad_input, readable},
    files::Table,
};

/// A quantity of a data file. All its columns are the same quantity in different units.
#[derive(Debug)]
pub struct Concept {
    /// A name that no other concept has.
    pub id: &'static str,
    /// Its columns; the first is the usual one.
    pub columns: &'static [Column],
    /// What its cells hold.
    pub cells: Cells,
    /// Smallest and largest value that a test can give, in the unit of the concept. Beyond them a unit is wrong.
    pub range: (f64, f64),
    /// Values beyond which a remark asks about the unit, and the name of the unit.
    pub usual: Option<(f64, f64, &'static str)>,
    /// What a value out of range may mean besides a wrong unit.
    pub hint: &'static str,
    /// How unknown names of columns begin that may mean this concept, in words of lower case.
    pub beginnings: &'static [&'static [&'static str]],
}

/// What the cells of a column hold.
#[derive(Debug, Clone, Copy)]
pub enum Cells {
    /// A measured value, or a setting that is always used.
    Number,
    /// A setting that is used only in a file that has one of these quantities.
    SettingOf(&'static [&'static str]),
    /// A setting that is shown as a remark too.
    ShownSetting,
    /// The standard deviation of another quantity.
    SpreadOf(&'static str),
    /// A whole number of specimens.
    Count,
    /// A word.
    Word,
    /// Anything: carried into the report.
    Remark,
}

impl PartialEq for Concept {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

impl Concept {
    /// Numbers within a range.
    pub const fn number(
        id: &'static str,
        range: (f64, f64),
        columns: &'static [Column],
    ) -> Concept {
        Concept {
            id,
            columns,
            cells: Cells::Number,
            range,
            usual: None,
            hint: "",
            beginnings: &[],
        }
    }

    /// Standard deviations of another concept.
    pub const fn spread(id: &'static str, of: &'static str, columns: &'static [Column]) -> Concept {
        Concept {
            cells: Cells::SpreadOf(of),
            ..Concept::number(id, (f64::NEG_INFINITY, f64::INFINITY), columns)
        }
    }

    const fn other(id: &'static str, cells: Cells, columns: &'static [Column]) -> Concept {
        Concept {
            cells,
            ..Concept::number(id, (f64::NEG_INFINITY, f64::INFINITY), columns)
        }
    }

    fn is_number(&self) -> bool {
        !matches!(self.cells, Cells::Word | Cells::Remark)
    }

    fn is_spread(&self) -> bool {
        matches!(self.cells, Cells::SpreadOf(_))
    }

    /// How unknown names begin that may mean this concept.
    fn beginnings(&self) -> &'static [&'static [&'static str]] {
        if self.is_spread() {
            names::SPREADS
        } else {
            self.beginnings
        }
    }
}

/// One known column.
#[derive(Debug)]
pub struct Column {
    name: &'static str,
    unit: &'static str,
    /// Times a cell gives the value in the unit of the concept.
    scale: f64,
    meaning: &'static str,
}

/// A column: name, unit, the factor from that unit to the unit of the concept, and its meaning.
pub(crate) const fn column(
    name: &'static str,
    unit: &'static str,
    scale: f64,
    meaning: &'static str,
) -> Column {
    Column {
        name,
        unit,
        scale,
        meaning,
    }
}

const fn remark(name: &'static str, unit: &'static str) -> Column {
    column(name, unit, 1.0, "remark")
}

/// Name of the fabric.
pub(crate) static FABRIC: Concept = Concept {
    beginnings: &[&["fabric", "name"]],
    ..Concept::other(
        "fabric",
        Cells::Word,
        &[column("fabric", "", 1.0, "name of the fabric")],
    )
};
/// Warp, weft or another word.
pub(crate) static DIRECTION: Concept = Concept {
    beginnings: &[&["dir"]],
    ..Concept::other(
        "direction",
        Cells::Word,
        &[column(
            "direction",
            "",
            1.0,
            "warp or weft (fill, filling), or any other word",
        )],
    )
};
/// Number of specimens.
pub(crate) static COUNT: Concept = Concept {
    range: (1.0, 1e9),
    beginnings: &[&["n"], &["specimens"], &["replicates"]],
    ..Concept::other(
        "count",
        Cells::Count,
        &[column(
            "n",
            "",
            1.0,
            "number of specimens behind a value; the sd of their mean is sd/√n",
        )],
    )
};
/// Part of a cycle.
pub(crate) static BRANCH: Concept = Concept::other(
    "branch",
    Cells::Word,
    &[column(
        "branch",
        "",
        1.0,
        "out (0 to +max), down (+max to -max) or back (-max to 0); of a twist out or back; else found",
    )],
);
/// Time held at the largest deformation \[s\].
pub(crate) static DWELL: Concept = Concept {
    range: (0.0, 1e9),
    beginnings: &[&["dwell"], &["hold", "time"]],
    ..Concept::other(
        "dwell",
        Cells::SettingOf(&["rigidity", "hysteresis", "moment", "torque"]),
        &[column(
            "dwell_s",
            "s",
            1.0,
            "time held at the largest curvature or turn; 0 where absent",
        )],
    )
};
static REMARK: Concept = Concept::other(
    "remark",
    Cells::Remark,
    &[
        remark("composition", ""),
        remark("gsm", "g/m²"),
        remark("fold_side", ""),
        remark("load_N", "N"),
        remark("load_gf", "gf"),
        remark("load_kgf", "kgf"),
        remark("area_mm2", "mm²"),
        remark("temp_C", "°C"),
        remark("rh_pct", "%"),
        column(
            "method",
            "",
            1.0,
            "remark; 'synthetic' in it marks the file",
        ),
        column(
            "evidence",
            "",
            1.0,
            "remark; 'synthetic' in it marks the file",
        ),
        column(
            "source",
            "",
            1.0,
            "remark; 'synthetic' in it marks the file",
        ),
    ],
);

/// Every known concept, in the order of the help.
fn concepts() -> impl Iterator<Item = &'static Concept> {
    let tests = TESTS.iter().flat_map(|test| test.concepts()).copied();
    let first: [&'static Concept; 3] = [&FABRIC, &DIRECTION, &COUNT];
    let last: [&'static Concept; 3] = [&BRANCH, &DWELL, &REMARK];
    first.into_iter().chain(tests).chain(last)
}

/// Every known column with its concept, in the order of the help.
fn columns() -> impl Iterator<Item = (&'static Concept, &'static Column)> {
    concepts().flat_map(|concept| concept.columns.iter().map(move |column| (concept, column)))
}

/// The columns of some concepts: "gap_mm, gap_cm or gap_m".
pub(crate) fn accepted(wanted: &[&Concept]) -> String {
    let names: Vec<&str> = columns()
        .filter(|(concept, _)| wanted.contains(concept))
        .map(|(_, column)| column.name)
        .collect();
    match names.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
        _ => names.concat(),
    }
}

/// A table of all known columns with unit and meaning, for help and messages.
pub(crate) fn column_help() -> String {
    let width = |text: fn(&Column) -> &str| {
        let lengths = columns().map(|(_, c)| text(c).chars().count());
        lengths.max().unwrap_or(0)
    };
    let (names, units) = (width(|c| c.name), width(|c| c.unit));
    let mut help = format!("{:names$}  {:units$}  meaning\n", "column", "unit");
    for (_, c) in columns() {
        help += &format!("{:names$}  {:units$}  {}\n", c.name, c.unit, c.meaning);
    }
    help + "any other column is a remark\n"
}

/// What was taken for granted while a file was read.
#[derive(Debug, Default)]
pub struct Assumptions {
    /// A sentence and the lines that it holds for.
    rows: Vec<(&'static str, Vec<usize>)>,
    /// Sentences of their own.
    pub sentences: Vec<String>,
}

impl Assumptions {
    /// Notes that a sentence holds for a line.
    pub fn of_line(&mut self, sentence: &'static str, line: usize) {
        match self.rows.iter_mut().find(|(known, _)| *known == sentence) {
            Some((_, lines)) => lines.push(line),
            None => self.rows.push((sentence, vec![line])),
        }
    }

    /// All sentences, each with its first line and the number of rows.
    pub fn sentences(self, sheet: &DataSheet) -> Vec<String> {
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
pub struct DataSheet<'a> {
    /// The table.
    pub table: &'a Table,
    known: Vec<(usize, &'static Concept, &'static Column)>,
}

impl<'a> DataSheet<'a> {
    /// Refuses names that look wrong, a quantity in two units, and spreads of nothing.
    pub fn of(table: &'a Table) -> Result<DataSheet<'a>> {
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
    pub fn header(&self) -> String {
        self.table.at(self.table.header_line())
    }

    /// A row's place, for messages.
    pub fn place(&self, row: usize) -> String {
        self.table.at(self.table.line(row))
    }

    /// Numbers of all rows.
    pub fn rows(&self) -> std::ops::Range<usize> {
        0..self.table.row_count()
    }

    fn find(&self, concept: &Concept) -> Option<(usize, &'static Column)> {
        let found = self.known.iter().find(|(_, c, _)| *c == concept);
        found.map(|(i, _, column)| (*i, *column))
    }

    /// Whether a concept has a column.
    pub fn has(&self, concept: &Concept) -> bool {
        self.find(concept).is_some()
    }

    /// The file's name for a concept; empty where it has none.
    pub fn name(&self, concept: &Concept) -> &'static str {
        self.find(concept).map_or("", |(_, c)| c.name)
    }

    /// Whether a column, by its position, is a remark, and what to say of it: a column that is not known, or a setting
    /// that no test of this file uses.
    pub fn unused(&self, column: usize) -> Option<&'static str> {
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
    pub fn is_borrowed(&self, row: usize, concept: &Concept) -> Result<bool> {
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
    pub fn word(&self, row: usize, concept: &Concept) -> Option<&'a str> {
        let (column, _) = self.find(concept)?;
        Some(self.table.text(row, column)).filter(|word| !word.is_empty())
    }

    /// A number in the unit of the concept, checked; none where the cell is empty or the column absent.
    pub fn number(&self, row: usize, concept: &Concept) -> Result<Option<f64>> {
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
    pub fn check_numbers(&self, row: usize) -> Result<()> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_help_lists_every_column_once() {
        let help = column_help();
        for name in [
            "angle_deg",
            "B_uNm",
            "2HB_sd_gf_cm_per_cm",
            "curvature_per_cm",
            "source",
        ] {
            let lines = help
                .lines()
                .filter(|l| l.split_whitespace().next() == Some(name));
            assert_eq!(lines.count(), 1, "{name}\n{help}");
        }
    }
}
