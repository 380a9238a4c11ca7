//! Columns of cantilever tests in data files.

use crate::laboratory::sheet::{Cells, Concept, column};

pub(super) static OVERHANG: Concept = Concept {
    beginnings: &[&["overhang"], &["cantilever"]],
    ..Concept::number(
        "overhang",
        (1e-3, 1.0),
        &[
            column(
                "overhang_mm",
                "mm",
                1e-3,
                "overhang of a strip whose tip is angle_deg below its edge (41.5 where absent)",
            ),
            column("overhang_cm", "cm", 1e-2, "the same"),
        ],
    )
};
pub(super) static OVERHANG_SD: Concept = Concept::spread(
    "overhang sd",
    "overhang",
    &[
        column(
            "overhang_sd_mm",
            "mm",
            1e-3,
            "standard deviation of the overhang",
        ),
        column("overhang_sd_cm", "cm", 1e-2, "the same"),
    ],
);
pub(super) static BENDING_LENGTH: Concept = Concept {
    beginnings: &[&["bending", "length"]],
    ..Concept::number(
        "bending length",
        (5e-4, 0.5),
        &[
            column(
                "bending_length_mm",
                "mm",
                1e-3,
                "bending length of a cantilever test: half the overhang at 41.5 degrees",
            ),
            column("bending_length_cm", "cm", 1e-2, "the same"),
        ],
    )
};
pub(super) static BENDING_LENGTH_SD: Concept = Concept::spread(
    "bending length sd",
    "bending length",
    &[
        column(
            "bending_length_sd_mm",
            "mm",
            1e-3,
            "standard deviation of the bending length",
        ),
        column("bending_length_sd_cm", "cm", 1e-2, "the same"),
    ],
);
pub(super) static AREAL_DENSITY: Concept = Concept {
    cells: Cells::SettingOf(&["overhang", "bending length"]),
    beginnings: &[
        &["areal", "density"],
        &["area", "density"],
        &["mass", "per"],
    ],
    ..Concept::number(
        "areal density",
        (1e-3, 10.0),
        &[
            column(
                "areal_density_g_per_m2",
                "g/m²",
                1e-3,
                "mass per area of the fabric, which a cantilever test needs",
            ),
            column("areal_density_kg_per_m2", "kg/m²", 1.0, "the same"),
        ],
    )
};
