//! Reading JSON objects by hand, so that every message names the file, the field and its value.

use serde_json::{Map, Value};

use crate::error::{Error, Result, bad_input, unknown};

/// One JSON object of a file, with its name for messages.
pub(super) struct Section<'a> {
    place: &'a str,
    name: &'a str,
    fields: &'a Map<String, Value>,
}

impl<'a> Section<'a> {
    pub fn new(place: &'a str, name: &'a str, value: &'a Value) -> Result<Self> {
        match value.as_object() {
            Some(fields) => Ok(Section {
                place,
                name,
                fields,
            }),
            None => bad_input(format!(
                "{place}: {} must be a JSON object {{…}}, not {}",
                if name.is_empty() { "the file" } else { name },
                kind_of(value)
            )),
        }
    }

    pub fn field(&self, key: &str) -> String {
        join(self.name, key)
    }

    pub fn known(&self, keys: &[&str]) -> Result<()> {
        match self.fields.keys().find(|key| !keys.contains(&key.as_str())) {
            None => Ok(()),
            Some(key) => {
                let kind = match self.name {
                    "" => "key".to_string(),
                    name => format!("key in {name}"),
                };
                Err(prefix(self.place, unknown(&kind, key, keys)))
            }
        }
    }

    pub fn number(&self, key: &str) -> Result<Option<f64>> {
        match self.fields.get(key) {
            None => Ok(None),
            Some(value) => match value.as_f64() {
                Some(number) => Ok(Some(number)),
                None => bad_input(format!(
                    "{}: {} = {value} must be a number, not {}",
                    self.place,
                    self.field(key),
                    kind_of(value)
                )),
            },
        }
    }

    pub fn optional_number(&self, key: &str, (low, high): (f64, f64)) -> Result<Option<f64>> {
        let number = self.number(key)?;
        match number {
            Some(v) if !(low..=high).contains(&v) => bad_input(format!(
                "{}: {} = {v} is outside [{low}, {high}]; check its unit",
                self.place,
                self.field(key)
            )),
            _ => Ok(number),
        }
    }

    pub fn required_number(&self, key: &str, range: (f64, f64)) -> Result<f64> {
        match self.optional_number(key, range)? {
            Some(v) => Ok(v),
            None => bad_input(format!(
                "{}: {} is missing; add it",
                self.place,
                self.field(key)
            )),
        }
    }

    pub fn text(&self, key: &str) -> Result<String> {
        match self.fields.get(key) {
            Some(Value::String(text)) => Ok(text.clone()),
            Some(other) => bad_input(format!(
                "{}: {} must be text in quotes, not {}",
                self.place,
                self.field(key),
                kind_of(other)
            )),
            None => bad_input(format!(
                "{}: {} is missing; add \"{key}\": \"…\"",
                self.place,
                self.field(key)
            )),
        }
    }

    /// A text or a list of texts; empty where the key is absent.
    pub fn texts(&self, key: &str) -> Result<Vec<String>> {
        let lines = match self.fields.get(key) {
            None => return Ok(Vec::new()),
            Some(Value::String(line)) => return Ok(vec![line.clone()]),
            Some(Value::Array(lines)) => lines,
            Some(other) => std::slice::from_ref(other),
        };
        lines
            .iter()
            .map(|line| match line {
                Value::String(line) => Ok(line.clone()),
                other => bad_input(format!(
                    "{}: {} must be text or a list of texts, not {}",
                    self.place,
                    self.field(key),
                    kind_of(other)
                )),
            })
            .collect()
    }
}

pub(super) fn join(section: &str, key: &str) -> String {
    if section.is_empty() {
        key.to_string()
    } else {
        format!("{section}.{key}")
    }
}

pub(super) fn prefix(place: &str, error: Error) -> Error {
    Error::BadInput(format!("{place}: {error}"))
}

pub(super) fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}
