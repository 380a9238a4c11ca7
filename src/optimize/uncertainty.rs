//! Covariance of the unknowns at an optimum, and what it cannot say.

use nalgebra::{DMatrix, DVector};

use super::Linearized;

/// The linear picture of the data's knowledge at an optimum.
#[derive(Debug, Clone)]
pub(crate) struct Uncertainty {
    /// Covariance of the unknowns. Directions that the data leave open are as wide as the box.
    pub covariance: DMatrix<f64>,
    /// Singular values of the Jacobian, decreasing, for unknowns in units of their box.
    #[cfg(test)]
    pub singular_values: Vec<f64>,
}

impl Uncertainty {
    /// From the residuals' Jacobian, where every residual has a standard deviation of one.
    ///
    /// The box counts as a very weak prior, a row of 1/width for each unknown: it changes an identified
    /// unknown by less than a thousandth of its error and keeps the rest finite.
    pub(crate) fn new(at: &Linearized, bounds: &[(f64, f64)]) -> Uncertainty {
        Self::scaled(at, bounds, &DVector::repeat(at.jacobian.nrows(), 1.0))
    }

    /// The same where the standard deviations of the residuals are `scales`: the errors of an estimate that was
    /// weighted as if they were one.
    pub(crate) fn scaled(
        at: &Linearized,
        bounds: &[(f64, f64)],
        scales: &DVector<f64>,
    ) -> Uncertainty {
        let (m, n) = at.jacobian.shape();
        let widths = DVector::from_iterator(n, bounds.iter().map(|(low, high)| high - low));
        let scaled = DMatrix::from_fn(m, n, |i, j| at.jacobian[(i, j)] * widths[j]);
        #[cfg(test)]
        let singular_values = {
            let mut values: Vec<f64> = scaled.clone().singular_values().iter().copied().collect();
            values.sort_by(|a, b| b.total_cmp(a));
            values.resize(n, 0.0);
            values
        };
        let mut stacked = scaled.resize(m + n, n, 0.0);
        for j in 0..n {
            stacked[(m + j, j)] = 1.0;
        }
        let svd = stacked.svd(true, true);
        let mut covariance = DMatrix::zeros(n, n);
        if let (Some(mut u), Some(v_t)) = (svd.u, svd.v_t) {
            // Of noise with these deviations, what reaches each direction.
            for (mut row, scale) in u.row_iter_mut().zip(scales) {
                row *= *scale;
            }
            let mut directions = v_t.transpose();
            for (mut column, sigma) in directions.column_iter_mut().zip(&svd.singular_values) {
                column.component_mul_assign(&widths);
                column /= *sigma;
            }
            covariance = &directions * u.tr_mul(&u) * directions.transpose();
        }
        Uncertainty {
            covariance,
            #[cfg(test)]
            singular_values,
        }
    }

    /// Standard error of a quantity with the given gradient over the unknowns.
    pub(crate) fn std_error(&self, gradient: &DVector<f64>) -> f64 {
        (&self.covariance * gradient).dot(gradient).max(0.0).sqrt()
    }

    /// Correlation of two quantities.
    pub(crate) fn correlation(&self, a: &DVector<f64>, b: &DVector<f64>) -> f64 {
        let product = (&self.covariance * a).dot(b);
        (product / (self.std_error(a) * self.std_error(b))).clamp(-1.0, 1.0)
    }

    /// The direction in which the unknowns follow when a quantity moves by one.
    pub(crate) fn follow(&self, gradient: &DVector<f64>) -> DVector<f64> {
        let direction = &self.covariance * gradient;
        let length = direction.dot(gradient);
        if length > 0.0 {
            direction / length
        } else {
            gradient.clone()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_known_product_has_an_error_and_its_factors_do_not() {
        // One datum: x + y = 0 ± 0.1, in a box of width 10.
        let at = Linearized {
            residuals: DVector::zeros(1),
            jacobian: DMatrix::from_row_slice(1, 2, &[10.0, 10.0]),
        };
        let uncertainty = Uncertainty::new(&at, &[(-5.0, 5.0); 2]);
        let error = |g: [f64; 2]| uncertainty.std_error(&DVector::from_row_slice(&g));
        assert!((error([1.0, 1.0]) - 0.1).abs() < 1e-3);
        assert!(error([1.0, 0.0]) > 4.0 && error([1.0, 0.0]) < 10.0);
        let [x, y] = [[1.0, 0.0], [0.0, 1.0]].map(|g| DVector::from_row_slice(&g));
        assert!(uncertainty.correlation(&x, &y) < -0.999);
        assert!(uncertainty.singular_values[1] < 1e-9);
    }

    // Two readings of one unknown, each taken as ± 1, the second really ± 3: their mean has a variance of (1 + 9)/4.
    #[test]
    fn a_row_with_a_larger_deviation_widens_the_error_of_a_mean() {
        let at = Linearized {
            residuals: DVector::zeros(2),
            jacobian: DMatrix::from_element(2, 1, 1.0),
        };
        let bounds = [(-500.0, 500.0)];
        let variance = |scales: [f64; 2]| {
            let scales = DVector::from_row_slice(&scales);
            Uncertainty::scaled(&at, &bounds, &scales).covariance[(0, 0)]
        };
        assert!((variance([1.0, 3.0]) - 2.5).abs() < 1e-4);
        let plain = Uncertainty::new(&at, &bounds).covariance[(0, 0)];
        assert!((variance([1.0, 1.0]) - plain).abs() < 1e-12 && (plain - 0.5).abs() < 1e-4);
    }
}
