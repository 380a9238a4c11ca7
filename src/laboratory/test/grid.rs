//! Settings that a person chooses for measurements: those of a made-up table, and those that a design varies.

use super::{super::TESTS, Test};
use crate::error::{Result, bad_input, readable, unknown};

/// Longest time that can be asked for \[s\]: far beyond any test, far within f32.
pub(crate) const MAX_SECONDS: f64 = 1e15;

/// A setting that a person chooses.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct ChosenSetting {
    /// Its name in a [`Grid`].
    pub name: &'static str,
    /// Its name with its unit, such as `gap_mm`.
    pub key: &'static str,
    /// Its option on the command line without the dashes, such as `gap-mm`.
    pub option: &'static str,
    /// What a help calls its values, such as `MM,…`.
    pub letters: &'static str,
    /// Smallest and largest value, in the unit of the key.
    pub range: (f64, f64),
    /// The unit of the key in SI units.
    pub unit: f64,
    /// What it is, and its usual values in a made-up table.
    pub made_up: &'static str,
    /// What it is, and its usual values in a design; none where designs do not vary it.
    pub planned: Option<&'static str>,
}

impl ChosenSetting {
    /// Values in SI units, if all are in its range; `name` names it in messages.
    pub(crate) fn accept(&self, name: &str, values: &[f64]) -> Result<Vec<f64>> {
        let (low, high) = self.range;
        match values.iter().find(|v| !(low..=high).contains(*v)) {
            None => Ok(values.iter().map(|v| self.unit * v).collect()),
            Some(v) => bad_input(format!(
                "{name}: {} cannot be used; give numbers from {} to {}, separated by commas",
                readable(*v),
                readable(low),
                readable(high)
            )),
        }
    }
}

/// What a design may vary, or what a made-up table has: values \[SI units\] by the name of the setting.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Grid(pub Vec<(&'static str, Vec<f64>)>);

impl Grid {
    /// Values by the key of the setting, such as `gap_mm`, in the unit of the key.
    pub(crate) fn new(asked: &[(&str, Vec<f64>)]) -> Result<Grid> {
        let known: Vec<&ChosenSetting> = TESTS.iter().flat_map(|test| test.chosen()).collect();
        let one = |(key, values): &(&str, Vec<f64>)| {
            let Some(setting) = known.iter().find(|setting| setting.key == *key) else {
                let keys: Vec<&str> = known.iter().map(|setting| setting.key).collect();
                return Err(unknown("setting", key, &keys));
            };
            Ok((setting.name, setting.accept(key, values)?))
        };
        Ok(Grid(asked.iter().map(one).collect::<Result<_>>()?))
    }

    /// Values of a setting; none where nothing is given.
    pub(crate) fn values(&self, name: &str) -> Option<&[f64]> {
        let found = self.0.iter().find(|(n, v)| *n == name && !v.is_empty());
        found.map(|(_, values)| values.as_slice())
    }

    /// Whether a test is asked for: values are given for a setting that it varies, or for none that any test varies.
    pub(crate) fn admits(&self, test: &dyn Test) -> bool {
        let given = |test: &dyn Test| test.varied().iter().any(|n| self.values(n).is_some());
        given(test) || !TESTS.into_iter().any(given)
    }
}
