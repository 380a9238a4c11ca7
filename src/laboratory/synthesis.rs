//! Made-up tables of any test: readings of a known law, with noise. Every row says that it is synthetic.

use std::sync::Arc;

use super::{Condition, Resolution, TestSettings, Tests};
use crate::{error::Result, material::Law, numeric::Compute, numeric::Random};

/// Hinges of a synthetic fold: many, so that their number does not show.
const HINGES: usize = 1024;

/// The noise of a made-up table.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Noise {
    /// Degrees; this much where nothing is asked for.
    Degrees(f64),
    /// A share of the largest value, in percent; this much where nothing is asked for.
    PercentOfLargest(f64),
}

/// A table to be made up: what is read, and how it is written.
#[derive(Debug, Clone, PartialEq)]
pub struct Blueprint {
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
    pub fn exact(
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
        let tests = Tests::new(compute, law.clone(), resolution, &conditions)?;
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
