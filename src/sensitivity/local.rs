//! Local sensitivity: exact derivatives at one set of parameters, and what a measurement there would say.
//!
//! ```text
//! elasticity  e = (p/y)·∂y/∂p
//! Fisher      F = JᵀJ,  J = ∂y/∂ln p / sd,  a row a measurement;  F = V·Λ·Vᵀ
//! ```
//!
//! A combination Π p^v with a large λ is **stiff**: the data know its logarithm to 1/√λ. One with a small λ is
//! **sloppy**: it can change by the factor exp(1/√λ) and the data hardly show it.

use nalgebra::{DMatrix, DVector, SymmetricEigen};
use serde::{Deserialize, Serialize};

use super::factor::Factor;
use crate::optimize::{Linearized, uncertainty::Uncertainty};

/// Derivatives at the nominal parameters.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Local {
    /// Outputs there.
    pub values: Vec<Option<f64>>,
    /// ∂output/∂parameter, a row an output; none where an output has no derivative.
    pub slopes: Vec<Vec<Option<f64>>>,
    /// (p/y)·∂y/∂p; none also where the output is zero.
    pub elasticities: Vec<Vec<Option<f64>>>,
    /// What the measurements know; none where there are none.
    pub fisher: Option<Fisher>,
}

/// What a set of measurements knows of the logarithms of the parameters.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Fisher {
    /// F, in the order of the factors.
    pub matrix: Vec<Vec<f64>>,
    /// Combinations from the stiffest to the sloppiest.
    pub combinations: Vec<Combination>,
    /// Largest eigenvalue over the smallest; none where the smallest is zero to rounding.
    pub condition: Option<f64>,
    /// Covariance of the logarithms, where the ranges of the study count as very weak knowledge.
    pub covariance: Vec<Vec<f64>>,
}

/// An eigenvector of the Fisher information.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Combination {
    /// λ.
    pub eigenvalue: f64,
    /// v, in the order of the factors; the largest component is positive.
    pub direction: Vec<f64>,
    /// Standard error of its logarithm, 1/√λ; none where λ is zero to rounding.
    pub error: Option<f64>,
    /// In words.
    pub words: String,
}

/// Eigenvalues below this share of the largest are rounding.
const ROUNDING: f64 = 1e-14;
/// Components below this are left out of the words.
const SMALL: f64 = 0.2;

impl Local {
    /// From outputs and slopes (row-major, NaN where there is none); `measurements` are outputs that are
    /// measured, each with its standard deviation.
    pub fn new(
        factors: &[Factor],
        values: &[f64],
        slopes: &[f64],
        measurements: &[(usize, f64)],
    ) -> Local {
        let finite = |v: f64| v.is_finite().then_some(v);
        let rows = || slopes.chunks_exact(factors.len().max(1));
        let elasticities = rows().zip(values).map(|(row, y)| {
            let pairs = row.iter().zip(factors);
            pairs.map(|(s, f)| finite(s * f.nominal / y)).collect()
        });
        Local {
            values: values.iter().map(|v| finite(*v)).collect(),
            elasticities: elasticities.collect(),
            slopes: rows()
                .map(|row| row.iter().map(|v| finite(*v)).collect())
                .collect(),
            fisher: Fisher::new(factors, slopes, measurements),
        }
    }
}

/// What a relative change of one is of: the value, or the unit of the distribution where it is zero.
fn scale(factor: &Factor) -> f64 {
    match factor.nominal {
        0.0 => factor.distribution.unit(),
        value => value,
    }
}

impl Fisher {
    fn new(factors: &[Factor], slopes: &[f64], measurements: &[(usize, f64)]) -> Option<Fisher> {
        let k = factors.len();
        let known = |(output, sd): &&(usize, f64)| {
            let row = &slopes[output * k..(output + 1) * k];
            *sd > 0.0 && row.iter().all(|v| v.is_finite())
        };
        let rows: Vec<&(usize, f64)> = measurements.iter().filter(known).collect();
        if rows.is_empty() || k == 0 {
            return None;
        }
        let jacobian = DMatrix::from_fn(rows.len(), k, |i, j| {
            let (output, sd) = rows[i];
            slopes[output * k + j] * scale(&factors[j]) / sd
        });
        let matrix = jacobian.transpose() * &jacobian;
        let eigen = SymmetricEigen::new(matrix.clone());
        let mut order: Vec<usize> = (0..k).collect();
        order.sort_by(|a, b| eigen.eigenvalues[*b].total_cmp(&eigen.eigenvalues[*a]));
        let largest = eigen.eigenvalues[order[0]];
        let combinations: Vec<Combination> = order
            .iter()
            .map(|&e| {
                let value = eigen.eigenvalues[e];
                let known = value > ROUNDING * largest;
                let column = eigen.eigenvectors.column(e);
                let top = column
                    .iter()
                    .fold(0.0f64, |m, v| if v.abs() > m.abs() { *v } else { m });
                let direction: Vec<f64> = column.iter().map(|v| v * top.signum()).collect();
                let error = known.then(|| 1.0 / value.sqrt());
                Combination {
                    eigenvalue: value.max(0.0),
                    words: words(factors, &direction, error),
                    error,
                    direction,
                }
            })
            .collect();
        let smallest = eigen.eigenvalues[order[k - 1]];
        Some(Fisher {
            matrix: nested(&matrix),
            combinations,
            condition: (smallest > ROUNDING * largest).then(|| largest / smallest),
            covariance: covariance(factors, jacobian),
        })
    }
}

/// Covariance of the logarithms as the fit computes it: directions that the data leave open are as wide as the
/// ranges of the study.
fn covariance(factors: &[Factor], jacobian: DMatrix<f64>) -> Vec<Vec<f64>> {
    let widths = factors.iter().map(|f| {
        let (low, high) = f.distribution.ends();
        // The range of the logarithm; of the value where zero is in it.
        if low > 0.0 {
            (low.ln(), high.ln())
        } else {
            (low / scale(f).abs(), high / scale(f).abs())
        }
    });
    let at = Linearized {
        residuals: DVector::zeros(jacobian.nrows()),
        jacobian,
    };
    nested(&Uncertainty::new(&at, &widths.collect::<Vec<_>>()).covariance)
}

fn nested(matrix: &DMatrix<f64>) -> Vec<Vec<f64>> {
    matrix
        .row_iter()
        .map(|row| row.iter().copied().collect())
        .collect()
}

/// "K_friction^0.7 · ε_0^−0.7: known to 2 %".
fn words(factors: &[Factor], direction: &[f64], error: Option<f64>) -> String {
    let mut parts: Vec<(f64, &str)> = direction
        .iter()
        .zip(factors)
        .filter(|(v, _)| v.abs() >= SMALL)
        .map(|(v, f)| (*v, f.symbol.as_str()))
        .collect();
    parts.sort_by(|a, b| b.0.abs().total_cmp(&a.0.abs()));
    let power = |(v, symbol): &(f64, &str)| match format!("{v:.1}").replace('-', "−") {
        one if one == "1.0" => symbol.to_string(),
        other => format!("{symbol}^{other}"),
    };
    let product: Vec<String> = parts.iter().map(power).collect();
    let known = match error {
        None => "not seen at all by these measurements".into(),
        Some(e) if e < 0.5 => format!("known to {:.2} %", 100.0 * e),
        Some(e) if e < 6.0 => format!("known to a factor of {:.1}", e.exp()),
        Some(_) => "hardly seen: it can change a thousandfold".into(),
    };
    format!("{}: {known}", product.join(" · "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sensitivity::distribution::Distribution;

    #[test]
    fn a_product_is_stiff_and_the_ratio_sloppy() {
        // y = a·b measured to 1 %: ln a + ln b is known to 0.01/√2·… and ln a − ln b not at all.
        let factor = |name: &str, nominal: f64| Factor {
            name: name.into(),
            symbol: name.into(),
            unit: "1".into(),
            distribution: Distribution::LogUniform {
                low: 0.1,
                high: 10.0,
            },
            nominal,
        };
        let factors = [factor("a", 2.0), factor("b", 3.0)];
        let local = Local::new(&factors, &[6.0], &[3.0, 2.0], &[(0, 0.06)]);
        assert_eq!(local.elasticities, [[Some(1.0), Some(1.0)]]);
        let fisher = local.fisher.unwrap();
        assert!(fisher.condition.is_none());
        let [stiff, sloppy] = &fisher.combinations[..] else {
            panic!("two parameters have two combinations");
        };
        // Along (1, 1)/√2 the logarithm of y changes by √2.
        assert!((stiff.error.unwrap() - 0.01 / 2f64.sqrt()).abs() < 1e-12);
        assert_eq!(sloppy.error, None);
        assert!(
            stiff.words.contains("a^0.7 · b^0.7: known to 0.71 %"),
            "{}",
            stiff.words
        );
        assert!((sloppy.direction[0] + sloppy.direction[1]).abs() < 1e-12);
        let c = &fisher.covariance;
        assert!(c[0][1] / (c[0][0] * c[1][1]).sqrt() < -0.999, "{c:?}");
    }
}
