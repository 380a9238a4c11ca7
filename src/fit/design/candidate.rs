//! Measurements that could be made, and what they would read.

use nalgebra::{DMatrix, DVector};

use crate::{
    error::Result,
    fit::{
        case::Role,
        run::{Fit, Optimum},
    },
    laboratory::{Condition, Grid, TESTS, Test},
    material::ParameterRole,
};

/// A measurement of one group, with what it would read.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Candidate {
    /// Number of the group (fabric and direction).
    pub group: usize,
    /// What is read.
    pub conditions: Vec<Condition>,
    /// What the fitted law says it reads, in the unit of the test.
    pub expected: Vec<f64>,
    /// Standard deviation of each reading.
    pub sd: f64,
    /// ∂reading/∂unknown in standard deviations.
    pub rows: DMatrix<f64>,
}

/// All candidates of a grid, for every group, with their readings at the optimum.
pub(super) fn candidates(fit: &Fit, optimum: &Optimum, grid: &Grid) -> Result<Vec<Candidate>> {
    let measurements = measurements(fit, grid);
    let mut conditions = Vec::new();
    for group in 0..fit.data.groups.len() {
        let readings = measurements.iter().flatten();
        conditions.extend(readings.map(|condition| (group, *condition)));
    }
    let (values, jacobian) = fit.problem.predict(&optimum.point, &conditions)?;
    let (mut candidates, mut first) = (Vec::new(), 0);
    for group in 0..fit.data.groups.len() {
        for conditions in &measurements {
            let (count, test) = (conditions.len(), conditions[0].test);
            let expected = values[first..first + count].to_vec();
            let sd = test.planned_sd(&spreads(fit, optimum, test), &expected, &fit.case.tests);
            let mut rows = jacobian.rows(first, count).into_owned() / sd;
            first += count;
            if test.scales_with_stiffness() && rigidity_is_assumed(fit) {
                forget_scale(&mut rows, &expected);
            }
            candidates.push(Candidate {
                group,
                conditions: conditions.clone(),
                expected,
                sd,
                rows,
            });
        }
    }
    Ok(candidates)
}

impl Candidate {
    /// The test and its first reading.
    pub(crate) fn first(&self) -> &Condition {
        &self.conditions[0]
    }
}

/// What could be measured, a list of readings each.
fn measurements(fit: &Fit, grid: &Grid) -> Vec<Vec<Condition>> {
    let mut list = Vec::new();
    for test in TESTS.into_iter().filter(|test| grid.admits(*test)) {
        let rows = fit.data.fitted().map(|row| row.condition);
        let known: Vec<Condition> = rows.filter(|c| c.test.name() == test.name()).collect();
        list.extend(test.next(&known, &fit.case.tests, grid));
    }
    list
}

/// Spreads of a test's fitted points as the fit found them, sorted.
fn spreads(fit: &Fit, optimum: &Optimum, test: &dyn Test) -> Vec<f64> {
    let rows = fit.data.fitted();
    let rows = rows.filter(|row| row.condition.test.name() == test.name());
    let mut spreads: Vec<f64> = rows
        .map(|row| row.sd * optimum.judged.scale(row.spread))
        .collect();
    spreads.sort_by(f64::total_cmp);
    spreads
}

/// Whether the bending stiffness is a guess, because recovery angles tell only ratios of stiffnesses.
pub(super) fn rigidity_is_assumed(fit: &Fit) -> bool {
    let stiffness = fit.case.done_with(ParameterRole::BendingStiffness);
    let fixed = matches!(stiffness, Some(Role::Fixed { .. }));
    let mut tests = fit.data.fitted().map(|row| row.condition.test);
    fixed && tests.all(|test| !test.tells_rigidity())
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
    fn a_scale_that_is_unknown_teaches_nothing() {
        // The first unknown scales all moments, the second does something else.
        let expected = [1.0, 2.0, -2.0];
        let mut rows = DMatrix::from_row_slice(3, 2, &[1.0, 1.0, 2.0, 0.0, -2.0, 0.0]);
        forget_scale(&mut rows, &expected);
        assert!(rows.column(0).norm() < 1e-12);
        assert!(rows.column(1).norm() > 0.9);
    }
}
