//! One reading of a bending cycle, and the condition that stands for it.

use super::{Bending, Branch};
use crate::laboratory::{Condition, Test};

/// A number read off a bending loop.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum BendingReading {
    /// B \[N·m\].
    Rigidity,
    /// 2HB \[N·m/m\].
    Hysteresis,
    /// Moment \[N·m/m\] at a curvature \[1/m\] of a branch.
    Moment(Branch, f64),
}

/// One reading of a bending cycle.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BendingPoint {
    /// Largest curvature of the cycle \[1/m\].
    pub max_curvature: f64,
    /// Rest there \[s\].
    pub dwell: f64,
    /// What is read.
    pub read: BendingReading,
}

impl BendingPoint {
    /// The reading of a condition of the bending test.
    pub fn of(condition: &Condition) -> Option<BendingPoint> {
        (condition.test.name() == Bending.name()).then(|| point(condition))
    }
}

impl From<BendingPoint> for Condition {
    fn from(point: BendingPoint) -> Condition {
        let (reading, curvature) = match point.read {
            BendingReading::Rigidity => (0, 0.0),
            BendingReading::Hysteresis => (1, 0.0),
            BendingReading::Moment(Branch::Out, curvature) => (2, curvature),
            BendingReading::Moment(Branch::Down, curvature) => (3, curvature),
            BendingReading::Moment(Branch::Back, curvature) => (4, curvature),
        };
        Condition {
            test: &Bending,
            reading,
            numbers: [point.max_curvature, point.dwell, curvature, 0.0],
        }
    }
}

/// The reading of a condition that is known to be of this test.
pub(super) fn point(condition: &Condition) -> BendingPoint {
    let [max_curvature, dwell, curvature, _] = condition.numbers;
    BendingPoint {
        max_curvature,
        dwell,
        read: match condition.reading {
            0 => BendingReading::Rigidity,
            1 => BendingReading::Hysteresis,
            2 => BendingReading::Moment(Branch::Out, curvature),
            3 => BendingReading::Moment(Branch::Down, curvature),
            _ => BendingReading::Moment(Branch::Back, curvature),
        },
    }
}
