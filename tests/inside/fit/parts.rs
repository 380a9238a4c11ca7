//! Parts of a problem that share no free parameter are searched apart.

use std::ops::ControlFlow;

use rumple::{
    fit::{
        case::Case,
        dataset::Dataset,
        run::{Fit, SearchMethod},
    },
    optimize::multistart::SearchProgress,
    study::journal::Journal,
};

use super::statistics::{FEW, case_of, fit_of, noisy};
use crate::inside::common::cpu;

/// Warp and weft of one fabric, with noise of their own.
fn both() -> String {
    let direction = |name: &str, noise: f64| {
        let table = noisy(1, noise, |_| Some(1.0));
        let rows = table.lines().skip(1).map(|row| format!("{name},{row}\n"));
        rows.collect::<String>()
    };
    format!(
        "direction,gap_mm,press_time_s,recovery_time_s,angle_deg,sd_deg\n{}{}",
        direction("warp", 1.0),
        direction("weft", 0.4)
    )
}

fn json(data: &str, more: &str) -> String {
    format!(r#"{{"name": "both", "data": [{data}], "starts": 3, "parameters": {{{FEW}{more}}}}}"#)
}

const FILE: &str = r#"{"file": "t.csv"}"#;

fn parts(json: &str) -> usize {
    let (case, data) = case_of(json, &both());
    let fit = Fit::new(cpu(), &case, &data, SearchMethod::Lm).unwrap();
    fit.problem.parts(&data).len()
}

/// Directions that share only fixed parameters end where each ends alone, and their starts and points add up. A shared
/// parameter makes them one problem.
#[test]
fn directions_end_where_each_ends_alone() {
    let together = fit_of(&json(FILE, ""), &both());
    let alone = ["warp", "weft"].map(|direction| {
        let (mut case, _) = case_of(&json(FILE, ""), &both());
        case.data[0].direction = Some(direction.into());
        let case = Case::parse(&case.to_json().to_string(), "case").unwrap();
        let file = rumple::fit::data::DataFile::parse(&both(), "t.csv").unwrap();
        let data = Dataset::gather(&case, &[(&case.data[0], file)]).unwrap();
        let fit = Fit::new(cpu(), &case, &data, SearchMethod::Lm).unwrap();
        fit.run(
            &mut Journal::in_memory(),
            &mut |_| ControlFlow::Continue(()),
        )
        .unwrap()
    });
    let sum: f64 = alone.iter().map(|result| result.statistics.chi2).sum();
    let chi2 = together.statistics.chi2;
    assert!(
        sum > 1.0 && (chi2 - sum).abs() < 1e-3,
        "{chi2} against {sum}"
    );
    for (result, direction) in alone.iter().zip(["warp", "weft"]) {
        let free = || result.parameters.iter().filter(|p| p.free);
        assert!(free().count() == 4);
        for p in free().filter(|p| p.verdict == "identified") {
            let name = format!("{}[{direction}]", p.name);
            let other = together.parameters.iter().find(|q| q.name == name).unwrap();
            assert!((other.best / p.best - 1.0).abs() < 1e-2, "{p:?} {other:?}");
        }
    }
    assert_eq!(together.starts.len(), 3);
    assert_eq!(together.starts[0].chi2.map(|c| c < chi2 + 1e-2), Some(true));
    assert_eq!(parts(&json(FILE, "")), 2);
    let shared = r#", "dwell_time": {"scope": "shared"}"#;
    assert_eq!(parts(&json(FILE, shared)), 1);
    let tied = r#", "dwell_time": {"scope": "shared"},
        "hardening_stiffness": {"tied_to": "bending_stiffness", "ratio": 1}"#;
    assert_eq!(parts(&json(FILE, tied)), 1);
}

/// A search of parts that is stopped again and again ends with the bits of one that is not.
#[test]
fn parts_that_are_stopped_go_on_to_the_same_bits() {
    let (case, data) = case_of(&json(FILE, ""), &both());
    let fit = Fit::new(cpu(), &case, &data, SearchMethod::Lm).unwrap();
    let search = |journal: &mut Journal, most: usize| -> (SearchProgress, bool) {
        let mut rounds = 0;
        fit.search(journal, "search", &mut |_| {
            rounds += 1;
            match rounds < most {
                true => ControlFlow::Continue(()),
                false => ControlFlow::Break(()),
            }
        })
        .unwrap()
    };
    let (whole, stopped) = search(&mut Journal::in_memory(), usize::MAX);
    assert!(!stopped && whole.walkers.len() == 3);
    assert_eq!(whole.walkers[0].point.len(), fit.problem.unknowns.len());
    let mut journal = Journal::in_memory();
    let mut stops = 0;
    let end = loop {
        let (progress, stopped) = search(&mut journal, 25);
        if !stopped {
            break progress;
        }
        stops += 1;
    };
    assert!(stops > 2, "{stops}");
    assert_eq!(end, whole);
}
