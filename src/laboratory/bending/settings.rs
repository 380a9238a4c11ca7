//! What a case can set of bending tests, and what a person can choose.

use crate::laboratory::{ChosenSetting, MAX_SECONDS, Setting};

/// In the section `tests`.
pub(super) static SETTINGS: [Setting; 4] = [
    Setting::number(
        "bending_sd_share",
        (1e-6, 1.0),
        "spread of B and 2HB where a file gives none, as a share",
        |s| Some(s.bending_sd_share),
        |s, v| s.bending_sd_share = v,
    ),
    Setting::number(
        "moment_sd_share",
        (1e-6, 1.0),
        "spread of a loop's moments where a file gives none, as a share of the largest",
        |s| Some(s.moment_sd_share),
        |s, v| s.moment_sd_share = v,
    ),
    Setting::number(
        "max_curvature_per_m",
        (1.0, 1e5),
        "largest curvature of the cycle that gives B and 2HB [1/m]",
        |s| Some(s.max_curvature_per_m),
        |s, v| s.max_curvature_per_m = v,
    ),
    Setting::number(
        "rate_per_m_s",
        (1e-6, 1e6),
        "speed of a bending cycle [1/(m·s)]",
        |s| Some(s.rate_per_m_s),
        |s, v| s.rate_per_m_s = v,
    ),
];

/// For made-up tables and designs.
pub(super) static CHOSEN: [ChosenSetting; 1] = [ChosenSetting {
    name: "dwell",
    key: "dwell_s",
    option: "dwell-s",
    letters: "S,…",
    range: (0.0, MAX_SECONDS),
    unit: 1.0,
    made_up: "Rests at the largest curvature of a KES loop [default: 0]",
    planned: Some(
        "Dwells at the reversal of a KES loop [default: 0,10,60,300,1000]; without it, loops are left out where \
         settings of other tests are given, and with it alone other tests are",
    ),
}];
