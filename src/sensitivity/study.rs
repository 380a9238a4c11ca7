//! A study: which runs the methods need, cut into tasks that any machine can do.

mod runs;

use serde_json::{Value, json};

use runs::{decode, encode};

use super::{
    factor::Group,
    model::{Model, ModelRun},
    sample::{self, Trajectory},
};
use crate::{
    error::{Result, bad_input},
    files::words,
    study::{Task, Tasks, Work},
};

/// A way to measure sensitivity, in the order in which they run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Method {
    /// Derivatives at the nominal parameters.
    Local,
    /// Averages of derivatives over the ranges, active subspaces.
    Derivative,
    /// Elementary effects.
    Morris,
    /// Shares of the variance.
    Sobol,
}

words!(Method {
    Local = "local",
    Derivative = "dgsm",
    Morris = "morris",
    Sobol = "sobol"
});

impl Method {
    /// Whether its runs need slopes.
    fn is_full(self) -> bool {
        matches!(self, Method::Local | Method::Derivative)
    }
}

/// How large a study is.
#[derive(Debug, Clone, PartialEq)]
pub struct StudyPlan {
    /// What is done, in the order of [`Method::ALL`].
    pub methods: Vec<Method>,
    /// What moves together.
    pub groups: Vec<Group>,
    /// Of all designs and resamples.
    pub seed: u64,
    /// Base samples of the Sobol' indices, each with one run more than groups plus one.
    pub samples: usize,
    /// Morris' trajectories.
    pub trajectories: usize,
    /// Points at which derivatives are taken.
    pub points: usize,
}

/// The runs of one method.
struct Stage {
    method: Method,
    /// Values of the factors, a row a run.
    points: Vec<Vec<f64>>,
}

/// A model and the runs that are made of it.
pub struct Study<'a> {
    /// What is run.
    pub model: &'a dyn Model,
    /// How much of it.
    pub plan: StudyPlan,
    /// Of the method of Morris.
    pub trajectories: Vec<Trajectory>,
    stages: Vec<Stage>,
}

/// All runs of a study, in the order of its designs.
pub struct Runs {
    stages: Vec<(Method, Vec<ModelRun>)>,
}

impl Runs {
    /// The runs of a method; empty where it was not asked for.
    pub fn of(&self, method: Method) -> &[ModelRun] {
        let found = self.stages.iter().find(|(m, _)| *m == method);
        found.map_or(&[], |(_, runs)| runs)
    }
}

impl<'a> Study<'a> {
    /// Lays out all runs.
    ///
    /// # Errors
    /// More factors than Sobol's sequence has dimensions.
    pub fn new(model: &'a dyn Model, plan: StudyPlan) -> Result<Study<'a>> {
        let factors = model.factors();
        let k = factors.len();
        let values = |unit: &Vec<f64>| -> Vec<f64> {
            let pairs = unit.iter().zip(factors);
            pairs.map(|(u, f)| f.distribution.quantile(*u)).collect()
        };
        let trajectories = match plan.methods.contains(&Method::Morris) {
            true => sample::trajectories(factors, &plan.groups, plan.trajectories, plan.seed),
            false => Vec::new(),
        };
        let stage = |method: &Method| {
            let points = match method {
                Method::Local => vec![factors.iter().map(|f| f.nominal).collect()],
                Method::Derivative => {
                    let units = sample::even(k, plan.points, plan.seed)?;
                    units.iter().map(values).collect()
                }
                Method::Morris => {
                    let units = trajectories.iter().flat_map(|t| &t.points);
                    units.map(values).collect()
                }
                Method::Sobol => {
                    let units = sample::saltelli(k, &plan.groups, plan.samples, plan.seed)?;
                    units.iter().map(values).collect()
                }
            };
            Ok(Stage {
                method: *method,
                points,
            })
        };
        Ok(Study {
            stages: plan.methods.iter().map(stage).collect::<Result<_>>()?,
            model,
            plan,
            trajectories,
        })
    }

    /// How many runs there are.
    pub fn size(&self) -> usize {
        self.stages.iter().map(|s| s.points.len()).sum()
    }

    /// Method, place in the design and values of every run.
    pub fn points(&self) -> impl Iterator<Item = (Method, usize, &[f64])> {
        self.stages.iter().flat_map(|stage| {
            let rows = stage.points.iter().enumerate();
            rows.map(|(i, values)| (stage.method, i, values.as_slice()))
        })
    }

    /// Values of the factors at the points of a method.
    pub fn points_of(&self, method: Method) -> &[Vec<f64>] {
        let found = self.stages.iter().find(|s| s.method == method);
        found.map_or(&[], |s| &s.points)
    }

    /// Stage, first and last row of every task.
    fn pieces(&self) -> Vec<(usize, usize, usize)> {
        let chunk = self.model.chunk();
        let mut pieces = Vec::new();
        for (stage, Stage { points, .. }) in self.stages.iter().enumerate() {
            let count = points.len();
            let starts = (0..count).step_by(chunk);
            pieces.extend(starts.map(|first| (stage, first, (first + chunk).min(count))));
        }
        pieces
    }

    /// The runs from the results of all tasks.
    pub fn gather(&self, results: &[Value]) -> Result<Runs> {
        let mut stages: Vec<(Method, Vec<ModelRun>)> =
            self.stages.iter().map(|s| (s.method, Vec::new())).collect();
        for ((stage, first, last), value) in self.pieces().into_iter().zip(results) {
            let runs = decode(value, self.model, last - first);
            let Some(runs) = runs else {
                return bad_input(format!(
                    "the journal's result of {} rows {first} to {last} cannot be read: written by another version; start again in another folder",
                    self.stages[stage].method.name()
                ));
            };
            stages[stage].1.extend(runs);
        }
        Ok(Runs { stages })
    }
}

impl Tasks for Study<'_> {
    fn study(&self) -> &'static str {
        "sensitivity"
    }

    fn identity(&self) -> Value {
        // Not how many: a study that wants more samples keeps those it has.
        json!({
            "model": self.model.identity(),
            "factors": self.model.factors(),
            "outputs": self.model.outputs(),
            "groups": self.plan.groups,
            "chunk": self.model.chunk(),
            "seed": self.plan.seed,
        })
    }

    fn names(&self) -> Vec<String> {
        let name = |(stage, first, last): (usize, usize, usize)| {
            format!("{} rows {first}..{last}", self.stages[stage].method.name())
        };
        self.pieces().into_iter().map(name).collect()
    }
}

impl Work for Study<'_> {
    fn run(&self, _: &Task, index: usize) -> Result<Value> {
        let (stage, first, last) = self.pieces()[index];
        let Stage { method, points } = &self.stages[stage];
        let runs = self.model.run(&points[first..last], method.is_full())?;
        Ok(encode(&runs, self.model))
    }
}
