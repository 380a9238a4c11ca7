//! What people look at: plots, and the reports of a fit.

mod fit_document;
pub mod fit_folder;
pub mod fit_html;
mod fit_number;
pub mod fit_plots;
mod fit_rows;
#[cfg(test)]
mod fit_sample;
mod fit_sentence;
mod fit_tables;
pub mod fit_text;
pub mod plot;
