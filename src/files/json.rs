//! Reading JSON objects by hand, so that every message names the file, the field and its value.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

use crate::error::{Error, Result, bad_input, readable, unknown};

/// Parses JSON text, refusing a key that stands twice, of which a plain parser keeps the last.
/// `remedy` says where a good file can be had.
pub(crate) fn parse(text: &str, place: &str, remedy: &str) -> Result<Value> {
    match serde_json::from_str::<Unique>(text) {
        Ok(value) => Ok(value.0),
        Err(e) => bad_input(format!("{place}: not valid JSON: {e}; {remedy}")),
    }
}

/// A JSON value without repeated keys.
struct Unique(Value);

impl<'de> Deserialize<'de> for Unique {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        deserializer.deserialize_any(UniqueVisitor)
    }
}

struct UniqueVisitor;

impl<'de> Visitor<'de> for UniqueVisitor {
    type Value = Unique;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_bool<E>(self, v: bool) -> std::result::Result<Unique, E> {
        Ok(Unique(v.into()))
    }

    fn visit_i64<E>(self, v: i64) -> std::result::Result<Unique, E> {
        Ok(Unique(v.into()))
    }

    fn visit_u64<E>(self, v: u64) -> std::result::Result<Unique, E> {
        Ok(Unique(v.into()))
    }

    fn visit_f64<E>(self, v: f64) -> std::result::Result<Unique, E> {
        Ok(Unique(v.into()))
    }

    fn visit_str<E>(self, v: &str) -> std::result::Result<Unique, E> {
        Ok(Unique(v.into()))
    }

    fn visit_unit<E>(self) -> std::result::Result<Unique, E> {
        Ok(Unique(Value::Null))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> std::result::Result<Unique, A::Error> {
        let mut list = Vec::new();
        while let Some(Unique(value)) = seq.next_element()? {
            list.push(value);
        }
        Ok(Unique(Value::Array(list)))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<Unique, A::Error> {
        let mut fields = Map::new();
        while let Some((key, Unique(value))) = map.next_entry::<String, Unique>()? {
            if fields.contains_key(&key) {
                return Err(A::Error::custom(format!("the key '{key}' stands twice")));
            }
            fields.insert(key, value);
        }
        Ok(Unique(Value::Object(fields)))
    }
}

/// The fields of the objects in their order, without those that are null.
pub(crate) fn present<const N: usize>(objects: [Value; N]) -> Value {
    let mut fields = Map::new();
    for object in objects {
        if let Value::Object(object) = object {
            fields.extend(object.into_iter().filter(|(_, value)| !value.is_null()));
        }
    }
    Value::Object(fields)
}

/// One JSON object of a file, with its name for messages.
pub(crate) struct JsonObject<'a> {
    place: &'a str,
    name: &'a str,
    fields: &'a Map<String, Value>,
}

impl<'a> JsonObject<'a> {
    pub(crate) fn new(place: &'a str, name: &'a str, value: &'a Value) -> Result<Self> {
        match value.as_object() {
            Some(fields) => Ok(JsonObject {
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

    pub(crate) fn field(&self, key: &str) -> String {
        join(self.name, key)
    }

    pub(crate) fn known(&self, keys: &[&str]) -> Result<()> {
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

    pub(crate) fn number(&self, key: &str) -> Result<Option<f64>> {
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

    pub(crate) fn optional_number(
        &self,
        key: &str,
        (low, high): (f64, f64),
    ) -> Result<Option<f64>> {
        let number = self.number(key)?;
        match number {
            Some(v) if !(low..=high).contains(&v) => bad_input(format!(
                "{}: {} = {} is outside [{}, {}]; check its unit",
                self.place,
                self.field(key),
                readable(v),
                readable(low),
                readable(high)
            )),
            _ => Ok(number),
        }
    }

    pub(crate) fn required_number(&self, key: &str, range: (f64, f64)) -> Result<f64> {
        match self.optional_number(key, range)? {
            Some(v) => Ok(v),
            None => bad_input(format!(
                "{}: {} is missing; add it",
                self.place,
                self.field(key)
            )),
        }
    }

    /// Text of one line.
    pub(crate) fn text(&self, key: &str) -> Result<String> {
        match self.fields.get(key) {
            Some(Value::String(text)) if text.contains(char::is_control) => bad_input(format!(
                "{}: {} has a line end or another control character in it; remove it",
                self.place,
                self.field(key)
            )),
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

    pub(crate) fn has(&self, key: &str) -> bool {
        self.fields.contains_key(key)
    }

    /// Text of one line, where there is any.
    pub(crate) fn optional_text(&self, key: &str) -> Result<Option<String>> {
        self.has(key).then(|| self.text(key)).transpose()
    }

    /// One of a few words, where there is one.
    pub(crate) fn optional_choice(
        &self,
        key: &str,
        words: &[&'static str],
    ) -> Result<Option<&'static str>> {
        self.has(key).then(|| self.choice(key, words)).transpose()
    }

    /// A whole number in a range, where there is one.
    pub(crate) fn whole(&self, key: &str, range: (f64, f64)) -> Result<Option<usize>> {
        match self.optional_number(key, range)? {
            Some(v) if v.fract() != 0.0 => bad_input(format!(
                "{}: {} = {} must be a whole number",
                self.place,
                self.field(key),
                readable(v)
            )),
            number => Ok(number.map(|v| v as usize)),
        }
    }

    /// A list of numbers; empty where the key is absent.
    pub(crate) fn numbers(&self, key: &str) -> Result<Vec<f64>> {
        let Some(value) = self.fields.get(key) else {
            return Ok(Vec::new());
        };
        let list = value.as_array().map(|list| list.iter().map(Value::as_f64));
        let list: Option<Vec<f64>> = list.and_then(Iterator::collect);
        list.ok_or_else(|| {
            Error::BadInput(format!(
                "{}: {} = {value} must be a list of numbers, such as [1, 2]",
                self.place,
                self.field(key)
            ))
        })
    }

    /// {"mean": …, "sd": …}, where it is there.
    pub(crate) fn mean_and_sd(&self, key: &str) -> Result<Option<(f64, f64)>> {
        let Some(value) = self.fields.get(key) else {
            return Ok(None);
        };
        let name = self.field(key);
        let section = JsonObject::new(self.place, &name, value)?;
        section.known(&["mean", "sd"])?;
        let mean = section.required_number("mean", (-1e300, 1e300))?;
        Ok(Some((
            mean,
            section.required_number("sd", (1e-300, 1e300))?,
        )))
    }

    /// One of a few words.
    pub(crate) fn choice(&self, key: &str, words: &[&'static str]) -> Result<&'static str> {
        if !self.fields.contains_key(key) {
            return bad_input(format!(
                "{}: {} is missing; it is one of {}",
                self.place,
                self.field(key),
                words.join(", ")
            ));
        }
        let word = self.text(key)?;
        let found = words.iter().find(|w| **w == word);
        found
            .copied()
            .ok_or_else(|| prefix(self.place, unknown(key, &word, words)))
    }

    /// A text or a list of texts; empty where the key is absent.
    pub(crate) fn texts(&self, key: &str) -> Result<Vec<String>> {
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

pub(crate) fn join(section: &str, key: &str) -> String {
    if section.is_empty() {
        key.to_string()
    } else {
        format!("{section}.{key}")
    }
}

fn prefix(place: &str, error: Error) -> Error {
    Error::BadInput(format!("{place}: {error}"))
}

pub(crate) fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}
