//! The shipped scenes, and what a JSON schema refuses.

use std::path::{Path, PathBuf};

use serde_json::Value;

/// The files in `examples/scenes`, sorted.
pub fn examples() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/scenes");
    let mut list: Vec<PathBuf> = std::fs::read_dir(folder)
        .unwrap()
        .map(|e| e.unwrap().path())
        .collect();
    list.sort();
    list
}

/// Why a value is none of a schema: the part of JSON Schema that scenes use, conditions aside.
pub fn refusal(schema: &Value, value: &Value, at: &str) -> Option<String> {
    if let Some(kinds) = schema["anyOf"].as_array() {
        let reasons: Vec<String> = kinds.iter().filter_map(|k| refusal(k, value, at)).collect();
        return (reasons.len() == kinds.len())
            .then(|| format!("{at}: none of: {}", reasons.join("; ")));
    }
    let wrong = |why: String| Some(format!("{at} = {value}: {why}"));
    if let Some(words) = schema["enum"].as_array() {
        return if words.contains(value) {
            None
        } else {
            wrong(format!("not in {words:?}"))
        };
    }
    if schema.get("const").is_some_and(|word| word != value) {
        return wrong(format!("not {}", schema["const"]));
    }
    let fits = match schema["type"].as_str() {
        Some("object") => value.is_object(),
        Some("array") => value.is_array(),
        Some("string") => value.is_string(),
        Some("boolean") => value.is_boolean(),
        Some("integer") => value.is_u64(),
        Some("number") => value.is_number(),
        _ => true,
    };
    if !fits {
        return wrong(format!("no {}", schema["type"]));
    }
    if let (Some(number), Some(low)) = (value.as_f64(), schema["minimum"].as_f64())
        && number < low
    {
        return wrong(format!("below {low}"));
    }
    let items = value.as_array().into_iter().flatten().enumerate();
    let items = items.filter_map(|(i, v)| refusal(&schema["items"], v, &format!("{at}[{i}]")));
    let missing = schema["required"].as_array().into_iter().flatten();
    let missing = missing.filter(|key| value.get(key.as_str().unwrap_or("")).is_none());
    let missing = missing.map(|key| format!("{at}: {key} is missing"));
    let fields = value
        .as_object()
        .into_iter()
        .flatten()
        .filter_map(|(key, v)| {
            let place = format!("{at}.{key}");
            match schema["properties"].get(key) {
                Some(known) => refusal(known, v, &place),
                None => {
                    (schema["additionalProperties"] == false).then(|| format!("{place} is unknown"))
                }
            }
        });
    items.chain(missing).chain(fields).next()
}
