//! Loops that are not measured yet: what a design tries and a made-up table has.

use super::{
    Branch,
    point::{BendingPoint, BendingReading},
};
use crate::laboratory::TestSettings;

/// Where a planned loop is read: branch and share of the largest curvature.
const LOOP_READINGS: [(Branch, f64); 19] = [
    (Branch::Out, 0.2),
    (Branch::Out, 0.4),
    (Branch::Out, 0.6),
    (Branch::Out, 0.8),
    (Branch::Out, 1.0),
    (Branch::Down, 0.8),
    (Branch::Down, 0.6),
    (Branch::Down, 0.4),
    (Branch::Down, 0.2),
    (Branch::Down, 0.0),
    (Branch::Down, -0.2),
    (Branch::Down, -0.4),
    (Branch::Down, -0.6),
    (Branch::Down, -0.8),
    (Branch::Down, -1.0),
    (Branch::Back, -0.8),
    (Branch::Back, -0.6),
    (Branch::Back, -0.4),
    (Branch::Back, -0.2),
];
/// Dwells that a design tries where none are given \[s\].
pub(super) const DWELLS: [f64; 5] = [0.0, 10.0, 60.0, 300.0, 1000.0];

/// The readings of a loop that is not measured yet.
pub(super) fn planned_loop(dwell: f64, settings: &TestSettings) -> [BendingPoint; 19] {
    let max_curvature = settings.max_curvature_per_m;
    LOOP_READINGS.map(|(branch, share)| BendingPoint {
        max_curvature,
        dwell,
        read: BendingReading::Moment(branch, share * max_curvature),
    })
}
