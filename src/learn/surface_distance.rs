//! Signed distance from a closed triangle mesh: the nearest point, found with a tree of boxes, and the sign of the
//! normal there.
//!
//! Where the nearest point is inside a triangle its normal tells the side; on an edge the sum of both normals, at a
//! vertex the sum weighted by angles (Bærentzen, Aanæs 2005, "Signed distance computation using the angle weighted
//! pseudonormal"). Where a surface runs through itself, as in the bend of an elbow, the nearest piece decides.
//!
//! The tree is made once, for the rest pose; in other poses only its boxes are made anew.

use std::{ops::Range, sync::Arc};

use super::closed_surface::{ClosedSurface, Normals, unit};
use crate::{
    error::Result,
    mesh::vector::{cross, dot, minus},
};

/// Triangles of a box that is not cut further.
const LEAF: usize = 4;
/// Distance below which the way to the nearest point has no direction \[m\].
const TOUCHING: f64 = 1e-12;

/// A closed surface with a tree over its triangles.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct SurfaceTree {
    surface: ClosedSurface,
    /// Triangles, those of a node one after the other.
    order: Vec<usize>,
    /// The root first, children after their parents.
    nodes: Vec<TreeNode>,
}

#[derive(Debug, Clone, PartialEq)]
struct TreeNode {
    /// Of `order`.
    triangles: Range<usize>,
    /// None for a leaf.
    children: Option<[usize; 2]>,
}

/// A box: lowest and highest corner \[m\].
type Bounds = [[f64; 3]; 2];
const NOTHING: Bounds = [[f64::INFINITY; 3], [f64::NEG_INFINITY; 3]];

impl SurfaceTree {
    /// Refuses a surface that is not closed, see [`ClosedSurface::new`].
    pub(crate) fn new(
        name: &str,
        positions: &[[f64; 3]],
        triangles: &[[usize; 3]],
    ) -> Result<Self> {
        let surface = ClosedSurface::new(name, positions, triangles)?;
        let middle = |t: &[usize; 3]| -> [f64; 3] {
            std::array::from_fn(|a| t.iter().map(|&v| positions[v][a]).sum::<f64>() / 3.0)
        };
        let middles: Vec<[f64; 3]> = triangles.iter().map(middle).collect();
        let mut order: Vec<usize> = (0..triangles.len()).collect();
        let mut nodes = vec![TreeNode {
            triangles: 0..order.len(),
            children: None,
        }];
        let mut next = 0;
        while next < nodes.len() {
            let range = nodes[next].triangles.clone();
            if range.len() > LEAF {
                let half = range.start + range.len() / 2;
                halve(&mut order[range.clone()], &middles);
                nodes[next].children = Some([nodes.len(), nodes.len() + 1]);
                for triangles in [range.start..half, half..range.end] {
                    nodes.push(TreeNode {
                        triangles,
                        children: None,
                    });
                }
            }
            next += 1;
        }
        Ok(SurfaceTree {
            surface,
            order,
            nodes,
        })
    }

    /// The surface with its vertices at `positions` \[m\].
    pub(crate) fn at(self: &Arc<Self>, positions: Vec<[f64; 3]>) -> PlacedSurface {
        let mut boxes = vec![NOTHING; self.nodes.len()];
        for (number, node) in self.nodes.iter().enumerate().rev() {
            boxes[number] = match node.children {
                Some([a, b]) => joined(boxes[a], boxes[b]),
                None => self.order[node.triangles.clone()]
                    .iter()
                    .flat_map(|&t| self.surface.triangles[t])
                    .map(|v| [positions[v]; 2])
                    .fold(NOTHING, joined),
            };
        }
        PlacedSurface {
            normals: self.surface.normals(&positions),
            tree: self.clone(),
            positions,
            boxes,
        }
    }
}

/// Puts the half with the lower middles, along the axis on which they reach furthest, first.
fn halve(order: &mut [usize], middles: &[[f64; 3]]) {
    let bounds = order
        .iter()
        .fold(NOTHING, |b, &t| joined(b, [middles[t]; 2]));
    let reach = minus(bounds[1], bounds[0]);
    let axis = (0..3)
        .max_by(|a, b| reach[*a].total_cmp(&reach[*b]))
        .unwrap_or(0);
    let half = order.len() / 2;
    // Equal ones in their order, so that the tree is the same every time.
    order.select_nth_unstable_by(half, |a, b| {
        let along = middles[*a][axis].total_cmp(&middles[*b][axis]);
        along.then(a.cmp(b))
    });
}

fn joined(a: Bounds, b: Bounds) -> Bounds {
    [
        std::array::from_fn(|k| a[0][k].min(b[0][k])),
        std::array::from_fn(|k| a[1][k].max(b[1][k])),
    ]
}

/// Squared distance to a box; 0 inside.
fn beyond(bounds: &Bounds, point: [f64; 3]) -> f64 {
    let along = |k: usize| {
        (bounds[0][k] - point[k])
            .max(point[k] - bounds[1][k])
            .max(0.0)
    };
    (0..3).map(|k| along(k) * along(k)).sum()
}

/// A surface in one pose.
#[derive(Debug, Clone, PartialEq)]
pub struct PlacedSurface {
    tree: Arc<SurfaceTree>,
    positions: Vec<[f64; 3]>,
    normals: Normals,
    boxes: Vec<Bounds>,
}

/// Where the nearest point of a triangle is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Feature {
    Face,
    Side(usize),
    Corner(usize),
}

/// The nearest point so far.
struct Nearest {
    squared: f64,
    point: [f64; 3],
    triangle: usize,
    feature: Feature,
}

impl PlacedSurface {
    /// Signed distance of a point \[m\], negative inside, and its derivative by the point, a unit vector. Not
    /// smooth where two points of the surface are equally near.
    pub fn distance(&self, point: [f64; 3]) -> (f64, [f64; 3]) {
        let nearest = self.nearest(point);
        let surface = &self.tree.surface;
        let normal = match nearest.feature {
            Feature::Face => self.normals.faces[nearest.triangle],
            Feature::Side(k) => surface.side_normal(&self.normals, nearest.triangle, k),
            Feature::Corner(k) => self.normals.vertices[surface.triangles[nearest.triangle][k]],
        };
        let gap = minus(point, nearest.point);
        let size = nearest.squared.sqrt();
        let sign = if dot(gap, normal) < 0.0 { -1.0 } else { 1.0 };
        let slope = match size < TOUCHING {
            true => unit(normal),
            false => gap.map(|g| sign * g / size),
        };
        (sign * size, slope)
    }

    fn nearest(&self, point: [f64; 3]) -> Nearest {
        let mut nearest = Nearest {
            squared: f64::INFINITY,
            point: [f64::NAN; 3],
            triangle: 0,
            feature: Feature::Face,
        };
        let mut open = vec![(0, 0.0)];
        while let Some((number, away)) = open.pop() {
            if away >= nearest.squared {
                continue;
            }
            let node = &self.tree.nodes[number];
            match node.children {
                None => {
                    for &triangle in &self.tree.order[node.triangles.clone()] {
                        self.try_triangle(point, triangle, &mut nearest);
                    }
                }
                Some(children) => {
                    let [a, b] = children.map(|c| (c, beyond(&self.boxes[c], point)));
                    // The nearer one is taken first.
                    open.extend(if a.1 < b.1 { [b, a] } else { [a, b] });
                }
            }
        }
        nearest
    }

    fn try_triangle(&self, point: [f64; 3], triangle: usize, nearest: &mut Nearest) {
        let corners = self.tree.surface.triangles[triangle].map(|v| self.positions[v]);
        let normal = self.normals.faces[triangle];
        let mut consider = |candidate: [f64; 3], feature| {
            let gap = minus(point, candidate);
            let squared = dot(gap, gap);
            if squared < nearest.squared {
                *nearest = Nearest {
                    squared,
                    point: candidate,
                    triangle,
                    feature,
                };
            }
        };
        let height = dot(minus(point, corners[0]), normal);
        let below: [f64; 3] = std::array::from_fn(|a| point[a] - height * normal[a]);
        let inside = |k: usize| {
            let along = minus(corners[(k + 1) % 3], corners[k]);
            dot(cross(along, minus(below, corners[k])), normal) > 0.0
        };
        if (0..3).all(inside) {
            return consider(below, Feature::Face);
        }
        for k in 0..3 {
            let next = (k + 1) % 3;
            let along = minus(corners[next], corners[k]);
            let share = dot(minus(point, corners[k]), along) / dot(along, along);
            // A side without length is its corner.
            if share >= 1.0 {
                consider(corners[next], Feature::Corner(next));
            } else if share > 0.0 {
                let on = std::array::from_fn(|a| corners[k][a] + share * along[a]);
                consider(on, Feature::Side(k));
            } else {
                consider(corners[k], Feature::Corner(k));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{learn::Bone, numeric::Random};

    fn bone(to: [f64; 3], radius: f64) -> Bone {
        Bone {
            joint: 0,
            from: [0.0; 3],
            to,
            radii: [radius; 3],
        }
    }

    fn placed(bone: &Bone, around: usize, along: usize) -> PlacedSurface {
        let mesh = bone.mesh(around, along);
        let tree = SurfaceTree::new("bone", &mesh.positions, &mesh.triangles).unwrap();
        Arc::new(tree).at(mesh.positions)
    }

    fn scattered(count: usize, reach: f64) -> Vec<[f64; 3]> {
        let mut random = Random(5);
        (0..count)
            .map(|_| std::array::from_fn(|_| reach * (2.0 * random.uniform() - 1.0)))
            .collect()
    }

    /// |x| − r from the segment to `to`, and its direction.
    fn analytic(point: [f64; 3], to: [f64; 3], radius: f64) -> (f64, [f64; 3]) {
        let squared = dot(to, to).max(1e-300);
        let share = (dot(point, to) / squared).clamp(0.0, 1.0);
        let gap: [f64; 3] = std::array::from_fn(|a| point[a] - share * to[a]);
        let size = dot(gap, gap).sqrt();
        (size - radius, gap.map(|g| g / size))
    }

    #[test]
    fn a_fine_ball_and_a_fine_capsule_have_the_analytic_distance_inside_and_outside() {
        for to in [[0.0; 3], [0.1, -0.2, 0.2]] {
            let radius = 0.2;
            let surface = placed(&bone(to, radius), 160, 40);
            let mut inside = 0;
            for point in scattered(2000, 0.5) {
                let (value, slope) = surface.distance(point);
                let (expected, direction) = analytic(point, to, radius);
                // Chords lie r·(1 − cos(π/160)) + r·(1 − cos(π/160)) = 8e-5 inside of the ball.
                assert!(
                    (value - expected).abs() < 1e-4,
                    "{point:?}: {value} {expected}"
                );
                // Deep inside the nearest facet may be another one.
                if expected > -0.1 {
                    assert!(
                        dot(slope, direction) > 0.99,
                        "{point:?}: {slope:?} {direction:?}"
                    );
                }
                inside += usize::from(expected < 0.0);
            }
            assert!(inside > 50, "{inside} points inside");
        }
    }

    /// Of a cube around the origin with sides of 2.
    fn cube() -> PlacedSurface {
        let positions: Vec<[f64; 3]> = (0..8)
            .map(|n| std::array::from_fn(|a| if n >> a & 1 == 1 { 1.0 } else { -1.0 }))
            .collect();
        let quads = [
            [0, 2, 3, 1],
            [4, 5, 7, 6],
            [0, 1, 5, 4],
            [2, 6, 7, 3],
            [0, 4, 6, 2],
            [1, 3, 7, 5],
        ];
        let triangles: Vec<[usize; 3]> = quads
            .iter()
            .flat_map(|[a, b, c, d]| [[*a, *b, *c], [*a, *c, *d]])
            .collect();
        let tree = SurfaceTree::new("cube", &positions, &triangles).unwrap();
        Arc::new(tree).at(positions)
    }

    #[test]
    fn faces_edges_and_corners_of_a_cube() {
        let cube = cube();
        let feature = |point| match cube.nearest(point).feature {
            Feature::Face => "face",
            Feature::Side(_) => "edge",
            Feature::Corner(_) => "corner",
        };
        let check = |point: [f64; 3], kind: &str, expected: f64, direction: [f64; 3]| {
            assert_eq!(feature(point), kind, "{point:?}");
            let (value, slope) = cube.distance(point);
            assert!((value - expected).abs() < 1e-15, "{point:?}: {value}");
            let gap = minus(slope, direction);
            assert!(dot(gap, gap) < 1e-28, "{point:?}: {slope:?}");
        };
        let half = 0.5_f64.sqrt();
        let third = (1.0_f64 / 3.0).sqrt();
        check([1.5, 0.2, 0.1], "face", 0.5, [1.0, 0.0, 0.0]);
        check([0.7, 0.2, 0.1], "face", -0.3, [1.0, 0.0, 0.0]);
        check([2.0, 2.0, 0.3], "edge", 2.0_f64.sqrt(), [half, half, 0.0]);
        check(
            [2.0, -2.0, 2.0],
            "corner",
            3.0_f64.sqrt(),
            [third, -third, third],
        );
        // On the surface the direction is that of the normal there.
        check([1.0, 1.0, 1.0], "corner", 0.0, [third; 3]);
        check([-1.0, 0.25, -1.0], "edge", 0.0, [-half, 0.0, -half]);
    }

    /// A dent in which the nearest point is a vertex: one face's normal alone would get some signs wrong.
    #[test]
    fn signs_in_dents_and_at_spikes_are_those_of_the_winding_number() {
        let mut mesh = bone([0.0, 0.0, 0.1], 0.2).mesh(14, 4);
        for (n, place) in mesh.positions.iter_mut().enumerate() {
            let size = if n % 3 == 0 { 0.4 } else { 1.3 };
            *place = place.map(|x| size * x);
        }
        let tree = SurfaceTree::new("star", &mesh.positions, &mesh.triangles).unwrap();
        let surface = Arc::new(tree).at(mesh.positions.clone());
        let (mut inside, mut corners) = (0, 0);
        for point in scattered(3000, 0.3) {
            let winding: f64 = mesh
                .triangles
                .iter()
                .map(|t| solid_angle(t.map(|v| minus(mesh.positions[v], point))))
                .sum::<f64>()
                / (4.0 * std::f64::consts::PI);
            let (value, _) = surface.distance(point);
            assert_eq!(winding > 0.5, value < 0.0, "{point:?}: {winding} {value}");
            inside += usize::from(value < 0.0);
            let feature = surface.nearest(point).feature;
            corners += usize::from(matches!(feature, Feature::Corner(_)));
        }
        assert!(
            inside > 100 && corners > 150,
            "{inside} inside, {corners} at corners"
        );
    }

    /// That a triangle covers, seen from the origin (Van Oosterom, Strackee 1983).
    fn solid_angle([a, b, c]: [[f64; 3]; 3]) -> f64 {
        let [x, y, z] = [a, b, c].map(|v| dot(v, v).sqrt());
        let below = x * y * z + dot(a, b) * z + dot(b, c) * x + dot(c, a) * y;
        2.0 * dot(a, cross(b, c)).atan2(below)
    }

    #[test]
    fn the_tree_finds_what_a_search_of_all_triangles_finds_also_after_moving() {
        let mesh = bone([0.0, 0.0, 0.3], 0.1).mesh(20, 6);
        let tree = SurfaceTree::new("bone", &mesh.positions, &mesh.triangles).unwrap();
        let bent = |p: &[f64; 3]| [p[0] + 2.0 * p[2] * p[2], p[1] - 0.4 * p[2], p[2]];
        let moved = mesh.positions.iter().map(bent).collect();
        let surface = Arc::new(tree).at(moved);
        for point in scattered(300, 0.6) {
            let mut nearest = Nearest {
                squared: f64::INFINITY,
                point,
                triangle: 0,
                feature: Feature::Face,
            };
            for triangle in 0..mesh.triangles.len() {
                surface.try_triangle(point, triangle, &mut nearest);
            }
            assert_eq!(surface.nearest(point).squared, nearest.squared);
        }
    }

    #[test]
    fn slopes_are_those_of_the_distance() {
        let surface = placed(&bone([0.1, 0.0, 0.2], 0.1), 16, 5);
        let (step, mut checked) = (1e-6, 0);
        for point in scattered(200, 0.3) {
            let (_, slope) = surface.distance(point);
            let along = |axis: usize, by: f64| {
                let mut moved = point;
                moved[axis] += by;
                surface.distance(moved).0
            };
            let errors = [0, 1, 2].map(|axis| {
                let difference = (along(axis, step) - along(axis, -step)) / (2.0 * step);
                (difference - slope[axis]).abs()
            });
            // Halfway between two points of the surface there is a kink; few points lie within a step of one.
            checked += usize::from(errors.iter().all(|e| *e < 1e-4));
        }
        assert!(checked >= 198, "{checked} of 200");
    }
}
