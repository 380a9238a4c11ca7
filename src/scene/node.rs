//! A place in a scene file: a JSON value with its name, so that every message says where it stands.

use serde_json::Value;

use crate::{
    error::{Error, Result, bad_input, readable, unknown},
    files::json::{JsonObject, join, kind_of},
};

/// A JSON value of a file.
#[derive(Clone)]
pub(super) struct Node<'a> {
    place: &'a str,
    name: String,
    value: &'a Value,
}

/// Largest coordinate or displacement \[m\].
const LARGEST: f64 = 1e4;

impl<'a> Node<'a> {
    /// The whole file.
    pub(crate) fn top(place: &'a str, value: &'a Value) -> Node<'a> {
        Node {
            place,
            name: String::new(),
            value,
        }
    }

    pub(crate) fn value(&self) -> &'a Value {
        self.value
    }

    pub(crate) fn place(&self) -> &'a str {
        self.place
    }

    /// The object that stands here.
    pub(crate) fn section(&self) -> Result<JsonObject<'_>> {
        JsonObject::new(self.place, &self.name, self.value)
    }

    /// The object that stands here, with no keys but these.
    pub(crate) fn known(&self, keys: &[&str]) -> Result<JsonObject<'_>> {
        let section = self.section()?;
        section.known(keys)?;
        Ok(section)
    }

    /// What stands under a key.
    pub(crate) fn child(&self, key: &str) -> Option<Node<'a>> {
        self.value.get(key).map(|value| Node {
            place: self.place,
            name: join(&self.name, key),
            value,
        })
    }

    /// The entries of a list under a key; none where the key is absent.
    pub(crate) fn list(&self, key: &str) -> Result<Vec<Node<'a>>> {
        match self.child(key) {
            None => Ok(Vec::new()),
            Some(child) => match child.value {
                Value::Array(entries) => Ok(entries
                    .iter()
                    .enumerate()
                    .map(|(i, value)| Node {
                        place: self.place,
                        name: format!("{}[{i}]", child.name),
                        value,
                    })
                    .collect()),
                other => child.refuse(format!("must be a list […], not {}", kind_of(other))),
            },
        }
    }

    /// "FILE: NAME message".
    pub(crate) fn refuse<T>(&self, message: impl AsRef<str>) -> Result<T> {
        Err(self.error(message))
    }

    /// The error of [`Node::refuse`].
    pub(crate) fn error(&self, message: impl AsRef<str>) -> Error {
        let name = if self.name.is_empty() {
            "the file"
        } else {
            &self.name
        };
        Error::BadInput(format!("{}: {name} {}", self.place, message.as_ref()))
    }

    /// The same for a key of this object.
    pub(crate) fn refuse_key<T>(&self, key: &str, message: impl AsRef<str>) -> Result<T> {
        let name = join(&self.name, key);
        bad_input(format!("{}: {name} {}", self.place, message.as_ref()))
    }

    /// The word that is here must be one of these.
    pub(crate) fn unknown<T>(&self, kind: &str, word: &str, words: &[&str]) -> Result<T> {
        bad_input(format!(
            "{}: {}: {}",
            self.place,
            self.name,
            unknown(kind, word, words)
        ))
    }

    /// Three numbers under a key \[m\], where they are there.
    pub(crate) fn vector(&self, key: &str) -> Result<Option<[f64; 3]>> {
        self.child(key).map(|child| child.triple()).transpose()
    }

    /// Three numbers under a key, which must be there.
    pub(crate) fn required_vector(&self, key: &str) -> Result<[f64; 3]> {
        match self.vector(key)? {
            Some(vector) => Ok(vector),
            None => self.refuse_key(key, "is missing; add [x, y, z]"),
        }
    }

    /// The three numbers that stand here.
    pub(crate) fn triple(&self) -> Result<[f64; 3]> {
        let numbers = self
            .value
            .as_array()
            .map(|list| list.iter().map(Value::as_f64));
        let numbers: Option<Vec<f64>> = numbers.and_then(Iterator::collect);
        match numbers.as_deref() {
            Some(&[x, y, z]) => match [x, y, z].iter().find(|v| v.abs() > LARGEST) {
                None => Ok([x, y, z]),
                Some(v) => self.refuse(format!(
                    "holds {}, beyond ±{LARGEST}; check its unit",
                    readable(*v)
                )),
            },
            _ => self.refuse(format!(
                "= {} must be three numbers, such as [0, 0, 1]",
                short(self.value)
            )),
        }
    }

    /// A direction under a key, made a unit vector: three numbers, or "x", "y", "z" or "-x" and so on.
    pub(crate) fn direction(&self, key: &str) -> Result<Option<[f64; 3]>> {
        let Some(child) = self.child(key) else {
            return Ok(None);
        };
        let vector = match child.value.as_str() {
            Some(word) => match named_direction(word) {
                Some(vector) => vector,
                None => return child.unknown("direction", word, &NAMED),
            },
            None => child.triple()?,
        };
        let length = vector.iter().map(|v| v * v).sum::<f64>().sqrt();
        if length < 1e-12 {
            return child.refuse(format!(
                "= {} has no length; give a direction such as [0, 0, 1]",
                short(child.value)
            ));
        }
        Ok(Some(vector.map(|v| v / length)))
    }

    /// A direction under a key, which must be there.
    pub(crate) fn required_direction(&self, key: &str) -> Result<[f64; 3]> {
        match self.direction(key)? {
            Some(direction) => Ok(direction),
            None => self.refuse_key(
                key,
                "is missing; add a direction such as [0, 0, 1] or \"z\"",
            ),
        }
    }

    /// true or false under a key, where it is there.
    pub(crate) fn flag(&self, key: &str) -> Result<Option<bool>> {
        match self.child(key) {
            None => Ok(None),
            Some(child) => match child.value {
                Value::Bool(flag) => Ok(Some(*flag)),
                other => child.refuse(format!("must be true or false, not {}", kind_of(other))),
            },
        }
    }
}

const NAMED: [&str; 6] = ["x", "y", "z", "-x", "-y", "-z"];

fn named_direction(word: &str) -> Option<[f64; 3]> {
    let axis = NAMED.iter().position(|name| *name == word)?;
    let mut vector = [0.0; 3];
    vector[axis % 3] = if axis < 3 { 1.0 } else { -1.0 };
    Some(vector)
}

/// A JSON value for a message.
pub(super) fn short(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(60) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}
