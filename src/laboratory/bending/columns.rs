//! The columns of a KES sheet, and how its rows are read.

use super::{
    loops,
    point::{BendingPoint, BendingReading},
};
use crate::{
    error::Result,
    laboratory::{
        MeasuredValue,
        sheet::{Assumptions, Concept, DWELL, DataSheet, column},
    },
};

/// N·m in 1 gf·cm²/cm.
const GF_CM2_PER_CM: f64 = 9.80665e-5;
/// N·m/m in 1 gf·cm/cm.
const GF_CM_PER_CM: f64 = 9.80665e-3;

/// B \[N·m\]. Rigidities of air or of sheet metal are a wrong unit; ten times the span of apparel, 0.01 to
/// 1 gf·cm²/cm, is usual.
pub(in crate::laboratory::bending) static RIGIDITY: Concept = Concept {
    usual: Some((1e-7, 1e-3, "N·m")),
    beginnings: &[&["b"], &["rigidity"], &["bending", "rigidity"]],
    ..Concept::number(
        "rigidity",
        (1e-9, 1e-1),
        &[
            column("B_Nm", "N·m", 1.0, "KES bending rigidity per width"),
            column("B_gf_cm2_per_cm", "gf·cm²/cm", GF_CM2_PER_CM, "the same"),
            column("B_uNm", "µN·m", 1e-6, "the same"),
        ],
    )
};
pub(in crate::laboratory::bending) static RIGIDITY_SD: Concept = Concept {
    ..Concept::spread(
        "rigidity sd",
        "rigidity",
        &[
            column("B_sd_Nm", "N·m", 1.0, "standard deviation of B"),
            column("B_sd_gf_cm2_per_cm", "gf·cm²/cm", GF_CM2_PER_CM, "the same"),
            column("B_sd_uNm", "µN·m", 1e-6, "the same"),
        ],
    )
};
/// 2HB \[N·m/m\]; ten times a stiff cotton is usual.
pub(in crate::laboratory::bending) static HYSTERESIS: Concept = Concept {
    usual: Some((0.0, 2e-2, "N·m/m")),
    beginnings: &[&["2hb"], &["hb"], &["hysteresis"]],
    ..Concept::number(
        "hysteresis",
        (0.0, 10.0),
        &[
            column(
                "2HB_Nm_per_m",
                "N·m/m",
                1.0,
                "KES bending hysteresis per width",
            ),
            column("2HB_gf_cm_per_cm", "gf·cm/cm", GF_CM_PER_CM, "the same"),
        ],
    )
};
pub(in crate::laboratory::bending) static HYSTERESIS_SD: Concept = Concept::spread(
    "hysteresis sd",
    "hysteresis",
    &[
        column("2HB_sd_Nm_per_m", "N·m/m", 1.0, "standard deviation of 2HB"),
        column("2HB_sd_gf_cm_per_cm", "gf·cm/cm", GF_CM_PER_CM, "the same"),
    ],
);
/// Curvature of a loop \[1/m\]; a radius of 0.1 mm is a sharp crease.
pub(in crate::laboratory::bending) static CURVATURE: Concept = Concept {
    beginnings: &[&["curvature"]],
    ..Concept::number(
        "curvature",
        (-1e4, 1e4),
        &[
            column(
                "curvature_per_m",
                "1/m",
                1.0,
                "of a bending loop, rows in the order of the cycle",
            ),
            column("curvature_per_cm", "1/cm", 100.0, "the same"),
        ],
    )
};
pub(in crate::laboratory::bending) static MOMENT: Concept = Concept {
    beginnings: &[&["moment"]],
    ..Concept::number(
        "moment",
        (-100.0, 100.0),
        &[
            column(
                "moment_Nm_per_m",
                "N·m/m",
                1.0,
                "moment per width at that curvature",
            ),
            column("moment_gf_cm_per_cm", "gf·cm/cm", GF_CM_PER_CM, "the same"),
        ],
    )
};
pub(in crate::laboratory::bending) static MOMENT_SD: Concept = Concept::spread(
    "moment sd",
    "moment",
    &[
        column(
            "sd_Nm_per_m",
            "N·m/m",
            1.0,
            "standard deviation of the moment",
        ),
        column("sd_gf_cm_per_cm", "gf·cm/cm", GF_CM_PER_CM, "the same"),
    ],
);

/// B, 2HB and the moments of every row of a sheet.
pub(super) fn measured(
    sheet: &DataSheet,
    assumed: &mut Assumptions,
) -> Result<Vec<Vec<MeasuredValue>>> {
    let (branches, sentences) = loops::branches(sheet)?;
    assumed.sentences.extend(sentences);
    let mut rows = vec![Vec::new(); sheet.rows().len()];
    for (row, branch) in sheet.rows().zip(branches) {
        let number = |concept| sheet.number(row, concept);
        let dwell = number(&DWELL)?.unwrap_or(0.0);
        let condition = |read| {
            let max_curvature = f64::NAN;
            BendingPoint {
                max_curvature,
                dwell,
                read,
            }
            .into()
        };
        let moment = match (number(&CURVATURE)?, branch) {
            (Some(curvature), Some(branch)) => Some(BendingReading::Moment(branch, curvature)),
            _ => None,
        };
        for (concept, spread, read) in [
            (&RIGIDITY, &RIGIDITY_SD, Some(BendingReading::Rigidity)),
            (
                &HYSTERESIS,
                &HYSTERESIS_SD,
                Some(BendingReading::Hysteresis),
            ),
            (&MOMENT, &MOMENT_SD, moment),
        ] {
            if let (Some(value), Some(read)) = (number(concept)?, read) {
                rows[row].push(MeasuredValue {
                    condition: condition(read),
                    concept,
                    value,
                    sd: number(spread)?,
                });
            }
        }
    }
    Ok(rows)
}
