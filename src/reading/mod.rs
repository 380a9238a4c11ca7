//! Readings: scalar, differentiable measures of a cloth's state.

mod measure;

pub(crate) use measure::Reading;

use burn::tensor::Tensor;

use crate::{
    element::{Bend, Columns, HingeSpan},
    error::Result,
    numeric::Field,
    step::{Cloth, Drive, Parameters, State, leaf, of},
};

/// What a reading is a function of. Element vectors stand beside the positions they come from, because a
/// tape must not hold a gather: on the way back both have their own gradient.
pub(crate) struct View<'a> {
    pub cloth: &'a Cloth,
    pub drive: &'a Drive,
    pub anchors: Field,
    pub positions: Field,
    pub velocities: Field,
    pub span: HingeSpan,
    pub columns: Columns,
    pub bending: Vec<Field>,
    pub tensile: Vec<Field>,
    pub parameters: Parameters,
}

impl View<'_> {
    /// Angles of the hinges.
    pub(crate) fn bend(&self) -> Bend {
        Bend::new(&self.span, &self.cloth.compute)
    }
}

/// A reading and the gradient of `weight` times it.
#[derive(Debug, Clone)]
pub struct LinearizedReading {
    /// The reading itself.
    pub value: f64,
    /// Of the state.
    pub state: State,
    /// Of the parameters.
    pub parameters: Parameters,
    /// Of the anchors of the drive, `[3, vertices]`.
    pub anchors: Field,
}

impl Reading {
    /// The reading of a state; `drive` is that of the step that led to it.
    pub fn value(
        &self,
        cloth: &Cloth,
        state: &State,
        parameters: &Parameters,
        drive: &Drive,
    ) -> Result<f64> {
        let view = View {
            cloth,
            drive,
            anchors: drive.anchors.clone(),
            positions: state.positions.clone(),
            velocities: state.velocities.clone(),
            span: cloth.incidence.spans(&state.positions),
            columns: cloth.incidence.columns(&state.positions),
            bending: state.bending.clone(),
            tensile: state.tensile.clone(),
            parameters: parameters.clone(),
        };
        Ok(cloth.compute.values(self.evaluate(&view))?[0])
    }

    /// The reading and its gradient.
    pub fn linearized(
        &self,
        cloth: &Cloth,
        state: &State,
        parameters: &Parameters,
        drive: &Drive,
        weight: f64,
    ) -> Result<LinearizedReading> {
        let view = View {
            cloth,
            drive,
            anchors: leaf(&drive.anchors),
            positions: leaf(&state.positions),
            velocities: leaf(&state.velocities),
            span: cloth.incidence.spans(&state.positions).map(leaf),
            columns: cloth.incidence.columns(&state.positions).map(leaf),
            bending: state.bending.iter().map(leaf).collect(),
            tensile: state.tensile.iter().map(leaf).collect(),
            parameters: parameters.map(leaf),
        };
        let reading: Tensor<1> = self.evaluate(&view);
        let value = cloth.compute.values(reading.clone().inner())?[0];
        let gradients = (reading * weight).backward();
        let span = view.span.map(|f| of(f, &gradients));
        let columns = view.columns.map(|f| of(f, &gradients));
        let positions = cloth.incidence.assemble_parts(&span, &columns);
        Ok(LinearizedReading {
            value,
            state: State {
                positions: positions + of(&view.positions, &gradients),
                velocities: of(&view.velocities, &gradients),
                bending: view.bending.iter().map(|f| of(f, &gradients)).collect(),
                tensile: view.tensile.iter().map(|f| of(f, &gradients)).collect(),
            },
            parameters: view.parameters.map(|f| of(f, &gradients)),
            anchors: of(&view.anchors, &gradients),
        })
    }
}
