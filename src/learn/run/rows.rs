//! Rows of a table as CSV lines: `{"cycle": 0, "terms": {"shear": 1.5}}` is `cycle,terms.shear` and `0,1.5`.

use std::path::Path;

use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Map, Value};

use crate::{
    error::{Error, Result, bad_input},
    files::{Table, json::join, read_text},
};

/// First line of every table.
pub(crate) const SYNTHETIC: &str = "# synthetic: body, garment and motions are made by rumple\n";

/// Names of the columns, with a line end.
pub(crate) fn header(row: &impl Serialize) -> Result<String> {
    let cells = cells(row)?.into_iter();
    Ok(cells.map(|(name, _)| name).collect::<Vec<_>>().join(",") + "\n")
}

/// The values, with a line end; every digit counts.
pub(crate) fn line(row: &impl Serialize) -> Result<String> {
    let text = |(_, value): (String, Value)| match value {
        Value::Null => String::new(),
        Value::String(text) if text.contains([',', '"', '\n']) => {
            format!("\"{}\"", text.replace('"', "\"\""))
        }
        Value::String(text) => text,
        other => other.to_string(),
    };
    let cells = cells(row)?.into_iter();
    Ok(cells.map(text).collect::<Vec<_>>().join(",") + "\n")
}

/// A whole table as text.
pub(crate) fn table(rows: &[impl Serialize]) -> Result<String> {
    let mut text = SYNTHETIC.to_string();
    if let Some(first) = rows.first() {
        text += &header(first)?;
    }
    for row in rows {
        text += &line(row)?;
    }
    Ok(text)
}

/// Reads rows; a table without any has none.
pub(crate) fn read<T: DeserializeOwned>(path: &Path) -> Result<Vec<T>> {
    let text = read_text(path)?;
    if text.lines().filter(|line| !line.starts_with('#')).count() < 2 {
        return Ok(Vec::new());
    }
    let table = Table::parse(&text, &path.display().to_string())?;
    let row = |row: usize| {
        let mut fields = Map::new();
        for (column, name) in table.columns().iter().enumerate() {
            put(&mut fields, name, value(table.text(row, column)));
        }
        serde_json::from_value(Value::Object(fields)).map_err(|e| {
            let at = table.at(table.line(row));
            Error::BadInput(format!("{at}: {e}; it was changed since it was written"))
        })
    };
    (0..table.row_count()).map(row).collect()
}

/// Names and values of all fields, those of inner objects with a dot.
fn cells(row: &impl Serialize) -> Result<Vec<(String, Value)>> {
    let mut cells = Vec::new();
    match serde_json::to_value(row) {
        Ok(value @ Value::Object(_)) => collect("", value, &mut cells),
        other => return bad_input(format!("{other:?} is no row of a table")),
    }
    Ok(cells)
}

fn collect(path: &str, value: Value, cells: &mut Vec<(String, Value)>) {
    match value {
        Value::Object(fields) => {
            for (key, value) in fields {
                collect(&join(path, &key), value, cells);
            }
        }
        value => cells.push((path.to_string(), value)),
    }
}

fn put(fields: &mut Map<String, Value>, name: &str, value: Value) {
    match name.split_once('.') {
        None => {
            fields.insert(name.into(), value);
        }
        Some((outer, inner)) => {
            let entry = fields.entry(outer).or_insert(Value::Object(Map::new()));
            if let Value::Object(fields) = entry {
                put(fields, inner, value);
            }
        }
    }
}

/// A number where it is one.
fn value(text: &str) -> Value {
    match serde_json::from_str(text) {
        Ok(number @ Value::Number(_)) => number,
        _ if text.is_empty() => Value::Null,
        _ => Value::String(text.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::learn::{Terms, curriculum::ElasticStep};

    #[test]
    fn rows_come_back_with_every_bit() {
        let step = |step: usize| ElasticStep {
            cycle: 1,
            step,
            loss: 0.1 + 0.2,
            terms: Terms {
                shear: 1.0 / 3.0,
                gravity: -7e-12,
                ..Terms::default()
            },
            away: 1e-3,
            left: 2.5e-4,
        };
        let rows = [step(0), step(1)];
        let text = table(&rows).unwrap();
        assert!(text.starts_with("# synthetic"), "{text}");
        assert!(text.contains("cycle,step,loss,terms.bending,"), "{text}");
        let path = std::env::temp_dir().join(format!("rumple-rows-{}.csv", std::process::id()));
        std::fs::write(&path, text).unwrap();
        let back: Vec<ElasticStep> = read(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        assert_eq!(back, rows);
    }
}
