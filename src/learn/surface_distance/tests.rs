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
