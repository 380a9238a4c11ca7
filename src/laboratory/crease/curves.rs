//! Curves that are drawn through recovery angles.

use super::{CreasePoint, point::point};
use crate::{
    laboratory::{Condition, Specimen, Sweep, TestSettings},
    rollout::log_times,
};

/// Points of a drawn curve.
const CURVE_POINTS: usize = 120;
/// The same where every point is a mesh.
const MESH_CURVE_POINTS: usize = 24;

/// A curve for every gap and reading time.
pub(super) fn sweeps(conditions: &[Condition], settings: &TestSettings) -> Vec<Sweep> {
    // The shortest and longest pressing time of each.
    let mut curves: Vec<(CreasePoint, (f64, f64))> = Vec::new();
    for point in conditions.iter().map(point) {
        let same =
            |(c, _): &&mut (CreasePoint, (f64, f64))| c.gap == point.gap && c.read == point.read;
        match curves.iter_mut().find(same) {
            Some((_, (low, high))) => {
                (*low, *high) = (low.min(point.press), high.max(point.press));
            }
            None => curves.push((point, (point.press, point.press))),
        }
    }
    let count = match settings.specimen {
        Specimen::Hinges => CURVE_POINTS,
        Specimen::StripMesh => MESH_CURVE_POINTS,
    };
    let sweep = |(point, (shortest, longest)): (CreasePoint, (f64, f64))| {
        let first = if shortest > 0.0 {
            0.5 * shortest
        } else {
            1e-3 * longest.max(1.0)
        };
        // A single pressing time gets a decade on either side.
        let (first, last) = match longest > 2.0 * shortest.max(first) {
            true => (first, 2.0 * longest),
            false => (0.1 * first, 20.0 * first),
        };
        let x = log_times(first, last, count);
        let condition = |&press: &f64| CreasePoint { press, ..point }.into();
        Sweep {
            settings: vec![("gap_mm", point.gap_mm()), ("read_s", point.read)],
            conditions: x.iter().map(condition).collect(),
            x,
        }
    };
    curves.into_iter().map(sweep).collect()
}
