//! The numeric factor L·Lᵀ = S·A·S by fronts, in single or double precision.

use faer::linalg::cholesky::llt::factor::{
    LltError, LltParams, LltRegularization, cholesky_in_place, cholesky_in_place_scratch,
};
use faer::linalg::matmul::triangular::{self, BlockStructure};
use faer::linalg::triangular_solve::solve_lower_triangular_in_place;
use faer::traits::RealField;
use faer::{Accum, MatMut, MatRef, Par, Spec, dyn_stack};

use super::fronts::{Front, Fronts, Run};
use super::matrix::BlockMatrix;

/// The precision of a factor.
pub(crate) trait FactorReal: RealField + Copy + Send + Sync + 'static {
    fn from_f64(value: f64) -> Self;
    fn to_f64(self) -> f64;
}

impl FactorReal for f64 {
    fn from_f64(value: f64) -> Self {
        value
    }
    fn to_f64(self) -> f64 {
        self
    }
}

impl FactorReal for f32 {
    fn from_f64(value: f64) -> Self {
        value as f32
    }
    fn to_f64(self) -> f64 {
        f64::from(self)
    }
}

/// The pivot of this row (in the order of elimination) was not positive.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct NotPositive {
    pub(crate) row: usize,
}

/// Fronts with at least this many own columns use the threads inside their dense kernels.
const PARALLEL_COLUMNS: usize = 192;

/// Panels of L, one a front, column-major, and the memory to make them again.
#[derive(Clone)]
pub(crate) struct Cholesky<T> {
    pub(crate) panels: Vec<T>,
    workspace: Vec<T>,
}

impl<T: FactorReal> Cholesky<T> {
    /// Memory for a factor with this structure.
    pub(crate) fn new(fronts: &Fronts) -> Self {
        let workspace = fronts.workspace_of(&fronts.roots) + fronts.updates_of(&fronts.roots);
        Self {
            panels: vec![T::from_f64(0.0); fronts.panels()],
            workspace: vec![T::from_f64(0.0); workspace],
        }
    }

    /// Factors S·A·S with the diagonal `scale` `[3·V]`, in the order of elimination.
    pub(crate) fn compute(
        &mut self,
        fronts: &Fronts,
        matrix: BlockMatrix<'_>,
        scale: &[f64],
    ) -> Result<(), NotPositive> {
        let task = Elimination {
            fronts,
            matrix,
            scale,
        };
        let (updates, workspace) = self
            .workspace
            .split_at_mut(fronts.updates_of(&fronts.roots));
        task.siblings(&fronts.roots, &mut self.panels, updates, workspace)
    }
}

struct Elimination<'a> {
    fronts: &'a Fronts,
    matrix: BlockMatrix<'a>,
    scale: &'a [f64],
}

impl Elimination<'_> {
    /// Eliminates the subtrees of `siblings`; their updates lie one after the other.
    fn siblings<T: FactorReal>(
        &self,
        siblings: &[usize],
        panels: &mut [T],
        updates: &mut [T],
        workspace: &mut [T],
    ) -> Result<(), NotPositive> {
        match siblings {
            [] => Ok(()),
            [only] => self.subtree(&self.fronts.list[*only], panels, updates, workspace),
            _ => {
                let (middle, parallel) = self.fronts.split(siblings);
                let (left, right) = siblings.split_at(middle);
                let (left_panels, right_panels) = panels.split_at_mut(
                    left.iter()
                        .map(|&c| self.fronts.list[c].subtree_panels)
                        .sum(),
                );
                let (left_updates, right_updates) =
                    updates.split_at_mut(self.fronts.updates_of(left));
                if !parallel {
                    self.siblings(left, left_panels, left_updates, workspace)?;
                    return self.siblings(right, right_panels, right_updates, workspace);
                }
                let (left_space, right_space) =
                    workspace.split_at_mut(self.fronts.workspace_of(left));
                let (first, second) = rayon::join(
                    || self.siblings(left, left_panels, left_updates, left_space),
                    || self.siblings(right, right_panels, right_updates, right_space),
                );
                first.and(second)
            }
        }
    }

    fn subtree<T: FactorReal>(
        &self,
        front: &Front,
        panels: &mut [T],
        update: &mut [T],
        workspace: &mut [T],
    ) -> Result<(), NotPositive> {
        let (below, panel) = panels.split_at_mut(front.subtree_panels - front.panel());
        let (updates, rest) = workspace.split_at_mut(self.fronts.updates_of(&front.children));
        self.siblings(&front.children, below, updates, rest)?;
        panel.fill(T::from_f64(0.0));
        self.insert_matrix(front, panel);
        self.add_children(front, updates, Target::Panel(panel));
        factor_panel(front, panel)?;
        // The update is written, not added to, so that it need not be cleared; the children follow.
        write_update(front, panel, update);
        self.add_children(front, updates, Target::Update(update));
        Ok(())
    }

    /// Adds the part of the children's updates that belongs to the target.
    fn add_children<T: FactorReal>(&self, front: &Front, updates: &[T], mut target: Target<'_, T>) {
        let mut from = 0;
        for &child in &front.children {
            let child = &self.fronts.list[child];
            let source = &updates[from..from + child.update()];
            match &mut target {
                Target::Panel(panel) => extend_panel(child, source, front, panel),
                Target::Update(update) => extend_update(child, source, front, update),
            }
            from += child.update();
        }
    }

    fn insert_matrix<T: FactorReal>(&self, front: &Front, panel: &mut [T]) {
        let rows = front.rows();
        for column in 0..front.own {
            let global = front.first + column;
            for (&row, block) in self.matrix.column(global) {
                let row = row as usize;
                let place = match row - front.first {
                    inside if inside < front.own => inside,
                    _ => front.own + front.boundary.partition_point(|&b| (b as usize) < row),
                };
                for b in 0..3 {
                    let at = (3 * column + b) * rows + 3 * place;
                    for a in 0..3 {
                        panel[at + a] = T::from_f64(
                            block[3 * a + b] * self.scale[3 * row + a] * self.scale[3 * global + b],
                        );
                    }
                }
            }
        }
    }
}

/// Where a child's update goes.
enum Target<'a, T> {
    Panel(&'a mut [T]),
    Update(&'a mut [T]),
}

/// Adds the columns of a child's update that are the parent's own.
fn extend_panel<T: FactorReal>(child: &Front, source: &[T], front: &Front, panel: &mut [T]) {
    let rows = front.rows();
    for (index, run) in child.runs.iter().enumerate() {
        if run.to >= front.own {
            break;
        }
        for offset in 0..3 * run.count {
            let to = (3 * run.to + offset) * rows;
            let from = (3 * run.from + offset) * child.below();
            add_runs(
                &child.runs[index..],
                &source[from..],
                &mut panel[to..to + rows],
                0,
            );
        }
    }
}

/// Adds the columns of a child's update that are on the parent's boundary.
fn extend_update<T: FactorReal>(child: &Front, source: &[T], front: &Front, update: &mut [T]) {
    let below = front.below();
    for (index, run) in child.runs.iter().enumerate() {
        if run.to < front.own {
            continue;
        }
        for offset in 0..3 * run.count {
            let to = (3 * (run.to - front.own) + offset) * below;
            let from = (3 * run.from + offset) * child.below();
            let target = &mut update[to..to + below];
            add_runs(
                &child.runs[index..],
                &source[from..],
                target,
                front.columns(),
            );
        }
    }
}

/// Adds one column, run by run; `skip` rows of the front come before the target's first. Rows above
/// the diagonal that share its run are added too, into the half that is never read.
fn add_runs<T: FactorReal>(runs: &[Run], source: &[T], target: &mut [T], skip: usize) {
    for run in runs {
        let from = &source[3 * run.from..3 * (run.from + run.count)];
        let to = &mut target[3 * run.to - skip..][..from.len()];
        for (to, from) in to.iter_mut().zip(from) {
            *to += *from;
        }
    }
}

fn parallelism(front: &Front) -> Par {
    if front.columns() >= PARALLEL_COLUMNS {
        Par::rayon(0)
    } else {
        Par::Seq
    }
}

/// L₁₁ and L₂₁ from the assembled own columns.
fn factor_panel<T: FactorReal>(front: &Front, panel: &mut [T]) -> Result<(), NotPositive> {
    let par = parallelism(front);
    let panel = MatMut::from_column_major_slice_mut(panel, front.rows(), front.columns());
    let (mut diagonal, lower) = panel.split_at_row_mut(front.columns());
    let params = Spec::<LltParams, T>::default();
    let scratch = cholesky_in_place_scratch::<T>(front.columns(), par, params);
    let mut memory = dyn_stack::MemBuffer::new(scratch);
    cholesky_in_place(
        diagonal.as_mut(),
        LltRegularization::default(),
        par,
        dyn_stack::MemStack::new(&mut memory),
        params,
    )
    .map_err(|LltError::NonPositivePivot { index }| NotPositive {
        row: 3 * front.first + index,
    })?;
    solve_lower_triangular_in_place(diagonal.as_ref(), lower.transpose_mut(), par);
    Ok(())
}

/// `update = −L₂₁·L₂₁ᵀ`, lower half.
fn write_update<T: FactorReal>(front: &Front, panel: &[T], update: &mut [T]) {
    let panel = MatRef::from_column_major_slice(panel, front.rows(), front.columns());
    let (_, lower) = panel.split_at_row(front.columns());
    triangular::matmul(
        MatMut::from_column_major_slice_mut(update, front.below(), front.below()),
        BlockStructure::TriangularLower,
        Accum::Replace,
        lower,
        BlockStructure::Rectangular,
        lower.transpose(),
        BlockStructure::Rectangular,
        T::from_f64(-1.0),
        parallelism(front),
    );
}
