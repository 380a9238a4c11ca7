//! The linear system of an implicit step: A·x = b with A symmetric positive definite, three unknowns
//! a vertex, a constant sparsity and values that change a little from step to step.
//!
//! - [`BlockPattern`]: which blocks exist, where each element adds, and the order of elimination;
//! - [`TangentSlices`]: what a step hands over, as slices;
//! - [`DirectSolver`]: assembles, factors where that pays, and solves.
//!
//! Vectors are flat, vertex by vertex: `x[3·vertex + axis]`, length `3·V`. Inside, vertices are
//! renumbered in the order of elimination, so that a subtree of the factor is one range.
//!
//! The same bits come out for the same input, on any number of threads.
//!
//! Best times (ms) of the parts on two shared cores, best of several runs, as the cores were not quiet:
//!
//! | mesh | assembly | product | factor f64 | f32 | substitution f64 | f32 |
//! |---|---|---|---|---|---|---|
//! | sheet 1024 | 0.26 | 0.03 | 1.7 | 1.3 | 0.21 | 0.13 |
//! | sheet 4096 | 0.88 | 0.11 | 15 | 8.5 | 1.3 | 0.53 |
//! | cylinder 2024 | 0.56 | 0.05 | 7.3 | 5.3 | 0.47 | 0.34 |
//! | cylinder 7052 | 1.2 | 0.16 | 35 | 19 | 4.3 | 1.8 |
//! | cylinder 27048 | 6.4 | 0.81 | 212 | 123 | 19 | 11 |
//!
//! faer's supernodal Cholesky in the same order of nested dissection takes twice as long to make a factor, and two
//! threads make it slower. Milliseconds on two quiet cores, least of eight (`cargo test --release --lib
//! solve::direct::tests::faer -- --nocapture`):
//!
//! | vertices | f64 ours | faer, one thread | all threads | f32 ours | faer, one thread | all threads |
//! |---|---|---|---|---|---|---|
//! | 6970 | 14.9 | 30.2 | 50.7 | 9.4 | 20.3 | 44.0 |
//! | 26887 | 92.3 | 183.8 | 242.8 | 53.4 | 115.7 | 201.6 |
//!
//! On one busy core both take the same time: the difference is that our fronts use both cores.
//!
//! Minimum degree instead of nested dissection needs 7.7 instead of 4.9 G multiply-adds at 27048 vertices, as many at
//! 1024. A kept factor that is turned with the cloth vertex by vertex needs 1.0 to 2.3 times the iterations on all but
//! the coarsest mesh.

mod assemble;
mod conjugate;
mod dissection;
mod factor;
mod fronts;
mod graph;
mod matrix;
mod pattern;
mod preconditioner;
#[cfg(test)]
mod sample;
mod schedule;
mod solver;
mod substitute;
mod tangent;
#[cfg(test)]
mod tests;

pub(crate) use pattern::BlockPattern;
pub(crate) use solver::{DirectSolver, Strategy};
pub(crate) use tangent::TangentSlices;
