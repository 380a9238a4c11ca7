//! The gradient of a cloth's roll-out with respect to every kind of input, against central differences.

use std::{f64::consts::PI, sync::Arc};

use super::{GradientCase, Reach};
use crate::{
    contact::{Contact, Obstacle, Pose},
    error::Result,
    material::{StrainMeasure, TimeDependent},
    mesh::generate,
    numeric::{Compute, Field, Gate, Precision, Random, TaylorSteps},
    reading::Reading,
    rollout::{
        RolloutPath,
        cloth::{ClothRollout, WatchedReading},
    },
    solve::Solver,
    step::{Cloth, ClothSetup, Damping, Drive, Parameters, State},
};

/// Steps of the roll-out.
pub(crate) const MESH_CHECK_STEPS: usize = 100;
/// Length of a step \[s\].
const SECONDS: f64 = 0.01;
/// Half a decade apart from 10⁻³: larger steps meet a branch of the tension's clamp somewhere.
const SWEEP: TaylorSteps = TaylorSteps {
    first: 1e-3,
    per_decade: 2,
    steps: 7,
};
/// Solves must be better than the differences they are compared with.
const SOLVE: f64 = 1e-13;
/// Largest relative error that passes: a hundred linear solves and few steps of the sweep leave less than laws do.
const TOLERANCE: f64 = 1e-5;
/// Stiffness of the penalty handle \[N/m\].
const GRIP: f64 = 20.0;

/// A sheet with one row pinned and bent by a moving penalty handle on the opposite edge, falling on a sphere;
/// its thresholds are low, so that hinges stick, slip and yield, and triangles too.
pub(crate) struct MeshCheck {
    /// The cloth.
    pub cloth: Cloth,
    /// Its fabric.
    pub parameters: Parameters,
    /// Initial state.
    pub start: State,
    pinned: Vec<usize>,
    held: Vec<usize>,
    memory: usize,
}

/// Everything besides parameters and state that a check perturbs.
#[derive(Debug, Clone, Copy, Default)]
struct Shift {
    handle: f64,
    pin: f64,
    sphere: f64,
}

/// What a derivative is taken of.
enum Input {
    /// A parameter's factor, at 1.
    Parameter(usize),
    /// A multiple of a direction of initial positions or velocities, at 0.
    Positions(Field),
    Velocities(Field),
    /// Amplitudes of motions, at 0.
    Handle,
    Pin,
    Sphere,
}

impl MeshCheck {
    /// The sheet, irregular by `seed`.
    pub(crate) fn new(seed: u64, memory: usize) -> Result<MeshCheck> {
        let compute = Compute::cpu(Precision::F64);
        let pattern = generate::Pattern::Irregular { seed };
        let mesh = generate::rectangle(0.1, 0.06, 7, 4, pattern)?;
        let at = |x: f64| {
            let near = |p: &[f64; 3]| (p[0] - x).abs() < 1e-9;
            let all = mesh.positions.iter().enumerate();
            all.filter(|(_, p)| near(p))
                .map(|(v, _)| v)
                .collect::<Vec<_>>()
        };
        let (pinned, held) = (at(0.0), at(0.1));
        let setup = ClothSetup {
            law: Arc::new(TimeDependent::default()),
            strain: StrainMeasure::Angle,
            gate: Gate::Smoothstep { width: 0.05 },
            tensile_gate: Gate::Smoothstep { width: 0.004 },
            tension_softness: 1e-4,
            gravity: [0.0, 0.0, -9.81],
            damping: Damping {
                stiffness: 2e-3,
                mass: 2.0,
            },
            contacts: vec![Contact {
                obstacle: Obstacle::Sphere { radius: 0.03 },
                thickness: 0.004,
                stiffness: 30.0,
                friction: 0.3,
            }],
            rest_is_curved: false,
        };
        let one = |v: f64| compute.tensor(&[v], [1, 1]);
        let three = |v: [f64; 3]| compute.tensor(&v, [3, 1]);
        let bending = [2e-5, 3e-5, 0.03, 0.2, 0.3, 0.15, 2e-5, 0.6, 0.5];
        let parameters = Parameters {
            bending: bending.map(one).to_vec(),
            weft_ratio: one(1.4),
            membrane: crate::element::Stiffness {
                warp: one(30.0),
                coupling: one(5.0),
                weft: one(20.0),
                shear: one(10.0),
            },
            tensile: vec![
                three([10.0, 8.0, 3.0]),
                three([0.002, 0.002, 0.003]),
                three([0.02, 0.015, 0.02]),
                three([0.3, 0.4, 0.3]),
                three([0.01, 0.012, 0.008]),
                three([10.0, 8.0, 3.0]),
                three([0.5, 0.5, 0.5]),
                three([0.4, 0.5, 0.6]),
            ],
            density: one(0.1),
        };
        let cloth = Cloth::new(mesh, setup, &compute)?;
        let mut start = cloth.start(&parameters);
        // With a little strain and a bend, so that every term of the step is there from the start.
        let bumped = |p: &[f64; 3]| [1.003 * p[0], 1.002 * p[1], 0.004 * (40.0 * p[0]).sin()];
        let bumped: Vec<[f64; 3]> = cloth.mesh.positions.iter().map(bumped).collect();
        start.positions = cloth.vertex_tensor(&bumped);
        Ok(MeshCheck {
            cloth,
            parameters,
            start,
            pinned,
            held,
            memory,
        })
    }

    /// Runs forward; `visit` sees every state.
    #[cfg(test)]
    pub(crate) fn watch(&self, mut visit: impl FnMut(usize, &State)) -> Result<()> {
        let drive = |k: usize| self.drive(k, Shift::default());
        let rollout = self.rollout(&drive);
        let see = |passed: &crate::rollout::cloth::Passed| {
            visit(passed.done, passed.state);
            Ok(())
        };
        rollout.forward(&mut self.solver()?, &self.start, &self.parameters, see)?;
        Ok(())
    }

    fn solver(&self) -> Result<Solver> {
        let cloth = &self.cloth;
        let solver = Solver::new(&cloth.mesh, &cloth.topology, &cloth.compute)?;
        Ok(solver.with_tolerance(SOLVE))
    }

    fn rollout<'a>(&'a self, drive: &'a dyn Fn(usize) -> Drive) -> ClothRollout<'a> {
        ClothRollout {
            cloth: &self.cloth,
            drive,
            steps: MESH_CHECK_STEPS,
            memory: self.memory,
        }
    }

    /// Readings of different kinds on the way and at the end, of order one together.
    fn watches(&self) -> Vec<WatchedReading> {
        let up = [0.0, 0.0, 1.0];
        let watch = |after, reading, weight| WatchedReading {
            after,
            reading,
            weight,
        };
        let last = MESH_CHECK_STEPS;
        let torque = Reading::HandleTorque {
            vertices: self.held.clone(),
            axis: [0.0, 1.0, 0.0],
            about: [0.05, 0.0, 0.0],
        };
        vec![
            watch(last / 2, Reading::MeanHeight { axis: up }, 10.0),
            watch(last, Reading::RmsHeight { axis: up }, 10.0),
            watch(last, Reading::TotalAngle, 0.02),
            watch(last, Reading::BendingEnergy, 1e3),
            watch(last / 2, torque, 10.0),
        ]
    }

    /// How far the handle has come in a step: down and inwards, and half way back.
    fn progress(step: usize) -> f64 {
        let phase = (step + 1) as f64 / MESH_CHECK_STEPS as f64;
        (1.4 * PI * phase).sin()
    }

    fn drive(&self, step: usize, shift: Shift) -> Drive {
        let mut drive = self.cloth.free_drive(SECONDS);
        let count = self.cloth.vertices();
        let (mut grip, mut free) = (vec![0.0; count], vec![1.0; count]);
        let mut anchors = self.cloth.mesh.positions.clone();
        let progress = Self::progress(step);
        for &v in &self.held {
            grip[v] = GRIP;
            anchors[v][0] -= 0.05 * progress * (1.0 + shift.handle);
            anchors[v][2] += 0.02 * progress * (1.0 + shift.handle);
        }
        for &v in &self.pinned {
            free[v] = 0.0;
            anchors[v][2] += 0.01 * progress * (1.0 + shift.pin);
        }
        let compute = &self.cloth.compute;
        drive.grip = compute.tensor(&grip, [1, count]);
        drive.free = compute.tensor(&free, [1, count]);
        drive.pinned = true;
        drive.anchors = self.cloth.vertex_tensor(&anchors);
        drive.material_seconds = 3.0 * SECONDS;
        let center = [0.05, 0.03, -0.033 + 0.01 * shift.sphere];
        drive.obstacles = vec![Pose {
            center: compute.tensor(&center, [3, 1]),
            velocity: compute.tensor(&[0.02, 0.0, 0.0], [3, 1]),
        }];
        drive
    }

    /// The objective with an input moved to `x`.
    fn value(&self, input: &Input, x: f64) -> Result<(f64, f64)> {
        let (mut parameters, mut start) = (self.parameters.clone(), self.start.clone());
        let mut shift = Shift::default();
        match input {
            Input::Parameter(moved) => {
                let mut k = 0;
                parameters = parameters.map(|field| {
                    k += 1;
                    if k - 1 == *moved {
                        field.clone() * x
                    } else {
                        field.clone()
                    }
                });
                start = State {
                    positions: start.positions,
                    ..self.cloth.start(&parameters)
                };
            }
            Input::Positions(along) => {
                start.positions = start.positions + along.clone() * x;
            }
            Input::Velocities(along) => {
                start.velocities = start.velocities + along.clone() * x;
            }
            Input::Handle => shift.handle = x,
            Input::Pin => shift.pin = x,
            Input::Sphere => shift.sphere = x,
        }
        let drive = |k: usize| self.drive(k, shift);
        let watches = self.watches();
        let rollout = self.rollout(&drive);
        let read = rollout.read(&mut self.solver()?, &start, &parameters, &watches)?;
        let terms = read.iter().zip(&watches).map(|(r, w)| r * w.weight);
        Ok((terms.clone().sum(), terms.map(f64::abs).sum()))
    }

    /// Every kind of input with its derivative, from one sweep.
    fn derivatives(&self, seed: u64) -> Result<Vec<(String, f64, Input, f64)>> {
        let drive = |k: usize| self.drive(k, Shift::default());
        let rollout = self.rollout(&drive);
        let watches = self.watches();
        let compute = &self.cloth.compute;
        let (mut handle, mut pin, mut sphere) = (0.0, 0.0, 0.0);
        let (mut solver, start) = (self.solver()?, &self.start);
        let back = rollout.gradient_of_all(
            &mut solver,
            start,
            &self.parameters,
            &watches,
            |step, of| {
                let anchors = self.cloth.vertex_values(&of.anchors)?;
                let progress = Self::progress(step);
                for &v in &self.held {
                    handle += progress * (-0.05 * anchors[v][0] + 0.02 * anchors[v][2]);
                }
                for &v in &self.pinned {
                    pin += 0.01 * progress * anchors[v][2];
                }
                sphere += 0.01 * compute.values(of.centers[0].clone())?[2];
                Ok(())
            },
        )?;
        let total = back.since_virgin(&self.cloth, &self.parameters);
        let product = |a: &Field, b: &Field| -> Result<f64> {
            Ok(compute.values((a.clone() * b.clone()).sum())?[0])
        };
        let mut list = Vec::new();
        let names = self.parameters.names(&self.cloth.setup.law);
        let pairs = self.parameters.list().into_iter().zip(total.list());
        for (k, (name, (value, gradient))) in names.into_iter().zip(pairs).enumerate() {
            list.push((name, 1.0, Input::Parameter(k), product(value, gradient)?));
        }
        let mut random = Random(seed);
        let mut direction = |size: f64| {
            let values = (0..3 * self.cloth.vertices()).map(|_| size * random.normal());
            compute.tensor(&values.collect::<Vec<_>>(), [3, self.cloth.vertices()])
        };
        let (positions, velocities) = (direction(1e-3), direction(0.1));
        let by_position = product(&back.start.positions, &positions)?;
        let by_velocity = product(&back.start.velocities, &velocities)?;
        list.push((
            "initial positions".into(),
            0.0,
            Input::Positions(positions),
            by_position,
        ));
        list.push((
            "initial velocities".into(),
            0.0,
            Input::Velocities(velocities),
            by_velocity,
        ));
        list.push(("handle motion".into(), 0.0, Input::Handle, handle));
        list.push(("pin motion".into(), 0.0, Input::Pin, pin));
        list.push(("obstacle position".into(), 0.0, Input::Sphere, sphere));
        Ok(list)
    }
}

/// Checks every kind of input of a 100-step roll-out and hands each case to `visit`.
pub(crate) fn mesh_gradient_cases(seed: u64, mut visit: impl FnMut(GradientCase)) -> Result<()> {
    let check = MeshCheck::new(seed, crate::rollout::cloth::MEMORY)?;
    for (name, x, input, derivative) in check.derivatives(seed)? {
        let values = SWEEP
            .probes(x)
            .into_iter()
            .map(|x| check.value(&input, x))
            .collect::<Result<Vec<_>>>()?;
        let size = values[0].1;
        let sums: Vec<f64> = values.iter().map(|v| v.0).collect();
        visit(GradientCase {
            law: "time_dependent",
            gate: "smoothstep",
            test: "mesh, 100 steps",
            path: RolloutPath::Plain,
            parameter: name,
            reach: Reach::Smooth,
            tolerance: TOLERANCE,
            check: SWEEP.judge(x, derivative, size, &sums),
        });
    }
    Ok(())
}
