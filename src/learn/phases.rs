//! When a motion is before, in and after its bend.

use std::ops::Range;

use super::BodyMotion;
use crate::mesh::vector::{length, minus};

/// Frames of a motion at which something changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Phases {
    /// The last one before the body moves.
    pub begin: usize,
    /// Those with the body bent the furthest, the first time.
    pub peak: Range<usize>,
    /// The first one with the body back where it began, for good; none where it never is.
    pub end: Option<usize>,
}

/// Share of the largest turn that counts as no turn at all.
const STILL: f64 = 1e-3;

impl BodyMotion {
    /// From how far the joints are turned against the first frame; none for a body that does not move.
    pub fn phases(&self) -> Option<Phases> {
        let first = self.turns.first()?;
        let turned = |turns: &Vec<[f64; 3]>| {
            let joints = turns.iter().zip(first);
            joints
                .map(|(now, then)| length(minus(*now, *then)))
                .fold(0.0, f64::max)
        };
        let turned: Vec<f64> = self.turns.iter().map(turned).collect();
        let largest = turned.iter().copied().fold(0.0, f64::max);
        if largest == 0.0 {
            return None;
        }
        let moves = |size: &f64| *size > STILL * largest;
        let is_peak = |size: &f64| *size >= (1.0 - STILL) * largest;
        let from = turned.iter().position(is_peak)?;
        let held = turned[from..]
            .iter()
            .take_while(|size| is_peak(size))
            .count();
        let end = turned.iter().rposition(moves)? + 1;
        Some(Phases {
            begin: turned.iter().position(moves)?.saturating_sub(1),
            peak: from..from + held,
            end: (end < turned.len()).then_some(end),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::learn::{Body, JointBend};

    #[test]
    fn the_canonical_bend_moves_after_frame_8_and_is_straight_at_68() {
        let body = Body::arm();
        let motion = BodyMotion::canonical(&body);
        let phases = motion.phases().unwrap();
        assert_eq!((phases.begin, phases.end), (8, Some(68)));
        assert_eq!(phases.peak, 33..44);
        assert_eq!(BodyMotion::still(&body, 11).phases(), None);
        let cut = BodyMotion::bends("cut", &body, &[JointBend::canonical()], 50);
        assert_eq!(cut.phases().unwrap().end, None, "still bent");
    }
}
