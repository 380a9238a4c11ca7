//! Which frames a round of E-Net asks for, and where they begin.

use super::Curriculum;
use crate::learn::lesson::Lesson;

/// Share of the first cycle after which all bends are trained.
const GROWN: f64 = 0.6;

/// Every so many frames are asked for in a round, others in the next.
const STRIDE: usize = 2;

/// Which frames a round asks for, and where they begin. In the first cycle bends grow: cloth that buckles has many shapes, and the
/// one that follows from the smaller bend is the one that is asked for.
pub(super) struct AskedFrames {
    /// Within the cycle.
    step: usize,
    /// The furthest bend \[rad\], and the rounds until it is asked for; in the first cycle only.
    growth: Option<(f64, f64)>,
    /// See [`Training::neighbours`](crate::learn::Training::neighbours).
    neighbours: bool,
}

impl AskedFrames {
    /// Those of a step of a cycle.
    pub(super) fn new(
        lessons: &[&Lesson],
        (cycle, step): (usize, usize),
        course: &Curriculum,
    ) -> AskedFrames {
        let turned = lessons.iter().flat_map(|lesson| &lesson.turned);
        let furthest = turned.fold(0.0, |m: f64, x| m.max(*x));
        let rounds = GROWN * course.elastic_steps(cycle) as f64;
        AskedFrames {
            step,
            growth: (cycle == 0).then_some((furthest, rounds)),
            neighbours: course.case.training.neighbours,
        }
    }

    /// The furthest bend of the first so many rounds \[rad\].
    fn reach(&self, rounds: usize) -> f64 {
        let grown = |(furthest, all): (f64, f64)| furthest * (rounds as f64 / all);
        self.growth.map_or(f64::INFINITY, grown)
    }

    /// Whether the round asks for a frame.
    pub(super) fn asks(&self, lesson: &Lesson, frame: usize) -> bool {
        asked_in(self.step, frame) && lesson.turned[frame] <= self.reach(self.step + 1)
    }

    /// Whether no round has asked for a frame before, so that it begins at a neighbour. The very first round knows none.
    pub(super) fn is_new(&self, lesson: &Lesson, frame: usize) -> bool {
        let before = self.reach((self.step + 1).saturating_sub(STRIDE));
        self.neighbours && self.step > 0 && lesson.turned[frame] > before
    }

    /// Whether new frames begin at neighbours: in the first cycle, unless [`Training::neighbours`](crate::learn::Training::neighbours) is off.
    pub(super) fn starts_at_neighbours(&self) -> bool {
        self.neighbours && self.growth.is_some()
    }

    /// The frame at which one begins: itself, or for a new one the nearest that the round before has asked for.
    pub(super) fn from(&self, lesson: &Lesson, frame: usize) -> usize {
        if !self.asks(lesson, frame) || !self.is_new(lesson, frame) {
            return frame;
        }
        let (step, reach) = (self.step - 1, self.reach(self.step));
        let known = |k: &usize| asked_in(step, *k) && lesson.turned[*k] <= reach;
        let known = (0..lesson.frames()).filter(known);
        known.min_by_key(|k| k.abs_diff(frame)).unwrap_or(frame)
    }
}

/// Whether a round asks for a frame that is bent little enough. Neighbouring frames tell much the same.
fn asked_in(step: usize, frame: usize) -> bool {
    (frame + step).is_multiple_of(STRIDE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        learn::{BodyMotion, LearnCase},
        numeric::{Compute, Precision},
    };

    fn course(neighbours: bool) -> Curriculum {
        let mut case = LearnCase::default();
        case.training.neighbours = neighbours;
        let scene = case.scene().unwrap();
        Curriculum::new(case, scene, &Compute::cpu(Precision::F32)).unwrap()
    }

    #[test]
    fn bends_grow_from_frames_that_are_known() {
        let [course, guessing] = [true, false].map(course);
        let motion = BodyMotion::canonical(&course.scene.body);
        let lesson = Lesson::new(&course.scene, motion, &course.compute).unwrap();
        let mut known = vec![false; lesson.frames()];
        for step in 0..course.elastic_steps(0) {
            let round = AskedFrames::new(&[&lesson], (0, step), &course);
            let guesses = AskedFrames::new(&[&lesson], (0, step), &guessing);
            let asked: Vec<usize> = (0..known.len())
                .filter(|k| round.asks(&lesson, *k))
                .collect();
            for &frame in &asked {
                let new = round.is_new(&lesson, frame);
                let bent = lesson.turned[frame] > 0.0;
                assert_eq!(new, step > 0 && bent && !known[frame], "{step} {frame}");
                let from = round.from(&lesson, frame);
                if new {
                    assert!(known[from], "{step}: {frame} from {from}");
                } else {
                    assert_eq!(from, frame);
                }
                assert!(guesses.asks(&lesson, frame) && !guesses.is_new(&lesson, frame));
                assert_eq!(guesses.from(&lesson, frame), frame);
            }
            for frame in asked {
                known[frame] = true;
            }
            let grown = known.iter().all(|k| *k);
            // 24 rounds of 40, and one more for every other frame.
            assert_eq!(grown, step >= 24, "{step}");
        }
        let later = AskedFrames::new(&[&lesson], (1, 1), &course);
        for frame in 0..lesson.frames() {
            assert!(!later.is_new(&lesson, frame));
            assert_eq!(later.asks(&lesson, frame), frame % 2 == 1);
        }
    }
}
