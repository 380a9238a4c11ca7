//! The JSON schema of a case, made from the same tables that read it.

use serde_json::{Map, Value, json};

use super::{
    case::{HOLD_OUT, MOST_BRANCHES, MOST_STARTS, SOURCE, TOP, TransformName},
    folder::FitJob,
};
use crate::{
    laboratory::TestSettings,
    material::{LawName, StrainMeasure, Timer},
    optimize::RobustLoss,
};

impl FitJob {
    /// JSON Schema (draft 2020-12) of cases.
    pub fn schema() -> Value {
        let own = TOP.map(|key| (key.to_string(), top_property(key)));
        let of_tests = TestSettings::sections().map(|s| (s.name.to_string(), s.schema));
        let properties = own.into_iter().chain(of_tests);
        json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "title": "Rumple case",
            "type": "object",
            "additionalProperties": false,
            "required": ["name", "data"],
            "properties": Map::from_iter(properties),
        })
    }
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
        "law" => json!({ "enum": LawName::NAMES }),
        "relaxation_branches" => {
            json!({ "type": "integer", "minimum": 0, "maximum": MOST_BRANCHES })
        }
        "parameters" => parameters(),
        "tests" => TestSettings::schema(),
        "loss" => json!({ "enum": RobustLoss::NAMES }),
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
        _ => json!({ "type": "string" }),
    }
}

/// One property a parameter of any law.
fn parameters() -> Value {
    let mut properties = Map::new();
    for law in LawName::ALL {
        for parameter in law
            .law_of(Timer::Authors, MOST_BRANCHES as usize, true)
            .parameters()
        {
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
                "transform": { "enum": TransformName::NAMES },
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
