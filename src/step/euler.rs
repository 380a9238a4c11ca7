//! The step forward.

use super::{
    Cloth, Drive, Parameters, Response, State,
    vertex::{VertexInputs, VertexTerms},
};
use crate::{
    error::Result,
    numeric::Field,
    solve::{SolveStatistics, Solver, Tangent},
};

/// The equations of one step.
#[derive(Debug, Clone)]
pub struct System {
    /// What the elements answer.
    pub response: Response,
    /// A.
    pub tangent: Tangent,
    /// The right-hand side \[kg·m/s\], `[3, vertices]`.
    pub momentum: Field,
}

/// A state one step on.
#[derive(Debug, Clone)]
pub struct Advanced {
    /// The new state.
    pub state: State,
    /// How the linear solve went.
    pub statistics: SolveStatistics,
}

impl Cloth {
    /// The equations of a step: A·v' = momentum, before pins are put in.
    pub fn system(&self, state: &State, parameters: &Parameters, drive: &Drive) -> System {
        let response = self.respond(state, parameters, drive);
        let vertex = self.vertex_terms(&self.vertex_inputs(state, parameters, drive), drive);
        System {
            momentum: vertex.momentum.clone() + response.forces(self) * drive.seconds,
            tangent: self.tangent(&response, &vertex, drive),
            response,
        }
    }

    /// One step.
    pub fn advance(
        &self,
        solver: &mut Solver,
        state: &State,
        parameters: &Parameters,
        drive: &Drive,
    ) -> Result<Advanced> {
        let System {
            response,
            tangent,
            momentum,
        } = self.system(state, parameters, drive);
        let (right, guess) = self.with_pins(&tangent, momentum, state, drive);
        let (velocities, statistics) = solver.solve(&self.incidence, &tangent, &right, &guess)?;
        let h = drive.seconds;
        let elapse = |history: Vec<Field>| match drive.elapse {
            0.0 => history,
            seconds => self.setup.law.elapse(&history, seconds),
        };
        let state = State {
            positions: state.positions.clone() + velocities.clone() * h,
            velocities,
            bending: elapse(response.hinges.history),
            tensile: response.triangles.history,
        };
        Ok(Advanced { state, statistics })
    }

    pub(super) fn vertex_inputs(
        &self,
        state: &State,
        parameters: &Parameters,
        drive: &Drive,
    ) -> VertexInputs {
        VertexInputs {
            positions: state.positions.clone(),
            velocities: state.velocities.clone(),
            anchors: drive.anchors.clone(),
            density: parameters.density.clone(),
            centers: drive.obstacles.iter().map(|p| p.center.clone()).collect(),
        }
    }

    /// h·(h + β): what stiffness is multiplied by.
    pub(super) fn stiffness_factor(&self, drive: &Drive) -> f64 {
        drive.seconds * (drive.seconds + self.setup.damping.stiffness)
    }

    /// The matrix of the step.
    pub(super) fn tangent(
        &self,
        response: &Response,
        vertex: &VertexTerms,
        drive: &Drive,
    ) -> Tangent {
        let factor = self.stiffness_factor(drive);
        let (hinges, triangles) = (&response.hinges, &response.triangles);
        Tangent {
            bend: hinges.bend.clone(),
            bend_weight: hinges.stiffness.clone() * factor,
            columns: triangles.columns.clone(),
            modulus: triangles.modulus.map(|k| k.clone() * factor),
            tension: triangles.tension.clone() * factor,
            blocks: vertex.blocks.clone(),
            free: drive.free.clone(),
        }
    }

    /// Right-hand side and first guess, with the velocities that pins prescribe.
    fn with_pins(
        &self,
        tangent: &Tangent,
        momentum: Field,
        state: &State,
        drive: &Drive,
    ) -> (Field, Field) {
        if !drive.pinned {
            return (momentum, state.velocities.clone());
        }
        let free = &drive.free;
        let pinned = free.clone() * -1.0 + 1.0;
        let known = (drive.anchors.clone() - state.positions.clone()) * pinned / drive.seconds;
        let coupled = tangent.apply_unpinned(&self.incidence, &known);
        let right = (momentum - coupled) * free.clone() + known.clone();
        (right, state.velocities.clone() * free.clone() + known)
    }
}
