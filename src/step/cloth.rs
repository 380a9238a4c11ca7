//! A cloth: mesh, law and everything that does not change from step to step.

use std::sync::Arc;

use super::{Drive, Parameters, State};
use crate::contact::Contact;
use crate::{
    element::Incidence,
    error::{Result, bad_input},
    material::{Law, StrainMeasure, TimeDependent},
    mesh::{Mesh, Rest, RestHinge, Topology},
    numeric::{Compute, Field, Gate},
};

/// Damping of a cloth; both are zero in paper 1.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Damping {
    /// β \[s\]: proportional to stiffness, as (h + β) in place of h.
    pub stiffness: f64,
    /// α \[1/s\]: drag proportional to mass and velocity.
    pub mass: f64,
}

/// What a cloth is made from.
#[derive(Debug, Clone)]
pub struct ClothSetup {
    /// Law of the hinges.
    pub(crate) law: Arc<dyn Law>,
    /// How its thresholds are measured.
    pub strain: StrainMeasure,
    /// How the branches of the hinges' law are taken.
    pub gate: Gate,
    /// How the branches of the triangles' law are taken.
    pub tensile_gate: Gate,
    /// Strain within which the step's matrix takes a triangle for stretched; 0 is the hard clamp of paper 1,
    /// whose gradient is not defined at zero strain. See [`crate::element::tension`].
    pub tension_softness: f64,
    /// \[m/s²\]
    pub gravity: [f64; 3],
    /// Damping.
    pub damping: Damping,
    /// Obstacles.
    pub contacts: Vec<Contact>,
    /// Whether the shape in space is free of bending moment (a sewn cylinder) instead of the flat one.
    pub rest_is_curved: bool,
}

/// A cloth on a device.
#[derive(Debug, Clone)]
pub struct Cloth {
    /// Where it is computed.
    pub compute: Compute,
    /// Its mesh.
    pub mesh: Mesh,
    /// Who is whose neighbour.
    pub topology: Topology,
    /// Rest state.
    pub rest: Rest,
    /// Law, damping and the like.
    pub setup: ClothSetup,
    /// Corners and vertices.
    pub incidence: Incidence,
    /// Rest angle \[rad\], `[1, hinges]`.
    pub(crate) rest_angle: Field,
    /// Strain per angle: 1/H̄ \[1/m\] for curvature, 1 for angle, `[1, hinges]`.
    pub(crate) strain_per_angle: Field,
    /// ∂energy/∂θ over stress: l \[m\] for curvature, 3·l/H̄ for angle, `[1, hinges]`. So a sheet of cells that
    /// is bent along them has the rigidity K_b of a material in curvature, 3·K_b of one in angles.
    pub(super) moment_per_stress: Field,
    /// How much a hinge bends along the weft, 0 to 1, `[1, hinges]`.
    pub(super) weft_share: Field,
    /// \[m²\], `[1, triangles]`.
    pub(crate) area: Field,
    /// Area of each vertex \[m²\], `[1, vertices]`.
    pub(crate) vertex_area: Field,
}

/// The law of stretched triangles: paper 1, section 3.4. It has one yarn, whatever the hinges have.
pub(super) const TENSILE_LAW: TimeDependent = TimeDependent {
    timer: crate::material::Timer::Authors,
    branches: 0,
    population: false,
};

impl Cloth {
    /// Checks the mesh and puts its constants on the device.
    pub fn new(mesh: Mesh, setup: ClothSetup, compute: &Compute) -> Result<Cloth> {
        let topology = mesh.check()?;
        if topology.hinges.is_empty() {
            return bad_input(
                "the mesh has no two triangles that share an edge; give it at least one",
            );
        }
        let rest = Rest::new(&mesh, &topology);
        let row = |values: Vec<f64>| {
            let count = values.len();
            compute.tensor(&values, [1, count])
        };
        let hinge = |f: &dyn Fn(&RestHinge) -> f64| row(rest.hinges.iter().map(f).collect());
        let curvature = setup.strain == StrainMeasure::Curvature;
        let per_angle = |h: &RestHinge| if curvature { 1.0 / h.height } else { 1.0 };
        let per_stress = |h: &RestHinge| {
            if curvature {
                h.length
            } else {
                3.0 * h.length / h.height
            }
        };
        let curved = if setup.rest_is_curved { 1.0 } else { 0.0 };
        let incidence = Incidence::new(
            &mesh.triangles,
            &topology,
            &rest,
            mesh.positions.len(),
            compute,
        );
        Ok(Cloth {
            rest_angle: hinge(&|h| h.angle * curved),
            strain_per_angle: hinge(&per_angle),
            moment_per_stress: hinge(&per_stress),
            weft_share: hinge(&|h| 1.0 - h.warp_share),
            area: row(rest.triangles.iter().map(|t| t.area).collect()),
            vertex_area: row(rest.vertex_area.clone()),
            compute: compute.clone(),
            mesh,
            topology,
            rest,
            setup,
            incidence,
        })
    }

    /// Number of vertices.
    pub fn vertices(&self) -> usize {
        self.mesh.positions.len()
    }

    /// A vertex tensor `[3, vertices]` from one array a vertex.
    pub fn vertex_tensor(&self, values: &[[f64; 3]]) -> Field {
        let rows = (0..3).flat_map(|axis| values.iter().map(move |v| v[axis]));
        let rows: Vec<f64> = rows.collect();
        self.compute.tensor(&rows, [3, values.len()])
    }

    /// The inverse of [`Cloth::vertex_tensor`].
    pub fn vertex_values(&self, tensor: &Field) -> Result<Vec<[f64; 3]>> {
        let count = tensor.dims()[1];
        let rows = self.compute.values(tensor.clone())?;
        let at = |v: usize| [rows[v], rows[count + v], rows[2 * count + v]];
        Ok((0..count).map(at).collect())
    }

    /// The mesh at rest in its given shape, with virgin history.
    pub fn start(&self, parameters: &Parameters) -> State {
        let positions = self.vertex_tensor(&self.mesh.positions);
        State {
            velocities: positions.zeros_like(),
            positions,
            bending: self.start_bending(parameters),
            tensile: self.start_tensile(parameters),
        }
    }

    pub(super) fn start_bending(&self, parameters: &Parameters) -> Vec<Field> {
        self.setup.law.start(&parameters.bending, &self.rest_angle)
    }

    pub(super) fn start_tensile(&self, parameters: &Parameters) -> Vec<Field> {
        if parameters.tensile.is_empty() {
            return Vec::new();
        }
        let like = self.area.clone().repeat_dim(0, 3).zeros_like();
        TENSILE_LAW.start(&parameters.tensile_law(), &like)
    }

    /// A step of `seconds` that nothing from outside acts in, to be filled in.
    pub fn free_drive(&self, seconds: f64) -> Drive {
        let shape = [1, self.vertices()];
        Drive {
            seconds,
            material_seconds: seconds,
            hinge_seconds: None,
            elapse: 0.0,
            grip: self.compute.zeros(shape),
            pinned: false,
            free: self.compute.zeros(shape) + 1.0,
            anchors: self.compute.zeros([3, self.vertices()]),
            obstacles: Vec::new(),
            absent: Vec::new(),
        }
    }
}
