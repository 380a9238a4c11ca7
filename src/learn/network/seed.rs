//! First values of the parameters, by a seed.

use burn::{
    module::{Module, ModuleMapper, Param},
    tensor::{Tensor, TensorData},
};

use crate::numeric::Random;

/// A module whose parameters depend on the seed alone: burn's own initialisation draws from a generator that
/// everything in the process shares. Matrices are even within ±√(3/inputs), so that a signal keeps its size
/// through linear layers; vectors are zero.
pub(crate) fn seeded<M: Module>(module: M, seed: u64) -> M {
    let random = Random::stream(seed, 0x5EED);
    module.map(&mut Draw { random })
}

struct Draw {
    random: Random,
}

impl ModuleMapper for Draw {
    fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        param.map(|tensor| {
            let shape = tensor.dims();
            let count = shape.iter().product();
            let bound = match D {
                1 => 0.0,
                _ => (3.0 / shape[0] as f64).sqrt(),
            };
            let draw = (0..count).map(|_| (bound * (2.0 * self.random.uniform() - 1.0)) as f32);
            let data = TensorData::new(draw.collect::<Vec<f32>>(), shape);
            let required = tensor.is_require_grad();
            let new = Tensor::from_data(data, &tensor.device());
            if required { new.require_grad() } else { new }
        })
    }
}
