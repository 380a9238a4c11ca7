//! The symmetric matrix in 3×3 blocks and its product with a vector.

use rayon::prelude::*;

/// Lower half by block columns: the diagonal first, then later rows. A block is row-major; its rows
/// belong to the row's vertex.
#[derive(Clone, Copy)]
pub(crate) struct BlockMatrix<'a> {
    pub(crate) starts: &'a [u32],
    pub(crate) rows: &'a [u32],
    pub(crate) values: &'a [[f64; 9]],
}

impl<'a> BlockMatrix<'a> {
    /// Rows and blocks of a column.
    pub(crate) fn column(
        &self,
        column: usize,
    ) -> impl Iterator<Item = (&'a u32, &'a [f64; 9])> + use<'a> {
        let range = self.starts[column] as usize..self.starts[column + 1] as usize;
        self.rows[range.clone()].iter().zip(&self.values[range])
    }
}

/// A product in a fixed number of pieces, each with its own sum, added in order: the same bits
/// whichever thread takes a piece.
#[derive(Clone)]
pub(crate) struct Product {
    /// First column of each piece, and the end.
    cuts: Vec<usize>,
    sums: Vec<Vec<f64>>,
}

impl Product {
    /// Cuts the columns into `pieces` with about the same number of blocks.
    pub(crate) fn new(starts: &[u32], pieces: usize) -> Self {
        let columns = starts.len() - 1;
        let blocks = starts[columns] as usize;
        let cuts: Vec<usize> = (0..=pieces)
            .map(|piece| starts.partition_point(|&s| (s as usize) < blocks * piece / pieces))
            .map(|cut| cut.min(columns))
            .collect();
        let sums = (0..pieces).map(|_| vec![0.0; 3 * columns]).collect();
        Self { cuts, sums }
    }

    /// `y = A·x`.
    pub(crate) fn apply(&mut self, matrix: BlockMatrix<'_>, x: &[f64], y: &mut [f64]) {
        let cuts = &self.cuts;
        self.sums
            .par_iter_mut()
            .enumerate()
            .for_each(|(piece, sum)| {
                sum[3 * cuts[piece]..].fill(0.0);
                for column in cuts[piece]..cuts[piece + 1] {
                    add_column(matrix, column, x, sum);
                }
            });
        y.copy_from_slice(&self.sums[0]);
        for (sum, &cut) in self.sums.iter().zip(cuts).skip(1) {
            for (y, s) in y[3 * cut..].iter_mut().zip(&sum[3 * cut..]) {
                *y += s;
            }
        }
    }
}

/// Adds what the blocks of a column and their transposes give.
fn add_column(matrix: BlockMatrix<'_>, column: usize, x: &[f64], sum: &mut [f64]) {
    let own = [x[3 * column], x[3 * column + 1], x[3 * column + 2]];
    let mut mirrored = [0.0; 3];
    for (index, (&row, block)) in matrix.column(column).enumerate() {
        let row = 3 * row as usize;
        let to = &mut sum[row..row + 3];
        for a in 0..3 {
            to[a] += block[3 * a] * own[0] + block[3 * a + 1] * own[1] + block[3 * a + 2] * own[2];
        }
        // The diagonal block comes first and has no mirror image.
        if index > 0 {
            let other = &x[row..row + 3];
            for b in 0..3 {
                mirrored[b] +=
                    block[b] * other[0] + block[3 + b] * other[1] + block[6 + b] * other[2];
            }
        }
    }
    for (to, value) in sum[3 * column..].iter_mut().zip(mirrored) {
        *to += value;
    }
}
