//! The parts of the schema about mesh and fabric.

use serde_json::{Value, json};

use super::{choice, direction, flag, number, object, vector};
use crate::{
    material::{LawName, Material},
    scene::{
        Form,
        fabric::{FABRIC, RATIO, TIMERS},
        source::{PATTERNS, SHAPES},
        tensile::ENTRIES,
    },
};

pub(super) fn mesh() -> Value {
    let common = ["shape", "rest", "rotate", "translate_m"];
    let kinds = SHAPES.map(|shape| {
        let known = Form::named(shape);
        let own: Vec<&str> = match known {
            Some(shape) => [&shape.keys()[..], &["vertices", "pattern", "seed"]].concat(),
            None => vec!["file", "texture_scale", "repair"],
        };
        let mut kind = object(&[&common[..], &own].concat(), |key| match key {
            "shape" => json!({ "const": shape }),
            other => mesh_property(other),
        });
        kind["required"] = match shape {
            "obj" => json!(["shape", "file"]),
            _ => json!(["shape", own[0], own[1]]),
        };
        kind
    });
    json!({ "anyOf": kinds })
}

fn mesh_property(key: &str) -> Value {
    match key {
        "rest" => choice(
            &["flat", "shape"],
            "what is free of bending moment: the flat material (default), or the given shape (a sewn cylinder)",
        ),
        "rotate" => object(&["axis", "angle_deg"], |key| match key {
            "axis" => direction("through the origin"),
            _ => number((-360.0, 360.0), "right-handed"),
        }),
        "translate_m" => vector("after turning"),
        "vertices" => {
            json!({ "type": "integer", "minimum": 4, "description": "about that many, in place of the two counts of cells" })
        }
        "pattern" => choice(
            &PATTERNS,
            "diagonals in turn (default), all alike, or vertices moved off the grid",
        ),
        "seed" => json!({ "type": "integer", "minimum": 0, "description": "of an irregular mesh" }),
        "file" => json!({ "type": "string", "description": "OBJ file, relative to the scene" }),
        "texture_scale" => number(
            (1e-9, 1e9),
            "metres per unit of the texture coordinates, which are the material, default 1",
        ),
        "repair" => flag("mend what can be mended, default false"),
        "nx" | "ny" | "around" | "along" => {
            json!({ "type": "integer", "minimum": 1, "description": "cells" })
        }
        _ => number((1e-6, 1e3), "size [m]"),
    }
}

pub(super) fn fabric() -> Value {
    let mut material = Material::schema();
    material.as_object_mut().map(|m| m.remove("$schema"));
    let membrane = material["properties"]["membrane"].clone();
    let density = material["properties"]["density_kg_per_m2"].clone();
    let mut fabric = object(&FABRIC, |key| match key {
        "material" => json!({
            "anyOf": [{ "type": "string" }, material],
            "description": "a preset, a material file relative to the scene (material.json of a fit), or an object",
        }),
        "law" => choice(
            &LawName::NAMES,
            "in place of the material's own, for baselines",
        ),
        "timer" => choice(
            &TIMERS,
            "when the flow timer runs: always (default), or as printed",
        ),
        "membrane" => {
            json!({ "anyOf": [membrane, { "type": "string" }], "description": "in place of the material's own; or a preset whose membrane is taken" })
        }
        "density_kg_per_m2" => density.clone(),
        "weft_ratio" => number(
            RATIO,
            "bending stiffness along the weft over that along the warp, default 1",
        ),
        "friction" => {
            flag("false switches internal friction off, of bending and stretching, default true")
        }
        "plasticity" => {
            flag("false switches plasticity off, of bending and stretching, default true")
        }
        _ => tensile(),
    });
    fabric["required"] = json!(["material"]);
    fabric
}

fn tensile() -> Value {
    object(&["friction", "plasticity"], |section| {
        let entries: Vec<_> = ENTRIES.iter().filter(|e| e.section == section).collect();
        let keys: Vec<&str> = entries.iter().map(|e| e.key).collect();
        let mut fields = object(&keys, |key| {
            let one = entries.iter().find(|e| e.key == key);
            let one = one.map_or(json!({}), |e| number(e.range, e.meaning));
            json!({ "anyOf": [one, { "type": "array", "items": one, "minItems": 3, "maxItems": 3, "description": "warp, weft, shear" }] })
        });
        fields["required"] = json!(keys);
        fields
    })
}
