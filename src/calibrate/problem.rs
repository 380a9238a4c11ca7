//! The calibration problem: unknowns → parameters of every group → simulated tests → residuals.

mod layout;

use std::sync::Arc;

use nalgebra::{DMatrix, DVector};

pub use layout::Unknown;
use layout::{Origin, layout};

use super::{
    case::{Case, Specimen},
    dataset::{Dataset, Row},
    simulate::{Condition, Resolution, Tests},
};
use crate::{
    error::Result,
    experiment::TwistTest,
    fit::{Linearized, Problem},
    material::{Law, Transform},
    numeric::Compute,
};

/// Gate widths of the stages before the last, as shares of the largest curvature, and by how much fewer
/// hinges than the case asks for do. A wide gate sees far and needs few hinges, but it shifts every
/// threshold by about half its width.
const EARLY_STAGES: [(f64, usize); 3] = [(0.3, 64), (0.1, 32), (0.03, 8)];

/// Where a logit ends: within 1e-4 of the interval's ends.
const LOGIT_END: f64 = 9.0;

/// Fewest hinges of a stage.
const FEWEST_HINGES: usize = 32;

/// Width of the last gate times the number of hinges: it spans about three hinges, so that the angle is
/// smooth. With 2048 hinges it shifts a saturated threshold of cotton by less than 1 %; with 256 by 5 %, more than
/// its standard error.
const WIDTH_OF_HINGES: f64 = 5.0;

/// Hinges and gate widths of all stages.
fn stages(hinges: usize) -> Vec<(usize, f64)> {
    let last = (hinges, WIDTH_OF_HINGES / hinges as f64);
    let early = EARLY_STAGES.iter().map(|(width, share)| {
        let fewer = (hinges / share).max(FEWEST_HINGES).min(hinges);
        (fewer, width.max(last.1))
    });
    early.chain([last]).collect()
}

/// Readings at a point, and ∂reading/∂unknown where it was asked for.
pub type ReadAt = (Vec<f64>, Option<DMatrix<f64>>);

/// A complete case with its data, ready to be fitted.
pub struct Calibration {
    compute: Compute,
    law: Arc<dyn Law>,
    rate: f64,
    hinges: usize,
    /// Cells along the fold where the specimen is a strip mesh.
    strip_cells: Option<usize>,
    /// The cylinder of a twist.
    twist: Option<TwistTest>,
    /// The unknowns, in order.
    pub unknowns: Vec<Unknown>,
    /// Of every group and parameter.
    origins: Vec<Vec<Origin>>,
    bounds: Vec<(f64, f64)>,
    /// Value, standard deviation and condition of every residual; repeats share a condition.
    targets: Vec<(f64, f64, usize)>,
    stages: Vec<Tests>,
    /// The hinge ensemble of the last stage where its angles are those of a strip mesh.
    ensemble: Option<Tests>,
    /// Other processes that evaluate shares of a batch.
    #[cfg(feature = "mpi")]
    pub ranks: Option<crate::fit::ranks::Ranks>,
}

impl Calibration {
    /// From a case that [`super::defaults::complete`] has completed.
    pub fn new(compute: Compute, case: &Case, data: &Dataset) -> Result<Calibration> {
        let law = case.build_law();
        let hinges = case.tests.hinges.unwrap_or(FEWEST_HINGES);
        let (unknowns, origins) = layout(case, data, &law.parameters())?;
        let mut calibration = Calibration {
            compute,
            law,
            rate: case.tests.rate_per_m_s,
            hinges,
            strip_cells: (case.tests.specimen == Specimen::StripMesh)
                .then_some(case.tests.strip_cells),
            twist: case.twist,
            bounds: Vec::new(),
            unknowns,
            origins,
            targets: Vec::new(),
            stages: Vec::new(),
            ensemble: None,
            #[cfg(feature = "mpi")]
            ranks: None,
        };
        calibration.bounds = (0..calibration.unknowns.len())
            .map(|k| calibration.free_bounds(k))
            .collect();
        let mut conditions: Vec<(usize, Condition)> = Vec::new();
        for row in data.fitted() {
            let condition = (row.group, row.condition);
            let known = conditions.iter().position(|c| *c == condition);
            calibration
                .targets
                .push((row.value, row.sd, known.unwrap_or(conditions.len())));
            if known.is_none() {
                conditions.push(condition);
            }
        }
        for (hinges, width) in stages(hinges) {
            // Hinges on their own bring a search near, where meshes have the last word.
            let tests = calibration.tests_of((None, None), hinges, Some(width), &conditions)?;
            calibration.stages.push(tests);
        }
        let width = Some(calibration.width(calibration.stages.len() - 1));
        calibration.stages.pop();
        calibration
            .stages
            .push(calibration.tests(hinges, width, &conditions)?);
        if calibration.strip_cells.is_some() {
            let meshes = (None, calibration.twist);
            let ensemble = calibration.tests_of(meshes, hinges, width, &conditions)?;
            calibration.ensemble = Some(ensemble);
        }
        Ok(calibration)
    }

    /// Where it is computed.
    pub fn compute(&self) -> &Compute {
        &self.compute
    }

    /// The law.
    pub fn law(&self) -> &dyn Law {
        self.law.as_ref()
    }

    /// The law, to be kept.
    pub(crate) fn shared_law(&self) -> Arc<dyn Law> {
        self.law.clone()
    }

    /// Gate width of a stage, as a share of the largest curvature.
    pub fn width(&self, stage: usize) -> f64 {
        stages(self.hinges)[stage].1
    }

    /// Tests of the case's specimens.
    fn tests(
        &self,
        hinges: usize,
        width: Option<f64>,
        conditions: &[(usize, Condition)],
    ) -> Result<Tests> {
        self.tests_of((self.strip_cells, self.twist), hinges, width, conditions)
    }

    fn tests_of(
        &self,
        (strip_cells, twist): (Option<usize>, Option<TwistTest>),
        hinges: usize,
        width: Option<f64>,
        conditions: &[(usize, Condition)],
    ) -> Result<Tests> {
        let resolution = Resolution {
            hinges,
            width,
            bending_rate: self.rate,
            strip_cells,
            twist,
        };
        let tests = Tests::new(&self.compute, self.law.clone(), resolution, conditions)?;
        Ok(tests.seeking(self.sought()))
    }

    /// Parameters of the law that depend on an unknown in any group.
    fn sought(&self) -> Vec<usize> {
        let fixed = |o: &Origin| matches!(o, Origin::Value(_));
        (0..self.law.parameters().len())
            .filter(|p| self.origins.iter().any(|of_group| !fixed(&of_group[*p])))
            .collect()
    }

    /// Readings of further conditions at a point of the last stage, and ∂reading/∂unknown.
    pub fn predict(
        &self,
        point: &DVector<f64>,
        conditions: &[(usize, Condition)],
    ) -> Result<(Vec<f64>, DMatrix<f64>)> {
        let tests = self.last_tests(conditions)?;
        let (values, slopes) = self
            .read(&tests, std::slice::from_ref(point), true)?
            .remove(0);
        let none = DMatrix::zeros(values.len(), self.unknowns.len());
        Ok((values, slopes.unwrap_or(none)))
    }

    /// Tests of conditions as the last stage simulates them.
    pub fn last_tests(&self, conditions: &[(usize, Condition)]) -> Result<Tests> {
        let width = self.width(self.stages.len() - 1);
        self.tests(self.hinges, Some(width), conditions)
    }

    /// Readings of tests at many points, each with ∂reading/∂unknown where slopes are asked for. A point's
    /// readings do not depend on its company.
    pub fn read(
        &self,
        tests: &Tests,
        points: &[DVector<f64>],
        with_slopes: bool,
    ) -> Result<Vec<ReadAt>> {
        let sets: Vec<Vec<Vec<f64>>> = points.iter().map(|p| self.values(p)).collect();
        let readings = tests.run(&self.compute, &sets, with_slopes)?;
        let groups = || tests.groups().iter().copied();
        let each = points.iter().zip(readings).map(|(point, readings)| {
            let slopes = with_slopes.then(|| self.chain(&readings.slopes, groups(), point));
            (readings.values, slopes)
        });
        Ok(each.collect())
    }

    /// Readings of conditions under the hard law, with hinges enough that the fold's cut does not show.
    pub fn hard(
        &self,
        point: &DVector<f64>,
        conditions: &[(usize, Condition)],
    ) -> Result<Vec<f64>> {
        let tests = self.tests(self.hinges.max(2048), None, conditions)?;
        let mut readings = tests.run(&self.compute, &[self.values(point)], false)?;
        Ok(readings.remove(0).values)
    }

    /// Parameters of every group.
    pub fn values(&self, point: &DVector<f64>) -> Vec<Vec<f64>> {
        (0..self.origins.len())
            .map(|group| self.group_values(group, point))
            .collect()
    }

    /// Parameters of a group, in the law's order.
    pub fn group_values(&self, group: usize, point: &DVector<f64>) -> Vec<f64> {
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
    fn chain(
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
    pub fn parameter(&self, k: usize, point: &DVector<f64>) -> (f64, DVector<f64>) {
        let unknown = &self.unknowns[k];
        let origins = &self.origins[unknown.group.unwrap_or(0)];
        let mut gradient = DVector::zeros(point.len());
        self.add_gradient(origins, unknown.parameter, point, 1.0, &mut gradient);
        (self.value(origins, unknown.parameter, point), gradient)
    }

    /// The scale on which a report's parameter is profiled: its logarithm unless it is linear.
    pub fn to_scale(&self, k: usize, value: f64) -> f64 {
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
    pub fn from_scale(&self, k: usize, scaled: f64) -> f64 {
        match self.unknowns[k].transform {
            own @ (Transform::Linear { .. } | Transform::Logit { .. }) => own.to_value(scaled, 0.0),
            _ => scaled.exp(),
        }
    }

    /// The box of an unknown.
    fn free_bounds(&self, k: usize) -> (f64, f64) {
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

    /// The unknowns at which all groups have the given parameters, in the law's order; none where the
    /// bounds leave them out.
    pub fn point_of(&self, values: &[f64]) -> Option<DVector<f64>> {
        let mut point = DVector::zeros(self.unknowns.len());
        for (k, unknown) in self.unknowns.iter().enumerate() {
            let lower = self.lower(&self.origins[unknown.group.unwrap_or(0)], k);
            let lower = lower.map_or(0.0, |p| values[p]);
            point[k] = unknown.transform.to_free(values[unknown.parameter], lower);
            let (low, high) = self.bounds[k];
            (low..=high).contains(&point[k]).then_some(())?;
        }
        Some(point)
    }

    /// The first start, where the case gives values: those, and the middle of the box for the rest.
    pub fn first_start(&self) -> Option<Vec<f64>> {
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

/// The groups and conditions of rows.
pub fn conditions<'a>(rows: impl Iterator<Item = &'a Row>) -> Vec<(usize, Condition)> {
    rows.map(|row| (row.group, row.condition)).collect()
}

impl Problem for Calibration {
    fn bounds(&self) -> &[(f64, f64)] {
        &self.bounds
    }

    fn data(&self) -> usize {
        self.targets.len()
    }

    fn stages(&self) -> usize {
        self.stages.len()
    }

    fn linearized(&self, stage: usize, points: &[DVector<f64>]) -> Result<Vec<Linearized>> {
        let here = |points: &[DVector<f64>]| self.linearized_by(&self.stages[stage], points);
        #[cfg(feature = "mpi")]
        if let Some(ranks) = self.ranks {
            return ranks.linearized(stage, points, &here);
        }
        here(points)
    }

    fn quantity(&self, k: usize, point: &DVector<f64>) -> (f64, DVector<f64>) {
        let (value, gradient) = self.parameter(k, point);
        match self.unknowns[k].transform {
            Transform::Linear { .. } | Transform::Logit { .. } => {
                let mut own = DVector::zeros(point.len());
                own[k] = 1.0;
                (point[k], own)
            }
            _ => (value.ln(), gradient / value),
        }
    }
}

impl Calibration {
    /// Residuals of which the Jacobian of the last stage is the derivative: its own, but for a strip mesh
    /// those of the hinge ensemble.
    pub fn differentiated(&self, points: &[DVector<f64>]) -> Result<Vec<Linearized>> {
        let last = &self.stages[self.stages.len() - 1];
        self.linearized_by(self.ensemble.as_ref().unwrap_or(last), points)
    }

    fn linearized_by(&self, tests: &Tests, points: &[DVector<f64>]) -> Result<Vec<Linearized>> {
        let sets: Vec<Vec<Vec<f64>>> = points.iter().map(|p| self.values(p)).collect();
        let readings = tests.run(&self.compute, &sets, true)?;
        let (m, n) = (self.targets.len(), self.unknowns.len());
        let priors: Vec<usize> = (0..n)
            .filter(|k| self.unknowns[*k].prior.is_some())
            .collect();
        let results = points.iter().zip(readings).map(|(point, readings)| {
            let chained = self.chain(&readings.slopes, tests.groups().iter().copied(), point);
            let mut jacobian = DMatrix::zeros(m + priors.len(), n);
            let mut residuals = DVector::zeros(m + priors.len());
            let seen = self.targets.iter().enumerate();
            for (i, (target, sd, condition)) in seen.filter(|(_, t)| !tests.leaves_out(t.2)) {
                residuals[i] = (readings.values[*condition] - target) / sd;
                jacobian.set_row(i, &(chained.row(*condition) / *sd));
            }
            for (i, &k) in priors.iter().enumerate() {
                let (mean, sd) = self.unknowns[k].prior.unwrap_or((0.0, 1.0));
                let (value, gradient) = self.parameter(k, point);
                residuals[m + i] = (value - mean) / sd;
                jacobian.row_mut(m + i).tr_copy_from(&(gradient / sd));
            }
            Linearized {
                residuals,
                jacobian,
            }
        });
        Ok(results.collect())
    }
}
