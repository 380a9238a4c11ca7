//! Cases whose specimen is a mesh, and the fabrics that their data are made of.

use serde_json::{Value, json};

/// K_b, K_f, ε_0, ε_∞, T_d, ε_y, K_h, drop, T_y of a cotton.
pub const COTTON: [f64; 9] = [
    1.157e-5, 2e-5, 60.0, 900.0, 100.0, 500.0, 1.157e-5, 0.7, 1000.0,
];

/// A case of a cotton of which three parameters are looked for.
pub fn strip_case(cells: usize) -> Value {
    json!({
        "name": "strip",
        "data": ["data.csv"],
        "parameters": {
            "bending_stiffness": {"fixed": COTTON[0]},
            "friction_threshold_initial": {"fixed": COTTON[2]},
            "dwell_time": {"fixed": COTTON[4]},
            "hardening_stiffness": {"fixed": COTTON[6]},
            "hardening_drop": {"fixed": COTTON[7]},
            "flow_time": {"fixed": COTTON[8]},
        },
        "tests": {"specimen": "strip_mesh", "strip_cells": cells},
        "starts": 3,
    })
}

/// K_b, K_f, ε_0, ε_∞, T_d, ε_y, K_h, drop, T_y of a fabric whose wrinkles slip and do not yield, and which hardly
/// locks within the twist: a hinge that has locked gives way at once, so the cost has steps and minima on them.
pub const WRINKLED: [f64; 9] = [1e-5, 2e-5, 10.0, 30.0, 1e3, 2000.0, 1e-5, 0.5, 1000.0];

pub fn twist_section() -> Value {
    json!({
        "radius_mm": 40, "height_mm": 110, "membrane_N_per_m": [200, 200, 20, 50],
        "density_kg_per_m2": 0.13, "cells_around": 16, "cells_along": 7, "steps": 12,
    })
}

/// Bending and friction stiffness are looked for.
pub fn twist_case() -> Value {
    let fixed = |p: usize| json!({"fixed": WRINKLED[p]});
    json!({
        "name": "twist",
        "data": ["data.csv"],
        "parameters": {
            "bending_stiffness": {"start": 3e-5},
            "friction_stiffness": {"start": 6e-6},
            "friction_threshold_initial": fixed(2),
            "friction_threshold_saturated": fixed(3),
            "dwell_time": fixed(4),
            "yield_strain": fixed(5),
            "hardening_stiffness": fixed(6),
            "hardening_drop": fixed(7),
            "flow_time": fixed(8),
        },
        "twist": twist_section(),
        "starts": 1,
    })
}
