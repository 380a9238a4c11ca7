//! The factor in use, with the scaling it was made with.

use super::factor::{Cholesky, FactorReal, NotPositive};
use super::pattern::BlockPattern;
use super::substitute::Substitution;

/// A factor of S·A·S in one precision.
#[derive(Clone)]
struct Scaled<T> {
    factor: Cholesky<T>,
    substitution: Substitution<T>,
    scale: Vec<f64>,
}

impl<T: FactorReal> Scaled<T> {
    fn new(pattern: &BlockPattern) -> Self {
        let unknowns = 3 * pattern.vertices();
        Self {
            factor: Cholesky::new(&pattern.fronts),
            substitution: Substitution::new(&pattern.fronts, unknowns),
            scale: vec![1.0; unknowns],
        }
    }

    fn compute(
        &mut self,
        pattern: &BlockPattern,
        values: &[[f64; 9]],
        scale: &[f64],
    ) -> Result<(), NotPositive> {
        self.scale.copy_from_slice(scale);
        self.factor
            .compute(&pattern.fronts, pattern.matrix(values), scale)
    }

    fn apply(&mut self, pattern: &BlockPattern, r: &[f64], z: &mut [f64]) {
        self.substitution
            .apply(&pattern.fronts, &self.factor, &self.scale, r, z);
    }
}

/// The precision of a factor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FactorPrecision {
    Single,
    Double,
}

/// An approximate inverse: at most one factor in each precision, made when first needed.
#[derive(Clone, Default)]
pub(crate) struct Preconditioner {
    single: Option<Scaled<f32>>,
    double: Option<Scaled<f64>>,
    in_use: Option<FactorPrecision>,
}

impl Preconditioner {
    /// Which factor is applied; none before the first success and after a failure.
    pub(crate) fn in_use(&self) -> Option<FactorPrecision> {
        self.in_use
    }

    /// Drops the factor, but keeps its memory.
    pub(crate) fn forget(&mut self) {
        self.in_use = None;
    }

    /// Factors the matrix with these blocks.
    pub(crate) fn compute(
        &mut self,
        precision: FactorPrecision,
        pattern: &BlockPattern,
        values: &[[f64; 9]],
        scale: &[f64],
    ) -> Result<(), NotPositive> {
        self.in_use = None;
        match precision {
            FactorPrecision::Single => self
                .single
                .get_or_insert_with(|| Scaled::new(pattern))
                .compute(pattern, values, scale)?,
            FactorPrecision::Double => self
                .double
                .get_or_insert_with(|| Scaled::new(pattern))
                .compute(pattern, values, scale)?,
        }
        self.in_use = Some(precision);
        Ok(())
    }

    /// `z ≈ A⁻¹·r`, in the order of elimination; `z = r` without a factor.
    pub(crate) fn apply(&mut self, pattern: &BlockPattern, r: &[f64], z: &mut [f64]) {
        match (self.in_use, &mut self.single, &mut self.double) {
            (Some(FactorPrecision::Single), Some(single), _) => single.apply(pattern, r, z),
            (Some(FactorPrecision::Double), _, Some(double)) => double.apply(pattern, r, z),
            _ => z.copy_from_slice(r),
        }
    }
}
