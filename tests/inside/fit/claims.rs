//! What a fit must show: truth found, error bars that hold, misfit called misfit, honest verdicts.

use std::ops::ControlFlow;

use nalgebra::DVector;
use rumple::{
    fit::{
        case::{Case, DataSource, HoldOutRule, Role},
        data::DataFile,
        dataset::{DataRow, Dataset, SpreadSource},
        defaults::complete,
        result::{FitResult, ParameterResult},
        run::{Fit, SearchMethod},
    },
    laboratory::{Condition, CreaseTest, Resolution, TestSettings, Tests},
    material::{LawName, Material, Timer},
    numeric::{Compute, Precision},
    optimize::{Problem, RobustLoss},
    study::{self, Shard, journal::Journal},
    verify::coverage::{CoveragePlan, CoverageStudy, NoiseCoverage},
};

fn cpu() -> Compute {
    Compute::cpu(Precision::F64)
}

fn shipped(name: &str) -> String {
    let path = format!("{}/data/{name}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{path}: {e}"))
}

/// A case from JSON without its data, and data from CSV texts.
fn case_of(json: &str, tables: &[&str]) -> (Case, Dataset) {
    let case = Case::parse(json, "test case").unwrap();
    let sources: Vec<DataSource> = case.data.clone();
    let files: Vec<(&DataSource, DataFile)> = sources
        .iter()
        .zip(tables)
        .map(|(source, text)| (source, DataFile::parse(text, &source.file).unwrap()))
        .collect();
    let data = Dataset::gather(&case, &files).unwrap();
    (complete(&case, &data).unwrap(), data)
}

fn run(case: &Case, data: &Dataset, optimizer: SearchMethod) -> FitResult {
    let fit = Fit::new(cpu(), case, data, optimizer).unwrap();
    let mut journal = Journal::in_memory();
    fit.run(&mut journal, &mut |_| ControlFlow::Continue(()))
        .unwrap()
}

fn fit_of(json: &str, tables: &[&str]) -> FitResult {
    let (case, data) = case_of(json, tables);
    run(&case, &data, SearchMethod::Lm)
}

fn parameter<'a>(result: &'a FitResult, name: &str) -> &'a ParameterResult {
    let found = result.parameters.iter().find(|p| p.name == name);
    found.unwrap_or_else(|| panic!("no {name} in {:?}", result.parameters))
}

/// A truth in curvature that is measured by creases; its bending stiffness is taken as known.
struct Trial {
    truth: Material,
    gaps_mm: Vec<f64>,
    presses: Vec<f64>,
    starts: usize,
}

impl Trial {
    /// The case, and the exact angles of the hard law with a spread of 2°.
    fn exact(&self) -> (Case, Dataset) {
        let stiffness = self.truth.value("bending_stiffness").unwrap();
        let case = Case {
            name: format!("synthetic {}", self.truth.name),
            notes: Vec::new(),
            data: Vec::new(),
            law: LawName::TimeDependent,
            relaxation_branches: 0,
            parameters: vec![(
                "bending_stiffness".into(),
                Role::Fixed {
                    value: stiffness,
                    why: "known".into(),
                },
            )],
            tests: TestSettings::default(),
            loss: RobustLoss::Squares,
            starts: self.starts,
            seed: 1,
            hold_out: HoldOutRule::default(),
        };
        let metres: Vec<f64> = self.gaps_mm.iter().map(|mm| 1e-3 * mm).collect();
        let points = CreaseTest::grid(&metres, &self.presses, &[case.tests.read_s]);
        let conditions: Vec<(usize, Condition)> =
            points.into_iter().map(|p| (0, p.into())).collect();
        let law = self.truth.build_law(Timer::Authors);
        let hard = Resolution::hard(&TestSettings::default());
        let values = self.truth.values_for(law.as_ref()).unwrap();
        let tests = Tests::resolved(&cpu(), law, hard, &conditions).unwrap();
        let readings = tests.run(&cpu(), &[vec![values]], false).unwrap().remove(0);
        let row = |((_, condition), value): (&(usize, Condition), f64)| DataRow {
            place: "synthetic".into(),
            group: 0,
            condition: *condition,
            value,
            sd: 2.0,
            spread: SpreadSource::Stated,
            held_out: false,
        };
        let data = Dataset {
            rows: conditions.iter().zip(readings.values).map(row).collect(),
            groups: vec![self.truth.name.clone()],
            synthetic: true,
            repeats: Vec::new(),
            files: Vec::new(),
            notes: Vec::new(),
        };
        (complete(&case, &data).unwrap(), data)
    }
}

fn cotton() -> Trial {
    let truth = shipped("levison_like_cotton.truth.json");
    Trial {
        truth: Material::parse(&truth, "truth").unwrap(),
        gaps_mm: vec![0.5, 1.0, 2.0, 4.0],
        presses: (0..=10).map(|k| 10f64.powf(0.5 * f64::from(k))).collect(),
        starts: 32,
    }
}

/// Data of the hard law, without noise: every identifiable parameter comes back to 1e-4 from at
/// least 90 % of 32 starts.
#[test]
fn noise_free_data_give_the_truth_back() {
    let trial = cotton();
    let (case, data) = trial.exact();
    let truth: Vec<f64> = case
        .build_law()
        .parameters()
        .iter()
        .map(|p| trial.truth.value(&p.name).unwrap())
        .collect();
    let fit = Fit::new(cpu(), &case, &data, SearchMethod::Lm).unwrap();
    let (progress, stopped) = fit
        .search(&mut Journal::in_memory(), "search", &mut |_| {
            ControlFlow::Continue(())
        })
        .unwrap();
    assert!(!stopped && progress.walkers.len() == 32);
    let worst = |point: &[f64]| {
        let values = fit
            .problem
            .group_values(0, &DVector::from_column_slice(point));
        let errors = values.iter().zip(&truth).map(|(v, t)| (v / t - 1.0).abs());
        errors.fold(0.0, f64::max)
    };
    let found = (0..32)
        .filter(|i| worst(&progress.walker(*i).point) < 1e-4)
        .count();
    println!("{found} of 32 starts found the truth to 1e-4");
    assert!(found >= 29);
}

/// The error bars of some data sets with noise of 2°, from four starts each.
fn coverage(laws: usize, material: Option<&str>, refits: Option<usize>) -> NoiseCoverage {
    let plan = CoveragePlan {
        laws,
        noise_deg: vec![2.0],
        refits,
        starts: 4,
        seed: 1,
        material: material.map(|text| serde_json::from_str(text).unwrap()),
    };
    let study = CoverageStudy::new(plan, cpu()).unwrap();
    let mut journal = Journal::in_memory();
    let results = study::run_in(&study, Shard::WHOLE, &mut journal, &mut |_| {
        ControlFlow::Continue(())
    });
    let mut found = study.gathered(&results.unwrap().unwrap(), 0.0).unwrap();
    found.noises.remove(0)
}

/// 95 % intervals hold the truth as often as they say. The bench does 100 data sets; sixteen with eight parameters
/// each must hold in 128·0.95 ± 3 standard deviations. Intervals that always hold would be too wide.
#[test]
fn intervals_hold_the_truth() {
    let truth = shipped("levison_like_cotton.truth.json");
    let found = coverage(16, Some(&truth), None);
    let total = &found.total;
    println!(
        "{} of {} intervals hold the truth: {found:?}",
        total.holds, total.identified
    );
    assert_eq!((found.sets, found.parameters.len()), (16, 8));
    assert!((114..=127).contains(&total.holds));
    assert_eq!(total.identified, 128, "all are identified");
}

/// Laws of all kinds: most parameters are identified, most intervals hold, and most truths are inside the bootstrap.
#[test]
fn intervals_of_drawn_laws_hold_the_truth() {
    let found = coverage(6, None, Some(9));
    let total = &found.total;
    println!(
        "{} of {} intervals hold the truth: {found:?}",
        total.holds, total.identified
    );
    assert_eq!((found.sets, found.failed, total.fitted), (6, 0, 48));
    assert!((24..=48).contains(&total.identified));
    // 0.95 less three standard deviations of 24 intervals.
    assert!(total.share.unwrap() >= 0.82);
    let truths_and_misses = total.holds + total.truth_below + total.truth_above;
    assert_eq!(truths_and_misses, total.identified);
    // The first and the last tenth hold the truths outside all nine refits: a fifth of them if ranks are even.
    let ranks = found.parameters.iter().filter_map(|p| p.ranks.as_ref());
    let outside: f64 = ranks.map(|r| r.bins[0] + r.bins[9]).sum();
    assert!(outside < 0.5 * total.identified as f64, "{outside}");
}

/// Fitted on three gaps, the fourth is predicted within its noise, and the truth is near.
#[test]
fn a_gap_that_is_held_out_is_predicted() {
    let json = r#"{"name": "hold-out", "data": ["c.csv"], "starts": 4, "tests": {"hinges": 1024},
        "hold_out": {"gap_mm": [2]}}"#;
    let result = fit_of(json, &[&shipped("levison_like_cotton.csv")]);
    let held = result.hold_out.as_ref().unwrap();
    assert_eq!((held.points, result.statistics.points), (11, 33));
    assert!(held.rms_z > 0.2 && held.rms_z < 1.6, "{held:?}");
    assert!(held.verdict.contains("within their noise"));
    let held_points = result.points.iter().filter(|p| p.held_out);
    assert!(
        held_points
            .clone()
            .all(|p| p.setting("gap_mm") == Some(2.0))
            && held_points.count() == 11
    );
}

/// The set that is linear in log time is a misfit by χ² and by the runs of its residuals, the good set is
/// none; relaxation branches lower the AIC.
#[test]
fn a_law_that_cannot_follow_is_called_a_misfit() {
    let json = |branches: usize, starts: usize| {
        format!(
            r#"{{"name": "log-linear", "data": ["l.csv"], "starts": {starts}, "tests": {{"hinges": 64}},
                "relaxation_branches": {branches}}}"#
        )
    };
    let table = shipped("log_linear.csv");
    let plain = fit_of(&json(0, 8), &[&table]);
    assert!(
        plain
            .misfit
            .verdict
            .starts_with("misfit: the law does not follow"),
        "{:?}",
        plain.misfit
    );
    assert!(plain.misfit.runs_probability.unwrap() < 0.01);
    assert!(plain.statistics.reduced_chi2.unwrap() > 3.0);
    let branched = fit_of(&json(1, 2), &[&table]);
    println!(
        "AIC {} and with a branch {}",
        plain.statistics.aic, branched.statistics.aic
    );
    assert!(branched.statistics.aic < plain.statistics.aic - 10.0);
    let good = fit_of(
        r#"{"name": "good", "data": ["c.csv"], "starts": 4, "tests": {"hinges": 1024}}"#,
        &[&shipped("levison_like_cotton.csv")],
    );
    assert!(
        good.misfit.verdict.starts_with("the law follows"),
        "{:?}",
        good.misfit
    );
    assert!(good.gradient_check.passed && good.gradient_check.largest_error > 0.0);
    assert!(
        good.parameters
            .iter()
            .filter(|p| p.free)
            .all(|p| p.verdict == "identified")
    );
}

/// With polyester's yield of paper 1 (3 rad on hinges 5 mm high, 1800 1/m) no fold of these gaps yields: the
/// fit must say so and give no number.
#[test]
fn where_no_fold_yields_no_yield_strain_is_reported() {
    let polyester = Material::parse(
        r#"{"name": "polyester", "strain": "curvature", "law": "time_dependent", "bending_stiffness_Nm": 4e-5,
            "friction": {"stiffness_Nm": 4e-5, "threshold_initial_per_m": 30, "threshold_saturated_per_m": 300,
                         "dwell_time_s": 30},
            "plasticity": {"yield_per_m": 1800, "hardening_Nm": 4e-5, "hardening_drop": 0.99, "flow_time_s": 30}}"#,
        "polyester",
    )
    .unwrap();
    let trial = Trial {
        truth: polyester,
        gaps_mm: vec![1.5, 2.0, 4.0],
        starts: 8,
        ..cotton()
    };
    let (case, mut data) = trial.exact();
    let mut random = rumple::numeric::Random(5);
    for row in &mut data.rows {
        row.value += 2.0 * random.normal();
    }
    let result = run(&case, &data, SearchMethod::Lm);
    for name in [
        "yield_strain",
        "hardening_stiffness",
        "hardening_drop",
        "flow_time",
    ] {
        let p = parameter(&result, name);
        assert!(
            p.verdict.starts_with("not identified: no fold yields"),
            "{p:?}"
        );
        assert_eq!((p.value, p.std_error, p.ci95[1]), (None, None, None));
    }
    let friction = parameter(&result, "friction_threshold_saturated");
    let [low, high] = friction.ci95;
    assert!(
        friction.verdict == "identified" && low.unwrap() < 300.0 && high.unwrap() > 280.0,
        "{friction:?}"
    );
}

const KES: &str = "fabric,B_gf_cm2_per_cm,2HB_gf_cm_per_cm\ncotton,0.118,0.124\n";

/// B fixes the stiffness; 2HB fixes only the product of friction stiffness and threshold, and the verdict
/// names it. A loop's slope after the reversal separates them.
#[test]
fn a_kes_sheet_determines_a_product_and_a_loop_its_factors() {
    let json = r#"{"name": "kes", "data": ["k.csv"], "starts": 4}"#;
    let sheet = fit_of(json, &[KES]);
    let stiffness = parameter(&sheet, "bending_stiffness");
    assert_eq!(stiffness.verdict, "identified");
    assert!(
        (stiffness.value.unwrap() / 1.157e-5 - 1.0).abs() < 0.03,
        "{stiffness:?}"
    );
    for name in ["friction_stiffness", "friction_threshold_initial"] {
        let verdict = &parameter(&sheet, name).verdict;
        assert!(
            verdict.starts_with("identified only as the product"),
            "{verdict}"
        );
        assert!(
            verdict.contains("friction_stiffness")
                && verdict.contains("friction_threshold_initial")
        );
    }
    // A digitised loop of K_b = 1e-5, K_f = 3e-5, ε_0 = 20: up, along the upper branch, back along the lower.
    let moment = |k: f64, anchor: f64| 1e-5 * k + 3e-5 * (k - anchor);
    let mut loop_table = String::from("curvature_per_m,moment_Nm_per_m\n");
    let mut anchor = 0.0f64;
    let path = (0..=50)
        .chain((-50..50).rev())
        .chain(-49..=0)
        .map(|i| 5.0 * f64::from(i));
    for k in path {
        anchor = anchor.clamp(k - 20.0, k + 20.0);
        loop_table += &format!("{k},{}\n", moment(k, anchor));
    }
    let measured = fit_of(json, &[&loop_table]);
    for (name, truth) in [
        ("bending_stiffness", 1e-5),
        ("friction_stiffness", 3e-5),
        ("friction_threshold_initial", 20.0),
    ] {
        let p = parameter(&measured, name);
        assert_eq!(p.verdict, "identified");
        assert!((p.value.unwrap() / truth - 1.0).abs() < 0.03, "{p:?}");
    }
    assert!(measured.curves.of("bending").next().is_some());
}

/// Warp and weft apart have parameters of their own; a shared one is one; a tied one follows.
#[test]
fn directions_are_fitted_apart_or_with_shared_parameters() {
    let mut table = shipped("levison_like_cotton.csv").replace("fabric,", "direction,fabric,");
    table = table.replace("\ncotton,", "\nwarp,cotton,");
    // The weft lacks the widest gap, so that its values differ a little.
    let weft = table
        .lines()
        .skip(2)
        .take(33)
        .map(|l| l.replace("warp,", "weft,"))
        .collect::<Vec<_>>()
        .join("\n");
    let table = format!("{table}{weft}\n");
    let json = |parameters: &str| {
        format!(
            r#"{{"name": "directions", "data": ["d.csv"], "starts": 2, "tests": {{"hinges": 256}},
                "parameters": {{{parameters}}}}}"#
        )
    };
    let fixed = r#""friction_threshold_saturated": {"tied_to": "friction_threshold_initial", "ratio": 15},
        "flow_time": {"fixed": 1000}, "dwell_time": {"fixed": 100}, "hardening_drop": {"fixed": 0.7}, "friction_stiffness": {"fixed": 2e-5}"#;
    let tied = format!(
        r#"{fixed}, "yield_strain": {{"scope": "shared"}},
           "hardening_stiffness": {{"tied_to": "bending_stiffness", "ratio": 1}}"#
    );
    let result = fit_of(&json(&tied), &[&table]);
    let names: Vec<&str> = result
        .parameters
        .iter()
        .filter(|p| p.free)
        .map(|p| p.name.as_str())
        .collect();
    assert_eq!(
        names,
        [
            "friction_threshold_initial[cotton warp]",
            "friction_threshold_initial[cotton weft]",
            "yield_strain"
        ]
    );
    let [warp, weft] = [0, 1].map(|i| result.parameters[i].value.unwrap());
    assert!(
        warp != weft && (warp / weft - 1.0).abs() < 0.2,
        "{warp} {weft}"
    );
    // What is tied to a local parameter has a value for each group, in materials too.
    for (direction, value) in [("warp", warp), ("weft", weft)] {
        let follower = parameter(
            &result,
            &format!("friction_threshold_saturated[cotton {direction}]"),
        );
        assert_eq!(follower.best, 15.0 * value);
        let materials = rumple::fit::export::materials(&result).unwrap();
        let (_, material) = materials.iter().find(|m| m.0.contains(direction)).unwrap();
        assert_eq!(
            material.value("friction_threshold_saturated"),
            Some(15.0 * value)
        );
    }
    let follower = parameter(&result, "hardening_stiffness");
    assert_eq!(follower.best, parameter(&result, "bending_stiffness").best);
    assert!(follower.verdict.starts_with("tied to bending_stiffness"));
}

/// One reading that is off by 60° moves a least-squares fit, and hardly one with a robust loss.
#[test]
fn robust_losses_resist_an_outlier() {
    let mut rows: Vec<String> = shipped("levison_like_cotton.csv")
        .lines()
        .map(String::from)
        .collect();
    let clean = rows.join("\n");
    rows[9] = rows[9].replace(rows[9].split(',').nth(4).unwrap(), "100");
    let spoilt = rows.join("\n");
    assert_ne!(clean, spoilt);
    let fit = |loss: &str, table: &str| {
        let json = format!(
            r#"{{"name": "robust", "data": ["c.csv"], "starts": 4, "loss": "{loss}", "tests": {{"hinges": 256}}}}"#
        );
        parameter(&fit_of(&json, &[table]), "hardening_drop").best
    };
    let reference = fit("squares", &clean);
    let [squares, huber, cauchy] =
        ["squares", "huber", "cauchy"].map(|loss| (fit(loss, &spoilt) - reference).abs());
    println!("hardening_drop moves by {squares} (squares), {huber} (huber), {cauchy} (cauchy)");
    assert!(squares > 0.01 && huber < 0.5 * squares && cauchy < 0.3 * squares);
}

/// The scale on which a parameter is searched does not change its interval.
#[test]
fn intervals_do_not_depend_on_the_transform() {
    let fit = |role: &str| {
        let json = format!(
            r#"{{"name": "scales", "data": ["c.csv"], "starts": 2, "tests": {{"hinges": 256}}, "parameters": {{{role}}}}}"#
        );
        fit_of(&json, &[&shipped("levison_like_rayon.csv")])
    };
    let reference = fit("");
    for (name, role) in [
        (
            "hardening_drop",
            r#""hardening_drop": {"transform": "logit"}"#,
        ),
        (
            "friction_threshold_saturated",
            r#""friction_threshold_saturated": {"transform": "above", "bounds": [0, 5000]}"#,
        ),
        ("yield_strain", r#""yield_strain": {"transform": "linear"}"#),
    ] {
        let [expected, found] =
            [&reference, &fit(role)].map(|r| parameter(r, name).ci95.map(Option::unwrap));
        let width = expected[1] - expected[0];
        for (e, f) in expected.iter().zip(found) {
            assert!(
                (e - f).abs() < 0.1 * width,
                "{name}: {expected:?} against {found:?}"
            );
        }
    }
}

/// burn's Adam comes to about the same cost as Levenberg-Marquardt.
#[test]
fn adam_comes_near_the_optimum() {
    let json = r#"{"name": "adam", "data": ["c.csv"], "starts": 4, "tests": {"hinges": 64}}"#;
    let (case, data) = case_of(json, &[&shipped("levison_like_rayon.csv")]);
    let [lm, adam] =
        [SearchMethod::Lm, SearchMethod::Adam].map(|o| run(&case, &data, o).statistics.chi2);
    println!("χ²: Levenberg-Marquardt {lm}, Adam {adam}");
    assert!(adam < 1.1 * lm + 2.0 && adam > lm - 0.5);
}

/// The Jacobian of the whole problem (both tests, a tie, every transform, a prior) is that of central
/// differences, and a point's bits do not depend on its company.
#[test]
fn the_problem_has_an_exact_jacobian() {
    let json = r#"{"name": "all", "data": ["c.csv", {"file": "k.csv", "group": "cotton"}], "tests": {"hinges": 64},
        "parameters": {
            "hardening_stiffness": {"tied_to": "bending_stiffness", "ratio": 1.3},
            "hardening_drop": {"transform": "logit", "bounds": [0.01, 0.99]},
            "dwell_time": {"transform": "linear", "bounds": [1, 1000]},
            "yield_strain": {"prior": {"mean": 500, "sd": 50}}}}"#;
    let (case, data) = case_of(json, &[&shipped("levison_like_cotton.csv"), KES]);
    let fit = Fit::new(cpu(), &case, &data, SearchMethod::Lm).unwrap();
    let problem = &fit.problem;
    assert_eq!(problem.unknowns.len(), 8);
    let starts = rumple::numeric::sobol(3, 8, 4).unwrap();
    let points: Vec<DVector<f64>> = starts
        .iter()
        .map(|share| {
            let inside = share
                .iter()
                .zip(problem.bounds())
                .map(|(s, (low, high))| low + (0.3 + 0.4 * s) * (high - low));
            DVector::from_iterator(8, inside)
        })
        .collect();
    for stage in 0..problem.stages() {
        let together = problem.linearized(stage, &points).unwrap();
        for (point, at) in points.iter().zip(&together) {
            let alone = problem
                .linearized(stage, std::slice::from_ref(point))
                .unwrap()
                .remove(0);
            assert_eq!(&alone, at, "the same bits alone and in company");
            let size = at.jacobian.amax();
            assert!(size > 1.0);
            for k in 0..8 {
                let moved = |step: f64| {
                    let mut point = point.clone();
                    point[k] += step;
                    point
                };
                let differences = |h: f64| {
                    let around = problem.linearized(stage, &[moved(h), moved(-h)]).unwrap();
                    (&around[0].residuals - &around[1].residuals) / (2.0 * h)
                };
                // The stages before the last are in single precision: rounding forbids short steps, and the error of
                // long ones is extrapolated away.
                let (difference, bound) = match stage + 1 == problem.stages() {
                    true => (differences(1e-6), 1e-5),
                    false => ((differences(2e-3) * 4.0 - differences(4e-3)) / 3.0, 1e-2),
                };
                let error = (difference - at.jacobian.column(k)).amax() / size;
                assert!(
                    error < bound,
                    "stage {stage}, {}: {error:e}",
                    problem.unknowns[k].name
                );
            }
        }
    }
}
