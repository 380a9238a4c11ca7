//! The solver: assembles, factors, solves.

use super::assemble::Assembly;
use super::conjugate::{self, Limits, Outcome, Vectors};
use super::factor::{Factor, NotPositive};
use super::matrix::Product;
use super::pattern::Pattern;
use super::substitute::Substitution;
use super::tangent::Tangent;
use crate::error::{Error, Result, bad_input};

/// How the factor is made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Strategy {
    /// A factor in double precision at every refresh.
    #[default]
    Exact,
    /// A factor in single precision at every refresh; conjugate gradients restore the digits.
    Single,
}

/// How a solve went.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stats {
    /// Steps of conjugate gradients; with a fresh factor 1 or 2.
    pub iterations: usize,
    /// ‖b − A·x‖/‖b‖, or the same scaled by the diagonal's −½ power where that is larger.
    pub relative_residual: f64,
    /// Whether a factor was computed for this solve.
    pub refactored: bool,
}

/// Steps of conjugate gradients after which a fresh factor is judged useless.
const MOST_ITERATIONS: usize = 200;

/// Owns the pattern, the matrix and its factor.
pub struct Solver {
    pattern: Pattern,
    strategy: Strategy,
    assembly: Assembly,
    values: Vec<[f64; 9]>,
    scale: Vec<f64>,
    product: Product,
    vectors: Vectors,
    double: Option<(Factor<f64>, Substitution<f64>)>,
    single: Option<(Factor<f32>, Substitution<f32>)>,
    stale: bool,
    assembled: bool,
    b: Vec<f64>,
    x: Vec<f64>,
}

impl Solver {
    /// A solver for systems with this pattern.
    pub fn new(pattern: Pattern, strategy: Strategy) -> Self {
        let unknowns = 3 * pattern.vertices();
        Self {
            strategy,
            assembly: Assembly::new(&pattern),
            values: vec![[0.0; 9]; pattern.blocks()],
            scale: vec![1.0; unknowns],
            product: Product::new(&pattern.starts, rayon::current_num_threads().clamp(1, 8)),
            vectors: Vectors::default(),
            double: None,
            single: None,
            stale: true,
            assembled: false,
            b: vec![0.0; unknowns],
            x: vec![0.0; unknowns],
            pattern,
        }
    }

    /// The pattern that the solver was made for.
    pub fn pattern(&self) -> &Pattern {
        &self.pattern
    }

    /// Assembles the matrix of this step.
    ///
    /// # Errors
    /// Slices of the wrong length; a diagonal entry that is not positive or not finite.
    pub fn refresh(&mut self, tangent: &Tangent<'_>) -> Result<()> {
        tangent.check(&self.pattern)?;
        self.assembled = false;
        self.assembly
            .assemble(&self.pattern, tangent, &mut self.values);
        self.rescale()?;
        self.stale = true;
        self.assembled = true;
        Ok(())
    }

    /// Solves A·x = b to the relative residual `tolerance`, from the guess in `x`; both are
    /// [3·V], vertex by vertex.
    ///
    /// # Errors
    /// No refresh before; vectors of the wrong length or not finite; a matrix that is not positive
    /// definite; a tolerance that rounding does not allow.
    pub fn solve(&mut self, b: &[f64], x: &mut [f64], tolerance: f64) -> Result<Stats> {
        self.check(b, x, tolerance)?;
        for (place, &vertex) in self.pattern.order.iter().enumerate() {
            let vertex = vertex as usize;
            self.b[3 * place..3 * place + 3].copy_from_slice(&b[3 * vertex..3 * vertex + 3]);
            self.x[3 * place..3 * place + 3].copy_from_slice(&x[3 * vertex..3 * vertex + 3]);
        }
        let refactored = self.stale;
        if self.stale {
            self.factorize()?;
        }
        let outcome = self.iterate(tolerance);
        if !(outcome.residual <= tolerance) {
            return Err(not_reached(outcome, tolerance));
        }
        for (place, &vertex) in self.pattern.order.iter().enumerate() {
            let vertex = vertex as usize;
            x[3 * vertex..3 * vertex + 3].copy_from_slice(&self.x[3 * place..3 * place + 3]);
        }
        Ok(Stats {
            iterations: outcome.iterations,
            relative_residual: outcome.residual,
            refactored,
        })
    }

    fn check(&self, b: &[f64], x: &[f64], tolerance: f64) -> Result<()> {
        let unknowns = self.b.len();
        if !self.assembled {
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
                return bad_input(format!(
                    "{name} is {} at vertex {}; the state before this step is not finite, try a smaller time step",
                    values[row],
                    row / 3
                ));
            }
        }
        Ok(())
    }

    fn rescale(&mut self) -> Result<()> {
        for place in 0..self.pattern.vertices() {
            let block = &self.values[self.pattern.starts[place] as usize];
            for axis in 0..3 {
                let entry = block[4 * axis];
                if !(entry > 0.0 && entry.is_finite()) {
                    return Err(indefinite(
                        self.pattern.order[place],
                        &format!("its diagonal entry is {entry:e}"),
                    ));
                }
                self.scale[3 * place + axis] = entry.sqrt().recip();
            }
        }
        Ok(())
    }

    fn factorize(&mut self) -> Result<()> {
        let single = self.strategy == Strategy::Single && self.factorize_single().is_ok();
        if !single {
            self.single = None;
            self.factorize_double().map_err(|NotPositive { row }| {
                indefinite(self.pattern.order[row / 3], "its pivot is not positive")
            })?;
        }
        self.stale = false;
        Ok(())
    }

    fn factorize_single(&mut self) -> std::result::Result<(), NotPositive> {
        let fronts = &self.pattern.fronts;
        let unknowns = self.scale.len();
        let (factor, _) = self.single.get_or_insert_with(|| {
            (Factor::new(fronts), Substitution::new(fronts, unknowns))
        });
        factor.compute(fronts, self.pattern.matrix(&self.values), &self.scale)
    }

    fn factorize_double(&mut self) -> std::result::Result<(), NotPositive> {
        let fronts = &self.pattern.fronts;
        let unknowns = self.scale.len();
        let (factor, _) = self.double.get_or_insert_with(|| {
            (Factor::new(fronts), Substitution::new(fronts, unknowns))
        });
        factor.compute(fronts, self.pattern.matrix(&self.values), &self.scale)
    }

    fn iterate(&mut self, tolerance: f64) -> Outcome {
        let matrix = self.pattern.matrix(&self.values);
        let fronts = &self.pattern.fronts;
        let (product, single, double) = (&mut self.product, &mut self.single, &mut self.double);
        let scale = &self.scale;
        let mut multiply = |x: &[f64], y: &mut [f64]| product.apply(matrix, x, y);
        let mut precondition = |r: &[f64], z: &mut [f64]| match (&mut *single, &mut *double) {
            (Some((factor, substitution)), _) => substitution.apply(fronts, factor, scale, r, z),
            (None, Some((factor, substitution))) => substitution.apply(fronts, factor, scale, r, z),
            (None, None) => z.copy_from_slice(r),
        };
        conjugate::solve(
            &mut multiply,
            &mut precondition,
            scale,
            &self.b,
            &mut self.x,
            Limits {
                tolerance,
                iterations: MOST_ITERATIONS,
            },
            &mut self.vectors,
        )
    }
}

fn indefinite(vertex: u32, what: &str) -> Error {
    Error::BadInput(format!(
        "the step's matrix is not positive definite at vertex {vertex}: {what}; try a smaller time step, clamp the geometric stiffness of compressed triangles, and check for vertices without mass"
    ))
}

fn not_reached(outcome: Outcome, tolerance: f64) -> Error {
    Error::BadInput(format!(
        "the linear solve stopped at relative residual {:e} after {} iterations, above {tolerance:e}; try a larger tolerance, a smaller time step or weaker handles",
        outcome.residual, outcome.iterations
    ))
}
