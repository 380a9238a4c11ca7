//! Functions whose indices are known, through the whole way: design, runs, tasks' results, indices.

use serde_json::{Value, json};

use super::{
    analysis::{Subject, analyse},
    distribution::Distribution,
    factor::{Factor, groups},
    model::{Model, ModelRun, Output},
    result::Sensitivity,
    study::{Method, Study, StudyPlan},
};
use crate::{
    error::Result,
    study::{Task, Tasks, Work},
};

type Gradient = fn(&[f64]) -> Vec<f64>;

/// A function of the unit cube or another box, with its gradient.
struct KnownFunction {
    factors: Vec<Factor>,
    outputs: Vec<Output>,
    function: fn(&[f64]) -> f64,
    gradient: Option<Gradient>,
}

impl KnownFunction {
    fn new(count: usize, (low, high): (f64, f64), function: fn(&[f64]) -> f64) -> KnownFunction {
        let factor = |i: usize| Factor {
            name: format!("x{}", i + 1),
            symbol: format!("x{}", i + 1),
            unit: "1".into(),
            distribution: Distribution::Uniform { low, high },
            nominal: 0.5 * (low + high),
        };
        KnownFunction {
            factors: (0..count).map(factor).collect(),
            outputs: vec![Output {
                name: "y".into(),
                unit: "1".into(),
                place: None,
            }],
            function,
            gradient: None,
        }
    }
}

impl Model for KnownFunction {
    fn identity(&self) -> Value {
        json!("known")
    }

    fn factors(&self) -> &[Factor] {
        &self.factors
    }

    fn outputs(&self) -> &[Output] {
        &self.outputs
    }

    fn chunk(&self) -> usize {
        64
    }

    fn run(&self, points: &[Vec<f64>], full: bool) -> Result<Vec<ModelRun>> {
        let one = |p: &Vec<f64>| {
            let value = (self.function)(p);
            if !value.is_finite() {
                return ModelRun::failed("not a number");
            }
            ModelRun {
                values: vec![value],
                slopes: match self.gradient {
                    Some(gradient) if full => gradient(p),
                    _ => Vec::new(),
                },
                ..ModelRun::default()
            }
        };
        Ok(points.iter().map(one).collect())
    }
}

fn studied(model: &KnownFunction, methods: &[Method], samples: usize, seed: u64) -> Sensitivity {
    studied_in_groups(model, methods, samples, seed, &[])
}

fn studied_in_groups(
    model: &KnownFunction,
    methods: &[Method],
    samples: usize,
    seed: u64,
    asked: &[(String, Vec<String>)],
) -> Sensitivity {
    let study = Study::new(
        model,
        StudyPlan {
            methods: methods.to_vec(),
            groups: groups(&model.factors, asked).unwrap(),
            seed,
            samples,
            trajectories: 200,
            points: samples,
        },
    )
    .unwrap();
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

/// sin x1 + 7·sin² x2 + 0.1·x3⁴·sin x1 (Ishigami and Homma 1990).
fn ishigami() -> KnownFunction {
    let function =
        |x: &[f64]| x[0].sin() + 7.0 * x[1].sin().powi(2) + 0.1 * x[2].powi(4) * x[0].sin();
    let gradient = |x: &[f64]| {
        vec![
            x[0].cos() * (1.0 + 0.1 * x[2].powi(4)),
            7.0 * (2.0 * x[1]).sin(),
            0.4 * x[2].powi(3) * x[0].sin(),
        ]
    };
    let pi = std::f64::consts::PI;
    KnownFunction {
        gradient: Some(gradient),
        ..KnownFunction::new(3, (-pi, pi), function)
    }
}

/// First-order and total indices of [`ishigami`].
fn ishigami_indices() -> ([f64; 3], [f64; 3]) {
    let (a, b) = (7.0f64, 0.1f64);
    let pi4 = std::f64::consts::PI.powi(4);
    let first = 0.5 * (1.0 + b * pi4 / 5.0).powi(2);
    let second = a * a / 8.0;
    let both = b * b * pi4 * pi4 * (1.0 / 18.0 - 1.0 / 50.0);
    let variance = first + second + both;
    (
        [first / variance, second / variance, 0.0],
        [
            (first + both) / variance,
            second / variance,
            both / variance,
        ],
    )
}

const G: [f64; 8] = [0.0, 1.0, 4.5, 9.0, 99.0, 99.0, 99.0, 99.0];

/// Π (|4x − 2| + a)/(1 + a) (Sobol' 1993).
fn g_function() -> KnownFunction {
    let function = |x: &[f64]| -> f64 {
        let parts = x.iter().zip(G);
        parts
            .map(|(x, a)| ((4.0 * x - 2.0).abs() + a) / (1.0 + a))
            .product()
    };
    KnownFunction::new(8, (0.0, 1.0), function)
}

fn g_indices() -> (Vec<f64>, Vec<f64>) {
    let parts: Vec<f64> = G
        .iter()
        .map(|a| 1.0 / (3.0 * (1.0 + a) * (1.0 + a)))
        .collect();
    let all: f64 = parts.iter().map(|v| 1.0 + v).product();
    let variance = all - 1.0;
    let first = parts.iter().map(|v| v / variance);
    let total = parts.iter().map(|v| v * all / (1.0 + v) / variance);
    (first.collect(), total.collect())
}

/// Every estimator must hold the exact value in its interval, which must be no wider than `width`.
fn holds(result: &Sensitivity, first: &[f64], total: &[f64], width: f64) {
    let of = result.sobol.as_ref().unwrap().outputs[0].as_ref().unwrap();
    assert_eq!(of.groups.len(), first.len() + 1, "the dummy comes last");
    let exact = first
        .iter()
        .zip(total)
        .map(|(f, t)| (*f, *t))
        .chain([(0.0, 0.0)]);
    for (k, (indices, (first, total))) in of.groups.iter().zip(exact).enumerate() {
        for (order, estimator, estimate) in indices.list() {
            let exact = if order == "first" { first } else { total };
            // Rounding alone makes an interval of a dummy's total.
            let near = estimate.low - 1e-12 <= exact && exact <= estimate.high + 1e-12;
            assert!(
                near,
                "x{} {order} {estimator}: {estimate:?} without {exact}",
                k + 1
            );
            assert!(
                estimate.width() < width,
                "x{} {order} {estimator}: {estimate:?}",
                k + 1
            );
        }
    }
}

#[test]
fn indices_of_ishigami_are_within_their_intervals() {
    let (first, total) = ishigami_indices();
    assert!((first[0] - 0.3139).abs() < 1e-4 && (total[2] - 0.2437).abs() < 1e-4);
    for seed in 1..=5 {
        let result = studied(&ishigami(), &[Method::Sobol], 4096, seed);
        holds(&result, &first, &total, 0.12);
    }
}

#[test]
fn indices_of_the_g_function_are_within_their_intervals() {
    let (first, total) = g_indices();
    assert!((first[0] - 0.7162).abs() < 1e-4);
    for seed in 1..=5 {
        let result = studied(&g_function(), &[Method::Sobol], 4096, seed);
        holds(&result, &first, &total, 0.12);
    }
}

// A group's first-order index is that of its members together: x1 and x3 of Ishigami's function hold all but x2.
#[test]
fn a_group_has_the_indices_of_its_members_together() {
    let asked = [("pair".to_string(), vec!["x1".to_string(), "x3".to_string()])];
    let result = studied_in_groups(
        &ishigami(),
        &[Method::Morris, Method::Sobol],
        4096,
        1,
        &asked,
    );
    assert_eq!(result.groups, ["pair", "x2"]);
    let (first, _) = ishigami_indices();
    holds(
        &result,
        &[1.0 - first[1], first[1]],
        &[1.0 - first[1], first[1]],
        0.1,
    );
    let effects = &result.morris.as_ref().unwrap().outputs[0];
    // Members go up and down at random: only the size has a meaning.
    assert!(effects[0].unwrap().mu.is_none() && effects[1].unwrap().mu.is_some());
}

#[test]
fn totals_stay_below_the_bound_from_derivatives() {
    let methods = [Method::Derivative, Method::Sobol];
    let result = studied(&ishigami(), &methods, 4096, 1);
    let derivative = result.derivative.as_ref().unwrap();
    let of = derivative.outputs[0].as_ref().unwrap();
    // E[(∂f/∂x2)²] = 49/2; E[(∂f/∂x1)²] = ½·(1 + 0.2·π⁴/5 + 0.01·π⁸/9).
    let pi4 = std::f64::consts::PI.powi(4);
    let nu = [0.5 * (1.0 + 0.04 * pi4 + 0.01 * pi4 * pi4 / 9.0), 24.5];
    for (measure, nu) in of.measures.iter().zip(nu) {
        assert!(measure.nu.holds(nu), "{:?} without {nu}", measure.nu);
    }
    let (_, total) = ishigami_indices();
    let bounds = of.bounds.as_ref().unwrap();
    for (bound, total) in bounds.iter().zip(total) {
        assert!(bound.low > total, "{bound:?} {total}");
    }
    assert!(result.sobol.as_ref().unwrap().above_bound.is_empty());
}

// A slope that is wrong by a factor of ten makes a bound that a total exceeds, and that is said.
#[test]
fn a_total_above_its_bound_is_flagged() {
    let mut model = ishigami();
    model.gradient = Some(|x| vec![0.0, 0.1 * 7.0 * (2.0 * x[1]).sin(), 0.0]);
    let result = studied(&model, &[Method::Derivative, Method::Sobol], 512, 1);
    let above = &result.sobol.as_ref().unwrap().above_bound;
    assert_eq!(above.len(), 3, "{above:?}");
    assert!(
        above.iter().all(|a| a.contains("beyond both intervals")),
        "{above:?}"
    );
}

// y = (x1 + 2·x2)²: one direction decides, and it is (1, 2)/√5.
#[test]
fn the_active_direction_of_a_ridge_is_found() {
    let mut model = KnownFunction::new(3, (-1.0, 1.0), |x| (x[0] + 2.0 * x[1]).powi(2));
    model.gradient = Some(|x| {
        let s = 2.0 * (x[0] + 2.0 * x[1]);
        vec![s, 2.0 * s, 0.0]
    });
    let result = studied(&model, &[Method::Derivative], 256, 1);
    let subspace = result.derivative.unwrap().subspace.unwrap();
    let root = 5f64.sqrt();
    for (component, exact) in subspace.directions[0]
        .iter()
        .zip([1.0 / root, 2.0 / root, 0.0])
    {
        assert!(
            (component - exact).abs() < 1e-10,
            "{:?}",
            subspace.directions[0]
        );
    }
    assert!(subspace.eigenvalues[1].value < 1e-12 * subspace.eigenvalues[0].value);
    assert!((subspace.activity[1] - 0.8).abs() < 1e-10);
}

// y = 3·x1 − 2·x2 + x1·x3 on [0, 1]: effects of x1 are 3 + x3, of x2 −2 everywhere.
#[test]
fn elementary_effects_of_a_simple_function_are_known() {
    let model = KnownFunction::new(3, (0.0, 1.0), |x| 3.0 * x[0] - 2.0 * x[1] + x[0] * x[2]);
    let result = studied(&model, &[Method::Morris], 16, 1);
    let effects: Vec<_> = result.morris.unwrap().outputs[0]
        .iter()
        .map(|e| e.unwrap())
        .collect();
    assert!(effects[0].mu_star.holds(3.5) && effects[0].mu_star.width() < 0.2);
    assert!((effects[1].mu.unwrap().value + 2.0).abs() < 1e-12);
    assert!(effects[1].sigma.unwrap().value < 1e-12);
    assert!(effects[2].mu_star.holds(0.5) && effects[2].sigma.unwrap().value > 0.1);
}

// Runs that fail are counted and left out whole; what is left still has the right indices.
#[test]
fn failed_runs_are_counted_and_said() {
    let model = KnownFunction::new(2, (0.0, 1.0), |x| if x[1] > 0.9 { f64::NAN } else { x[0] });
    let result = studied(&model, &[Method::Morris, Method::Sobol], 1024, 1);
    let failures = &result.failures;
    assert!(failures.failed > 300, "{}", failures.failed);
    assert_eq!(failures.reasons[0].0, "not a number");
    assert!(failures.region[1].range[0] > 0.9 && failures.region[1].distance > 0.95);
    let of = result.sobol.as_ref().unwrap().outputs[0].as_ref().unwrap();
    assert!(of.samples < 900 && of.samples > 700, "{}", of.samples);
    // x1 alone decides where it runs.
    assert!((of.groups[0].total_jansen.value - 1.0).abs() < 0.1);
    assert!(of.groups[1].total_jansen.value.abs() < 1e-12);
    let effects = &result.morris.as_ref().unwrap().outputs[0];
    assert!(effects[1].is_none_or(|e| e.count < 200));
}

// An output that does not vary has no shares, and nothing divides by zero.
#[test]
fn a_constant_output_has_no_indices() {
    let model = KnownFunction::new(2, (0.0, 1.0), |_| 5.0);
    let result = studied(&model, &[Method::Morris, Method::Sobol], 64, 1);
    assert!(result.sobol.unwrap().outputs[0].is_none());
    assert_eq!(
        result.morris.unwrap().outputs[0][0].unwrap().mu_star.value,
        0.0
    );
}
