//! Material laws: gates, properties, gradients, and the authors' numbers.

mod gates;
mod golden;
mod gradients;
mod properties;
