//! The JSON schema of a material file, made from the same tables that read it.

use serde_json::{Map, Value, json};

use super::{
    LawName, Parameter, StrainMeasure,
    format::{KeyPlace, MAX_BRANCHES, MEMBRANE, PLACES, TOP},
    parameter,
};

impl super::Material {
    /// JSON Schema (draft 2020-12) of material files.
    pub fn schema() -> Value {
        let mut properties = Map::new();
        for key in TOP {
            properties.insert(key.into(), top_property(key));
        }
        json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "title": "Rumple material",
            "type": "object",
            "additionalProperties": false,
            "required": ["name", "strain", "law", "bending_stiffness_Nm"],
            "properties": properties,
            "allOf": LawName::ALL.map(required_by),
        })
    }
}

fn top_property(key: &str) -> Value {
    match key {
        "strain" => json!({
            "enum": ["curvature", "angle"],
            "description": "curvature: thresholds end in _per_m; angle: thresholds are radians of one mesh and end in _rad"
        }),
        "law" => json!({ "enum": LawName::NAMES }),
        "bending_stiffness_Nm" => number(&parameter::bending_stiffness(), StrainMeasure::Curvature),
        "friction" | "plasticity" => section(key),
        "relaxation" => json!({
            "type": "array",
            "maxItems": MAX_BRANCHES,
            "items": {
                "type": "object",
                "additionalProperties": false,
                "required": ["stiffness_Nm", "time_s"],
                "properties": {
                    "stiffness_Nm": number(&parameter::branch_stiffness(1), StrainMeasure::Curvature),
                    "time_s": number(&parameter::branch_time(1), StrainMeasure::Curvature),
                }
            }
        }),
        "membrane" => {
            let fields = MEMBRANE.map(|k| {
                (
                    k.to_string(),
                    json!({"type": "number", "minimum": 0, "maximum": 1e7}),
                )
            });
            json!({
                "type": "object",
                "additionalProperties": false,
                "required": MEMBRANE,
                "properties": Map::from_iter(fields),
            })
        }
        "density_kg_per_m2" => json!({"type": "number", "minimum": 1e-4, "maximum": 100}),
        "notes" | "sources" => json!({
            "anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]
        }),
        _ => json!({ "type": "string" }),
    }
}

fn section(name: &str) -> Value {
    let mut properties = Map::new();
    for place in PLACES.iter().filter(|p| p.section == name) {
        for strain in [StrainMeasure::Curvature, StrainMeasure::Angle] {
            properties.insert(place.full_key(strain), number(&(place.parameter)(), strain));
        }
    }
    json!({ "type": "object", "additionalProperties": false, "properties": properties })
}

fn number(parameter: &Parameter, strain: StrainMeasure) -> Value {
    json!({
        "type": "number",
        "minimum": parameter.low,
        "maximum": parameter.high,
        "description": format!(
            "{} ({}) [{}]: {}",
            parameter.name,
            parameter.symbol,
            parameter.dimension.unit(strain),
            parameter.meaning
        )
    })
}

/// What a law needs, as a conditional of the schema.
fn required_by(law: LawName) -> Value {
    let needed: Vec<String> = law
        .law(super::Timer::Authors, 0)
        .parameters()
        .into_iter()
        .map(|p| p.name)
        .collect();
    let sections = ["friction", "plasticity"].map(|section| {
        let places: Vec<_> = PLACES
            .iter()
            .filter(|p| p.section == section && needed.contains(&(p.parameter)().name))
            .collect();
        (section, places)
    });
    let present: Vec<&str> = sections
        .iter()
        .filter(|(_, p)| !p.is_empty())
        .map(|(name, _)| *name)
        .collect();
    let by_strain = [StrainMeasure::Curvature, StrainMeasure::Angle].map(|strain| {
        let fields = sections.iter().map(|(name, places)| {
            let keys: Vec<String> = places.iter().map(|p| p.full_key(strain)).collect();
            // Thresholds of the other measure do not belong here.
            let foreign = PLACES
                .iter()
                .filter(|p| p.section == *name)
                .flat_map(|p| [StrainMeasure::Curvature, StrainMeasure::Angle].map(|s| (p, s)))
                .filter(|(p, other)| p.full_key(*other) != p.full_key(strain))
                .map(|(p, other)| (p.full_key(other), json!(false)));
            let rule = json!({ "required": keys, "properties": Map::from_iter(foreign) });
            (name.to_string(), rule)
        });
        json!({ "properties": Map::from_iter(
            [("strain".to_string(), json!({ "const": strain.name() }))].into_iter().chain(fields)
        ) })
    });
    let of_population = match law {
        LawName::TimeDependent => json!({}),
        _ => {
            let no_spread = |section: &str| {
                let of_section = |p: &&KeyPlace| p.section == section;
                let spreads = PLACES
                    .iter()
                    .filter(of_section)
                    .filter(|p| (p.parameter)().role.is_spread());
                let zero = spreads.map(|p| (p.key.to_string(), json!({ "const": 0 })));
                json!({ "properties": Map::from_iter(zero) })
            };
            json!({
                "relaxation": false,
                "friction": no_spread("friction"),
                "plasticity": no_spread("plasticity"),
            })
        }
    };
    json!({
        "if": { "properties": { "law": { "const": law.name() } } },
        "then": { "required": present, "properties": of_population, "anyOf": by_strain }
    })
}
