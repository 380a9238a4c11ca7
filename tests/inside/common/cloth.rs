//! Cloths for tests: random states in which every branch is taken, one step as a function of its inputs.

use std::sync::Arc;

use rumple::{
    contact::Pose,
    element::Stiffness,
    material::{Elastic, Law, StrainMeasure, TimeDependent},
    mesh::{
        Mesh,
        generate::{Pattern, rectangle},
    },
    numeric::{Compute, Field, Gate, GradientCheck, Random, judge, probes},
    solve::Solver,
    step::{Cloth, ClothSetup, Damping, Drive, Parameters, State, StepGradient},
};

use super::cpu;

/// The solver of all tests of the mesh step, solved as far as f64 goes.
pub fn solver(cloth: &Cloth) -> Solver {
    let solver = Solver::new(&cloth.mesh, &cloth.topology, &cloth.compute).unwrap();
    solver.with_tolerance(1e-13)
}

/// Seeded numbers between −1 and 1.
pub struct Dice(Random);

impl Dice {
    pub fn new(seed: u64) -> Dice {
        Dice(Random(seed))
    }

    pub fn one(&mut self) -> f64 {
        2.0 * self.0.uniform() - 1.0
    }

    pub fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.0.uniform()
    }

    pub fn vector(&mut self, scale: [f64; 3]) -> [f64; 3] {
        scale.map(|s| s * self.one())
    }

    /// A field between `low` and `high`.
    pub fn field(
        &mut self,
        compute: &Compute,
        shape: [usize; 2],
        (low, high): (f64, f64),
    ) -> Field {
        let values: Vec<f64> = (0..shape[0] * shape[1])
            .map(|_| self.between(low, high))
            .collect();
        compute.tensor(&values, shape)
    }
}

/// Elastic hinges, no gravity, no damping, nothing to touch.
pub fn elastic_setup() -> ClothSetup {
    ClothSetup {
        law: Arc::new(Elastic),
        strain: StrainMeasure::Curvature,
        gate: Gate::Hard,
        tensile_gate: Gate::Hard,
        tension_softness: 0.0,
        gravity: [0.0; 3],
        damping: Damping::default(),
        contacts: Vec::new(),
        rest_is_curved: false,
    }
}

/// The same with the law that remembers.
pub fn remembering_setup() -> ClothSetup {
    ClothSetup {
        law: Arc::new(TimeDependent::default()),
        ..elastic_setup()
    }
}

/// One number for the whole cloth.
pub fn one(value: f64) -> Field {
    cpu().tensor(&[value], [1, 1])
}

/// Warp, coupling, weft and shear stiffness \[N/m\].
pub fn membrane([warp, coupling, weft, shear]: [f64; 4]) -> Stiffness {
    Stiffness {
        warp: one(warp),
        coupling: one(coupling),
        weft: one(weft),
        shear: one(shear),
    }
}

/// Parameters of an elastic membrane of 0.06 kg/m², about that of the golden scenes, and the given hinges.
pub fn parameters(bending: &[f64]) -> Parameters {
    Parameters {
        bending: bending.iter().copied().map(one).collect(),
        weft_ratio: one(1.0),
        membrane: membrane([50.0, 5.0, 40.0, 30.0]),
        tensile: Vec::new(),
        density: one(0.06),
    }
}

/// Tensile friction and plasticity of the golden probe, rows uu, vv, uv.
pub fn tensile() -> Vec<Field> {
    let rows = [
        [200.0, 200.0, 5.0],
        [0.005; 3],
        [0.05; 3],
        [30.0; 3],
        [0.033; 3],
        [10.0, 10.0, 5.0],
        [0.5; 3],
        [30.0; 3],
    ];
    rows.map(|r| cpu().tensor(&r, [3, 1])).to_vec()
}

/// The cells of a small sheet are a centimetre wide.
pub const CELL: f64 = 0.01;

/// A small sheet.
pub fn sheet(nx: usize, ny: usize, pattern: Pattern) -> Mesh {
    rectangle(nx as f64 * CELL, ny as f64 * CELL, nx, ny, pattern).unwrap()
}

/// The positions of a mesh, each moved at random by up to `scale` \[m\].
pub fn crumpled(mesh: &Mesh, dice: &mut Dice, scale: [f64; 3]) -> Vec<[f64; 3]> {
    let moved = |p: &[f64; 3]| {
        let d = dice.vector(scale);
        [p[0] + d[0], p[1] + d[1], p[2] + d[2]]
    };
    mesh.positions.iter().map(moved).collect()
}

/// A cloth in the midst of things: all inputs of one step.
#[derive(Clone)]
pub struct Specimen {
    pub cloth: Cloth,
    pub state: State,
    pub parameters: Parameters,
    pub drive: Drive,
}

/// One input of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Input {
    Positions,
    Velocities,
    Bending(usize),
    Tensile(usize),
    Parameter(usize),
    Anchors,
    Center(usize),
}

impl Specimen {
    /// Every input of the step with its name.
    pub fn inputs(&self) -> Vec<(String, Input)> {
        let mut list = vec![
            ("positions".into(), Input::Positions),
            ("velocities".into(), Input::Velocities),
            ("anchors".into(), Input::Anchors),
        ];
        let history = self.cloth.setup.law.history();
        for (i, name) in history.into_iter().enumerate() {
            list.push((format!("history {name}"), Input::Bending(i)));
        }
        for (i, name) in TimeDependent::default().history().into_iter().enumerate() {
            if i < self.state.tensile.len() {
                list.push((format!("tensile history {name}"), Input::Tensile(i)));
            }
        }
        let names = self.parameters.names(&self.cloth.setup.law);
        for (i, name) in names.into_iter().enumerate() {
            list.push((name, Input::Parameter(i)));
        }
        for i in 0..self.drive.obstacles.len() {
            list.push((format!("centre {i}"), Input::Center(i)));
        }
        list
    }

    pub fn read(&self, input: Input) -> Field {
        match input {
            Input::Positions => self.state.positions.clone(),
            Input::Velocities => self.state.velocities.clone(),
            Input::Bending(i) => self.state.bending[i].clone(),
            Input::Tensile(i) => self.state.tensile[i].clone(),
            Input::Parameter(i) => self.parameters.list()[i].clone(),
            Input::Anchors => self.drive.anchors.clone(),
            Input::Center(i) => self.drive.obstacles[i].center.clone(),
        }
    }

    /// The same specimen with one input replaced.
    pub fn with(&self, input: Input, value: Field) -> Specimen {
        let mut new = self.clone();
        match input {
            Input::Positions => new.state.positions = value,
            Input::Velocities => new.state.velocities = value,
            Input::Bending(i) => new.state.bending[i] = value,
            Input::Tensile(i) => new.state.tensile[i] = value,
            Input::Parameter(place) => {
                let mut at = 0;
                new.parameters = new.parameters.map(|p| {
                    at += 1;
                    if at == place + 1 {
                        value.clone()
                    } else {
                        p.clone()
                    }
                });
            }
            Input::Anchors => new.drive.anchors = value,
            Input::Center(i) => {
                new.drive.obstacles[i] = Pose {
                    center: value,
                    velocity: new.drive.obstacles[i].velocity.clone(),
                }
            }
        }
        new
    }

    /// The gradient of one input out of those of a step.
    pub fn gradient(input: Input, all: &StepGradient) -> Field {
        match input {
            Input::Positions => all.state.positions.clone(),
            Input::Velocities => all.state.velocities.clone(),
            Input::Bending(i) => all.state.bending[i].clone(),
            Input::Tensile(i) => all.state.tensile[i].clone(),
            Input::Parameter(i) => all.parameters.list()[i].clone(),
            Input::Anchors => all.anchors.clone(),
            Input::Center(i) => all.centers[i].clone(),
        }
    }

    /// The state after the step.
    pub fn advance(&self) -> State {
        let mut solver = solver(&self.cloth);
        let next = self
            .cloth
            .advance(&mut solver, &self.state, &self.parameters, &self.drive);
        next.unwrap().state
    }

    pub fn values(&self, field: &Field) -> Vec<f64> {
        self.cloth.compute.values(field.clone()).unwrap()
    }
}

/// J = Σ w·y + ½·y² over all numbers y of a state, each field in units of its own size.
pub struct Objective {
    weights: State,
    scales: Vec<f64>,
}

impl Objective {
    pub fn new(specimen: &Specimen, dice: &mut Dice) -> Objective {
        let after = specimen.advance();
        let scales = after
            .list()
            .into_iter()
            .map(|f| largest(&specimen.values(f)))
            .collect();
        let compute = &specimen.cloth.compute;
        let mut random = |f: &Field| dice.field(compute, f.dims(), (-1.0, 1.0));
        let weights = State {
            positions: random(&after.positions),
            velocities: random(&after.velocities),
            bending: after.bending.iter().map(&mut random).collect(),
            tensile: after.tensile.iter().map(&mut random).collect(),
        };
        Objective { weights, scales }
    }

    /// J and the sum of the sizes of its terms.
    pub fn value(&self, compute: &Compute, state: &State) -> (f64, f64) {
        let (mut sum, mut size) = (0.0, 0.0);
        for ((y, w), scale) in state
            .list()
            .into_iter()
            .zip(self.weights.list())
            .zip(&self.scales)
        {
            let numbers = |f: &Field| compute.values(f.clone()).unwrap();
            for (y, w) in numbers(y).into_iter().zip(numbers(w)) {
                let term = w * y / scale + 0.5 * (y / scale).powi(2);
                sum += term;
                size += term.abs();
            }
        }
        (sum, size)
    }

    /// ∂J/∂state.
    pub fn adjoint(&self, state: &State) -> State {
        let mut scales = self.scales.iter();
        let mut pair = |y: &Field, w: &Field| {
            let scale = *scales.next().unwrap();
            w.clone() / scale + y.clone() / (scale * scale)
        };
        let positions = pair(&state.positions, &self.weights.positions);
        let velocities = pair(&state.velocities, &self.weights.velocities);
        let mut list = |y: &[Field], w: &[Field]| -> Vec<Field> {
            y.iter().zip(w).map(|(y, w)| pair(y, w)).collect()
        };
        State {
            positions,
            velocities,
            bending: list(&state.bending, &self.weights.bending),
            tensile: list(&state.tensile, &self.weights.tensile),
        }
    }
}

/// Steps of the sweep that are taken, 10⁻² down to 10⁻⁶ of the reach: below, solves leave only rounding.
const STEPS: usize = 25;

/// Checks the gradient of one input along a random direction with entries up to `reach`.
pub fn check(
    specimen: &Specimen,
    objective: &Objective,
    all: &StepGradient,
    (input, reach): (Input, f64),
    dice: &mut Dice,
) -> GradientCheck {
    let compute = &specimen.cloth.compute;
    let centre = specimen.read(input);
    let direction = match centre.dims() {
        // A single number is moved by up to 5 %: what 1 % of some does beyond first order is rounding.
        [1, 1] => centre.ones_like() * (5.0 * reach),
        shape => dice.field(compute, shape, (-1.0, 1.0)) * reach,
    };
    let gradient = Specimen::gradient(input, all);
    assert_eq!(gradient.dims(), centre.dims(), "{input:?}");
    let derivative: f64 = specimen
        .values(&(gradient * direction.clone()))
        .iter()
        .sum();
    let mut size = 0.0;
    let at = |s: f64| {
        let moved = specimen.with(input, centre.clone() + direction.clone() * s);
        let (value, terms) = objective.value(compute, &moved.advance());
        size = terms;
        value
    };
    let sweep = probes(0.0).into_iter().take(1 + 2 * STEPS);
    let values: Vec<f64> = sweep.map(at).collect();
    judge(0.0, derivative, size, &values)
}

/// max |v|.
pub fn largest(values: &[f64]) -> f64 {
    values.iter().fold(0.0, |m, v| m.max(v.abs()))
}

/// max |a − b| / max |b|, with `b` not zero.
pub fn difference(ours: &[f64], theirs: &[f64]) -> f64 {
    assert_eq!(ours.len(), theirs.len());
    assert!(largest(theirs) > 0.0, "a vector of zeros shows nothing");
    let gaps: Vec<f64> = ours.iter().zip(theirs).map(|(a, b)| a - b).collect();
    largest(&gaps) / largest(theirs)
}

/// The drive with some vertices pinned to given places.
pub fn pinned(cloth: &Cloth, seconds: f64, pins: &[(usize, [f64; 3])]) -> Drive {
    let count = cloth.vertices();
    let (mut free, mut anchors) = (vec![1.0; count], vec![[0.0; 3]; count]);
    for (vertex, place) in pins {
        free[*vertex] = 0.0;
        anchors[*vertex] = *place;
    }
    let mut drive = cloth.free_drive(seconds);
    drive.pinned = !pins.is_empty();
    drive.free = cloth.compute.tensor(&free, [1, count]);
    drive.anchors = cloth.vertex_tensor(&anchors);
    drive
}

/// `steps` steps of one drive.
pub fn run(
    cloth: &Cloth,
    start: &State,
    parameters: &Parameters,
    drive: &Drive,
    steps: usize,
) -> State {
    let mut solver = solver(cloth);
    (0..steps).fold(start.clone(), |state, _| {
        cloth
            .advance(&mut solver, &state, parameters, drive)
            .unwrap()
            .state
    })
}

pub fn add(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    std::array::from_fn(|i| a[i] + b[i])
}

pub fn sub(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    std::array::from_fn(|i| a[i] - b[i])
}

pub fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

pub fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    ]
}

/// `p` turned about `axis` (any length but zero) by `angle` (Rodrigues).
pub fn turned(p: [f64; 3], axis: [f64; 3], angle: f64) -> [f64; 3] {
    let k = axis.map(|a| a / dot(axis, axis).sqrt());
    let (sin, cos) = angle.sin_cos();
    let (across, along) = (cross(k, p), dot(k, p));
    std::array::from_fn(|i| p[i] * cos + across[i] * sin + k[i] * along * (1.0 - cos))
}
