//! Cloths in random shapes with random histories, and their matrix.

use nalgebra::DMatrix;
use rumple::{
    material::StrainMeasure,
    mesh::{
        Mesh,
        generate::{Pattern, cylinder},
    },
    numeric::Field,
    solve::Tangent,
    step::{Cloth, ClothSetup, Parameters, Response, State},
};

use super::{
    cloth::{Dice, crumpled, sheet},
    cpu,
};

/// Regular and irregular ways to cut a sheet.
pub const PATTERNS: [Pattern; 3] = [
    Pattern::OneSided,
    Pattern::Alternating,
    Pattern::Irregular { seed: 7 },
];

/// Bending of the law that remembers, its thresholds among the curvatures of a crumpled sheet (70 1/m) or
/// its angles (0.5 rad).
pub const CURVATURE: [f64; 9] = [6e-6, 9e-6, 10.0, 70.0, 5.0, 50.0, 3e-6, 0.6, 20.0];
pub const ANGLE: [f64; 9] = [6e-6, 9e-6, 0.1, 0.6, 5.0, 0.4, 3e-6, 0.6, 20.0];

/// A cloth in a random shape with a random history.
pub struct Crumpled {
    pub cloth: Cloth,
    pub parameters: Parameters,
    pub state: State,
}

impl Crumpled {
    pub fn new(mesh: Mesh, setup: ClothSetup, parameters: Parameters, seed: u64) -> Crumpled {
        let mut dice = Dice::new(seed);
        let shape = crumpled(&mesh, &mut dice, [6e-4, 6e-4, 1e-3]);
        let cloth = Cloth::new(mesh, setup, &cpu()).unwrap();
        let mut state = cloth.start(&parameters);
        state.positions = cloth.vertex_tensor(&shape);
        let strain = match cloth.setup.strain {
            StrainMeasure::Curvature => 100.0,
            StrainMeasure::Angle => 0.8,
        };
        for (list, size) in [(&mut state.bending, strain), (&mut state.tensile, 0.05)] {
            if let [anchor, stick_time, plastic, ..] = &mut list[..] {
                *anchor = dice.field(&cpu(), anchor.dims(), (-size, size));
                *stick_time = dice.field(&cpu(), anchor.dims(), (0.0, 10.0));
                *plastic = dice.field(&cpu(), anchor.dims(), (-size, size));
            }
        }
        Crumpled {
            cloth,
            parameters,
            state,
        }
    }

    pub fn respond(&self, positions: &Field) -> Response {
        let state = State {
            positions: positions.clone(),
            ..self.state.clone()
        };
        self.cloth
            .respond(&state, &self.parameters, &self.cloth.free_drive(0.01))
    }

    pub fn values(&self, field: &Field) -> Vec<f64> {
        self.cloth.compute.values(field.clone()).unwrap()
    }

    pub fn positions(&self) -> Vec<[f64; 3]> {
        self.cloth.vertex_values(&self.state.positions).unwrap()
    }

    pub fn forces(&self, positions: &Field) -> Vec<f64> {
        let forces = self.respond(positions).forces(&self.cloth);
        self.cloth.vertex_values(&forces).unwrap().concat()
    }

    /// The stiffness part of the step's matrix for h = 1 s: what −∂f/∂x is replaced by.
    pub fn stiffness(&self) -> Tangent {
        let drive = self.cloth.free_drive(1.0);
        let tangent = self
            .cloth
            .system(&self.state, &self.parameters, &drive)
            .tangent;
        Tangent {
            blocks: tangent.blocks.zeros_like(),
            ..tangent
        }
    }
}

/// Every mesh, measure and anisotropy that the energy is checked on.
pub fn crumpled_cloths(make: impl Fn(StrainMeasure) -> (ClothSetup, Parameters)) -> Vec<Crumpled> {
    let mut meshes: Vec<Mesh> = PATTERNS.iter().map(|p| sheet(5, 4, *p)).collect();
    meshes.push(cylinder(0.012, 0.03, 8, 3, Pattern::Irregular { seed: 2 }).unwrap());
    let mut list = Vec::new();
    for (seed, mesh) in meshes.into_iter().enumerate() {
        for measure in [StrainMeasure::Curvature, StrainMeasure::Angle] {
            let (setup, parameters) = make(measure);
            list.push(Crumpled::new(mesh.clone(), setup, parameters, seed as u64));
        }
    }
    list
}

/// The matrix of an operator over vertex tensors.
pub fn dense(cloth: &Cloth, tangent: &Tangent) -> DMatrix<f64> {
    let size = 3 * cloth.vertices();
    let mut matrix = DMatrix::zeros(size, size);
    for column in 0..size {
        let mut unit = vec![0.0; size];
        unit[column] = 1.0;
        let unit = cloth.compute.tensor(&unit, [3, cloth.vertices()]);
        let image = tangent.apply(&cloth.incidence, &unit);
        matrix.set_column(column, &cloth.compute.values(image).unwrap().into());
    }
    matrix
}
