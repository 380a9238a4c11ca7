//! Measurement files: recovery angles, KES sheets and digitised bending loops, as textile people write
//! them down. Units are in the columns' names, and every value keeps its line.

mod columns;
mod loops;
mod names;
mod remarks;
#[cfg(test)]
mod tests;
mod twists;

use std::{f64::consts::PI, path::Path};

pub use columns::column_help;
use columns::{Concept, Layout, accepted};

pub use crate::laboratory::{Branch, Way};
use crate::{
    error::{Result, bad_input, readable},
    files::{Table, read_text},
};

/// A measurement file.
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
    /// What was measured, and under which conditions.
    pub quantity: Quantity,
    /// The value: degrees for a recovery angle, N·m for B and torques, N·m/m for 2HB and moments.
    pub value: f64,
    /// Standard deviation of this value, in its unit: sd/√n for a mean of n specimens.
    pub sd: Option<f64>,
}

/// What was measured.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Quantity {
    /// Recovery angle; 180 degrees is flat.
    Recovery {
        /// Distance of the plates that press the fold \[m\].
        gap: Option<f64>,
        /// Time under load \[s\].
        press: Option<f64>,
        /// Time from the release to the reading \[s\].
        read: Option<f64>,
    },
    /// B of a KES test.
    Rigidity {
        /// Time held at the largest curvature \[s\].
        dwell: f64,
    },
    /// 2HB of a KES test.
    Hysteresis {
        /// Time held at the largest curvature \[s\].
        dwell: f64,
    },
    /// A point of a bending loop.
    Moment {
        /// Curvature \[1/m\].
        curvature: f64,
        /// Part of the cycle.
        branch: Branch,
        /// Time held at the largest curvature \[s\].
        dwell: f64,
    },
    /// Torque at the top of a twisted cylinder.
    Torque {
        /// Turn of the top \[rad\].
        turn: f64,
        /// Out or back.
        way: Way,
        /// Time held at the largest turn \[s\].
        dwell: f64,
    },
}

/// With fewer rows, small angles may be chance.
const ENOUGH_TO_JUDGE_UNITS: usize = 3;
impl DataFile {
    /// Reads a file.
    pub fn read(path: &Path) -> Result<DataFile> {
        DataFile::parse(&read_text(path)?, &path.display().to_string())
    }

    /// As [`DataFile::read`], of text that is already here; `file` names it in messages.
    pub fn parse(text: &str, file: &str) -> Result<DataFile> {
        let table = Table::parse(text, file)?;
        let layout = Layout::of(&table)?;
        check_tests(&layout)?;
        let mut assumed = Assumed::default();
        let points = points(&layout, &mut assumed)?;
        check_angle_unit(&layout, &points)?;
        Ok(DataFile {
            file: file.to_string(),
            synthetic: remarks::is_synthetic(&table),
            remarks: remarks::all(&layout, &points),
            points,
            assumptions: assumed.sentences(&layout),
        })
    }
}

/// Refuses a file in which no test can be recognised, or half a loop.
fn check_tests(layout: &Layout) -> Result<()> {
    use Concept::*;
    let header = layout.table.at(layout.table.header_line());
    if layout.has(Curvature) != layout.has(Moment) {
        return bad_input(format!(
            "{header}: a loop needs curvature and moment; add {}",
            accepted(&[if layout.has(Moment) {
                Curvature
            } else {
                Moment
            }])
        ));
    }
    if layout.has(Turn) != layout.has(Torque) {
        return bad_input(format!(
            "{header}: a twist needs turn and torque; add {}",
            accepted(&[if layout.has(Torque) { Turn } else { Torque }])
        ));
    }
    if [Angle, Rigidity, Hysteresis, Curvature, Torque]
        .iter()
        .any(|c| layout.has(*c))
    {
        return Ok(());
    }
    bad_input(format!(
        "{header}: no measured quantity among the columns {}; a recovery test needs {}; a KES sheet needs {}; a bending loop needs {} with {}; a twist needs {} with {}",
        layout.table.columns().join(", "),
        accepted(&[Angle]),
        accepted(&[Rigidity, Hysteresis]),
        accepted(&[Curvature]),
        accepted(&[Moment]),
        accepted(&[Turn]),
        accepted(&[Torque])
    ))
}

/// Rows, by their lines, for which something was taken for granted.
#[derive(Default)]
struct Assumed {
    gap_from_thickness: Vec<usize>,
    sd_without_count: Vec<usize>,
    no_dwell: Vec<usize>,
    loops: Vec<String>,
}

impl Assumed {
    fn sentences(self, layout: &Layout) -> Vec<String> {
        let table = layout.table;
        let sentence = |lines: &[usize], what: &str| {
            let first = lines.first()?;
            let rows = match lines.len() {
                1 => "1 row".to_string(),
                n => format!("{n} rows from there"),
            };
            Some(format!("{} ({rows}): {what}", table.at(*first)))
        };
        let mut list = Vec::new();
        list.extend(sentence(
            &self.gap_from_thickness,
            "no gap is given; taken as twice the thickness",
        ));
        list.extend(sentence(
            &self.sd_without_count,
            "no n is given; the sd is taken as that of the value itself, not of a single specimen",
        ));
        list.extend(sentence(
            &self.no_dwell,
            "no dwell_s is given; taken as 0, a cycle without a stop",
        ));
        list.extend(self.loops);
        list
    }
}

fn points(layout: &Layout, assumed: &mut Assumed) -> Result<Vec<Measured>> {
    let table = layout.table;
    let (branches, sentences) = loops::branches(layout)?;
    assumed.loops = sentences;
    let ways = twists::ways(layout)?;
    let mut points = Vec::new();
    for (row, (branch, way)) in branches.into_iter().zip(ways).enumerate() {
        layout.check_numbers(row)?;
        let line = table.line(row);
        let measured = measured(layout, row, (branch, way), assumed)?;
        if measured.is_empty() {
            return bad_input(format!(
                "{}: nothing measured in this row; fill in a value or remove the row",
                table.at(line)
            ));
        }
        for (quantity, value, sd) in measured {
            points.push(Measured {
                line,
                place: table.at(line),
                fabric: layout.word(row, Concept::Fabric).map(String::from),
                direction: layout.word(row, Concept::Direction).map(direction),
                quantity,
                value,
                sd,
            });
        }
    }
    Ok(points)
}

/// The values of a row, each with the standard deviation of its mean.
fn measured(
    layout: &Layout,
    row: usize,
    (branch, way): (Option<Branch>, Option<Way>),
    assumed: &mut Assumed,
) -> Result<Vec<(Quantity, f64, Option<f64>)>> {
    let line = layout.table.line(row);
    let number = |concept| layout.number(row, concept);
    let mut list = Vec::new();
    if let Some(angle) = number(Concept::Angle)? {
        let mut gap = number(Concept::Gap)?;
        if let (None, Some(thickness)) = (gap, number(Concept::Thickness)?) {
            gap = Some(2.0 * thickness);
            assumed.gap_from_thickness.push(line);
        }
        let quantity = Quantity::Recovery {
            gap,
            press: number(Concept::Press)?,
            read: number(Concept::Read)?,
        };
        list.push((quantity, angle, number(Concept::AngleSd)?));
    }
    let dwell = number(Concept::Dwell)?;
    let bent = list.len();
    let time = dwell.unwrap_or(0.0);
    if let Some(rigidity) = number(Concept::Rigidity)? {
        let quantity = Quantity::Rigidity { dwell: time };
        list.push((quantity, rigidity, number(Concept::RigiditySd)?));
    }
    if let Some(hysteresis) = number(Concept::Hysteresis)? {
        let quantity = Quantity::Hysteresis { dwell: time };
        list.push((quantity, hysteresis, number(Concept::HysteresisSd)?));
    }
    let point = (
        number(Concept::Curvature)?,
        number(Concept::Moment)?,
        branch,
    );
    if let (Some(curvature), Some(moment), Some(branch)) = point {
        let quantity = Quantity::Moment {
            curvature,
            branch,
            dwell: time,
        };
        list.push((quantity, moment, number(Concept::MomentSd)?));
    }
    let point = (number(Concept::Turn)?, number(Concept::Torque)?, way);
    if let (Some(turn), Some(torque), Some(way)) = point {
        let quantity = Quantity::Torque {
            turn,
            way,
            dwell: time,
        };
        list.push((quantity, torque, number(Concept::TorqueSd)?));
    }
    if list.len() > bent && dwell.is_none() {
        assumed.no_dwell.push(line);
    }
    let count = number(Concept::Count)?;
    if count.is_none() && list.iter().any(|(_, _, sd)| sd.is_some()) {
        assumed.sd_without_count.push(line);
    }
    for (_, _, sd) in &mut list {
        *sd = sd.map(|sd| sd / count.unwrap_or(1.0).sqrt());
    }
    Ok(list)
}

/// "warp" and "weft" in any capitals, the trade's other words for weft, or the word as it is.
fn direction(word: &str) -> String {
    match word.to_lowercase().as_str() {
        "warp" => "warp".into(),
        "weft" | "fill" | "filling" => "weft".into(),
        _ => word.to_string(),
    }
}

/// Refuses whole columns of angles that are too small for their unit.
fn check_angle_unit(layout: &Layout, points: &[Measured]) -> Result<()> {
    let angles: Vec<&Measured> = points
        .iter()
        .filter(|p| matches!(p.quantity, Quantity::Recovery { .. }))
        .collect();
    let largest = angles.iter().map(|p| p.value).fold(0.0, f64::max);
    if angles.len() < ENOUGH_TO_JUDGE_UNITS || largest == 0.0 {
        return Ok(());
    }
    let name = layout.name(Concept::Angle);
    let (limit, remedy) = match name {
        "angle_deg" => (PI, "these look like radians: name the column angle_rad"),
        "recovery_pct" => (1.8, "these look like shares of 1: give them in percent"),
        _ => return Ok(()),
    };
    if largest <= limit {
        let shown = if name == "angle_deg" {
            largest
        } else {
            largest / 1.8
        };
        return bad_input(format!(
            "{}: no {name} of the file is above {}; {remedy}",
            angles[0].place,
            readable(shown)
        ));
    }
    Ok(())
}
