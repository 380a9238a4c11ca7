//! Measurements that could be made, and what they would read.

use nalgebra::{DMatrix, DVector};

use crate::{
    error::Result,
    fit::{
        case::Role,
        run::{Fit, Optimum},
        simulate::{BendingReading, Condition},
    },
    laboratory::{Branch, CreasePoint},
    numeric::statistics::quantile,
};

/// What can be varied. Where nothing is given, all is tried; where something is, only tests of that kind.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Grid {
    /// Gaps \[m\]; empty for those of the data, half the smallest and twice the largest.
    pub gaps: Vec<f64>,
    /// Pressing times \[s\]; empty for 1, 3, 10, … around those of the data.
    pub presses: Vec<f64>,
    /// Dwells at the reversal of a bending cycle \[s\]; empty for 0 to 1000.
    pub dwells: Vec<f64>,
}

/// One thing that a laboratory can do.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Measurement {
    /// One recovery angle.
    Recovery(CreasePoint),
    /// One bending loop, read at 19 curvatures.
    Bending {
        /// Largest curvature \[1/m\].
        max_curvature: f64,
        /// Rest there \[s\].
        dwell: f64,
    },
}

/// A measurement of one group, with what it would read.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidate {
    /// Number of the group (fabric and direction).
    pub group: usize,
    /// What is done.
    pub measurement: Measurement,
    /// What the fitted law says it reads: degrees, or N·m/m.
    pub expected: Vec<f64>,
    /// Standard deviation of each reading.
    pub sd: f64,
    /// ∂reading/∂unknown in standard deviations.
    pub rows: DMatrix<f64>,
}

/// Where a loop is read: branch and share of the largest curvature.
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
/// Dwells that are tried where none are given \[s\].
const DWELLS: [f64; 5] = [0.0, 10.0, 60.0, 300.0, 1000.0];
/// Gaps that are tried where the data have none \[m\].
const GAPS: [f64; 4] = [0.5e-3, 1e-3, 2e-3, 4e-3];

/// All candidates of a grid, for every group, with their readings at the optimum.
pub(super) fn candidates(fit: &Fit, optimum: &Optimum, grid: &Grid) -> Result<Vec<Candidate>> {
    let measurements = measurements(fit, grid);
    let mut conditions = Vec::new();
    for group in 0..fit.data.groups.len() {
        for measurement in &measurements {
            let readings = measurement.readings().into_iter();
            conditions.extend(readings.map(|condition| (group, condition)));
        }
    }
    let (values, jacobian) = fit.problem.predict(&optimum.point, &conditions)?;
    let (mut candidates, mut first) = (Vec::new(), 0);
    for group in 0..fit.data.groups.len() {
        for &measurement in &measurements {
            let count = measurement.readings().len();
            let expected = values[first..first + count].to_vec();
            let sd = sd(fit, measurement, &expected);
            let mut rows = jacobian.rows(first, count).into_owned() / sd;
            first += count;
            if matches!(measurement, Measurement::Bending { .. }) && rigidity_is_assumed(fit) {
                forget_scale(&mut rows, &expected);
            }
            candidates.push(Candidate {
                group,
                measurement,
                expected,
                sd,
                rows,
            });
        }
    }
    Ok(candidates)
}

impl Measurement {
    /// How long the fabric is held \[s\].
    pub fn time(&self) -> f64 {
        match *self {
            Measurement::Recovery(point) => point.press,
            Measurement::Bending { dwell, .. } => dwell,
        }
    }

    fn readings(&self) -> Vec<Condition> {
        match *self {
            Measurement::Recovery(point) => vec![Condition::Recovery(point)],
            Measurement::Bending {
                max_curvature,
                dwell,
            } => {
                let reading = |(branch, share): (Branch, f64)| Condition::Bending {
                    max_curvature,
                    dwell,
                    read: BendingReading::Moment(branch, share * max_curvature),
                };
                LOOP_READINGS.map(reading).to_vec()
            }
        }
    }
}

fn measurements(fit: &Fit, grid: &Grid) -> Vec<Measurement> {
    let points: Vec<CreasePoint> = recovery(fit).map(|(point, _)| point).collect();
    let tests = &fit.case.tests;
    let read = points.first().map_or(tests.read_s, |p| p.read);
    let gaps = if grid.gaps.is_empty() {
        around(points.iter().map(|p| p.gap).collect())
    } else {
        grid.gaps.clone()
    };
    let presses = if grid.presses.is_empty() {
        one_three_ten(points.iter().map(|p| p.press))
    } else {
        grid.presses.clone()
    };
    let dwells = if grid.dwells.is_empty() {
        DWELLS.to_vec()
    } else {
        grid.dwells.clone()
    };
    let creases = !grid.gaps.is_empty() || !grid.presses.is_empty();
    let loops = !grid.dwells.is_empty();
    let mut list = Vec::new();
    if creases || !loops {
        for gap in gaps {
            let point = |&press: &f64| Measurement::Recovery(CreasePoint { gap, press, read });
            list.extend(presses.iter().map(point));
        }
    }
    if loops || !creases {
        list.extend(dwells.into_iter().map(|dwell| Measurement::Bending {
            max_curvature: tests.max_curvature_per_m,
            dwell,
        }));
    }
    list
}

/// Recovery points that are fitted, with their spread.
fn recovery<'a>(fit: &'a Fit) -> impl Iterator<Item = (CreasePoint, f64)> + 'a {
    fit.data.fitted().filter_map(|row| match row.condition {
        Condition::Recovery(point) => Some((point, row.sd)),
        _ => None,
    })
}

/// The gaps of the data, half the smallest and twice the largest.
fn around(mut gaps: Vec<f64>) -> Vec<f64> {
    gaps.sort_by(f64::total_cmp);
    gaps.dedup();
    let (Some(low), Some(high)) = (gaps.first().copied(), gaps.last().copied()) else {
        return GAPS.to_vec();
    };
    let mut all = vec![0.5 * low];
    all.extend(gaps);
    all.push(2.0 * high);
    all
}

/// 1, 3, 10, 30, … seconds from a tenth of the shortest to the longest of the data, or 1000 s.
fn one_three_ten(presses: impl Iterator<Item = f64>) -> Vec<f64> {
    let presses: Vec<f64> = presses.filter(|p| *p > 0.0).collect();
    let low = presses.iter().copied().fold(1.0, f64::min) / 10.0;
    let high = presses.iter().copied().fold(1e3, f64::max);
    let decades = low.log10().round() as i32..=high.log10().round() as i32;
    let times = decades.flat_map(|d| [10f64.powi(d), 3.0 * 10f64.powi(d)]);
    times.filter(|t| *t <= 1.001 * high).collect()
}

/// Spread of a reading: as usual in the data, else as the case assumes.
fn sd(fit: &Fit, measurement: Measurement, expected: &[f64]) -> f64 {
    let tests = &fit.case.tests;
    match measurement {
        Measurement::Recovery(_) => {
            let mut known: Vec<f64> = recovery(fit).map(|(_, sd)| sd).collect();
            known.sort_by(f64::total_cmp);
            if known.is_empty() {
                tests.sd_deg
            } else {
                quantile(&known, 0.5)
            }
        }
        Measurement::Bending { .. } => {
            let largest = expected.iter().fold(0.0f64, |a, m| a.max(m.abs()));
            tests.moment_sd_share * largest.max(f64::MIN_POSITIVE)
        }
    }
}

/// Whether the bending stiffness is a guess, because recovery angles tell only ratios of stiffnesses.
pub(super) fn rigidity_is_assumed(fit: &Fit) -> bool {
    let fixed = matches!(fit.case.role("bending_stiffness"), Some(Role::Fixed { .. }));
    let angles_only = fit
        .data
        .fitted()
        .all(|row| matches!(row.condition, Condition::Recovery(_)));
    fixed && angles_only
}

/// Moments scale with the stiffness that was assumed: what they teach must not depend on it. Takes the direction
/// in which all moments grow alike out of the rows, as if the stiffness were unknown.
fn forget_scale(rows: &mut DMatrix<f64>, expected: &[f64]) {
    let moments = DVector::from_column_slice(expected);
    let length = moments.norm();
    if length > 0.0 {
        let direction = moments / length;
        let along = direction.tr_mul(rows);
        *rows -= direction * along;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_grid_surrounds_the_data() {
        assert_eq!(around(vec![2.0, 1.0, 2.0]), [0.5, 1.0, 2.0, 4.0]);
        assert_eq!(around(Vec::new()), GAPS);
        let times = one_three_ten([1.0, 1e3].into_iter());
        assert_eq!(times.len(), 9, "{times:?}");
        assert!(
            (times[0] - 0.1).abs() < 1e-12 && (times[8] - 1e3).abs() < 1e-6,
            "{times:?}"
        );
    }

    #[test]
    fn a_scale_that_is_unknown_teaches_nothing() {
        // The first unknown scales all moments, the second does something else.
        let expected = [1.0, 2.0, -2.0];
        let mut rows = DMatrix::from_row_slice(3, 2, &[1.0, 1.0, 2.0, 0.0, -2.0, 0.0]);
        forget_scale(&mut rows, &expected);
        assert!(rows.column(0).norm() < 1e-12);
        assert!(rows.column(1).norm() > 0.9);
    }
}
