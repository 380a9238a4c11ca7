//! Values of settings that a design or a made-up table varies.

use super::{super::TESTS, Test};

/// What a design may vary: values \[SI units\] by the name of the setting.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Grid(pub Vec<(&'static str, Vec<f64>)>);

impl Grid {
    /// Values of a setting; none where nothing is given.
    pub fn values(&self, name: &str) -> Option<&[f64]> {
        let found = self.0.iter().find(|(n, v)| *n == name && !v.is_empty());
        found.map(|(_, values)| values.as_slice())
    }

    /// Whether a test is asked for: values are given for a setting that it varies, or for none that any test varies.
    pub fn admits(&self, test: &dyn Test) -> bool {
        let given = |test: &dyn Test| test.varied().iter().any(|n| self.values(n).is_some());
        given(test) || !TESTS.into_iter().any(given)
    }
}
