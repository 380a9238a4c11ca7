//! The crease recovery test on a strip mesh: the same phases as [`super::CreaseTest`], with inertia and
//! membrane, every specimen a part of one mesh.

use std::{f64::consts::PI, sync::Arc};

use super::crease::{CREST_CURVATURE, CreasePoint, OVERSHOOT};
use crate::{
    error::Result,
    material::{Law, StrainMeasure},
    mesh::{Mesh, generate},
    numeric::{Compute, Field, Gate},
    reading::Reading,
    rollout::{
        cloth::{ClothRollout, MEMORY, Watch},
        log_times,
    },
    solve::Solver,
    step::{Cloth, Damping, Drive, Parameters, Setup},
};

/// How finely the test is cut.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StripTest {
    /// Cells along the fold; the legs have a quarter of that each.
    pub cells: usize,
    /// Steps of the fold.
    pub fold_steps: usize,
    /// Steps of the hold, spaced in log time.
    pub hold_steps: usize,
    /// Steps of the release.
    pub release_steps: usize,
}

impl Default for StripTest {
    fn default() -> Self {
        StripTest {
            cells: 32,
            fold_steps: 4,
            hold_steps: 8,
            release_steps: 150,
        }
    }
}

/// Membrane of a strip as this·K_b/gap² \[N/m\]: stiff against bending, so that a strip keeps its length, and
/// in proportion, so that its angle depends on ratios of stiffnesses only, as that of the ensemble does.
const MEMBRANE: f64 = 100.0;
/// The release is damped within the hinges (β), not by drag: drag would load the legs with moments that no
/// hinge of a slowly released strip feels, and friction would keep them (10° at a gap of 4 mm). A step takes
/// this share of what is left, growing evenly in the logarithm over the first part of the steps: few degrees
/// each. Slipping hinges creep to rest in the others, by a factor K_f/(K_b + K_f) a step.
const RELEASE_SHARE: (f64, f64) = (0.02, 0.9);
/// The part of the steps over which the share grows.
const RELEASE_RISE: f64 = 0.7;
/// β \[s\]; only its ratio to the steps counts.
const DAMPING: f64 = 1.0;
/// Mass of a strip as ρ = this·B/L⁴ \[s²\]: too little to be felt.
const MASS: f64 = 1e-6;
/// Decades of the pressing time over which the steps of the hold are spread.
const HOLD_DECADES: i32 = 6;

/// The specimens of a test as one cloth.
pub struct Strips {
    test: StripTest,
    /// All specimens.
    pub cloth: Cloth,
    points: Vec<CreasePoint>,
    parts: Vec<Part>,
    solver: Solver,
}

/// One specimen.
struct Part {
    first_vertex: usize,
    vertices: usize,
    hinges: std::ops::Range<usize>,
    triangles: std::ops::Range<usize>,
    /// Length of a cell \[m\].
    cell: f64,
    /// Stiffness of the membrane over that of bending \[1/m²\].
    membrane: f64,
    /// Mass per area over stiffness of bending \[s²/m⁴\].
    density: f64,
}

/// Angles of all points \[degrees\] and, row-major `[points, parameters of the law]`, their derivatives.
#[derive(Debug, Clone, PartialEq)]
pub struct StripCurves {
    /// Recovery angle of each point \[degrees\].
    pub angles: Vec<f64>,
    /// ∂angle/∂parameter.
    pub jacobian: Option<Vec<f64>>,
}

impl StripTest {
    /// The strips of all points for a law in curvature.
    pub fn strips(
        &self,
        law: Arc<dyn Law>,
        gate: Gate,
        points: &[CreasePoint],
        compute: &Compute,
    ) -> Result<Strips> {
        let mut mesh = Mesh::default();
        let mut parts = Vec::with_capacity(points.len());
        for point in points {
            let cell = fold_length(point.gap) / self.cells as f64;
            let cells = self.cells + 2 * self.leg();
            let strip = generate::strip(
                cells as f64 * cell,
                cell,
                cells,
                1,
                generate::Pattern::OneSided,
            )?;
            let first_vertex = mesh.positions.len();
            let vertices = strip.positions.len();
            let first_triangle = mesh.triangles.len();
            // Batches may not touch: a part's material and its place are its own.
            append(&mut mesh, strip);
            parts.push(Part {
                first_vertex,
                vertices,
                hinges: 0..0,
                triangles: first_triangle..mesh.triangles.len(),
                cell,
                membrane: MEMBRANE / point.gap.powi(2),
                density: MASS / (cells as f64 * cell).powi(4),
            });
        }
        let setup = Setup {
            law,
            strain: StrainMeasure::Curvature,
            gate,
            tensile_gate: Gate::Hard,
            tension_softness: 0.0,
            gravity: [0.0; 3],
            damping: Damping {
                stiffness: DAMPING,
                mass: 0.0,
            },
            contacts: Vec::new(),
            rest_is_curved: false,
        };
        let cloth = Cloth::new(mesh, setup, compute)?;
        for part in &mut parts {
            let own = part.own_vertices();
            let mine = |h: &crate::mesh::Hinge| own.contains(&h.vertices[0]);
            let hinges = &cloth.topology.hinges;
            let first = hinges.iter().position(mine).unwrap_or(0);
            part.hinges = first..first + hinges.iter().filter(|h| mine(h)).count();
        }
        let solver = Solver::new(&cloth.mesh, &cloth.topology, compute)?;
        Ok(Strips {
            test: *self,
            cloth,
            points: points.to_vec(),
            parts,
            solver,
        })
    }

    /// Cells of one leg.
    fn leg(&self) -> usize {
        self.cells.div_ceil(4)
    }

    /// Strides of the fold: it goes a little too far and back, as in [`super::CreaseTest`].
    fn fractions(&self) -> Vec<f64> {
        let rising = (1..self.fold_steps).map(|k| k as f64 / self.fold_steps as f64);
        rising.chain([OVERSHOOT, 1.0]).collect()
    }

    fn steps(&self) -> usize {
        // One step of no duration settles the flow at the end of the hold.
        self.fold_steps + 1 + self.hold_steps + 1 + self.release_steps
    }
}

/// Adds a mesh that shares nothing with what is there.
fn append(mesh: &mut Mesh, part: Mesh) {
    let (vertices, points) = (mesh.positions.len(), mesh.material.len());
    let shift = |t: [usize; 3], by: usize| t.map(|v| v + by);
    // One below the other, a strip's length apart.
    let drop = mesh.positions.last().map_or(0.0, |p| p[1] + 0.1);
    let moved = |p: [f64; 3]| [p[0], p[1] + drop, p[2]];
    mesh.positions.extend(part.positions.into_iter().map(moved));
    mesh.material.extend(part.material);
    mesh.triangles
        .extend(part.triangles.into_iter().map(|t| shift(t, vertices)));
    let triangles = part.material_triangles.into_iter();
    mesh.material_triangles
        .extend(triangles.map(|t| shift(t, points)));
}

/// Length of a strip between plates a gap apart from where it leaves one to where it meets the other \[m\]:
/// ∫ dα/κ = gap/2.396·∫ dα/√cos α.
fn fold_length(gap: f64) -> f64 {
    gap / CREST_CURVATURE * arc(PI / 2.0)
}

/// ∫ dα/√cos α from −π/2 to `alpha`, by the midpoint rule after α = (π/2)·sin τ, which removes the poles.
fn arc(alpha: f64) -> f64 {
    const POINTS: usize = 400;
    let end = (alpha / (PI / 2.0)).clamp(-1.0, 1.0).asin();
    let width = (end + PI / 2.0) / POINTS as f64;
    let at = |k: usize| {
        let tau = -PI / 2.0 + (k as f64 + 0.5) * width;
        PI / 2.0 * tau.cos() / (PI / 2.0 * tau.sin()).cos().sqrt()
    };
    (0..POINTS).map(at).sum::<f64>() * width
}

/// Tangent angle where `share` of a fold's length has passed: the inverse of [`arc`], by bisection.
fn tangent(share: f64) -> f64 {
    let wanted = share.clamp(0.0, 1.0) * arc(PI / 2.0);
    let (mut low, mut high) = (-PI / 2.0, PI / 2.0);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if arc(middle) < wanted {
            low = middle;
        } else {
            high = middle;
        }
    }
    0.5 * (low + high)
}

impl Strips {
    /// Recovery angles for one row of the law's parameters a point; with `gradient` also the Jacobian, whose
    /// every row comes from the same sweep because no strip knows of another.
    pub fn angles(&mut self, rows: &[Vec<f64>], gradient: bool) -> Result<StripCurves> {
        let tangents: Vec<f64> = {
            let cells = self.test.cells;
            let middle = |k: usize| (k as f64 + 0.5) / cells as f64;
            (0..cells).map(|k| tangent(middle(k))).collect()
        };
        let parameters = self.parameters(rows);
        let start = self.cloth.start(&parameters);
        let (test, cloth, points, parts) = (&self.test, &self.cloth, &self.points, &self.parts);
        let plan = Plan {
            test,
            cloth,
            points,
            parts,
            tangents: &tangents,
        };
        let drive = |k: usize| plan.drive(k);
        let rollout = ClothRollout {
            cloth,
            drive: &drive,
            steps: test.steps(),
            memory: MEMORY,
        };
        let watches: Vec<Watch> = parts.iter().map(|p| plan.watch(p)).collect();
        if !gradient {
            let angles = rollout.read(&mut self.solver, &start, &parameters, &watches)?;
            return Ok(StripCurves {
                angles,
                jacobian: None,
            });
        }
        let back = rollout.gradient(&mut self.solver, &start, &parameters, &watches)?;
        let total = back.from_virgin(cloth, &parameters);
        let jacobian = jacobian(cloth, parts, &total)?;
        Ok(StripCurves {
            angles: back.values,
            jacobian: Some(jacobian),
        })
    }

    /// Every hinge with the parameters of its point.
    fn parameters(&self, rows: &[Vec<f64>]) -> Parameters {
        let compute = &self.cloth.compute;
        let hinges = self.cloth.topology.hinges.len();
        let columns = rows.first().map_or(0, Vec::len);
        let bending = (0..columns).map(|column| {
            let mut values = vec![0.0; hinges];
            for (part, row) in self.parts.iter().zip(rows) {
                values[part.hinges.clone()].fill(row[column]);
            }
            compute.tensor(&values, [1, hinges])
        });
        let one = |v: f64| compute.tensor(&[v], [1, 1]);
        let mut density = vec![0.0; self.cloth.vertices()];
        let mut membrane = vec![0.0; self.cloth.mesh.triangles.len()];
        for (part, row) in self.parts.iter().zip(rows) {
            density[part.own_vertices()].fill(part.density * row[0]);
            membrane[part.triangles.clone()].fill(part.membrane * row[0]);
        }
        let membrane = compute.tensor(&membrane, [1, membrane.len()]);
        Parameters {
            bending: bending.collect(),
            weft_ratio: one(1.0),
            membrane: crate::element::Stiffness {
                warp: membrane.clone(),
                coupling: membrane.zeros_like(),
                weft: membrane.clone(),
                shear: membrane * 0.5,
            },
            tensile: Vec::new(),
            density: compute.tensor(&density, [1, density.len()]),
        }
    }
}

impl Part {
    fn own_vertices(&self) -> std::ops::Range<usize> {
        self.first_vertex..self.first_vertex + self.vertices
    }
}

/// ∂angle/∂parameter of every strip from the gradient of the sum of all angles. Membrane and mass go with the
/// first parameter, the bending stiffness.
fn jacobian(cloth: &Cloth, parts: &[Part], total: &Parameters) -> Result<Vec<f64>> {
    let values = |f: &Field| cloth.compute.values(f.clone());
    let columns: Vec<Vec<f64>> = total.bending.iter().map(values).collect::<Result<_>>()?;
    let m = &total.membrane;
    let membrane = values(&(m.warp.clone() + m.weft.clone() + m.shear.clone() * 0.5))?;
    let density = values(&total.density)?;
    let sum = |column: &[f64], range: &std::ops::Range<usize>| -> f64 {
        column[range.clone()].iter().sum()
    };
    let mut rows = Vec::with_capacity(parts.len() * columns.len());
    for part in parts {
        let first = rows.len();
        rows.extend(columns.iter().map(|c| sum(c, &part.hinges)));
        rows[first] += part.membrane * sum(&membrane, &part.triangles)
            + part.density * sum(&density, &part.own_vertices());
    }
    Ok(rows)
}

/// What is done to the strips in every step.
struct Plan<'a> {
    test: &'a StripTest,
    cloth: &'a Cloth,
    points: &'a [CreasePoint],
    parts: &'a [Part],
    /// Tangent angles in the middle of the fold's cells.
    tangents: &'a [f64],
}

impl Plan<'_> {
    fn drive(&self, step: usize) -> Drive {
        let folding = self.test.fold_steps + 1;
        let holding = self.test.hold_steps + 1;
        if step < folding {
            return self.held(self.test.fractions()[step], None);
        }
        if step < folding + holding {
            return self.held(1.0, Some(step - folding));
        }
        self.released(step - folding - holding)
    }

    /// All vertices on the fold; `hold` is the number of a step of the hold.
    fn held(&self, fraction: f64, hold: Option<usize>) -> Drive {
        let mut drive = self.cloth.free_drive(1.0);
        drive.material_seconds = 0.0;
        drive.pinned = true;
        drive.free = drive.free.zeros_like();
        let places = self
            .parts
            .iter()
            .flat_map(|part| self.shape(part, fraction));
        drive.anchors = self.cloth.vertex_tensor(&places.collect::<Vec<_>>());
        if let Some(k) = hold {
            let mut seconds = vec![0.0; self.cloth.topology.hinges.len()];
            for (part, point) in self.parts.iter().zip(self.points) {
                seconds[part.hinges.clone()].fill(self.hold_seconds(point.press, k));
            }
            drive.hinge_seconds = Some(self.cloth.compute.tensor(&seconds, [1, seconds.len()]));
        }
        drive
    }

    /// Length of step `k` of a hold; none in the last.
    fn hold_seconds(&self, press: f64, k: usize) -> f64 {
        let times = log_times(
            press * 10f64.powi(-HOLD_DECADES),
            press,
            self.test.hold_steps,
        );
        let before = if k == 0 {
            0.0
        } else {
            times.get(k - 1).copied().unwrap_or(press)
        };
        times.get(k).map_or(0.0, |t| t - before)
    }

    /// Positions of a strip that is folded by `fraction`.
    fn shape(&self, part: &Part, fraction: f64) -> Vec<[f64; 3]> {
        let leg = self.test.leg();
        let (first, last) = (-PI / 2.0, PI / 2.0);
        let legs = |angle: f64| std::iter::repeat_n(angle, leg);
        let angles = legs(first)
            .chain(self.tangents.iter().copied())
            .chain(legs(last));
        let origin = self.cloth.mesh.positions[part.first_vertex];
        let mut along = vec![[origin[0], origin[2]]];
        for angle in angles {
            let [x, z] = along[along.len() - 1];
            let (sine, cosine) = (fraction * angle).sin_cos();
            along.push([x + part.cell * cosine, z + part.cell * sine]);
        }
        let columns = along.len();
        let own = part.own_vertices();
        own.enumerate()
            .map(|(k, v)| {
                let [x, z] = along[k % columns];
                [x, self.cloth.mesh.positions[v][1], z]
            })
            .collect()
    }

    /// A step of the damped release: only the first cell stays where the fold had it.
    fn released(&self, k: usize) -> Drive {
        let (low, high) = RELEASE_SHARE;
        let along = k as f64 / (RELEASE_RISE * self.test.release_steps as f64);
        let share = low * (high / low).powf(along.min(1.0));
        let mut drive = self.cloth.free_drive(DAMPING * share / (1.0 - share));
        drive.material_seconds = 0.0;
        let columns = self.test.cells + 2 * self.test.leg() + 1;
        let mut free = vec![1.0; self.cloth.vertices()];
        for part in self.parts {
            for row in 0..2 {
                let corner = part.first_vertex + row * columns;
                free[corner] = 0.0;
                free[corner + 1] = 0.0;
            }
        }
        drive.pinned = true;
        drive.free = self.cloth.compute.tensor(&free, [1, free.len()]);
        let places = self.parts.iter().flat_map(|part| self.shape(part, 1.0));
        drive.anchors = self.cloth.vertex_tensor(&places.collect::<Vec<_>>());
        drive
    }

    fn watch(&self, part: &Part) -> Watch {
        let columns = self.test.cells + 2 * self.test.leg() + 1;
        let column = |c: usize| vec![part.first_vertex + c, part.first_vertex + columns + c];
        let leg = self.test.leg();
        Watch {
            after: self.test.steps(),
            reading: Reading::RecoveryAngle {
                roots: [column(leg), column(columns - 1 - leg)],
                tips: [column(0), column(columns - 1)],
            },
            weight: 1.0,
        }
    }
}
