//! Laboratory tests of many parameter sets at once: what a fit compares with the data.

mod strip;
mod twist;

use std::sync::Arc;

use serde::Serialize;
use strip::StripBlock;
use twist::TwistBlock;

use crate::{
    error::Result,
    laboratory::{
        Branch, CREST_CURVATURE, CreasePoint, CreaseTest, KesTest, Twist, TwistTest, Way,
    },
    material::{Dimension, Law},
    numeric::{Compute, Gate},
    rollout::Rollout,
};

/// One reading of a test.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub enum Condition {
    /// Recovery angle \[degrees\].
    Recovery(CreasePoint),
    /// A reading of a bending cycle.
    Bending {
        /// Largest curvature of the cycle \[1/m\].
        max_curvature: f64,
        /// Rest there \[s\].
        dwell: f64,
        /// What is read.
        read: BendingReading,
    },
    /// Torque at the top of a twisted cylinder \[N·m\].
    Torque {
        /// The twist.
        twist: Twist,
        /// Out or back.
        way: Way,
        /// Turn at which it is read \[rad\].
        turn: f64,
        /// Length of a cell of the mesh \[m\]: no wrinkle is much sharper than its inverse.
        cell: f64,
    },
}

impl Condition {
    /// Largest curvature of the test \[1/m\].
    pub fn curvature(&self) -> f64 {
        match self {
            Condition::Recovery(point) => CREST_CURVATURE / point.gap,
            Condition::Bending { max_curvature, .. } => *max_curvature,
            Condition::Torque { cell, .. } => 1.0 / cell,
        }
    }
}

/// A number read off a bending loop.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub enum BendingReading {
    /// B \[N·m\].
    Rigidity,
    /// 2HB \[N·m/m\].
    Hysteresis,
    /// Moment \[N·m/m\] at a curvature \[1/m\] of a branch.
    Moment(Branch, f64),
}

/// How finely the tests are simulated.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Resolution {
    /// Hinges along a fold.
    pub hinges: usize,
    /// Width of the smoothstep gate as a share of the largest curvature of a test; none for the hard law.
    pub width: Option<f64>,
    /// Speed of the bending cycle \[1/(m·s)\].
    pub bending_rate: f64,
    /// Cells along the fold where the angles are those of a strip mesh under the hard law.
    pub strip_cells: Option<usize>,
    /// The cylinder that torques are read at; without one they are left out.
    pub twist: Option<TwistTest>,
}

impl Resolution {
    fn gate(&self) -> Gate {
        self.width
            .map_or(Gate::Hard, |width| Gate::Smoothstep { width })
    }
}

/// Roll-outs that share a schedule. All strains are in units of the largest curvature of their test, so
/// that one width of the gate suits a gap of half a millimetre and one of four.
struct Block {
    rollout: Rollout,
    /// ∂(reading)/∂(roll-out's reading), `[points, hinges, readings]`.
    weights: Vec<f64>,
    /// reading = offset + Σ weights·(roll-out's readings).
    offset: f64,
    /// Which conditions the points are.
    conditions: Vec<usize>,
    /// Largest curvature of each point's test \[1/m\].
    scales: Vec<f64>,
}

/// A list of conditions, ready to be simulated.
pub struct Tests {
    law: Arc<dyn Law>,
    /// Which parameters are strains.
    strains: Vec<bool>,
    /// Which group's parameters each condition has.
    groups: Vec<usize>,
    blocks: Vec<Block>,
    strips: Option<StripBlock>,
    twists: Vec<TwistBlock>,
    /// Which conditions are not simulated.
    left_out: Vec<bool>,
    /// Parameters of which slopes are needed where each costs a run.
    sought: Vec<usize>,
}

/// Readings of one parameter set.
#[derive(Debug, Clone, PartialEq)]
pub struct Readings {
    /// One a condition, in its unit.
    pub values: Vec<f64>,
    /// ∂reading/∂parameter of the condition's group, row-major `[conditions, parameters]`; empty where
    /// it was not asked for.
    pub slopes: Vec<f64>,
}

impl Tests {
    /// Prepares conditions, each with the number of its group.
    pub fn new(
        compute: &Compute,
        law: Arc<dyn Law>,
        resolution: Resolution,
        conditions: &[(usize, Condition)],
    ) -> Result<Tests> {
        let mut blocks = Vec::new();
        blocks.extend(crease_block(compute, &law, resolution, conditions)?);
        let mut cycles: Vec<f64> = Vec::new();
        for (_, condition) in conditions {
            if let Condition::Bending { max_curvature, .. } = condition
                && !cycles.contains(max_curvature)
            {
                cycles.push(*max_curvature);
            }
        }
        for cycle in cycles {
            blocks.push(bending_block(&law, resolution, conditions, cycle)?);
        }
        let strips = match resolution.strip_cells {
            Some(cells) => StripBlock::new(strip::test(cells), conditions)?,
            None => None,
        };
        let twists = match &resolution.twist {
            Some(test) => twist::blocks(test, conditions)?,
            None => Vec::new(),
        };
        let is_torque = |c: &Condition| matches!(c, Condition::Torque { .. });
        let is_strain = |p: &crate::material::Parameter| p.dimension == Dimension::Strain;
        Ok(Tests {
            strains: law.parameters().iter().map(is_strain).collect(),
            groups: conditions.iter().map(|(group, _)| *group).collect(),
            sought: (0..law.parameters().len()).collect(),
            left_out: conditions
                .iter()
                .map(|(_, c)| is_torque(c) && resolution.twist.is_none())
                .collect(),
            law,
            blocks,
            strips,
            twists,
        })
    }

    /// The same where only these parameters of the law are looked for.
    pub fn seeking(self, sought: Vec<usize>) -> Tests {
        Tests { sought, ..self }
    }

    /// Whether a condition is not simulated.
    pub fn leaves_out(&self, condition: usize) -> bool {
        self.left_out[condition]
    }

    /// The group of every condition.
    pub fn groups(&self) -> &[usize] {
        &self.groups
    }

    /// Readings of many parameter sets; `sets[s][group]` are the parameters of a group in set s.
    pub fn run(
        &self,
        compute: &Compute,
        sets: &[Vec<Vec<f64>>],
        with_slopes: bool,
    ) -> Result<Vec<Readings>> {
        let width = self.law.parameters().len();
        let count = self.groups.len();
        let slopes = if with_slopes { count * width } else { 0 };
        let empty = Readings {
            values: vec![f64::NAN; count],
            slopes: vec![0.0; slopes],
        };
        let mut results = vec![empty; sets.len()];
        for block in &self.blocks {
            self.run_block(compute, block, sets, with_slopes, &mut results)?;
        }
        if let Some(strips) = &self.strips {
            let row = |set: usize, condition: usize, scale: f64| {
                self.scaled(&sets[set][self.groups[condition]], scale)
            };
            strips.read(compute, &self.law, row, &mut results)?;
        }
        let sought: &[usize] = if with_slopes { &self.sought } else { &[] };
        for twist in &self.twists {
            twist.read(compute, &self.law, sets, sought, &mut results)?;
        }
        Ok(results)
    }

    /// Parameters with strains in units of `scale`.
    fn scaled(&self, values: &[f64], scale: f64) -> Vec<f64> {
        let pairs = values.iter().zip(&self.strains);
        pairs
            .map(|(v, strain)| if *strain { v / scale } else { *v })
            .collect()
    }

    fn run_block(
        &self,
        compute: &Compute,
        block: &Block,
        sets: &[Vec<Vec<f64>>],
        with_slopes: bool,
        results: &mut [Readings],
    ) -> Result<()> {
        let width = self.strains.len();
        let mut rows = Vec::with_capacity(sets.len() * block.conditions.len() * width);
        for set in sets {
            for (&condition, scale) in block.conditions.iter().zip(&block.scales) {
                rows.extend(self.scaled(&set[self.groups[condition]], *scale));
            }
        }
        let batch = block.rollout.repeated(sets.len());
        let shape = [batch.points, batch.hinges, batch.schedule.readings.len()];
        let weights = block.weights.repeat(sets.len());
        let parameters = compute.tensor(&rows, [batch.points, width]);
        let (readings, gradient) = if with_slopes {
            let seed = compute.tensor(&weights, shape);
            let (readings, gradient) = batch.linearized(compute, parameters, seed);
            (readings, compute.values(gradient)?)
        } else {
            (batch.forward(compute, parameters), Vec::new())
        };
        let readings = compute.values(readings)?;
        let each = shape[1] * shape[2];
        for (s, result) in results.iter_mut().enumerate() {
            for (k, &condition) in block.conditions.iter().enumerate() {
                let row = s * block.conditions.len() + k;
                let span = row * each..(row + 1) * each;
                let products = readings[span.clone()].iter().zip(&weights[span]);
                let sum: f64 = products.map(|(r, w)| r * w).sum();
                result.values[condition] = block.offset + sum;
                for p in (0..width).filter(|_| with_slopes) {
                    let scale = if self.strains[p] {
                        block.scales[k]
                    } else {
                        1.0
                    };
                    result.slopes[condition * width + p] = gradient[row * width + p] / scale;
                }
            }
        }
        Ok(())
    }
}

/// The readings of a run, or as many NaN where the run itself failed at these parameters (a step diverged or its
/// linear solve did not converge): the search takes them as a wall and turns back. Any other error is handed on,
/// since it would come at every point of the search.
fn or_wall(read: Result<Vec<f64>>, count: usize) -> Result<Vec<f64>> {
    match read {
        Err(error) if error.is_failed_run() => Ok(vec![f64::NAN; count]),
        other => other,
    }
}

fn crease_block(
    compute: &Compute,
    law: &Arc<dyn Law>,
    resolution: Resolution,
    conditions: &[(usize, Condition)],
) -> Result<Option<Block>> {
    let (mut indices, mut scales, mut points) = (Vec::new(), Vec::new(), Vec::new());
    for (i, (_, condition)) in conditions.iter().enumerate() {
        if let Condition::Recovery(point) = condition {
            indices.push(i);
            scales.push(CREST_CURVATURE / point.gap);
            // A gap whose crest has a curvature of one.
            let gap = CREST_CURVATURE;
            points.push(CreasePoint { gap, ..*point });
        }
    }
    if points.is_empty() {
        return Ok(None);
    }
    // The hard law does not depend on the steps of fold, hold and snap, and a smooth gate is the closer to
    // it the fewer there are; the steps to a reading are those of `rumple crease`.
    let test = CreaseTest {
        hinges: resolution.hinges,
        fold_steps: 1,
        hold_steps: 1,
        snap_steps: 1,
        ..CreaseTest::default()
    };
    let rollout = test.rollout(law.clone(), resolution.gate(), &points)?;
    let weights = compute.values(test.angle_weights(compute, &rollout, &points))?;
    Ok(Some(Block {
        weights: weights.into_iter().map(|w| -w).collect(),
        rollout,
        offset: 180.0,
        conditions: indices,
        scales,
    }))
}

fn bending_block(
    law: &Arc<dyn Law>,
    resolution: Resolution,
    conditions: &[(usize, Condition)],
    cycle: f64,
) -> Result<Block> {
    let test = KesTest {
        max_curvature: 1.0,
        rate: resolution.bending_rate / cycle,
        ..KesTest::default()
    };
    let (rigidity, hysteresis) = test.reading_weights();
    let (mut indices, mut dwells, mut weights) = (Vec::new(), Vec::new(), Vec::new());
    for (i, (_, condition)) in conditions.iter().enumerate() {
        let Condition::Bending {
            max_curvature,
            dwell,
            read,
        } = condition
        else {
            continue;
        };
        if *max_curvature != cycle {
            continue;
        }
        indices.push(i);
        dwells.push(*dwell);
        // A slope keeps its size when curvature and moment shrink alike; a moment does not.
        let (row, size) = match read {
            BendingReading::Rigidity => (rigidity.clone(), 1.0),
            BendingReading::Hysteresis => (hysteresis.clone(), cycle),
            BendingReading::Moment(branch, curvature) => {
                (test.moment_weights(*branch, curvature / cycle), cycle)
            }
        };
        // The first is the origin, which no step reads.
        weights.extend(row[1..].iter().map(|w| w * size));
    }
    Ok(Block {
        rollout: test.rollout(law.clone(), resolution.gate(), &dwells)?,
        weights,
        offset: 0.0,
        scales: vec![cycle; indices.len()],
        conditions: indices,
    })
}
