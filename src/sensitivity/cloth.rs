//! A scene as a model: the fabric's parameters are varied, the readings of the run are read.

mod factors;

use serde_json::{Value, json};

use factors::Varied;

use super::{
    factor::Factor,
    laboratory::Vary,
    model::{Model, ModelRun, Output, Place},
};
use crate::{
    error::{Error, Result},
    numeric::Compute,
    rollout::cloth::{ClothRollout, Passed, Recording, WatchedReading},
    scene::{
        PreparedScene, Scene,
        run::{angle_sizes, read_all},
    },
    solve::Solver,
    step::State,
};

/// Moments along a run at which readings are taken, the last at its end.
const MOMENTS: usize = 10;
/// A measurement of a mesh has no spread of its own: this share of the reading is taken.
const ASSUMED_SD: f64 = 0.05;
/// Strains below this are rounding: the hinge has neither slipped nor yielded.
const ROUNDING: f64 = 1e-12;

/// A scene and what is varied in it.
pub(crate) struct ClothModel {
    prepared: PreparedScene,
    varied: Varied,
    outputs: Vec<Output>,
    /// Steps after which the readings are taken, increasing.
    moments: Vec<usize>,
}

/// What is asked for; what is not said follows from the scene.
#[derive(Debug, Clone, Default)]
pub(crate) struct ClothWish {
    /// Distributions by the parameter's name.
    pub vary: Vec<(String, Vary)>,
    /// Vary these only.
    pub only: Vec<String>,
}

impl ClothModel {
    /// The scene with its parameters from half to twice their values, unless `wish` says otherwise.
    pub(crate) fn new(scene: &Scene, compute: &Compute, wish: &ClothWish) -> Result<ClothModel> {
        let prepared = scene.prepare(compute)?;
        let steps = scene.clock.steps;
        let mut moments: Vec<usize> = (1..=MOMENTS).map(|k| steps * k / MOMENTS).collect();
        moments.retain(|k| *k > 0);
        moments.dedup();
        Ok(ClothModel {
            varied: Varied::new(&prepared, wish)?,
            outputs: outputs(scene, &moments),
            prepared,
            moments,
        })
    }

    /// What was assumed, a sentence each.
    pub(crate) fn notes(&self) -> Vec<String> {
        let mut notes = self.varied.notes.clone();
        notes.push(format!(
            "Readings of a mesh have no measured spread: {} % of each is assumed for the Fisher information.",
            100.0 * ASSUMED_SD
        ));
        notes.extend(self.prepared.words.iter().map(|w| format!("mesh: {w}")));
        notes
    }

    fn one(&self, point: &[f64], full: bool) -> Result<ModelRun> {
        let prepared = PreparedScene {
            parameters: self.varied.apply(&self.prepared, point),
            ..self.prepared.clone()
        };
        match self.simulate(&prepared, full) {
            // The run itself: another one may succeed.
            Err(Error::CheckFailed(why)) => Ok(ModelRun::failed(first_sentence(&why))),
            Err(failed) if failed.is_failed_run() => {
                Ok(ModelRun::failed(first_sentence(&failed.to_string())))
            }
            done_or_hopeless => done_or_hopeless,
        }
    }

    /// The outputs of a run, and their slopes where `full`: by going back through the very steps that gave the
    /// outputs.
    fn simulate(&self, prepared: &PreparedScene, full: bool) -> Result<ModelRun> {
        let drive = |step: usize| prepared.drive(step);
        let rollout = prepared.rollout(&drive);
        let (start, parameters) = (prepared.start(), &prepared.parameters);
        let mut solver = prepared.solver()?;
        let mut along: Vec<Vec<f64>> = Vec::new();
        let see = |passed: &Passed| {
            if self.moments.contains(&passed.done) {
                along.push(read_all(prepared, passed.state, passed.drive)?);
            }
            Ok(())
        };
        if !full {
            let last = rollout.forward(&mut solver, &start, parameters, see)?;
            return Ok(ModelRun {
                values: self.values(&along, &last)?,
                ..ModelRun::default()
            });
        }
        let recording = rollout.record(&mut solver, &start, parameters, see)?;
        Ok(ModelRun {
            values: self.values(&along, recording.last())?,
            slopes: self.slopes(prepared, &rollout, &recording, &solver)?,
            ..ModelRun::default()
        })
    }

    /// The outputs from the readings at the moments and the last state.
    fn values(&self, along: &[Vec<f64>], last: &State) -> Result<Vec<f64>> {
        let Some(at_end) = along.last() else {
            return Err(Error::CheckFailed("the scene has no step to read".into()));
        };
        let mut values = at_end.clone();
        let cloth = &self.prepared.cloth;
        let (largest, rms) = angle_sizes(cloth, &cloth.vertex_values(&last.positions)?);
        values.extend([largest.to_degrees(), rms.to_degrees()]);
        for name in ["anchor", "plastic"] {
            values.push(self.share(last, name)?);
        }
        // A curve a reading.
        for reading in 0..self.prepared.readings.len() {
            values.extend(along.iter().map(|row| row[reading]));
        }
        match values.iter().position(|v| !v.is_finite()) {
            None => Ok(values),
            Some(i) => Err(Error::CheckFailed(format!(
                "{} is not a number",
                self.outputs[i].name
            ))),
        }
    }

    /// Share of hinges of which a history variable has left its start; 0 for a law that has none.
    fn share(&self, state: &State, name: &str) -> Result<f64> {
        let cloth = &self.prepared.cloth;
        let Some(variable) = cloth.setup.law.variable(&state.bending, name) else {
            return Ok(0.0);
        };
        let values = cloth.compute.values(variable)?;
        let moved = values.iter().filter(|v| v.abs() > ROUNDING).count();
        Ok(moved as f64 / values.len().max(1) as f64)
    }

    /// Slopes of the readings at the end, by one reverse sweep each through the recorded run; NaN for outputs that
    /// have none. `solver` is as the run left it.
    fn slopes(
        &self,
        prepared: &PreparedScene,
        rollout: &ClothRollout,
        recording: &Recording,
        solver: &Solver,
    ) -> Result<Vec<f64>> {
        let k = self.varied.factors.len();
        let mut slopes = vec![f64::NAN; self.outputs.len() * k];
        let (cloth, parameters) = (&prepared.cloth, &prepared.parameters);
        for (i, reading) in prepared.readings.iter().enumerate() {
            let watch = WatchedReading {
                after: rollout.steps,
                reading: reading.clone(),
                weight: 1.0,
            };
            // Every sweep starts from the same factor, so that a slope does not depend on the other readings.
            let mut solver = solver.clone();
            let back =
                rollout.reverse(&mut solver, recording, parameters, &[watch], |_, _| Ok(()))?;
            let of = back.since_virgin(cloth, parameters);
            let row = self.varied.slopes(&of, &cloth.compute)?;
            slopes[i * k..(i + 1) * k].copy_from_slice(&row);
        }
        Ok(slopes)
    }
}

fn first_sentence(text: &str) -> &str {
    text.split(". ").next().unwrap_or(text)
}

/// Readings at the end, angles and shares of hinges at the end, then readings along the run.
fn outputs(scene: &Scene, moments: &[usize]) -> Vec<Output> {
    let last = |name: &str, unit: &str| Output {
        name: format!("{name} at the end"),
        unit: unit.into(),
        place: None,
    };
    let mut list: Vec<Output> = scene
        .readings
        .iter()
        .map(|r| last(&r.name, r.unit()))
        .collect();
    list.extend([
        last("largest angle", "°"),
        last("rms angle", "°"),
        last("share of hinges that have slipped", "1"),
        last("share of hinges that have yielded", "1"),
    ]);
    for reading in &scene.readings {
        list.extend(moments.iter().map(|step| {
            let seconds = *step as f64 * scene.clock.step;
            Output {
                name: format!("{} at {seconds:.6} s", reading.name),
                unit: reading.unit().into(),
                place: Some(Place {
                    curve: reading.name.clone(),
                    x: seconds,
                    axis: "time [s]".into(),
                }),
            }
        }));
    }
    list
}

impl Model for ClothModel {
    fn identity(&self) -> Value {
        let positions = &self.prepared.cloth.mesh.positions;
        let bytes = positions.iter().flatten().flat_map(|x| x.to_le_bytes());
        json!({
            "scene": self.prepared.scene.to_json(),
            "mesh": crate::files::fingerprint(bytes),
            "base": self.varied.base,
            "device": self.prepared.cloth.compute.describe(),
        })
    }

    fn factors(&self) -> &[Factor] {
        &self.varied.factors
    }

    fn outputs(&self) -> &[Output] {
        &self.outputs
    }

    fn chunk(&self) -> usize {
        1
    }

    fn run(&self, points: &[Vec<f64>], full: bool) -> Result<Vec<ModelRun>> {
        points.iter().map(|p| self.one(p, full)).collect()
    }

    fn measurements(&self, nominal: &[f64]) -> Vec<(usize, f64)> {
        let readings = nominal.iter().take(self.prepared.readings.len());
        let spread = |(i, value): (usize, &f64)| (i, ASSUMED_SD * value.abs());
        readings.enumerate().map(spread).collect()
    }
}

#[cfg(test)]
mod tests;
