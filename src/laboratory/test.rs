//! The interface of all laboratory tests. Fits, designs, studies, reports and the command line use a test through
//! [`Test`] only. A test is added by implementing it in one file and naming it in [`super::TESTS`].

use std::{fmt, ops::RangeInclusive, sync::Arc};

use serde::{Serialize, Serializer, ser::SerializeStruct};

use super::{
    Blueprint, PreparedTest, Setting, TESTS, TestSettings, TestSetup,
    sheet::{Assumptions, Concept, DataSheet},
};
use crate::{error::Result, material::Law, numeric::Compute};

/// One reading of a test, with all that decides its value. In SI units.
#[derive(Clone, Copy)]
pub struct Condition {
    /// The test.
    pub test: &'static dyn Test,
    /// Which of the test's readings it is. The test numbers them.
    pub reading: usize,
    /// Settings of the test, in the order that the test chooses. A setting that a data file leaves out is NaN until
    /// `Test::complete` fills it in.
    pub numbers: [f64; 4],
}

impl PartialEq for Condition {
    /// Bit by bit, so that open settings are equal to each other.
    fn eq(&self, other: &Self) -> bool {
        let bits = |c: &Condition| c.numbers.map(|x| (x + 0.0).to_bits());
        (self.test.name(), self.reading, bits(self))
            == (other.test.name(), other.reading, bits(other))
    }
}

impl fmt::Debug for Condition {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(
            f,
            "{} {} {:?}",
            self.test.name(),
            self.reading,
            self.numbers
        )
    }
}

impl Serialize for Condition {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("Condition", 3)?;
        fields.serialize_field("test", self.test.name())?;
        fields.serialize_field("reading", &self.reading)?;
        fields.serialize_field("numbers", &self.numbers)?;
        fields.end()
    }
}

impl Condition {
    /// How long the specimen is held \[s\].
    pub fn held(&self) -> f64 {
        self.test.held(self)
    }

    /// A setting by its name in results, such as `gap_mm`.
    pub fn setting(&self, name: &str) -> Option<f64> {
        let settings = self.test.settings(self);
        settings.iter().find(|s| s.0 == name).map(|s| s.1)
    }
}

/// A measured value of a data file.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Measured {
    /// What was measured.
    pub condition: Condition,
    /// The column's quantity.
    pub concept: &'static Concept,
    /// In the unit of the concept.
    pub value: f64,
    /// Standard deviation of a single specimen, where the file gives one.
    pub sd: Option<f64>,
}

/// What a test needs to fill in what a file leaves out.
pub struct Context<'a> {
    /// What the case says of tests.
    pub settings: &'a TestSettings,
    /// File and line.
    pub place: &'a str,
    /// Largest size and value among the points of the same loop (see [`Test::on_loop`]).
    pub largest: (f64, f64),
    /// What was taken for granted, a sentence each.
    pub notes: &'a mut Vec<String>,
}

/// A reading in words, for tables and plots.
#[derive(Debug, Clone, PartialEq)]
pub struct Label {
    /// The reading with its settings.
    pub name: String,
    /// Unit.
    pub unit: &'static str,
    /// Place on a curve: the curve's name, x, and the label of the x axis.
    pub place: Option<(String, f64, &'static str)>,
}

/// What data tell about the ranges of a law's parameters.
#[derive(Debug, Clone, PartialEq)]
pub struct Survey {
    /// Mildest and sharpest curvature at which something was read \[1/m\].
    pub curvature: (f64, f64),
    /// Shortest and longest dwell \[s\].
    pub times: (f64, f64),
    /// Rigidities as measured \[N·m\].
    pub rigidities: Vec<f64>,
    /// Whether readings depend on the rigidity in a way that only a simulation tells.
    pub tells_rigidity: bool,
}

impl Survey {
    /// Widens the range at its sharp end only: a strip that bends as its fabric lets it tells nothing about how mild a
    /// bend may be.
    pub fn see_sharp_curvature(&mut self, curvature: f64) {
        self.curvature.1 = self.curvature.1.max(curvature);
    }

    /// Widens the range of curvatures to hold this one \[1/m\].
    pub fn see_curvature(&mut self, curvature: f64) {
        let (low, high) = self.curvature;
        self.curvature = (low.min(curvature), high.max(curvature));
    }
}

/// Conditions along a curve that is drawn.
#[derive(Debug, Clone, PartialEq)]
pub struct Sweep {
    /// What all points of the curve have in common, by the names of results.
    pub settings: Vec<(&'static str, f64)>,
    /// x of every point.
    pub x: Vec<f64>,
    /// What is read at every point.
    pub conditions: Vec<Condition>,
}

/// How the curves of a test are stored in results.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CurveKeys {
    /// Name of the list.
    pub list: &'static str,
    /// Name of x.
    pub x: &'static str,
    /// Name of the fitted values.
    pub fitted: &'static str,
    /// Names of the hard law's values and of the ends of the 95 % band, for tests whose curves have them.
    pub band: Option<[&'static str; 3]>,
    /// Whether the fitted curve is that of the hard law.
    pub hard: bool,
}

/// How the curves of a test are drawn: one picture a group, with measured points and fitted lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Figure {
    /// Beginning of the file's name.
    pub stem: &'static str,
    /// Beginning of the title; the group follows.
    pub title: &'static str,
    /// What the picture shows, for its caption.
    pub shows: &'static str,
    /// Label of the x axis.
    pub x_label: &'static str,
    /// Label of the y axis.
    pub y_label: &'static str,
    /// Which readings are points of the picture, by [`Test::kind`].
    pub kind: &'static str,
    /// Setting of a point that is its x.
    pub x: &'static str,
    /// Setting of a point that tells the series apart, the same setting of a curve, and a series in words, with {} for
    /// the setting.
    pub series: (&'static str, &'static str, &'static str),
    /// What a picture of angles has besides.
    pub angles: Option<AngleFigure>,
}

/// What a picture of angles has besides: prediction bands, a log axis of times, and a picture for every value of a
/// setting where there are too many curves. In words {} stands for the setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AngleFigure {
    /// Beginning of the caption; {} stands for the group.
    pub caption: &'static str,
    /// What x is, without its unit.
    pub x: &'static str,
    /// A point at x = 0, which has no place on the axis.
    pub at_zero: &'static str,
    /// The setting that has pictures of its own.
    pub panel: &'static str,
    /// The setting in the label of a curve.
    pub label: &'static str,
    /// The setting in a sentence.
    pub sentence: &'static str,
}

/// How a design draws what could be measured: what each measurement would teach against one of its settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DesignFigure {
    /// Setting that tells the series apart, where there is one.
    pub series: Option<&'static str>,
    /// A series in words, with {} for the setting.
    pub words: &'static str,
    /// Setting that is x.
    pub x: &'static str,
    /// What x is, without its unit.
    pub x_name: &'static str,
    /// Unit of x. Tests with the same unit share a picture; times have a log axis.
    pub x_unit: &'static str,
    /// Whether the points of a series are joined.
    pub is_line: bool,
}

/// What a design may vary: values \[SI units\] by the name of the setting.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Grid(pub Vec<(&'static str, Vec<f64>)>);

impl Grid {
    /// Values of a setting; none where nothing is given.
    pub fn values(&self, name: &str) -> Option<&[f64]> {
        let found = self.0.iter().find(|(n, v)| *n == name && !v.is_empty());
        found.map(|(_, values)| values.as_slice())
    }

    /// Whether a test is asked for: values are given for a setting that it varies, or for none that any test varies.
    pub fn admits(&self, test: &dyn Test) -> bool {
        let given = |test: &dyn Test| test.varied().iter().any(|n| self.values(n).is_some());
        given(test) || !TESTS.into_iter().any(given)
    }
}

/// What the hinges of a test did.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, serde::Deserialize)]
pub struct Shares {
    /// Share that slips when released; the rest sticks.
    pub slips: f64,
    /// Share that has yielded.
    pub yields: f64,
}

impl Shares {
    /// What most of them do, in words.
    pub fn describe(self) -> String {
        // One hinge in twenty is what a coarse fold cannot tell from none.
        let word = |share: f64, words: [&'static str; 3]| match share {
            s if s < 0.05 => words[0],
            s if s > 0.95 => words[2],
            _ => words[1],
        };
        format!(
            "{}, {}",
            word(self.slips, ["stick", "stick/slip", "slip"]),
            word(self.yields, ["no yield", "some yield", "all yield"])
        )
    }
}

/// What the hinges of some conditions do under the hard law, for many sets of parameters.
pub trait ShareTest: Send + Sync {
    /// Which conditions they are.
    fn conditions(&self) -> &[usize];

    /// Shares at every condition; `sets[s][group]` are the parameters of a group in set s.
    fn run(&self, compute: &Compute, sets: &[Vec<Vec<f64>>]) -> Result<Vec<Vec<Shares>>>;
}

/// One test of a textile laboratory.
pub trait Test: Sync {
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
    fn measured(&self, sheet: &DataSheet, assumed: &mut Assumptions) -> Result<Vec<Vec<Measured>>>;

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

    /// Settings that a design may vary.
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

    /// Settings of a made-up table that can be chosen.
    fn chosen(&self) -> &'static [&'static str];

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
