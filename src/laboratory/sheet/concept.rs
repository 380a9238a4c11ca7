//! Quantities of data files and their columns: names, units, factors and ranges.

use super::names;
use crate::laboratory::TESTS;

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

    pub(super) fn is_number(&self) -> bool {
        !matches!(self.cells, Cells::Word | Cells::Remark)
    }

    pub(super) fn is_spread(&self) -> bool {
        matches!(self.cells, Cells::SpreadOf(_))
    }

    /// How unknown names begin that may mean this concept.
    pub(super) fn beginnings(&self) -> &'static [&'static [&'static str]] {
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
    pub(super) name: &'static str,
    pub(super) unit: &'static str,
    /// Times a cell gives the value in the unit of the concept.
    pub(super) scale: f64,
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

pub(super) static REMARK: Concept = Concept::other(
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
pub(super) fn concepts() -> impl Iterator<Item = &'static Concept> {
    let tests = TESTS.iter().flat_map(|test| test.concepts()).copied();
    let first: [&'static Concept; 3] = [&FABRIC, &DIRECTION, &COUNT];
    let last: [&'static Concept; 3] = [&BRANCH, &DWELL, &REMARK];
    first.into_iter().chain(tests).chain(last)
}

/// Every known column with its concept, in the order of the help.
pub(super) fn columns() -> impl Iterator<Item = (&'static Concept, &'static Column)> {
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
