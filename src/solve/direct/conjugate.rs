//! Conjugate gradients with a preconditioner that is nearly the inverse.

/// How an iteration ended.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outcome {
    pub(crate) iterations: usize,
    /// The larger of ‖b − A·x‖/‖b‖ and the same with both vectors scaled by S.
    pub(crate) residual: f64,
}

/// The vectors of the iteration, kept between calls.
#[derive(Default)]
pub(crate) struct Vectors {
    pub(crate) r: Vec<f64>,
    z: Vec<f64>,
    p: Vec<f64>,
    q: Vec<f64>,
}

/// When to stop.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    pub(crate) tolerance: f64,
    pub(crate) iterations: usize,
}

/// Improves `x` until the relative residual is at most the tolerance, in the plain norm and in the
/// norm scaled by the matrix's diagonal (`scale` = diagonal^−½). The second matters where handles
/// of 10 kg stand beside vertices of 1e-7 kg: the plain norm alone would not see the latter.
///
/// β is Polak-Ribière's, which forgives a preconditioner that rounds (Notay, SISC 22, 2000).
pub(crate) fn solve(
    multiply: &mut dyn FnMut(&[f64], &mut [f64]),
    precondition: &mut dyn FnMut(&[f64], &mut [f64]),
    scale: &[f64],
    b: &[f64],
    x: &mut [f64],
    limits: Limits,
    vectors: &mut Vectors,
) -> Outcome {
    let Vectors { r, z, p, q } = vectors;
    for vector in [&mut *r, &mut *z, &mut *p, &mut *q] {
        vector.resize(b.len(), 0.0);
    }
    let reference = norms(b, scale);
    if x.iter().all(|&value| value == 0.0) {
        r.copy_from_slice(b);
    } else {
        multiply(x, q);
        for ((r, b), q) in r.iter_mut().zip(b).zip(&*q) {
            *r = b - q;
        }
    }
    let mut residual = relative(norms(r, scale), reference);
    let mut iterations = 0;
    let mut previous = 0.0;
    while residual > limits.tolerance && iterations < limits.iterations {
        // q still holds A·p of the last step: r changed by −α·q.
        precondition(r, z);
        let rz = dot(r, z);
        if iterations == 0 {
            p.copy_from_slice(z);
        } else {
            let beta = (-dot(z, q) * previous).max(0.0);
            for (p, z) in p.iter_mut().zip(&*z) {
                *p = z + beta * *p;
            }
        }
        multiply(p, q);
        let curvature = dot(p, q);
        let alpha = rz / curvature;
        if !(alpha.is_finite() && curvature > 0.0) {
            break;
        }
        for (x, p) in x.iter_mut().zip(&*p) {
            *x += alpha * p;
        }
        for (r, q) in r.iter_mut().zip(&*q) {
            *r -= alpha * q;
        }
        // β = −α·(z·q)/(r·z) of the step just done.
        previous = alpha / rz;
        iterations += 1;
        residual = relative(norms(r, scale), reference);
    }
    Outcome {
        iterations,
        residual,
    }
}

/// Plain and scaled norm.
fn norms(vector: &[f64], scale: &[f64]) -> [f64; 2] {
    let (mut plain, mut scaled) = (0.0, 0.0);
    for (v, s) in vector.iter().zip(scale) {
        plain += v * v;
        scaled += v * v * s * s;
    }
    [plain.sqrt(), scaled.sqrt()]
}

fn relative(norms: [f64; 2], reference: [f64; 2]) -> f64 {
    let share = |norm: f64, whole: f64| if norm == 0.0 { 0.0 } else { norm / whole };
    share(norms[0], reference[0]).max(share(norms[1], reference[1]))
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut sums = [0.0; 4];
    let (a_chunks, b_chunks) = (a.chunks_exact(4), b.chunks_exact(4));
    let (a_rest, b_rest) = (a_chunks.remainder(), b_chunks.remainder());
    for (a, b) in a_chunks.zip(b_chunks) {
        for k in 0..4 {
            sums[k] += a[k] * b[k];
        }
    }
    let tail: f64 = a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum();
    sums.iter().sum::<f64>() + tail
}
