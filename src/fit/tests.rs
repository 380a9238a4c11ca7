//! Fits that join tests of different kinds.

use std::ops::ControlFlow;

use super::{
    case::{Case, DataSource},
    data::DataFile,
    dataset::Dataset,
    defaults::complete,
    design::{Criterion, Design},
    run::{Fit, SearchMethod},
};
use crate::{
    laboratory::{Grid, Resolution, Tests},
    numeric::{Compute, Precision},
    optimize::Problem,
    study::journal::Journal,
};

/// K_b, K_f, ε_0 of the truth; the rest plays no part in tests without a dwell.
const TRUTH: [f64; 9] = [8e-6, 6e-6, 20.0, 500.0, 1e6, 5e3, 8e-6, 0.5, 1e3];

/// A table whose empty column is filled in with what the truth reads, in the unit of the column. `holder` is any value
/// that the column can have.
fn synthetic(header: &str, rows: &[&str], column: usize, unit: f64, holder: f64) -> String {
    let sheet = |values: &[f64]| {
        let mut text = format!("# synthetic\n{header}\n");
        for (row, value) in rows.iter().zip(values) {
            let mut cells: Vec<String> = row.split(',').map(String::from).collect();
            cells[column] = format!("{:.12e}", value / unit);
            text += &format!("{}\n", cells.join(","));
        }
        text
    };
    let place_holders = vec![holder * unit; rows.len()];
    let case = case();
    let source = DataSource::default();
    let file = DataFile::parse(&sheet(&place_holders), "t").unwrap();
    let data = Dataset::gather(&case, &[(&source, file)]).unwrap();
    let conditions: Vec<_> = data.rows.iter().map(|r| (0, r.condition)).collect();
    let compute = Compute::cpu(Precision::F64);
    let hard = Resolution::hard(&case.tests);
    let tests = Tests::resolved(&compute, case.build_law(), hard, &conditions).unwrap();
    let sets = [vec![TRUTH.to_vec()]];
    let readings = tests.run(&compute, &sets, false).unwrap().remove(0);
    sheet(&readings.values)
}

fn case() -> Case {
    let text = r#"{"name": "joint", "data": [{"file": "t"}], "starts": 4}"#;
    Case::parse(text, "case").unwrap()
}

// A KES loop and a cantilever together find the stiffnesses and the threshold of a known law, and say that no test has
// a dwell; with the loop alone the rigidity is less well known.
#[test]
fn a_loop_and_a_cantilever_are_fitted_together() {
    // Right after a turn yarns stick, which is where a loop tells friction's stiffness from its threshold.
    let shares = [
        0.2, 0.6, 1.0, 0.95, 0.9, 0.6, 0.2, -0.2, -0.6, -1.0, -0.95, -0.9, -0.6, -0.2,
    ];
    let loop_rows: Vec<String> = shares
        .iter()
        .map(|share| format!("{},,1e-5", 250.0 * share))
        .collect();
    let loop_rows: Vec<&str> = loop_rows.iter().map(String::as_str).collect();
    let kes = synthetic(
        "curvature_per_m,moment_Nm_per_m,sd_Nm_per_m",
        &loop_rows,
        1,
        1.0,
        0.01,
    );
    let cantilever = synthetic(
        "overhang_mm,overhang_sd_mm,angle_deg,areal_density_g_per_m2",
        &[",0.05,41.5,150", ",0.05,20,150"],
        0,
        1e-3,
        100.0,
    );
    let fitted = |files: &[&str]| {
        let case = case();
        let source = DataSource::default();
        let files: Vec<(&DataSource, DataFile)> = files
            .iter()
            .map(|text| (&source, DataFile::parse(text, "t").unwrap()))
            .collect();
        let data = Dataset::gather(&case, &files).unwrap();
        let case = complete(&case, &data).unwrap();
        let compute = Compute::cpu(Precision::F64);
        let fit = Fit::new(compute, &case, &data, SearchMethod::Lm).unwrap();
        let result = fit.run(
            &mut Journal::in_memory(),
            &mut |_| ControlFlow::Continue(()),
        );
        result.unwrap()
    };
    let (alone, joint) = (fitted(&[&kes]), fitted(&[&kes, &cantilever]));
    let found = |result: &super::result::FitResult, name: &str| {
        let p = result.parameters.iter().find(|p| p.name == name).unwrap();
        (
            p.best,
            p.std_error.unwrap_or(f64::INFINITY),
            p.verdict.clone(),
        )
    };
    for (name, truth) in [
        ("bending_stiffness", TRUTH[0]),
        ("friction_stiffness", TRUTH[1]),
        ("friction_threshold_initial", TRUTH[2]),
    ] {
        let (value, error, verdict) = found(&joint, name);
        // Data without noise: what is left is the smoothing of the last gate.
        assert!(
            (value / truth - 1.0).abs() < 0.03,
            "{name}: {value} {verdict}"
        );
        assert!(error < found(&alone, name).1, "{name}: {error}");
    }
    let (_, _, verdict) = found(&joint, "dwell_time");
    assert!(verdict.contains("without a dwell"), "{verdict}");
    assert!(joint.gradient_check.passed && joint.synthetic);
    assert_eq!(joint.curves.of("cantilever").count(), 1);
    assert_eq!(
        joint
            .points
            .iter()
            .filter(|p| p.test == "cantilever")
            .count(),
        2
    );
}

// A design proposes cantilevers where the mass per area is known: from the data, the case or the grid; not otherwise.
#[test]
fn a_design_proposes_cantilevers_where_the_density_is_known() {
    let sheet = "B_Nm,2HB_Nm_per_m\n1.2e-5,6e-4\n";
    let overhang = "overhang_mm,overhang_sd_mm,areal_density_g_per_m2\n40,0.5,150\n";
    let angles = |files: &[&str], settings: &str, grid: Grid| -> Vec<f64> {
        let text = format!(r#"{{"name": "n", "data": ["t"], "starts": 1, "tests": {settings}}}"#);
        let case = Case::parse(&text, "case").unwrap();
        let source = DataSource::default();
        let parse = |text: &&str| (&source, DataFile::parse(text, "t").unwrap());
        let files: Vec<(&DataSource, DataFile)> = files.iter().map(parse).collect();
        let data = Dataset::gather(&case, &files).unwrap();
        let case = complete(&case, &data).unwrap();
        let compute = Compute::cpu(Precision::F64);
        let fit = Fit::new(compute, &case, &data, SearchMethod::Lm).unwrap();
        let bounds = fit.problem.bounds().iter();
        let middle: Vec<f64> = bounds.map(|(low, high)| 0.5 * (low + high)).collect();
        let optimum = fit.optimum_at(&middle).unwrap();
        let design = Design::new(&fit, &optimum, &grid).unwrap();
        let result = design.result(Criterion::D, 1, &[]);
        let candidates = result.candidates.iter();
        let ours: Vec<_> = candidates.filter(|c| c.test == "cantilever").collect();
        for one in &ours {
            assert!(one.bits > 1e-3, "{one:?}");
            assert_eq!(one.setting("areal_density_g_per_m2"), Some(150.0));
            assert!(one.measurement.starts_with("overhang at"), "{one:?}");
        }
        let sure = result
            .notes
            .iter()
            .any(|n| n.contains("An overhang counts"));
        assert_eq!(sure, !ours.is_empty());
        let mut angles: Vec<f64> = ours.iter().filter_map(|c| c.setting("angle_deg")).collect();
        angles.sort_by(f64::total_cmp);
        angles
    };
    let usual = [20.0, 41.5, 60.0, 75.0];
    let density = || Grid(vec![("density", vec![0.15])]);
    assert!(angles(&[sheet], "{}", Grid::default()).is_empty());
    assert_eq!(angles(&[sheet, overhang], "{}", Grid::default()), usual);
    let setting = r#"{"areal_density_g_per_m2": 150}"#;
    assert_eq!(angles(&[sheet], setting, Grid::default()), usual);
    assert_eq!(angles(&[sheet], "{}", density()), usual);
    let mut grid = density();
    grid.0.push(("angle", vec![30f64.to_radians()]));
    assert_eq!(angles(&[sheet], "{}", grid), [30.0]);
    // A grid of gaps asks for creases.
    let mut grid = density();
    grid.0.push(("gap", vec![1e-3]));
    assert!(angles(&[sheet], "{}", grid).is_empty());
}

#[test]
fn a_cantilever_sheet_says_what_it_lacks() {
    let read = |text: &str| -> crate::error::Result<Dataset> {
        let source = DataSource::default();
        Dataset::gather(&case(), &[(&source, DataFile::parse(text, "t")?)])
    };
    let sheet = "overhang_mm,angle_deg,areal_density_g_per_m2\n48,,150\n";
    let data = read(sheet).unwrap();
    assert_eq!(
        data.rows.len(),
        1,
        "an angle beside an overhang is no recovery"
    );
    assert!(
        data.notes.iter().any(|n| n.contains("41.5°")),
        "{:?}",
        data.notes
    );
    for (text, message) in [
        ("overhang_mm\n48\n", "add a column areal_density_g_per_m2"),
        (
            "overhang_mm,angle_deg,areal_density_g_per_m2\n48,95,150\n",
            "t line 2: angle_deg = 95 of a cantilever test must be between 0 and 90",
        ),
        (
            "overhang_mm,areal_density_g_per_m2\n0.05,150\n",
            "overhang_mm = 0.05 is outside 1 to 1000 mm",
        ),
        (
            "overhang,areal_density_g_per_m2\n48,150\n",
            "the column 'overhang' is not known; name it overhang_mm",
        ),
    ] {
        let error = read(text).unwrap_err().to_string();
        assert!(error.contains(message), "{error}");
    }
}
