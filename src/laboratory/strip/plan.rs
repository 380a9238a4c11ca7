//! What is done to the strips: fold, hold, release.

use std::f64::consts::PI;

use super::{DAMPING, StripPart, StripTest};
use crate::{
    laboratory::CreasePoint,
    reading::Reading,
    rollout::{cloth::WatchedReading, log_times},
    step::{Cloth, Drive},
};

/// The release is damped within the hinges (β), not by drag: drag would load the legs with moments that no
/// hinge of a slowly released strip feels, and friction would keep them (10° at a gap of 4 mm). A step takes
/// this share of what is left, growing evenly in the logarithm over the first part of the steps: few degrees
/// each. Slipping hinges creep to rest in the others, by a factor K_f/(K_b + K_f) a step.
const RELEASE_SHARE: (f64, f64) = (0.02, 0.9);
/// The part of the steps over which the share grows.
const RELEASE_RISE: f64 = 0.7;
/// Decades of the pressing time over which the steps of the hold are spread.
const HOLD_DECADES: i32 = 6;

/// What is done to the strips in every step.
pub(super) struct FoldPlan<'a> {
    pub test: &'a StripTest,
    pub cloth: &'a Cloth,
    pub points: &'a [CreasePoint],
    pub parts: &'a [StripPart],
    /// Tangent angles in the middle of the fold's cells.
    pub tangents: &'a [f64],
}

impl FoldPlan<'_> {
    pub(crate) fn drive(&self, step: usize) -> Drive {
        let folding = self.test.fold_steps + 1;
        let holding = self.test.hold_steps + 1;
        if step < folding {
            return self.held(self.test.fractions()[step], None);
        }
        if step < folding + holding {
            return self.held(1.0, Some(step - folding));
        }
        self.released(step - folding - holding)
    }

    /// All vertices on the fold; `hold` is the number of a step of the hold.
    fn held(&self, fraction: f64, hold: Option<usize>) -> Drive {
        let mut drive = self.cloth.free_drive(1.0);
        drive.material_seconds = 0.0;
        drive.pinned = true;
        drive.free = drive.free.zeros_like();
        let places = self
            .parts
            .iter()
            .flat_map(|part| self.shape(part, fraction));
        drive.anchors = self.cloth.vertex_tensor(&places.collect::<Vec<_>>());
        if let Some(k) = hold {
            let mut seconds = vec![0.0; self.cloth.topology.hinges.len()];
            for (part, point) in self.parts.iter().zip(self.points) {
                seconds[part.hinges.clone()].fill(self.hold_seconds(point.press, k));
            }
            drive.hinge_seconds = Some(self.cloth.compute.tensor(&seconds, [1, seconds.len()]));
        }
        drive
    }

    /// Length of step `k` of a hold; none in the last.
    fn hold_seconds(&self, press: f64, k: usize) -> f64 {
        let times = log_times(
            press * 10f64.powi(-HOLD_DECADES),
            press,
            self.test.hold_steps,
        );
        let before = if k == 0 {
            0.0
        } else {
            times.get(k - 1).copied().unwrap_or(press)
        };
        times.get(k).map_or(0.0, |t| t - before)
    }

    /// Positions of a strip that is folded by `fraction`.
    fn shape(&self, part: &StripPart, fraction: f64) -> Vec<[f64; 3]> {
        let leg = self.test.leg();
        let (first, last) = (-PI / 2.0, PI / 2.0);
        let legs = |angle: f64| std::iter::repeat_n(angle, leg);
        let angles = legs(first)
            .chain(self.tangents.iter().copied())
            .chain(legs(last));
        let origin = self.cloth.mesh.positions[part.first_vertex];
        let mut along = vec![[origin[0], origin[2]]];
        for angle in angles {
            let [x, z] = along[along.len() - 1];
            let (sine, cosine) = (fraction * angle).sin_cos();
            along.push([x + part.cell * cosine, z + part.cell * sine]);
        }
        let columns = along.len();
        let own = part.own_vertices();
        own.enumerate()
            .map(|(k, v)| {
                let [x, z] = along[k % columns];
                [x, self.cloth.mesh.positions[v][1], z]
            })
            .collect()
    }

    /// A step of the damped release: only the first cell stays where the fold had it.
    fn released(&self, k: usize) -> Drive {
        let (low, high) = RELEASE_SHARE;
        let along = k as f64 / (RELEASE_RISE * self.test.release_steps as f64);
        let share = low * (high / low).powf(along.min(1.0));
        let mut drive = self.cloth.free_drive(DAMPING * share / (1.0 - share));
        drive.material_seconds = 0.0;
        let columns = self.test.cells + 2 * self.test.leg() + 1;
        let mut free = vec![1.0; self.cloth.vertices()];
        for part in self.parts {
            for row in 0..2 {
                let corner = part.first_vertex + row * columns;
                free[corner] = 0.0;
                free[corner + 1] = 0.0;
            }
        }
        drive.pinned = true;
        drive.free = self.cloth.compute.tensor(&free, [1, free.len()]);
        let places = self.parts.iter().flat_map(|part| self.shape(part, 1.0));
        drive.anchors = self.cloth.vertex_tensor(&places.collect::<Vec<_>>());
        drive
    }

    pub(crate) fn watch(&self, part: &StripPart) -> WatchedReading {
        let columns = self.test.cells + 2 * self.test.leg() + 1;
        let column = |c: usize| vec![part.first_vertex + c, part.first_vertex + columns + c];
        let leg = self.test.leg();
        WatchedReading {
            after: self.test.steps(),
            reading: Reading::RecoveryAngle {
                roots: [column(leg), column(columns - 1 - leg)],
                tips: [column(0), column(columns - 1)],
            },
            weight: 1.0,
        }
    }
}
