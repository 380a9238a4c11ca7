//! Friction and plasticity of stretching, each component by itself (paper 1, section 3.4).

use serde_json::{Map, Value, json};

use super::{fabric::UNREACHABLE, node::Node};
use crate::{
    error::{Result, readable},
    numeric::{Compute, Field},
};

/// What a parameter of the tensile law is called, and its range.
pub(super) struct TensileParameter {
    pub section: &'static str,
    pub key: &'static str,
    pub range: (f64, f64),
    /// Where its section is not given.
    absent: f64,
    pub meaning: &'static str,
}

/// The parameters of the tensile law without its first, in its order.
pub(super) const ENTRIES: [TensileParameter; 8] = [
    entry(
        "friction",
        "stiffness_N_per_m",
        (0.0, 1e7),
        0.0,
        "stiffness that friction adds while yarns stick [N/m]",
    ),
    entry(
        "friction",
        "threshold_initial",
        (0.0, 1e3),
        0.0,
        "strain at which yarns slip right after the last slip",
    ),
    entry(
        "friction",
        "threshold_saturated",
        (0.0, 1e3),
        0.0,
        "strain at which yarns slip after a very long rest",
    ),
    entry(
        "friction",
        "dwell_time_s",
        (1e-9, 1e11),
        1.0,
        "time over which resting yarns lock [s]",
    ),
    entry(
        "plasticity",
        "yield",
        (0.0, UNREACHABLE),
        UNREACHABLE,
        "strain at which fibres start to deform for good",
    ),
    entry(
        "plasticity",
        "hardening_N_per_m",
        (0.0, 1e7),
        0.0,
        "hardening of a fresh flow [N/m]",
    ),
    entry(
        "plasticity",
        "hardening_drop",
        (0.0, 1.0),
        0.0,
        "share of the hardening that a long flow loses",
    ),
    entry(
        "plasticity",
        "flow_time_s",
        (1e-9, 1e11),
        1.0,
        "time over which hardening drops [s]",
    ),
];

const fn entry(
    section: &'static str,
    key: &'static str,
    range: (f64, f64),
    absent: f64,
    meaning: &'static str,
) -> TensileParameter {
    TensileParameter {
        section,
        key,
        range,
        absent,
        meaning,
    }
}

const FRICTION_STIFFNESS: usize = 0;
const INITIAL: usize = 1;
const SATURATED: usize = 2;
const YIELD: usize = 4;

/// One value for warp (uu), weft (vv) and shear (uv) of each parameter, in the order of `ENTRIES`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Tensile {
    values: [[f64; 3]; 8],
}

impl Tensile {
    pub(super) fn read(node: &Node) -> Result<Tensile> {
        node.known(&["friction", "plasticity"])?;
        let mut values = [[0.0; 3]; 8];
        for (slot, entry) in values.iter_mut().zip(&ENTRIES) {
            *slot = match node.child(entry.section) {
                None => [entry.absent; 3],
                Some(section) => component(&section, entry)?,
            };
        }
        for (low, high) in values[INITIAL].iter().zip(values[SATURATED]) {
            if *low > high {
                return node.refuse(format!(
                    ".friction.threshold_saturated = {} is below threshold_initial = {}; resting yarns only lock, so make it at least as large",
                    readable(high),
                    readable(*low)
                ));
            }
        }
        Ok(Tensile { values })
    }

    /// With friction or plasticity switched off.
    pub(super) fn with(mut self, friction: bool, plasticity: bool) -> Tensile {
        if !friction {
            self.values[FRICTION_STIFFNESS] = [0.0; 3];
        }
        if !plasticity {
            self.values[YIELD] = [UNREACHABLE; 3];
        }
        self
    }

    /// The fields, `[3, 1]` each.
    pub(crate) fn fields(&self, compute: &Compute) -> Vec<Field> {
        self.values
            .iter()
            .map(|rows| compute.tensor(rows, [3, 1]))
            .collect()
    }

    pub(super) fn to_json(&self) -> Value {
        let mut top = Map::new();
        for (entry, values) in ENTRIES.iter().zip(self.values) {
            if let Value::Object(section) = top.entry(entry.section).or_insert_with(|| json!({})) {
                section.insert(entry.key.into(), json!(values));
            }
        }
        Value::Object(top)
    }
}

/// One number for all components, or three: warp, weft, shear.
fn component(section: &Node, entry: &TensileParameter) -> Result<[f64; 3]> {
    let keys: Vec<&str> = ENTRIES
        .iter()
        .filter(|e| e.section == entry.section)
        .map(|e| e.key)
        .collect();
    section.known(&keys)?;
    let Some(child) = section.child(entry.key) else {
        return section.refuse_key(
            entry.key,
            format!(
                "is missing; it is the {}: one number, or [warp, weft, shear]",
                entry.meaning
            ),
        );
    };
    let values = match child.value().as_f64() {
        Some(value) => [value; 3],
        None => {
            let numbers = child
                .value()
                .as_array()
                .map(|list| list.iter().map(Value::as_f64));
            let numbers: Option<Vec<f64>> = numbers.and_then(Iterator::collect);
            match numbers.as_deref() {
                Some(&[warp, weft, shear]) => [warp, weft, shear],
                _ => return child.refuse("must be one number, or three: [warp, weft, shear]"),
            }
        }
    };
    let (low, high) = entry.range;
    match values.iter().find(|v| !(low..=high).contains(*v)) {
        None => Ok(values),
        Some(v) => child.refuse(format!(
            "= {} is outside [{}, {}]; it is the {}",
            readable(*v),
            readable(low),
            readable(high),
            entry.meaning
        )),
    }
}
