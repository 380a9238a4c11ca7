//! The measurements of a case: rows with everything that a test needs, in groups.

use std::path::Path;

use serde::Serialize;

use super::{
    case::{Case, Source},
    data::{DataFile, Measured, Quantity},
    result::DataResult,
    simulate::{BendingReading, Condition},
};
use crate::{
    error::{Result, bad_input, readable, unknown},
    files::read_text,
    laboratory::{CreasePoint, Twist},
};

/// One measured value and the test that it came from.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Row {
    /// File and line.
    pub place: String,
    /// Number of its group.
    pub group: usize,
    /// The test.
    pub condition: Condition,
    /// Degrees, N·m or N·m/m.
    pub value: f64,
    /// Its standard deviation.
    pub sd: f64,
    /// Whether it is predicted, not fitted.
    pub held_out: bool,
}

/// All measurements of a case.
#[derive(Debug, Clone, PartialEq)]
pub struct Dataset {
    /// In the order of the files.
    pub rows: Vec<Row>,
    /// Names of the groups: fabric and direction.
    pub groups: Vec<String>,
    /// Whether any file calls itself synthetic.
    pub synthetic: bool,
    /// Whether the spread of any value was assumed.
    pub assumed_sd: bool,
    /// The files, for the report.
    pub files: Vec<DataResult>,
    /// What was taken for granted.
    pub notes: Vec<String>,
}

impl Dataset {
    /// Reads the files of a case; `folder` is where its paths start.
    pub fn read(case: &Case, folder: &Path) -> Result<Dataset> {
        let mut files = Vec::new();
        for source in &case.data {
            // Named as in the case, so that a result does not depend on where its folder is.
            let text = read_text(&folder.join(&source.file))?;
            files.push((source, DataFile::parse(&text, &source.file)?));
        }
        Dataset::gather(case, &files)
    }

    /// Puts the rows of files together.
    pub fn gather(case: &Case, files: &[(&Source, DataFile)]) -> Result<Dataset> {
        let mut set = Dataset {
            rows: Vec::new(),
            groups: Vec::new(),
            synthetic: false,
            assumed_sd: false,
            files: Vec::new(),
            notes: Vec::new(),
        };
        for (source, file) in files {
            let points = selected(source, file)?;
            set.synthetic |= file.synthetic;
            set.notes.extend(file.assumptions.clone());
            set.files.push(DataResult {
                file: file.file.clone(),
                points: points.len(),
                remarks: file.remarks.clone(),
            });
            let loops = largest_on_loops(&points);
            for (point, largest) in points.iter().zip(loops) {
                let row = set.row(case, source, point, largest)?;
                set.rows.push(row);
            }
        }
        set.notes.sort();
        set.notes.dedup();
        set.check(case)?;
        Ok(set)
    }

    fn row(
        &mut self,
        case: &Case,
        source: &Source,
        point: &Measured,
        (max_curvature, max_moment): (f64, f64),
    ) -> Result<Row> {
        let tests = &case.tests;
        let condition = match point.quantity {
            Quantity::Recovery { gap, press, read } => {
                let Some(gap) = gap.or(tests.gap_mm.map(|mm| 1e-3 * mm)) else {
                    return bad_input(format!(
                        "{}: no gap is known; add a column gap_mm or thickness_mm, or give --gap-mm (tests.gap_mm of a case)",
                        point.place
                    ));
                };
                if press.is_none() {
                    self.note(format!(
                        "Pressing times that are not given are taken as {} s.",
                        readable(tests.press_s)
                    ));
                }
                if read.is_none() {
                    self.note(format!(
                        "Reading times that are not given are taken as {} s.",
                        readable(tests.read_s)
                    ));
                }
                Condition::Recovery(CreasePoint {
                    gap,
                    press: press.unwrap_or(tests.press_s),
                    read: read.unwrap_or(tests.read_s),
                })
            }
            Quantity::Rigidity { dwell } => Condition::Bending {
                max_curvature: tests.max_curvature_per_m,
                dwell,
                read: BendingReading::Rigidity,
            },
            Quantity::Hysteresis { dwell } => Condition::Bending {
                max_curvature: tests.max_curvature_per_m,
                dwell,
                read: BendingReading::Hysteresis,
            },
            Quantity::Moment {
                curvature,
                branch,
                dwell,
            } => Condition::Bending {
                max_curvature,
                dwell,
                read: BendingReading::Moment(branch, curvature),
            },
            Quantity::Torque { turn, way, dwell } => {
                let Some(cylinder) = &case.twist else {
                    return bad_input(format!(
                        "{}: a torque needs the cylinder that was twisted; give the case a section \"twist\" with radius_mm, height_mm, membrane_N_per_m and density_kg_per_m2",
                        point.place
                    ));
                };
                Condition::Torque {
                    twist: Twist {
                        turn: max_curvature,
                        hold: dwell,
                    },
                    way,
                    turn,
                    cell: cylinder.cell(),
                }
            }
        };
        let sd = match point.sd {
            Some(sd) => sd,
            None => self.assumed_sd(case, point, max_moment),
        };
        let label = label(source, point);
        let group = match self.groups.iter().position(|g| *g == label) {
            Some(group) => group,
            None => {
                self.groups.push(label);
                self.groups.len() - 1
            }
        };
        Ok(Row {
            place: point.place.clone(),
            group,
            held_out: held_out(case, &self.groups[group], &condition),
            condition,
            value: point.value,
            sd,
        })
    }

    fn assumed_sd(&mut self, case: &Case, point: &Measured, max_moment: f64) -> f64 {
        self.assumed_sd = true;
        let tests = &case.tests;
        match point.quantity {
            Quantity::Recovery { .. } => {
                self.note(format!(
                    "Angles without a spread are taken to have one of {}°.",
                    readable(tests.sd_deg)
                ));
                tests.sd_deg
            }
            Quantity::Moment { .. } | Quantity::Torque { .. } => {
                let share = tests.moment_sd_share;
                self.note(format!(
                    "Moments and torques without a spread are taken to have one of {} % of the largest.",
                    readable(100.0 * share)
                ));
                share * max_moment
            }
            _ => {
                let share = tests.bending_sd_share;
                self.note(format!(
                    "B and 2HB without a spread are taken to have one of {} %.",
                    readable(100.0 * share)
                ));
                share * point.value.abs()
            }
        }
    }

    fn note(&mut self, note: String) {
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    fn check(&self, case: &Case) -> Result<()> {
        let fitted = self.rows.iter().filter(|r| !r.held_out).count();
        if fitted == 0 {
            return bad_input(format!(
                "case '{}': all {} points are held out, so none is left to fit; hold out fewer",
                case.name,
                self.rows.len()
            ));
        }
        let rule = &case.hold_out;
        let any = !rule.gap_mm.is_empty() || !rule.press_s.is_empty() || !rule.groups.is_empty();
        if any && fitted == self.rows.len() {
            return bad_input(format!(
                "case '{}': hold_out matches no point; check its gap_mm, press_s and groups (the groups are {})",
                case.name,
                self.groups.join(", ")
            ));
        }
        match self.rows.iter().find(|r| r.sd <= 0.0) {
            Some(row) => bad_input(format!(
                "{}: a value of {} needs a spread of its own; give an sd column",
                row.place,
                readable(row.value)
            )),
            None => Ok(()),
        }
    }

    /// Rows that are fitted.
    pub fn fitted(&self) -> impl Iterator<Item = &Row> {
        self.rows.iter().filter(|r| !r.held_out)
    }
}

fn label(source: &Source, point: &Measured) -> String {
    if let Some(group) = &source.group {
        return group.clone();
    }
    let words: Vec<&str> = [&point.fabric, &point.direction]
        .into_iter()
        .flatten()
        .map(String::as_str)
        .collect();
    if words.is_empty() {
        "fabric".into()
    } else {
        words.join(" ")
    }
}

/// The rows that a source asks for.
fn selected(source: &Source, file: &DataFile) -> Result<Vec<Measured>> {
    let mut points = file.points.clone();
    let wanted = [
        (
            "fabric",
            &source.fabric,
            (|p| &p.fabric) as fn(&Measured) -> &Option<String>,
        ),
        ("direction", &source.direction, |p| &p.direction),
    ];
    for (column, wish, of) in wanted {
        let Some(wish) = wish else { continue };
        let mut known: Vec<&str> = file
            .points
            .iter()
            .filter_map(|p| of(p).as_deref())
            .collect();
        known.sort_unstable();
        known.dedup();
        if !known.contains(&wish.as_str()) {
            return bad_input(format!("{}: {}", file.file, unknown(column, wish, &known)));
        }
        points.retain(|p| of(p).as_deref() == Some(wish));
    }
    if points.is_empty() {
        return bad_input(format!(
            "{}: no row has both the fabric and the direction asked for",
            file.file
        ));
    }
    Ok(points)
}

/// For every point the largest curvature \[1/m\] and moment \[N·m/m\] of its loop, or turn \[rad\] and torque
/// \[N·m\] of its twist; 0 where it is on none.
fn largest_on_loops(points: &[Measured]) -> Vec<(f64, f64)> {
    let on_loop = |p: &Measured| match p.quantity {
        Quantity::Moment {
            curvature, dwell, ..
        } => Some((curvature.abs(), dwell, false)),
        Quantity::Torque { turn, dwell, .. } => Some((turn, dwell, true)),
        _ => None,
    };
    let largest = |p: &Measured| {
        let mut sizes = (0.0f64, 0.0f64);
        let Some((_, dwell, twisted)) = on_loop(p) else {
            return sizes;
        };
        for other in points {
            if let Some((curvature, other_dwell, other_twisted)) = on_loop(other)
                && (&other.fabric, &other.direction, other_dwell, other_twisted)
                    == (&p.fabric, &p.direction, dwell, twisted)
            {
                sizes = (sizes.0.max(curvature), sizes.1.max(other.value.abs()));
            }
        }
        sizes
    };
    points.iter().map(largest).collect()
}

fn held_out(case: &Case, group: &str, condition: &Condition) -> bool {
    let rule = &case.hold_out;
    let near =
        |list: &[f64], value: f64| list.iter().any(|v| (v - value).abs() <= 1e-6 * value.abs());
    let by_condition = match condition {
        Condition::Recovery(point) => {
            near(&rule.gap_mm, 1e3 * point.gap) || near(&rule.press_s, point.press)
        }
        Condition::Bending { .. } | Condition::Torque { .. } => false,
    };
    by_condition || rule.groups.iter().any(|g| g == group)
}
