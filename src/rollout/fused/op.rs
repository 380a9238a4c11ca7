//! The fused roll-out as one tensor operation with its own backward pass: an extension of burn's Flex
//! backend and of its tape. Other devices take the plain roll-out.

use std::sync::Arc;

use burn::backend::{
    Autodiff, Backend, Dispatch, Flex, TensorMetadata,
    autodiff::{
        checkpoint::{base::Checkpointer, strategy::CheckpointStrategy},
        grads::Gradients,
        ops::{Backward, Ops, OpsKind},
    },
    backend_extension,
    flex::FlexTensor,
    tensor::FloatTensor,
};
use burn::tensor::{DType, Tensor, TensorData};

use super::{Real, Rollout, run_forward, run_gradient};
use crate::numeric::Field;

/// Readings `[points, hinges, readings]` for parameters `[points, 9]` on the CPU. On the tape when
/// `parameters` is.
pub fn readings(rollout: &Rollout, parameters: Field) -> Tensor<3> {
    let rollout = Arc::new(rollout.clone());
    Tensor::from_dispatch(<Dispatch as FusedRollout>::fused_readings(
        parameters.into_dispatch(),
        rollout,
    ))
}

/// The gradient of Σ cotangent·readings with respect to the parameters, without a tape.
pub fn gradient(rollout: &Rollout, parameters: Field, cotangent: Tensor<3>) -> Field {
    let rollout = Arc::new(rollout.clone());
    Tensor::from_dispatch(<Dispatch as FusedRollout>::fused_gradient(
        parameters.into_dispatch(),
        cotangent.into_dispatch(),
        rollout,
    ))
}

/// The operation and its vector-Jacobian product.
#[backend_extension(Flex, Autodiff)]
pub trait FusedRollout: Backend {
    /// Readings for parameters.
    fn fused_readings(parameters: FloatTensor<Self>, rollout: Arc<Rollout>) -> FloatTensor<Self>;

    /// Gradient for parameters and a cotangent of the readings.
    fn fused_gradient(
        parameters: FloatTensor<Self>,
        cotangent: FloatTensor<Self>,
        rollout: Arc<Rollout>,
    ) -> FloatTensor<Self>;
}

impl FusedRollout for Flex {
    fn fused_readings(parameters: FlexTensor, rollout: Arc<Rollout>) -> FlexTensor {
        let parameters = parameters.to_contiguous();
        match parameters.dtype() {
            DType::F64 => flex_readings::<f64>(&parameters, &rollout),
            _ => flex_readings::<f32>(&parameters, &rollout),
        }
    }

    fn fused_gradient(
        parameters: FlexTensor,
        cotangent: FlexTensor,
        rollout: Arc<Rollout>,
    ) -> FlexTensor {
        // A cotangent can be a view that repeats one number.
        let (parameters, cotangent) = (parameters.to_contiguous(), cotangent.to_contiguous());
        match parameters.dtype() {
            DType::F64 => flex_gradient::<f64>(&parameters, &cotangent, &rollout),
            _ => flex_gradient::<f32>(&parameters, &cotangent, &rollout),
        }
    }
}

fn flex_readings<R: Real + FlexElement>(parameters: &FlexTensor, rollout: &Rollout) -> FlexTensor {
    let shape = [
        rollout.points,
        rollout.hinges,
        rollout.schedule.readings.len(),
    ];
    R::tensor(run_forward(rollout, R::view(parameters)), shape.to_vec())
}

fn flex_gradient<R: Real + FlexElement>(
    parameters: &FlexTensor,
    cotangent: &FlexTensor,
    rollout: &Rollout,
) -> FlexTensor {
    let gradient = run_gradient(rollout, R::view(parameters), R::view(cotangent));
    let shape = parameters.shape().to_vec();
    R::tensor(gradient, shape)
}

/// Plain memory of a Flex tensor.
trait FlexElement: Sized {
    fn view(tensor: &FlexTensor) -> &[Self];
    fn tensor(values: Vec<Self>, shape: Vec<usize>) -> FlexTensor;
}

macro_rules! flex_element {
    ($type:ty) => {
        impl FlexElement for $type {
            fn view(tensor: &FlexTensor) -> &[Self] {
                // Contiguous and of this type by the two functions that call it.
                tensor.as_slice::<$type>().unwrap_or_default()
            }

            fn tensor(values: Vec<Self>, shape: Vec<usize>) -> FlexTensor {
                FlexTensor::from_data(TensorData::new(values, shape))
            }
        }
    };
}
flex_element!(f32);
flex_element!(f64);

/// The tape's record of one fused roll-out: it keeps the parameters and runs the block forward again
/// on the way back, which is cheaper than keeping every state of every hinge.
#[derive(Debug)]
struct FusedBackward;

impl<B: Backend + FusedRollout> Backward<B, 1> for FusedBackward {
    type State = (FloatTensor<B>, Arc<Rollout>);

    fn backward(self, ops: Ops<Self::State, 1>, gradients: &mut Gradients, _: &mut Checkpointer) {
        let [parent] = ops.parents;
        let cotangent = gradients.consume::<B>(&ops.node);
        let (parameters, rollout) = ops.state;
        if let Some(node) = parent {
            gradients.register::<B>(node.id, B::fused_gradient(parameters, cotangent, rollout));
        }
    }
}

impl<B: Backend + FusedRollout, C: CheckpointStrategy> FusedRollout for Autodiff<B, C> {
    fn fused_readings(parameters: FloatTensor<Self>, rollout: Arc<Rollout>) -> FloatTensor<Self> {
        let (parameters, guard) = parameters.into_parts();
        match FusedBackward
            .prepare::<C>([guard])
            .compute_bound()
            .stateful()
        {
            OpsKind::Tracked(tape) => {
                let readings = B::fused_readings(parameters.clone(), rollout.clone());
                tape.finish((parameters, rollout), readings)
            }
            OpsKind::UnTracked(tape) => tape.finish(B::fused_readings(parameters, rollout)),
        }
    }

    /// There are no second derivatives on burn's tape: the gradient leaves it.
    fn fused_gradient(
        parameters: FloatTensor<Self>,
        cotangent: FloatTensor<Self>,
        rollout: Arc<Rollout>,
    ) -> FloatTensor<Self> {
        <Self as burn::backend::AutodiffBackend>::from_inner(B::fused_gradient(
            parameters.into_primitive(),
            cotangent.into_primitive(),
            rollout,
        ))
    }
}
