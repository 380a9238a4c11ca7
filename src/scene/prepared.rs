//! A scene on a device, ready to run.

use super::{Grip, Hold, ReadingChoice, Scene, SolverMethod};
use crate::{
    contact::Pose,
    error::{Result, bad_input},
    numeric::{Compute, Gate, Precision},
    reading::Reading,
    rollout::cloth::{ClothRollout, MEMORY},
    solve::{Solver, TOLERANCE},
    step::{Cloth, ClothSetup, Drive, Parameters, State},
};

/// Steps after which the solver of a scene drops the factor that it keeps; a run goes on from such steps. One more
/// factor in so many steps costs little, and a stop loses no more than these.
pub(super) const FORGET_EVERY: usize = 25;

/// A scene on a device: cloth, parameters and handles.
#[derive(Debug, Clone)]
pub struct PreparedScene {
    /// What it is made from.
    pub scene: Scene,
    pub cloth: Cloth,
    pub parameters: Parameters,
    /// Handles with the vertices they found.
    pub grips: Vec<Grip>,
    /// Readings of each row of the table, in the order of the scene.
    pub readings: Vec<Reading>,
    /// Mass of each vertex \[kg\].
    pub masses: Vec<f64>,
    /// What was mended or is worth a word.
    pub words: Vec<String>,
}

impl Scene {
    /// Makes the mesh and puts everything on a device.
    pub fn prepare(&self, compute: &Compute) -> Result<PreparedScene> {
        let (mesh, mut words) = self.mesh.make()?;
        let parameters = self.fabric.parameters(compute)?;
        let cloth = Cloth::new(mesh, self.setup()?, compute)?;
        words.extend(cloth.topology.notes.iter().cloned());
        let grips = Grip::find_all(&self.place, &self.handles, &cloth.mesh, &cloth.topology)?;
        let resolve =
            |r: &ReadingChoice| r.resolve(&self.place, &grips, &cloth.mesh, &cloth.topology);
        let readings: Result<Vec<Reading>> = self.readings.iter().map(resolve).collect();
        let Some(density) = self.fabric.material.density else {
            return bad_input(format!(
                "{}: material '{}' has no density; add fabric.density_kg_per_m2",
                self.place, self.fabric.material.name
            ));
        };
        Ok(PreparedScene {
            masses: cloth.rest.vertex_area.iter().map(|a| a * density).collect(),
            readings: readings?,
            scene: self.clone(),
            cloth,
            parameters,
            grips,
            words,
        })
    }

    fn setup(&self) -> Result<ClothSetup> {
        let fabric = &self.fabric;
        Ok(ClothSetup {
            law: fabric.material.build_law(fabric.timer),
            strain: fabric.material.strain,
            gate: self.gate,
            tensile_gate: Gate::Hard,
            tension_softness: 0.0,
            gravity: self.gravity,
            damping: self.damping,
            contacts: self.obstacles.iter().map(|o| o.contact).collect(),
            rest_is_curved: self.mesh.rest_is_curved,
        })
    }
}

impl PreparedScene {
    /// The state before the first step.
    pub fn start(&self) -> State {
        self.cloth.start(&self.parameters)
    }

    /// The steps of the scene, with the memory for kept states that is usual. `drive` is [`PreparedScene::drive`].
    pub fn rollout<'a>(&'a self, drive: &'a dyn Fn(usize) -> Drive) -> ClothRollout<'a> {
        ClothRollout {
            cloth: &self.cloth,
            drive,
            steps: self.scene.clock.steps,
            memory: MEMORY,
        }
    }

    /// The solver that the scene asks for.
    pub fn solver(&self) -> Result<Solver> {
        let choice = &self.scene.solver;
        let Cloth {
            mesh,
            topology,
            compute,
            ..
        } = &self.cloth;
        let solver = match choice.method {
            SolverMethod::Cholesky if !compute.is_cpu() => {
                return bad_input(format!(
                    "{}: solver.method = \"cholesky\" runs on the CPU only; add --device cpu or take \"auto\"",
                    self.scene.place
                ));
            }
            SolverMethod::Auto | SolverMethod::Cholesky => Solver::new(mesh, topology, compute)?,
            SolverMethod::ConjugateGradients => {
                let default = match compute.precision() {
                    Precision::F64 => TOLERANCE,
                    Precision::F32 => 1e-5,
                };
                Solver::conjugate(compute, default)
            }
        };
        let solver = solver.forgetting_every(FORGET_EVERY);
        Ok(match choice.tolerance {
            Some(tolerance) => solver.with_tolerance(tolerance),
            None => solver,
        })
    }

    /// What is done to the cloth in a step: a function of the step's number alone.
    pub fn drive(&self, step: usize) -> Drive {
        let (cloth, clock) = (&self.cloth, &self.scene.clock);
        let count = cloth.vertices();
        let mut grip = vec![0.0; count];
        let mut free = vec![1.0; count];
        let mut anchors = vec![[0.0; 3]; count];
        let mut pinned = false;
        for held in self.grips.iter().filter(|g| g.handle.holds(clock, step)) {
            let places = held.anchors(clock.end(step));
            for (&vertex, place) in held.vertices.iter().zip(places) {
                anchors[vertex] = place;
                match held.handle.hold {
                    Hold::Pin => free[vertex] = 0.0,
                    Hold::Penalty(stiffness) => grip[vertex] = stiffness,
                }
            }
            pinned |= held.handle.hold == Hold::Pin;
        }
        Drive {
            material_seconds: clock.material_seconds(step),
            elapse: clock.elapse(step),
            grip: cloth.compute.tensor(&grip, [1, count]),
            pinned,
            free: cloth.compute.tensor(&free, [1, count]),
            anchors: cloth.vertex_tensor(&anchors),
            obstacles: self.poses(step),
            absent: self
                .scene
                .obstacles
                .iter()
                .map(|o| !o.present(clock, step))
                .collect(),
            ..cloth.free_drive(clock.step)
        }
    }

    /// Where the obstacles are at the end of a step, and how fast they came there.
    fn poses(&self, step: usize) -> Vec<Pose> {
        let clock = &self.scene.clock;
        let (start, end) = (step as f64 * clock.step, clock.end(step));
        let column = |v: [f64; 3]| self.cloth.compute.tensor(&v, [3, 1]);
        let pose = |obstacle: &super::PlacedObstacle| {
            let (before, after) = (obstacle.center_at(start), obstacle.center_at(end));
            let velocity = std::array::from_fn(|i| (after[i] - before[i]) / clock.step);
            Pose {
                center: column(after),
                velocity: column(velocity),
            }
        };
        self.scene.obstacles.iter().map(pose).collect()
    }
}
