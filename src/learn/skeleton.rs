//! Joints and how they turn.

use crate::{
    error::{Result, bad_input},
    mesh::vector::{dot, minus},
};

/// x ↦ turn·x + shift.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct JointTransform {
    /// Rows of a rotation.
    pub turn: [[f64; 3]; 3],
    /// \[m\]
    pub shift: [f64; 3],
}

impl JointTransform {
    /// Where a point goes.
    pub fn apply(&self, point: [f64; 3]) -> [f64; 3] {
        std::array::from_fn(|a| dot(self.turn[a], point) + self.shift[a])
    }
}

/// A joint of a skeleton.
#[derive(Debug, Clone, PartialEq)]
pub struct Joint {
    /// For messages and reports.
    pub name: String,
    /// The joint it hangs on; none for the root.
    pub parent: Option<usize>,
    /// Where it is in the rest pose \[m\].
    pub place: [f64; 3],
}

/// Joints in an order in which parents come before their children.
#[derive(Debug, Clone, PartialEq)]
pub struct Skeleton {
    joints: Vec<Joint>,
}

impl Skeleton {
    /// Refuses joints before their parents, a second root and places that are not finite.
    pub fn new(joints: Vec<Joint>) -> Result<Skeleton> {
        for (number, joint) in joints.iter().enumerate() {
            let Joint {
                name,
                parent,
                place,
            } = joint;
            if place.iter().any(|x| !x.is_finite()) {
                return bad_input(format!(
                    "joint {number} ({name}) is at {place:?}; give finite metres"
                ));
            }
            match parent {
                None if number > 0 => {
                    return bad_input(format!(
                        "joint {number} ({name}) has no parent; only joint 0, the root, may have none"
                    ));
                }
                Some(parent) if *parent >= number => {
                    return bad_input(format!(
                        "joint {number} ({name}) has parent {parent}; list parents before their children"
                    ));
                }
                _ => {}
            }
        }
        if joints.is_empty() {
            return bad_input("a skeleton without joints; give at least a root");
        }
        Ok(Skeleton { joints })
    }

    /// Joints of which each hangs on the one before; known to be sound.
    pub(super) fn of_chain(joints: Vec<Joint>) -> Skeleton {
        Skeleton { joints }
    }

    /// All joints.
    pub fn joints(&self) -> &[Joint] {
        &self.joints
    }

    /// Where the rest pose goes, joint by joint: `turns` are the joints' own rotations (axis times angle
    /// \[rad\], relative to the parent), `root` moves everything \[m\].
    pub fn pose(&self, turns: &[[f64; 3]], root: [f64; 3]) -> Vec<JointTransform> {
        let mut posed: Vec<JointTransform> = Vec::with_capacity(self.joints.len());
        for (joint, turn) in self.joints.iter().zip(turns) {
            let own = rotation(*turn);
            let (turn, place) = match joint.parent {
                None => (own, std::array::from_fn(|a| joint.place[a] + root[a])),
                Some(parent) => {
                    let parent = &posed[parent];
                    (product(&parent.turn, &own), parent.apply(joint.place))
                }
            };
            let turned = turn.map(|row| dot(row, joint.place));
            posed.push(JointTransform {
                turn,
                shift: minus(place, turned),
            });
        }
        posed
    }
}

/// a·b of matrices given by rows.
fn product(a: &[[f64; 3]; 3], b: &[[f64; 3]; 3]) -> [[f64; 3]; 3] {
    std::array::from_fn(|r| std::array::from_fn(|c| (0..3).map(|k| a[r][k] * b[k][c]).sum()))
}

/// The rotation about an axis by its length \[rad\] (Rodrigues), by rows; smooth also at zero.
pub(crate) fn rotation(axis_angle: [f64; 3]) -> [[f64; 3]; 3] {
    let squared = dot(axis_angle, axis_angle);
    let angle = squared.sqrt();
    // sin(a)/a and (1 − cos a)/a²; below 1e-4 their series, which is exact there in f64.
    let (sine, cosine) = if angle < 1e-4 {
        (1.0 - squared / 6.0, 0.5 - squared / 24.0)
    } else {
        (angle.sin() / angle, (1.0 - angle.cos()) / squared)
    };
    let [x, y, z] = axis_angle;
    let cross = [[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]];
    let twice = product(&cross, &cross);
    std::array::from_fn(|r| {
        std::array::from_fn(|c| {
            let one = if r == c { 1.0 } else { 0.0 };
            one + sine * cross[r][c] + cosine * twice[r][c]
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::FRAC_PI_2;

    fn joint(parent: Option<usize>, place: [f64; 3]) -> Joint {
        Joint {
            name: "j".into(),
            parent,
            place,
        }
    }

    fn near(a: [f64; 3], b: [f64; 3]) -> bool {
        a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-12)
    }

    #[test]
    fn a_rotation_turns_by_its_length_about_its_axis() {
        let turn = rotation([0.0, 0.0, FRAC_PI_2]);
        assert!(near(turn.map(|row| row[0]), [0.0, 1.0, 0.0]));
        // A general one keeps its axis and the lengths, and the series meets the closed form.
        for size in [1.0, 0.9999e-4, 1.0001e-4] {
            let axis = [0.48 * size, -0.6 * size, 0.64 * size];
            let turn = rotation(axis);
            assert!(near(turn.map(|row| dot(row, axis)), axis));
            for (a, b) in [(0, 0), (0, 1), (1, 2), (2, 2)] {
                let expected = if a == b { 1.0 } else { 0.0 };
                assert!((dot(turn[a], turn[b]) - expected).abs() < 1e-13);
            }
            assert!(
                (turn[1][0] - turn[0][1]) > 1.2 * size * 0.84,
                "it does turn"
            );
        }
    }

    #[test]
    fn a_chain_turns_about_its_joints() {
        let skeleton = Skeleton::new(vec![
            joint(None, [0.0; 3]),
            joint(Some(0), [1.0, 0.0, 0.0]),
            joint(Some(1), [2.0, 0.0, 0.0]),
        ])
        .unwrap();
        let quarter = [0.0, 0.0, FRAC_PI_2];
        let posed = skeleton.pose(&[[0.0; 3], quarter, quarter], [0.0, 0.0, 5.0]);
        assert!(near(posed[0].apply([1.0, 0.0, 0.0]), [1.0, 0.0, 5.0]));
        assert!(near(posed[1].apply([2.0, 0.0, 0.0]), [1.0, 1.0, 5.0]));
        assert!(near(posed[2].apply([3.0, 0.0, 0.0]), [0.0, 1.0, 5.0]));
    }

    #[test]
    fn joints_out_of_order_are_refused_by_name() {
        let message = |joints| Skeleton::new(joints).unwrap_err().to_string();
        let text = message(vec![joint(None, [0.0; 3]), joint(Some(1), [0.0; 3])]);
        assert!(text.starts_with("joint 1 (j) has parent 1"), "{text}");
        let text = message(vec![joint(None, [0.0; 3]), joint(None, [0.0; 3])]);
        assert!(text.contains("only joint 0, the root"), "{text}");
        assert!(message(vec![joint(None, [f64::NAN; 3])]).contains("finite metres"));
        assert!(message(vec![]).contains("without joints"));
    }
}
