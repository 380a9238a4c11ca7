//! Linear solvers of the mesh step: A·x = b with the matrix of [`Tangent`].
//!
//! On the CPU the matrix is assembled and factorised ([`direct`]); elsewhere conjugate gradients run over the
//! elements. [`Solver::new`] chooses.

mod conjugate;
pub(crate) mod direct;
mod tangent;

pub(crate) use tangent::Tangent;

use crate::{
    element::Incidence,
    error::Result,
    mesh::{Mesh, Topology},
    numeric::{Compute, Field, Precision},
};

/// How a solve went.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct SolveStatistics {
    /// Of conjugate gradients.
    pub iterations: usize,
    /// |b − A·x|/|b|.
    pub residual: f64,
    /// Whether the matrix was factorised anew.
    pub refactored: bool,
}

/// Relative residual of a solve in f64: an error far below that of the time step, and of the differences
/// that gradients are checked with.
pub(crate) const TOLERANCE: f64 = 1e-10;
/// In f32: what rounding leaves.
const TOLERANCE_F32: f64 = 1e-5;
/// In f32 on the CPU, where the solve itself is in f64: below the rounding of what goes in.
const TOLERANCE_F32_DIRECT: f64 = 1e-7;
/// Most iterations of conjugate gradients without a factor.
const MOST_ITERATIONS: usize = 5000;
/// Names of the methods, for reports and errors.
const CONJUGATE: &str = "conjugate gradients";
const CHOLESKY: &str = "sparse Cholesky";

/// A solver and what it keeps from step to step.
#[derive(Clone)]
pub struct Solver {
    compute: Compute,
    tolerance: f64,
    /// Most iterations of conjugate gradients without a factor.
    most_iterations: usize,
    /// Steps after which what is kept is dropped; never where none.
    forget_every: Option<usize>,
    direct: Option<Direct>,
}

impl Solver {
    /// The solver of a mesh: a factorisation on the CPU, conjugate gradients elsewhere.
    pub fn new(mesh: &Mesh, topology: &Topology, compute: &Compute) -> Result<Solver> {
        if !compute.is_cpu() {
            return Ok(Solver::conjugate(compute, TOLERANCE_F32));
        }
        let tolerance = match compute.precision() {
            Precision::F64 => TOLERANCE,
            Precision::F32 => TOLERANCE_F32_DIRECT,
        };
        Ok(Solver {
            direct: Some(Direct::new(mesh, topology)?),
            ..Solver::conjugate(compute, tolerance)
        })
    }

    /// Conjugate gradients on any device.
    pub fn conjugate(compute: &Compute, tolerance: f64) -> Solver {
        Solver {
            compute: compute.clone(),
            tolerance,
            most_iterations: MOST_ITERATIONS,
            forget_every: None,
            direct: None,
        }
    }

    /// The same with another tolerance.
    pub fn with_tolerance(self, tolerance: f64) -> Solver {
        Solver { tolerance, ..self }
    }

    /// The same, and before every so many steps ([`Solver::begin_step`]) it drops what it keeps from earlier ones.
    pub fn forgetting_every(self, steps: usize) -> Solver {
        Solver {
            forget_every: Some(steps),
            ..self
        }
    }

    /// To be called before step `step` of a run, counted from 0: a solver that forgets now and then does so here,
    /// so that the bits of a step depend on its number and not on where the run began.
    pub fn begin_step(&mut self, step: usize) {
        if self.forget_every.is_some_and(|n| step.is_multiple_of(n)) {
            self.forget();
        }
    }

    /// The same with another limit to the iterations without a factor, for tests of what happens at the limit.
    #[cfg(test)]
    pub(crate) fn limited_to(self, most_iterations: usize) -> Solver {
        Solver {
            most_iterations,
            ..self
        }
    }

    /// Drops what is kept from earlier solves, so that the next ones do not depend on them: a run that goes on
    /// from a saved state then gives the bits of one without a stop.
    pub fn forget(&mut self) {
        if let Some(direct) = &mut self.direct {
            direct.solver.forget();
        }
    }

    /// Which method this is, for reports.
    pub fn name(&self) -> &'static str {
        match self.direct {
            Some(_) => CHOLESKY,
            None => CONJUGATE,
        }
    }

    /// Solves A·x = right, all `[3, vertices]`, to the solver's tolerance.
    ///
    /// # Errors
    /// [`crate::error::Error::NotConverged`] where the tolerance is not reached, with the residual; the caller adds
    /// the step ([`crate::error::Error::at`]).
    pub fn solve(
        &mut self,
        incidence: &Incidence,
        tangent: &Tangent,
        right: &Field,
        guess: &Field,
    ) -> Result<(Field, SolveStatistics)> {
        let (compute, tolerance) = (&self.compute, self.tolerance);
        match &mut self.direct {
            Some(direct) => {
                direct.refresh(compute, incidence, tangent)?;
                direct.solve(compute, right, guess, tolerance)
            }
            None => conjugate::solve(
                compute,
                incidence,
                tangent,
                right,
                guess,
                (tolerance, self.most_iterations),
            ),
        }
    }
}

/// The direct solver with tensors on its outside.
#[derive(Clone)]
struct Direct {
    solver: direct::DirectSolver,
}

impl Direct {
    fn new(mesh: &Mesh, topology: &Topology) -> Result<Direct> {
        let hinges: Vec<[usize; 4]> = topology.hinges.iter().map(|h| h.vertices).collect();
        let vertices = mesh.positions.len();
        let pattern =
            direct::BlockPattern::new(vertices, &hinges, &mesh.triangles, &mesh.positions)?;
        Ok(Direct {
            solver: direct::DirectSolver::new(pattern, direct::Strategy::Keep),
        })
    }

    fn refresh(
        &mut self,
        compute: &Compute,
        incidence: &Incidence,
        tangent: &Tangent,
    ) -> Result<()> {
        let values = |f: &Field| compute.values(f.clone());
        let columns = &tangent.columns;
        let (shape_u, shape_v) = incidence.shapes();
        let modulus = &tangent.modulus;
        let shear = modulus.shear.clone() * 2.0;
        let join = |parts: &[&Field]| -> Result<Vec<f64>> {
            let mut all = Vec::new();
            for part in parts {
                all.extend(values(part)?);
            }
            Ok(all)
        };
        let mut geometric = values(&tangent.tension)?;
        geometric.resize(geometric.len() / 2 * 3, 0.0);
        let gradient = values(&incidence.corners_of_span(&tangent.bend.gradient()))?;
        let fixed: Vec<bool> = values(&tangent.free)?.iter().map(|f| *f == 0.0).collect();
        self.solver.refresh(&direct::TangentSlices {
            hinge_gradient: &corner_first(&gradient),
            hinge_weight: &values(&tangent.bend_weight)?,
            deformation: &join(&[&columns.u.to_rows(), &columns.v.to_rows()])?,
            shape: &join(&[shape_u, shape_v])?,
            modulus: &join(&[&modulus.warp, &modulus.coupling, &modulus.weft, &shear])?,
            geometric: &geometric,
            vertex: &values(&tangent.blocks)?,
            fixed: &fixed,
        })
    }

    fn solve(
        &mut self,
        compute: &Compute,
        right: &Field,
        guess: &Field,
        tolerance: f64,
    ) -> Result<(Field, SolveStatistics)> {
        let b = vertex_first(&compute.values(right.clone())?);
        let mut x = vertex_first(&compute.values(guess.clone())?);
        let stats = self.solver.solve(&b, &mut x, tolerance)?;
        let count = x.len() / 3;
        let rows: Vec<f64> = (0..3)
            .flat_map(|axis| x.iter().skip(axis).step_by(3).copied())
            .collect();
        let statistics = SolveStatistics {
            iterations: stats.iterations,
            residual: stats.relative_residual,
            refactored: stats.refactored,
        };
        Ok((compute.tensor(&rows, [3, count]), statistics))
    }
}

/// From rows axis by axis (x of the four corners, then y, z) to rows corner by corner.
fn corner_first(rows: &[f64]) -> Vec<f64> {
    let length = rows.len() / 12;
    let row = |r: usize| &rows[r * length..(r + 1) * length];
    (0..12)
        .flat_map(|r| row(r % 3 * 4 + r / 3))
        .copied()
        .collect()
}

/// From `[3, vertices]` to three numbers a vertex.
fn vertex_first(rows: &[f64]) -> Vec<f64> {
    let count = rows.len() / 3;
    (0..count)
        .flat_map(|v| [rows[v], rows[count + v], rows[2 * count + v]])
        .collect()
}
