//! Forward and backward substitution with the factor, over the tree of fronts.

use super::factor::{Cholesky, FactorReal};
use super::fronts::{Front, Fronts};

/// Subtrees below this many scalars of L are substituted by one thread: reading 1e5 scalars takes
/// some ten microseconds, several times what a task of rayon costs.
const PARALLEL_PANELS: usize = 100_000;

/// Scratch of a substitution.
#[derive(Clone)]
pub(crate) struct Substitution<T> {
    boundary_vectors: Vec<T>,
    x: Vec<T>,
}

impl<T: FactorReal> Substitution<T> {
    /// Memory for fronts of this structure and `unknowns` rows.
    pub(crate) fn new(fronts: &Fronts, unknowns: usize) -> Self {
        let below = |&root: &usize| {
            let front = &fronts.list[root];
            front.subtree_vectors + front.below()
        };
        let zero = T::from_f64(0.0);
        Self {
            boundary_vectors: vec![zero; fronts.roots.iter().map(below).sum()],
            x: vec![zero; unknowns],
        }
    }

    /// `x = S·(L·Lᵀ)⁻¹·S·b`, all in the order of elimination.
    pub(crate) fn apply(
        &mut self,
        fronts: &Fronts,
        factor: &Cholesky<T>,
        scale: &[f64],
        b: &[f64],
        x: &mut [f64],
    ) {
        for ((own, b), s) in self.x.iter_mut().zip(b).zip(scale) {
            *own = T::from_f64(b * s);
        }
        let task = SubstitutionTask { fronts };
        task.forward_siblings(
            &fronts.roots,
            &factor.panels,
            &mut self.x,
            &mut self.boundary_vectors,
        );
        task.backward_siblings(
            &fronts.roots,
            &factor.panels,
            &mut self.x,
            &mut self.boundary_vectors,
            Outer::none(),
        );
        for ((x, own), s) in x.iter_mut().zip(&self.x).zip(scale) {
            *x = own.to_f64() * s;
        }
    }
}

struct SubstitutionTask<'a> {
    fronts: &'a Fronts,
}

/// The parent's part of x: own rows, then its boundary.
#[derive(Clone, Copy)]
struct Outer<'a, T> {
    own: &'a [T],
    boundary: &'a [T],
}

impl<T> Outer<'_, T> {
    fn none() -> Self {
        Self {
            own: &[],
            boundary: &[],
        }
    }
}

impl SubstitutionTask<'_> {
    fn sizes(&self, siblings: &[usize]) -> (usize, usize, usize) {
        siblings
            .iter()
            .fold((0, 0, 0), |(panels, rows, vectors), &s| {
                let front = &self.fronts.list[s];
                let own_rows = 3 * (front.first + front.own - front.subtree_first);
                (
                    panels + front.subtree_panels,
                    rows + own_rows,
                    vectors + front.subtree_vectors + front.below(),
                )
            })
    }

    /// `x` and `vectors` belong to the subtrees of the siblings; a front's own vector comes after
    /// those of its descendants.
    fn forward_siblings<T: FactorReal>(
        &self,
        siblings: &[usize],
        panels: &[T],
        x: &mut [T],
        vectors: &mut [T],
    ) {
        match siblings {
            [] => {}
            [only] => self.forward(&self.fronts.list[*only], panels, x, vectors),
            _ => {
                let (left, right) = siblings.split_at(siblings.len() / 2);
                let (panel_count, row_count, vector_count) = self.sizes(left);
                let (left_panels, right_panels) = panels.split_at(panel_count);
                let (left_x, right_x) = x.split_at_mut(row_count);
                let (left_vectors, right_vectors) = vectors.split_at_mut(vector_count);
                let mut first = || self.forward_siblings(left, left_panels, left_x, left_vectors);
                let mut second =
                    || self.forward_siblings(right, right_panels, right_x, right_vectors);
                if left_panels.len().min(right_panels.len()) > PARALLEL_PANELS {
                    rayon::join(first, second);
                } else {
                    first();
                    second();
                }
            }
        }
    }

    fn forward<T: FactorReal>(&self, front: &Front, panels: &[T], x: &mut [T], vectors: &mut [T]) {
        let (panels, panel) = panels.split_at(panels.len() - front.panel());
        let (x, own) = x.split_at_mut(x.len() - front.columns());
        let (vectors, vector) = vectors.split_at_mut(vectors.len() - front.below());
        self.forward_siblings(&front.children, panels, x, vectors);
        vector.fill(T::from_f64(0.0));
        let mut at = 0;
        for &child in &front.children {
            let child = &self.fronts.list[child];
            at += child.subtree_vectors;
            for run in &child.runs {
                let from = &vectors[at + 3 * run.from..][..3 * run.count];
                let to = match run.to.checked_sub(front.own) {
                    None => &mut own[3 * run.to..],
                    Some(place) => &mut vector[3 * place..],
                };
                for (to, from) in to.iter_mut().zip(from) {
                    *to += *from;
                }
            }
            at += child.below();
        }
        lower_solve(panel, front.rows(), own, vector);
    }

    fn backward_siblings<T: FactorReal>(
        &self,
        siblings: &[usize],
        panels: &[T],
        x: &mut [T],
        vectors: &mut [T],
        outer: Outer<'_, T>,
    ) {
        match siblings {
            [] => {}
            [only] => self.backward(&self.fronts.list[*only], panels, x, vectors, outer),
            _ => {
                let (left, right) = siblings.split_at(siblings.len() / 2);
                let (panel_count, row_count, vector_count) = self.sizes(left);
                let (left_panels, right_panels) = panels.split_at(panel_count);
                let (left_x, right_x) = x.split_at_mut(row_count);
                let (left_vectors, right_vectors) = vectors.split_at_mut(vector_count);
                let mut first =
                    || self.backward_siblings(left, left_panels, left_x, left_vectors, outer);
                let mut second =
                    || self.backward_siblings(right, right_panels, right_x, right_vectors, outer);
                if left_panels.len().min(right_panels.len()) > PARALLEL_PANELS {
                    rayon::join(first, second);
                } else {
                    first();
                    second();
                }
            }
        }
    }

    fn backward<T: FactorReal>(
        &self,
        front: &Front,
        panels: &[T],
        x: &mut [T],
        vectors: &mut [T],
        outer: Outer<'_, T>,
    ) {
        let (panels, panel) = panels.split_at(panels.len() - front.panel());
        let (x, own) = x.split_at_mut(x.len() - front.columns());
        let (vectors, vector) = vectors.split_at_mut(vectors.len() - front.below());
        for run in &front.runs {
            let to = &mut vector[3 * run.from..3 * (run.from + run.count)];
            let own_rows = outer.own.len() / 3;
            let from = match run.to.checked_sub(own_rows) {
                None => &outer.own[3 * run.to..],
                Some(place) => &outer.boundary[3 * place..],
            };
            to.copy_from_slice(&from[..to.len()]);
        }
        upper_solve(panel, front.rows(), own, vector);
        let here = Outer {
            own,
            boundary: vector,
        };
        self.backward_siblings(&front.children, panels, x, vectors, here);
    }
}

/// `own = L₁₁⁻¹·own`, `below −= L₂₁·own`.
fn lower_solve<T: FactorReal>(panel: &[T], rows: usize, own: &mut [T], below: &mut [T]) {
    let columns = own.len();
    for j in 0..columns {
        let column = &panel[j * rows..j * rows + columns];
        let value = own[j] / column[j];
        own[j] = value;
        for (x, l) in own[j + 1..].iter_mut().zip(&column[j + 1..]) {
            *x -= *l * value;
        }
    }
    // Three columns at once (their number is a multiple of three): `below` is read and written once.
    for (three, x) in panel.chunks_exact(3 * rows).zip(own.chunks_exact(3)) {
        let [first, second, third] =
            std::array::from_fn(|k| &three[k * rows + columns..(k + 1) * rows]);
        for (((y, a), b), c) in below.iter_mut().zip(first).zip(second).zip(third) {
            *y -= *a * x[0] + *b * x[1] + *c * x[2];
        }
    }
}

/// `own = L₁₁⁻ᵀ·(own − L₂₁ᵀ·below)`.
fn upper_solve<T: FactorReal>(panel: &[T], rows: usize, own: &mut [T], below: &[T]) {
    let columns = own.len();
    for (column, x) in panel.chunks_exact(rows).zip(own.iter_mut()) {
        *x -= dot(&column[columns..], below);
    }
    for j in (0..columns).rev() {
        let column = &panel[j * rows..j * rows + columns];
        own[j] = (own[j] - dot(&column[j + 1..], &own[j + 1..])) / column[j];
    }
}

/// Eight sums side by side, so that the compiler can use vector registers.
fn dot<T: FactorReal>(a: &[T], b: &[T]) -> T {
    let mut sums = [T::from_f64(0.0); 8];
    let (a_chunks, b_chunks) = (a.chunks_exact(8), b.chunks_exact(8));
    let mut tail = T::from_f64(0.0);
    for (a, b) in a_chunks.remainder().iter().zip(b_chunks.remainder()) {
        tail += *a * *b;
    }
    for (a, b) in a_chunks.zip(b_chunks) {
        for k in 0..8 {
            sums[k] += a[k] * b[k];
        }
    }
    sums.into_iter().fold(tail, |total, sum| total + sum)
}
