//! A fabric as a population of yarns.

use burn::tensor::Tensor;

/// Place \[standard deviations\] and weight of every yarn: the nodes of Gauss-Hermite quadrature for the normal
/// distribution.
pub(crate) const YARNS: [(f64, f64); 7] = [
    (-3.750_439_717_725_742_3, 0.000_548_268_855_972_217_9),
    (-2.366_759_410_734_541, 0.030_757_123_967_586_5),
    (-1.154_405_394_739_968_2, 0.240_123_178_605_012_7),
    (0.0, 0.457_142_857_142_857_14),
    (1.154_405_394_739_968_2, 0.240_123_178_605_012_7),
    (2.366_759_410_734_541, 0.030_757_123_967_586_5),
    (3.750_439_717_725_742_3, 0.000_548_268_855_972_217_9),
];

/// Mean of one number a yarn; of a single one, that number. Equal numbers have exactly themselves as their mean.
pub(crate) fn mean<const D: usize>(values: &[&Tensor<D>]) -> Tensor<D> {
    let middle = values[values.len() / 2];
    if values.len() == 1 {
        return middle.clone();
    }
    let each = values.iter().zip(YARNS);
    let apart = each.map(|(value, (_, weight))| ((*value).clone() - middle.clone()) * weight);
    apart.fold(middle.clone(), |sum, part| sum + part)
}
