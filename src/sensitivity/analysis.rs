//! From runs to indices.

use rayon::prelude::*;

use super::{
    derivative::Slopes,
    failure::Failures,
    interval::counts,
    local::Local,
    model::ModelRun,
    morris, regime,
    result::{
        Convergence, Derivative, DerivativeOutput, Morris, RunInfo, Sensitivity, SobolIndices,
        SobolOutput,
    },
    sobol,
    study::{Method, Runs, Study},
};

/// What a study is about, for its report.
#[derive(Debug, Clone, Default)]
pub(crate) struct Subject {
    /// What it is called.
    pub name: String,
    /// Whether any of the data are synthetic.
    pub synthetic: bool,
    /// Assumptions, a sentence each.
    pub notes: Vec<String>,
    /// Command line.
    pub command: String,
}

/// Fewest base samples of a step of the convergence picture.
const FEWEST: usize = 16;

/// All indices of a study.
pub(crate) fn analyse(
    study: &Study,
    runs: &Runs,
    subject: &Subject,
    stopped: String,
) -> Sensitivity {
    let model = study.model;
    let outputs = model.outputs();
    let main = main_output(study);
    let has = |method: Method| study.plan.methods.contains(&method);
    let derivative = has(Method::Derivative).then(|| derivative(study, runs, main));
    let sobol = has(Method::Sobol).then(|| sobol(study, runs, main, derivative.as_ref(), stopped));
    Sensitivity {
        name: subject.name.clone(),
        synthetic: subject.synthetic,
        notes: subject.notes.clone(),
        factors: model.factors().to_vec(),
        groups: study.plan.groups.iter().map(|g| g.name.clone()).collect(),
        outputs: outputs.to_vec(),
        main,
        local: local(study, runs),
        morris: has(Method::Morris).then(|| morris(study, runs)),
        derivative,
        sobol,
        failures: failures(study, runs),
        run: RunInfo {
            version: env!("CARGO_PKG_VERSION").into(),
            command: subject.command.clone(),
            seed: study.plan.seed,
            seconds: 0.0,
        },
    }
}

/// The reading that sums all up comes last but one (the last is a loss); without readings the last output.
fn main_output(study: &Study) -> usize {
    let outputs = study.model.outputs();
    let reading = outputs.iter().position(|o| o.place.is_none());
    study
        .model
        .main_output()
        .or(reading)
        .unwrap_or(outputs.len() - 1)
}

/// An output of every run, NaN where a run failed.
fn column(runs: &[ModelRun], output: usize) -> Vec<f64> {
    let value = |r: &ModelRun| r.values.get(output).copied().unwrap_or(f64::NAN);
    runs.iter().map(value).collect()
}

fn local(study: &Study, runs: &Runs) -> Option<Local> {
    let run = runs.of(Method::Local).first()?;
    let usable = run.failure.is_none() && !run.slopes.is_empty();
    usable.then(|| {
        let measurements = study.model.measurements(&run.values);
        let factors = study.model.factors();
        Local::new(factors, &run.values, &run.slopes, &measurements)
    })
}

/// The gradient of an output over the coordinates; none where it has none.
fn gradient(study: &Study, run: &ModelRun, values: &[f64], output: usize) -> Option<Vec<f64>> {
    let factors = study.model.factors();
    let k = factors.len();
    let row = run.slopes.get(output * k..(output + 1) * k)?;
    let each = row.iter().zip(factors).zip(values);
    let gradient: Vec<f64> = each
        .map(|((slope, factor), value)| slope * factor.distribution.slope(*value))
        .collect();
    gradient.iter().all(|v| v.is_finite()).then_some(gradient)
}

/// An output with its gradients, at the points where it has one.
fn slopes(study: &Study, runs: &Runs, output: usize) -> Slopes {
    let points = study.points_of(Method::Derivative);
    let (mut values, mut gradients) = (Vec::new(), Vec::new());
    for (run, point) in runs.of(Method::Derivative).iter().zip(points) {
        if let Some(gradient) = gradient(study, run, point, output) {
            values.push(run.values[output]);
            gradients.push(gradient);
        }
    }
    Slopes { values, gradients }
}

fn derivative(study: &Study, runs: &Runs, main: usize) -> Derivative {
    let (factors, seed) = (study.model.factors(), study.plan.seed);
    let of = |output: usize| {
        let slopes = slopes(study, runs, output);
        Some(DerivativeOutput {
            measures: slopes.measures(factors, seed)?,
            bounds: slopes.bounds(factors, &study.plan.groups, seed),
        })
    };
    let outputs = (0..study.model.outputs().len()).into_par_iter().map(of);
    let subspace = slopes(study, runs, main).subspace(factors, seed);
    let projection = subspace.as_ref().map_or(Vec::new(), |s| {
        let points = study.points_of(Method::Derivative).iter();
        let pairs = points.zip(runs.of(Method::Derivative));
        let succeeded = pairs.filter(|(_, run)| run.failure.is_none());
        succeeded
            .map(|(point, run)| (along(study, point, &s.directions[0]), run.values[main]))
            .collect()
    });
    Derivative {
        points: study.plan.points,
        outputs: outputs.collect(),
        subspace,
        projection,
        regimes: regimes(study, runs),
    }
}

/// Where a point lies along a direction, in units of the distributions from their medians.
fn along(study: &Study, point: &[f64], direction: &[f64]) -> f64 {
    let each = study.model.factors().iter().zip(point).zip(direction);
    each.map(|((factor, value), weight)| {
        let d = factor.distribution;
        let middle = d.coordinate(d.quantile(0.5));
        weight * (d.coordinate(*value) - middle) / d.unit()
    })
    .sum()
}

fn regimes(study: &Study, runs: &Runs) -> Vec<regime::Regime> {
    let mut pairs = Vec::new();
    let points = study.points_of(Method::Derivative);
    for (run, point) in runs.of(Method::Derivative).iter().zip(points) {
        let outputs = study.model.regime_outputs().iter();
        for (&output, shares) in outputs.zip(&run.regimes) {
            if let Some(gradient) = gradient(study, run, point, output) {
                pairs.push((*shares, run.values[output], gradient));
            }
        }
    }
    regime::regimes(&pairs, study.model.factors(), study.plan.seed)
}

fn morris(study: &Study, runs: &Runs) -> Morris {
    let groups = &study.plan.groups;
    let of = |output: usize| {
        let outputs = column(runs.of(Method::Morris), output);
        let elementary = morris::elementary(&study.trajectories, &outputs, groups.len());
        let pairs = elementary.iter().zip(groups);
        pairs
            .map(|(list, group)| morris::effects(list, group.members.len() > 1, study.plan.seed))
            .collect()
    };
    Morris {
        trajectories: study.trajectories.len(),
        outputs: (0..study.model.outputs().len())
            .into_par_iter()
            .map(of)
            .collect(),
    }
}

/// Sobol' indices of every output; none where it does not vary.
pub(crate) fn sobol_outputs(study: &Study, runs: &Runs) -> Vec<Option<SobolOutput>> {
    // A run fails as a whole, so that all outputs have the same samples.
    let samples = split(study, runs, 0).samples();
    let counts = counts(samples, study.plan.seed);
    let of = |output: usize| {
        let runs = split(study, runs, output);
        let (mean, variance) = runs.moments();
        Some(SobolOutput {
            mean,
            variance,
            samples,
            groups: runs.indices(&counts)?,
        })
    };
    (0..study.model.outputs().len())
        .into_par_iter()
        .map(of)
        .collect()
}

fn split(study: &Study, runs: &Runs, output: usize) -> sobol::SobolRuns {
    let outputs = column(runs.of(Method::Sobol), output);
    sobol::SobolRuns::split(&outputs, study.plan.groups.len()).with_dummy()
}

/// Widest interval of a total: what a study that wants to know enough looks at.
pub(crate) fn widest(outputs: &[Option<SobolOutput>]) -> f64 {
    let groups = outputs.iter().flatten().flat_map(|o| &o.groups);
    groups.map(|g| g.total_jansen.width()).fold(0.0, f64::max)
}

fn sobol(
    study: &Study,
    runs: &Runs,
    main: usize,
    derivative: Option<&Derivative>,
    stopped: String,
) -> SobolIndices {
    let outputs = sobol_outputs(study, runs);
    let all = split(study, runs, main);
    let mut samples = all.samples();
    let mut convergence = Vec::new();
    while samples >= FEWEST {
        let counts = counts(samples, study.plan.seed);
        if let Some(groups) = all.first(samples).indices(&counts) {
            convergence.push(Convergence { samples, groups });
        }
        samples /= 2;
    }
    convergence.reverse();
    SobolIndices {
        samples: study.plan.samples,
        widest: widest(&outputs),
        above_bound: above_bound(study, &outputs, derivative),
        outputs,
        convergence,
        stopped,
    }
}

/// Totals above the bound that derivatives put on them.
fn above_bound(
    study: &Study,
    outputs: &[Option<SobolOutput>],
    derivative: Option<&Derivative>,
) -> Vec<String> {
    let mut found = Vec::new();
    let Some(derivative) = derivative else {
        return found;
    };
    for (i, (sobol, slopes)) in outputs.iter().zip(&derivative.outputs).enumerate() {
        let bounds = slopes.as_ref().and_then(|s| s.bounds.as_ref());
        let (Some(sobol), Some(bounds)) = (sobol, bounds) else {
            continue;
        };
        for ((group, indices), bound) in study.plan.groups.iter().zip(&sobol.groups).zip(bounds) {
            let total = indices.total_jansen;
            if total.value > bound.value {
                let verdict = match total.low > bound.high {
                    true => {
                        "beyond both intervals: more points of derivatives are needed, or a slope is wrong"
                    }
                    false => "within the intervals of the two",
                };
                found.push(format!(
                    "{} of {}: {:.2e} [{:.2e}, {:.2e}] is above its bound {:.2e} [{:.2e}, {:.2e}], {verdict}",
                    group.name,
                    study.model.outputs()[i].name,
                    total.value,
                    total.low,
                    total.high,
                    bound.value,
                    bound.low,
                    bound.high
                ));
            }
        }
    }
    found
}

fn failures(study: &Study, runs: &Runs) -> Failures {
    let rows: Vec<_> = study
        .points()
        .map(|(method, i, values)| {
            let why = runs.of(method).get(i).and_then(|r| r.failure.as_deref());
            (format!("{} {i}", method.name()), values.to_vec(), why)
        })
        .collect();
    Failures::new(study.model.factors(), &rows)
}
