//! Motions: one pose a frame. The synthetic ones bend, hold and straighten; training, validation and test are
//! apart by construction.

use super::Body;
use crate::numeric::Random;

/// A motion in the layout of AMASS.
#[derive(Debug, Clone, PartialEq)]
pub struct BodyMotion {
    /// For reports.
    pub name: String,
    /// Time from frame to frame, h \[s\].
    pub seconds: f64,
    /// Rotation of every joint against its parent as axis times angle \[rad\], shape `[frames][joints]`.
    pub turns: Vec<Vec<[f64; 3]>>,
    /// Where the root is moved \[m\], shape `[frames]`.
    pub root: Vec<[f64; 3]>,
}

/// One bend of joint 1: rest, flex, hold, extend, all in frames. Flexing and extending follow a smoothstep.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct JointBend {
    /// Largest angle \[rad\].
    pub peak: f64,
    /// Frames of rest before.
    pub rest: usize,
    /// Frames from straight to the peak.
    pub flex: usize,
    /// Frames at the peak.
    pub hold: usize,
    /// Frames from the peak back to straight.
    pub extend: usize,
}

/// Which motions a model may see.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Split {
    /// Seen in training.
    Train,
    /// For choosing among trained models.
    Validation,
    /// Never trained with, nor for stopping early.
    Test,
}

impl Split {
    /// Cells of its peaks in the order in which bends take turns, so that a few motions know all of them.
    fn cells(self, seed: u64) -> Vec<usize> {
        let fits = |cell: &usize| match self {
            Split::Train => cell % 5 != 1 && cell % 5 != 3,
            Split::Validation => cell % 5 == 1,
            Split::Test => cell % 5 == 3,
        };
        let mut cells: Vec<usize> = (0..CELLS).filter(fits).collect();
        Random::stream(seed, CELL_ORDER).shuffle(&mut cells);
        cells
    }

    /// The bend of a motion.
    fn bend(self, seed: u64, number: u64) -> JointBend {
        let (stream, flex) = match self {
            Split::Train => (1, (18, 32)),
            Split::Validation => (2, (18, 32)),
            // Up to 5 frames quicker and slower than any that was trained.
            Split::Test => (3, (13, 37)),
        };
        let mut random = Random::stream(seed, 3 * number + stream);
        let cells = self.cells(seed);
        JointBend::draw(cells[number as usize % cells.len()], flex, &mut random)
    }
}

/// Peaks are drawn from cells of this width \[deg\]: of five neighbouring cells one is for validation and one
/// for the test, so that no test motion has a peak that was trained.
const CELL_DEG: f64 = 6.0;
/// The first cell starts here \[deg\].
const LOWEST_DEG: f64 = 39.0;
/// So many cells: up to 111°. The canonical 90° is in the middle of one of the test.
const CELLS: usize = 12;
/// Number of the random stream.
const CELL_ORDER: u64 = 3 << 32;

impl JointBend {
    /// The scene that EPNET.md was measured with: 90°, 8 frames of rest, 25 up, 10 held, 25 down.
    pub fn canonical() -> JointBend {
        JointBend {
            peak: std::f64::consts::FRAC_PI_2,
            rest: 8,
            flex: 25,
            hold: 10,
            extend: 25,
        }
    }

    /// Frames until the joint is straight again.
    pub fn frames(&self) -> usize {
        self.rest + self.flex + self.hold + self.extend
    }

    /// The angle at a frame \[rad\].
    pub fn angle(&self, frame: usize) -> f64 {
        let ramp = |done: usize, of: usize| {
            let u = if of == 0 {
                1.0
            } else {
                (done as f64 / of as f64).min(1.0)
            };
            u * u * (3.0 - 2.0 * u)
        };
        let up = frame.saturating_sub(self.rest);
        let down = frame.saturating_sub(self.rest + self.flex + self.hold);
        self.peak * (ramp(up, self.flex) - ramp(down, self.extend))
    }

    /// A bend with a peak from a cell and flexing and extending within least and most frames, drawn from a seeded stream.
    /// All of it takes at most 94 frames.
    fn draw(cell: usize, flex: (usize, usize), random: &mut Random) -> JointBend {
        let mut between = |(least, most): (usize, usize)| least + random.below(most - least + 1);
        let (flex, extend) = (between(flex), between(flex));
        let (rest, hold) = (between((4, 8)), between((5, 12)));
        let peak_deg = LOWEST_DEG + CELL_DEG * (cell as f64 + random.uniform());
        JointBend {
            peak: peak_deg.to_radians(),
            rest,
            flex,
            hold,
            extend,
        }
    }
}

impl BodyMotion {
    /// Most frames of a motion that is simulated or predicted, five minutes and a half at 30 a second. All are kept, with how the
    /// garment goes with the body: 70 to 100 kB a frame of the default garment, 1 GB together.
    pub const MOST_FRAMES: usize = 10_000;

    /// From frame to frame of the synthetic motions \[s\], as in paper 2.
    pub const SECONDS: f64 = 1.0 / 30.0;

    /// Bends of joint 1 of a body, one after the other, then rest until `frames` are full.
    pub fn bends(name: &str, body: &Body, bends: &[JointBend], frames: usize) -> BodyMotion {
        let axis = body.bend_axis;
        let angle = |mut frame: usize| {
            for bend in bends {
                if frame < bend.frames() {
                    return bend.angle(frame);
                }
                frame -= bend.frames();
            }
            0.0
        };
        let joints = body.skeleton.joints().len();
        let pose = |frame: usize| {
            let mut turns = vec![[0.0; 3]; joints];
            if let Some(turn) = turns.get_mut(1) {
                *turn = axis.map(|a| a * angle(frame));
            }
            turns
        };
        BodyMotion {
            name: name.into(),
            seconds: BodyMotion::SECONDS,
            turns: (0..frames).map(pose).collect(),
            root: vec![[0.0; 3]; frames],
        }
    }

    /// `JointBend::canonical` and rest, 95 frames.
    pub fn canonical(body: &Body) -> BodyMotion {
        BodyMotion::bends("90°", body, &[JointBend::canonical()], 95)
    }

    /// A body that does not move: the unloaded control.
    pub fn still(body: &Body, frames: usize) -> BodyMotion {
        BodyMotion::bends("still", body, &[], frames)
    }

    /// Number `number` of the motions of a split, cut off after `frames`.
    pub fn draw(body: &Body, split: Split, seed: u64, number: u64, frames: usize) -> BodyMotion {
        let name = match split {
            Split::Train => "train",
            Split::Validation => "validation",
            Split::Test => "test",
        };
        let bend = split.bend(seed, number);
        let name = format!("{name} {number} ({:.0}°)", bend.peak.to_degrees());
        BodyMotion::bends(&name, body, &[bend], frames)
    }

    /// Its name for a file: words with dashes between them.
    pub fn file_stem(&self) -> String {
        let words = self.name.split(|c: char| !c.is_alphanumeric());
        let words: Vec<&str> = words.filter(|w| !w.is_empty()).collect();
        words.join("-")
    }

    /// Number of frames.
    pub fn frames(&self) -> usize {
        self.turns.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_canonical_bend_rests_flexes_holds_and_extends() {
        let bend = JointBend::canonical();
        let degrees = |frame| bend.angle(frame).to_degrees();
        assert_eq!([degrees(0), degrees(8), degrees(68), degrees(94)], [0.0; 4]);
        assert!((33..=43).all(|frame| (degrees(frame) - 90.0).abs() < 1e-12));
        assert!(degrees(9) > 0.1 && degrees(44) < 89.9);
        let motion = BodyMotion::canonical(&Body::arm());
        assert_eq!(motion.frames(), 95);
        assert!((motion.turns[40][1][0] + std::f64::consts::FRAC_PI_2).abs() < 1e-12);
    }

    /// Cells of the peaks that the motions of a split reach.
    fn cells(split: Split, seed: u64, motions: u64) -> Vec<usize> {
        let body = Body::arm();
        let cell = |number: u64| {
            let motion = BodyMotion::draw(&body, split, seed, number, 95);
            let angles = motion.turns.iter().map(|turns| turns[1][0].abs());
            let peak = angles.fold(0.0, f64::max).to_degrees();
            ((peak - LOWEST_DEG) / CELL_DEG) as usize
        };
        let mut cells: Vec<usize> = (0..motions).map(cell).collect();
        cells.sort_unstable();
        cells.dedup();
        cells
    }

    #[test]
    fn no_test_motion_has_a_peak_that_was_trained_and_eight_motions_know_all_that_are() {
        for seed in 1..4 {
            let train = cells(Split::Train, seed, 8);
            let (validation, test) = (
                cells(Split::Validation, seed, 9),
                cells(Split::Test, seed, 9),
            );
            assert_eq!((train.len(), validation.len(), test.len()), (7, 3, 2));
            let mut all = [train, validation, test].concat();
            all.sort_unstable();
            assert_eq!(all, (0..CELLS).collect::<Vec<_>>());
        }
    }

    #[test]
    fn a_seed_and_a_number_are_a_motion() {
        let body = Body::torso();
        let draw = |split, seed, number| BodyMotion::draw(&body, split, seed, number, 95);
        assert_eq!(draw(Split::Train, 1, 2), draw(Split::Train, 1, 2));
        assert_ne!(draw(Split::Train, 1, 2), draw(Split::Train, 1, 3));
        assert_ne!(draw(Split::Train, 1, 2), draw(Split::Train, 2, 2));
        assert_ne!(
            draw(Split::Train, 1, 2).turns,
            draw(Split::Test, 1, 2).turns
        );
    }
}
