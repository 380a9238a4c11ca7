//! The crease recovery test on a strip mesh: the same phases as [`super::CreaseTest`], with inertia and
//! membrane, every specimen a part of one mesh.

mod block;
mod fold;
mod plan;

use std::sync::Arc;

pub(super) use block::StripBlock;
use fold::{fold_length, tangent};
use plan::FoldPlan;

use super::crease::{CreasePoint, OVERSHOOT};
use crate::{
    error::Result,
    material::{Law, StrainMeasure},
    mesh::{Mesh, generate},
    numeric::{Compute, Field, Gate},
    rollout::cloth::{ClothRollout, MEMORY, WatchedReading},
    solve::Solver,
    step::{Cloth, ClothSetup, Damping, Parameters},
};

/// How finely the test is cut.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct StripTest {
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

/// Membrane of a strip as this·K_b/gap² \[N/m\]. It is stiff compared with bending, so that a strip keeps its length.
/// It is proportional to K_b, so that the angle depends on ratios of stiffnesses only, as in the hinge ensemble.
const MEMBRANE: f64 = 100.0;
/// β \[s\]; only its ratio to the steps counts.
const DAMPING: f64 = 1.0;
/// Mass of a strip as ρ = this·B/L⁴ \[s²\]: too little to be felt.
const MASS: f64 = 1e-6;
/// The specimens of a test as one cloth.
pub(crate) struct Strips {
    test: StripTest,
    /// All specimens.
    pub cloth: Cloth,
    points: Vec<CreasePoint>,
    parts: Vec<StripPart>,
    solver: Solver,
}

/// One specimen.
struct StripPart {
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
pub(crate) struct StripCurves {
    /// Recovery angle of each point \[degrees\].
    pub angles: Vec<f64>,
    /// ∂angle/∂parameter.
    pub jacobian: Option<Vec<f64>>,
}

impl StripTest {
    /// The strips of all points for a law in curvature.
    pub(crate) fn strips(
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
            parts.push(StripPart {
                first_vertex,
                vertices,
                hinges: 0..0,
                triangles: first_triangle..mesh.triangles.len(),
                cell,
                membrane: MEMBRANE / point.gap.powi(2),
                density: MASS / (cells as f64 * cell).powi(4),
            });
        }
        let setup = ClothSetup {
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

impl Strips {
    /// Recovery angles for one row of the law's parameters a point; with `gradient` also the Jacobian. All its
    /// rows come from the same sweep, because strips do not influence each other.
    pub(crate) fn angles(&mut self, rows: &[Vec<f64>], gradient: bool) -> Result<StripCurves> {
        let tangents: Vec<f64> = {
            let cells = self.test.cells;
            let middle = |k: usize| (k as f64 + 0.5) / cells as f64;
            (0..cells).map(|k| tangent(middle(k))).collect()
        };
        let parameters = self.parameters(rows);
        let start = self.cloth.start(&parameters);
        let (test, cloth, points, parts) = (&self.test, &self.cloth, &self.points, &self.parts);
        let plan = FoldPlan {
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
        let watches: Vec<WatchedReading> = parts.iter().map(|p| plan.watch(p)).collect();
        if !gradient {
            let angles = rollout.read(&mut self.solver, &start, &parameters, &watches)?;
            return Ok(StripCurves {
                angles,
                jacobian: None,
            });
        }
        let back = rollout.gradient(&mut self.solver, &start, &parameters, &watches)?;
        let total = back.since_virgin(cloth, &parameters);
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

impl StripPart {
    fn own_vertices(&self) -> std::ops::Range<usize> {
        self.first_vertex..self.first_vertex + self.vertices
    }
}

/// ∂angle/∂parameter of every strip from the gradient of the sum of all angles. Membrane and mass go with the
/// first parameter, the bending stiffness.
fn jacobian(cloth: &Cloth, parts: &[StripPart], total: &Parameters) -> Result<Vec<f64>> {
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
