//! The tables of a study: `indices.csv` in long format, `samples.csv` with every run.

use crate::{
    error::{Error, Result},
    sensitivity::{
        interval::Estimate,
        result::Sensitivity,
        study::{Method, Runs, Study},
    },
};

const COLUMNS: [&str; 13] = [
    "method",
    "index",
    "estimator",
    "output",
    "unit",
    "curve",
    "x",
    "parameter",
    "value",
    "low",
    "high",
    "samples",
    "remark",
];

/// One line of `indices.csv`.
struct TableLine<'a> {
    method: &'a str,
    index: &'a str,
    estimator: &'a str,
    parameter: &'a str,
    estimate: Estimate,
    samples: usize,
    remark: &'a str,
}

/// Writes a table; numbers are written so that they are read back the same.
struct Writer {
    csv: csv::Writer<Vec<u8>>,
}

impl Writer {
    fn new() -> Writer {
        Writer {
            csv: csv::Writer::from_writer(Vec::new()),
        }
    }

    fn row<S: AsRef<[u8]>>(&mut self, cells: impl IntoIterator<Item = S>) -> Result<()> {
        self.csv.write_record(cells).map_err(unwritable)
    }

    fn finish(self) -> Result<Vec<u8>> {
        self.csv.into_inner().map_err(unwritable)
    }
}

fn unwritable(cause: impl std::fmt::Display) -> Error {
    Error::BadInput(format!("the table cannot be written: {cause}"))
}

/// A number as a cell; empty where there is none.
fn cell(value: f64) -> String {
    if value.is_finite() {
        format!("{value}")
    } else {
        String::new()
    }
}

/// A first line for people and programs alike.
fn origin(result: &Sensitivity) -> Vec<u8> {
    match result.synthetic {
        true => b"# synthetic: computed from synthetic data\n".to_vec(),
        false => Vec::new(),
    }
}

/// `indices.csv`: a line an index.
pub(crate) fn indices(result: &Sensitivity) -> Result<Vec<u8>> {
    let mut writer = Writer::new();
    writer.row(COLUMNS)?;
    for output in 0..result.outputs.len() {
        for line in lines(result, output) {
            let of = &result.outputs[output];
            let (curve, x) = match &of.place {
                Some(place) => (place.curve.as_str(), cell(place.x)),
                None => ("", String::new()),
            };
            let Estimate { value, low, high } = line.estimate;
            writer.row([
                line.method,
                line.index,
                line.estimator,
                &of.name,
                &of.unit,
                curve,
                &x,
                line.parameter,
                &cell(value),
                &cell(low),
                &cell(high),
                &line.samples.to_string(),
                line.remark,
            ])?;
        }
    }
    Ok([origin(result), writer.finish()?].concat())
}

/// All indices of an output.
fn lines(result: &Sensitivity, output: usize) -> Vec<TableLine<'_>> {
    let kinds = [local, derivative, morris, sobol];
    let lists = kinds.iter().filter_map(|of| of(result, output));
    lists.flatten().collect()
}

fn exact(value: f64) -> Estimate {
    // A derivative at a point has no sampling error.
    Estimate {
        value,
        low: value,
        high: value,
    }
}

fn local(result: &Sensitivity, output: usize) -> Option<Vec<TableLine<'_>>> {
    let local = result.local.as_ref()?;
    let mut list = Vec::new();
    for (k, factor) in result.factors.iter().enumerate() {
        let pair = [
            ("slope", local.slopes[output][k]),
            ("elasticity", local.elasticities[output][k]),
        ];
        for (index, value) in pair {
            let Some(value) = value else { continue };
            list.push(TableLine {
                method: "local",
                index,
                estimator: "exact",
                parameter: &factor.name,
                estimate: exact(value),
                samples: 1,
                remark: "",
            });
        }
    }
    Some(list)
}

fn derivative(result: &Sensitivity, output: usize) -> Option<Vec<TableLine<'_>>> {
    let derivative = result.derivative.as_ref()?;
    let of = derivative.outputs[output].as_ref()?;
    let line = |index, parameter, estimate| TableLine {
        method: "dgsm",
        index,
        estimator: "exact slopes",
        parameter,
        estimate,
        samples: derivative.points,
        remark: "",
    };
    let mut list = Vec::new();
    for (factor, measure) in result.factors.iter().zip(&of.measures) {
        list.push(line("nu", &factor.name, measure.nu));
        list.push(line("share", &factor.name, measure.share));
    }
    for (group, bound) in result.groups.iter().zip(of.bounds.iter().flatten()) {
        list.push(line("bound", group, *bound));
    }
    Some(list)
}

fn morris(result: &Sensitivity, output: usize) -> Option<Vec<TableLine<'_>>> {
    let morris = result.morris.as_ref()?;
    let mut list = Vec::new();
    for (group, effects) in result.groups.iter().zip(&morris.outputs[output]) {
        let Some(effects) = effects else { continue };
        let all = [
            ("mu_star", Some(effects.mu_star)),
            ("mu", effects.mu),
            ("sigma", effects.sigma),
        ];
        for (index, estimate) in all {
            let Some(estimate) = estimate else { continue };
            list.push(TableLine {
                method: "morris",
                index,
                estimator: "trajectories",
                parameter: group,
                estimate,
                samples: effects.count,
                remark: "",
            });
        }
    }
    Some(list)
}

fn sobol(result: &Sensitivity, output: usize) -> Option<Vec<TableLine<'_>>> {
    let of = result
        .sobol
        .as_ref()
        .and_then(|s| s.outputs[output].as_ref())?;
    let derivative = result.derivative.as_ref();
    let bounds = derivative.and_then(|d| d.outputs[output].as_ref()?.bounds.as_ref());
    let mut list = Vec::new();
    for (k, (name, indices)) in result.sobol_names().into_iter().zip(&of.groups).enumerate() {
        let bound = bounds.and_then(|b| b.get(k));
        for (index, estimator, estimate) in indices.list() {
            let above = index == "total" && bound.is_some_and(|b| estimate.value > b.value);
            list.push(TableLine {
                method: "sobol",
                index,
                estimator,
                parameter: name,
                estimate,
                samples: of.samples,
                remark: if above { "above its bound" } else { "" },
            });
        }
    }
    Some(list)
}

/// `samples.csv`: a line a run.
pub(crate) fn samples(study: &Study, runs: &Runs, result: &Sensitivity) -> Result<Vec<u8>> {
    let mut writer = Writer::new();
    let mut header = vec![
        "method".to_string(),
        "row".into(),
        "role".into(),
        "failure".into(),
    ];
    header.extend(
        result
            .factors
            .iter()
            .map(|f| format!("{} [{}]", f.name, f.unit)),
    );
    header.extend(
        result
            .outputs
            .iter()
            .map(|o| format!("{} [{}]", o.name, o.unit)),
    );
    writer.row(&header)?;
    for (method, row, values) in study.points() {
        let Some(run) = runs.of(method).get(row) else {
            continue;
        };
        let mut cells = vec![
            method.name().to_string(),
            row.to_string(),
            role(study, method, row),
            run.failure.clone().unwrap_or_default(),
        ];
        cells.extend(values.iter().map(|v| cell(*v)));
        let outputs = 0..result.outputs.len();
        cells.extend(outputs.map(|i| run.values.get(i).map_or(String::new(), |v| cell(*v))));
        writer.row(&cells)?;
    }
    Ok([origin(result), writer.finish()?].concat())
}

/// What a run is in its design.
fn role(study: &Study, method: Method, row: usize) -> String {
    let groups = &study.plan.groups;
    match method {
        Method::Local => "nominal".into(),
        Method::Derivative => "point".into(),
        Method::Morris => format!("trajectory {}", row / (groups.len() + 1)),
        Method::Sobol => match row % (groups.len() + 2) {
            0 => "A".into(),
            k if k > groups.len() => "B".into(),
            k => format!("A with {} of B", groups[k - 1].name),
        },
    }
}
