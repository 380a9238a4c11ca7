//! Obstacles as triangle meshes, to be drawn.

use std::f64::consts::{FRAC_PI_2, PI, TAU};

use crate::contact::Obstacle;
use crate::mesh::surface::{Triple, cross, unit};

/// A mesh about the origin.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct ObstacleShape {
    /// \[m\], shape \[vertices, 3\].
    pub positions: Vec<[f64; 3]>,
    /// Shape \[triangles, 3\].
    pub triangles: Vec<[usize; 3]>,
}

/// Corners around a round shape.
const AROUND: usize = 72;
/// Corners from pole to pole.
const ALONG: usize = 36;

impl ObstacleShape {
    /// The mesh of an obstacle about its centre. What has no end is shown `reach` \[m\] far. A container is
    /// not shown, since it would hide the cloth.
    pub(crate) fn of(obstacle: &Obstacle, reach: f64) -> ObstacleShape {
        match *obstacle {
            Obstacle::Plane { normal } => plane(normal, reach),
            Obstacle::Sphere { radius } => revolved([0.0, 0.0, 1.0], &dome(radius, 0.0)),
            Obstacle::Capsule { half_axis, radius } => {
                let half = half_axis.iter().map(|a| a * a).sum::<f64>().sqrt();
                revolved(half_axis, &dome(radius, half))
            }
            Obstacle::Cylinder { inside: true, .. } => ObstacleShape::default(),
            Obstacle::Cylinder { axis, radius, .. } => {
                revolved(axis, &[(radius, -reach), (radius, reach)])
            }
            Obstacle::Block { half } => block(half),
        }
    }
}

/// Radius and height from pole to pole of a sphere whose halves are `half` away from the middle.
fn dome(radius: f64, half: f64) -> Vec<(f64, f64)> {
    let point = |i: usize| {
        let angle = PI * i as f64 / ALONG as f64 - FRAC_PI_2;
        let lift = if i <= ALONG / 2 { -half } else { half };
        // Poles are kept apart from the axis: triangles without area have no normal.
        (radius * angle.cos().max(1e-3), radius * angle.sin() + lift)
    };
    let lower = (0..=ALONG / 2).map(point);
    let upper = (ALONG / 2..=ALONG).map(|i| match i == ALONG / 2 {
        true => (radius, half),
        false => point(i),
    });
    if half > 0.0 {
        lower.chain(upper).collect()
    } else {
        (0..=ALONG).map(point).collect()
    }
}

/// Two directions across an axis.
fn across(axis: Triple) -> (Triple, Triple, Triple) {
    let axis = unit(axis).unwrap_or([0.0, 0.0, 1.0]);
    let other = if axis[0].abs() < 0.7 {
        [1.0, 0.0, 0.0]
    } else {
        [0.0, 1.0, 0.0]
    };
    let first = unit(cross(axis, other)).unwrap_or([0.0, 1.0, 0.0]);
    (axis, first, cross(axis, first))
}

/// A profile of (radius, height) turned about an axis, its front outside.
fn revolved(axis: Triple, profile: &[(f64, f64)]) -> ObstacleShape {
    let (axis, first, second) = across(axis);
    let mut shape = ObstacleShape::default();
    for (radius, height) in profile {
        for i in 0..AROUND {
            let (sin, cos) = (TAU * i as f64 / AROUND as f64).sin_cos();
            let point = |k: usize| height * axis[k] + radius * (cos * first[k] + sin * second[k]);
            shape.positions.push([point(0), point(1), point(2)]);
        }
    }
    for row in 1..profile.len() {
        for i in 0..AROUND {
            let next = (i + 1) % AROUND;
            let at = |row: usize, i: usize| row * AROUND + i;
            let (a, b) = (at(row - 1, i), at(row - 1, next));
            let (c, d) = (at(row, i), at(row, next));
            shape.triangles.extend([[a, b, d], [a, d, c]]);
        }
    }
    shape
}

fn plane(normal: Triple, reach: f64) -> ObstacleShape {
    let (_, first, second) = across(normal);
    let corner = |a: f64, b: f64| std::array::from_fn(|k| reach * (a * first[k] + b * second[k]));
    ObstacleShape {
        positions: vec![
            corner(-1.0, -1.0),
            corner(1.0, -1.0),
            corner(1.0, 1.0),
            corner(-1.0, 1.0),
        ],
        triangles: vec![[0, 1, 2], [0, 2, 3]],
    }
}

/// Six faces with corners of their own, so that edges stay sharp.
fn block(half: [f64; 3]) -> ObstacleShape {
    let mut shape = ObstacleShape::default();
    for axis in 0..3 {
        for side in [-1.0, 1.0] {
            let first = shape.positions.len();
            for (a, b) in [(-1.0, -1.0), (side, -side), (1.0, 1.0), (-side, side)] {
                let mut corner = [0.0; 3];
                corner[axis] = side * half[axis];
                corner[(axis + 1) % 3] = a * half[(axis + 1) % 3];
                corner[(axis + 2) % 3] = b * half[(axis + 2) % 3];
                shape.positions.push(corner);
            }
            shape
                .triangles
                .extend([[first, first + 1, first + 2], [first, first + 2, first + 3]]);
        }
    }
    shape
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::surface::{dot, minus};

    /// Fronts are outside and volumes are right: the divergence theorem over the closed shapes.
    #[test]
    fn shapes_have_their_volume() {
        let volume = |shape: &ObstacleShape| -> f64 {
            let part = |t: &[usize; 3]| {
                let [a, b, c] = t.map(|v| shape.positions[v]);
                dot(a, cross(minus(b, a), minus(c, a))) / 6.0
            };
            shape.triangles.iter().map(part).sum()
        };
        let near = |shape: Obstacle, expected: f64| {
            let got = volume(&ObstacleShape::of(&shape, 1.0));
            // Chords of 72 and 36 corners lie within half a percent of the circle.
            assert!(
                (got / expected - 1.0).abs() < 0.01,
                "{shape:?}: {got} {expected}"
            );
        };
        near(
            Obstacle::Block {
                half: [0.1, 0.2, 0.3],
            },
            0.048,
        );
        near(Obstacle::Sphere { radius: 0.3 }, 4.0 / 3.0 * PI * 0.027);
        let capsule = Obstacle::Capsule {
            half_axis: [0.3, 0.0, 0.4],
            radius: 0.2,
        };
        near(capsule, 4.0 / 3.0 * PI * 0.008 + PI * 0.04);
    }
}
