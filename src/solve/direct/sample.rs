//! Cotton cylinders and sheets for tests and timings.

use super::{BlockPattern, TangentSlices};
use crate::error::Result;

/// Time step [s].
const STEP: f64 = 0.01;
/// Mass per area [kg/m²].
const DENSITY: f64 = 0.06;
/// Three times the rigidities of the elastic and the friction part [N·m].
const BENDING: f64 = 1.5e-5;
/// Membrane moduli k11, k12, k22 and 2·k33 [N/m].
const MEMBRANE: [f64; 4] = [50.0, 0.2, 50.0, 60.0];
/// Stiffness of a handle [N/m].
const HANDLE: f64 = 1e5;
/// Radius and height of the cylinder, side of the sheet (m).
const RADIUS: f64 = 0.05;
const HEIGHT: f64 = 0.3;

/// A mesh with its rest shape.
#[derive(Clone)]
pub(crate) struct SampleCloth {
    pub(crate) rest: Vec<[f64; 3]>,
    pub(crate) triangles: Vec<[usize; 3]>,
    pub(crate) hinges: Vec<[usize; 4]>,
    pub(crate) handles: Vec<usize>,
    pub(crate) fixed: Vec<bool>,
}

/// The owned form of [`TangentSlices`].
pub(crate) struct OwnedTangent {
    pub(crate) hinge_gradient: Vec<f64>,
    pub(crate) hinge_weight: Vec<f64>,
    pub(crate) deformation: Vec<f64>,
    pub(crate) shape: Vec<f64>,
    pub(crate) modulus: Vec<f64>,
    pub(crate) geometric: Vec<f64>,
    pub(crate) vertex: Vec<f64>,
    pub(crate) fixed: Vec<bool>,
    /// Lumped masses (kg).
    pub(crate) mass: Vec<f64>,
}

impl OwnedTangent {
    pub(crate) fn view(&self) -> TangentSlices<'_> {
        TangentSlices {
            hinge_gradient: &self.hinge_gradient,
            hinge_weight: &self.hinge_weight,
            deformation: &self.deformation,
            shape: &self.shape,
            modulus: &self.modulus,
            geometric: &self.geometric,
            vertex: &self.vertex,
            fixed: &self.fixed,
        }
    }
}

fn sub(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    std::array::from_fn(|k| a[k] - b[k])
}
fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}
fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    ]
}
fn norm(a: [f64; 3]) -> f64 {
    dot(a, a).sqrt()
}

impl SampleCloth {
    /// A cylinder whose two end rings are held.
    pub(crate) fn cylinder(around: usize, along: usize) -> Self {
        let mut rest = Vec::new();
        for j in 0..along {
            for i in 0..around {
                let angle = std::f64::consts::TAU * i as f64 / around as f64;
                let z = HEIGHT * j as f64 / (along - 1) as f64;
                rest.push([RADIUS * angle.cos(), RADIUS * angle.sin(), z]);
            }
        }
        let at = |i: usize, j: usize| j * around + i % around;
        let triangles = grid(around, along - 1, at);
        let handles = (0..around)
            .chain((along - 1) * around..along * around)
            .collect();
        Self::new(rest, triangles, handles)
    }

    /// A square sheet held at two corners.
    pub(crate) fn sheet(side: usize) -> Self {
        let mut rest = Vec::new();
        for j in 0..side {
            for i in 0..side {
                let at = |k: usize| HEIGHT * k as f64 / (side - 1) as f64;
                rest.push([at(i), at(j), 0.0]);
            }
        }
        let triangles = grid(side - 1, side - 1, |i, j| j * side + i);
        Self::new(rest, triangles, vec![0, side - 1])
    }

    fn new(rest: Vec<[f64; 3]>, triangles: Vec<[usize; 3]>, handles: Vec<usize>) -> Self {
        let mut edges: Vec<(usize, usize, usize)> = Vec::new();
        for t in &triangles {
            for k in 0..3 {
                let (a, b, c) = (t[k], t[(k + 1) % 3], t[(k + 2) % 3]);
                edges.push((a.min(b), a.max(b), c));
            }
        }
        edges.sort_unstable();
        let hinges = edges
            .windows(2)
            .filter(|w| (w[0].0, w[0].1) == (w[1].0, w[1].1))
            .map(|w| [w[0].0, w[0].1, w[0].2, w[1].2])
            .collect();
        Self {
            fixed: vec![false; rest.len()],
            rest,
            triangles,
            hinges,
            handles,
        }
    }

    pub(crate) fn pattern(&self) -> Result<BlockPattern> {
        BlockPattern::new(self.rest.len(), &self.hinges, &self.triangles, &self.rest)
    }

    /// Rest shape twisted by `progress`·π/4 about z, shortened, with buckles that grow and drift.
    pub(crate) fn twisted(&self, progress: f64) -> Vec<[f64; 3]> {
        let wave = |p: [f64; 3], k: f64| {
            let angle = p[1].atan2(p[0]);
            let z = p[2] / HEIGHT;
            (3.0 * angle + 11.0 * z + k).sin() * (5.0 * angle - 7.0 * z + 2.0 * k).cos()
                + 0.4 * (17.0 * angle + 23.0 * z - k).sin()
        };
        let flat = self.rest.iter().all(|p| p[2] == 0.0);
        self.rest
            .iter()
            .map(|&p| {
                let wrinkle = 1.5e-3 * progress * wave(p, 3.0 * progress);
                if flat {
                    let bend = 0.02 * progress * (9.0 * p[0] + 4.0 * p[1]).sin();
                    return [p[0] * (1.0 - 0.01 * progress), p[1], bend + wrinkle];
                }
                let turn = progress * 0.25 * std::f64::consts::PI * p[2] / HEIGHT;
                let (s, c) = turn.sin_cos();
                // The end rings keep their shape.
                let inside = (std::f64::consts::PI * p[2] / HEIGHT).sin();
                let grow = 1.0 + wrinkle * inside / RADIUS;
                let (x, y) = (p[0] * grow, p[1] * grow);
                [c * x - s * y, s * x + c * y, p[2] * (1.0 - 0.01 * progress)]
            })
            .collect()
    }

    /// The tangent at positions `x` (m).
    pub(crate) fn tangent(&self, x: &[[f64; 3]]) -> OwnedTangent {
        let (v, h, t) = (self.rest.len(), self.hinges.len(), self.triangles.len());
        let mut values = OwnedTangent {
            hinge_gradient: vec![0.0; 12 * h],
            hinge_weight: vec![0.0; h],
            deformation: vec![0.0; 6 * t],
            shape: vec![0.0; 6 * t],
            modulus: vec![0.0; 4 * t],
            geometric: vec![0.0; 3 * t],
            vertex: vec![0.0; 6 * v],
            fixed: self.fixed.clone(),
            mass: vec![0.0; v],
        };
        for index in 0..t {
            self.fill_triangle(index, x, &mut values);
        }
        for index in 0..h {
            self.fill_hinge(index, x, &mut values);
        }
        for vertex in 0..v {
            for axis in 0..3 {
                values.vertex[axis * v + vertex] += values.mass[vertex];
            }
        }
        for &vertex in &self.handles {
            for axis in 0..3 {
                values.vertex[axis * v + vertex] += STEP * STEP * HANDLE;
            }
        }
        values
    }

    fn fill_triangle(&self, index: usize, x: &[[f64; 3]], values: &mut OwnedTangent) {
        let count = self.triangles.len();
        let corners = self.triangles[index];
        let [a, b, c] = corners.map(|k| self.rest[k]);
        let (e1, e2) = (sub(b, a), sub(c, a));
        let area = 0.5 * norm(cross(e1, e2));
        let u = e1.map(|k| k / norm(e1));
        let n = cross(e1, e2).map(|k| k / (2.0 * area));
        let v = cross(n, u);
        let (b_uv, c_uv) = ([dot(e1, u), dot(e1, v)], [dot(e2, u), dot(e2, v)]);
        let det = b_uv[0] * c_uv[1] - b_uv[1] * c_uv[0];
        let b_u = [(b_uv[1] - c_uv[1]) / det, c_uv[1] / det, -b_uv[1] / det];
        let b_v = [(c_uv[0] - b_uv[0]) / det, -c_uv[0] / det, b_uv[0] / det];
        let mut f = [[0.0; 3]; 2];
        for k in 0..3 {
            for axis in 0..3 {
                f[0][axis] += b_u[k] * x[corners[k]][axis];
                f[1][axis] += b_v[k] * x[corners[k]][axis];
            }
            values.shape[k * count + index] = b_u[k];
            values.shape[(3 + k) * count + index] = b_v[k];
            values.mass[corners[k]] += DENSITY * area / 3.0;
        }
        for (row, entry) in f.as_flattened().iter().enumerate() {
            values.deformation[row * count + index] = *entry;
        }
        let weight = area * STEP * STEP;
        for (row, k) in MEMBRANE.into_iter().enumerate() {
            values.modulus[row * count + index] = weight * k;
        }
        let e_uu = 0.5 * (dot(f[0], f[0]) - 1.0);
        let e_vv = 0.5 * (dot(f[1], f[1]) - 1.0);
        let e_s = 0.5 * dot(f[0], f[1]);
        let stress = tension([
            MEMBRANE[0] * e_uu + MEMBRANE[1] * e_vv,
            MEMBRANE[2] * e_vv + MEMBRANE[1] * e_uu,
            0.5 * MEMBRANE[3] * e_s,
        ]);
        for (row, s) in stress.into_iter().enumerate() {
            values.geometric[row * count + index] = weight * s;
        }
    }

    fn fill_hinge(&self, index: usize, x: &[[f64; 3]], values: &mut OwnedTangent) {
        let count = self.hinges.len();
        let corners = self.hinges[index];
        let area = |p: [[f64; 3]; 4]| {
            let e = sub(p[1], p[0]);
            0.5 * (norm(cross(e, sub(p[2], p[0]))) + norm(cross(e, sub(p[3], p[0]))))
        };
        let rest = corners.map(|k| self.rest[k]);
        let length = norm(sub(rest[1], rest[0]));
        values.hinge_weight[index] = BENDING * length * length / area(rest) * STEP * STEP;
        let p = corners.map(|k| x[k]);
        let e = sub(p[1], p[0]);
        let l = norm(e);
        let n2 = cross(e, sub(p[2], p[0]));
        let n3 = cross(sub(p[3], p[0]), e);
        let (s2, s3) = (1.0 / dot(n2, n2), 1.0 / dot(n3, n3));
        let along = |d: [f64; 3]| dot(d, e) / l;
        let weights = [
            [-along(sub(p[1], p[2])), -along(sub(p[1], p[3]))],
            [-along(sub(p[2], p[0])), -along(sub(p[3], p[0]))],
            [l, 0.0],
            [0.0, l],
        ];
        for (corner, weight) in weights.iter().enumerate() {
            for axis in 0..3 {
                values.hinge_gradient[(3 * corner + axis) * count + index] =
                    weight[0] * s2 * n2[axis] + weight[1] * s3 * n3[axis];
            }
        }
    }

    /// Right side of a step in which the handles go on turning and the rest falls [kg·m/s].
    pub(crate) fn right_side(&self, values: &OwnedTangent, x: &[[f64; 3]]) -> Vec<f64> {
        let mut b = vec![0.0; 3 * self.rest.len()];
        for (vertex, mass) in values.mass.iter().enumerate() {
            b[3 * vertex + 2] = -9.81 * STEP * mass;
            b[3 * vertex] = 0.3 * STEP * mass * (40.0 * x[vertex][1]).sin();
        }
        for &vertex in &self.handles {
            let spin = if self.rest[vertex][2] > 0.0 {
                1.57
            } else {
                0.0
            };
            let stiff = STEP * STEP * HANDLE;
            b[3 * vertex] += stiff * -spin * x[vertex][1];
            b[3 * vertex + 1] += stiff * spin * x[vertex][0];
        }
        b
    }
}

/// The tensile part of a symmetric 2×2 stress (uu, vv, uv).
fn tension(s: [f64; 3]) -> [f64; 3] {
    let middle = 0.5 * (s[0] + s[1]);
    let radius = (0.25 * (s[0] - s[1]).powi(2) + s[2] * s[2]).sqrt();
    let (high, low) = (middle + radius, middle - radius);
    if low >= 0.0 {
        return s;
    }
    if high <= 0.0 {
        return [0.0; 3];
    }
    // s = low·I + 2·radius·d·dᵀ, so that d·dᵀ = (s − low·I)/(2·radius).
    let share = high / (2.0 * radius);
    [share * (s[0] - low), share * (s[1] - low), share * s[2]]
}

fn grid(columns: usize, rows: usize, at: impl Fn(usize, usize) -> usize) -> Vec<[usize; 3]> {
    let mut triangles = Vec::new();
    for j in 0..rows {
        for i in 0..columns {
            let (a, b, c, d) = (at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1));
            // Alternating diagonals, as meshes for cloth mostly have.
            if (i + j) % 2 == 0 {
                triangles.extend([[a, b, c], [a, c, d]]);
            } else {
                triangles.extend([[a, b, d], [b, c, d]]);
            }
        }
    }
    triangles
}
