//! Linear solvers of the mesh step: A·x = b with the matrix of [`Tangent`].

mod conjugate;
mod tangent;

pub use tangent::Tangent;

use crate::{
    element::Incidence,
    error::Result,
    numeric::{Compute, Field},
};

/// How a solve went.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Statistics {
    /// Of conjugate gradients.
    pub iterations: usize,
    /// |b − A·x|/|b|.
    pub residual: f64,
    /// Whether the matrix was factorised anew.
    pub refactored: bool,
}

/// A solver and what it keeps from step to step.
#[derive(Debug)]
pub struct Solver {
    compute: Compute,
    /// Relative residual at which a solve ends.
    pub tolerance: f64,
    /// Most iterations of a solve.
    pub most: usize,
}

impl Solver {
    /// Conjugate gradients.
    pub fn conjugate(compute: &Compute, tolerance: f64) -> Solver {
        Solver {
            compute: compute.clone(),
            tolerance,
            most: 5000,
        }
    }

    /// Solves A·x = right, all `[3, vertices]`.
    pub fn solve(
        &mut self,
        incidence: &Incidence,
        tangent: &Tangent,
        right: &Field,
        guess: &Field,
    ) -> Result<(Field, Statistics)> {
        conjugate::solve(
            &self.compute,
            incidence,
            tangent,
            right,
            guess,
            (self.tolerance, self.most),
        )
    }
}
