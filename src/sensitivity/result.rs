//! What a study found: the contents of `sensitivity.json`, from which reports, tables and plots are drawn.

use serde::{Deserialize, Serialize};

use super::{
    derivative::{Measure, Subspace},
    factor::Factor,
    failure::Failures,
    interval::Estimate,
    local::Local,
    model::Output,
    morris::Effects,
    regime::Regime,
    sobol::Indices,
};

/// A finished study.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Sensitivity {
    /// What was studied.
    pub name: String,
    /// Whether any of the data behind it are synthetic; every report and plot says so.
    pub synthetic: bool,
    /// Assumptions and warnings, a sentence each.
    pub notes: Vec<String>,
    /// What was varied.
    pub factors: Vec<Factor>,
    /// Names of what moved together, in the order of every list of groups; the Sobol' lists end with the dummy.
    pub groups: Vec<String>,
    /// What was read.
    pub outputs: Vec<Output>,
    /// The output that pictures of one output show.
    pub main: usize,
    /// Derivatives at the nominal parameters.
    pub local: Option<Local>,
    /// Averages of derivatives.
    pub derivative: Option<Derivative>,
    /// Elementary effects.
    pub morris: Option<Morris>,
    /// Shares of the variance.
    pub sobol: Option<SobolIndices>,
    /// Runs that failed.
    pub failures: Failures,
    /// How it was run; the only part that differs between two equal runs.
    pub run: RunInfo,
}

/// Averages of derivatives over the ranges.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Derivative {
    /// Points at which derivatives were taken.
    pub points: usize,
    /// Of every output; none where it has no derivative.
    pub outputs: Vec<Option<DerivativeOutput>>,
    /// Active subspace of the main output.
    pub subspace: Option<Subspace>,
    /// The main output against the first active direction.
    pub projection: Vec<(f64, f64)>,
    /// What matters where hinges stick, slip or yield.
    pub regimes: Vec<Regime>,
}

/// Derivative-based measures of one output.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DerivativeOutput {
    /// Of every factor.
    pub measures: Vec<Measure>,
    /// Largest possible Sobol' total of every group; none where the output does not vary.
    pub bounds: Option<Vec<Estimate>>,
}

/// Elementary effects.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Morris {
    /// Trajectories.
    pub trajectories: usize,
    /// Of every output and group; none where too few runs succeeded.
    pub outputs: Vec<Vec<Option<Effects>>>,
}

/// Shares of the variance.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SobolIndices {
    /// Base samples.
    pub samples: usize,
    /// Of every output; none where it does not vary.
    pub outputs: Vec<Option<SobolOutput>>,
    /// The main output with fewer samples.
    pub convergence: Vec<Convergence>,
    /// Widest 95 % interval of a total.
    pub widest: f64,
    /// Why no more samples were taken.
    pub stopped: String,
    /// Totals above their bound, a sentence each.
    pub above_bound: Vec<String>,
}

/// Sobol' indices of one output.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SobolOutput {
    /// Mean of all runs.
    pub mean: f64,
    /// Variance of A and B.
    pub variance: f64,
    /// Base samples of which all runs succeeded.
    pub samples: usize,
    /// Of every group, then of the dummy.
    pub groups: Vec<Indices<Estimate>>,
}

/// Indices of the main output with the first samples only.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Convergence {
    /// How many base samples.
    pub samples: usize,
    /// Of every group, then of the dummy.
    pub groups: Vec<Indices<Estimate>>,
}

/// How a study was run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunInfo {
    /// Version of Rumple.
    pub version: String,
    /// Command line.
    pub command: String,
    /// Seed.
    pub seed: u64,
    /// Time of this run \[s\]; less than the whole when it was resumed.
    pub seconds: f64,
}

impl SobolIndices {
    /// Name of the group that nothing depends on.
    pub const DUMMY: &'static str = "dummy";
}

impl Sensitivity {
    /// What the Sobol' lists are of: the groups, then the dummy.
    pub fn sobol_names(&self) -> Vec<&str> {
        let names = self.groups.iter().map(String::as_str);
        names.chain([SobolIndices::DUMMY]).collect()
    }

    /// Short labels of the groups for pictures: a parameter's symbol.
    pub fn labels(&self) -> Vec<String> {
        let label = |name: &String| {
            let factor = self.factors.iter().find(|f| f.name == *name);
            let local = name
                .split_once('[')
                .map_or("", |(_, g)| g.trim_end_matches(']'));
            factor.map_or(name.clone(), |f| {
                format!("{} {local}", f.symbol).trim().into()
            })
        };
        self.groups.iter().map(label).collect()
    }
}
