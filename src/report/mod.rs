//! What people look at: plots.

pub mod plot;
