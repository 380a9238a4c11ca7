//! The calibration problem: unknowns → parameters of every group → simulated tests → residuals.

mod layout;
mod mapping;

use std::sync::Arc;

use nalgebra::{DMatrix, DVector};

pub(crate) use layout::{LayoutPart, Unknown};
use layout::{Origin, layout};

use super::{
    case::Case,
    dataset::{DataRow, Dataset},
};
use crate::{
    error::Result,
    laboratory::{Condition, Resolution, TESTS, TestSettings, Tests, quadrature_error},
    material::{Law, Parameter, Transform},
    numeric::Compute,
    optimize::{Linearized, Problem},
};

/// Gate widths of the stages before the last, as shares of the largest curvature, and by how much fewer
/// hinges than the case asks for do. A wide gate sees far and needs few hinges, but it shifts every
/// threshold by about half its width.
const EARLY_STAGES: [(f64, usize); 3] = [(0.3, 64), (0.1, 32), (0.03, 8)];

/// Hinges of the stage before the last and of tests other than recovery, and of recovery tests where the law has no
/// closed form; eight times fewer in the stage before.
const HINGES: usize = 2048;
/// The same for laws that only the plain roll-out computes, thirty times slower.
const FEW_HINGES: usize = 128;

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
pub(crate) type ReadAt = (Vec<f64>, Option<DMatrix<f64>>);

/// A complete case with its data, ready to be fitted.
pub(crate) struct Calibration {
    /// What the user asked for.
    compute: Compute,
    /// The device where the fit was begun, in words.
    begun_device: String,
    /// Where the stages before the last are computed: single precision is enough for them.
    coarse: Compute,
    /// Where the last stage is computed, and all that follows it.
    fine: Compute,
    law: Arc<dyn Law>,
    parameters: Vec<Parameter>,
    hinges: usize,
    /// Whether the last stage reads whole folds: the case asks for no number of hinges.
    whole_folds: bool,
    settings: TestSettings,
    /// The unknowns, in order.
    pub unknowns: Vec<Unknown>,
    /// Of every group and parameter.
    origins: Vec<Vec<Origin>>,
    bounds: Vec<(f64, f64)>,
    /// Value, standard deviation and condition of every residual; repeats share a condition.
    targets: Vec<(f64, f64, usize)>,
    stages: Vec<Tests>,
    /// The last stage without its meshes, where it has any.
    without_meshes: Option<Tests>,
    /// Other processes that evaluate shares of a batch.
    #[cfg(feature = "mpi")]
    pub(crate) ranks: Option<crate::optimize::ranks::Ranks>,
}

impl Calibration {
    /// From a case that [`super::defaults::complete`] has completed.
    pub(crate) fn new(compute: Compute, case: &Case, data: &Dataset) -> Result<Calibration> {
        let calibration = Calibration::build(compute, case, data)?;
        layout::check_points(case, data, &calibration.unknowns)?;
        Ok(calibration)
    }

    /// The same of any data, such as those of one part of a problem.
    pub(super) fn build(compute: Compute, case: &Case, data: &Dataset) -> Result<Calibration> {
        let law = case.build_law();
        let hinges = case.tests.hinges.unwrap_or(match law.has_fused_form() {
            true => HINGES,
            false => FEW_HINGES,
        });
        let (unknowns, origins) = layout(case, data, &law.parameters())?;
        let mut calibration = Calibration {
            coarse: compute.coarse(),
            fine: compute.fine(),
            begun_device: compute.describe(),
            compute,
            parameters: law.parameters(),
            law,
            hinges,
            whole_folds: case.tests.hinges.is_none(),
            settings: case.tests,
            bounds: Vec::new(),
            unknowns,
            origins,
            targets: Vec::new(),
            stages: Vec::new(),
            without_meshes: None,
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
        let stages = stages(hinges);
        for (k, (hinges, width)) in stages.iter().enumerate() {
            // Early stages simulate independent hinges, which is cheap. Only the last stage simulates meshes and
            // whole folds.
            let last = k + 1 == stages.len();
            let resolution = Resolution {
                hinges: *hinges,
                width: Some(*width),
                whole_folds: last && calibration.whole_folds,
                meshes: last,
                settings: case.tests,
            };
            let compute = calibration.compute_of(k, stages.len()).clone();
            let tests = calibration.tests(&compute, resolution, &conditions)?;
            calibration.stages.push(tests);
        }
        if TESTS.iter().any(|test| test.needs_meshes(&case.tests)) {
            let resolution = Resolution {
                meshes: false,
                ..calibration.finest()
            };
            let compute = calibration.fine.clone();
            let tests = calibration.tests(&compute, resolution, &conditions)?;
            calibration.without_meshes = Some(tests);
        }
        Ok(calibration)
    }

    /// The parts of the problem, which share no unknown: most often one.
    pub(crate) fn parts(&self, data: &Dataset) -> Vec<LayoutPart> {
        let has_data = |group: usize| data.fitted().any(|row| row.group == group);
        let has_data: Vec<bool> = (0..self.origins.len()).map(has_data).collect();
        layout::parts(&self.origins, &has_data)
    }

    /// The same problem of a fit that was begun on another device.
    pub(crate) fn begun_on(self, device: &str) -> Calibration {
        Calibration {
            begun_device: device.into(),
            ..self
        }
    }

    /// The device where the fit was begun, in words.
    pub(crate) fn begun_device(&self) -> &str {
        &self.begun_device
    }

    /// What the user asked for. See [`Calibration::fine`].
    pub(crate) fn compute(&self) -> &Compute {
        &self.compute
    }

    /// Where the last stage is computed.
    pub(crate) fn fine(&self) -> &Compute {
        &self.fine
    }

    pub(crate) fn law(&self) -> &Arc<dyn Law> {
        &self.law
    }

    /// The parameter of the law that an unknown stands for.
    pub(crate) fn parameter_of(&self, unknown: &Unknown) -> &Parameter {
        &self.parameters[unknown.parameter]
    }

    /// Gate width of a stage, as a share of the largest curvature.
    pub(crate) fn width(&self, stage: usize) -> f64 {
        stages(self.hinges)[stage].1
    }

    /// Whether the last stage costs so little that its kinks can be searched.
    pub(crate) fn is_cheap(&self) -> bool {
        self.reads_whole_folds() && self.law.form().has_closed_form()
    }

    /// Whether the angles of the last stage are those of whole folds.
    pub(crate) fn reads_whole_folds(&self) -> bool {
        self.whole_folds && self.without_meshes.is_none()
    }

    /// How the last stage simulates.
    fn finest(&self) -> Resolution {
        Resolution {
            hinges: self.hinges,
            width: Some(WIDTH_OF_HINGES / self.hinges as f64),
            whole_folds: self.whole_folds,
            meshes: true,
            settings: self.settings,
        }
    }

    /// Where one of so many stages is computed.
    fn compute_of(&self, stage: usize, stages: usize) -> &Compute {
        match stage + 1 < stages {
            true => &self.coarse,
            false => &self.fine,
        }
    }

    fn tests(
        &self,
        compute: &Compute,
        resolution: Resolution,
        conditions: &[(usize, Condition)],
    ) -> Result<Tests> {
        let tests = Tests::resolved(compute, self.law.clone(), resolution, conditions)?;
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
    pub(crate) fn predict(
        &self,
        point: &DVector<f64>,
        conditions: &[(usize, Condition)],
    ) -> Result<(Vec<f64>, DMatrix<f64>)> {
        let tests = self.last_tests(conditions)?;
        let sets = [self.values(point)];
        let readings = tests.run(&self.fine, &sets, true)?.remove(0);
        let groups = tests.groups().iter().copied();
        let slopes = self.chain(&readings.slopes, groups, point);
        Ok((readings.values, slopes))
    }

    /// Tests of conditions as the last stage simulates them.
    pub(crate) fn last_tests(&self, conditions: &[(usize, Condition)]) -> Result<Tests> {
        self.tests(&self.fine, self.finest(), conditions)
    }

    /// Readings of tests at many points, each with ∂reading/∂unknown where slopes are asked for. The readings
    /// of a point do not depend on the other points of the batch.
    pub(crate) fn read(
        &self,
        tests: &Tests,
        points: &[DVector<f64>],
        with_slopes: bool,
    ) -> Result<Vec<ReadAt>> {
        let sets: Vec<Vec<Vec<f64>>> = points.iter().map(|p| self.values(p)).collect();
        let readings = tests.run(&self.fine, &sets, with_slopes)?;
        let groups = || tests.groups().iter().copied();
        let each = points.iter().zip(readings).map(|(point, readings)| {
            let slopes = with_slopes.then(|| self.chain(&readings.slopes, groups(), point));
            (readings.values, slopes)
        });
        Ok(each.collect())
    }

    /// The largest difference of an angle from a finer quadrature \[degrees\]; none where no fold is taken by quadrature.
    pub(crate) fn quadrature_error(
        &self,
        point: &DVector<f64>,
        conditions: &[(usize, Condition)],
    ) -> Option<f64> {
        if !self.reads_whole_folds() {
            return None;
        }
        let sets = self.values(point);
        let error = |(group, condition): &(usize, Condition)| {
            quadrature_error(self.law.as_ref(), &sets[*group], condition)
        };
        conditions.iter().filter_map(error).reduce(f64::max)
    }

    /// Readings of conditions under the hard law, with hinges enough that the fold's cut does not show.
    pub(crate) fn hard(
        &self,
        point: &DVector<f64>,
        conditions: &[(usize, Condition)],
    ) -> Result<Vec<f64>> {
        let resolution = Resolution {
            hinges: self.hinges.max(2048),
            width: None,
            whole_folds: true,
            ..self.finest()
        };
        let tests = self.tests(&self.fine, resolution, conditions)?;
        let mut readings = tests.run(&self.fine, &[self.values(point)], false)?;
        Ok(readings.remove(0).values)
    }
}

/// The groups and conditions of rows.
pub(crate) fn conditions<'a>(rows: impl Iterator<Item = &'a DataRow>) -> Vec<(usize, Condition)> {
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
        let compute = self.compute_of(stage, self.stages.len());
        let here =
            |points: &[DVector<f64>]| self.linearized_by(compute, &self.stages[stage], points);
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
    /// Residuals and Jacobian of the last stage from the reverse pass alone. Strip meshes are replaced by the hinge
    /// ensemble, which also provides their Jacobian; torques are left out. Returns `None` if no residual remains.
    pub(crate) fn by_reverse_pass(
        &self,
        points: &[DVector<f64>],
    ) -> Result<Option<Vec<Linearized>>> {
        let last = &self.stages[self.stages.len() - 1];
        let tests = self.without_meshes.as_ref().unwrap_or(last);
        if self.targets.iter().all(|t| tests.leaves_out(t.2)) {
            return Ok(None);
        }
        self.linearized_by(&self.fine, tests, points).map(Some)
    }

    fn linearized_by(
        &self,
        compute: &Compute,
        tests: &Tests,
        points: &[DVector<f64>],
    ) -> Result<Vec<Linearized>> {
        let sets: Vec<Vec<Vec<f64>>> = points.iter().map(|p| self.values(p)).collect();
        let readings = tests.run(compute, &sets, true)?;
        let (m, n) = (self.targets.len(), self.unknowns.len());
        let priors: Vec<(usize, (f64, f64))> = (0..n)
            .filter_map(|k| Some((k, self.unknowns[k].prior?)))
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
            for (i, &(k, (mean, sd))) in priors.iter().enumerate() {
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
