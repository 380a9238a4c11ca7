//! What differs between two JSON values, for people.

use serde_json::Value;

/// Differences that are shown; the first ones tell enough.
const SHOWN: usize = 3;
/// Characters of a value that are shown.
const LONGEST: usize = 40;

/// "seed: 1 against 2; case.law: …", or none where both are the same.
pub(crate) fn difference(a: &Value, b: &Value) -> Option<String> {
    let mut found = Vec::new();
    collect("", Some(a), Some(b), &mut found);
    let more = found.len().saturating_sub(SHOWN);
    found.truncate(SHOWN);
    let rest = match more {
        0 => String::new(),
        more => format!("; and {more} more"),
    };
    (!found.is_empty()).then(|| found.join("; ") + &rest)
}

fn collect(path: &str, a: Option<&Value>, b: Option<&Value>, found: &mut Vec<String>) {
    let inner = |key: &str| {
        if path.is_empty() {
            key.to_string()
        } else {
            format!("{path}.{key}")
        }
    };
    match (a, b) {
        (a, b) if a == b => {}
        (Some(Value::Object(a)), Some(Value::Object(b))) => {
            for key in a.keys().chain(b.keys().filter(|key| !a.contains_key(*key))) {
                collect(&inner(key), a.get(key), b.get(key), found);
            }
        }
        (Some(Value::Array(a)), Some(Value::Array(b))) if a.len() == b.len() => {
            for (i, (a, b)) in a.iter().zip(b).enumerate() {
                collect(&inner(&(i + 1).to_string()), Some(a), Some(b), found);
            }
        }
        (a, b) => found.push(format!("{path}: {} against {}", short(a), short(b))),
    }
}

fn short(value: Option<&Value>) -> String {
    let text = value.map_or("nothing".into(), Value::to_string);
    if text.chars().count() <= LONGEST {
        return text;
    }
    text.chars().take(LONGEST).collect::<String>() + "…"
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn differences_are_named_by_their_place() {
        let a = json!({"seed": 1, "case": {"law": "elastic", "data": [1, 2]}});
        let b = json!({"case": {"law": "elastic", "data": [1, 3]}, "seed": 1, "samples": 8});
        assert_eq!(
            difference(&a, &b).unwrap(),
            "case.data.2: 2 against 3; samples: nothing against 8"
        );
        assert_eq!(difference(&a, &a), None);
    }
}
