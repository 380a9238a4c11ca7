//! Obstacles: signed distances, a soft normal force and regularised Coulomb friction.

use burn::tensor::Tensor;

use crate::{
    element::Vector,
    numeric::{Compute, Field, abs, max_zero, sign, smoothstep},
};

/// A shape, placed by its centre; it may be moved but does not turn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Obstacle {
    /// Everything behind the plane through the centre; `normal` points to the free side.
    Plane {
        /// Unit normal.
        normal: [f64; 3],
    },
    /// A ball.
    Sphere {
        /// \[m\]
        radius: f64,
    },
    /// All points within `radius` of a segment.
    Capsule {
        /// From the centre to the end of the segment \[m\].
        half_axis: [f64; 3],
        /// \[m\]
        radius: f64,
    },
    /// A cylinder without ends.
    Cylinder {
        /// Unit vector.
        axis: [f64; 3],
        /// \[m\]
        radius: f64,
        /// Whether the cloth is inside, as in a container.
        inside: bool,
    },
    /// A box along the axes; a thin one is a press plate.
    Block {
        /// Half of its sides \[m\].
        half: [f64; 3],
    },
}

/// An obstacle and how it touches.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Contact {
    /// Its shape.
    pub obstacle: Obstacle,
    /// Distance at which the cloth starts to feel it \[m\].
    pub thickness: f64,
    /// Force per depth and vertex \[N/m\].
    pub stiffness: f64,
    /// Coulomb's coefficient.
    pub friction: f64,
}

/// Where an obstacle is during a step.
#[derive(Debug, Clone)]
pub struct Pose {
    /// Centre at the end of the step \[m\], `[3, 1]`.
    pub center: Field,
    /// \[m/s\], `[3, 1]`.
    pub velocity: Field,
}

/// The share of the thickness over which the stiffness of a contact grows to its full value. This makes the slope
/// of the force continuous, and so the whole step. With a jump in the slope, a vertex that just touches would be
/// stopped within one step, however light the touch.
const SOFT_SHARE: f64 = 0.5;
/// Speed below which friction is viscous instead of Coulomb's \[m/s\]: a tenth of a millimetre a second.
const STICK_SPEED: f64 = 1e-4;
/// Keeps the square root away from zero \[m²\]; nothing is known about the direction there.
const TINY: f64 = 1e-24;

/// What a contact does to every vertex.
pub(crate) struct Touch {
    /// Unit normal, away from the obstacle, `[1, vertices]`.
    pub normal: Vector,
    /// Normal force \[N\].
    pub force: Field,
    /// Its derivative by depth \[N/m\].
    pub slope: Field,
    /// Friction force over relative speed \[N·s/m\].
    pub drag: Field,
}

impl Contact {
    /// The contact of vertices at `positions` that move at `velocities`, both `[3, vertices]`. Not smooth at
    /// the end of the soft share, at edges of boxes and on the axes of round shapes.
    pub(crate) fn touch(
        &self,
        pose: &Pose,
        positions: &Field,
        velocities: &Field,
        compute: &Compute,
    ) -> Touch {
        let from_center = Vector::from_rows(&(positions.clone() - pose.center.clone()));
        let (distance, normal) = self.obstacle.distance(&from_center, compute);
        let depth = distance * -1.0 + self.thickness;
        // Products: burn differentiates a division by a number in single precision.
        let per_soft = (self.thickness * SOFT_SHARE).recip();
        let share = depth.clone() * per_soft;
        let weight = smoothstep(&share);
        let deep = max_zero(&depth);
        let force = deep.clone() * weight.clone() * self.stiffness;
        let slope = (weight + deep * smoothstep_slope(&share) * per_soft) * self.stiffness;
        let relative = Vector::from_rows(&(velocities.clone() - pose.velocity.clone()));
        let sliding = relative.minus(&normal.times(&normal.dot(&relative)));
        let speed = (sliding.dot(&sliding) + STICK_SPEED * STICK_SPEED).sqrt();
        let drag = force.clone() * self.friction / speed;
        Touch {
            normal,
            force,
            slope,
            drag,
        }
    }
}

/// S'(u) of [`smoothstep`].
fn smoothstep_slope(u: &Field) -> Field {
    let outside = u
        .clone()
        .lower_equal_scalar(0.0)
        .bool_or(u.clone().greater_equal_scalar(1.0));
    let u = u.clone().mask_fill(outside, 0.0);
    u.clone() * (u * -1.0 + 1.0) * 6.0
}

impl Obstacle {
    /// Signed distance \[m\] and unit normal at points relative to the centre.
    fn distance(&self, q: &Vector, compute: &Compute) -> (Field, Vector) {
        let constant = |v: [f64; 3]| Vector::from_rows(&compute.tensor(&v, [3, 1]));
        match *self {
            Obstacle::Plane { normal } => {
                let normal = constant(normal);
                let ones = q.x.ones_like();
                (q.dot(&normal), normal.times(&ones))
            }
            Obstacle::Sphere { radius } => round(q, radius),
            Obstacle::Capsule { half_axis, radius } => {
                let squared: f64 = half_axis.iter().map(|a| a * a).sum();
                let axis = constant(half_axis);
                let along = q.dot(&axis) * squared.recip();
                let along = along.clone() - max_zero(&(along.clone() - 1.0))
                    + max_zero(&(along.neg() - 1.0));
                round(&q.minus(&axis.times(&along)), radius)
            }
            Obstacle::Cylinder {
                axis,
                radius,
                inside,
            } => {
                let axis = constant(axis);
                let across = q.minus(&axis.times(&q.dot(&axis)));
                let (distance, normal) = round(&across, radius);
                if inside {
                    (distance.neg(), normal.map(|c| c.clone().neg()))
                } else {
                    (distance, normal)
                }
            }
            Obstacle::Block { half } => block(q, half),
        }
    }
}

/// Distance from a sphere about the origin.
fn round(q: &Vector, radius: f64) -> (Field, Vector) {
    let length = (q.dot(q) + TINY).sqrt();
    (length.clone() - radius, q.times(&length.recip()))
}

/// Distance from a box: outside to its nearest point, inside (negative) to its nearest face.
fn block(q: &Vector, half: [f64; 3]) -> (Field, Vector) {
    let beyond = |c: &Field, h: f64| abs(c) - h;
    let b = Vector {
        x: beyond(&q.x, half[0]),
        y: beyond(&q.y, half[1]),
        z: beyond(&q.z, half[2]),
    };
    let outside = b.map(max_zero);
    let length = (outside.dot(&outside) + TINY).sqrt();
    let deepest = Tensor::cat(vec![b.x.clone(), b.y.clone(), b.z.clone()], 0).max_dim(0);
    let within = deepest.clone().lower_equal_scalar(0.0);
    let distance = length.clone().mask_where(within.clone(), deepest.clone());
    let component = |out: &Field, b: &Field, q: &Field| {
        let face = b
            .zeros_like()
            .mask_fill(b.clone().greater_equal(deepest.clone()), 1.0);
        let share = (out.clone() / length.clone()).mask_where(within.clone(), face);
        share * sign(q)
    };
    let normal = Vector {
        x: component(&outside.x, &b.x, &q.x),
        y: component(&outside.y, &b.y, &q.y),
        z: component(&outside.z, &b.z, &q.z),
    };
    (distance, normal)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        learn::{Body, BodyMotion, PosedBody},
        numeric::{Precision, Random},
    };

    const POINTS: usize = 300;

    /// ∂(Σ weight·output)/∂input at a column of inputs.
    fn slope(at: [f64; 3], compute: &Compute, function: impl Fn(&Field) -> Field) -> Vec<f64> {
        let leaf = compute.tensor(&at, [3, 1]).autodiff().require_grad();
        let gradients = function(&leaf).sum().backward();
        compute.values(leaf.grad(&gradients).unwrap()).unwrap()
    }

    // burn-autodiff 0.22.1 differentiates a division by a number with the reciprocal in single precision. Neither
    // the soft share of this contact, 0.3 m, nor the squared half axis of the capsule, 3 m², has an exact one.
    #[test]
    fn slopes_of_contacts_are_exact_in_double_precision() {
        let compute = Compute::cpu(Precision::F64);
        let contact = Contact {
            obstacle: Obstacle::Plane {
                normal: [0.0, 0.0, 1.0],
            },
            thickness: 0.6,
            stiffness: 2.0,
            friction: 0.5,
        };
        let none = compute.zeros([3, 1]);
        let pose = Pose {
            center: none.clone(),
            velocity: none.clone(),
        };
        let height = 0.48;
        let touch = |x: &Field| contact.touch(&pose, x, &none, &compute);
        let of_force = slope([0.0, 0.0, height], &compute, |x| touch(x).force);
        let of_slope = slope([0.0, 0.0, height], &compute, |x| touch(x).slope);
        let (soft, depth) = (0.6 * SOFT_SHARE, 0.6 - height);
        let u = depth / soft;
        let (first, second) = (6.0 * u * (1.0 - u), 6.0 - 12.0 * u);
        let value = u * u * (3.0 - 2.0 * u);
        let force = -2.0 * (value + depth * first / soft);
        let slope_of_slope = -2.0 * (2.0 * first / soft + depth * second / (soft * soft));
        // Some roundings; the single reciprocal leaves 1e-8.
        assert!(
            (of_force[2] / force - 1.0).abs() < 1e-14,
            "{of_force:?} {force}"
        );
        let found = of_slope[2] / slope_of_slope;
        assert!((found - 1.0).abs() < 1e-14, "{of_slope:?} {slope_of_slope}");

        // The normal of a capsule beside its axis: (P·w − n·(n·w))/|p| with P = 1 − a·aᵀ/a².
        let half_axis = [1.0, 1.0, 1.0];
        let capsule = Obstacle::Capsule {
            half_axis,
            radius: 0.1,
        };
        let (at, weight) = ([0.3, -0.2, 0.4], [1.0, 0.5, -0.7]);
        let weights = compute.tensor(&weight, [3, 1]);
        let found = slope(at, &compute, |x| {
            let normal = capsule.distance(&Vector::from_rows(x), &compute).1;
            normal.to_rows() * weights.clone()
        });
        let dot = |a: [f64; 3], b: [f64; 3]| -> f64 { a.iter().zip(b).map(|(a, b)| a * b).sum() };
        let across = |v: [f64; 3]| {
            let along = dot(v, half_axis) / 3.0;
            v.map(|c| c - along)
        };
        let p = across(at);
        let length = dot(p, p).sqrt();
        let n = p.map(|c| c / length);
        let turned = across(weight);
        for k in 0..3 {
            let exact = (turned[k] - n[k] * dot(n, weight)) / length;
            assert!(
                (found[k] - exact).abs() < 1e-14 * dot(weight, weight) / length,
                "{found:?}"
            );
        }
    }

    // The learned garments have a body of their own; its round bones are capsules. Rounding of lengths below 1 m, and of directions of
    // vectors of at least 5 mm: nearer to the axis they are not compared.
    #[test]
    fn a_capsule_is_as_far_as_a_bone_of_the_arm() {
        let compute = Compute::cpu(Precision::F64);
        let read = |field: Field| compute.values(field).unwrap();
        let arm = Body::arm();
        let motion = BodyMotion::canonical(&arm);
        let pose = arm.skeleton.pose(&motion.turns[30], [0.1, -0.2, 0.3]);
        for bone in &arm.bones {
            let [from, to] = [bone.from, bone.to].map(|end| pose[bone.joint].apply(end));
            let middle: [f64; 3] = std::array::from_fn(|a| 0.5 * (to[a] + from[a]));
            let half_axis: [f64; 3] = std::array::from_fn(|a| 0.5 * (to[a] - from[a]));
            let radius = bone.radii[0];
            let capsule = Obstacle::Capsule { half_axis, radius };
            // Around the bone and beyond both of its ends.
            let mut random = Random(7);
            let mut even = |most: f64| most * (2.0 * random.uniform() - 1.0);
            let points: Vec<[f64; 3]> = (0..POINTS)
                .map(|_| {
                    let along = even(1.3);
                    let across = [even(0.06), even(0.06), even(0.06)];
                    std::array::from_fn(|a| middle[a] + along * half_axis[a] + across[a])
                })
                .collect();
            let rows: Vec<f64> = (0..3)
                .flat_map(|a| points.iter().map(move |p| p[a]))
                .collect();
            let points = compute.tensor(&rows, [3, POINTS]);
            let relative = points.clone() - compute.tensor(&middle, [3, 1]);
            let (distance, normal) = capsule.distance(&Vector::from_rows(&relative), &compute);
            let alone = Body {
                bones: vec![*bone],
                ..arm.clone()
            };
            let body = PosedBody::new(&alone, std::slice::from_ref(&pose), &compute);
            let found = body.distance(&Vector::from_rows(&points));
            let (theirs, ours) = (read(found.value), read(distance));
            let (slopes, normals) = (read(found.slope.to_rows()), read(normal.to_rows()));
            for n in 0..POINTS {
                assert!((ours[n] - theirs[n]).abs() < 1e-13, "{n}: {}", ours[n]);
                for k in [n, POINTS + n, 2 * POINTS + n] {
                    let gap = (normals[k] - slopes[k]).abs();
                    assert!(gap < 1e-12 || ours[n] < 5e-3 - radius, "{n}: {gap}");
                }
            }
            let inside = ours.iter().filter(|d| **d < 0.0).count();
            assert!((30..POINTS - 30).contains(&inside), "{inside} are inside");
        }
    }
}
