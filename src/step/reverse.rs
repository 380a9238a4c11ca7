//! The step backward: its vector-Jacobian product.
//!
//! With cotangents (x̄', v̄') of the new state, ḡ = v̄' + h·x̄' is that of v', and λ = A⁻¹·ḡ by one solve.
//! Since R(v') = 0, the gradient of φ = λ·R + Σ (history cotangent)·(new history) with v' held is the
//! vector-Jacobian product of the whole step. φ is a sum over elements and vertices, so three short tapes
//! whose leaves are the elements' own vectors give it, and nothing unrolls the solver.

use burn::tensor::{Gradients, Tensor};

use super::{Cloth, Drive, Parameters, Response, State, vertex::VertexInputs};
use crate::{
    element::{Columns, HingeSpan},
    error::Result,
    numeric::Field,
    solve::{SolveStatistics, Solver, Tangent},
};

/// Gradients that one step hands on.
#[derive(Debug, Clone)]
pub struct StepGradient {
    /// Cotangents of the state before the step.
    pub state: State,
    /// Of the parameters.
    pub parameters: Parameters,
    /// Of the anchors, `[3, vertices]`.
    pub anchors: Field,
    /// Of the obstacles' centres, `[3, 1]` each.
    pub centers: Vec<Field>,
    /// How the solve went.
    pub statistics: SolveStatistics,
}

impl Cloth {
    /// From cotangents `adjoint` of the state `after` a step to those of the state `before` it and of
    /// everything else that went in.
    pub fn pull_back(
        &self,
        solver: &mut Solver,
        (before, after): (&State, &State),
        parameters: &Parameters,
        drive: &Drive,
        adjoint: &State,
    ) -> Result<StepGradient> {
        let tape = Tape::record(self, before, parameters, drive);
        let tangent = tape.tangent(self, drive);
        let wanted = adjoint.velocities.clone() + adjoint.positions.clone() * drive.seconds;
        let right = wanted.clone() * drive.free.clone();
        let guess = right.zeros_like();
        let (lambda, statistics) = solver.solve(&self.incidence, &tangent, &right, &guess)?;
        let mut gradient = tape.differentiate(self, drive, &lambda, after, adjoint, statistics);
        gradient.state.positions = gradient.state.positions + adjoint.positions.clone();
        if drive.pinned {
            let pinned = drive.free.clone() * -1.0 + 1.0;
            let coupled = tangent.apply_unpinned(&self.incidence, &lambda);
            let of_target = (wanted - coupled) * pinned / drive.seconds;
            gradient.state.positions = gradient.state.positions - of_target.clone();
            gradient.anchors = gradient.anchors + of_target;
        }
        Ok(gradient)
    }

    /// What cotangents of the virgin state mean for the parameters (ε_Y starts at ε_Y0).
    pub fn pull_back_start(&self, parameters: &Parameters, adjoint: &State) -> Parameters {
        let leaves = parameters.map(leaf);
        let bending = self.start_bending(&leaves);
        let tensile = self.start_tensile(&leaves);
        let sum = weighted(&bending, &adjoint.bending)
            .into_iter()
            .chain(weighted(&tensile, &adjoint.tensile))
            .reduce(|a, b| a + b);
        match sum.filter(Tensor::is_tracked) {
            Some(sum) => {
                let gradients = sum.backward();
                leaves.map(|l| of(l, &gradients))
            }
            None => parameters.map(Field::zeros_like),
        }
    }
}

/// One step recorded on a tape, element by element, up to the point where λ is needed.
struct Tape {
    parameters: Parameters,
    span: HingeSpan,
    columns: Columns,
    bending: Vec<Field>,
    tensile: Vec<Field>,
    vertex: VertexInputs,
    response: Response,
    vertex_terms: super::vertex::VertexTerms,
}

impl Tape {
    fn record(cloth: &Cloth, before: &State, parameters: &Parameters, drive: &Drive) -> Tape {
        let parameters = parameters.map(leaf);
        let span = cloth.incidence.spans(&before.positions).map(leaf);
        let columns = cloth.incidence.columns(&before.positions).map(leaf);
        let bending: Vec<Field> = before.bending.iter().map(leaf).collect();
        let tensile: Vec<Field> = before.tensile.iter().map(leaf).collect();
        let response = Response {
            hinges: cloth.bend_response(&span, &bending, &parameters, drive),
            triangles: cloth.stretch_response(&columns, &tensile, &parameters, drive),
        };
        let inputs = cloth.vertex_inputs(before, &parameters, drive);
        let vertex = VertexInputs {
            positions: leaf(&inputs.positions),
            velocities: leaf(&inputs.velocities),
            anchors: leaf(&inputs.anchors),
            density: parameters.density.clone(),
            centers: inputs.centers.iter().map(leaf).collect(),
        };
        let vertex_terms = cloth.vertex_terms(&vertex, drive);
        Tape {
            parameters,
            span,
            columns,
            bending,
            tensile,
            vertex,
            response,
            vertex_terms,
        }
    }

    /// The matrix of the step, off the tape.
    fn tangent(&self, cloth: &Cloth, drive: &Drive) -> Tangent {
        cloth
            .tangent(&self.response, &self.vertex_terms, drive)
            .inner()
    }

    /// Builds φ and differentiates it.
    fn differentiate(
        &self,
        cloth: &Cloth,
        drive: &Drive,
        lambda: &Field,
        after: &State,
        adjoint: &State,
        statistics: SolveStatistics,
    ) -> StepGradient {
        let stiff = cloth.stiffness_factor(drive);
        let elements = |w: &Field| (cloth.incidence.spans(w), cloth.incidence.columns(w));
        let along = elements(lambda);
        let moving = elements(&after.velocities);
        let (hinges, triangles) = self.response.potential(
            (&along.0, &along.1),
            (&moving.0, &moving.1),
            drive.seconds,
            stiff,
        );
        let vertices = self.vertex_terms.potential(lambda, &after.velocities);
        let histories = weighted(&self.response.hinges.history, &adjoint.bending)
            .into_iter()
            .chain(weighted(&self.response.triangles.history, &adjoint.tensile));
        let potential = histories.fold(hinges + triangles + vertices, |sum, term| sum + term);
        let gradients = potential.backward();
        let span = self.span.map(|f| of(f, &gradients));
        let columns = self.columns.map(|f| of(f, &gradients));
        let all = |list: &[Field]| list.iter().map(|f| of(f, &gradients)).collect();
        StepGradient {
            state: State {
                positions: cloth.incidence.assemble_parts(&span, &columns)
                    + of(&self.vertex.positions, &gradients),
                velocities: of(&self.vertex.velocities, &gradients),
                bending: all(&self.bending),
                tensile: all(&self.tensile),
            },
            parameters: self.parameters.map(|p| of(p, &gradients)),
            anchors: of(&self.vertex.anchors, &gradients),
            centers: all(&self.vertex.centers),
            statistics,
        }
    }
}

/// Puts a field on a fresh tape as a leaf.
pub(crate) fn leaf(field: &Field) -> Field {
    field.clone().autodiff().require_grad()
}

/// The gradient of a leaf, zero where nothing depends on it.
pub(crate) fn of(leaf: &Field, gradients: &Gradients) -> Field {
    let gradient = leaf.grad(gradients);
    gradient.unwrap_or_else(|| leaf.clone().inner().zeros_like())
}

/// Σ value·weight of each pair.
fn weighted(values: &[Field], weights: &[Field]) -> Vec<Tensor<1>> {
    let pairs = values.iter().zip(weights);
    pairs.map(|(v, w)| (v.clone() * w.clone()).sum()).collect()
}
