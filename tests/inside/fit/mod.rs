//! Fits: what they must show, of meshes too, their statistics, and what to measure next.

mod claims;
mod design;
mod parts;
mod statistics;
mod strip;
mod twist;

use std::ops::ControlFlow;

use crate::inside::common::cpu;
use nalgebra::DVector;
use rumple::{
    fit::{
        case::{Case, DataSource},
        data::DataFile,
        dataset::Dataset,
        defaults::complete,
        run::{Fit, SearchMethod},
    },
    study::{News, journal::Journal},
};
use serde_json::Value;

/// The unknowns of the best start, each with its first guess, and the cost.
fn searched(case: &Value, table: &str) -> (Vec<(String, f64, f64)>, f64) {
    let case = Case::parse(&case.to_string(), "test case").unwrap();
    let source = DataSource::default();
    let file = DataFile::parse(table, "data.csv").unwrap();
    assert!(file.synthetic);
    let data = Dataset::gather(&case, &[(&source, file)]).unwrap();
    let case = complete(&case, &data).unwrap();
    let fit = Fit::new(cpu(), &case, &data, SearchMethod::Lm).unwrap();
    let mut go_on = |_: News| ControlFlow::Continue(());
    let (progress, _) = fit
        .search(&mut Journal::in_memory(), "search", &mut go_on)
        .unwrap();
    let (start, cost) = progress.best().unwrap();
    let end = DVector::from_column_slice(&progress.walker(start).point);
    let first = DVector::from_column_slice(&progress.first_points[start]);
    let value = |k: usize, at: &DVector<f64>| fit.problem.parameter(k, at).0;
    let unknowns = fit.problem.unknowns.iter().enumerate();
    let list = unknowns.map(|(k, u)| (u.name.clone(), value(k, &end), value(k, &first)));
    (list.collect(), cost)
}
