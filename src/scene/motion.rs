//! Scripted motions: where the points of a handle or an obstacle are at a moment.
//!
//! A motion is a pure function of the initial position and the time, so that a run can go on from any step
//! and a gradient can visit the steps backwards. Several compose in their order: each moves what the ones
//! before it made of the points.

use serde_json::{Value, json};

use super::{clock::interval, node::Node};
use crate::{
    error::Result,
    files::json::present,
    mesh::vector::{cross, dot, minus},
};

/// What a motion does when it is complete.
#[derive(Debug, Clone, PartialEq)]
pub enum Move {
    /// Shifts by a vector \[m\].
    Translate([f64; 3]),
    /// Turns about a line that is fixed in space.
    Rotate {
        /// Unit vector.
        axis: [f64; 3],
        /// A point of the line \[m\].
        about: [f64; 3],
        /// \[rad\], right-handed.
        angle: f64,
    },
    /// Turns about a line through the middle of the handle's own points, wherever they were moved to.
    Twist {
        /// Unit vector.
        axis: [f64; 3],
        /// \[rad\], right-handed.
        angle: f64,
    },
}

/// A motion over a stretch of time, and perhaps back again.
#[derive(Debug, Clone, PartialEq)]
pub struct HandleMotion {
    pub kind: Move,
    /// Begins \[s\].
    pub from: f64,
    /// Is complete \[s\].
    pub to: f64,
    /// Goes back between these moments \[s\].
    pub back: Option<(f64, f64)>,
    /// Starts and ends without a jump in speed; else at an even pace, as in paper 1.
    pub smooth: bool,
}

pub(super) const MOTION: [&str; 9] = [
    "from_s",
    "to_s",
    "back_from_s",
    "back_to_s",
    "pace",
    "translate_m",
    "press_m",
    "rotate",
    "twist",
];
const KINDS: [&str; 4] = ["translate_m", "press_m", "rotate", "twist"];
const MOST_DEGREES: f64 = 36_000.0;

impl HandleMotion {
    /// Reads the list under "motions"; `turning` allows rotate and twist.
    pub(super) fn read_all(owner: &Node, turning: bool) -> Result<Vec<HandleMotion>> {
        let list = owner.list("motions")?;
        list.iter()
            .map(|node| HandleMotion::read(node, turning))
            .collect()
    }

    fn read(node: &Node, turning: bool) -> Result<HandleMotion> {
        let section = node.known(&MOTION)?;
        let given: Vec<&str> = KINDS.into_iter().filter(|key| section.has(key)).collect();
        let [kind] = given[..] else {
            return node.refuse(format!(
                "must have one of {}, and has {}",
                KINDS.join(", "),
                if given.is_empty() {
                    "none".into()
                } else {
                    given.join(" and ")
                }
            ));
        };
        if !turning && ["rotate", "twist"].contains(&kind) {
            return node.refuse_key(
                kind,
                "is for handles; obstacles can be moved with translate_m or press_m",
            );
        }
        let range = (0.0, 1e12);
        let (from, to) = interval(node, "from_s", "to_s", range)?;
        let back = match section.has("back_from_s") || section.has("back_to_s") {
            false => None,
            true => Some(interval(node, "back_from_s", "back_to_s", (to, range.1))?),
        };
        if kind == "press_m" && back.is_none() {
            return node.refuse_key(
                "press_m",
                "goes there and back: add back_from_s and back_to_s, or write translate_m",
            );
        }
        Ok(HandleMotion {
            kind: Move::read(node, kind)?,
            from,
            to,
            back,
            smooth: section.optional_choice("pace", &["even", "smooth"])? == Some("smooth"),
        })
    }

    /// How much of the motion is done at a moment, 0 to 1.
    pub fn share(&self, seconds: f64) -> f64 {
        let done = |from: f64, to: f64| {
            let share = ((seconds - from) / (to - from)).clamp(0.0, 1.0);
            if self.smooth {
                share * share * (3.0 - 2.0 * share)
            } else {
                share
            }
        };
        let back = self.back.map_or(0.0, |(from, to)| done(from, to));
        done(self.from, self.to) - back
    }

    /// Moves points to where they are at a moment.
    pub fn apply(&self, points: &mut [[f64; 3]], seconds: f64) {
        let share = self.share(seconds);
        match self.kind {
            Move::Translate(by) => {
                for point in points {
                    *point = along(*point, by, share);
                }
            }
            Move::Rotate { axis, about, angle } => turn(points, axis, about, share * angle),
            Move::Twist { axis, angle } => {
                let about = middle(points);
                turn(points, axis, about, share * angle);
            }
        }
    }

    pub(super) fn to_json(&self) -> Value {
        let kind = match &self.kind {
            Move::Translate(by) => json!({ "translate_m": by }),
            Move::Rotate { axis, about, angle } => {
                json!({ "rotate": {"axis": axis, "about_m": about, "angle_deg": angle.to_degrees()} })
            }
            Move::Twist { axis, angle } => {
                json!({ "twist": {"axis": axis, "angle_deg": angle.to_degrees()} })
            }
        };
        let times = json!({
            "from_s": self.from,
            "to_s": self.to,
            "back_from_s": self.back.map(|back| back.0),
            "back_to_s": self.back.map(|back| back.1),
            "pace": if self.smooth { "smooth" } else { "even" },
        });
        present([kind, times])
    }
}

impl Move {
    fn read(node: &Node, kind: &str) -> Result<Move> {
        let Some(turning) = node.child(kind) else {
            return node.refuse_key(kind, "is missing");
        };
        if ["translate_m", "press_m"].contains(&kind) {
            return Ok(Move::Translate(turning.triple()?));
        }
        let keys: &[&str] = match kind {
            "rotate" => &["axis", "about_m", "angle_deg"],
            _ => &["axis", "angle_deg"],
        };
        let section = turning.known(keys)?;
        let axis = turning.required_direction("axis")?;
        let angle = section.required_number("angle_deg", (-MOST_DEGREES, MOST_DEGREES))?;
        let angle = angle.to_radians();
        Ok(match kind {
            "rotate" => Move::Rotate {
                axis,
                about: turning.vector("about_m")?.unwrap_or_default(),
                angle,
            },
            _ => Move::Twist { axis, angle },
        })
    }
}

/// point + share·by.
fn along(point: [f64; 3], by: [f64; 3], share: f64) -> [f64; 3] {
    std::array::from_fn(|i| point[i] + share * by[i])
}

fn middle(points: &[[f64; 3]]) -> [f64; 3] {
    let count = points.len().max(1) as f64;
    std::array::from_fn(|i| points.iter().map(|p| p[i]).sum::<f64>() / count)
}

/// Turns points by `angle` \[rad\] about a line (Rodrigues).
pub(super) fn turn(points: &mut [[f64; 3]], axis: [f64; 3], about: [f64; 3], angle: f64) {
    let (sin, cos) = angle.sin_cos();
    for point in points {
        let arm = minus(*point, about);
        let side = cross(axis, arm);
        let forth = dot(axis, arm) * (1.0 - cos);
        *point = std::array::from_fn(|i| about[i] + arm[i] * cos + side[i] * sin + axis[i] * forth);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn motion(kind: Move, smooth: bool) -> HandleMotion {
        HandleMotion {
            kind,
            from: 1.0,
            to: 2.0,
            back: Some((3.0, 5.0)),
            smooth,
        }
    }

    /// There, held, back: the share of both paces is 0, 1 and 0 again, and a half in the middle.
    #[test]
    fn motions_go_there_and_back() {
        for smooth in [false, true] {
            let motion = motion(Move::Translate([0.0, 0.0, 2.0]), smooth);
            let shares = [0.0, 1.0, 1.5, 2.0, 2.9, 4.0, 5.0, 9.0].map(|t| motion.share(t));
            assert_eq!(shares, [0.0, 0.0, 0.5, 1.0, 1.0, 0.5, 0.0, 0.0]);
        }
    }

    /// A rotation keeps its line, a twist turns about the points' own middle after they were moved.
    #[test]
    fn turning_keeps_the_axis() {
        let start = [[1.0, 0.0, 0.0], [3.0, 0.0, 0.0]];
        let quarter = std::f64::consts::FRAC_PI_2;
        let axis = [0.0, 0.0, 1.0];
        let mut points = start;
        let about = [1.0, 0.0, 7.0];
        motion(
            Move::Rotate {
                axis,
                about,
                angle: quarter,
            },
            false,
        )
        .apply(&mut points, 2.0);
        let near = |a: [f64; 3], b: [f64; 3]| {
            // A few roundings of numbers of order 1.
            assert!(
                a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-14),
                "{a:?} {b:?}"
            );
        };
        near(points[0], [1.0, 0.0, 0.0]);
        near(points[1], [1.0, 2.0, 0.0]);
        let mut points = start;
        motion(Move::Translate([0.0, 5.0, 0.0]), false).apply(&mut points, 2.0);
        motion(
            Move::Twist {
                axis,
                angle: quarter,
            },
            false,
        )
        .apply(&mut points, 2.0);
        near(points[0], [2.0, 4.0, 0.0]);
        near(points[1], [2.0, 6.0, 0.0]);
    }
}
