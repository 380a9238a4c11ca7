//! What a fit found: the contents of `result.json`, from which every report and plot is drawn.

mod curve;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::spread::SpreadComparison;

pub(crate) use curve::{Curves, FittedCurve};

use super::verdict::IDENTIFIED;

/// A finished (or interrupted) fit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FitResult {
    pub name: String,
    /// Whether any of the data are synthetic; every report and plot says so.
    pub synthetic: bool,
    /// The law, by its name in material files.
    pub law: String,
    /// Relaxation branches of the law.
    pub relaxation_branches: usize,
    /// Whether its yarns may differ.
    #[serde(default)]
    pub population: bool,
    /// Assumptions and warnings, a sentence each: which stiffness was fixed by what, assumed gaps …
    pub notes: Vec<String>,
    /// Why the search stopped, in words.
    pub convergence: String,
    /// Whether Ctrl-C ended it early.
    pub interrupted: bool,
    /// All parameters of the law, free ones first.
    pub parameters: Vec<ParameterResult>,
    /// Correlations of the free parameters.
    pub correlations: Correlations,
    pub statistics: FitStatistics,
    /// Whether the law follows the data.
    pub misfit: Misfit,
    /// How the points that were held out are predicted.
    pub hold_out: Option<HoldOut>,
    /// How far the fitted readings are from those of the hard law.
    pub hard_law: HardLaw,
    /// The gradient at the optimum against central differences.
    pub gradient_check: JacobianCheck,
    /// Every data point, in the order of the files.
    pub points: Vec<PointResult>,
    /// Fitted curves of all tests for plots.
    #[serde(flatten)]
    pub curves: Curves,
    /// Profile likelihoods of the free parameters.
    pub profiles: Vec<ProfileResult>,
    /// Where every start ended.
    pub starts: Vec<StartResult>,
    /// The search round by round.
    pub rounds: Vec<RoundResult>,
    /// Parametric bootstrap, where one was run.
    pub bootstrap: Option<BootstrapResult>,
    /// What fits with equal yarns and with spreads came to, where both were asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spread: Option<SpreadComparison>,
    /// The data files and what they say about themselves.
    pub data: Vec<DataResult>,
    /// How it was run; the only part that differs between two equal runs.
    pub run: RunResult,
    /// Files of the result, relative to its folder.
    pub files: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ParameterResult {
    /// Name; a local one carries its group, as `yield_strain[weft]`.
    pub name: String,
    /// The papers' symbol.
    pub symbol: String,
    /// Unit in words.
    pub unit: String,
    /// Estimate; none where the data do not determine it.
    pub value: Option<f64>,
    /// Value at the best point, determined or not; what `material.json` holds.
    pub best: f64,
    /// Standard error from the covariance.
    pub std_error: Option<f64>,
    /// 95 % interval from the profile likelihood; an end is none where the data leave it open.
    pub ci95: [Option<f64>; 2],
    /// "identified", "identified only as …", "known only to …", "under a misfit: …", "no error bar: …",
    /// "not identified: …", "fixed: …" or "tied to …".
    pub verdict: String,
    pub free: bool,
    /// First guess of the best start.
    pub start: Option<f64>,
    pub bounds: Option<[f64; 2]>,
    /// Prior as mean and standard deviation.
    pub prior: Option<[f64; 2]>,
}

impl ParameterResult {
    /// Whether its verdict is that the data determine it by itself.
    pub fn identified(&self) -> bool {
        self.free && self.verdict == IDENTIFIED
    }
}

/// Correlation matrix of the free parameters.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Correlations {
    /// Names, in the order of rows and columns.
    pub names: Vec<String>,
    /// Rows; none where a parameter has no standard error.
    pub matrix: Vec<Vec<Option<f64>>>,
}

/// Goodness of fit over the fitted points.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FitStatistics {
    /// Fitted points, without those held out.
    pub points: usize,
    /// Free parameters.
    pub free: usize,
    /// Directions of the free parameters that the data see: the rank of their Jacobian.
    pub seen: usize,
    /// Degrees of freedom: points − seen.
    pub freedom: usize,
    /// Σ ((measured − fitted)/sd)².
    pub chi2: f64,
    /// χ²/freedom; none without degrees of freedom.
    pub reduced_chi2: Option<f64>,
    /// χ² + 2·seen.
    pub aic: f64,
    /// χ² + seen·ln(points).
    pub bic: f64,
    /// Share of the weighted variance within each test that the fit explains; none where there is none.
    pub r2: Option<f64>,
    /// χ² under the hard law.
    pub hard_chi2: f64,
    /// Factor on standard deviations that were assumed, from the scatter of their residuals; 1 where none was.
    pub error_scale: f64,
    /// Factor on all other standard deviations: 1 unless the law misfits, then √(reduced χ²).
    pub misfit_scale: f64,
}

/// Whether the law follows the data.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Misfit {
    /// Whether the fit is called a misfit.
    pub declared: bool,
    /// Probability of a χ² at least this large if the law is right, from readings whose spread is known. Where repeats
    /// tell the spread it is that of the lack of fit against their scatter (F).
    pub chi2_probability: Option<f64>,
    /// Runs of residuals of one sign, along each curve.
    pub runs: usize,
    /// Runs to expect if the signs were random.
    pub expected_runs: f64,
    /// Probability of so few runs if the signs were random.
    pub runs_probability: Option<f64>,
    /// In words: "the law follows the data …" or "misfit: …".
    pub verdict: String,
}

/// Prediction of the points that were held out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HoldOut {
    /// How many.
    pub points: usize,
    /// Root mean square of (measured − predicted)/(standard deviation of the prediction error).
    pub rms_z: f64,
    /// How many lie inside their 95 % prediction interval.
    pub inside_95: usize,
    /// In words.
    pub verdict: String,
}

/// How far the fitted readings are from those of the hard law. Whole folds are read under the hard law itself; sums
/// over hinges and bending tests have a narrow smooth gate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HardLaw {
    /// Largest |fitted − hard| over the recovery angles \[degrees\]; none where there are none.
    pub largest_deg: Option<f64>,
    /// Largest |fitted − hard|/sd over the fitted points.
    pub largest_sd: f64,
    /// In words.
    pub verdict: String,
}

/// Gradient of the cost at the optimum: the reverse pass against central differences.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct JacobianCheck {
    /// A line a free parameter; none where no reverse pass was taken.
    pub parameters: Vec<GradientLine>,
    /// Largest |difference| over the largest row of the Jacobian.
    pub largest_error: f64,
    /// Whether it is small enough.
    pub passed: bool,
}

/// One free parameter of [`JacobianCheck`], in the unknown of the search.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GradientLine {
    pub name: String,
    /// Norm of the column of the Jacobian, by the reverse pass.
    pub reverse: f64,
    /// The same by central differences.
    pub differences: f64,
}

/// One data point. Angles have the ending `_deg`, other tests a `unit`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct PointResult {
    /// Kind of the reading, such as `crease` or `kes_loop`.
    pub test: String,
    /// Fabric and direction, such as `cotton warp`.
    pub group: String,
    /// File and line.
    pub place: String,
    /// Whether it was held out.
    pub held_out: bool,
    /// Settings of the test by their names, such as `gap_mm` and `press_s`.
    #[serde(flatten)]
    pub settings: BTreeMap<String, f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub measured_deg: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sd_deg: Option<f64>,
    /// Recovery angle of the fitted law.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fitted_deg: Option<f64>,
    /// The same under the hard law.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hard_deg: Option<f64>,
    /// What was measured, such as `B` or `torque`; none for angles.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quantity: Option<String>,
    /// Unit of the next four.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub measured: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sd: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fitted: Option<f64>,
    /// The same under the hard law.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hard: Option<f64>,
    /// Where the sd comes from: "stated", "repeats" or "assumed".
    pub sd_from: String,
    /// Standard deviation of the prediction, parameters and reading together.
    pub prediction_sd: Option<f64>,
}

impl PointResult {
    /// A setting of the test.
    pub fn setting(&self, name: &str) -> Option<f64> {
        self.settings.get(name).copied()
    }

    /// (measured, sd, fitted, hard) in the point's own unit.
    pub fn numbers(&self) -> [f64; 4] {
        let pick = |a: Option<f64>, b: Option<f64>| a.or(b).unwrap_or(f64::NAN);
        [
            pick(self.measured_deg, self.measured),
            pick(self.sd_deg, self.sd),
            pick(self.fitted_deg, self.fitted),
            pick(self.hard_deg, self.hard),
        ]
    }

    /// (measured − fitted)/sd.
    pub fn residual(&self) -> f64 {
        let [measured, sd, fitted, _] = self.numbers();
        (measured - fitted) / sd
    }
}

/// Profile likelihood of one parameter: the others are refitted at each value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProfileResult {
    pub name: String,
    /// Values, increasing.
    pub values: Vec<f64>,
    /// χ² above its minimum.
    pub delta_chi2: Vec<f64>,
    /// Δχ² at the ends of the 95 % interval.
    pub limit: f64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StartResult {
    /// Number, from 1. Where parts of the problem were searched apart, its place: starts are then in order.
    pub start: usize,
    /// χ² at the first guess under the widest gate.
    pub first_chi2: Option<f64>,
    /// χ² at the end under the narrowest gate, priors included.
    pub chi2: Option<f64>,
    /// Whether it ended in the best minimum.
    pub best: bool,
    pub rounds: usize,
    /// Why it stopped, in words.
    pub outcome: String,
}

/// One round of the search.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RoundResult {
    /// Stage, from 1: each has a narrower gate.
    pub stage: usize,
    /// Width of the gate as a share of the crest curvature.
    pub gate_width: f64,
    /// Starts still moving.
    pub alive: usize,
    /// Smallest χ² so far in this stage.
    pub best_chi2: f64,
}

/// Parametric bootstrap.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BootstrapResult {
    /// Data sets drawn and fitted.
    pub samples: usize,
    /// A line a free parameter.
    pub parameters: Vec<BootstrapLine>,
}

/// One parameter of [`BootstrapResult`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BootstrapLine {
    pub name: String,
    pub mean: f64,
    /// Standard deviation over the samples.
    pub sd: f64,
    /// 2.5 % and 97.5 % quantiles.
    pub ci95: [f64; 2],
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DataResult {
    pub file: String,
    pub points: usize,
    /// Distinct texts of the columns that no test needs, such as `method: ISO 2313`.
    pub remarks: Vec<String>,
}

/// How a fit was run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunResult {
    pub version: String,
    pub folder: String,
    pub command: String,
    pub device: String,
    pub optimizer: String,
    pub seed: u64,
    /// Time of this run \[s\]; less than the whole when it was resumed.
    pub seconds: f64,
}
