//! What a network is told about the body: joint features (paper 2, after Neural Cloth Simulation).

use super::{
    BodyMotion,
    skeleton::{Skeleton, rotation},
};

/// Numbers of each joint that say how it stands.
pub(crate) const STATIC: usize = 9;
/// Numbers of each joint that say how it moves.
pub(crate) const DYNAMIC: usize = 12;

/// Features of all frames of a motion, flat, shape `[frames, joints, 9]` and `[frames, joints, 12]`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Features {
    /// Two columns of the joint's own rotation, and the direction of gravity seen from the joint.
    pub standing: Vec<f64>,
    /// Rates of these \[1/s\], and the joint's acceleration seen from the joint \[m/s²\]; zero while there is no
    /// past. Where the body stands in space and which way it faces about gravity does not matter.
    pub moving: Vec<f64>,
}

impl Features {
    /// The features of a motion; `gravity` is a unit vector.
    pub(crate) fn new(skeleton: &Skeleton, motion: &BodyMotion, gravity: [f64; 3]) -> Features {
        let joints = skeleton.joints();
        let mut standing: Vec<f64> = Vec::new();
        let mut moving = Vec::new();
        let mut past: Vec<Vec<[f64; 3]>> = Vec::new();
        for (turns, root) in motion.turns.iter().zip(&motion.root) {
            let posed = skeleton.pose(turns, *root);
            let seen = |joint: usize, v: [f64; 3]| -> [f64; 3] {
                let turn = &posed[joint].turn;
                std::array::from_fn(|k| (0..3).map(|a| turn[a][k] * v[a]).sum())
            };
            let places: Vec<[f64; 3]> = posed
                .iter()
                .zip(joints)
                .map(|(t, j)| t.apply(j.place))
                .collect();
            let last = standing.len().checked_sub(STATIC * joints.len());
            for (joint, turn) in turns.iter().enumerate() {
                let own = rotation(*turn);
                let down = seen(joint, gravity);
                let now: Vec<f64> = [0, 1]
                    .into_iter()
                    .flat_map(|k| own.map(|row| row[k]))
                    .chain(down)
                    .collect();
                match last {
                    None => moving.extend([0.0; STATIC]),
                    Some(last) => moving.extend(
                        now.iter()
                            .zip(&standing[last + STATIC * joint..])
                            .map(|(a, b)| (a - b) / motion.seconds),
                    ),
                }
                let acceleration = match &past[past.len().saturating_sub(2)..] {
                    [before, previous] => std::array::from_fn(|a| {
                        let jump = places[joint][a] - 2.0 * previous[joint][a] + before[joint][a];
                        jump / (motion.seconds * motion.seconds)
                    }),
                    _ => [0.0; 3],
                };
                moving.extend(seen(joint, acceleration));
                standing.extend(now);
            }
            past.push(places);
        }
        Features { standing, moving }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::learn::Body;

    const DOWN: [f64; 3] = [0.0, 0.0, -1.0];

    fn features(motion: &BodyMotion) -> Features {
        Features::new(&Body::arm().skeleton, motion, DOWN)
    }

    #[test]
    fn features_have_one_row_a_joint_and_say_what_moves() {
        let motion = BodyMotion::canonical(&Body::arm());
        let all = features(&motion);
        assert_eq!(all.standing.len(), 95 * 2 * STATIC);
        assert_eq!(all.moving.len(), 95 * 2 * DYNAMIC);
        // At rest nothing moves and gravity is down; at 90° the forearm sees it along its own +y turned to −y.
        let standing = |frame: usize, joint: usize| {
            let first = (2 * frame + joint) * STATIC;
            &all.standing[first..first + STATIC]
        };
        assert_eq!(
            standing(3, 1),
            [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, -1.0]
        );
        let bent = standing(40, 1);
        assert!(
            (bent[7].abs() - 1.0).abs() < 1e-12 && bent[8].abs() < 1e-12,
            "{bent:?}"
        );
        let moving = |frame: usize| &all.moving[2 * frame * DYNAMIC..2 * (frame + 1) * DYNAMIC];
        assert!(
            moving(5).iter().all(|x| *x == 0.0)
                && moving(20)[DYNAMIC..].iter().any(|x| x.abs() > 0.5)
        );
    }

    #[test]
    fn where_the_body_stands_and_which_way_it_faces_does_not_matter() {
        let motion = BodyMotion::canonical(&Body::arm());
        let here = features(&motion);
        let mut there = motion.clone();
        for root in &mut there.root {
            *root = [3.0, -2.0, 1.0];
        }
        // Turned about gravity, at the root; its own rotation is a feature, so joint 1 is looked at.
        for turns in &mut there.turns {
            turns[0] = [0.0, 0.0, 0.8];
        }
        let there = features(&there);
        let second = |values: &[f64], width: usize| -> Vec<f64> {
            values
                .chunks(width)
                .skip(1)
                .step_by(2)
                .flatten()
                .copied()
                .collect()
        };
        for width in [STATIC, DYNAMIC] {
            let pick = |f: &Features| {
                second(
                    if width == STATIC {
                        &f.standing
                    } else {
                        &f.moving
                    },
                    width,
                )
            };
            let gap = pick(&here)
                .iter()
                .zip(pick(&there))
                .map(|(a, b)| (a - b).abs())
                .fold(0.0, f64::max);
            assert!(gap < 1e-9, "{gap}");
        }
    }
}
