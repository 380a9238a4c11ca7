//! Preconditioned conjugate gradients over tensors: any device, nothing assembled.

use burn::tensor::Tensor;

use super::{SolveStatistics, Tangent};
use crate::{
    element::{Incidence, Vector},
    error::{NotConverged, Residual, Result},
    numeric::{Compute, Field},
};

/// Iterations between two looks at the residual: a look waits for the device.
const LOOK_EVERY: usize = 8;
/// Keeps a quotient of two zeros finite once the residual has vanished; far below any real one.
const TINY: f64 = 1e-35;

/// Solves A·x = b from `guess` to a relative residual `tolerance`, with the inverse of the diagonal blocks as
/// preconditioner.
///
/// # Errors
/// [`crate::error::Error::NotConverged`] where `most` iterations do not reach the tolerance, or a number is not
/// finite. The residual is the one that the recurrence carries.
pub(super) fn solve(
    compute: &Compute,
    incidence: &Incidence,
    tangent: &Tangent,
    right: &Field,
    guess: &Field,
    (tolerance, most): (f64, usize),
) -> Result<(Field, SolveStatistics)> {
    let size = norm(compute, right)?;
    // No residual is small next to a right side of zero; its solution needs no iteration.
    if size == 0.0 {
        return Ok((right.zeros_like(), SolveStatistics::default()));
    }
    let inverse = Inverse::new(&tangent.diagonal(incidence));
    let mut x = guess.clone();
    let mut residual = right.clone() - tangent.apply(incidence, &x);
    let mut preconditioned = inverse.apply(&residual);
    let mut direction = preconditioned.clone();
    let mut product = dot(&residual, &preconditioned);
    let mut iterations = 0;
    loop {
        let relative = norm(compute, &residual)? / size;
        let statistics = SolveStatistics {
            iterations,
            residual: relative,
            refactored: false,
        };
        if relative <= tolerance {
            return Ok((x, statistics));
        }
        let failed = |why: String| {
            let residual = Residual {
                reached: relative,
                tolerance,
                iterations,
            };
            Err(NotConverged::error(super::CONJUGATE, why, Some(residual)))
        };
        if !relative.is_finite() {
            return failed("a number is not finite".into());
        }
        if iterations >= most {
            return failed(format!("{most} iterations do not suffice"));
        }
        for _ in 0..LOOK_EVERY {
            let image = tangent.apply(incidence, &direction);
            let step = product.clone() / (dot(&direction, &image) + TINY);
            x = x + direction.clone() * spread(&step);
            residual = residual - image * spread(&step);
            preconditioned = inverse.apply(&residual);
            let next = dot(&residual, &preconditioned);
            let keep = next.clone() / (product + TINY);
            direction = preconditioned.clone() + direction * spread(&keep);
            product = next;
        }
        iterations += LOOK_EVERY;
    }
}

fn dot(a: &Field, b: &Field) -> Tensor<1> {
    (a.clone() * b.clone()).sum()
}

fn spread(scalar: &Tensor<1>) -> Field {
    scalar.clone().reshape([1, 1])
}

fn norm(compute: &Compute, a: &Field) -> Result<f64> {
    Ok(compute.values(dot(a, a))?[0].sqrt())
}

/// Inverses of symmetric 3×3 blocks, rows xx, yy, zz, xy, xz, yz.
struct Inverse([Field; 6]);

impl Inverse {
    fn new(blocks: &Field) -> Inverse {
        let b = |r: usize| blocks.clone().narrow(0, r, 1);
        let minor = |p: Field, q: Field, r: Field, s: Field| p * q - r * s;
        let cofactors = [
            minor(b(1), b(2), b(5), b(5)),
            minor(b(0), b(2), b(4), b(4)),
            minor(b(0), b(1), b(3), b(3)),
            minor(b(4), b(5), b(3), b(2)),
            minor(b(3), b(5), b(4), b(1)),
            minor(b(3), b(4), b(0), b(5)),
        ];
        let determinant =
            b(0) * cofactors[0].clone() + b(3) * cofactors[3].clone() + b(4) * cofactors[4].clone();
        Inverse(cofactors.map(|c| c / determinant.clone()))
    }

    fn apply(&self, w: &Field) -> Field {
        let Vector { x, y, z } = Vector::from_rows(w);
        let row = |a: usize, b: usize, c: usize| {
            self.0[a].clone() * x.clone()
                + self.0[b].clone() * y.clone()
                + self.0[c].clone() * z.clone()
        };
        Tensor::cat(vec![row(0, 3, 4), row(3, 1, 5), row(4, 5, 2)], 0)
    }
}
