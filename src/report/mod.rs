//! What people look at: plots.

pub mod fit_plots;
pub mod plot;
