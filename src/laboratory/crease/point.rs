//! One reading of the crease test, and the condition that it is.

use super::{CreasePoint, Recovery};
use crate::laboratory::{Condition, Test};

impl CreasePoint {
    /// The point of a condition of the crease test.
    pub fn of(condition: &Condition) -> Option<CreasePoint> {
        let [gap, press, read, _] = condition.numbers;
        (condition.test.name() == Recovery.name()).then_some(CreasePoint { gap, press, read })
    }

    /// Gaps are read in millimetres: 0.0005 m is to be 0.5 mm again.
    pub(super) fn gap_mm(&self) -> f64 {
        (1e12 * self.gap).round() / 1e9
    }
}

impl From<CreasePoint> for Condition {
    fn from(point: CreasePoint) -> Condition {
        Condition {
            test: &Recovery,
            reading: 0,
            numbers: [point.gap, point.press, point.read, 0.0],
        }
    }
}

/// The point of a condition that is known to be of this test.
pub(super) fn point(condition: &Condition) -> CreasePoint {
    let [gap, press, read, _] = condition.numbers;
    CreasePoint { gap, press, read }
}
