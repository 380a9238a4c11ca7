//! The JSON schema of a scene, made from the same tables that read it.

mod cloth;

use serde_json::{Map, Value, json};

use self::cloth::{fabric, mesh};
use super::{
    Scene, SolverMethod, TOLERANCE, TOP,
    clock::{MOST_SCALE, MOST_SECONDS, STEP},
    handle::{HANDLE, STIFFNESS_RANGE},
    motion::MOTION,
    obstacle,
    output::{FrameFormat, OUTPUT, PIXELS, VIEW},
    reading::KINDS,
};

impl Scene {
    /// JSON Schema (draft 2020-12) of scenes.
    pub fn schema() -> Value {
        let mut schema = object(&TOP, top_property);
        schema["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
        schema["title"] = json!("Rumple scene");
        schema["required"] = json!(["name", "mesh", "fabric", "time_step_s", "duration_s"]);
        schema
    }
}

fn object(keys: &[&str], property: impl Fn(&str) -> Value) -> Value {
    let fields = keys.iter().map(|key| (key.to_string(), property(key)));
    json!({ "type": "object", "additionalProperties": false, "properties": Map::from_iter(fields) })
}

fn number((low, high): (f64, f64), meaning: &str) -> Value {
    json!({ "type": "number", "minimum": low, "maximum": high, "description": meaning })
}

fn seconds(meaning: &str) -> Value {
    number((0.0, 1e12), meaning)
}

fn vector(meaning: &str) -> Value {
    let items = json!({ "type": "number" });
    json!({ "type": "array", "items": items, "minItems": 3, "maxItems": 3, "description": meaning })
}

fn direction(meaning: &str) -> Value {
    json!({
        "anyOf": [vector("any length but zero"), { "enum": ["x", "y", "z", "-x", "-y", "-z"] }],
        "description": meaning,
    })
}

fn list(items: Value, meaning: &str) -> Value {
    json!({ "type": "array", "items": items, "description": meaning })
}

fn flag(meaning: &str) -> Value {
    json!({ "type": "boolean", "description": meaning })
}

fn choice(words: &[&str], meaning: &str) -> Value {
    json!({ "enum": words, "description": meaning })
}

fn texts(meaning: &str) -> Value {
    let text = json!({ "type": "string" });
    json!({ "anyOf": [text, { "type": "array", "items": text }], "description": meaning })
}

fn top_property(key: &str) -> Value {
    match key {
        "notes" => texts("whatever its author wants to say"),
        "mesh" => mesh(),
        "fabric" => fabric(),
        "gravity_m_per_s2" => vector("default [0, 0, -9.81]"),
        "damping" => object(&["stiffness_s", "mass_per_s"], |key| match key {
            "mass_per_s" => number((0.0, 1e6), "drag proportional to mass, default 0"),
            _ => number((0.0, 1e3), "damping proportional to stiffness, default 0"),
        }),
        "time_step_s" => number(STEP, "h"),
        "duration_s" => seconds("length of the run"),
        "clock" => list(
            clock(),
            "how fast the material ages: windows with a time scale, and moments at which its clocks jump",
        ),
        "gate" => {
            json!({ "type": "string", "description": "branches of the law: hard (default), smoothstep[:width], straight-through[:width], sigmoid[:gain]" })
        }
        "handles" => list(handle(), "vertices that are held"),
        "obstacles" => {
            json!({ "type": "array", "items": { "anyOf": obstacle::SHAPES.map(thing) } })
        }
        "readings" => list(
            reading(),
            "what is read off the cloth in each row of readings.csv",
        ),
        "output" => object(&OUTPUT, output),
        "solver" => object(&["method", "tolerance"], |key| match key {
            "method" => choice(&SolverMethod::NAMES, "default auto"),
            _ => number(
                TOLERANCE,
                "relative residual of a solve, default 1e-10 in f64, 1e-5 in f32",
            ),
        }),
        _ => json!({ "type": "string" }),
    }
}

fn clock() -> Value {
    let window = ["from_s", "to_s", "time_scale"];
    let jump = ["at_s", "elapse_s"];
    let mut kinds = [
        object(&window, |key| match key {
            "time_scale" => number((0.0, MOST_SCALE), "seconds of the material in a second"),
            _ => seconds("of the run"),
        }),
        object(&jump, |key| match key {
            "elapse_s" => number(
                (0.0, MOST_SECONDS),
                "by which the clocks of the hinges jump",
            ),
            _ => seconds("after the step that ends here"),
        }),
    ];
    kinds[0]["required"] = json!(window);
    kinds[1]["required"] = json!(jump);
    json!({ "anyOf": kinds })
}

fn handle() -> Value {
    let mut handle = object(&HANDLE, |key| match key {
        "vertices" => selection(),
        "kind" => choice(&["penalty", "pin"], "by springs (default) or exactly"),
        "stiffness_N_per_m" => number(
            STIFFNESS_RANGE,
            "of a penalty handle at each vertex, default 1e5",
        ),
        "motions" => list(motion(), "applied to the initial positions in this order"),
        "hold_from_s" => seconds("default 0"),
        "release_at_s" => seconds("default never"),
        _ => json!({ "type": "string" }),
    });
    handle["required"] = json!(["vertices"]);
    handle
}

fn selection() -> Value {
    json!({
        "description": "in the initial shape",
        "anyOf": [
            choice(&["all", "boundary", "corners"], "corners: where the boundary of the material turns by more than 45°"),
            { "type": "array", "items": { "type": "integer", "minimum": 0 } },
            object(&["box_m"], |_| json!({ "type": "array", "items": vector("a corner"), "minItems": 2, "maxItems": 2 })),
            object(&["end", "within_m"], |key| match key {
                "end" => direction("the farthest row of vertices along it"),
                _ => number((0.0, 1e3), "how far behind the farthest a vertex may be, default a quarter of a mean edge"),
            }),
        ]
    })
}

fn reading() -> Value {
    let plain: Vec<&str> = KINDS
        .iter()
        .filter(|k| k.2.is_empty())
        .map(|k| k.0)
        .collect();
    let kinds = KINDS.map(|(name, unit, keys)| {
        let mut kind = object(&[&["kind", "name"], keys].concat(), |key| match key {
            "kind" => json!({ "const": name }),
            "name" => json!({ "type": "string", "description": format!("head of the column, default {name}{unit}") }),
            "roots" | "tips" => json!({ "type": "array", "items": selection(), "minItems": 2, "maxItems": 2, "description": "vertices near the crease and at the ends, one selection a leg" }),
            "axis" => direction("along which it is read"),
            "about_m" => vector("a point of the axis, default the origin"),
            "along" => choice(&["warp", "weft"], "default warp"),
            "waves" => json!({ "type": "integer", "minimum": 1 }),
            "support_area_m2" => number((0.0, 1e3), "of the table that the cloth drapes over"),
            "file" => json!({ "type": "string", "description": "OBJ of the same mesh in another shape" }),
            _ => json!({ "type": "string", "description": "name of a penalty handle" }),
        });
        let needed: Vec<&str> = keys.iter().copied().filter(|k| !["about_m", "along"].contains(k)).collect();
        kind["required"] = json!([&["kind"][..], &needed].concat());
        kind
    });
    let kinds: Vec<Value> = [choice(&plain, "in short")]
        .into_iter()
        .chain(kinds)
        .collect();
    json!({ "anyOf": kinds })
}

fn motion() -> Value {
    let mut motion = object(&MOTION, |key| match key {
        "from_s" | "to_s" => seconds("begins and is complete"),
        "back_from_s" | "back_to_s" => seconds("goes back"),
        "pace" => choice(&["even", "smooth"], "default even"),
        "translate_m" => vector("shift"),
        "press_m" => vector("shift and back again"),
        "rotate" => object(&["axis", "about_m", "angle_deg"], turning),
        _ => object(&["axis", "angle_deg"], turning),
    });
    motion["required"] = json!(["from_s", "to_s"]);
    motion
}

fn turning(key: &str) -> Value {
    match key {
        "axis" => direction("right-handed"),
        "about_m" => vector(
            "a point of the axis, default the origin; a twist turns about the handle's own middle",
        ),
        _ => json!({ "type": "number" }),
    }
}

fn thing(shape: &str) -> Value {
    let own = obstacle::own_keys(shape);
    let mut thing = object(&[&obstacle::COMMON[..], own].concat(), |key| match key {
        "shape" => json!({ "const": shape }),
        "center_m" => vector("default the origin; a point of a plane"),
        "thickness_m" => number(
            (1e-7, 1.0),
            "distance at which the cloth feels it, default 1e-3",
        ),
        "stiffness_N_per_m" => number((1e-6, 1e9), "force per depth and vertex, default 1e3"),
        "friction" => number((0.0, 10.0), "Coulomb's coefficient, default 0.3"),
        "motions" => list(motion(), "translate_m and press_m only"),
        "present_from_s" | "present_to_s" => seconds("there only between these"),
        "normal" => direction("towards the free side"),
        "axis" => direction("of the cylinder, which has no ends"),
        "half_axis_m" => vector("from the centre to an end of the capsule's segment"),
        "half_m" => vector("half of the sides of the block, which stands along the axes"),
        "radius_m" => number(obstacle::SIZE, "size"),
        _ => json!({ "type": "string" }),
    });
    thing["required"] = json!([&["shape"][..], own].concat());
    thing
}

fn output(key: &str) -> Value {
    match key {
        "frames" => choice(&FrameFormat::NAMES, "format of frames, default obj"),
        "frames_every_s" => seconds("default a sixtieth of the run"),
        "film" => flag("film.glb, default true"),
        "rows_every_s" => seconds("of the tables, default every step"),
        "pictures_at_s" => list(seconds("a moment"), "rendered pictures, default at the end"),
        _ => object(&VIEW, |key| match key {
            "toward_viewer" => vector("from the cloth to the viewer"),
            "up" => direction("default against gravity"),
            "fit" => choice(&["cloth", "everything"], "default cloth"),
            "obstacles" => flag("whether they are drawn, default true"),
            "color" => choice(
                &["none", "angle"],
                "the bending angle as colours, default none",
            ),
            _ => number(PIXELS, "size of the picture"),
        }),
    }
}
