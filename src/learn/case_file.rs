//! Cases as JSON files.

use std::path::Path;

use serde_json::Value;

use super::LearnCase;
use crate::{
    error::{Error, Result, bad_input, unknown},
    files::{
        json::{join, parse},
        read_text,
    },
};

/// Where a good file can be had.
const REMEDY: &str = "`rumple schema learn` prints the default case, whose keys may be left out";

/// Keys whose values are one of several forms, which have no keys in common.
const CHOICES: [&str; 2] = ["plastic_net", "plasticity.rule"];

impl LearnCase {
    /// Reads a case; keys that are left out have their defaults.
    pub fn load(path: &Path) -> Result<LearnCase> {
        LearnCase::parse(&read_text(path)?, &path.display().to_string())
    }

    /// The same of text that is already here; `place` names it in messages.
    pub fn parse(text: &str, place: &str) -> Result<LearnCase> {
        let value = parse(text, place, REMEDY)?;
        if !value.is_object() {
            return bad_input(format!("{place}: not a JSON object {{…}}; {REMEDY}"));
        }
        let at = |e: Error| Error::BadInput(format!("{place}: {e}"));
        let mut whole = LearnCase::default().to_json()?;
        fill("", value, &mut whole).map_err(at)?;
        let case: LearnCase = serde_path_to_error::deserialize(whole).map_err(|e| {
            let (key, what) = (e.path().to_string(), e.into_inner());
            Error::BadInput(format!("{place}: {what}, at {key}; {REMEDY}"))
        })?;
        case.check().map_err(at)?;
        Ok(case)
    }

    /// The case with all its keys.
    pub fn to_json(&self) -> Result<Value> {
        serde_json::to_value(self)
            .map_err(|e| Error::BadInput(format!("the case cannot be written as JSON: {e}")))
    }
}

/// Puts the values of a file into the whole case, and refuses keys that it does not have.
fn fill(path: &str, value: Value, whole: &mut Value) -> Result<()> {
    match (value, whole) {
        (Value::Object(value), Value::Object(whole)) if !CHOICES.contains(&path) => {
            for (key, inner) in value {
                let Some(of_whole) = whole.get_mut(&key) else {
                    let kind = match path {
                        "" => "key".to_string(),
                        path => format!("key in {path}"),
                    };
                    let keys: Vec<&str> = whole.keys().map(String::as_str).collect();
                    return Err(unknown(&kind, &key, &keys));
                };
                fill(&join(path, &key), inner, of_whole)?;
            }
        }
        (value, whole) => *whole = value,
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_case_comes_back_as_it_was_and_may_leave_keys_out() {
        let case = LearnCase {
            seed: 7,
            ..LearnCase::default()
        };
        let text = case.to_json().unwrap().to_string();
        assert_eq!(LearnCase::parse(&text, "c").unwrap(), case);
        let short = LearnCase::parse(r#"{"seed": 7, "plastic_net": {"graph": 3}}"#, "c");
        assert_eq!(short.unwrap(), case);
        // Inner keys too, whose defaults differ from term to term.
        let text = r#"{"loss": {"regression": {"weight": 2}, "bending": {"over": "mean"}}}"#;
        let mut loss = LearnCase::default().loss;
        loss.regression.weight = 2.0;
        loss.bending.over = crate::learn::Reduction::Mean;
        assert_eq!(LearnCase::parse(text, "c").unwrap().loss, loss);
    }

    #[test]
    fn the_printed_example_is_the_loss_as_printed() {
        let text = include_str!("../../examples/learn/printed.json");
        let case = LearnCase::parse(text, "printed.json").unwrap();
        assert_eq!(case.loss, crate::learn::LossConfig::printed());
    }

    #[test]
    fn what_is_wrong_is_named_with_the_file() {
        for (text, fragments) in [
            ("[]", vec!["c: not a JSON object"]),
            ("{", vec!["c: not valid JSON"]),
            (
                r#"{"cycels": 3}"#,
                vec!["c: unknown key 'cycels'", "did you mean 'cycles'"],
            ),
            (
                r#"{"training": {"fist": 3}}"#,
                vec!["c: unknown key in training 'fist'", "'fits'"],
            ),
            (
                r#"{"cycles": "four"}"#,
                vec!["c: invalid type", "at cycles;", "rumple schema learn"],
            ),
            (
                r#"{"loss": {"materials": {"gravity": [0, "x", 0]}}}"#,
                vec![
                    "c: invalid type: string \"x\"",
                    "at loss.materials.gravity[1];",
                ],
            ),
            (r#"{"cycles": 0}"#, vec!["c: cycles is 0; give 1 to 200"]),
            (
                r#"{"grid": [900, 900], "motions": 1000}"#,
                vec!["c: 1000 motions of 95 frames", "GB of memory; give fewer"],
            ),
            (
                r#"{"loss": {"materials": {"gravity": [0, -9.81, 0]}}}"#,
                vec!["gravity is [0, -9.81, 0]", "give [0, 0, -9.81]"],
            ),
            (
                r#"{"plasticity": {"yield_strain": 9}}"#,
                vec!["yield_strain is 9 rad", "\"rest_bending\": \"none\""],
            ),
            (r#"{"grid": [2, 9]}"#, vec!["c: grid, around is 2"]),
            (
                r#"{"plastic_net": "gru"}"#,
                vec!["c: unknown variant `gru`", "at plastic_net;"],
            ),
        ] {
            let error = LearnCase::parse(text, "c").unwrap_err().to_string();
            for fragment in fragments {
                assert!(error.contains(fragment), "{text}: {error}");
            }
        }
    }
}
