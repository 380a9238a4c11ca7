//! The columns of a table of recovery angles, and how its rows are read.

use std::f64::consts::PI;

use super::CreasePoint;
use crate::{
    error::{Result, bad_input, readable},
    laboratory::{
        MeasuredValue,
        sheet::{Assumptions, Cells, Concept, DataSheet, column},
    },
};

/// Recovery angle \[degrees\]; 180 is flat.
pub(crate) static ANGLE: Concept = Concept {
    hint: "A sum of warp and weft must be given as two rows",
    beginnings: &[&["recovery"], &["cra"], &["wra"]],
    ..Concept::number(
        "angle",
        (0.0, 180.0),
        &[
            column(
                "angle_deg",
                "degrees",
                1.0,
                "recovery angle; 180 is flat, 0 stays folded; beside an overhang the angle of the cantilever",
            ),
            column("angle_rad", "radians", 180.0 / PI, "the same"),
            column("recovery_pct", "%", 1.8, "the same; 100 is 180 degrees"),
        ],
    )
};
pub(super) static ANGLE_SD: Concept = Concept {
    range: (0.0, 180.0),
    ..Concept::spread(
        "angle sd",
        "angle",
        &[
            column("sd_deg", "degrees", 1.0, "standard deviation of the angle"),
            column("sd_rad", "radians", 180.0 / PI, "the same"),
            column("sd_pct", "%", 1.8, "the same, of recovery_pct"),
        ],
    )
};
/// Gaps below a yarn or as wide as a hand are no folds.
pub(super) static GAP: Concept = Concept {
    cells: Cells::SettingOf(&["angle"]),
    beginnings: &[&["gap"]],
    ..Concept::number(
        "gap",
        (1e-5, 0.1),
        &[
            column(
                "gap_mm",
                "mm",
                1e-3,
                "distance of the plates that press the fold; without it 2·thickness_mm",
            ),
            column("gap_cm", "cm", 1e-2, "the same"),
            column("gap_m", "m", 1.0, "the same"),
        ],
    )
};
pub(super) static PRESS: Concept = Concept {
    cells: Cells::SettingOf(&["angle"]),
    beginnings: &[
        &["press", "time"],
        &["press", "s"],
        &["press", "min"],
        &["press", "h"],
        &["pressing", "time"],
        &["hold", "time"],
        &["load", "time"],
        &["time"],
    ],
    ..Concept::number(
        "press",
        (0.0, 1e9),
        &[
            column("press_time_s", "s", 1.0, "time under load"),
            column("press_time_min", "min", 60.0, "the same"),
            column("press_time_h", "h", 3600.0, "the same"),
        ],
    )
};
pub(super) static READ: Concept = Concept {
    cells: Cells::SettingOf(&["angle"]),
    beginnings: &[
        &["recovery", "time"],
        &["read", "time"],
        &["reading", "time"],
        &["recovery"],
        &["time"],
    ],
    ..Concept::number(
        "read",
        (0.0, 1e9),
        &[
            column(
                "recovery_time_s",
                "s",
                1.0,
                "time from the release to the reading",
            ),
            column("recovery_time_min", "min", 60.0, "the same"),
            column("recovery_time_h", "h", 3600.0, "the same"),
        ],
    )
};
pub(super) static THICKNESS: Concept = Concept {
    cells: Cells::ShownSetting,
    beginnings: &[&["thickness"]],
    ..Concept::number(
        "thickness",
        (5e-6, 0.05),
        &[column(
            "thickness_mm",
            "mm",
            1e-3,
            "of the fabric; stands in for a gap",
        )],
    )
};

/// Angles of fewer rows may be small by chance.
const ENOUGH_TO_JUDGE_UNITS: usize = 3;

/// Refuses whole columns of angles that are too small for their unit.
fn check_unit(sheet: &DataSheet, angles: &[(usize, f64)]) -> Result<()> {
    let largest = angles.iter().map(|(_, angle)| *angle).fold(0.0, f64::max);
    if angles.len() < ENOUGH_TO_JUDGE_UNITS || largest == 0.0 {
        return Ok(());
    }
    let name = sheet.name(&ANGLE);
    let (limit, unit, remedy) = match name {
        "angle_deg" => (
            PI,
            1.0,
            "these look like radians: name the column angle_rad",
        ),
        "recovery_pct" => (
            1.8,
            1.8,
            "these look like shares of 1: give them in percent",
        ),
        _ => return Ok(()),
    };
    if largest > limit {
        return Ok(());
    }
    bad_input(format!(
        "{}: no {name} of the file is above {}; {remedy}",
        sheet.place(angles[0].0),
        readable(largest / unit)
    ))
}

/// The angles of every row of a sheet.
pub(super) fn measured(
    sheet: &DataSheet,
    assumed: &mut Assumptions,
) -> Result<Vec<Vec<MeasuredValue>>> {
    let mut rows = vec![Vec::new(); sheet.rows().len()];
    let mut angles = Vec::new();
    for row in sheet.rows() {
        let number = |concept| sheet.number(row, concept);
        let Some(value) = number(&ANGLE)? else {
            continue;
        };
        if sheet.is_borrowed(row, &ANGLE)? {
            continue;
        }
        let mut gap = number(&GAP)?;
        if let (None, Some(thickness)) = (gap, number(&THICKNESS)?) {
            gap = Some(2.0 * thickness);
            assumed.of_line(
                "no gap is given; taken as twice the thickness",
                sheet.table.line(row),
            );
        }
        let point = CreasePoint {
            gap: gap.unwrap_or(f64::NAN),
            press: number(&PRESS)?.unwrap_or(f64::NAN),
            read: number(&READ)?.unwrap_or(f64::NAN),
        };
        angles.push((row, value));
        rows[row].push(MeasuredValue {
            condition: point.into(),
            concept: &ANGLE,
            value,
            sd: number(&ANGLE_SD)?,
        });
    }
    check_unit(sheet, &angles)?;
    Ok(rows)
}
