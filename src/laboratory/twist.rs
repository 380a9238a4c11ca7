//! The twist of a sewn cylinder (paper 1, Appendix A, Figs. 21 and 23): its top is turned out, held and turned
//! back, and the torque at the top is read on the way.

mod block;
mod measured;
mod section;
mod ways;

use std::sync::Arc;

pub(super) use measured::Torque;
pub(crate) use measured::TorquePoint;
use measured::{TORQUE, TURN};

use crate::{
    element::Stiffness,
    error::{Result, bad_input, readable},
    material::{Law, StrainMeasure},
    mesh::generate,
    numeric::{Compute, Gate},
    reading::Reading,
    rollout::cloth::{ClothRollout, MEMORY, WatchedReading},
    solve::Solver,
    step::{Cloth, ClothSetup, Damping, Drive, Parameters, State},
};

/// Specimen and machine. The fabric's bending law is given with every run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TwistTest {
    /// Of the cylinder \[m\].
    pub radius: f64,
    /// Of the cylinder \[m\].
    pub height: f64,
    /// Cells around.
    pub around: usize,
    /// Cells along.
    pub along: usize,
    /// Time to the largest turn \[s\]; the way back takes as long.
    pub turn_seconds: f64,
    /// Steps out, and as many back.
    pub steps: usize,
    /// Stiffness of the membrane along warp and weft, coupling, shear \[N/m\].
    pub membrane: [f64; 4],
    /// Mass per area \[kg/m²\].
    pub density: f64,
}

/// Whether the top is turned out or back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
pub enum Way {
    /// From 0 to the largest turn.
    Out,
    /// From there to 0.
    Back,
}

impl Way {
    /// The word of data files.
    fn name(self) -> &'static str {
        match self {
            Way::Out => "out",
            Way::Back => "back",
        }
    }
}

/// One twist: how far, and how long it is held there.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct Twist {
    /// Largest turn of the top \[rad\].
    pub turn: f64,
    /// Time held there \[s\]: the clocks of the hinges go on by it.
    pub hold: f64,
}

/// Stiffness of the springs that hold both rings \[N/m\], as in paper 1.
const GRIP: f64 = 1e5;
/// Of gravity along the axis \[m/s²\], as in paper 1.
const GRAVITY: f64 = -9.8;

impl TwistTest {
    /// Length of the longer side of a cell \[m\].
    pub fn cell(&self) -> f64 {
        let around = 2.0 * std::f64::consts::PI * self.radius / self.around as f64;
        around.max(self.height / self.along as f64)
    }

    /// The cylinder with a bending law in curvature.
    fn cloth(&self, law: Arc<dyn Law>, gate: Gate, compute: &Compute) -> Result<Cloth> {
        let pattern = generate::Pattern::Alternating;
        let mesh = generate::cylinder(self.radius, self.height, self.around, self.along, pattern)?;
        let setup = ClothSetup {
            law,
            strain: StrainMeasure::Curvature,
            gate,
            tensile_gate: Gate::Hard,
            tension_softness: 0.0,
            gravity: [0.0, GRAVITY, 0.0],
            damping: Damping::default(),
            contacts: Vec::new(),
            rest_is_curved: false,
        };
        Cloth::new(mesh, setup, compute)
    }

    fn parameters(&self, values: &[f64], compute: &Compute) -> Parameters {
        let one = |v: f64| compute.tensor(&[v], [1, 1]);
        let [warp, weft, coupling, shear] = self.membrane.map(one);
        Parameters {
            bending: values.iter().map(|v| one(*v)).collect(),
            weft_ratio: one(1.0),
            membrane: Stiffness {
                warp,
                coupling,
                weft,
                shear,
            },
            tensile: Vec::new(),
            density: one(self.density),
        }
    }

    /// A cylinder of the given fabric in the machine.
    fn bench(
        &self,
        law: &Arc<dyn Law>,
        gate: Gate,
        twist: Twist,
        values: &[f64],
        compute: &Compute,
    ) -> Result<Bench> {
        let cloth = self.cloth(law.clone(), gate, compute)?;
        let ring = |y: f64| {
            let near = |p: &[f64; 3]| (p[1] - y).abs() < 1e-6 * self.height;
            let all = cloth.mesh.positions.iter().enumerate();
            all.filter(|(_, p)| near(p)).map(|(v, _)| v).collect()
        };
        Ok(Bench {
            test: *self,
            twist,
            bottom: ring(0.0),
            top: ring(self.height),
            parameters: self.parameters(values, compute),
            cloth,
        })
    }

    /// Torques \[N·m\] after every step of the way out and back, the first after none: `2·steps + 1` of them.
    pub(crate) fn torques(
        &self,
        law: &Arc<dyn Law>,
        gate: Gate,
        twist: Twist,
        values: &[f64],
        compute: &Compute,
    ) -> Result<Vec<f64>> {
        let bench = self.bench(law, gate, twist, values, compute)?;
        let watches: Vec<WatchedReading> = (1..=2 * self.steps).map(|k| bench.watch(k)).collect();
        let read = bench.run(|rollout, solver, start, parameters| {
            rollout.read(solver, start, parameters, &watches)
        })?;
        Ok(std::iter::once(0.0).chain(read).collect())
    }

    /// ∂torque/∂parameter of the law after `step` steps, by one reverse sweep.
    #[cfg(test)]
    pub(crate) fn slopes(
        &self,
        law: &Arc<dyn Law>,
        gate: Gate,
        twist: Twist,
        values: &[f64],
        step: usize,
        compute: &Compute,
    ) -> Result<Vec<f64>> {
        let bench = self.bench(law, gate, twist, values, compute)?;
        let watches = [bench.watch(step)];
        let total = bench.run(|rollout, solver, start, parameters| {
            let back = rollout.gradient(solver, start, parameters, &watches)?;
            Ok(back.since_virgin(rollout.cloth, parameters))
        })?;
        let number = |f: &crate::numeric::Field| Ok(compute.values(f.clone())?[0]);
        total.bending.iter().map(number).collect()
    }

    /// Places of a reading among the torques of a run, with weights: linear between two steps.
    pub fn weights(&self, twist: Twist, way: Way, turn: f64) -> Result<[(usize, f64); 2]> {
        let share = turn / twist.turn;
        if !(0.0..=1.0 + 1e-9).contains(&share) {
            return bad_input(format!(
                "a turn of {}° is not between 0 and the largest, {}°",
                readable(turn.to_degrees()),
                readable(twist.turn.to_degrees())
            ));
        }
        let along = share.min(1.0) * self.steps as f64;
        let along = match way {
            Way::Out => along,
            Way::Back => 2.0 * self.steps as f64 - along,
        };
        let first = (along as usize).min(2 * self.steps - 1);
        let rest = along - first as f64;
        Ok([(first, 1.0 - rest), (first + 1, rest)])
    }
}

/// A cylinder in the machine.
struct Bench {
    test: TwistTest,
    twist: Twist,
    bottom: Vec<usize>,
    top: Vec<usize>,
    cloth: Cloth,
    parameters: Parameters,
}

impl Bench {
    /// Twists it out and back, and does with that roll-out what `what` does.
    fn run<T>(
        &self,
        what: impl FnOnce(&ClothRollout, &mut Solver, &State, &Parameters) -> Result<T>,
    ) -> Result<T> {
        let Cloth {
            mesh,
            topology,
            compute,
            ..
        } = &self.cloth;
        let mut solver = Solver::new(mesh, topology, compute)?;
        let start = self.cloth.start(&self.parameters);
        let drive = |k: usize| self.drive(k);
        let rollout = ClothRollout {
            cloth: &self.cloth,
            drive: &drive,
            steps: 2 * self.test.steps,
            memory: MEMORY,
        };
        what(&rollout, &mut solver, &start, &self.parameters)
    }

    fn watch(&self, after: usize) -> WatchedReading {
        WatchedReading {
            after,
            reading: Reading::HandleTorque {
                vertices: self.top.clone(),
                axis: [0.0, 1.0, 0.0],
                about: [0.0; 3],
            },
            weight: 1.0,
        }
    }

    fn drive(&self, step: usize) -> Drive {
        let steps = self.test.steps;
        let done = step + 1;
        let share = done.min(2 * steps - done) as f64 / steps as f64;
        let mut drive = self.cloth.free_drive(self.test.turn_seconds / steps as f64);
        if done == steps {
            drive.elapse = self.twist.hold;
        }
        let mut anchors = self.cloth.mesh.positions.clone();
        let (sine, cosine) = (self.twist.turn * share).sin_cos();
        for v in &self.top {
            let [x, y, z] = anchors[*v];
            anchors[*v] = [cosine * x + sine * z, y, cosine * z - sine * x];
        }
        let mut grip = vec![0.0; self.cloth.vertices()];
        for v in self.bottom.iter().chain(&self.top) {
            grip[*v] = GRIP;
        }
        drive.grip = self.cloth.compute.tensor(&grip, [1, grip.len()]);
        drive.anchors = self.cloth.vertex_tensor(&anchors);
        drive
    }
}
