//! The measurements of a case: rows with everything that a test needs, in groups.

mod repeats;

use serde::Serialize;

pub(crate) use repeats::SpreadSource;

use super::{
    case::{Case, DataSource},
    data::{DataFile, Measured},
    result::DataResult,
};
use crate::{
    error::{Result, bad_input, readable, unknown},
    laboratory::{Condition, Context},
};

/// One measured value and the test that it came from.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DataRow {
    /// File and line.
    pub place: String,
    pub group: usize,
    pub condition: Condition,
    /// Degrees, N·m or N·m/m.
    pub value: f64,
    pub sd: f64,
    /// Where `sd` comes from.
    pub spread: SpreadSource,
    /// Whether it is predicted, not fitted.
    pub held_out: bool,
}

impl DataRow {
    /// Largest curvature of the test \[1/m\].
    pub fn curvature(&self) -> f64 {
        self.condition.test.curvature(&self.condition, self.value)
    }

    /// Kind of the reading, such as `crease` or `kes_loop`: readings of a kind share a spread.
    fn kind(&self) -> &'static str {
        self.condition.test.kind(&self.condition)
    }
}

/// All measurements of a case.
#[derive(Debug, Clone, PartialEq)]
pub struct Dataset {
    /// In the order of the files.
    pub rows: Vec<DataRow>,
    /// Names of the groups: fabric and direction.
    pub groups: Vec<String>,
    /// Whether any file calls itself synthetic.
    pub synthetic: bool,
    /// Degrees of freedom of the repeats that tell spreads, one number for each such kind of reading.
    pub repeats: Vec<usize>,
    /// The files, for the report.
    pub files: Vec<DataResult>,
    /// What was taken for granted.
    pub notes: Vec<String>,
}

impl Dataset {
    /// Puts the rows of files together.
    pub fn gather(case: &Case, files: &[(&DataSource, DataFile)]) -> Result<Dataset> {
        let mut set = Dataset {
            rows: Vec::new(),
            groups: Vec::new(),
            synthetic: false,
            repeats: Vec::new(),
            files: Vec::new(),
            notes: Vec::new(),
        };
        let mut assumptions = Vec::new();
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
                let row = set.row(case, source, point, largest, &mut assumptions)?;
                set.rows.push(row);
            }
        }
        set.check(case)?;
        set.use_repeats(assumptions);
        set.notes.sort();
        set.notes.dedup();
        Ok(set)
    }

    fn row(
        &mut self,
        case: &Case,
        source: &DataSource,
        point: &Measured,
        largest: (f64, f64),
        assumptions: &mut Vec<(&'static str, String)>,
    ) -> Result<DataRow> {
        let mut notes = Vec::new();
        let mut context = Context {
            settings: &case.tests,
            place: &point.place,
            largest,
            notes: &mut notes,
        };
        let test = point.condition.test;
        let condition = test.complete(point.condition, &mut context)?;
        let (sd, spread) = match point.sd {
            Some(sd) => (sd, SpreadSource::Stated),
            None => {
                let mut said = Vec::new();
                let mut context = Context {
                    notes: &mut said,
                    ..context
                };
                let sd = test.assumed_sd(&condition, point.value, &mut context);
                assumptions.extend(said.into_iter().map(|note| (test.kind(&condition), note)));
                (sd, SpreadSource::Assumed)
            }
        };
        for note in notes {
            if !self.notes.contains(&note) {
                self.notes.push(note);
            }
        }
        let label = label(source, point);
        let group = match self.groups.iter().position(|g| *g == label) {
            Some(group) => group,
            None => {
                self.groups.push(label);
                self.groups.len() - 1
            }
        };
        Ok(DataRow {
            place: point.place.clone(),
            group,
            held_out: held_out(case, &self.groups[group], &condition),
            condition,
            value: point.value,
            sd,
            spread,
        })
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

    /// The rows of some groups alone.
    pub(super) fn of_groups(&self, groups: &[usize]) -> Dataset {
        let row = |row: &DataRow| {
            let group = groups.iter().position(|g| *g == row.group)?;
            Some(DataRow {
                group,
                ..row.clone()
            })
        };
        Dataset {
            rows: self.rows.iter().filter_map(row).collect(),
            groups: groups.iter().map(|g| self.groups[*g].clone()).collect(),
            ..self.clone()
        }
    }

    pub fn fitted(&self) -> impl Iterator<Item = &DataRow> {
        self.rows.iter().filter(|r| !r.held_out)
    }
}

fn label(source: &DataSource, point: &Measured) -> String {
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
fn selected(source: &DataSource, file: &DataFile) -> Result<Vec<Measured>> {
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

/// For every point the largest size and value of its loop (see [`crate::laboratory::Test::on_loop`]); 0 where it is
/// on none.
fn largest_on_loops(points: &[Measured]) -> Vec<(f64, f64)> {
    let on_loop = |p: &Measured| p.condition.test.on_loop(&p.condition);
    let largest = |p: &Measured| {
        let mut sizes = (0.0f64, 0.0f64);
        let Some((_, dwell)) = on_loop(p) else {
            return sizes;
        };
        let key = |p: &Measured, dwell: f64| {
            let test = p.condition.test.name();
            (p.fabric.clone(), p.direction.clone(), dwell.to_bits(), test)
        };
        for other in points {
            if let Some((size, other_dwell)) = on_loop(other)
                && key(other, other_dwell) == key(p, dwell)
            {
                sizes = (sizes.0.max(size), sizes.1.max(other.value.abs()));
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
    let by = |name: &str, list: &[f64]| {
        let setting = condition.test.hold_out_setting(condition, name);
        setting.is_some_and(|value| near(list, value))
    };
    by("gap_mm", &rule.gap_mm)
        || by("press_s", &rule.press_s)
        || rule.groups.iter().any(|g| g == group)
}
