//! The columns of a measurement file: their names, units and ranges.

use std::f64::consts::PI;

use super::names;
use crate::{
    error::{Result, bad_input, readable},
    files::Table,
};

/// What a column tells. All columns of one concept are the same quantity in different units.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Concept {
    Angle,
    AngleSd,
    Gap,
    Thickness,
    Press,
    Read,
    Rigidity,
    RigiditySd,
    Hysteresis,
    HysteresisSd,
    Curvature,
    Moment,
    MomentSd,
    Turn,
    Torque,
    TorqueSd,
    Branch,
    Dwell,
    Count,
    Fabric,
    Direction,
    Remark,
}
use Concept::*;

impl Concept {
    /// Smallest and largest value that a test can give, in the units of `Measured`. Beyond them a unit is
    /// wrong: gaps below a yarn or as wide as a hand, rigidities of air or of sheet metal.
    fn range(self) -> (f64, f64) {
        match self {
            Angle => (0.0, 180.0),
            Gap => (1e-5, 0.1),
            Thickness => (5e-6, 0.05),
            Press | Read | Dwell => (0.0, 1e9),
            Rigidity => (1e-9, 1e-1),
            Hysteresis => (0.0, 10.0),
            // A radius of 0.1 mm is a sharp crease.
            Curvature => (-1e4, 1e4),
            Moment => (-100.0, 100.0),
            // Half a turn wrings any cylinder; a torque of 100 N·m breaks it.
            Turn => (0.0, PI),
            Torque => (-100.0, 100.0),
            Count => (1.0, 1e9),
            AngleSd => (0.0, 180.0),
            _ => (f64::NEG_INFINITY, f64::INFINITY),
        }
    }

    /// The measured quantity that a spread belongs to.
    pub(super) fn owner(self) -> Option<Concept> {
        match self {
            AngleSd => Some(Angle),
            RigiditySd => Some(Rigidity),
            HysteresisSd => Some(Hysteresis),
            MomentSd => Some(Moment),
            TorqueSd => Some(Torque),
            _ => None,
        }
    }

    fn is_number(self) -> bool {
        !matches!(self, Branch | Fabric | Direction | Remark)
    }
}

/// One known column.
#[derive(Debug)]
pub(super) struct Column {
    pub(super) name: &'static str,
    pub(super) concept: Concept,
    unit: &'static str,
    /// Times a cell gives the value in the unit of `Measured`.
    scale: f64,
    meaning: &'static str,
}

const fn column(
    name: &'static str,
    concept: Concept,
    unit: &'static str,
    scale: f64,
    meaning: &'static str,
) -> Column {
    Column {
        name,
        concept,
        unit,
        scale,
        meaning,
    }
}

/// N·m in 1 gf·cm²/cm.
const GF_CM2_PER_CM: f64 = 9.80665e-5;
/// N·m/m in 1 gf·cm/cm.
const GF_CM_PER_CM: f64 = 9.80665e-3;

/// Every known column, in the order of the help.
#[rustfmt::skip]
pub(super) const COLUMNS: &[Column] = &[
    column("fabric", Fabric, "", 1.0, "name of the fabric"),
    column("direction", Direction, "", 1.0, "warp or weft (fill, filling), or any other word"),
    column("n", Count, "", 1.0, "number of specimens behind a value; the sd of their mean is sd/√n"),
    column("angle_deg", Angle, "degrees", 1.0, "recovery angle; 180 is flat, 0 stays folded"),
    column("angle_rad", Angle, "radians", 180.0 / PI, "the same"),
    column("recovery_pct", Angle, "%", 1.8, "the same; 100 is 180 degrees"),
    column("sd_deg", AngleSd, "degrees", 1.0, "standard deviation of the angle"),
    column("sd_rad", AngleSd, "radians", 180.0 / PI, "the same"),
    column("sd_pct", AngleSd, "%", 1.8, "the same, of recovery_pct"),
    column("gap_mm", Gap, "mm", 1e-3, "distance of the plates that press the fold; without it 2·thickness_mm"),
    column("gap_cm", Gap, "cm", 1e-2, "the same"),
    column("gap_m", Gap, "m", 1.0, "the same"),
    column("press_time_s", Press, "s", 1.0, "time under load"),
    column("press_time_min", Press, "min", 60.0, "the same"),
    column("press_time_h", Press, "h", 3600.0, "the same"),
    column("recovery_time_s", Read, "s", 1.0, "time from the release to the reading"),
    column("recovery_time_min", Read, "min", 60.0, "the same"),
    column("recovery_time_h", Read, "h", 3600.0, "the same"),
    column("B_Nm", Rigidity, "N·m", 1.0, "KES bending rigidity per width"),
    column("B_gf_cm2_per_cm", Rigidity, "gf·cm²/cm", GF_CM2_PER_CM, "the same"),
    column("B_uNm", Rigidity, "µN·m", 1e-6, "the same"),
    column("B_sd_Nm", RigiditySd, "N·m", 1.0, "standard deviation of B"),
    column("B_sd_gf_cm2_per_cm", RigiditySd, "gf·cm²/cm", GF_CM2_PER_CM, "the same"),
    column("B_sd_uNm", RigiditySd, "µN·m", 1e-6, "the same"),
    column("2HB_Nm_per_m", Hysteresis, "N·m/m", 1.0, "KES bending hysteresis per width"),
    column("2HB_gf_cm_per_cm", Hysteresis, "gf·cm/cm", GF_CM_PER_CM, "the same"),
    column("2HB_sd_Nm_per_m", HysteresisSd, "N·m/m", 1.0, "standard deviation of 2HB"),
    column("2HB_sd_gf_cm_per_cm", HysteresisSd, "gf·cm/cm", GF_CM_PER_CM, "the same"),
    column("curvature_per_m", Curvature, "1/m", 1.0, "of a bending loop, rows in the order of the cycle"),
    column("curvature_per_cm", Curvature, "1/cm", 100.0, "the same"),
    column("moment_Nm_per_m", Moment, "N·m/m", 1.0, "moment per width at that curvature"),
    column("moment_gf_cm_per_cm", Moment, "gf·cm/cm", GF_CM_PER_CM, "the same"),
    column("sd_Nm_per_m", MomentSd, "N·m/m", 1.0, "standard deviation of the moment"),
    column("sd_gf_cm_per_cm", MomentSd, "gf·cm/cm", GF_CM_PER_CM, "the same"),
    column("turn_deg", Turn, "degrees", PI / 180.0, "turn of a twisted cylinder's top, rows in the order of the test"),
    column("turn_rad", Turn, "radians", 1.0, "the same"),
    column("torque_Nmm", Torque, "N·mm", 1e-3, "torque at that turn"),
    column("torque_Nm", Torque, "N·m", 1.0, "the same"),
    column("sd_Nmm", TorqueSd, "N·mm", 1e-3, "standard deviation of the torque"),
    column("sd_Nm", TorqueSd, "N·m", 1.0, "the same"),
    column("branch", Branch, "", 1.0, "out (0 to +max), down (+max to -max) or back (-max to 0); of a twist out or back; else found"),
    column("dwell_s", Dwell, "s", 1.0, "time held at the largest curvature or turn; 0 where absent"),
    column("thickness_mm", Thickness, "mm", 1e-3, "of the fabric; stands in for a gap"),
    column("composition", Remark, "", 1.0, "remark"),
    column("gsm", Remark, "g/m²", 1.0, "remark"),
    column("fold_side", Remark, "", 1.0, "remark"),
    column("load_N", Remark, "N", 1.0, "remark"),
    column("load_gf", Remark, "gf", 1.0, "remark"),
    column("load_kgf", Remark, "kgf", 1.0, "remark"),
    column("area_mm2", Remark, "mm²", 1.0, "remark"),
    column("temp_C", Remark, "°C", 1.0, "remark"),
    column("rh_pct", Remark, "%", 1.0, "remark"),
    column("method", Remark, "", 1.0, "remark; 'synthetic' in it marks the file"),
    column("evidence", Remark, "", 1.0, "remark; 'synthetic' in it marks the file"),
    column("source", Remark, "", 1.0, "remark; 'synthetic' in it marks the file"),
];

/// The names of a concept: "gap_mm, gap_cm or gap_m".
pub(super) fn accepted(concepts: &[Concept]) -> String {
    let names: Vec<&str> = COLUMNS
        .iter()
        .filter(|c| concepts.contains(&c.concept))
        .map(|c| c.name)
        .collect();
    match names.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
        _ => names.concat(),
    }
}

/// A table of all known columns with unit and meaning, for help and messages.
pub fn column_help() -> String {
    let width = |text: fn(&Column) -> &str| {
        let lengths = COLUMNS.iter().map(|c| text(c).chars().count());
        lengths.max().unwrap_or(0)
    };
    let (names, units) = (width(|c| c.name), width(|c| c.unit));
    let mut help = format!("{:names$}  {:units$}  meaning\n", "column", "unit");
    for c in COLUMNS {
        help += &format!("{:names$}  {:units$}  {}\n", c.name, c.unit, c.meaning);
    }
    help + "any other column is a remark\n"
}

/// Which columns of a table mean what.
pub(super) struct Layout<'a> {
    pub(super) table: &'a Table,
    known: Vec<(usize, &'static Column)>,
}

impl<'a> Layout<'a> {
    /// Refuses names that look wrong, a quantity in two units, and spreads of nothing.
    pub(super) fn of(table: &'a Table) -> Result<Layout<'a>> {
        let header = table.at(table.header_line());
        let mut known: Vec<(usize, &'static Column)> = Vec::new();
        for (i, name) in table.columns().iter().enumerate() {
            let Some(column) = COLUMNS.iter().find(|c| c.name == name) else {
                names::check_unknown(name, &header)?;
                continue;
            };
            let twin = known
                .iter()
                .find(|(_, c)| c.concept == column.concept && c.concept != Remark);
            if let Some((_, twin)) = twin {
                return bad_input(format!(
                    "{header}: '{}' and '{name}' give the same quantity twice; keep one",
                    twin.name
                ));
            }
            known.push((i, column));
        }
        let layout = Layout { table, known };
        for (_, column) in &layout.known {
            if let Some(owner) = column.concept.owner()
                && !layout.has(owner)
            {
                return bad_input(format!(
                    "{header}: '{}' has no quantity to belong to; add {} or remove it",
                    column.name,
                    accepted(&[owner])
                ));
            }
        }
        // Beside an angle, percent could also mean a share of that angle.
        if layout.name(AngleSd) == "sd_pct" && layout.name(Angle) != "recovery_pct" {
            return bad_input(format!(
                "{header}: 'sd_pct' belongs to recovery_pct; beside '{}' give sd_deg or sd_rad",
                layout.name(Angle)
            ));
        }
        Ok(layout)
    }

    pub(super) fn find(&self, concept: Concept) -> Option<(usize, &'static Column)> {
        let found = self.known.iter().find(|(_, c)| c.concept == concept);
        found.copied()
    }

    pub(super) fn has(&self, concept: Concept) -> bool {
        self.find(concept).is_some()
    }

    /// The file's name for a concept; empty where it has none.
    pub(super) fn name(&self, concept: Concept) -> &'static str {
        self.find(concept).map_or("", |(_, c)| c.name)
    }

    /// The concept of a column by its position; columns that are not known are remarks.
    pub(super) fn concept(&self, column: usize) -> Concept {
        let found = self.known.iter().find(|(i, _)| *i == column);
        found.map_or(Remark, |(_, c)| c.concept)
    }

    /// A word; none where the cell is empty or the column is absent.
    pub(super) fn word(&self, row: usize, concept: Concept) -> Option<&'a str> {
        let (column, _) = self.find(concept)?;
        Some(self.table.text(row, column)).filter(|word| !word.is_empty())
    }

    /// A number in the unit of `Measured`, checked; none where the cell is empty or the column absent.
    pub(super) fn number(&self, row: usize, concept: Concept) -> Result<Option<f64>> {
        let Some((index, column)) = self.find(concept) else {
            return Ok(None);
        };
        let Some(cell) = self.table.number(row, index)? else {
            return Ok(None);
        };
        let at = self.table.at(self.table.line(row));
        let shown = format!("{at}: {} = {}", column.name, self.table.text(row, index));
        if concept.owner().is_some() && cell <= 0.0 {
            return bad_input(format!(
                "{shown} must be above 0; leave the cell empty where the spread is not known"
            ));
        }
        if concept == Count && (cell < 1.0 || cell.fract() != 0.0) {
            return bad_input(format!(
                "{shown} must be a whole number of specimens, at least 1"
            ));
        }
        let (low, high) = concept.range();
        // π written with a few digits may come out above 180 degrees.
        let slack = if column.name == "angle_rad" {
            2e-4
        } else {
            1e-9
        };
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
    pub(super) fn check_numbers(&self, row: usize) -> Result<()> {
        for (_, column) in self.known.iter().filter(|(_, c)| c.concept.is_number()) {
            self.number(row, column.concept)?;
        }
        Ok(())
    }
}

/// A limit in another unit, without the last digits that the division leaves.
fn rounded(limit: f64) -> String {
    readable(format!("{limit:.4e}").parse().unwrap_or(limit))
}

fn range_hint(concept: Concept) -> String {
    let names = accepted(&[concept]);
    match concept {
        Angle => {
            format!("is the unit right ({names})? A sum of warp and weft must be given as two rows")
        }
        Count => "give the number of specimens".into(),
        Thickness | Dwell => format!("is the unit right (the column is {names})?"),
        _ => format!("is the unit right ({names})?"),
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
