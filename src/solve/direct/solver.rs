//! The solver: assembles, keeps or makes a factor, solves.

use super::assemble::Assembly;
use super::conjugate::{IterationEnd, Limits, SparseSystem, Vectors};
use super::factor::NotPositive;
use super::matrix::Product;
use super::pattern::BlockPattern;
use super::preconditioner::{FactorPrecision, Preconditioner};
use super::schedule::{FactorSchedule, PATIENCE};
use super::tangent::TangentSlices;
use crate::error::{Error, NotConverged, Residual, Result, bad_input};
use crate::solve::CHOLESKY;

/// How the factor is made. All reach the same tolerance; times are in [`crate::solve`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Strategy {
    /// A factor in single precision, kept as the preconditioner of conjugate gradients until a new
    /// one pays. Fastest where the cloth changes slowly, but the digits below the tolerance depend on
    /// the solves before it, and a matrix that is slightly indefinite can go unnoticed.
    #[default]
    Keep,
    /// A factor in single precision for every matrix. The solution depends on this system only.
    #[cfg(test)]
    Single,
    /// A factor in double precision for every matrix: one or two iterations.
    #[cfg(test)]
    Exact,
}

/// How a solve went.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Stats {
    /// Steps of conjugate gradients, each with one substitution.
    pub iterations: usize,
    /// ‖b − A·x‖/‖b‖, or the same scaled by the diagonal's −½ power where that is larger. Above the
    /// tolerance only where rounding allows no less.
    pub relative_residual: f64,
    /// Whether a factor was computed in this solve.
    pub refactored: bool,
}

/// Iterations after which a fresh factor is judged useless; it takes 2 to 4 where all is well.
const MOST_ITERATIONS: usize = 100;

/// Pieces of a matrix product: as many threads can share it. Not the number of threads, so that the sums have
/// the same bits on every machine.
const PIECES: usize = 8;

/// Owns the pattern, the matrix and its factor.
#[derive(Clone)]
pub(crate) struct DirectSolver {
    pattern: BlockPattern,
    strategy: Strategy,
    assembly: Assembly,
    values: Vec<[f64; 9]>,
    scale: Vec<f64>,
    product: Product,
    preconditioner: Preconditioner,
    schedule: FactorSchedule,
    vectors: Vectors,
    /// The factor belongs to the matrix as it is now.
    is_fresh: bool,
    is_assembled: bool,
    b: Vec<f64>,
    x: Vec<f64>,
}

impl DirectSolver {
    /// A solver for systems with this pattern.
    pub(crate) fn new(pattern: BlockPattern, strategy: Strategy) -> Self {
        let unknowns = 3 * pattern.vertices();
        Self {
            strategy,
            assembly: Assembly::new(&pattern),
            values: vec![[0.0; 9]; pattern.blocks()],
            scale: vec![1.0; unknowns],
            product: Product::new(&pattern.starts, PIECES),
            preconditioner: Preconditioner::default(),
            schedule: FactorSchedule::default(),
            vectors: Vectors::default(),
            is_fresh: false,
            is_assembled: false,
            b: vec![0.0; unknowns],
            x: vec![0.0; unknowns],
            pattern,
        }
    }

    /// Drops a kept factor, so that the next solution does not depend on earlier ones: for runs that
    /// start again from a checkpoint and must give the same bits.
    pub(crate) fn forget(&mut self) {
        self.preconditioner.forget();
        self.schedule = FactorSchedule::default();
        self.is_fresh = false;
    }

    /// Assembles the matrix of this step.
    ///
    /// # Errors
    /// Slices of the wrong length; a diagonal entry that is not positive or not finite.
    pub(crate) fn refresh(&mut self, tangent: &TangentSlices<'_>) -> Result<()> {
        tangent.check(&self.pattern)?;
        self.is_assembled = false;
        self.is_fresh = false;
        self.assembly
            .assemble(&self.pattern, tangent, &mut self.values);
        self.rescale()?;
        self.is_assembled = true;
        Ok(())
    }

    /// Solves A·x = b to the relative residual `tolerance`, from the guess in `x`; both are
    /// `[3·V]`, vertex by vertex. On an error `x` is left as it was.
    ///
    /// # Errors
    /// No refresh before; vectors of the wrong length. [`Error::NotConverged`] for vectors that are not finite, a
    /// matrix that is not positive definite, and conjugate gradients that do not reach the tolerance.
    pub(crate) fn solve(&mut self, b: &[f64], x: &mut [f64], tolerance: f64) -> Result<Stats> {
        self.check(b, x, tolerance)?;
        for (place, &vertex) in self.pattern.order.iter().enumerate() {
            let (here, there) = (3 * place, 3 * vertex as usize);
            self.b[here..here + 3].copy_from_slice(&b[there..there + 3]);
            self.x[here..here + 3].copy_from_slice(&x[there..there + 3]);
        }
        let stats = self.solve_ordered(tolerance)?;
        for (place, &vertex) in self.pattern.order.iter().enumerate() {
            let (here, there) = (3 * place, 3 * vertex as usize);
            x[there..there + 3].copy_from_slice(&self.x[here..here + 3]);
        }
        Ok(stats)
    }

    /// With the kept factor, else with a new one, else with one in double precision.
    fn solve_ordered(&mut self, tolerance: f64) -> Result<Stats> {
        if self.b.iter().all(|&value| value == 0.0) {
            self.x.fill(0.0);
            return Ok(Stats::default());
        }
        let mut iterations = 0;
        let mut refactored = false;
        let keeps = self.strategy == Strategy::Keep && !self.schedule.is_worn();
        if self.preconditioner.in_use().is_some() && (self.is_fresh || keeps) {
            let limit = if self.is_fresh {
                MOST_ITERATIONS
            } else {
                PATIENCE
            };
            let outcome = self.iterate(tolerance, limit);
            iterations += outcome.iterations;
            if outcome.converged {
                self.schedule.note(iterations);
                if !self.is_fresh {
                    self.schedule.note_success();
                }
                return Ok(stats(outcome, iterations, refactored));
            }
            self.schedule.note_failure();
        }
        let first = match self.strategy {
            #[cfg(test)]
            Strategy::Exact => FactorPrecision::Double,
            _ => FactorPrecision::Single,
        };
        let mut reached = f64::NAN;
        for precision in [first, FactorPrecision::Double] {
            if let Err(NotPositive { row }) = self.factorize(precision) {
                // Rounding to single precision can spoil a matrix that is positive definite.
                if precision == FactorPrecision::Single {
                    continue;
                }
                let here = self.iterate(tolerance, 0);
                let why = indefinite(self.pattern.order[row / 3], "its pivot is not positive");
                return Err(not_reached(why, here.residual, tolerance, iterations));
            }
            refactored = true;
            let outcome = self.iterate(tolerance, MOST_ITERATIONS);
            iterations += outcome.iterations;
            if outcome.converged {
                self.schedule.note(outcome.iterations);
                self.schedule.note_fresh();
                return Ok(stats(outcome, iterations, refactored));
            }
            reached = outcome.residual;
        }
        let why = "iterations with a factor of the matrix itself stopped making progress".into();
        Err(not_reached(why, reached, tolerance, iterations))
    }

    fn factorize(&mut self, precision: FactorPrecision) -> std::result::Result<(), NotPositive> {
        self.is_fresh = false;
        self.schedule.restart();
        self.preconditioner
            .compute(precision, &self.pattern, &self.values, &self.scale)?;
        self.is_fresh = true;
        Ok(())
    }

    fn iterate(&mut self, tolerance: f64, iterations: usize) -> IterationEnd {
        let pattern = &self.pattern;
        let matrix = pattern.matrix(&self.values);
        let (product, preconditioner) = (&mut self.product, &mut self.preconditioner);
        let mut system = SparseSystem {
            multiply: &mut |x, y| product.apply(matrix, x, y),
            precondition: &mut |r, z| preconditioner.apply(pattern, r, z),
            scale: &self.scale,
            b: &self.b,
        };
        let limits = Limits {
            tolerance,
            iterations,
        };
        system.solve(&mut self.x, limits, &mut self.vectors)
    }

    fn rescale(&mut self) -> Result<()> {
        for place in 0..self.pattern.vertices() {
            let block = &self.values[self.pattern.starts[place] as usize];
            for axis in 0..3 {
                // A value that is not finite anywhere in an element reaches the diagonal of one of
                // its corners, so that this check finds it.
                let entry = block[4 * axis];
                if !(entry > 0.0 && entry.is_finite()) {
                    let what = format!("its diagonal entry is {entry:e}");
                    let why = indefinite(self.pattern.order[place], &what);
                    return Err(NotConverged::error(CHOLESKY, why, None));
                }
                self.scale[3 * place + axis] = entry.sqrt().recip();
            }
        }
        Ok(())
    }

    fn check(&self, b: &[f64], x: &[f64], tolerance: f64) -> Result<()> {
        let unknowns = self.b.len();
        if !self.is_assembled {
            return bad_input("solve before a refresh that succeeded; call refresh first");
        }
        if b.len() != unknowns || x.len() != unknowns {
            return bad_input(format!(
                "right side of {} and guess of {} values for {unknowns} unknowns; give 3 a vertex",
                b.len(),
                x.len()
            ));
        }
        if !(tolerance > 0.0 && tolerance < 1.0) {
            return bad_input(format!(
                "tolerance {tolerance}; give a relative residual between 0 and 1, such as 1e-8"
            ));
        }
        for (name, values) in [("right side", b), ("guess", x)] {
            if let Some(row) = values.iter().position(|value| !value.is_finite()) {
                let why = format!(
                    "the {name} is {} at vertex {}, so the state before this step is out of bounds",
                    values[row],
                    row / 3
                );
                return Err(NotConverged::error(CHOLESKY, why, None));
            }
        }
        Ok(())
    }
}

fn stats(outcome: IterationEnd, iterations: usize, refactored: bool) -> Stats {
    Stats {
        iterations,
        relative_residual: outcome.residual,
        refactored,
    }
}

fn indefinite(vertex: u32, what: &str) -> String {
    format!(
        "the matrix is not positive definite at vertex {vertex}: {what} (vertices without mass, values that are not finite and compressed triangles whose geometric stiffness is not clamped do that)"
    )
}

fn not_reached(why: String, reached: f64, tolerance: f64, iterations: usize) -> Error {
    let residual = Residual {
        reached,
        tolerance,
        iterations,
    };
    NotConverged::error(CHOLESKY, why, Some(residual))
}
