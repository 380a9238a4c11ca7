//! Unknowns to parameters of every group with their slopes, and back.

use nalgebra::{DMatrix, DVector};

use super::{Calibration, Origin};
use crate::material::Transform;

/// Where a logit ends: within 1e-4 of the interval's ends.
const LOGIT_END: f64 = 9.0;

impl Calibration {
    pub(crate) fn values(&self, point: &DVector<f64>) -> Vec<Vec<f64>> {
        (0..self.origins.len())
            .map(|group| self.group_values(group, point))
            .collect()
    }

    /// Parameters of a group, in the law's order.
    pub(crate) fn group_values(&self, group: usize, point: &DVector<f64>) -> Vec<f64> {
        let origins = &self.origins[group];
        (0..origins.len())
            .map(|p| self.value(origins, p, point))
            .collect()
    }

    fn value(&self, origins: &[Origin], parameter: usize, point: &DVector<f64>) -> f64 {
        match origins[parameter] {
            Origin::Value(value) => value,
            Origin::Unknown(k) => {
                let lower = self
                    .lower(origins, k)
                    .map_or(0.0, |p| self.value(origins, p, point));
                self.unknowns[k].transform.to_value(point[k], lower)
            }
            Origin::Multiple { of, ratio } => ratio * self.value(origins, of, point),
        }
    }

    /// The parameter that unknown `k` must exceed, where there is one.
    fn lower(&self, origins: &[Origin], k: usize) -> Option<usize> {
        let Transform::Above(name) = self.unknowns[k].transform else {
            return None;
        };
        let found = self.law.parameters().iter().position(|p| p.name == name);
        found.filter(|p| *p < origins.len())
    }

    /// ∂parameter/∂unknowns of a group, added to `row` with a factor.
    fn add_gradient(
        &self,
        origins: &[Origin],
        parameter: usize,
        point: &DVector<f64>,
        factor: f64,
        row: &mut DVector<f64>,
    ) {
        match origins[parameter] {
            Origin::Value(_) => {}
            Origin::Unknown(k) => {
                row[k] += factor * self.unknowns[k].transform.slope(point[k]);
                if let Some(lower) = self.lower(origins, k) {
                    self.add_gradient(origins, lower, point, factor, row);
                }
            }
            Origin::Multiple { of, ratio } => {
                self.add_gradient(origins, of, point, factor * ratio, row);
            }
        }
    }

    /// From slopes over a law's parameters to slopes over the unknowns.
    pub(super) fn chain(
        &self,
        slopes: &[f64],
        groups: impl Iterator<Item = usize>,
        point: &DVector<f64>,
    ) -> DMatrix<f64> {
        let (width, n) = (self.law.parameters().len(), self.unknowns.len());
        // ∂parameter/∂unknown of every group, once.
        let tables: Vec<DMatrix<f64>> = self
            .origins
            .iter()
            .map(|origins| {
                let mut table = DMatrix::zeros(width, n);
                for p in 0..width {
                    let mut row = DVector::zeros(n);
                    self.add_gradient(origins, p, point, 1.0, &mut row);
                    table.row_mut(p).tr_copy_from(&row);
                }
                table
            })
            .collect();
        let mut jacobian = DMatrix::zeros(slopes.len() / width, n);
        for (i, group) in groups.enumerate() {
            for p in 0..width {
                let slope = slopes[i * width + p];
                if slope != 0.0 {
                    let mut row = jacobian.row_mut(i);
                    row += tables[group].row(p) * slope;
                }
            }
        }
        jacobian
    }

    /// Value of an unknown's parameter, and its gradient over the unknowns.
    pub(crate) fn parameter(&self, k: usize, point: &DVector<f64>) -> (f64, DVector<f64>) {
        let unknown = &self.unknowns[k];
        let origins = &self.origins[unknown.group.unwrap_or(0)];
        let mut gradient = DVector::zeros(point.len());
        self.add_gradient(origins, unknown.parameter, point, 1.0, &mut gradient);
        (self.value(origins, unknown.parameter, point), gradient)
    }

    /// The scale on which a report's parameter is profiled: its logarithm unless it is linear.
    pub(crate) fn to_scale(&self, k: usize, value: f64) -> f64 {
        match self.unknowns[k].transform {
            // The ends of a logit are infinitely far.
            own @ (Transform::Linear { .. } | Transform::Logit { .. }) => {
                own.to_free(value, 0.0).clamp(-LOGIT_END, LOGIT_END)
            }
            // A bound of zero has no logarithm.
            _ if value <= 0.0 => (1e-3 * self.unknowns[k].bounds.1).ln(),
            _ => value.ln(),
        }
    }

    /// The inverse of [`Calibration::to_scale`].
    pub(crate) fn unscaled(&self, k: usize, scaled: f64) -> f64 {
        match self.unknowns[k].transform {
            own @ (Transform::Linear { .. } | Transform::Logit { .. }) => own.to_value(scaled, 0.0),
            _ => scaled.exp(),
        }
    }

    /// The box of an unknown.
    pub(super) fn free_bounds(&self, k: usize) -> (f64, f64) {
        let unknown = &self.unknowns[k];
        let (low, high) = unknown.bounds;
        match unknown.transform {
            Transform::Logit { .. } => (-LOGIT_END, LOGIT_END),
            Transform::Above(_) => {
                let origins = &self.origins[unknown.group.unwrap_or(0)];
                let (below, above) = match self.lower(origins, k).map(|p| origins[p]) {
                    Some(Origin::Unknown(other)) => self.unknowns[other].bounds,
                    Some(Origin::Value(v)) => (v, v),
                    _ => (0.0, 0.0),
                };
                ((low - above).max(1e-3 * high).ln(), (high - below).ln())
            }
            transform => (transform.to_free(low, 0.0), transform.to_free(high, 0.0)),
        }
    }

    /// The first start, where the case gives values: those, and the middle of the box for the rest.
    pub(crate) fn first_start(&self) -> Option<Vec<f64>> {
        self.unknowns.iter().find(|u| u.start.is_some())?;
        let middle = self.bounds.iter().map(|(low, high)| 0.5 * (low + high));
        let mut point = DVector::from_iterator(self.bounds.len(), middle);
        for (k, unknown) in self.unknowns.iter().enumerate() {
            let Some(start) = unknown.start else { continue };
            let origins = &self.origins[unknown.group.unwrap_or(0)];
            let lower = self
                .lower(origins, k)
                .map_or(0.0, |p| self.value(origins, p, &point));
            let (low, high) = self.bounds[k];
            let free = unknown.transform.to_free(start, lower);
            point[k] = if free.is_nan() {
                low
            } else {
                free.clamp(low, high)
            };
        }
        Some(point.as_slice().to_vec())
    }
}
