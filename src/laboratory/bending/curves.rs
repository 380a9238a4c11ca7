//! Loops that are drawn through bending tests.

use super::{
    Branch,
    point::{BendingPoint, BendingReading, point},
};
use crate::laboratory::{Condition, Sweep};

/// Points of each branch of a drawn loop.
const CURVE_POINTS: usize = 120;

/// A loop for every largest curvature and dwell.
pub(super) fn sweeps(conditions: &[Condition]) -> Vec<Sweep> {
    let mut cycles: Vec<(f64, f64)> = Vec::new();
    for point in conditions.iter().map(point) {
        let cycle = (point.max_curvature, point.dwell);
        if !cycles.contains(&cycle) {
            cycles.push(cycle);
        }
    }
    let sweep = |(max_curvature, dwell): (f64, f64)| {
        let mut sweep = Sweep {
            settings: vec![("dwell_s", dwell)],
            x: Vec::new(),
            conditions: Vec::new(),
        };
        for (branch, from, to) in [
            (Branch::Out, 0.0, 1.0),
            (Branch::Down, 1.0, -1.0),
            (Branch::Back, -1.0, 0.0),
        ] {
            for k in 0..=CURVE_POINTS {
                let share = k as f64 / CURVE_POINTS as f64;
                let curvature = max_curvature * (from + (to - from) * share);
                sweep.x.push(curvature);
                let point = BendingPoint {
                    max_curvature,
                    dwell,
                    read: BendingReading::Moment(branch, curvature),
                };
                sweep.conditions.push(point.into());
            }
        }
        sweep
    };
    cycles.into_iter().map(sweep).collect()
}
