//! The JSON schema of a case, made from the same tables that read it.

use crate::laboratory::Specimen;
use serde_json::{Map, Value, json};

use super::case::{HOLD_OUT, MOST_BRANCHES, MOST_STARTS, SOURCE, TESTS, TOP, TWIST, TransformName};
use crate::{
    material::{LawName, StrainMeasure, Timer},
    optimize::RobustLoss,
};

/// JSON Schema (draft 2020-12) of cases.
pub(crate) fn case_schema() -> Value {
    let properties = TOP.map(|key| (key.to_string(), top_property(key)));
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Rumple case",
        "type": "object",
        "additionalProperties": false,
        "required": ["name", "data"],
        "properties": Map::from_iter(properties),
    })
}

fn top_property(key: &str) -> Value {
    let texts = json!({ "anyOf": [{ "type": "string" }, { "type": "array", "items": { "type": "string" } }] });
    match key {
        "notes" => texts,
        "data" => {
            let fields = SOURCE.map(|key| (key.to_string(), json!({ "type": "string" })));
            json!({
                "type": "array",
                "minItems": 1,
                "description": "measurement files, relative to the case; fabric and direction choose rows, group names them",
                "items": { "anyOf": [
                    { "type": "string" },
                    {
                        "type": "object",
                        "additionalProperties": false,
                        "required": ["file"],
                        "properties": Map::from_iter(fields),
                    },
                ] },
            })
        }
        "law" => json!({ "enum": LawName::ALL.map(LawName::name) }),
        "relaxation_branches" => {
            json!({ "type": "integer", "minimum": 0, "maximum": MOST_BRANCHES })
        }
        "parameters" => parameters(),
        "tests" => {
            let fields = TESTS.map(|key| (key.to_string(), test_property(key)));
            json!({ "type": "object", "additionalProperties": false, "properties": Map::from_iter(fields) })
        }
        "loss" => json!({ "enum": RobustLoss::ALL.map(RobustLoss::name) }),
        "starts" => json!({ "type": "integer", "minimum": 1, "maximum": MOST_STARTS }),
        "seed" => json!({ "type": "integer", "minimum": 0 }),
        "hold_out" => {
            let numbers = json!({ "type": "array", "items": { "type": "number" } });
            let fields = HOLD_OUT.map(|key| {
                let field = if key == "groups" {
                    texts.clone()
                } else {
                    numbers.clone()
                };
                (key.to_string(), field)
            });
            json!({
                "type": "object",
                "description": "points that have any of these are predicted, not fitted",
                "additionalProperties": false,
                "properties": Map::from_iter(fields),
            })
        }
        "twist" => {
            let fields = TWIST.map(|key| (key.to_string(), twist_property(key)));
            json!({
                "type": "object",
                "description": "the sewn cylinder whose torque was measured",
                "additionalProperties": false,
                "required": &TWIST[..4],
                "properties": Map::from_iter(fields),
            })
        }
        _ => json!({ "type": "string" }),
    }
}

fn twist_property(key: &str) -> Value {
    let meaning = match key {
        "membrane_N_per_m" => {
            return json!({
                "type": "array",
                "items": { "type": "number" },
                "minItems": 4,
                "maxItems": 4,
                "description": "stiffness of the membrane: warp, weft, coupling, shear [N/m]",
            });
        }
        "radius_mm" => "of the cylinder [mm]",
        "height_mm" => "of the cylinder [mm]",
        "density_kg_per_m2" => "mass per area [kg/m²]",
        "cells_around" => "cells of the mesh around; 24 where absent",
        "cells_along" => "cells of the mesh along; 10 where absent",
        "turn_seconds" => "time to the largest turn, and back [s]; 0.3 where absent",
        _ => "time steps to the largest turn, and as many back; 20 where absent",
    };
    let whole = key.starts_with("cells") || key == "steps";
    let kind = if whole { "integer" } else { "number" };
    json!({ "type": kind, "exclusiveMinimum": 0, "description": meaning })
}

fn test_property(key: &str) -> Value {
    let meaning = match key {
        "specimen" => {
            return json!({
                "enum": Specimen::ALL.map(Specimen::name),
                "description": "what is folded in a recovery test: hinges on their own, or a strip mesh",
            });
        }
        "strip_cells" => "cells along the fold of a strip mesh",
        "hinges" => "hinges along a fold, a power of two; more are nearer to the hard law",
        "gap_mm" => "gap where a file gives none [mm]",
        "press_s" => "pressing time where a file gives none [s]",
        "read_s" => "reading time where a file gives none [s]; 0 for a strip mesh, else 300",
        "sd_deg" => "spread of an angle where a file gives none [degrees]",
        "bending_sd_share" => "spread of B and 2HB where a file gives none, as a share",
        "moment_sd_share" => {
            "spread of a loop's moments where a file gives none, as a share of the largest"
        }
        "max_curvature_per_m" => "largest curvature of the cycle that gives B and 2HB [1/m]",
        _ => "speed of a bending cycle [1/(m·s)]",
    };
    let kind = if matches!(key, "hinges" | "strip_cells") {
        "integer"
    } else {
        "number"
    };
    json!({ "type": kind, "minimum": 0, "description": meaning })
}

/// One property a parameter of any law.
fn parameters() -> Value {
    let mut properties = Map::new();
    for law in LawName::ALL {
        for parameter in law.law(Timer::Authors, MOST_BRANCHES as usize).parameters() {
            let number =
                json!({ "type": "number", "minimum": parameter.low, "maximum": parameter.high });
            let description = format!(
                "{} [{}]: {}",
                parameter.symbol,
                parameter.dimension.unit(StrainMeasure::Curvature),
                parameter.meaning
            );
            let role = |required: Value, fields: Value| {
                json!({
                    "type": "object",
                    "additionalProperties": false,
                    "required": required,
                    "properties": fields,
                })
            };
            let prior = role(
                json!(["mean", "sd"]),
                json!({ "mean": { "type": "number" }, "sd": { "type": "number", "exclusiveMinimum": 0 } }),
            );
            let free = json!({
                "start": number,
                "bounds": { "type": "array", "items": number, "minItems": 2, "maxItems": 2 },
                "transform": { "enum": TransformName::ALL.map(TransformName::name) },
                "prior": prior,
                "scope": { "enum": ["shared", "local"] },
            });
            let fixed = json!({ "fixed": number, "why": { "type": "string" } });
            let tied = json!({
                "tied_to": { "type": "string" },
                "ratio": { "type": "number", "exclusiveMinimum": 0 },
            });
            let roles = [
                role(json!(["fixed"]), fixed),
                role(json!(["tied_to"]), tied),
                role(json!([]), free),
            ];
            properties.insert(
                parameter.name,
                json!({ "description": description, "anyOf": roles }),
            );
        }
    }
    json!({ "type": "object", "additionalProperties": false, "properties": properties })
}
