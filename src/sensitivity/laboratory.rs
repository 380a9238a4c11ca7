//! Laboratory tests as models: a case's unknowns are varied, its tests are read.

mod outputs;
mod ranges;

use nalgebra::DVector;
use serde_json::{Value, json};

use outputs::Recipe;
use ranges::Ranges;
pub(crate) use ranges::{RangeWish, Vary};

use super::{
    factor::Factor,
    model::{Model, ModelRun, Output},
};
use crate::{
    error::Result,
    fit::{
        case::Case,
        dataset::{DataRow, Dataset},
        defaults::complete,
        problem::Calibration,
    },
    laboratory::{Condition, ShareTest, TESTS, Tests},
    material::Transform,
    numeric::Compute,
};

/// Hinges along a fold where whole folds take too long and the case does not say: the gate is then 4 % of the crest
/// curvature wide, and a run costs a sixteenth of one with the fit's 2048.
pub(crate) const HINGES: usize = 128;
/// The same for laws that only the plain roll-out computes.
const FEW_HINGES: usize = 64;
/// As many hinges cost about as much as a whole fold.
const WHOLE_FOLD: usize = 32;
/// Hinges that a task takes through its schedule at once: some ten megabytes.
const BATCH: usize = 1 << 17;
/// Most runs of a task.
const MOST: usize = 256;

/// A case as a model.
pub(crate) struct Laboratory {
    case: Case,
    calibration: Calibration,
    tests: Tests,
    conditions: Vec<(usize, Condition)>,
    /// Condition and standard deviation of every measurement.
    measured: Vec<(usize, f64)>,
    ranges: Ranges,
    outputs: Vec<Output>,
    /// How each output follows from the conditions.
    recipes: Vec<Recipe>,
    /// The output that sums all curves up.
    main: Option<usize>,
    /// What the hinges of conditions do, a test each.
    shares: Vec<Box<dyn ShareTest>>,
    /// Conditions of which that is known.
    shared: Vec<usize>,
    hinges: usize,
}

impl Laboratory {
    /// A case with its data, of which the unknowns are varied as `wish` says.
    pub(crate) fn new(
        compute: &Compute,
        case: &Case,
        data: &Dataset,
        wish: &RangeWish,
    ) -> Result<Laboratory> {
        let mut case = case.clone();
        let law = case.build_law();
        if law.form().has_branches() {
            let usual = if law.has_fused_form() {
                HINGES
            } else {
                FEW_HINGES
            };
            case.tests.hinges.get_or_insert(usual);
        }
        let case = &complete(&case, data)?;
        let calibration = Calibration::new(compute.clone(), case, data)?;
        let (conditions, measured) = conditions(data);
        let tests = calibration.last_tests(&conditions)?;
        let (outputs, recipes, main) = outputs::outputs(&conditions, data);
        let law = calibration.law().clone();
        let shares = TESTS.iter().map(|test| test.shares(&law, &conditions));
        let shares: Vec<_> = shares
            .collect::<Result<Vec<_>>>()?
            .into_iter()
            .flatten()
            .collect();
        Ok(Laboratory {
            ranges: Ranges::new(&calibration, wish)?,
            shared: shares
                .iter()
                .flat_map(|s| s.conditions().to_vec())
                .collect(),
            shares,
            case: case.clone(),
            calibration,
            tests,
            conditions,
            measured,
            outputs,
            recipes,
            main,
            hinges: case.tests.hinges.unwrap_or(WHOLE_FOLD),
        })
    }

    /// What was assumed of the ranges, a sentence each.
    pub(crate) fn notes(&self) -> &[String] {
        &self.ranges.notes
    }

    /// The unknowns at given values of the factors.
    fn unknowns(&self, values: &[f64]) -> DVector<f64> {
        let mut all = self.ranges.base.clone();
        for (place, value) in self.ranges.places.iter().zip(values) {
            all[*place] = *value;
        }
        let pairs = self.calibration.unknowns.iter().zip(&all);
        let free = pairs.map(|(unknown, value)| match unknown.transform {
            // The factor is the distance above the other parameter.
            Transform::Above(_) => value.ln(),
            transform => transform.to_free(*value, 0.0),
        });
        DVector::from_iterator(all.len(), free)
    }

    /// Outputs and slopes of a run from the readings of its conditions.
    fn gather(
        &self,
        point: &DVector<f64>,
        readings: &[f64],
        slopes: Option<nalgebra::DMatrix<f64>>,
    ) -> ModelRun {
        if let Some(why) = self.impossible(readings) {
            return ModelRun::failed(why);
        }
        let values = self.recipes.iter().map(|recipe| recipe.of(|c| readings[c]));
        let mut run = ModelRun {
            values: values.collect(),
            ..ModelRun::default()
        };
        if let Some(slopes) = slopes {
            // From the unknowns of the search to the values of the factors.
            let unknowns = &self.calibration.unknowns;
            let of = |recipe: &Recipe, place: usize| {
                let slope = unknowns[place].transform.slope(point[place]);
                recipe.of(|condition| slopes[(condition, place)]) / slope
            };
            let places = &self.ranges.places;
            let row = |recipe| places.iter().map(move |place| of(recipe, *place));
            run.slopes = self.recipes.iter().flat_map(row).collect();
        }
        run
    }

    /// Why readings cannot be used, where they cannot.
    fn impossible(&self, readings: &[f64]) -> Option<String> {
        for (i, reading) in readings.iter().enumerate() {
            let name = &self.outputs[i].name;
            if !reading.is_finite() {
                return Some(format!("{name} is not a number"));
            }
            let (possible, otherwise) = self.conditions[i].1.test.possible();
            if !possible.contains(reading) {
                return Some(format!("{name} {otherwise}"));
            }
        }
        None
    }
}

/// Condition and standard deviation of measurements.
type Spreads = Vec<(usize, f64)>;

/// The distinct conditions of the data, and the condition and spread of every measurement.
fn conditions(data: &Dataset) -> (Vec<(usize, Condition)>, Spreads) {
    let (mut conditions, mut measured) = (Vec::new(), Vec::new());
    for DataRow {
        group,
        condition,
        sd,
        ..
    } in data.fitted()
    {
        let condition = (*group, *condition);
        let known = conditions.iter().position(|c| *c == condition);
        measured.push((known.unwrap_or(conditions.len()), *sd));
        if known.is_none() {
            conditions.push(condition);
        }
    }
    (conditions, measured)
}

impl Model for Laboratory {
    fn identity(&self) -> Value {
        json!({
            "case": self.case.to_json(),
            "conditions": self.conditions.iter().map(|c| format!("{c:?}")).collect::<Vec<_>>(),
            "measured": self.measured,
            "base": self.ranges.base,
            "device": self.calibration.compute().describe(),
        })
    }

    fn factors(&self) -> &[Factor] {
        &self.ranges.factors
    }

    fn outputs(&self) -> &[Output] {
        &self.outputs
    }

    fn main_output(&self) -> Option<usize> {
        self.main
    }

    fn chunk(&self) -> usize {
        let settings = &self.case.tests;
        let mut tests = self.conditions.iter().map(|(_, condition)| condition.test);
        let meshes = tests.any(|test| test.needs_meshes(settings));
        if meshes {
            return 1;
        }
        let fitting = BATCH / (self.conditions.len() * self.hinges.div_ceil(2)).max(1);
        let fitting = fitting.clamp(1, MOST);
        // The largest power of two in it.
        1 << fitting.ilog2()
    }

    fn run(&self, points: &[Vec<f64>], full: bool) -> Result<Vec<ModelRun>> {
        let unknowns: Vec<DVector<f64>> = points.iter().map(|p| self.unknowns(p)).collect();
        let readings = self.calibration.read(&self.tests, &unknowns, full)?;
        let mut runs: Vec<ModelRun> = unknowns
            .iter()
            .zip(readings)
            .map(|(point, (values, slopes))| self.gather(point, &values, slopes))
            .collect();
        if full && !self.shares.is_empty() {
            let sets: Vec<_> = unknowns
                .iter()
                .map(|u| self.calibration.values(u))
                .collect();
            for shares in &self.shares {
                let found = shares.run(self.calibration.fine(), &sets)?;
                for (run, shares) in runs.iter_mut().zip(found) {
                    run.regimes.extend(shares);
                }
            }
        }
        Ok(runs)
    }

    fn measurements(&self, _: &[f64]) -> Vec<(usize, f64)> {
        self.measured.clone()
    }

    fn regime_outputs(&self) -> &[usize] {
        &self.shared
    }
}

#[cfg(test)]
mod tests;
