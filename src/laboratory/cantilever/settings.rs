//! What a case can set of cantilever tests, and what a person can choose.

use std::f64::consts::PI;

use super::STANDARD_ANGLE;
use crate::laboratory::{ChosenSetting, Setting};

/// Angles of a made-up table, and those that a design tries \[degrees\].
pub(super) const ANGLES: [f64; 4] = [20.0, STANDARD_ANGLE, 60.0, 75.0];

/// In the section `tests`.
pub(super) static SETTINGS: [Setting; 1] = [Setting::number(
    "areal_density_g_per_m2",
    (1.0, 1e4),
    "mass per area of the fabric where a file gives none [g/m²], for cantilever tests",
    |s| s.areal_density,
    |s, v| s.areal_density = Some(v),
)];

/// For made-up tables and designs.
pub(super) static CHOSEN: [ChosenSetting; 2] = [
    ChosenSetting {
        name: "angle",
        key: "angle_deg",
        option: "angle-deg",
        letters: "DEG,…",
        range: (1.0, 89.0),
        unit: PI / 180.0,
        made_up: "Angles of a cantilever, from its edge to its tip [default: 20,41.5,60,75]",
        planned: Some(
            "Angles of a cantilever, from its edge to its tip [default: 20,41.5,60,75]; without it, cantilevers are \
             left out where settings of other tests are given, and with it alone other tests are",
        ),
    },
    ChosenSetting {
        name: "density",
        key: "areal_density_g_per_m2",
        option: "areal-density-g-per-m2",
        letters: "G/M2,…",
        range: (1.0, 1e4),
        unit: 1e-3,
        made_up: "Mass per area of a cantilever's fabric",
        planned: Some(
            "Mass per area of the fabric, which cantilevers need [default: that of the data or of the case]",
        ),
    },
];
