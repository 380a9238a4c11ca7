//! Conjugate gradients with a preconditioner that is nearly the inverse.

/// How an iteration ended.
#[derive(Clone, Copy, Debug)]
pub(crate) struct IterationEnd {
    pub(crate) iterations: usize,
    /// The larger of ‖b − A·x‖/‖b‖ and the same with both vectors scaled by S, computed from x.
    pub(crate) residual: f64,
    /// Whether the residual is within the tolerance, or as small as rounding allows.
    pub(crate) converged: bool,
}

/// The vectors of the iteration, kept between calls.
#[derive(Clone, Default)]
pub(crate) struct Vectors {
    r: Vec<f64>,
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

/// A·x = b and an approximate inverse of A.
pub(crate) struct SparseSystem<'a> {
    /// `multiply(x, y)`: y = A·x.
    pub(crate) multiply: &'a mut dyn FnMut(&[f64], &mut [f64]),
    /// `precondition(r, z)`: z ≈ A⁻¹·r.
    pub(crate) precondition: &'a mut dyn FnMut(&[f64], &mut [f64]),
    /// S: the diagonal of A to the power −½.
    pub(crate) scale: &'a [f64],
    pub(crate) b: &'a [f64],
}

/// The residual that the recurrence carries drifts from b − A·x; after this many fresh starts from
/// the true one nothing more is gained.
const MOST_RESTARTS: usize = 3;

/// Rounding leaves a residual of some units in the last place of |A|·|x|; a row of A has about 39
/// entries, whose sizes add up to some times the diagonal's.
const ROUNDING: f64 = 8.0 * f64::EPSILON;

impl SparseSystem<'_> {
    /// Improves `x` until the relative residual is at most the tolerance, in the plain norm and in
    /// the norm scaled by S. The second matters where handles of 10 kg stand beside vertices of
    /// 1e-7 kg: the plain norm alone would not see the latter.
    pub(crate) fn solve(
        &mut self,
        x: &mut [f64],
        limits: Limits,
        vectors: &mut Vectors,
    ) -> IterationEnd {
        for vector in [
            &mut vectors.r,
            &mut vectors.z,
            &mut vectors.p,
            &mut vectors.q,
        ] {
            vector.resize(self.b.len(), 0.0);
        }
        let reference = norms(self.b, self.scale);
        let mut left = limits;
        let mut restarts = 0;
        loop {
            self.true_residual(x, vectors);
            let size = norms(&vectors.r, self.scale);
            let residual = relative(size, reference);
            let converged = residual <= limits.tolerance || self.is_rounding(size, x);
            if converged || left.iterations == 0 || restarts > MOST_RESTARTS {
                return IterationEnd {
                    iterations: limits.iterations - left.iterations,
                    residual,
                    converged,
                };
            }
            left.iterations -= self.descend(x, reference, left, vectors);
            restarts += 1;
        }
    }

    /// `r = b − A·x`.
    fn true_residual(&mut self, x: &[f64], vectors: &mut Vectors) {
        let Vectors { r, q, .. } = vectors;
        r.copy_from_slice(self.b);
        if x.iter().all(|&value| value == 0.0) {
            return;
        }
        (self.multiply)(x, q);
        add(r, -1.0, q);
    }

    fn is_rounding(&self, size: [f64; 2], x: &[f64]) -> bool {
        let (mut plain, mut scaled) = (0.0, 0.0);
        for (x, s) in x.iter().zip(self.scale) {
            let force = x / (s * s);
            plain += force * force;
            scaled += force * force * s * s;
        }
        size[0] <= ROUNDING * plain.sqrt() && size[1] <= ROUNDING * scaled.sqrt()
    }

    /// Steps from the residual in `vectors.r`; the number of steps done. β is Polak-Ribière's, which
    /// forgives a preconditioner that rounds (Notay, SIAM J. Sci. Comput. 22, 2000).
    fn descend(
        &mut self,
        x: &mut [f64],
        reference: [f64; 2],
        limits: Limits,
        vectors: &mut Vectors,
    ) -> usize {
        let Vectors { r, z, p, q } = vectors;
        // α/(r·z) of the last step.
        let mut last = 0.0;
        p.fill(0.0);
        for iteration in 0..limits.iterations {
            if relative(norms(r, self.scale), reference) <= limits.tolerance {
                return iteration;
            }
            (self.precondition)(r, z);
            let rz = dot(r, z);
            // r changed by −α·q, so β = z·(r − r_last)/(r·z)_last = −(α/(r·z))_last·(z·q).
            let beta = if iteration == 0 {
                0.0
            } else {
                (-last * dot(z, q)).max(0.0)
            };
            for (p, z) in p.iter_mut().zip(&*z) {
                *p = z + beta * *p;
            }
            (self.multiply)(p, q);
            let alpha = dot(r, p) / dot(p, q);
            if !(alpha.is_finite() && alpha > 0.0) {
                return limits.iterations;
            }
            add(x, alpha, p);
            add(r, -alpha, q);
            last = alpha / rz;
        }
        limits.iterations
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

fn add(to: &mut [f64], factor: f64, what: &[f64]) {
    for (to, what) in to.iter_mut().zip(what) {
        *to += factor * what;
    }
}

/// Four sums side by side, so that the compiler can use vector registers.
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
