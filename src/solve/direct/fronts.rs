//! The symbolic factor: a forest of dense fronts.
//!
//! A front holds the columns of one part of the dissection ("own") and the rows below them
//! ("boundary"). After its own columns are eliminated, what is left on the boundary (the update) is
//! added to the parent's front (Duff and Reid, ACM TOMS 9, 1983). All indices here count vertices;
//! each stands for three rows or columns.

use super::dissection::Dissection;

/// Two subtrees run in parallel where each has at least this many multiply-adds; a task of rayon
/// costs some microseconds, 1e5 multiply-adds about ten.
const PARALLEL_FLOPS: f64 = 3e5;

/// One dense front.
#[derive(Clone, Debug)]
pub(crate) struct Front {
    /// First own vertex, in the order of elimination.
    pub(crate) first: usize,
    /// Number of own vertices.
    pub(crate) own: usize,
    /// Later vertices that the own ones touch, sorted.
    pub(crate) boundary: Vec<u32>,
    /// Runs of the boundary that are contiguous in the parent's front.
    pub(crate) runs: Vec<Run>,
    /// Fronts whose updates are added here.
    pub(crate) children: Vec<usize>,
    /// First own vertex of the first descendant.
    pub(crate) subtree_first: usize,
    /// Scalars of the factor in this subtree.
    pub(crate) subtree_panels: usize,
    /// Scalars of the boundary vectors of all descendants (not this front's own).
    pub(crate) subtree_vectors: usize,
    /// Scratch scalars that the subtree's elimination needs.
    pub(crate) workspace: usize,
    /// Multiply-adds of the subtree.
    pub(crate) subtree_flops: f64,
}

/// `count` vertices from `from` on the child's boundary are those from `to` in the parent's front.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Run {
    pub(crate) from: usize,
    pub(crate) to: usize,
    pub(crate) count: usize,
}

impl Front {
    /// Own columns.
    pub(crate) fn columns(&self) -> usize {
        3 * self.own
    }

    /// Rows of the boundary.
    pub(crate) fn below(&self) -> usize {
        3 * self.boundary.len()
    }

    /// Rows of the panel, which is column-major, `rows × columns`.
    pub(crate) fn rows(&self) -> usize {
        self.columns() + self.below()
    }

    /// Scalars of the panel.
    pub(crate) fn panel(&self) -> usize {
        self.rows() * self.columns()
    }

    /// Scalars of the update, column-major, of which the lower half is used.
    pub(crate) fn update(&self) -> usize {
        self.below() * self.below()
    }

    fn own_flops(&self) -> f64 {
        let (columns, below) = (self.columns() as f64, self.below() as f64);
        columns * (columns * columns / 6.0 + 0.5 * columns * below + 0.5 * below * below)
    }
}

/// All fronts, children before parents.
#[derive(Clone, Debug)]
pub(crate) struct Fronts {
    pub(crate) list: Vec<Front>,
    pub(crate) roots: Vec<usize>,
}

impl Fronts {
    /// Fronts of a matrix whose column `j` has the later rows `rows_of(j)`, both in the order of
    /// elimination.
    pub(crate) fn new<'a>(dissection: &Dissection, rows_of: impl Fn(usize) -> &'a [u32]) -> Self {
        let mut list: Vec<Front> = Vec::with_capacity(dissection.parts.len());
        let mut first = 0;
        for part in &dissection.parts {
            let own = part.vertices.len();
            let boundary = boundary(first, own, &part.children, &list, &rows_of);
            for &child in &part.children {
                list[child].runs = runs(&list[child].boundary, first, own, &boundary);
            }
            let mut front = Front {
                first,
                own,
                boundary,
                runs: Vec::new(),
                children: part.children.clone(),
                subtree_first: first,
                subtree_panels: 0,
                subtree_vectors: 0,
                workspace: 0,
                subtree_flops: 0.0,
            };
            count_subtree(&mut front, &list);
            list.push(front);
            first += own;
        }
        let roots = dissection.roots.clone();
        Self { list, roots }
    }

    /// Scratch that the elimination of `children` needs, besides their updates.
    pub(crate) fn workspace_of(&self, children: &[usize]) -> usize {
        workspace_of(children, &self.list)
    }

    /// Sum of the updates of `children`.
    pub(crate) fn updates_of(&self, children: &[usize]) -> usize {
        children.iter().map(|&c| self.list[c].update()).sum()
    }

    /// Where a list of siblings is divided, and whether its halves are worth two threads.
    pub(crate) fn split(&self, siblings: &[usize]) -> (usize, bool) {
        split(siblings, &self.list)
    }

    /// Scalars of the factor.
    pub(crate) fn panels(&self) -> usize {
        self.roots
            .iter()
            .map(|&r| self.list[r].subtree_panels)
            .sum()
    }
}

fn boundary<'a>(
    first: usize,
    own: usize,
    children: &[usize],
    list: &[Front],
    rows_of: &impl Fn(usize) -> &'a [u32],
) -> Vec<u32> {
    let end = (first + own) as u32;
    let mut rows: Vec<u32> = Vec::new();
    for column in first..first + own {
        rows.extend(rows_of(column).iter().filter(|&&row| row >= end));
    }
    for &child in children {
        rows.extend(list[child].boundary.iter().filter(|&&row| row >= end));
    }
    rows.sort_unstable();
    rows.dedup();
    rows
}

fn runs(child: &[u32], first: usize, own: usize, boundary: &[u32]) -> Vec<Run> {
    let place = |row: u32| match row as usize {
        row if row < first + own => row - first,
        // The parent's boundary holds all of the child's later rows, so the search finds it.
        row => own + boundary.partition_point(|&b| (b as usize) < row),
    };
    let mut runs: Vec<Run> = Vec::new();
    for (from, &row) in child.iter().enumerate() {
        let to = place(row);
        match runs.last_mut() {
            // A run ends where the parent's own rows end.
            Some(run) if run.to + run.count == to && to != own => run.count += 1,
            _ => runs.push(Run { from, to, count: 1 }),
        }
    }
    runs
}

fn count_subtree(front: &mut Front, list: &[Front]) {
    let children: Vec<&Front> = front.children.iter().map(|&c| &list[c]).collect();
    front.subtree_first = children.first().map_or(front.first, |c| c.subtree_first);
    front.subtree_panels = front.panel() + children.iter().map(|c| c.subtree_panels).sum::<usize>();
    front.subtree_vectors = children.iter().map(|c| c.subtree_vectors + c.below()).sum();
    front.subtree_flops = front.own_flops() + children.iter().map(|c| c.subtree_flops).sum::<f64>();
    front.workspace =
        children.iter().map(|c| c.update()).sum::<usize>() + workspace_of(&front.children, list);
}

fn split(siblings: &[usize], list: &[Front]) -> (usize, bool) {
    let flops = |part: &[usize]| part.iter().map(|&c| list[c].subtree_flops).sum::<f64>();
    let middle = siblings.len() / 2;
    let (left, right) = siblings.split_at(middle);
    (middle, flops(left).min(flops(right)) > PARALLEL_FLOPS)
}

fn workspace_of(siblings: &[usize], list: &[Front]) -> usize {
    match siblings {
        [] => 0,
        [only] => list[*only].workspace,
        _ => {
            let (middle, parallel) = split(siblings, list);
            let left = workspace_of(&siblings[..middle], list);
            let right = workspace_of(&siblings[middle..], list);
            if parallel {
                left + right
            } else {
                left.max(right)
            }
        }
    }
}
