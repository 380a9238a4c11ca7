//! Names of tasks that mean the same on every machine.

use std::collections::HashSet;

use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use super::Tasks;
use crate::error::{Result, bad_input};

/// One task of a [`Tasks`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Task {
    /// 32 hexadecimal digits: a hash of study, identity and name.
    pub id: String,
    /// For people, such as `rows 512..768`.
    pub name: String,
    /// Seed of its random numbers, from the id.
    pub seed: u64,
}

/// The tasks of a work, in order.
pub(super) fn tasks(work: &dyn Tasks) -> Result<Vec<Task>> {
    let whole = hash(&[work.study(), &canonical(&work.identity()).to_string()]);
    let names = work.names();
    let mut seen = HashSet::new();
    if let Some(twice) = names.iter().find(|name| !seen.insert(name.as_str())) {
        return bad_input(format!(
            "{}: two tasks are called '{twice}'; give each its own name",
            work.study()
        ));
    }
    let task = |name: String| {
        let id = hash(&[&whole, &name])[..32].to_string();
        // 16 hexadecimal digits are a u64.
        let seed = u64::from_str_radix(&id[..16], 16).unwrap_or_default();
        Task { id, name, seed }
    };
    Ok(names.into_iter().map(task).collect())
}

/// SHA-256 of some texts, in hexadecimal; each with its length first, so that none can flow into the next.
pub(super) fn hash(texts: &[&str]) -> String {
    let mut hasher = Sha256::new();
    for text in texts {
        hasher.update((text.len() as u64).to_le_bytes());
        hasher.update(text.as_bytes());
    }
    let bytes = hasher.finalize();
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The same value with the keys of all objects sorted: their order means nothing.
fn canonical(value: &Value) -> Value {
    match value {
        Value::Object(map) => {
            let mut pairs: Vec<(&String, &Value)> = map.iter().collect();
            pairs.sort_by_key(|(key, _)| key.as_str());
            let pairs = pairs.into_iter().map(|(k, v)| (k.clone(), canonical(v)));
            Value::Object(pairs.collect::<Map<String, Value>>())
        }
        Value::Array(list) => Value::Array(list.iter().map(canonical).collect()),
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    struct Named(Value, &'static [&'static str]);

    impl Tasks for Named {
        fn study(&self) -> &'static str {
            "test"
        }

        fn identity(&self) -> Value {
            self.0.clone()
        }

        fn names(&self) -> Vec<String> {
            self.1.iter().map(|name| name.to_string()).collect()
        }
    }

    // The vector was computed with Python's hashlib: an id must never change under old journals.
    #[test]
    fn ids_are_those_of_every_machine() {
        let value = json!({"b": [1, 0.1], "a": "x"});
        let turned = json!({"a": "x", "b": [1, 0.1]});
        let ids = tasks(&Named(value, &["rows 0..2", "rows 2..4"])).unwrap();
        assert_eq!(
            ids,
            tasks(&Named(turned, &["rows 0..2", "rows 2..4"])).unwrap()
        );
        assert_eq!(ids[0].id, "7ba2b48455fe04de09a95f00a6270375");
        assert_eq!(ids[0].seed, 0x7ba2b48455fe04de);
        assert!(ids[0].id != ids[1].id && ids[0].seed != ids[1].seed);
        let other = tasks(&Named(json!({"a": "y"}), &["rows 0..2"])).unwrap();
        assert!(other[0].id != ids[0].id);
    }

    #[test]
    fn two_tasks_of_one_name_are_refused() {
        let twice = tasks(&Named(json!({}), &["a", "b", "a"])).unwrap_err();
        assert!(twice.to_string().contains("'a'"), "{twice}");
    }
}
