//! One data set: the table of a law, its fit, and where the truth lies.

use std::{fmt::Write, ops::ControlFlow};

use serde::{Deserialize, Serialize};

use super::{
    CoverageStudy, fitted_law,
    prior::{GAPS_MM, READ, presses},
};
use crate::{
    error::{Error, Result, bad_input},
    fit::{
        Measurements, SearchMethod,
        case::{Case, Role},
        dataset::Dataset,
        result::{FitResult, ParameterResult},
        run::Fit,
    },
    laboratory::{Condition, CreaseTest, Resolution, TestSettings, Tests},
    material::{Dimension, ParameterRole},
    numeric::Random,
    study::journal::Journal,
};

/// Δχ² of a 95 % interval.
const THRESHOLD_95: f64 = 3.841_458_820_694_124;

/// A data set and its fit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct DataSet {
    /// Number of the law, from 1.
    pub law: usize,
    /// Standard deviation of the noise \[degrees\].
    pub noise_deg: f64,
    /// χ² of the truth: the noise alone.
    pub truth_chi2: f64,
    /// χ² of the fit; none where it failed.
    pub chi2: Option<f64>,
    /// Whether the law follows the data, in words; why the fit failed, where it did.
    pub verdict: String,
    /// A line a free parameter; none where the fit failed.
    pub estimates: Vec<Estimate>,
}

/// A free parameter of a fit, and its truth.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Estimate {
    pub name: String,
    pub truth: f64,
    /// Value at the best point, whether it is identified or not.
    pub best: f64,
    pub std_error: Option<f64>,
    /// The 95 % interval.
    pub ci95: [Option<f64>; 2],
    pub identified: bool,
    pub verdict: String,
    /// How many refits of the bootstrap lie below the truth, and how many there are; none without a bootstrap.
    pub rank: Option<(usize, usize)>,
}

impl DataSet {
    /// Identified parameters whose interval leaves the truth out although the truth is in it: at the true value the other
    /// parameters can do no worse than their truths do, and these are within the threshold.
    pub(super) fn stuck_profiles(&self) -> usize {
        let near = |chi2: f64| (0.0..THRESHOLD_95).contains(&(self.truth_chi2 - chi2));
        match self.chi2.is_some_and(near) {
            true => self
                .estimates
                .iter()
                .filter(|e| e.identified && !e.holds())
                .count(),
            false => 0,
        }
    }
}

impl Estimate {
    /// Whether the truth is below its interval.
    pub(crate) fn below(&self) -> bool {
        self.ci95[0].is_some_and(|low| self.truth < low)
    }

    /// Whether the truth is above its interval.
    pub(crate) fn above(&self) -> bool {
        self.ci95[1].is_some_and(|high| self.truth > high)
    }

    /// Whether the interval holds the truth.
    pub(crate) fn holds(&self) -> bool {
        !self.below() && !self.above()
    }

    /// Whether the value is off by more than a factor of two.
    pub(crate) fn off(&self) -> bool {
        !(0.5..=2.0).contains(&(self.best / self.truth))
    }
}

/// A law that is known.
pub(super) struct Truth {
    /// In the order of the parameters of [`fitted_law`].
    pub values: Vec<f64>,
}

impl Truth {
    /// Values by name, for a case in which the bending stiffness is assumed: recovery angles determine only ratios of
    /// stiffnesses, so all stiffnesses scale with it.
    fn in_case(&self, case: &Case) -> Vec<(String, f64)> {
        let parameters = fitted_law().parameters();
        let own = parameters.iter().zip(&self.values);
        let own = own
            .clone()
            .find(|(p, _)| p.role == ParameterRole::BendingStiffness)
            .map_or(1.0, |(_, value)| *value);
        let scale = match case.done_with(ParameterRole::BendingStiffness) {
            Some(Role::Fixed { value, .. }) => value / own,
            _ => 1.0,
        };
        let scaled = parameters.iter().zip(&self.values).map(|(p, value)| {
            let factor = match p.dimension {
                Dimension::Stiffness => scale,
                _ => 1.0,
            };
            (p.name.clone(), factor * value)
        });
        scaled.collect()
    }
}

/// An angle as it is measured \[degrees\], and its error in standard deviations.
struct NoisyAngle {
    angle: f64,
    error: f64,
}

impl CoverageStudy {
    /// Angles of a law under the hard law, in closed form on the CPU.
    fn angles(&self, truth: &Truth) -> Result<Vec<(Condition, f64)>> {
        let metres = GAPS_MM.map(|mm| 1e-3 * mm);
        let points = CreaseTest::grid(&metres, &presses(), &[READ]);
        let conditions: Vec<(usize, Condition)> =
            points.into_iter().map(|p| (0, p.into())).collect();
        let hard = Resolution::hard(&TestSettings::default());
        let tests = Tests::resolved(&self.compute, fitted_law(), hard, &conditions)?;
        let values = vec![truth.values.clone()];
        let angles = tests.run(&self.compute, &[values], false)?.remove(0).values;
        let conditions = conditions.into_iter().map(|(_, condition)| condition);
        Ok(conditions.zip(angles).collect())
    }

    /// The table of a law with normal noise: its text, and its angles. Those that noise moves beyond 0 or 180 degrees are
    /// cut in the text, since no table may have them, and not in the list: cut noise would not be normal.
    fn table(
        &self,
        truth: &Truth,
        noise: f64,
        random: &mut Random,
    ) -> Result<(String, Vec<NoisyAngle>)> {
        let mut text = String::from(
            "# synthetic: made by `rumple bench coverage`\n\
             fabric,gap_mm,press_time_s,recovery_time_s,angle_deg,sd_deg,n\n",
        );
        let mut angles = Vec::new();
        let grid = GAPS_MM
            .iter()
            .flat_map(|gap| presses().map(|press| (gap, press)));
        for ((gap, press), (condition, exact)) in grid.zip(self.angles(truth)?) {
            if !exact.is_finite() {
                return bad_input(format!(
                    "no angle was found for {}; the material is too extreme for this test",
                    condition.test.label(&condition).name
                ));
            }
            let error = random.normal();
            let angle = exact + noise * error;
            angles.push(NoisyAngle { angle, error });
            let cut = angle.clamp(0.0, 180.0);
            // Writing into a text cannot fail.
            let _ = writeln!(text, "fabric,{gap},{press},{READ},{cut},{noise},1");
        }
        Ok((text, angles))
    }

    /// Makes a table and fits it as `rumple fit TABLE.csv` does.
    pub(super) fn data_set(&self, law: usize, noise: f64) -> Result<DataSet> {
        let truth = self.truth(law);
        let mut random = self.noise(law, noise);
        let (text, angles) = self.table(&truth, noise, &mut random)?;
        let truth_chi2 = angles.iter().map(|a| a.error.powi(2)).sum();
        let mut measurements = Measurements::of_texts("law", vec![("law.csv".into(), text)]);
        measurements.case.starts = self.plan.starts;
        let measurements = measurements.completed()?;
        let (case, mut data) = (&measurements.case, measurements.check()?);
        for (row, noisy) in data.rows.iter_mut().zip(&angles) {
            row.value = noisy.angle;
        }
        let set = |chi2, verdict, estimates| DataSet {
            law: law + 1,
            noise_deg: noise,
            truth_chi2,
            chi2,
            verdict,
            estimates,
        };
        match self.fitted(case, &data, &mut random) {
            Ok((result, refits)) => {
                let truth = truth.in_case(case);
                let estimates = estimates(&result, &refits, &truth);
                let chi2 = Some(result.statistics.chi2);
                Ok(set(chi2, result.misfit.verdict, estimates?))
            }
            // Such as no start with finite residuals: it counts, and costs no other data set its result.
            Err(Error::BadInput(why)) => Ok(set(None, format!("failed: {why}"), Vec::new())),
            Err(error) => Err(error),
        }
    }

    /// The fit, and the values of its free parameters in every refit.
    fn fitted(
        &self,
        case: &Case,
        data: &Dataset,
        random: &mut Random,
    ) -> Result<(FitResult, Vec<Vec<f64>>)> {
        let fit = Fit::new(self.compute.clone(), case, data, SearchMethod::Lm)?;
        let mut journal = Journal::in_memory();
        let result = fit.run(&mut journal, &mut |_| ControlFlow::Continue(()))?;
        let Some(count) = self.plan.refits else {
            return Ok((result, Vec::new()));
        };
        let optimum = fit.finished(&journal)?;
        // Refits of different data sets must not share their noise, or ranks would not be independent.
        let seed = (random.uniform() * (1u64 << 53) as f64) as u64;
        let refits = fit.refits(&optimum, count, seed)?;
        Ok((result, refits))
    }
}

fn estimates(
    result: &FitResult,
    refits: &[Vec<f64>],
    truth: &[(String, f64)],
) -> Result<Vec<Estimate>> {
    let free = result.parameters.iter().filter(|p| p.free).enumerate();
    let line = |(k, p): (usize, &ParameterResult)| {
        let Some((_, truth)) = truth.iter().find(|(name, _)| *name == p.name) else {
            return bad_input(format!("the drawn law has no parameter {}", p.name));
        };
        let below = refits.iter().filter(|values| values[k] < *truth).count();
        Ok(Estimate {
            name: p.name.clone(),
            truth: *truth,
            best: p.best,
            std_error: p.std_error,
            ci95: p.ci95,
            identified: p.identified(),
            verdict: p.verdict.clone(),
            rank: (!refits.is_empty()).then_some((below, refits.len())),
        })
    };
    free.map(line).collect()
}
