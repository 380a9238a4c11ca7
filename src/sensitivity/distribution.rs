//! How a parameter of a study is distributed.

use serde::{Deserialize, Serialize};

use crate::{
    error::{Result, bad_input, readable},
    numeric::statistics::{normal_below, normal_quantile},
};

/// How a parameter is distributed. Slopes are taken along its **coordinate**: the value itself, or its
/// logarithm where the distribution is one of logarithms.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "shape")]
pub enum Distribution {
    /// Even between two ends.
    Uniform {
        /// Lower end.
        low: f64,
        /// Upper end.
        high: f64,
    },
    /// Its logarithm is even between two ends.
    LogUniform {
        /// Lower end, positive.
        low: f64,
        /// Upper end.
        high: f64,
    },
    /// Normal, cut off at two ends.
    Normal {
        /// Mean before the cut.
        mean: f64,
        /// Standard deviation before the cut.
        sd: f64,
        /// Lower end.
        low: f64,
        /// Upper end.
        high: f64,
    },
    /// Its logarithm is normal, cut off at two ends.
    LogNormal {
        /// Median before the cut.
        median: f64,
        /// Standard deviation of the logarithm before the cut.
        sd: f64,
        /// Lower end, positive.
        low: f64,
        /// Upper end.
        high: f64,
    },
}

impl Distribution {
    fn is_log(self) -> bool {
        matches!(
            self,
            Distribution::LogUniform { .. } | Distribution::LogNormal { .. }
        )
    }

    /// Ends of the value.
    pub fn ends(self) -> (f64, f64) {
        match self {
            Distribution::Uniform { low, high }
            | Distribution::LogUniform { low, high }
            | Distribution::Normal { low, high, .. }
            | Distribution::LogNormal { low, high, .. } => (low, high),
        }
    }

    /// The coordinate of a value.
    pub fn coordinate(self, value: f64) -> f64 {
        if self.is_log() { value.ln() } else { value }
    }

    /// The value at a coordinate.
    fn at(self, coordinate: f64) -> f64 {
        if self.is_log() {
            coordinate.exp()
        } else {
            coordinate
        }
    }

    /// Value below which a share of the distribution lies.
    pub fn quantile(self, share: f64) -> f64 {
        let (low, high) = self.ends();
        let [start, end] = [low, high].map(|v| self.coordinate(v));
        let coordinate = match self {
            Distribution::Uniform { .. } | Distribution::LogUniform { .. } => {
                start + share * (end - start)
            }
            Distribution::Normal { mean, sd, .. } => cut_normal(mean, sd, start, end, share),
            Distribution::LogNormal { median, sd, .. } => {
                cut_normal(median.ln(), sd, start, end, share)
            }
        };
        // Rounding must not leave the range in which a parameter is valid.
        self.at(coordinate).clamp(low, high)
    }

    /// ∂value/∂coordinate at a value.
    pub fn slope(self, value: f64) -> f64 {
        if self.is_log() { value } else { 1.0 }
    }

    /// Smallest known C with Var f ≤ C·E[(∂f/∂coordinate)²] for every smooth f of this parameter (the
    /// constant of Poincaré): (range/π)² for an even distribution, sd² for a normal one, cut or not, since
    /// cutting a normal density keeps it as log-concave (Roustant, Barthe and Iooss 2017).
    pub fn poincare(self) -> f64 {
        match self {
            Distribution::Uniform { .. } | Distribution::LogUniform { .. } => {
                (2.0 * self.unit() / std::f64::consts::PI).powi(2)
            }
            Distribution::Normal { sd, .. } | Distribution::LogNormal { sd, .. } => sd * sd,
        }
    }

    /// The length that is one unit when parameters are compared: half the range of the coordinate, or its
    /// standard deviation.
    pub fn unit(self) -> f64 {
        match self {
            Distribution::Uniform { low, high } | Distribution::LogUniform { low, high } => {
                0.5 * (self.coordinate(high) - self.coordinate(low))
            }
            Distribution::Normal { sd, .. } | Distribution::LogNormal { sd, .. } => sd,
        }
    }

    /// In words.
    pub fn describe(self) -> String {
        let text = |v: f64| readable(format!("{v:.3e}").parse().unwrap_or(v));
        let cut = |low: f64, high: f64| format!("cut at {} and {}", text(low), text(high));
        match self {
            Distribution::Uniform { low, high } => {
                format!("uniform from {} to {}", text(low), text(high))
            }
            Distribution::LogUniform { low, high } => {
                format!("log-uniform from {} to {}", text(low), text(high))
            }
            Distribution::Normal {
                mean,
                sd,
                low,
                high,
            } => format!("normal {} ± {}, {}", text(mean), text(sd), cut(low, high)),
            Distribution::LogNormal {
                median,
                sd,
                low,
                high,
            } => format!(
                "log-normal {} ± {} %, {}",
                text(median),
                text(100.0 * sd),
                cut(low, high)
            ),
        }
    }

    /// Refuses numbers that are no distribution; `name` is the parameter's.
    pub fn check(self, name: &str) -> Result<()> {
        let (low, high) = self.ends();
        let spread = match self {
            Distribution::Normal { sd, .. } | Distribution::LogNormal { sd, .. } => sd,
            _ => high - low,
        };
        if !low.is_finite() || !high.is_finite() || low >= high || spread.is_nan() || spread <= 0.0
        {
            return bad_input(format!(
                "{name}: {} has no width; give a lower end below the upper one and a positive spread",
                self.describe()
            ));
        }
        if self.is_log() && low <= 0.0 {
            return bad_input(format!(
                "{name}: {} starts at {}, which has no logarithm; give a positive end or a uniform distribution",
                self.describe(),
                readable(low)
            ));
        }
        if let Distribution::Normal { mean, sd, .. } = self {
            self.check_mass(name, mean, sd)?;
        }
        if let Distribution::LogNormal { median, sd, .. } = self {
            self.check_mass(name, median.ln(), sd)?;
        }
        Ok(())
    }

    /// A normal distribution that is cut away has no quantiles.
    fn check_mass(self, name: &str, mean: f64, sd: f64) -> Result<()> {
        const LEAST: f64 = 1e-6;
        let (low, high) = self.ends();
        let [low, high] = [low, high].map(|v| normal_below((self.coordinate(v) - mean) / sd));
        if high - low >= LEAST {
            return Ok(());
        }
        bad_input(format!(
            "{name}: nearly all of {} lies outside its ends; give another mean or spread",
            self.describe()
        ))
    }
}

fn cut_normal(mean: f64, sd: f64, low: f64, high: f64, share: f64) -> f64 {
    let [below, above] = [low, high].map(|v| normal_below((v - mean) / sd));
    let z = normal_quantile(below + share * (above - below));
    (mean + sd * z).clamp(low, high)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Distribution; 4] = [
        Distribution::Uniform {
            low: -1.0,
            high: 3.0,
        },
        Distribution::LogUniform {
            low: 0.1,
            high: 10.0,
        },
        Distribution::Normal {
            mean: 1.0,
            sd: 2.0,
            low: -1.0,
            high: 8.0,
        },
        Distribution::LogNormal {
            median: 2.0,
            sd: 0.5,
            low: 0.1,
            high: 20.0,
        },
    ];

    #[test]
    fn quantiles_rise_from_one_end_to_the_other_and_slopes_are_derivatives() {
        for distribution in ALL {
            distribution.check("x").unwrap();
            let (low, high) = distribution.ends();
            let values: Vec<f64> = (0..=100)
                .map(|i| distribution.quantile(f64::from(i) / 100.0))
                .collect();
            assert!(values.windows(2).all(|w| w[0] < w[1]), "{distribution:?}");
            assert!((values[0] - low).abs() < 1e-9 && (values[100] - high).abs() < 1e-9);
            let c = distribution.coordinate(values[40]);
            let difference = (distribution.at(c + 1e-6) - distribution.at(c - 1e-6)) / 2e-6;
            assert!((difference - distribution.slope(values[40])).abs() < 1e-6);
        }
    }

    #[test]
    fn the_constant_of_poincare_bounds_the_variance_of_the_coordinate() {
        // f = coordinate: variance ≤ C·1, and close to it for the even ones (12/π² above).
        for distribution in ALL {
            let n = 20_000;
            let values: Vec<f64> = (0..n)
                .map(|i| distribution.quantile((f64::from(i) + 0.5) / f64::from(n)))
                .map(|v| distribution.coordinate(v))
                .collect();
            let mean = values.iter().sum::<f64>() / f64::from(n);
            let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / f64::from(n);
            let ratio = variance / distribution.poincare();
            assert!(ratio <= 1.0 && ratio > 0.5, "{distribution:?} {ratio}");
        }
    }

    #[test]
    fn what_is_no_distribution_is_refused() {
        for (bad, word) in [
            (
                Distribution::Uniform {
                    low: 1.0,
                    high: 1.0,
                },
                "no width",
            ),
            (
                Distribution::LogUniform {
                    low: 0.0,
                    high: 1.0,
                },
                "no logarithm",
            ),
            (
                Distribution::Normal {
                    mean: 50.0,
                    sd: 1.0,
                    low: 0.0,
                    high: 1.0,
                },
                "outside its ends",
            ),
        ] {
            let text = bad.check("x").unwrap_err().to_string();
            assert!(text.starts_with("x: ") && text.contains(word), "{text}");
        }
    }
}
