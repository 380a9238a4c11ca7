//! The section "twist" of a case, the cylinder and the machine, and what a person can choose of a made-up table.

use std::f64::consts::PI;

use serde_json::{Value, json};

use super::TwistTest;
use crate::{
    error::{Result, bad_input},
    files::json::JsonObject,
    laboratory::{CaseSection, ChosenSetting, MAX_SECONDS, Setting},
};

/// Stiffness of the membrane, a list of four numbers.
const MEMBRANE: &str = "membrane_N_per_m";
/// All keys in the order of files: the first four are needed.
const KEYS: [&str; 8] = [
    NEEDED[0].key,
    NEEDED[1].key,
    MEMBRANE,
    NEEDED[2].key,
    USUAL[0].key,
    USUAL[1].key,
    USUAL[2].key,
    USUAL[3].key,
];

/// The settings that are needed besides the membrane.
const NEEDED: [Setting<TwistTest>; 3] = [
    Setting::number(
        "radius_mm",
        (1.0, 1e3),
        "of the cylinder [mm]",
        |t| Some(mm(t.radius)),
        |t, v| t.radius = 1e-3 * v,
    ),
    Setting::number(
        "height_mm",
        (1.0, 1e3),
        "of the cylinder [mm]",
        |t| Some(mm(t.height)),
        |t, v| t.height = 1e-3 * v,
    ),
    Setting::number(
        "density_kg_per_m2",
        (1e-3, 10.0),
        "mass per area [kg/m²]",
        |t| Some(t.density),
        |t, v| t.density = v,
    ),
];

/// The settings that have a usual value.
const USUAL: [Setting<TwistTest>; 4] = [
    Setting::whole(
        "cells_around",
        (6.0, 400.0),
        "cells of the mesh around; 24 where absent",
        |t| Some(t.around as f64),
        |t, v| t.around = v as usize,
    ),
    Setting::whole(
        "cells_along",
        (2.0, 400.0),
        "cells of the mesh along; 10 where absent",
        |t| Some(t.along as f64),
        |t, v| t.along = v as usize,
    ),
    Setting::number(
        "turn_seconds",
        (1e-3, 1e5),
        "time to the largest turn, and back [s]; 0.3 where absent",
        |t| Some(t.turn_seconds),
        |t, v| t.turn_seconds = v,
    ),
    Setting::whole(
        "steps",
        (2.0, 1000.0),
        "time steps to the largest turn, and as many back; 20 where absent",
        |t| Some(t.steps as f64),
        |t, v| t.steps = v as usize,
    ),
];

/// For made-up tables.
pub(super) static CHOSEN: [ChosenSetting; 2] = [
    ChosenSetting {
        name: "turn",
        key: "turn_deg",
        option: "turn-deg",
        letters: "DEG,…",
        range: (0.01, 360.0),
        unit: PI / 180.0,
        made_up: "Turns of a twist: read on the way out, and on the way back at all but the largest, and at 0 \
                  [default: 9,18,27,36,45]",
        planned: None,
    },
    ChosenSetting {
        name: "hold",
        key: "hold_s",
        option: "hold-s",
        letters: "S,…",
        range: (0.0, MAX_SECONDS),
        unit: 1.0,
        made_up: "Times for which a twist is held at the largest turn [default: 0]",
        planned: None,
    },
];

/// The section as a test declares it.
pub(super) fn declared() -> CaseSection {
    CaseSection {
        name: "twist",
        schema: TwistTest::schema(),
    }
}

/// Millimetres are to be the same again when they are read.
fn mm(metres: f64) -> f64 {
    (1e12 * metres).round() / 1e9
}

/// Something of every setting, in the order of [`KEYS`].
fn section(membrane: Value, of: impl Fn(&Setting<TwistTest>) -> Option<Value>) -> Value {
    let named = |setting: &Setting<TwistTest>| Some((setting.key, of(setting)?));
    let mut fields: Vec<(&str, Value)> = NEEDED.iter().chain(&USUAL).filter_map(named).collect();
    fields.insert(2, (MEMBRANE, membrane));
    Value::Object(
        fields
            .into_iter()
            .map(|(k, v)| (k.to_string(), v))
            .collect(),
    )
}

impl TwistTest {
    /// Reads the section of a case, where it has one.
    pub(in crate::laboratory) fn read(place: &str, case: &Value) -> Result<Option<TwistTest>> {
        let Some(value) = case.get("twist") else {
            return Ok(None);
        };
        let section = JsonObject::new(place, "twist", value)?;
        section.known(&KEYS)?;
        let membrane = section.numbers(MEMBRANE)?;
        let &[warp, weft, coupling, shear] = membrane.as_slice() else {
            return bad_input(format!(
                "{place}: twist.{MEMBRANE} has {} numbers; give four: warp, weft, coupling, shear",
                membrane.len()
            ));
        };
        if warp <= 0.0 || weft <= 0.0 || shear <= 0.0 || coupling < 0.0 {
            return bad_input(format!(
                "{place}: twist.{MEMBRANE} = {membrane:?} must be positive (the coupling may be 0)"
            ));
        }
        let mut test = TwistTest {
            radius: 0.0,
            height: 0.0,
            around: 24,
            along: 10,
            turn_seconds: 0.3,
            steps: 20,
            membrane: [warp, weft, coupling, shear],
            density: 0.0,
        };
        if let Some(missing) = NEEDED.iter().find(|s| !section.has(s.key)) {
            return bad_input(format!(
                "{place}: twist.{} is missing; the torque depends on it",
                missing.key
            ));
        }
        for setting in NEEDED.iter().chain(&USUAL) {
            setting.read(place, &section, &mut test)?;
        }
        Ok(Some(test))
    }

    /// The section's contents.
    pub(in crate::laboratory) fn to_json(self) -> Value {
        section(json!(self.membrane), |number| number.written(&self))
    }

    /// JSON schema of the section.
    fn schema() -> Value {
        let membrane = json!({
            "type": "array",
            "items": { "type": "number" },
            "minItems": 4,
            "maxItems": 4,
            "description": "stiffness of the membrane: warp, weft, coupling, shear [N/m]",
        });
        let properties = section(membrane, |number| Some(number.schema("exclusiveMinimum")));
        json!({
            "type": "object",
            "description": "the sewn cylinder whose torque was measured",
            "additionalProperties": false,
            "required": &KEYS[..4],
            "properties": properties,
        })
    }
}
