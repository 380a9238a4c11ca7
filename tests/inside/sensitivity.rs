//! Sensitivity studies of the crease test: agreement with SALib, what must be zero, bounds.

use rumple::{
    fit::{case::Case, data::DataFile, dataset::Dataset},
    numeric::{Compute, Precision},
    sensitivity::{
        analysis::{Subject, analyse},
        factor::groups,
        interval::counts,
        laboratory::{Laboratory, RangeWish, Vary},
        model::Model,
        morris,
        result::Sensitivity,
        sample::trajectories,
        sobol::SobolRuns,
        study::{Method, Study, StudyPlan},
    },
    study::{Task, Tasks, Work},
};
use serde_json::Value;

const CASE: &str = include_str!("../data/salib/case.json");
const DATA: &str = include_str!("../data/salib/three.csv");
const RUNS: &str = include_str!("../data/salib/crease.csv");
const SALIB: &str = include_str!("../data/salib/salib.json");

fn laboratory(wish: &RangeWish) -> Laboratory {
    let case = Case::parse(CASE, "case.json").unwrap();
    let file = DataFile::parse(DATA, "three.csv").unwrap();
    let data = Dataset::gather(&case, &[(&case.data[0], file)]).unwrap();
    Laboratory::new(&Compute::cpu(Precision::F64), &case, &data, wish).unwrap()
}

fn studied(model: &Laboratory, methods: &[Method], samples: usize) -> Sensitivity {
    let plan = StudyPlan {
        methods: methods.to_vec(),
        groups: groups(model.factors(), &[]).unwrap(),
        seed: 1,
        samples,
        trajectories: 10,
        points: samples,
    };
    let study = Study::new(model, plan).unwrap();
    let task = Task {
        id: String::new(),
        name: String::new(),
        seed: 0,
    };
    let results: Vec<Value> = (0..study.names().len())
        .map(|i| study.run(&task, i).unwrap())
        .collect();
    let runs = study.gather(&results).unwrap();
    analyse(&study, &runs, &Subject::default(), String::new())
}

/// Values and outputs of the committed runs of a method.
fn committed(method: &str, factors: usize) -> (Vec<Vec<f64>>, Vec<Vec<f64>>) {
    let lines = RUNS.lines().filter(|l| l.starts_with(method));
    let numbers =
        lines.map(|l| -> Vec<f64> { l.split(',').skip(1).map(|v| v.parse().unwrap()).collect() });
    numbers
        .map(|row| (row[..factors].to_vec(), row[factors..].to_vec()))
        .unzip()
}

fn listed(value: &Value) -> Vec<f64> {
    let list = value.as_array().unwrap().iter();
    list.map(|v| v.as_f64().unwrap()).collect()
}

fn agree(name: &str, ours: &[f64], theirs: &Value) {
    let theirs = listed(theirs);
    assert_eq!(ours.len(), theirs.len(), "{name}");
    for (a, b) in ours.iter().zip(&theirs) {
        // μ and σ are in degrees, up to 100 of them.
        assert!(
            (a - b).abs() < 1e-10 * b.abs().max(1.0),
            "{name}: {a} against {b}"
        );
    }
    assert!(theirs.iter().any(|v| v.abs() > 1e-3), "{name} is all zero");
}

// The same runs of the crease test give the same indices in SALib (and, for the estimators that it lacks, by their
// formulas in NumPy) to 1e-10.
#[test]
fn estimators_agree_with_salib() {
    let model = laboratory(&RangeWish::default());
    let k = model.factors().len();
    let salib: Value = serde_json::from_str(SALIB).unwrap();
    let (_, sobol_outputs) = committed("sobol", k);
    let (_, morris_outputs) = committed("morris", k);
    let groups = groups(model.factors(), &[]).unwrap();
    let walks = trajectories(model.factors(), &groups, 10, 1);
    for (i, theirs) in salib["outputs"].as_array().unwrap().iter().enumerate() {
        let column: Vec<f64> = sobol_outputs.iter().map(|row| row[i]).collect();
        let runs = SobolRuns::split(&column, k);
        assert_eq!(runs.samples(), 32);
        let indices = runs.indices(&counts(32, 1)).unwrap();
        let all = |of: fn(
            &rumple::sensitivity::sobol::Indices<_>,
        ) -> rumple::sensitivity::interval::Estimate|
         -> Vec<f64> { indices.iter().map(|g| of(g).value).collect() };
        let s = &theirs["sobol"];
        agree(
            "first, Saltelli",
            &all(|g| g.first_saltelli),
            &s["salib_first_saltelli"],
        );
        agree(
            "total, Jansen",
            &all(|g| g.total_jansen),
            &s["salib_total_jansen"],
        );
        agree(
            "first, Jansen",
            &all(|g| g.first_jansen),
            &s["numpy_first_jansen"],
        );
        agree(
            "first, Martinez",
            &all(|g| g.first_martinez),
            &s["numpy_first_martinez"],
        );
        agree(
            "total, Martinez",
            &all(|g| g.total_martinez),
            &s["numpy_total_martinez"],
        );
        // SALib's other total is over the variance of A alone.
        let (_, both) = runs.moments();
        let mean = runs.a.iter().sum::<f64>() / 32.0;
        let alone = runs.a.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / 32.0;
        let radial: Vec<f64> = indices
            .iter()
            .map(|g| g.total_jansen.value * both / alone)
            .collect();
        agree(
            "radial total, Jansen",
            &radial,
            &s["salib_radial_total_jansen"],
        );
        let column: Vec<f64> = morris_outputs.iter().map(|row| row[i]).collect();
        let effects: Vec<morris::Effects> = morris::elementary(&walks, &column, k)
            .iter()
            .map(|list| morris::effects(list, false, 1).unwrap())
            .collect();
        let m = &theirs["morris"];
        let each = |of: fn(&morris::Effects) -> f64| effects.iter().map(of).collect::<Vec<f64>>();
        agree("μ", &each(|e| e.mu.unwrap().value), &m["salib_mu"]);
        agree("μ*", &each(|e| e.mu_star.value), &m["salib_mu_star"]);
        agree("σ", &each(|e| e.sigma.unwrap().value), &m["salib_sigma"]);
    }
}

// The committed runs are those of the crease test as it is today.
#[test]
fn the_runs_given_to_salib_are_of_this_crease_test() {
    let model = laboratory(&RangeWish::default());
    let (points, outputs) = committed("sobol", model.factors().len());
    assert_eq!(points.len(), 320);
    let runs = model.run(&points, false).unwrap();
    for (run, expected) in runs.iter().zip(&outputs) {
        for (a, b) in run.values.iter().zip(expected) {
            // Other machines round exponentials otherwise.
            assert!((a - b).abs() < 1e-6, "{a} {b}");
        }
    }
}

// Where nothing yields, neither the hardening nor its time can matter, and the dummy never does: their indices are 0
// within their intervals, while friction has all of the variance.
#[test]
fn what_cannot_matter_has_index_zero() {
    let wish = RangeWish {
        vary: vec![("yield_strain".into(), Vary::Fixed(9e4))],
        ..RangeWish::default()
    };
    let model = laboratory(&wish);
    let result = studied(&model, &[Method::Sobol], 256);
    let place = |name: &str| result.groups.iter().position(|g| g == name).unwrap();
    let mut dummies = 0;
    for output in result.sobol.as_ref().unwrap().outputs.iter().flatten() {
        let still = ["flow_time", "hardening_stiffness", "hardening_drop"].map(place);
        for k in still.into_iter().chain([result.groups.len()]) {
            for (order, estimator, index) in output.groups[k].list() {
                let zero = index.low - 1e-12 <= 0.0 && 0.0 <= index.high + 1e-12;
                assert!(zero, "{k} {order} {estimator} {index:?}");
            }
            dummies += 1;
        }
        let friction = output.groups[place("friction_stiffness")].total_jansen;
        assert!(friction.low > 0.0, "{friction:?}");
    }
    assert!(dummies >= 4 * 4);
}

// The bound that derivatives put on a total holds for every output of the crease test.
#[test]
fn totals_of_the_crease_test_keep_their_bounds() {
    let model = laboratory(&RangeWish::default());
    let result = studied(&model, &[Method::Derivative, Method::Sobol], 512);
    let above = &result.sobol.as_ref().unwrap().above_bound;
    assert!(
        !above.iter().any(|a| a.contains("beyond both")),
        "{above:?}"
    );
    let derivative = result.derivative.as_ref().unwrap();
    let bounds = derivative
        .outputs
        .iter()
        .flatten()
        .flat_map(|o| &o.bounds)
        .flatten();
    assert!(bounds.filter(|b| b.value > 0.01).count() > 10);
    assert!(derivative.regimes.len() > 1, "{:?}", derivative.regimes);
    let shares: f64 = derivative.regimes.iter().map(|r| r.share).sum();
    assert!((0.9..1.0 + 1e-9).contains(&shares), "{shares}");
}
