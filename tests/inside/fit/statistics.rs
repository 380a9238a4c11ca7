//! What a fit says of spreads, degrees of freedom, misfit and its own numbers.

use std::ops::ControlFlow;

use rumple::{
    fit::{
        case::{Case, DataSource},
        data::DataFile,
        dataset::Dataset,
        defaults::complete,
        result::{FitResult, JacobianCheck, ParameterResult},
        run::{Fit, SearchMethod},
        verdict::Evidence,
    },
    laboratory::CreaseTest,
    material::{Material, Timer},
    numeric::Random,
    study::journal::Journal,
};

use crate::inside::common::cpu;

fn shipped(name: &str) -> String {
    let path = format!("{}/data/{name}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{path}: {e}"))
}

/// A case from JSON and its only table, completed.
pub(super) fn case_of(json: &str, table: &str) -> (Case, Dataset) {
    let case = Case::parse(json, "test case").unwrap();
    let source = DataSource::default();
    let file = DataFile::parse(table, "t.csv").unwrap();
    let data = Dataset::gather(&case, &[(&source, file)]).unwrap();
    (complete(&case, &data).unwrap(), data)
}

pub(super) fn fit_of(json: &str, table: &str) -> FitResult {
    let (case, data) = case_of(json, table);
    let fit = Fit::new(cpu(), &case, &data, SearchMethod::Lm).unwrap();
    fit.run(
        &mut Journal::in_memory(),
        &mut |_| ControlFlow::Continue(()),
    )
    .unwrap()
}

/// Angles of two gaps over five pressing times.
const TABLE: &str = "gap_mm,press_time_s,recovery_time_s,angle_deg,sd_deg
0.5,1,300,103,2\n0.5,10,300,92,2\n0.5,100,300,74,2\n0.5,1000,300,60,2\n0.5,10000,300,52,2
1,1,300,128,2\n1,10,300,118,2\n1,100,300,98,2\n1,1000,300,85,2\n1,10000,300,76,2\n";

/// Parameters that two gaps determine; the rest is fixed.
pub(super) const FEW: &str = r#""hardening_drop": {"fixed": 0.7}, "flow_time": {"fixed": 1000},
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

/// Angles of cotton at two gaps and six pressing times, each `repeats` times with normal noise of `noise` degrees. `sd`
/// is what the file states for a gap in mm.
pub(super) fn noisy(repeats: usize, noise: f64, sd: impl Fn(f64) -> Option<f64>) -> String {
    let material = Material::parse(&shipped("levison_like_cotton.truth.json"), "truth").unwrap();
    let law = material.build_law(Timer::Authors);
    let values = material.values_for(law.as_ref()).unwrap();
    let presses: Vec<f64> = (0..6).map(|k| 10f64.powi(k)).collect();
    let points = CreaseTest::grid(&[0.5e-3, 1e-3], &presses, &[300.0]);
    let angles = CreaseTest::exact_of(law.as_ref(), &values, &points).unwrap();
    let mut random = Random(11);
    let mut table = String::from("gap_mm,press_time_s,recovery_time_s,angle_deg,sd_deg\n");
    for (point, angle) in points.iter().zip(angles) {
        let (gap, press) = (1e3 * point.gap, point.press);
        for _ in 0..repeats {
            let angle = angle.unwrap() + noise * random.normal();
            let sd = sd(gap).map_or(String::new(), |sd| sd.to_string());
            table += &format!("{gap},{press},300,{angle},{sd}\n");
        }
    }
    table
}

fn free(result: &FitResult) -> impl Iterator<Item = &ParameterResult> {
    result.parameters.iter().filter(|p| p.free)
}

/// Readings without an sd have the pooled spread of their repeats, which is no assumption: nothing is rescaled, and χ²
/// is judged against it.
#[test]
fn repeats_tell_the_spread() {
    let table = noisy(4, 3.4, |_| None);
    let (_, data) = case_of(&few(""), &table);
    let sets = data.rows.chunks(4).map(|rows| {
        let mean = rows.iter().map(|r| r.value).sum::<f64>() / 4.0;
        rows.iter().map(|r| (r.value - mean).powi(2)).sum::<f64>()
    });
    let pooled = (sets.sum::<f64>() / 36.0).sqrt();
    assert!((2.5..4.5).contains(&pooled), "{pooled}");
    assert!(
        data.rows
            .iter()
            .all(|r| (r.sd / pooled - 1.0).abs() < 1e-12)
    );
    let notes = data.notes.join(" ");
    assert!(notes.contains("that of their repeats") && notes.contains("36 degrees of freedom"));
    assert!(!notes.contains("Angles without a spread"), "{notes}");
    let result = fit_of(&few(""), &table);
    assert!(result.points.iter().all(|p| p.sd_from == "repeats"));
    let s = &result.statistics;
    assert_eq!((s.error_scale, s.misfit_scale), (1.0, 1.0));
    assert!(result.misfit.chi2_probability.unwrap() > 0.01 && !result.misfit.declared);
}

/// Two repeats tell no spread, and copies of a row are none.
#[test]
fn few_repeats_and_copies_leave_the_assumed_spread() {
    let mut table = noisy(1, 2.0, |_| None);
    table += "0.5,1,300,120,\n1,1,300,130,\n";
    let json = few("");
    let (case, data) = case_of(&json, &table);
    let few = data
        .notes
        .iter()
        .find(|n| n.contains("too few to tell the spread"));
    assert!(few.unwrap().contains("2 degrees of freedom"), "{few:?}");
    let once = noisy(1, 2.0, |_| None);
    let rows: Vec<&str> = once.lines().skip(1).collect();
    let (_, copied) = case_of(&json, &format!("{once}{}\n", rows.join("\n")));
    assert!(
        copied
            .notes
            .iter()
            .any(|n| n.contains("as copied rows are"))
    );
    for data in [data, copied] {
        assert!(data.rows.iter().all(|r| r.sd == case.tests.sd_deg));
    }
}

/// A stated sd is kept, and repeats that contradict it are reported.
#[test]
fn repeats_test_a_stated_spread() {
    let says = |sd: f64| {
        let (_, data) = case_of(&few(""), &noisy(4, 3.0, |_| Some(sd)));
        assert!(data.rows.iter().all(|r| r.sd == sd));
        let notes = data.notes.into_iter();
        notes
            .filter(|n| n.contains("stated sd"))
            .collect::<String>()
    };
    assert_eq!(says(3.0), "");
    let small = says(1.5);
    assert!(small.contains("state a larger sd"), "{small}");
    let large = says(8.0);
    assert!(large.contains("needs the column n"), "{large}");
}

/// The scatter of readings with an assumed sd does not touch those with a stated one.
#[test]
fn a_stated_spread_is_not_rescaled_by_an_assumed_one() {
    let mixed = noisy(1, 0.3, |gap| (gap == 1.0).then_some(0.5));
    let result = fit_of(&few(r#""sd_deg": 0.1"#), &mixed);
    let s = &result.statistics;
    assert!(s.error_scale > 1.5 && s.misfit_scale == 1.0, "{s:?}");
    for p in &result.points {
        let spread = p.prediction_sd.unwrap() / p.sd_deg.unwrap();
        match p.sd_from.as_str() {
            "stated" => assert!(spread > 1.0 && spread < s.error_scale, "{p:?}"),
            _ => assert!(p.sd_from == "assumed" && spread > s.error_scale, "{p:?}"),
        }
    }
}

/// Directions that no reading sees cost no degree of freedom, and AIC does not count them.
#[test]
fn degrees_of_freedom_are_those_that_the_data_see() {
    // Yield far above every fold: nothing flows.
    let json = r#"{"name": "n", "data": ["t.csv"], "starts": 2, "parameters": {
        "yield_strain": {"bounds": [2e4, 9e4]}, "friction_threshold_initial": {"fixed": 60}}}"#;
    let result = fit_of(json, &noisy(1, 1.0, |_| Some(1.0)));
    let s = &result.statistics;
    assert_eq!((s.points, s.free), (12, 7));
    // Yield strain, hardening, drop and flow time are not seen.
    assert!(
        (2..=3).contains(&s.seen) && s.freedom == 12 - s.seen,
        "{s:?}"
    );
    let seen = s.seen as f64;
    assert!((s.aic / (s.chi2 + 2.0 * seen) - 1.0).abs() < 1e-12);
    assert!((s.bic / (s.chi2 + seen * 12f64.ln()) - 1.0).abs() < 1e-12);
    assert!((s.reduced_chi2.unwrap() * (12.0 - seen) / s.chi2 - 1.0).abs() < 1e-12);
}

/// Under a misfit intervals are wider than the spreads say and no parameter is called identified; where no degree of
/// freedom is left to tell by how much, there is none.
#[test]
fn a_misfit_leaves_nothing_identified() {
    // An angle that rises with the pressing time.
    let mut wrong = String::new();
    for (i, line) in TABLE.lines().enumerate() {
        let mut cells: Vec<&str> = line.split(',').collect();
        if i > 5 {
            cells[3] = ["80", "95", "110", "125", "140"][i - 6];
        }
        wrong += &(cells.join(",") + "\n");
    }
    let result = fit_of(&few(""), &wrong);
    let s = &result.statistics;
    assert!(result.misfit.declared && s.freedom > 0);
    let reduced = s.reduced_chi2.unwrap();
    assert!(reduced > 4.0 && (s.misfit_scale - reduced.sqrt()).abs() < 1e-9);
    for p in free(&result) {
        assert!(!p.identified(), "{p:?}");
    }
    // Angles that fall evenly in log time, which the law cannot follow.
    let json = r#"{"name": "log-linear", "data": [{"file": "l.csv"}], "starts": 4}"#;
    let result = fit_of(json, &shipped("log_linear.csv"));
    assert!(result.misfit.declared);
    assert!(free(&result).any(|p| p.verdict.starts_with("under a misfit")));
    assert!(!free(&result).any(|p| p.identified()));
    // Three of the points and as many parameters.
    let rows: Vec<&str> = wrong.lines().collect();
    let three = [rows[0], rows[1], rows[6], rows[10]].join("\n") + "\n";
    let result = fit_of(&few(""), &three);
    let s = &result.statistics;
    assert!(s.chi2 > 50.0, "{s:?}");
    assert!(result.misfit.declared, "{:?}", result.misfit);
    if s.freedom == 0 {
        assert!(result.misfit.verdict.contains("search failed"));
        assert!(free(&result).all(|p| p.std_error.is_none() && p.ci95 == [None, None]));
    }
}

/// A gradient that does not pass its check gives no error bar, and the verdict says what to do.
#[test]
fn a_failed_gradient_check_withholds_error_bars() {
    let (case, data) = case_of(&few(""), &noisy(1, 1.0, |_| Some(1.0)));
    let fit = Fit::new(cpu(), &case, &data, SearchMethod::Lm).unwrap();
    let result = fit
        .run(
            &mut Journal::in_memory(),
            &mut |_| ControlFlow::Continue(()),
        )
        .unwrap();
    assert!(result.gradient_check.passed, "{:?}", result.gradient_check);
    assert!(free(&result).any(|p| p.std_error.is_some()));
    let bounds = rumple::optimize::Problem::bounds(&fit.problem);
    let middle: Vec<f64> = bounds
        .iter()
        .map(|(low, high)| 0.5 * (low + high))
        .collect();
    let optimum = fit.optimum_at(&middle).unwrap();
    let evidence = Evidence {
        problem: &fit.problem,
        data: &data,
        best: &optimum.point,
        at: &optimum.at,
        uncertainty: &fit.uncertainty(&optimum),
        sides: &[],
        thresholds: &[3.84; 4],
        gradient: &JacobianCheck {
            passed: false,
            ..result.gradient_check
        },
        judged: &optimum.judged,
        without_flow: &[],
    };
    for verdict in evidence.verdicts() {
        assert!(!verdict.has_error && verdict.ci95 == [None, None]);
        assert!(verdict.text.contains("another --seed"), "{verdict:?}");
    }
}
