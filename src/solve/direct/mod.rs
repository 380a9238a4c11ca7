//! The linear system of an implicit step: A·x = b with A symmetric positive definite, three unknowns
//! a vertex, a constant sparsity and values that change a little from step to step.
//!
//! - [`Pattern`]: which blocks exist, where each element adds, and the order of elimination;
//! - [`Tangent`]: what a step hands over, as slices;
//! - [`Solver`]: assembles, factors where that pays, and solves.
//!
//! Vectors are flat, vertex by vertex: `x[3·vertex + axis]`, length `3·V`. Inside, vertices are
//! renumbered in the order of elimination, so that a subtree of the factor is one range.
//!
//! The same bits come out for the same input and number of threads.

mod assemble;
mod conjugate;
mod dissection;
mod factor;
mod fronts;
mod graph;
mod matrix;
mod pattern;
pub mod sample;
mod solver;
mod substitute;
mod tangent;
#[cfg(test)]
mod tests;

pub use pattern::Pattern;
pub use solver::{Solver, Stats, Strategy};
pub use tangent::Tangent;
