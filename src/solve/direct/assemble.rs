//! From a tangent to the blocks of the matrix: each block gathers what its elements add, in the
//! elements' order, so that the sum does not depend on the threads.

use rayon::prelude::*;

use super::pattern::BlockPattern;
use super::tangent::TangentSlices;

/// Blocks a task: a block takes some 50 ns.
const BLOCKS_A_TASK: usize = 512;
/// Elements a task.
const ELEMENTS_A_TASK: usize = 2048;

/// What a hinge's blocks need, side by side: the gather visits hinges in the blocks' order, and a
/// record is two cache lines where the rows of the tangent are twelve.
#[derive(Clone, Copy, Default)]
struct HingeRecord {
    gradient: [f64; 12],
    weight: f64,
}

/// K = Σ over u and v of B⊗B times 3×3 matrices that all corners share.
#[derive(Clone, Copy, Default)]
struct TriangleRecord {
    along_u: [f64; 3],
    along_v: [f64; 3],
    uu: [f64; 9],
    vv: [f64; 9],
    uv: [f64; 9],
}

/// Memory of the assembly.
#[derive(Clone)]
pub(crate) struct Assembly {
    hinges: Vec<HingeRecord>,
    triangles: Vec<TriangleRecord>,
    /// Column of each block.
    columns: Vec<u32>,
}

impl Assembly {
    pub(crate) fn new(pattern: &BlockPattern) -> Self {
        Self {
            hinges: vec![HingeRecord::default(); pattern.hinges],
            triangles: vec![TriangleRecord::default(); pattern.triangles],
            columns: column_of_blocks(pattern),
        }
    }

    /// Writes all blocks. The lengths in `tangent` have been checked.
    pub(crate) fn assemble(
        &mut self,
        pattern: &BlockPattern,
        tangent: &TangentSlices<'_>,
        values: &mut [[f64; 9]],
    ) {
        self.record(tangent);
        values
            .par_iter_mut()
            .with_min_len(BLOCKS_A_TASK)
            .enumerate()
            .for_each(|(block, value)| {
                let row = pattern.order[pattern.rows[block] as usize] as usize;
                let column = pattern.order[self.columns[block] as usize] as usize;
                *value = self.block(pattern, tangent, block, row, column);
            });
    }

    fn record(&mut self, tangent: &TangentSlices<'_>) {
        let count = self.hinges.len();
        self.hinges
            .par_iter_mut()
            .with_min_len(ELEMENTS_A_TASK)
            .enumerate()
            .for_each(|(hinge, record)| {
                record.weight = tangent.hinge_weight[hinge];
                record.gradient =
                    std::array::from_fn(|row| tangent.hinge_gradient[row * count + hinge]);
            });
        self.triangles
            .par_iter_mut()
            .with_min_len(ELEMENTS_A_TASK)
            .enumerate()
            .for_each(|(triangle, record)| *record = triangle_record(tangent, triangle));
    }

    fn block(
        &self,
        pattern: &BlockPattern,
        tangent: &TangentSlices<'_>,
        block: usize,
        row: usize,
        column: usize,
    ) -> [f64; 9] {
        if tangent.fixed[row] || tangent.fixed[column] {
            let one = if row == column { 1.0 } else { 0.0 };
            return [one, 0.0, 0.0, 0.0, one, 0.0, 0.0, 0.0, one];
        }
        let mut sum = if row == column {
            vertex_block(tangent, row)
        } else {
            [0.0; 9]
        };
        for from in pattern.from_hinges.of_block(block) {
            let hinge = &self.hinges[from.element];
            let left = &hinge.gradient[3 * from.row..3 * from.row + 3];
            let right = &hinge.gradient[3 * from.column..3 * from.column + 3];
            for a in 0..3 {
                let weighted = hinge.weight * left[a];
                for b in 0..3 {
                    sum[3 * a + b] += weighted * right[b];
                }
            }
        }
        for from in pattern.from_triangles.of_block(block) {
            add_triangle(
                &self.triangles[from.element],
                from.row,
                from.column,
                &mut sum,
            );
        }
        sum
    }
}

fn column_of_blocks(pattern: &BlockPattern) -> Vec<u32> {
    let mut columns = vec![0; pattern.rows.len()];
    for column in 0..pattern.vertices() {
        let range = pattern.starts[column] as usize..pattern.starts[column + 1] as usize;
        columns[range].fill(column as u32);
    }
    columns
}

fn vertex_block(tangent: &TangentSlices<'_>, vertex: usize) -> [f64; 9] {
    let count = tangent.fixed.len();
    let [xx, yy, zz, xy, xz, yz] = std::array::from_fn(|row| tangent.vertex[row * count + vertex]);
    [xx, xy, xz, xy, yy, yz, xz, yz, zz]
}

fn triangle_record(tangent: &TangentSlices<'_>, triangle: usize) -> TriangleRecord {
    let count = tangent.modulus.len() / 4;
    let at = |values: &[f64], row: usize| values[row * count + triangle];
    let f_u: [f64; 3] = std::array::from_fn(|axis| at(tangent.deformation, axis));
    let f_v: [f64; 3] = std::array::from_fn(|axis| at(tangent.deformation, 3 + axis));
    let [c11, c12, c22, c33] = std::array::from_fn(|row| at(tangent.modulus, row));
    let [g_uu, g_vv, g_uv] = std::array::from_fn(|row| at(tangent.geometric, row));
    let quarter = 0.25 * c33;
    let mut record = TriangleRecord {
        along_u: std::array::from_fn(|corner| at(tangent.shape, corner)),
        along_v: std::array::from_fn(|corner| at(tangent.shape, 3 + corner)),
        ..TriangleRecord::default()
    };
    for i in 0..3 {
        for j in 0..3 {
            let same = if i == j { 1.0 } else { 0.0 };
            record.uu[3 * i + j] = c11 * f_u[i] * f_u[j] + quarter * f_v[i] * f_v[j] + same * g_uu;
            record.vv[3 * i + j] = c22 * f_v[i] * f_v[j] + quarter * f_u[i] * f_u[j] + same * g_vv;
            record.uv[3 * i + j] = c12 * f_u[i] * f_v[j] + quarter * f_v[i] * f_u[j] + same * g_uv;
        }
    }
    record
}

fn add_triangle(record: &TriangleRecord, row: usize, column: usize, sum: &mut [f64; 9]) {
    let uu = record.along_u[row] * record.along_u[column];
    let vv = record.along_v[row] * record.along_v[column];
    let uv = record.along_u[row] * record.along_v[column];
    let vu = record.along_v[row] * record.along_u[column];
    for i in 0..3 {
        for j in 0..3 {
            sum[3 * i + j] += uu * record.uu[3 * i + j]
                + vv * record.vv[3 * i + j]
                + uv * record.uv[3 * i + j]
                + vu * record.uv[3 * j + i];
        }
    }
}
