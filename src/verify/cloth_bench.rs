//! The cloth workloads that are timed: the square of the peers and paper 1's twist.

use std::f64::consts::PI;

use crate::{
    error::Result,
    material::{Elastic, Material, StrainMeasure, Timer},
    mesh::{Mesh, generate},
    numeric::{Compute, Gate, Precision},
    reading::Reading,
    rollout::cloth::{ClothGradient, ClothRollout, MEMORY, Passed, WatchedReading},
    solve::Solver,
    step::{Cloth, ClothSetup, Damping, Drive, Parameters, Response, State},
};

/// A cloth, what is done to it, and what is read at the end.
pub(crate) struct ClothBench {
    /// The cloth.
    pub cloth: Cloth,
    /// Its fabric.
    pub parameters: Parameters,
    /// Number of steps.
    pub steps: usize,
    /// Length of a step \[s\].
    seconds: f64,
    held: Held,
    reading: Reading,
}

/// How a roll-out went.
pub(crate) struct ClothEnd {
    /// The last state.
    pub state: State,
    /// Of conjugate gradients, in the mean over the steps.
    pub iterations: f64,
    /// Share of the steps with a new factor.
    pub factors: f64,
}

/// Which vertices are held, and how.
enum Held {
    /// Exactly, where they are.
    Pins(Vec<usize>),
    /// By springs: two rings, of which the second turns about y.
    Rings { bottom: Vec<usize>, top: Vec<usize> },
}

/// Steps of the twist: the top turns by 0.25π in 30 and is held for 10.
pub(crate) const TWIST_STEPS: usize = 40;
const TURNING_STEPS: usize = 30;
/// Stiffness of the rings' springs \[N/m\], as in paper 1.
const GRIP: f64 = 1e5;

impl ClothBench {
    /// The square cloth of `peers/cloth_spec.py`: `n` × `n` vertices on 1 m², two corners pinned, gravity, 100
    /// steps of 1/60 s, isotropic and elastic; read is the mean height.
    pub(crate) fn square(n: usize, steps: usize, compute: &Compute) -> Result<ClothBench> {
        let setup = ClothSetup {
            law: std::sync::Arc::new(Elastic),
            strain: StrainMeasure::Curvature,
            gate: Gate::Hard,
            tensile_gate: Gate::Hard,
            tension_softness: 0.0,
            gravity: [0.0, 0.0, -9.81],
            damping: Damping {
                stiffness: 2e-3,
                mass: 0.0,
            },
            contacts: Vec::new(),
            rest_is_curved: false,
        };
        let (lame_mu, lame_lambda) = (1000.0, 1000.0);
        let one = |v: f64| compute.tensor(&[v], [1, 1]);
        let parameters = Parameters {
            bending: vec![one(1e-4)],
            weft_ratio: one(1.0),
            membrane: crate::element::Stiffness {
                warp: one(lame_lambda + 2.0 * lame_mu),
                coupling: one(lame_lambda),
                weft: one(lame_lambda + 2.0 * lame_mu),
                shear: one(2.0 * lame_mu),
            },
            tensile: Vec::new(),
            density: one(0.2),
        };
        Ok(ClothBench {
            cloth: Cloth::new(bumpy_square(n), setup, compute)?,
            parameters,
            steps,
            seconds: 1.0 / 60.0,
            held: Held::Pins(vec![0, n - 1]),
            reading: Reading::MeanHeight {
                axis: [0.0, 0.0, 1.0],
            },
        })
    }

    /// Paper 1's twist of a cotton cylinder of about `vertices` vertices, 4 cm in radius and 11 cm high;
    /// `inelastic` turns friction and plasticity of bending on. Read is the torque.
    pub(crate) fn twist(vertices: usize, inelastic: bool, compute: &Compute) -> Result<ClothBench> {
        let (radius, height) = (0.04, 0.11);
        let (around, along) = generate::cylinder_cells(radius, height, vertices)?;
        let pattern = generate::Pattern::Alternating;
        let mesh = generate::cylinder(radius, height, around, along, pattern)?;
        let cotton = Material::preset("cotton")?;
        let mut parameters = Parameters::from_material(&cotton, compute)?;
        let law = if inelastic {
            cotton.build_law(Timer::Authors)
        } else {
            parameters.bending.truncate(1);
            std::sync::Arc::new(Elastic)
        };
        let ring = |y: f64| {
            let near = |p: &[f64; 3]| (p[1] - y).abs() < 1e-9;
            let all = mesh.positions.iter().enumerate();
            all.filter(|(_, p)| near(p))
                .map(|(v, _)| v)
                .collect::<Vec<_>>()
        };
        let (bottom, top) = (ring(0.0), ring(height));
        let setup = ClothSetup {
            law,
            strain: cotton.strain,
            gate: Gate::Hard,
            tensile_gate: Gate::Hard,
            tension_softness: 0.0,
            gravity: [0.0, -9.8, 0.0],
            damping: Damping::default(),
            contacts: Vec::new(),
            rest_is_curved: false,
        };
        let reading = Reading::HandleTorque {
            vertices: top.clone(),
            axis: [0.0, 1.0, 0.0],
            about: [0.0; 3],
        };
        Ok(ClothBench {
            cloth: Cloth::new(mesh, setup, compute)?,
            parameters,
            steps: TWIST_STEPS,
            seconds: 0.01,
            held: Held::Rings { bottom, top },
            reading,
        })
    }

    /// A solver for it, of the tolerance that the peers are given.
    pub(crate) fn solver(&self) -> Result<Solver> {
        let Cloth {
            mesh,
            topology,
            compute,
            ..
        } = &self.cloth;
        let solver = Solver::new(mesh, topology, compute)?;
        Ok(match compute.precision() {
            Precision::F64 => solver.with_tolerance(1e-8),
            Precision::F32 => solver,
        })
    }

    /// The reading at the end.
    pub(crate) fn forward(&self, solver: &mut Solver) -> Result<f64> {
        let drive = |k: usize| self.drive(k);
        let start = self.cloth.start(&self.parameters);
        let read = self
            .rollout(&drive)
            .read(solver, &start, &self.parameters, &[self.watch()])?;
        Ok(read[0])
    }

    /// The state at the end, and how the solves on the way went.
    pub(crate) fn end(&self, solver: &mut Solver) -> Result<ClothEnd> {
        let drive = |k: usize| self.drive(k);
        let start = self.cloth.start(&self.parameters);
        let (mut iterations, mut factors) = (0, 0);
        let count = |passed: &Passed| {
            iterations += passed.statistics.iterations;
            factors += usize::from(passed.statistics.refactored);
            Ok(())
        };
        let rollout = self.rollout(&drive);
        let state = rollout.forward(solver, &start, &self.parameters, count)?;
        let steps = self.steps as f64;
        Ok(ClothEnd {
            state,
            iterations: iterations as f64 / steps,
            factors: factors as f64 / steps,
        })
    }

    /// What the elements answer to a shape, with this cloth's own history of bending: of `state`, or of virgin cloth
    /// where that comes from another law.
    pub(crate) fn respond(&self, state: &State) -> Response {
        let virgin = self.cloth.start(&self.parameters);
        let same_law = virgin.bending.len() == state.bending.len();
        let state = State {
            positions: state.positions.clone(),
            ..if same_law { state.clone() } else { virgin }
        };
        self.cloth
            .respond(&state, &self.parameters, &self.drive(self.steps))
    }

    /// The reading at the end and its gradient.
    pub(crate) fn gradient(&self, solver: &mut Solver) -> Result<ClothGradient> {
        let drive = |k: usize| self.drive(k);
        let start = self.cloth.start(&self.parameters);
        self.rollout(&drive)
            .gradient(solver, &start, &self.parameters, &[self.watch()])
    }

    fn rollout<'a>(&'a self, drive: &'a dyn Fn(usize) -> Drive) -> ClothRollout<'a> {
        ClothRollout {
            cloth: &self.cloth,
            drive,
            steps: self.steps,
            memory: MEMORY,
        }
    }

    /// What is read, at the end.
    pub(crate) fn watch(&self) -> WatchedReading {
        WatchedReading {
            after: self.steps,
            reading: self.reading.clone(),
            weight: 1.0,
        }
    }

    /// What is done in a step.
    pub(crate) fn drive(&self, step: usize) -> Drive {
        let mut drive = self.cloth.free_drive(self.seconds);
        let count = self.cloth.vertices();
        let compute = &self.cloth.compute;
        let mut anchors = self.cloth.mesh.positions.clone();
        let mut marked = vec![0.0; count];
        match &self.held {
            Held::Pins(pins) => {
                marked.fill(1.0);
                for v in pins {
                    marked[*v] = 0.0;
                }
                drive.pinned = true;
                drive.free = compute.tensor(&marked, [1, count]);
            }
            Held::Rings { bottom, top } => {
                let share = ((step + 1) as f64 / TURNING_STEPS as f64).min(1.0);
                let (sine, cosine) = (-0.25 * PI * share).sin_cos();
                for v in top {
                    let [x, y, z] = anchors[*v];
                    anchors[*v] = [cosine * x + sine * z, y, cosine * z - sine * x];
                }
                for v in bottom.iter().chain(top) {
                    marked[*v] = GRIP;
                }
                drive.grip = compute.tensor(&marked, [1, count]);
            }
        }
        drive.anchors = self.cloth.vertex_tensor(&anchors);
        drive
    }
}

/// The mesh of `peers/cloth_spec.py`: every cell cut along one diagonal, a smooth bump at the start.
fn bumpy_square(n: usize) -> Mesh {
    let at = |i: usize| i as f64 / (n - 1) as f64;
    let grid = (0..n * n).map(|v| (at(v % n), at(v / n)));
    let lifted = |(x, y): (f64, f64)| [x, y, 0.02 * (2.0 * PI * x).sin() * (PI * y).sin()];
    let cells = (0..(n - 1) * (n - 1)).map(|c| c / (n - 1) * n + c % (n - 1));
    let (lower, upper): (Vec<_>, Vec<_>) = cells
        .map(|a| ([a, a + 1, a + n + 1], [a, a + n + 1, a + n]))
        .unzip();
    Mesh::seamless(
        grid.clone().map(lifted).collect(),
        grid.map(|(x, y)| [x, y]).collect(),
        lower.into_iter().chain(upper).collect(),
    )
}
