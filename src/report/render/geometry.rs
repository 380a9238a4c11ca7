//! Cloth and obstacles as one list of triangles in the picture's coordinates.

use super::Drawing;
use super::view::Camera;
use crate::mesh::surface::{Surface, Triple};

/// How far obstacles are moved away from the viewer \[px\]: cloth that rests on one would show
/// through it in patches, because the two meshes cut each other's chords.
const OBSTACLE_SETBACK: f64 = 1.5;

/// Three numbers in single precision: a thousandth of a pixel is all that a picture needs.
pub(super) type Triple32 = [f32; 3];

/// A corner of triangles.
#[derive(Clone, Copy)]
pub(super) struct Corner {
    /// Pixels from the left, from the top and towards the viewer.
    pub(super) place: Triple32,
    /// Unit normal: to the right, up, towards the viewer.
    pub(super) normal: Triple32,
    /// Place on the colour map, 0 to 1.
    pub(super) share: f32,
}

/// All that is drawn.
pub(super) struct Geometry {
    corners: Vec<Corner>,
    triangles: Vec<[u32; 3]>,
    cloth_triangles: usize,
    flat: bool,
}

/// What is seen at one point of a triangle.
pub(super) struct Spot {
    /// Unit normal on the side that is seen.
    pub(super) normal: Triple32,
    /// Place on the colour map, 0 to 1.
    pub(super) share: f32,
    /// Whether the front is seen.
    pub(super) front: bool,
    /// Whether it is cloth.
    pub(super) cloth: bool,
}

impl Geometry {
    /// Places a checked scene before the camera; `shares` are the cloth's, one a vertex, or empty.
    pub(super) fn new(scene: &Drawing, camera: &Camera, shares: &[f32]) -> Geometry {
        let mut geometry = Geometry {
            corners: Vec::new(),
            triangles: Vec::new(),
            cloth_triangles: scene.cloth.triangles.len(),
            flat: scene.flat,
        };
        geometry.add(&scene.cloth, camera, shares, 0.0);
        for obstacle in scene.obstacles {
            geometry.add(obstacle, camera, &[], OBSTACLE_SETBACK);
        }
        geometry
    }

    fn add(&mut self, surface: &Surface, camera: &Camera, shares: &[f32], setback: f64) {
        let first = self.corners.len();
        let single = |point: Triple| point.map(|x| x as f32);
        let normals = surface.normals([0.0; 3]);
        let corner = |(vertex, (&position, normal)): (usize, (&Triple, Triple))| {
            let [x, y, depth] = camera.place(position);
            Corner {
                place: single([x, y, depth - setback]),
                normal: single(camera.turn(normal)),
                share: shares.get(vertex).copied().unwrap_or(0.0),
            }
        };
        let vertices = surface.positions.iter().zip(normals).enumerate();
        self.corners.extend(vertices.map(corner));
        let shifted = |triangle: &[usize; 3]| triangle.map(|vertex| (first + vertex) as u32);
        self.triangles.extend(surface.triangles.iter().map(shifted));
    }

    pub(super) fn len(&self) -> usize {
        self.triangles.len()
    }

    /// Corners of a triangle in the picture.
    pub(super) fn places(&self, triangle: usize) -> [Triple32; 3] {
        self.triangles[triangle].map(|corner| self.corners[corner as usize].place)
    }

    /// What is seen of a triangle at a point of the picture inside it.
    pub(super) fn spot(&self, triangle: usize, x: f32, y: f32) -> Spot {
        let corners = self.triangles[triangle].map(|corner| self.corners[corner as usize]);
        let places = corners.map(|corner| corner.place);
        let [a, b, c] = Weights::of(places).map_or([1.0 / 3.0; 3], |weights| weights.at(x, y));
        let blend = |of: fn(&Corner) -> f32| {
            a * of(&corners[0]) + b * of(&corners[1]) + c * of(&corners[2])
        };
        let flat = facet(places);
        let front = flat[2] > 0.0;
        let normal = match self.flat {
            true => flat,
            false => [
                blend(|corner| corner.normal[0]),
                blend(|corner| corner.normal[1]),
                blend(|corner| corner.normal[2]),
            ],
        };
        let side = if front { 1.0 } else { -1.0 };
        let cloth = triangle < self.cloth_triangles;
        Spot {
            normal: unit(normal.map(|x| side * x)),
            share: blend(|corner| corner.share),
            front,
            cloth,
        }
    }
}

/// Barycentric coordinates of the picture's points in one triangle: each is linear in x and y.
pub(super) struct Weights {
    origin: Triple32,
    slopes: [[f32; 2]; 2],
}

impl Weights {
    /// None for a triangle that is seen from its edge or has no area.
    pub(super) fn of([a, b, c]: [Triple32; 3]) -> Option<Weights> {
        let (ab, ac) = ([b[0] - a[0], b[1] - a[1]], [c[0] - a[0], c[1] - a[1]]);
        let area = ab[0] * ac[1] - ab[1] * ac[0];
        // Below a millionth of a pixel the slopes are noise, and no sample is lost.
        (area.abs() > 1e-6).then(|| Weights {
            origin: a,
            slopes: [[ac[1] / area, -ac[0] / area], [-ab[1] / area, ab[0] / area]],
        })
    }

    /// Weights of the three corners; all are positive inside.
    pub(super) fn at(&self, x: f32, y: f32) -> [f32; 3] {
        let (x, y) = (x - self.origin[0], y - self.origin[1]);
        let [b, c] = self.slopes.map(|slope| slope[0] * x + slope[1] * y);
        [1.0 - b - c, b, c]
    }
}

/// Normal of the triangle itself: right, up, towards the viewer. The picture's y goes down.
fn facet([a, b, c]: [Triple32; 3]) -> Triple32 {
    let edge = |to: Triple32| [to[0] - a[0], a[1] - to[1], to[2] - a[2]];
    let (u, v) = (edge(b), edge(c));
    [
        u[1] * v[2] - u[2] * v[1],
        u[2] * v[0] - u[0] * v[2],
        u[0] * v[1] - u[1] * v[0],
    ]
}

/// The unit vector, towards the viewer where there is no direction.
pub(super) fn unit(vector: Triple32) -> Triple32 {
    let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
    match length > 0.0 {
        true => vector.map(|x| x / length),
        false => [0.0, 0.0, 1.0],
    }
}
