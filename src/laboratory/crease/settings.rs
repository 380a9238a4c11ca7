//! What a case can set of crease recovery tests, and what a person can choose.

use crate::laboratory::{ChosenSetting, MAX_SECONDS, Setting, SettingKind, Specimen};

/// In the section `tests`.
pub(super) static SETTINGS: [Setting; 7] = [
    Setting {
        key: "specimen",
        meaning: "what is folded in a recovery test: hinges on their own, or a strip mesh",
        kind: SettingKind::Word(&Specimen::NAMES),
        get: |s| Some(f64::from(u8::from(s.specimen == Specimen::StripMesh))),
        set: |s, which| {
            if which > 0.0 {
                s.specimen = Specimen::StripMesh;
                // A mesh is read right after its release.
                s.read_s = 0.0;
            }
        },
        refuse: |_, _| None,
    },
    Setting {
        refuse: |s, _| {
            (s.specimen != Specimen::StripMesh)
                .then_some("needs \"specimen\": \"strip_mesh\"; add it, or give tests.hinges")
        },
        ..Setting::whole(
            "strip_cells",
            (8.0, 512.0),
            "cells along the fold of a strip mesh",
            |s| (s.specimen == Specimen::StripMesh).then_some(s.strip_cells as f64),
            |s, v| s.strip_cells = v as usize,
        )
    },
    Setting {
        // Sums over a fold are then taken alike wherever it stands in a batch: a resumed fit has the same bits.
        refuse: |_, v| {
            (!(v as usize).is_power_of_two())
                .then_some("must be a power of two, such as 1024 or 2048")
        },
        ..Setting::whole(
            "hinges",
            (32.0, 16384.0),
            "hinges along a fold, a power of two; more are nearer to the hard law",
            |s| s.hinges.map(|hinges| hinges as f64),
            |s, v| s.hinges = Some(v as usize),
        )
    },
    Setting::number(
        "gap_mm",
        (0.01, 100.0),
        "gap where a file gives none [mm]",
        |s| s.gap_mm,
        |s, v| s.gap_mm = Some(v),
    ),
    Setting::number(
        "press_s",
        (0.0, 1e9),
        "pressing time where a file gives none [s]",
        |s| Some(s.press_s),
        |s, v| s.press_s = v,
    ),
    Setting::number(
        "read_s",
        (0.0, 1e9),
        "reading time where a file gives none [s]; 0 for a strip mesh, else 300",
        |s| Some(s.read_s),
        |s, v| s.read_s = v,
    ),
    Setting::number(
        "sd_deg",
        (1e-6, 90.0),
        "spread of an angle where a file gives none [degrees]",
        |s| Some(s.sd_deg),
        |s, v| s.sd_deg = v,
    ),
];

/// For made-up tables and designs.
pub(super) static CHOSEN: [ChosenSetting; 3] = [
    ChosenSetting {
        name: "gap",
        key: "gap_mm",
        option: "gap-mm",
        letters: "MM,…",
        range: (1e-3, 1e3),
        unit: 1e-3,
        made_up: "Distances of the plates [default: 0.5,1,2,4]",
        planned: Some(
            "Gaps that can be set [default: those of the data, half the smallest, twice the largest]",
        ),
    },
    ChosenSetting {
        name: "press",
        key: "press_s",
        option: "press-s",
        letters: "S,…",
        range: (0.0, MAX_SECONDS),
        unit: 1.0,
        made_up: "Pressing times [default: 1,3,10,30,100,300,1000,3000,10000,30000,100000]",
        planned: Some(
            "Pressing times that can be kept [default: a tenth of the shortest to the longest of the data]",
        ),
    },
    ChosenSetting {
        name: "read",
        key: "read_s",
        option: "read-s",
        letters: "S,…",
        range: (0.0, MAX_SECONDS),
        unit: 1.0,
        made_up: "Times from release to reading [default: 300]",
        planned: None,
    },
];
