//! Made-up tables of any test: readings of a known law, with noise. Every row says that it is synthetic.

use std::sync::Arc;

use serde_json::{Value, json};

use super::{Condition, Grid, Resolution, TESTS, Test, TestSettings, Tests};
use crate::{
    error::{Result, bad_input, readable, unknown},
    material::{Law, ReadyMaterial},
    numeric::{Compute, Random},
};

/// Hinges of a synthetic fold: many, so that their number does not show.
const HINGES: usize = 1024;

/// A table of a laboratory test to be made up, with noise.
#[derive(Debug, Clone, PartialEq)]
pub struct Synthesis {
    /// The test, as `rumple synthesize --test` names it: `crease`, `kes`, `twist` or `cantilever`.
    pub test: String,
    /// Values of its settings by their names with units, such as `gap_mm`; the usual ones where none are given.
    pub chosen: Vec<(String, Vec<f64>)>,
    /// What is folded, and the cylinder of a twist.
    pub settings: TestSettings,
    /// Standard deviation of the noise of angles \[degrees\]; the usual one where none is given.
    pub noise_deg: Option<f64>,
    /// Standard deviation of the noise of all else, in percent of the largest value; the usual one where none is given.
    pub noise_pct: Option<f64>,
    /// Seed of the noise.
    pub seed: u64,
    /// Name of the fabric in the table; that of the material where there is none.
    pub fabric: Option<String>,
}

impl Synthesis {
    /// A test with its usual settings and noise.
    pub fn new(test: &str) -> Synthesis {
        Synthesis {
            test: test.into(),
            chosen: Vec::new(),
            settings: TestSettings::default(),
            noise_deg: None,
            noise_pct: None,
            seed: 1,
            fabric: None,
        }
    }

    /// The table of a material, a data file of fits, and its truth: the material as a file, with a note.
    pub fn of_material(
        &self,
        material: &ReadyMaterial,
        compute: &Compute,
    ) -> Result<(String, Value)> {
        let (test, plan) = self.plan()?;
        let exact = plan.exact(compute, &material.law, &material.values, &self.settings)?;
        if let Some(k) = exact.iter().position(|value| !value.is_finite()) {
            return bad_input(format!(
                "no {} was found for {}; the material is too extreme for this test",
                plan.quantity,
                test.label(&plan.rows[k].1).name
            ));
        }
        let truth = material.material.to_json();
        self.with_noise(&plan, &exact, &material.material.name, truth)
    }

    /// A table of recovery angles that no law follows, 110° + 50°·log10(gap/mm) − 12°·log10(press/s), and its truth: the
    /// formula.
    pub fn log_linear(&self) -> Result<(String, Value)> {
        let (_, plan) = self.plan()?;
        let angle = |(_, condition): &(String, Condition)| {
            let setting = |name| condition.setting(name).unwrap_or(f64::NAN);
            let decades = setting("press_s").max(1e-3).log10();
            (110.0 + 50.0 * setting("gap_mm").log10() - 12.0 * decades).clamp(0.0, 180.0)
        };
        let formula = "110 + 50*log10(gap_mm) - 12*log10(press_s) degrees";
        let truth = json!({ "synthetic": true, "formula": formula });
        let angles: Vec<f64> = plan.rows.iter().map(angle).collect();
        self.with_noise(&plan, &angles, "log-linear", truth)
    }

    fn plan(&self) -> Result<(&'static dyn Test, Blueprint)> {
        let Some(test) = TESTS.into_iter().find(|test| test.command() == self.test) else {
            return Err(unknown(
                "test",
                &self.test,
                &TESTS.map(|test| test.command()),
            ));
        };
        let own = |key: &str| test.chosen().iter().any(|setting| setting.key == key);
        if let Some((key, _)) = self.chosen.iter().find(|(key, _)| !own(key)) {
            return bad_input(format!(
                "{key} is no setting of the test {}; leave it out",
                self.test
            ));
        }
        let chosen = self.chosen.iter();
        let chosen: Vec<_> = chosen.map(|(key, v)| (key.as_str(), v.clone())).collect();
        let grid = Grid::new(&chosen)?;
        Ok((test, test.blueprint(&self.settings, &grid)?))
    }

    /// Table and truth from exact numbers.
    fn with_noise(
        &self,
        plan: &Blueprint,
        exact: &[f64],
        fabric: &str,
        mut truth: Value,
    ) -> Result<(String, Value)> {
        let (noise, in_words) = self.noise(plan)?;
        let made = format!(
            "synthetic: made by `rumple synthesize` with noise of {in_words} and seed {}; not a measurement",
            self.seed
        );
        let fabric = self.fabric.as_deref().unwrap_or(fabric);
        let table = plan.table(exact, noise, Random(self.seed), fabric);
        let table = format!("# {made}\n{table}");
        truth["notes"] = json!([made]);
        Ok((table, truth))
    }

    /// Size of the noise, and the same in words.
    fn noise(&self, plan: &Blueprint) -> Result<(f64, String)> {
        match plan.noise {
            Noise::Degrees(_) if self.noise_pct.is_some() => {
                bad_input("--noise-pct is not for angles; give --noise-deg")
            }
            Noise::PercentOfLargest(_) if self.noise_deg.is_some() => bad_input(format!(
                "--noise-deg is for recovery angles; give --noise-pct, a share of the largest {}",
                plan.quantity
            )),
            Noise::Degrees(usual) => {
                let degrees = self.noise_deg.unwrap_or(usual);
                if !(0.0..=90.0).contains(&degrees) {
                    return bad_input(format!(
                        "--noise-deg {} is not a spread; give 0 to 90 degrees",
                        readable(degrees)
                    ));
                }
                Ok((degrees, format!("{degrees}°")))
            }
            Noise::PercentOfLargest(usual) => {
                let percent = self.noise_pct.unwrap_or(usual);
                let largest = format!("% of the largest {}", plan.quantity);
                if !(0.0..=100.0).contains(&percent) {
                    return bad_input(format!(
                        "--noise-pct {} is not a spread; give 0 to 100 {largest}",
                        readable(percent)
                    ));
                }
                Ok((percent, format!("{percent} {largest}")))
            }
        }
    }
}

/// The noise of a made-up table.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Noise {
    /// Degrees; this much where nothing is asked for.
    Degrees(f64),
    /// A share of the largest value, in percent; this much where nothing is asked for.
    PercentOfLargest(f64),
}

/// A table to be made up: what is read, and how it is written.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Blueprint {
    /// Names of the columns: the settings, the value and its standard deviation.
    pub columns: &'static str,
    /// The cells of the settings, and what is read.
    pub rows: Vec<(String, Condition)>,
    /// What the value is called, such as `torque`.
    pub quantity: &'static str,
    /// Times a reading gives the number in its column.
    pub per_unit: f64,
    /// Smallest and largest number that its column takes.
    pub range: (f64, f64),
    /// The noise.
    pub noise: Noise,
}

impl Blueprint {
    /// What the rows read under the hard law, in the unit of the column.
    pub(crate) fn exact(
        &self,
        compute: &Compute,
        law: &Arc<dyn Law>,
        values: &[f64],
        settings: &TestSettings,
    ) -> Result<Vec<f64>> {
        let resolution = Resolution {
            hinges: HINGES,
            ..Resolution::hard(settings)
        };
        let conditions: Vec<(usize, Condition)> = self.rows.iter().map(|r| (0, r.1)).collect();
        let tests = Tests::resolved(compute, law.clone(), resolution, &conditions)?;
        let readings = tests.run(compute, &[vec![values.to_vec()]], false)?;
        let scaled = readings[0].values.iter().map(|v| self.per_unit * v);
        Ok(scaled.collect())
    }

    /// The rows as text, from numbers in the unit of the column, with noise in the unit of [`Noise`].
    pub(crate) fn table(
        &self,
        exact: &[f64],
        noise: f64,
        mut random: Random,
        fabric: &str,
    ) -> String {
        let largest = exact.iter().map(|v| v.abs()).fold(0.0, f64::max);
        let noiseless = noise == 0.0;
        // Without noise a spread of 1°, or of a thousandth, only sets the weight.
        let (noise, sd, digits) = match self.noise {
            Noise::Degrees(_) => (noise, if noiseless { 1.0 } else { noise }, None),
            Noise::PercentOfLargest(_) => {
                let noise = 0.01 * noise * largest;
                let sd = if noiseless { 1e-3 * largest } else { noise };
                // Three digits of the spread.
                let digits = (2.0 - sd.log10().floor()).clamp(0.0, 17.0) as usize;
                (noise, sd, Some(digits))
            }
        };
        let sd = digits.map_or(format!("{sd}"), |digits| format!("{sd:.digits$}"));
        let mut table = format!("fabric,{},n,evidence\n", self.columns);
        for ((settings, _), exact) in self.rows.iter().zip(exact) {
            let value = (exact + noise * random.normal()).clamp(self.range.0, self.range.1);
            let digits = digits.unwrap_or(2);
            let value = match noiseless {
                true => format!("{value}"),
                false => format!("{value:.digits$}"),
            };
            table += &format!("{fabric},{settings},{value},{sd},1,synthetic\n");
        }
        table
    }
}
