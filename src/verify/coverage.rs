//! Do the error bars hold? Tables of laws that are drawn at random are fitted, and the truth is looked for in the intervals
//! and within a bootstrap.
//!
//! A data set is a task of [`crate::study`]: it can be shared out, stopped and gone on with.

mod calibration;
mod job;
mod prior;
mod set;
mod summary;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

pub(crate) use calibration::RankHistogram;
pub(crate) use job::CoverageJob;
pub(crate) use set::{DataSet, Estimate};
pub(crate) use summary::{Coverage, NoiseCoverage, ParameterCoverage};

use self::{
    prior::{GAPS_MM, Prior, presses},
    set::Truth,
};
use crate::{
    error::{Error, Result, bad_input, readable},
    material::{Law, LawName, Material, Timer},
    numeric::{Compute, Random},
    study::{Task, Tasks, Work},
};

/// What is drawn and fitted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct CoveragePlan {
    /// How many laws are drawn.
    pub laws: usize,
    /// Standard deviations of the noise \[degrees\]; each law has a table for each of them.
    pub noise_deg: Vec<f64>,
    /// Refits of a parametric bootstrap of each fit; none without one.
    pub refits: Option<usize>,
    /// Starts of each fit.
    pub starts: usize,
    /// Of laws and noise.
    pub seed: u64,
    /// A material file whose law is that of all tables; laws are drawn where there is none.
    pub material: Option<Value>,
}

/// More would be days of computing.
const MOST_LAWS: usize = 10_000;
/// More series than a plot can keep apart.
const MOST_NOISES: usize = 4;
/// With fewer refits a rank says little.
const REFITS: (usize, usize) = (9, 9999);
const MOST_STARTS: usize = 4096;

impl CoveragePlan {
    /// Refuses what cannot be computed.
    fn check(&self) -> Result<()> {
        let whole =
            |option: &str, value: usize, (low, high): (usize, usize), usual: &str| match (low
                ..=high)
                .contains(&value)
            {
                true => Ok(()),
                false => bad_input(format!(
                    "{option} {value} cannot be used; give {low} to {high} ({usual})"
                )),
            };
        whole("--laws", self.laws, (1, MOST_LAWS), "100 are usual")?;
        whole("--starts", self.starts, (1, MOST_STARTS), "a fit has 16")?;
        if let Some(refits) = self.refits {
            whole("--bootstrap", refits, REFITS, "99 are usual")?;
        }
        let noises = &self.noise_deg;
        if !(1..=MOST_NOISES).contains(&noises.len()) {
            return bad_input(format!(
                "--noise-deg has {} values; give 1 to {MOST_NOISES}",
                noises.len()
            ));
        }
        for (k, noise) in noises.iter().enumerate() {
            if !(1e-3..=45.0).contains(noise) {
                return bad_input(format!(
                    "--noise-deg {} is not a spread that can be fitted; give 0.001 to 45 degrees",
                    readable(*noise)
                ));
            }
            if noises[..k].contains(noise) {
                return bad_input(format!(
                    "--noise-deg {} stands twice; give each once",
                    readable(*noise)
                ));
            }
        }
        Ok(())
    }
}

/// The data sets of a plan.
pub(crate) struct CoverageStudy {
    pub plan: CoveragePlan,
    compute: Compute,
    /// Values of the law of all tables, in the order of its parameters; none where laws are drawn.
    given: Option<Vec<f64>>,
}

impl CoverageStudy {
    /// Checks the plan.
    pub(crate) fn new(plan: CoveragePlan, compute: Compute) -> Result<CoverageStudy> {
        plan.check()?;
        let given = plan.material.as_ref().map(given).transpose()?;
        Ok(CoverageStudy {
            plan,
            compute,
            given,
        })
    }

    /// Number of the law and the noise of every data set, law by law.
    fn sets(&self) -> impl Iterator<Item = (usize, f64)> {
        let noises = &self.plan.noise_deg;
        (0..self.plan.laws).flat_map(move |law| noises.iter().map(move |noise| (law, *noise)))
    }

    /// A law. It depends on the seed and its number alone.
    fn truth(&self, law: usize) -> Truth {
        let values = match &self.given {
            Some(values) => values.clone(),
            None => {
                let mut random = Random::stream(self.plan.seed, 2 * law as u64);
                let parameters = fitted_law().parameters();
                let draw = |role| Prior::of(role).draw(&mut random);
                parameters.iter().map(|p| p.role).map(draw).collect()
            }
        };
        Truth { values }
    }

    /// Noise of a data set. It depends on seed, law and spread, so that more laws or spreads leave it as it is.
    fn noise(&self, law: usize, noise: f64) -> Random {
        Random::stream(self.plan.seed ^ noise.to_bits(), 2 * law as u64 + 1)
    }
}

/// The law of a plain fit.
fn fitted_law() -> std::sync::Arc<dyn Law> {
    LawName::TimeDependent.law(Timer::Authors, 0)
}

/// Values of a material file, whose law must be the one that is fitted.
fn given(file: &Value) -> Result<Vec<f64>> {
    let material = Material::parse(&file.to_string(), "--material")?.in_curvature(None)?;
    let plain = material.relaxation.is_empty() && !material.has_population();
    if material.law != LawName::TimeDependent || !plain {
        return bad_input(format!(
            "--material '{}': tables are fitted with the law \"time_dependent\" without relaxation branches and spreads of yarns; give a material with this law",
            material.name
        ));
    }
    material.values_for(fitted_law().as_ref())
}

impl Tasks for CoverageStudy {
    fn study(&self) -> &'static str {
        "coverage"
    }

    fn identity(&self) -> Value {
        // Not how many laws and which noise: a study that wants more keeps what it has.
        json!({
            "law": match &self.given {
                Some(values) => json!(values),
                None => json!(Prior::in_words(fitted_law().as_ref())),
            },
            "gap_mm": GAPS_MM,
            "press_s": presses(),
            "bootstrap": self.plan.refits,
            "starts": self.plan.starts,
            "seed": self.plan.seed,
            "device": self.compute.describe(),
        })
    }

    fn names(&self) -> Vec<String> {
        let name = |(law, noise): (usize, f64)| format!("law {}, noise {noise}°", law + 1);
        self.sets().map(name).collect()
    }
}

impl Work for CoverageStudy {
    fn run(&self, _: &Task, index: usize) -> Result<Value> {
        let Some((law, noise)) = self.sets().nth(index) else {
            return bad_input(format!("there is no data set {index}"));
        };
        let set = self.data_set(law, noise)?;
        serde_json::to_value(set)
            .map_err(|e| Error::BadInput(format!("a data set cannot be written as JSON: {e}")))
    }
}
