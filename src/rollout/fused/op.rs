//! The fused roll-out as one tensor operation with its own backward pass: an extension of burn's Flex
//! backend, of its GPU backends (`super::device`) and of its tape.

use std::{borrow::Cow, sync::Arc};

use burn::backend::{
    Autodiff, AutodiffBackend, Backend, Dispatch, Flex,
    autodiff::{
        checkpoint::{base::Checkpointer, strategy::CheckpointStrategy},
        grads::Gradients,
        ops::{Backward, Ops, OpsKind},
    },
    backend_extension,
    flex::FlexTensor,
    tensor::FloatTensor,
};
use burn::tensor::{DType, Element, Tensor, TensorData};
#[cfg(feature = "gpu")]
use burn::{backend::fusion::custom::TensorSpec, tensor::Shape};

use super::{PARAMETERS, Rollout, run_contraction, run_forward, run_jacobian, run_linearized};
use crate::numeric::Field;

/// Readings `[points, hinges, readings]` for parameters `[points, 9]`. On the tape when `parameters` is.
pub(crate) fn readings(rollout: &Rollout, parameters: Field) -> Tensor<3> {
    let rollout = Arc::new(rollout.clone());
    Tensor::from_dispatch(<Dispatch as FusedRollout>::fused_readings(
        parameters.into_dispatch(),
        rollout,
    ))
}

/// Readings, and the gradient of Σ cotangent·readings with respect to the parameters, in one pass and
/// without a tape.
pub(crate) fn linearized(
    rollout: &Rollout,
    parameters: Field,
    cotangent: Tensor<3>,
) -> (Tensor<3>, Field) {
    let (readings, gradient) = <Dispatch as FusedRollout>::fused_linearized(
        parameters.into_dispatch(),
        cotangent.into_dispatch(),
        Arc::new(rollout.clone()),
    );
    (
        Tensor::from_dispatch(readings),
        Tensor::from_dispatch(gradient),
    )
}

/// The operation and what its backward pass is made of.
#[backend_extension(
    Flex,
    Cube: cfg(feature = "gpu"),
    Fusion: cfg(feature = "gpu"),
    Autodiff
)]
pub(crate) trait FusedRollout: Backend {
    /// Readings for parameters.
    #[fusion(dtype = parameters, shape = Shape::new(shape_of(rollout)))]
    fn fused_readings(parameters: FloatTensor<Self>, rollout: Arc<Rollout>) -> FloatTensor<Self>;

    /// Readings, and the gradient for a cotangent of them.
    #[fusion(meta = |parameters, _, rollout| (
        of_shape(parameters, shape_of(rollout)),
        of_shape(parameters, [rollout.points, PARAMETERS]),
    ))]
    fn fused_linearized(
        parameters: FloatTensor<Self>,
        cotangent: FloatTensor<Self>,
        rollout: Arc<Rollout>,
    ) -> (FloatTensor<Self>, FloatTensor<Self>);

    /// The one reading of every hinge, and its derivatives, whose layout only the backend knows.
    #[fusion(meta = |parameters, rollout| (
        of_shape(parameters, shape_of(rollout)),
        of_shape(parameters, [PARAMETERS, rollout.points * rollout.hinges]),
    ))]
    fn fused_jacobian(
        parameters: FloatTensor<Self>,
        rollout: Arc<Rollout>,
    ) -> (FloatTensor<Self>, FloatTensor<Self>);

    /// The gradient for a cotangent from the derivatives of every hinge.
    #[fusion(dtype = jacobian, shape = Shape::new([rollout.points, PARAMETERS]))]
    fn fused_contraction(
        jacobian: FloatTensor<Self>,
        cotangent: FloatTensor<Self>,
        rollout: Arc<Rollout>,
    ) -> FloatTensor<Self>;
}

/// Runs `$body` with `$real` standing for the precision of the roll-out: double for a tensor in double precision,
/// single for any other.
macro_rules! with_element {
    ($tensor:expr, $real:ident, $body:expr) => {
        match $tensor.dtype() {
            DType::F64 => {
                type $real = f64;
                $body
            }
            _ => {
                type $real = f32;
                $body
            }
        }
    };
}

/// The numbers of a tensor, row by row, as `$real`. They are borrowed where they lie in memory like that. A tensor
/// of another element type is converted, and a view (such as a cotangent that repeats one number) is copied.
macro_rules! numbers {
    ($tensor:expr, $real:ident) => {
        match $tensor.as_slice::<$real>() {
            Some(slice) => Cow::Borrowed(slice),
            None => Cow::Owned($tensor.clone().into_data().iter::<$real>().collect()),
        }
    };
}

impl FusedRollout for Flex {
    fn fused_readings(parameters: FlexTensor, rollout: Arc<Rollout>) -> FlexTensor {
        with_element!(parameters, R, {
            let readings = run_forward::<R>(&rollout, &numbers!(parameters, R));
            make(readings, shape_of(&rollout))
        })
    }

    fn fused_linearized(
        parameters: FlexTensor,
        cotangent: FlexTensor,
        rollout: Arc<Rollout>,
    ) -> (FlexTensor, FlexTensor) {
        with_element!(parameters, R, {
            let (readings, gradient) =
                run_linearized::<R>(&rollout, &numbers!(parameters, R), &numbers!(cotangent, R));
            let shape = [rollout.points, PARAMETERS];
            (make(readings, shape_of(&rollout)), make(gradient, shape))
        })
    }

    fn fused_jacobian(parameters: FlexTensor, rollout: Arc<Rollout>) -> (FlexTensor, FlexTensor) {
        with_element!(parameters, R, {
            let (readings, jacobian) = run_jacobian::<R>(&rollout, &numbers!(parameters, R));
            let shape = [rollout.points * rollout.hinges, PARAMETERS];
            (make(readings, shape_of(&rollout)), make(jacobian, shape))
        })
    }

    fn fused_contraction(
        jacobian: FlexTensor,
        cotangent: FlexTensor,
        rollout: Arc<Rollout>,
    ) -> FlexTensor {
        with_element!(jacobian, R, {
            let gradient =
                run_contraction::<R>(&rollout, &numbers!(jacobian, R), &numbers!(cotangent, R));
            make(gradient, [rollout.points, PARAMETERS])
        })
    }
}

/// What fusion is told of a result before it is there.
#[cfg(feature = "gpu")]
fn of_shape<const D: usize>(like: &TensorSpec, shape: [usize; D]) -> TensorSpec {
    TensorSpec::new(Shape::new(shape), like.dtype)
}

/// Shape of the readings.
pub(super) fn shape_of(rollout: &Rollout) -> [usize; 3] {
    [
        rollout.points,
        rollout.hinges,
        rollout.schedule.readings.len(),
    ]
}

fn make<R: Element, const D: usize>(values: Vec<R>, shape: [usize; D]) -> FlexTensor {
    FlexTensor::from_data(TensorData::new(values, shape))
}

/// The tape's record of one fused roll-out.
#[derive(Debug)]
struct FusedBackward;

/// What it keeps. With one reading a hinge the derivatives are made on the way forward, while the
/// block's states are in cache. With more, one reverse pass for all of them is cheaper: the parameters
/// are kept and the blocks run again on the way back.
#[derive(Debug, Clone)]
enum Kept<T> {
    Jacobian(T),
    Parameters(T),
}

impl<B: Backend + FusedRollout> Backward<B, 1> for FusedBackward {
    type State = (Kept<FloatTensor<B>>, Arc<Rollout>);

    fn backward(self, ops: Ops<Self::State, 1>, gradients: &mut Gradients, _: &mut Checkpointer) {
        let [parent] = ops.parents;
        let cotangent = gradients.consume::<B>(&ops.node);
        let (kept, rollout) = ops.state;
        if let Some(node) = parent {
            let gradient = match kept {
                Kept::Jacobian(jacobian) => B::fused_contraction(jacobian, cotangent, rollout),
                Kept::Parameters(parameters) => {
                    B::fused_linearized(parameters, cotangent, rollout).1
                }
            };
            gradients.register::<B>(node.id, gradient);
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
            OpsKind::Tracked(tape) if rollout.schedule.readings.len() == 1 => {
                let (readings, jacobian) = B::fused_jacobian(parameters, rollout.clone());
                tape.finish((Kept::Jacobian(jacobian), rollout), readings)
            }
            OpsKind::Tracked(tape) => {
                let readings = B::fused_readings(parameters.clone(), rollout.clone());
                tape.finish((Kept::Parameters(parameters), rollout), readings)
            }
            OpsKind::UnTracked(tape) => tape.finish(B::fused_readings(parameters, rollout)),
        }
    }

    // Burn's tape has no second derivatives: what follows leaves it.

    fn fused_linearized(
        parameters: FloatTensor<Self>,
        cotangent: FloatTensor<Self>,
        rollout: Arc<Rollout>,
    ) -> (FloatTensor<Self>, FloatTensor<Self>) {
        let (readings, gradient) = B::fused_linearized(
            parameters.into_primitive(),
            cotangent.into_primitive(),
            rollout,
        );
        (Self::from_inner(readings), Self::from_inner(gradient))
    }

    fn fused_jacobian(
        parameters: FloatTensor<Self>,
        rollout: Arc<Rollout>,
    ) -> (FloatTensor<Self>, FloatTensor<Self>) {
        let (readings, jacobian) = B::fused_jacobian(parameters.into_primitive(), rollout);
        (Self::from_inner(readings), Self::from_inner(jacobian))
    }

    fn fused_contraction(
        jacobian: FloatTensor<Self>,
        cotangent: FloatTensor<Self>,
        rollout: Arc<Rollout>,
    ) -> FloatTensor<Self> {
        let (jacobian, cotangent) = (jacobian.into_primitive(), cotangent.into_primitive());
        Self::from_inner(B::fused_contraction(jacobian, cotangent, rollout))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        laboratory::{CreasePoint, CreaseTest},
        material::Material,
        numeric::Gate,
    };

    /// Numbers of another precision are converted, and views copied: neither gives an empty result.
    #[test]
    fn a_cotangent_of_another_precision_is_converted() {
        let cotton = Material::preset("cotton broad").unwrap();
        let law = cotton.build_law(crate::material::Timer::Authors);
        let point = CreasePoint {
            gap: 2e-3,
            press: 300.0,
            read: 0.0,
        };
        let test = CreaseTest {
            hinges: 8,
            ..CreaseTest::default()
        };
        let rollout = test.rollout(law.clone(), Gate::Hard, &[point]).unwrap();
        let rollout = Arc::new(rollout);
        let values = cotton.values_for(law.as_ref()).unwrap();
        let parameters = make(values, [1, PARAMETERS]);
        let count = shape_of(&rollout).iter().product();
        let read = |cotangent: FlexTensor| {
            let both = Flex::fused_linearized(parameters.clone(), cotangent, rollout.clone());
            let numbers = |t: FlexTensor| t.into_data().iter::<f64>().collect::<Vec<f64>>();
            (numbers(both.0), numbers(both.1))
        };
        let double = read(make(vec![0.5_f64; count], shape_of(&rollout)));
        let single = read(make(vec![0.5_f32; count], shape_of(&rollout)));
        assert_eq!(double, single);
        assert_eq!(double.0.len(), count);
        assert!(double.1.iter().any(|slope| *slope != 0.0));
    }
}
