//! What a fit says of spreads, degrees of freedom, misfit and its own numbers.

use rumple::{
    fit::{
        case::{Case, DataSource},
        data::DataFile,
        dataset::Dataset,
        defaults::complete,
        result::FitResult,
        run::{Fit, Optimizer},
    },
    study::{Wish, journal::Journal},
};

use crate::inside::common::cpu;

/// A case from JSON and its only table, completed.
fn case_of(json: &str, table: &str) -> (Case, Dataset) {
    let case = Case::parse(json, "test case").unwrap();
    let source = DataSource::default();
    let file = DataFile::parse(table, "t.csv").unwrap();
    let data = Dataset::gather(&case, &[(&source, file)]).unwrap();
    (complete(&case, &data).unwrap(), data)
}

fn fit_of(json: &str, table: &str) -> FitResult {
    let (case, data) = case_of(json, table);
    let fit = Fit::new(cpu(), &case, &data, Optimizer::Lm).unwrap();
    fit.run(&mut Journal::in_memory(), &mut |_| Wish::GoOn)
        .unwrap()
}

/// Angles of two gaps over five pressing times.
const TABLE: &str = "gap_mm,press_time_s,recovery_time_s,angle_deg,sd_deg
0.5,1,300,103,2\n0.5,10,300,92,2\n0.5,100,300,74,2\n0.5,1000,300,60,2\n0.5,10000,300,52,2
1,1,300,128,2\n1,10,300,118,2\n1,100,300,98,2\n1,1000,300,85,2\n1,10000,300,76,2\n";

/// Parameters that two gaps determine; the rest is fixed.
const FEW: &str = r#""hardening_drop": {"fixed": 0.7}, "flow_time": {"fixed": 1000},
    "friction_threshold_initial": {"fixed": 60}, "yield_strain": {"fixed": 500}"#;

fn few(more: &str) -> String {
    format!(
        r#"{{"name": "few", "data": ["t.csv"], "starts": 2, "parameters": {{{FEW}}}, "tests": {{{more}}}}}"#
    )
}

/// Whole folds have no gate, so a fitted angle is that of the hard law. With `tests.hinges` the distance from the hard
/// law is said once.
#[test]
fn a_fitted_angle_is_that_of_the_hard_law() {
    let whole = fit_of(&few(""), TABLE);
    for p in &whole.points {
        let [fitted, hard] = [p.fitted_deg.unwrap(), p.hard_deg.unwrap()];
        assert!(fitted > 10.0 && (fitted - hard).abs() < 1e-6, "{p:?}");
    }
    let said = &whole.hard_law;
    assert!(said.largest_deg.unwrap() < 1e-6 && said.largest_sd < 1e-6);
    assert!(said.verdict.contains("below 1e-6°"), "{said:?}");
    let hinges = fit_of(&few(r#""hinges": 64"#), TABLE);
    let said = &hinges.hard_law;
    assert!(said.largest_deg.unwrap() > 0.01, "{said:?}");
    assert!(said.verdict.contains("tests.hinges = 64"), "{said:?}");
    assert!(!hinges.notes.iter().any(|n| n.contains("hard law")));
}
