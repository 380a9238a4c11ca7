//! The interface of all laboratory tests. Fits, designs, studies, reports and the command line use a test through
//! [`Test`] only. A test is added by implementing it in one file and naming it in [`super::TESTS`].

mod condition;
mod drawing;
mod grid;
mod shares;
mod survey;

pub use condition::Condition;
pub(crate) use drawing::{AngleFigure, CurveKeys, DesignFigure, Figure, Label, Sweep};
pub(crate) use grid::{ChosenSetting, Grid, MAX_SECONDS};
pub(crate) use shares::ShareTest;
pub(crate) use shares::Shares;
pub(crate) use survey::Survey;

use std::{ops::RangeInclusive, sync::Arc};

use serde_json::Value;

use super::{
    Blueprint, PreparedTest, Setting, TestSettings, TestSetup,
    sheet::{Assumptions, Concept, DataSheet},
};
use crate::{error::Result, material::Law};

/// A measured value of a data file.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct MeasuredValue {
    /// What was measured.
    pub condition: Condition,
    /// The column's quantity.
    pub concept: &'static Concept,
    /// In the unit of the concept.
    pub value: f64,
    /// Standard deviation of a single specimen, where the file gives one.
    pub sd: Option<f64>,
}

/// A section of a case that belongs to one test.
pub(crate) struct CaseSection {
    /// Its name.
    pub name: &'static str,
    /// Its JSON schema.
    pub schema: Value,
}

/// What a test needs to fill in what a file leaves out.
pub(crate) struct Context<'a> {
    /// What the case says of tests.
    pub settings: &'a TestSettings,
    /// File and line.
    pub place: &'a str,
    /// Largest size and value among the points of the same loop (see [`Test::on_loop`]).
    pub largest: (f64, f64),
    /// What was taken for granted, a sentence each.
    pub notes: &'a mut Vec<String>,
}

/// One test of a textile laboratory.
pub(crate) trait Test: Sync {
    /// Name in results and messages.
    fn name(&self) -> &'static str;

    /// The quantities of its data file with their columns, in the order of the help.
    fn concepts(&self) -> &'static [&'static Concept];

    /// Those of its quantities that are measured: a file with one of them is a file of this test.
    fn quantities(&self) -> &'static [&'static Concept];

    /// What a file of this test needs, in words.
    fn needs(&self) -> String;

    /// Whether this test takes a quantity of another test as a setting.
    fn borrows(&self, _concept: &Concept) -> bool {
        false
    }

    /// Whether a time held at the largest deformation is a setting of the test.
    fn has_dwell(&self) -> bool {
        false
    }

    /// Refuses columns that do not make a test.
    fn check_columns(&self, _sheet: &DataSheet) -> Result<()> {
        Ok(())
    }

    /// Its settings in the section `tests` of a case.
    fn declared(&self) -> &'static [Setting] {
        &[]
    }

    /// The measured values of every row of a sheet.
    fn measured(
        &self,
        sheet: &DataSheet,
        assumed: &mut Assumptions,
    ) -> Result<Vec<Vec<MeasuredValue>>>;

    /// Size (such as a curvature) and dwell of a point of a loop. Points of one loop share its largest size.
    fn on_loop(&self, _condition: &Condition) -> Option<(f64, f64)> {
        None
    }

    /// Fills in the settings that a file leaves out.
    fn complete(&self, condition: Condition, context: &mut Context) -> Result<Condition>;

    /// Standard deviation of a value whose file gives none.
    fn assumed_sd(&self, condition: &Condition, value: f64, context: &mut Context) -> f64;

    /// A setting by which a case can hold out points.
    fn hold_out_setting(&self, _condition: &Condition, _name: &str) -> Option<f64> {
        None
    }

    /// Largest curvature of a test that gave this value \[1/m\].
    fn curvature(&self, condition: &Condition, value: f64) -> f64;

    /// How long the specimen is held \[s\].
    fn held(&self, condition: &Condition) -> f64;

    /// Adds what a value tells about the parameters.
    fn survey(&self, condition: &Condition, value: f64, survey: &mut Survey);

    /// Whether the reading depends on how long yarns rest.
    fn shows_time(&self, condition: &Condition) -> bool {
        self.held(condition) > 0.0
    }

    /// Whether readings determine the size of stiffnesses, not only their ratios.
    fn tells_rigidity(&self) -> bool {
        true
    }

    /// Where the sharpest curvature is, and what would be sharper.
    fn sharpest(&self, condition: &Condition) -> (String, &'static str);

    /// All kinds of its readings in results.
    fn kinds(&self) -> &'static [&'static str];

    /// Its readings in words, more than one of them.
    fn plural(&self) -> &'static str;

    /// Settings that tell the curves of its readings apart.
    fn tells_curves_apart(&self) -> &'static [&'static str];

    /// The setting that orders the readings of a curve; without one they are in the order of the file.
    fn orders_curve(&self) -> Option<&'static str> {
        None
    }

    /// Whether slopes of its readings are central differences, which a reverse pass cannot check.
    fn slopes_are_differences(&self) -> bool {
        false
    }

    /// Kind of a reading in results.
    fn kind(&self, _condition: &Condition) -> &'static str {
        self.name()
    }

    /// Quantity and unit of a reading in results; none for angles, whose names have the ending `_deg`.
    fn quantity(&self, condition: &Condition) -> Option<(&'static str, &'static str)>;

    /// Settings of a reading, by their names in results.
    fn settings(&self, condition: &Condition) -> Vec<(&'static str, f64)>;

    /// A reading in words.
    fn label(&self, condition: &Condition) -> Label;

    /// Values that a reading can have, and what another value is.
    fn possible(&self) -> (RangeInclusive<f64>, &'static str) {
        (f64::NEG_INFINITY..=f64::INFINITY, "is infinite")
    }

    /// Names of a curve's mean and of its fall from the first to the last point, where a study sums curves up.
    fn curve_summary(&self) -> Option<[&'static str; 2]> {
        None
    }

    /// Whether these settings have every reading simulated with a mesh.
    fn needs_meshes(&self, _settings: &TestSettings) -> bool {
        false
    }

    /// What a reader of a fit should know of how the test is simulated.
    fn note(&self, _settings: &TestSettings) -> Option<String> {
        None
    }

    /// Starts of a search that a simulation of this test allows.
    fn starts(&self, _settings: &TestSettings) -> usize {
        16
    }

    /// Smallest share by which a step of a search has to lower the cost, and largest damping, where the simulation
    /// allows less than the usual ones.
    fn search_limits(&self, _settings: &TestSettings) -> Option<(f64, f64)> {
        None
    }

    /// Prepares those conditions of a list that are this test's.
    fn prepare(&self, setup: &TestSetup) -> Result<Vec<Box<dyn PreparedTest>>>;

    /// What the hinges of this test's conditions do, where the test can tell; a condition has the number of its group.
    fn shares(
        &self,
        _law: &Arc<dyn Law>,
        _conditions: &[(usize, Condition)],
    ) -> Result<Option<Box<dyn ShareTest>>> {
        Ok(None)
    }

    /// Whether a resolution leaves this test out.
    fn is_left_out(&self, _setup: &TestSetup) -> bool {
        false
    }

    /// How curves are stored.
    fn curve_keys(&self) -> CurveKeys;

    /// Curves to draw through the conditions of one group.
    fn sweeps(&self, conditions: &[Condition], settings: &TestSettings) -> Vec<Sweep>;

    /// How curves are drawn.
    fn figure(&self) -> Figure;

    /// A kind of readings that are on no curve, and what they are: a picture has them in units of their measured
    /// values.
    fn without_curve(&self) -> Option<(&'static str, &'static str)> {
        None
    }

    /// Settings that a design may vary; values of one of them ask for the test.
    fn varied(&self) -> &'static [&'static str] {
        &[]
    }

    /// What could be measured next: a list of conditions for each measurement. `known` has the conditions measured so
    /// far.
    fn next(
        &self,
        _known: &[Condition],
        _settings: &TestSettings,
        _grid: &Grid,
    ) -> Vec<Vec<Condition>> {
        Vec::new()
    }

    /// A measurement of [`Test::next`] in words.
    fn measurement(&self, condition: &Condition) -> String {
        self.label(condition).name
    }

    /// Its name on the command line.
    fn command(&self) -> &'static str {
        self.name()
    }

    /// Settings that can be chosen for a made-up table, and those of them that can be chosen for a design.
    fn chosen(&self) -> &'static [ChosenSetting];

    /// A section of a case without which the test cannot be simulated.
    fn section(&self) -> Option<CaseSection> {
        None
    }

    /// A made-up table with the settings of a grid, and usual ones where it has none.
    fn blueprint(&self, settings: &TestSettings, grid: &Grid) -> Result<Blueprint>;

    /// How a design draws the measurements of [`Test::next`]; none where there are none.
    fn design_figure(&self) -> Option<DesignFigure> {
        None
    }

    /// What a design takes for granted of a measurement, a sentence.
    fn planned(&self) -> &'static str {
        ""
    }

    /// Standard deviation to expect of a measurement, from those of the data, sorted, and the expected values.
    fn planned_sd(&self, known: &[f64], expected: &[f64], settings: &TestSettings) -> f64;

    /// Whether all readings of a measurement grow alike with the size of all stiffnesses.
    fn scales_with_stiffness(&self) -> bool {
        false
    }
}
