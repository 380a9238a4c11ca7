//! What is trained, on what, and for how long.

use serde::{Deserialize, Serialize};

use super::{
    BodyMotion, BodyScene, Garment, LossConfig, Plasticity, Split,
    network::{PlasticKind, Size},
};
use crate::error::{Result, bad_input};

/// Which body and garment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SceneName {
    /// An arm in a sleeve.
    #[default]
    Arm,
    /// A torso in a shirt.
    Torso,
}

/// Where the rest bending comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RestBending {
    /// From P-Net, trained in turn with E-Net.
    #[default]
    Learned,
    /// There is none: what PBNS, SNUG, NCS, HOOD and SENC have. E-Net alone, with as many steps; a baseline.
    None,
}

/// A training case; every field has a default, the arm scene at the small size.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LearnCase {
    /// Body and garment.
    pub scene: SceneName,
    /// Vertices of the garment around and along.
    pub grid: [usize; 2],
    /// Whether rest bending is learned.
    pub rest_bending: RestBending,
    /// Widths of the networks.
    pub size: Size,
    /// How P-Net is built.
    pub plastic_net: PlasticKind,
    /// When hinges yield.
    pub plasticity: Plasticity,
    /// The energy.
    pub loss: LossConfig,
    /// Rounds of Algorithm 1.
    pub cycles: usize,
    /// Motions to train with.
    pub motions: usize,
    /// Frames of a motion.
    pub frames: usize,
    /// How the networks are trained in each cycle.
    pub training: Training,
    /// Of motions, imperfections, parameters and batches.
    pub seed: u64,
}

/// Steps and rates of one cycle.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Training {
    /// Rounds of E-Net: all motions are predicted, minimised a little further, and learned. The first cycle, which
    /// starts from nothing, has twice as many.
    pub elastic_steps: usize,
    /// Adam's first rate for E-Net; it falls to a hundredth along half a cosine in every cycle.
    pub elastic_rate: f64,
    /// Steps of the minimiser in a round. With 0 E-Net goes along the plain gradient of the loss, as in paper 2.
    pub minimiser_steps: usize,
    /// Whether frames that are asked for the first time, as bends grow in the first cycle, begin at a neighbour and are minimised
    /// to their end, as in a simulation, instead of at what E-Net guesses. The torso needs it; see docs/explanation/curriculum.md.
    pub neighbours: bool,
    /// Times that Adam sees all lessons in a round.
    pub fits: usize,
    /// Whether the plastic rule recomputes the rest bending after every round of E-Net from the second cycle on, in the
    /// motions that the round showed with their whole rest bending. If not, rest bending changes once a cycle, as in
    /// paper 2.
    pub renew: bool,
    /// Steps of P-Net, one frame each; the first cycle has six times as many.
    pub plastic_steps: usize,
    /// Adam's first rate for P-Net; later cycles have a quarter of it.
    pub plastic_rate: f64,
}

impl Default for Training {
    fn default() -> Self {
        Training {
            elastic_steps: 20,
            elastic_rate: 1e-3,
            minimiser_steps: 2,
            neighbours: false,
            fits: 12,
            renew: true,
            plastic_steps: 500,
            plastic_rate: 4e-3,
        }
    }
}

impl Default for LearnCase {
    fn default() -> Self {
        LearnCase {
            scene: SceneName::Arm,
            grid: Garment::GRID,
            rest_bending: RestBending::Learned,
            size: Size::Small,
            plastic_net: PlasticKind::default(),
            plasticity: Plasticity::default(),
            loss: LossConfig::default(),
            cycles: 4,
            motions: 8,
            frames: 95,
            training: Training::default(),
            seed: 1,
        }
    }
}

/// Memory that a training may take \[bytes\]: what a larger machine has.
const MOST_BYTES: f64 = 64e9;
/// What a vertex of a frame of a lesson takes \[bytes\]: skinning, prediction, aims, and offsets that are missing, each
/// several times over.
const BYTES_A_VERTEX: f64 = 250.0;

impl LearnCase {
    /// About how much memory training takes \[bytes\]: what the lessons and the pose-space shapes need.
    fn bytes(&self) -> f64 {
        let vertices = (self.grid[0] * self.grid[1]) as f64;
        let frames = (self.motions * self.frames) as f64;
        vertices * (frames * BYTES_A_VERTEX + 512.0 * 3.0 * 4.0 * 4.0)
    }

    /// Refuses what cannot be trained, by name.
    pub fn check(&self) -> Result<()> {
        self.plasticity.check()?;
        self.loss.check()?;
        let Training {
            elastic_steps,
            elastic_rate,
            minimiser_steps,
            fits,
            renew: _,
            neighbours: _,
            plastic_steps,
            plastic_rate,
        } = self.training;
        let seconds = self.loss.materials.seconds;
        if (seconds - BodyMotion::SECONDS).abs() > 1e-9 {
            return bad_input(format!(
                "loss.materials.seconds is {seconds}; the motions that are trained with have {} from frame to frame: leave it out",
                BodyMotion::SECONDS
            ));
        }
        let [x, y, z] = self.loss.materials.gravity;
        if x != 0.0 || y != 0.0 || z > 0.0 {
            return bad_input(format!(
                "loss.materials.gravity is [{x}, {y}, {z}]; E-Net assumes gravity along −z: give [0, 0, -9.81]"
            ));
        }
        if self.plasticity.yield_strain > std::f64::consts::TAU {
            return bad_input(format!(
                "plasticity.yield_strain is {} rad, which no hinge reaches; give at most 2π, or \"rest_bending\": \"none\" for \
                 a garment that does not yield",
                self.plasticity.yield_strain
            ));
        }
        let [around, along] = self.grid;
        let messages = match self.plastic_net {
            PlasticKind::Graph(steps) => steps,
            PlasticKind::Rnn | PlasticKind::Lstm => 0,
        };
        let counts = [
            ("grid, around", around, 4, 1000),
            ("grid, along", along, 3, 1000),
            ("cycles", self.cycles, 1, 200),
            ("motions", self.motions, 1, 10_000),
            ("frames", self.frames, 3, 100_000),
            ("training.elastic_steps", elastic_steps, 1, 1_000_000),
            ("training.minimiser_steps", minimiser_steps, 0, 1000),
            ("training.fits", fits, 1, 1_000_000),
            ("training.plastic_steps", plastic_steps, 1, 1_000_000),
            ("plastic_net, steps of messages", messages, 0, 100),
        ];
        for (name, value, least, most) in counts {
            if !(least..=most).contains(&value) {
                return bad_input(format!("{name} is {value}; give {least} to {most}"));
            }
        }
        let bytes = self.bytes();
        if bytes > MOST_BYTES {
            return bad_input(format!(
                "{} motions of {} frames with {around} × {along} vertices would take some {:.0} GB of memory; give fewer of \
                 these, to stay below {:.0} GB",
                self.motions,
                self.frames,
                bytes * 1e-9,
                MOST_BYTES * 1e-9
            ));
        }
        for (name, rate) in [
            ("training.elastic_rate", elastic_rate),
            ("training.plastic_rate", plastic_rate),
        ] {
            if !(rate > 0.0 && rate < 1.0) {
                return bad_input(format!(
                    "{name} is {rate}; give a step of Adam between 0 and 1, such as 1e-3"
                ));
            }
        }
        Ok(())
    }

    /// Whether E-Net's first turn is the same in both: what belongs to rest bending comes later.
    pub fn begins_as(&self, other: &LearnCase) -> bool {
        let elastic_part = LearnCase {
            rest_bending: self.rest_bending,
            plastic_net: self.plastic_net,
            plasticity: self.plasticity,
            cycles: self.cycles,
            training: Training {
                renew: self.training.renew,
                plastic_steps: self.training.plastic_steps,
                plastic_rate: self.training.plastic_rate,
                ..other.training
            },
            ..other.clone()
        };
        elastic_part == *self
    }

    /// Body and garment.
    pub fn scene(&self) -> Result<BodyScene> {
        BodyScene::new(self.scene, self.seed, self.grid)
    }

    /// The motions that are trained with.
    pub fn lessons(&self, scene: &BodyScene) -> Vec<BodyMotion> {
        (0..self.motions as u64)
            .map(|k| BodyMotion::draw(&scene.body, Split::Train, self.seed, k, self.frames))
            .collect()
    }
}
