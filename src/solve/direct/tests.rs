//! The solver against dense algebra, and what it must say when it cannot solve.

use super::sample::{OwnedTangent, SampleCloth};
use faer::{
    MatMut, Par, Side, Spec,
    dyn_stack::{MemBuffer, MemStack},
    sparse::{
        SparseColMat,
        linalg::{
            SupernodalThreshold,
            cholesky::{CholeskySymbolicParams, SymmetricOrdering, factorize_symbolic_cholesky},
        },
    },
};

use super::{
    BlockPattern, DirectSolver, Strategy,
    assemble::Assembly,
    factor::{Cholesky, FactorReal},
};

const STRATEGIES: [Strategy; 3] = [Strategy::Keep, Strategy::Single, Strategy::Exact];

/// The matrix as the definition of [`super::TangentSlices`] has it, element by element, dense.
fn dense(cloth: &SampleCloth, values: &OwnedTangent) -> Vec<Vec<f64>> {
    let (v, h, t) = (cloth.rest.len(), cloth.hinges.len(), cloth.triangles.len());
    let mut a = vec![vec![0.0; 3 * v]; 3 * v];
    let mut add = |rows: &[usize], left: &[f64], right: &[f64], weight: f64| {
        for (&i, l) in rows.iter().zip(left) {
            for (&j, r) in rows.iter().zip(right) {
                a[i][j] += weight * l * r;
            }
        }
    };
    let unknowns = |corners: &[usize]| -> Vec<usize> {
        corners
            .iter()
            .flat_map(|&c| [3 * c, 3 * c + 1, 3 * c + 2])
            .collect()
    };
    for hinge in 0..h {
        let g: Vec<f64> = (0..12)
            .map(|row| values.hinge_gradient[row * h + hinge])
            .collect();
        add(
            &unknowns(&cloth.hinges[hinge]),
            &g,
            &g,
            values.hinge_weight[hinge],
        );
    }
    for tri in 0..t {
        let at = |from: &[f64], row: usize| from[row * t + tri];
        let rows = unknowns(&cloth.triangles[tri]);
        let outer = |b: usize, f: usize| -> Vec<f64> {
            let entry =
                |k: usize| at(&values.shape, b + k / 3) * at(&values.deformation, f + k % 3);
            (0..9).map(entry).collect()
        };
        let (j_u, j_v) = (outer(0, 0), outer(3, 3));
        let j_s: Vec<f64> = outer(0, 3)
            .iter()
            .zip(outer(3, 0))
            .map(|(a, b)| 0.5 * (a + b))
            .collect();
        let c: Vec<f64> = (0..4).map(|row| at(&values.modulus, row)).collect();
        for (left, right, weight) in [
            (&j_u, &j_u, c[0]),
            (&j_u, &j_v, c[1]),
            (&j_v, &j_u, c[1]),
            (&j_v, &j_v, c[2]),
            (&j_s, &j_s, c[3]),
        ] {
            add(&rows, left, right, weight);
        }
        for axis in 0..3 {
            let rows: Vec<usize> = cloth.triangles[tri].iter().map(|&c| 3 * c + axis).collect();
            let b_u: Vec<f64> = (0..3).map(|k| at(&values.shape, k)).collect();
            let b_v: Vec<f64> = (3..6).map(|k| at(&values.shape, k)).collect();
            add(&rows, &b_u, &b_u, at(&values.geometric, 0));
            add(&rows, &b_v, &b_v, at(&values.geometric, 1));
            add(&rows, &b_u, &b_v, at(&values.geometric, 2));
            add(&rows, &b_v, &b_u, at(&values.geometric, 2));
        }
    }
    for vertex in 0..v {
        for (row, (i, j)) in [(0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)]
            .into_iter()
            .enumerate()
        {
            let entry = values.vertex[row * v + vertex];
            a[3 * vertex + i][3 * vertex + j] += entry;
            if i != j {
                a[3 * vertex + j][3 * vertex + i] += entry;
            }
        }
    }
    for row in (0..3 * v).filter(|row| values.fixed[row / 3]) {
        a[row].fill(0.0);
        for other in &mut a {
            other[row] = 0.0;
        }
        a[row][row] = 1.0;
    }
    a
}

/// Plain dense Cholesky.
fn dense_solve(mut a: Vec<Vec<f64>>, b: &[f64]) -> Vec<f64> {
    let n = b.len();
    let mut x = b.to_vec();
    for j in 0..n {
        for i in j..n {
            let sum: f64 = (0..j).map(|k| a[i][k] * a[j][k]).sum();
            a[i][j] = if i == j {
                (a[i][i] - sum).sqrt()
            } else {
                (a[i][j] - sum) / a[j][j]
            };
        }
        let sum: f64 = (0..j).map(|k| a[j][k] * x[k]).sum();
        x[j] = (x[j] - sum) / a[j][j];
    }
    for j in (0..n).rev() {
        let sum: f64 = (j + 1..n).map(|k| a[k][j] * x[k]).sum();
        x[j] = (x[j] - sum) / a[j][j];
    }
    x
}

/// Largest difference, relative to the largest value, which must not be zero.
fn difference(a: &[f64], b: &[f64]) -> f64 {
    let size = b.iter().fold(0.0f64, |m, v| m.max(v.abs()));
    assert!(size > 0.0 && a.len() == b.len());
    a.iter()
        .zip(b)
        .fold(0.0f64, |m, (a, b)| m.max((a - b).abs()))
        / size
}

fn solve(cloth: &SampleCloth, values: &OwnedTangent, b: &[f64], strategy: Strategy) -> Vec<f64> {
    let mut solver = DirectSolver::new(cloth.pattern().expect("a valid mesh"), strategy);
    solver.refresh(&values.view()).expect("a valid tangent");
    let mut x = vec![0.0; b.len()];
    let stats = solver
        .solve(b, &mut x, 1e-12)
        .expect("a positive definite matrix");
    assert!(stats.refactored && stats.iterations > 0 && stats.relative_residual <= 1e-12);
    x
}

fn message<T>(result: crate::error::Result<T>) -> String {
    result
        .err()
        .map(|error| error.to_string())
        .unwrap_or_default()
}

/// Every strategy gives the dense solution. 1e-8: a residual of 1e-12 times the condition of the
/// scaled matrix, about 1e4 here.
#[test]
fn solutions_are_those_of_dense_cholesky() {
    let mut cloth = SampleCloth::cylinder(9, 7);
    cloth.fixed[13] = true;
    let x = cloth.twisted(0.7);
    let mut values = cloth.tangent(&x);
    for vertex in 0..63 {
        // A contact block that is not diagonal.
        values.vertex[3 * 63 + vertex] += 3e-5;
    }
    let b = cloth.right_side(&values, &x);
    let wanted = dense_solve(dense(&cloth, &values), &b);
    for strategy in STRATEGIES {
        let found = solve(&cloth, &values, &b, strategy);
        assert!(difference(&found, &wanted) < 1e-8, "{strategy:?}");
    }
}

/// Pinned vertices take their right side and do not move the others.
#[test]
fn pinned_vertices_are_cut_out() {
    let mut cloth = SampleCloth::sheet(12);
    cloth.fixed[0] = true;
    cloth.fixed[77] = true;
    let x = cloth.twisted(0.5);
    let values = cloth.tangent(&x);
    let mut b = cloth.right_side(&values, &x);
    let first = solve(&cloth, &values, &b, Strategy::Exact);
    b[3 * 77..3 * 78].copy_from_slice(&[0.01, -0.02, 0.03]);
    let second = solve(&cloth, &values, &b, Strategy::Exact);
    assert!(difference(&second[3 * 77..3 * 78], &[0.01, -0.02, 0.03]) < 1e-10);
    assert!(difference(&second[..3 * 77], &first[..3 * 77]) < 1e-8);
    assert!(first[3 * 78..].iter().any(|v| v.abs() > 1e-3));
}

/// Meshes without common vertices, even at the same place, are solved side by side.
#[test]
fn disjoint_meshes_do_not_touch() {
    let one = SampleCloth::cylinder(12, 9);
    let count = one.rest.len();
    let mut two = one.clone();
    two.rest.extend(&one.rest);
    two.triangles
        .extend(one.triangles.iter().map(|t| t.map(|v| v + count)));
    two.hinges
        .extend(one.hinges.iter().map(|h| h.map(|v| v + count)));
    two.handles.extend(one.handles.iter().map(|v| v + count));
    two.fixed.extend(&one.fixed);
    let both = |cloth: &SampleCloth| {
        let x = cloth.twisted(0.4);
        let values = cloth.tangent(&x);
        let b = cloth.right_side(&values, &x);
        solve(cloth, &values, &b, Strategy::Keep)
    };
    let (single, double) = (both(&one), both(&two));
    assert_eq!(two.pattern().expect("valid").fronts.roots.len(), 2);
    assert!(difference(&double[..3 * count], &single) < 1e-7);
    assert!(difference(&double[3 * count..], &single) < 1e-7);
}

/// The order holds every vertex once, also with lone vertices and none at all.
#[test]
fn the_order_is_a_permutation() {
    let mut lone = SampleCloth::sheet(20);
    lone.rest.push([9.0, 9.0, 9.0]);
    for cloth in [SampleCloth::cylinder(30, 20), SampleCloth::sheet(5), lone] {
        let pattern = cloth.pattern().expect("a valid mesh");
        let mut order = pattern.order.clone();
        order.sort_unstable();
        assert!(order.iter().copied().eq(0..cloth.rest.len() as u32));
    }
    assert_eq!(
        BlockPattern::new(0, &[], &[], &[])
            .expect("empty")
            .vertices(),
        0
    );
}

/// The same bits on one, two and three threads, through a sequence that keeps and replaces factors. 46·2
/// vertices in the widest separator make fronts that use threads inside.
#[test]
fn runs_repeat_bit_by_bit() {
    let cloth = SampleCloth::cylinder(46, 30);
    let run = |strategy| {
        let mut solver = DirectSolver::new(cloth.pattern().expect("valid"), strategy);
        let mut factors = 0;
        let mut all = Vec::new();
        for step in 0..6 {
            let x = cloth.twisted(0.2 + 0.02 * f64::from(step));
            let values = cloth.tangent(&x);
            solver.refresh(&values.view()).expect("valid");
            let mut v = vec![0.0; 3 * x.len()];
            let stats = solver
                .solve(&cloth.right_side(&values, &x), &mut v, 1e-10)
                .expect("definite");
            factors += usize::from(stats.refactored);
            all.extend(v.into_iter().map(f64::to_bits));
        }
        (factors, all)
    };
    let run_on = |threads: usize, strategy| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        pool.build().expect("threads").install(|| run(strategy))
    };
    let (kept, bits) = run_on(1, Strategy::Keep);
    assert!((1..6).contains(&kept), "{kept} factors in 6 steps");
    let (made, exact_bits) = run_on(1, Strategy::Exact);
    assert_eq!(made, 6);
    for threads in [2, 3] {
        assert!(bits == run_on(threads, Strategy::Keep).1, "{threads}");
        assert!(
            exact_bits == run_on(threads, Strategy::Exact).1,
            "{threads}"
        );
    }
}

/// A kept factor, a good guess and a zero right side: the solution is the same, or at once there.
#[test]
fn guesses_and_kept_factors_do_not_change_the_solution() {
    let cloth = SampleCloth::sheet(24);
    let mut solver = DirectSolver::new(cloth.pattern().expect("valid"), Strategy::Keep);
    let mut v = vec![0.0; 3 * 24 * 24];
    for progress in [0.2, 0.9] {
        let x = cloth.twisted(progress);
        let values = cloth.tangent(&x);
        let b = cloth.right_side(&values, &x);
        solver.refresh(&values.view()).expect("valid");
        solver.solve(&b, &mut v, 1e-12).expect("definite");
        assert!(difference(&v, &solve(&cloth, &values, &b, Strategy::Exact)) < 1e-8);
        let again = solver.solve(&b, &mut v, 1e-10).expect("definite");
        assert_eq!((again.iterations, again.refactored), (0, false));
    }
    solver
        .solve(&vec![0.0; v.len()], &mut v, 1e-12)
        .expect("definite");
    assert!(v.iter().all(|&value| value == 0.0));
}

/// Errors name the vertex or the slice and what to do; the solver is usable afterwards.
#[test]
fn what_cannot_be_solved_is_named() {
    let cloth = SampleCloth::sheet(10);
    let x = cloth.twisted(0.5);
    let good = cloth.tangent(&x);
    let b = cloth.right_side(&good, &x);
    for strategy in STRATEGIES {
        let mut solver = DirectSolver::new(cloth.pattern().expect("valid"), strategy);
        let mut v = vec![0.0; b.len()];
        assert!(message(solver.solve(&b, &mut v, 1e-8)).contains("refresh first"));
        let mut bad = cloth.tangent(&x);
        bad.vertex[37] = -1.0;
        assert!(message(solver.refresh(&bad.view())).contains("vertex 37"));
        // Positive on the diagonal, but xy is larger than xx and yy allow.
        let mut bad = cloth.tangent(&x);
        bad.vertex[300 + 42] = 1.0;
        solver.refresh(&bad.view()).expect("a positive diagonal");
        let text = message(solver.solve(&b, &mut v, 1e-8));
        assert!(
            text.contains("not positive definite") && text.contains("time step"),
            "{text}"
        );
        let mut bad = cloth.tangent(&x);
        bad.hinge_gradient[5] = f64::NAN;
        assert!(message(solver.refresh(&bad.view())).contains("NaN"));
        let mut bad = cloth.tangent(&x);
        bad.modulus.pop();
        assert!(message(solver.refresh(&bad.view())).contains("modulus has"));
        solver.refresh(&good.view()).expect("valid");
        assert!(message(solver.solve(&b[1..], &mut v, 1e-8)).contains("3 a vertex"));
        assert!(message(solver.solve(&b, &mut v, 0.0)).contains("tolerance 0"));
        solver
            .solve(&b, &mut v, 1e-8)
            .expect("a good matrix after bad ones");
    }
    let rest = [[0.0; 3]; 4];
    assert!(message(BlockPattern::new(4, &[[0, 1, 2, 4]], &[], &rest)).contains("corner 4"));
    assert!(message(BlockPattern::new(4, &[], &[[0, 1, 0]], &rest)).contains("twice"));
    assert!(message(BlockPattern::new(3, &[], &[], &rest)).contains("4 rest positions"));
}

/// Least seconds of eight calls.
fn least(mut work: impl FnMut()) -> f64 {
    let times = (0..8).map(|_| {
        let begin = std::time::Instant::now();
        work();
        begin.elapsed().as_secs_f64()
    });
    times.fold(f64::INFINITY, f64::min)
}

/// Least seconds that faer takes to make a factor.
fn made_by_faer<T: FactorReal>(
    symbolic: &faer::sparse::linalg::cholesky::SymbolicCholesky<usize>,
    matrix: faer::sparse::SparseColMatRef<usize, T>,
    factor: &mut [T],
    par: Par,
) -> f64 {
    let need = symbolic.factorize_numeric_llt_scratch::<T>(par, Spec::default());
    let mut memory = MemBuffer::new(need);
    least(|| {
        let (side, none) = (Side::Lower, Default::default());
        let stack = MemStack::new(&mut memory);
        let made =
            symbolic.factorize_numeric_llt(factor, matrix, side, none, par, stack, Spec::default());
        assert!(made.is_ok(), "a factor");
    })
}

/// faer's supernodal Cholesky in the same order of elimination solves the same systems. Prints how long both take to
/// make a factor: the reason for a factorisation of our own (`cargo test --release --lib solve::direct::tests::faer --
/// --nocapture`).
#[test]
fn faers_supernodal_factor_agrees() {
    for (around, along) in [(82, 85), (161, 167)] {
        let cloth = SampleCloth::cylinder(around, along);
        let pattern = cloth.pattern().expect("valid");
        let x = cloth.twisted(0.3);
        let tangent = cloth.tangent(&x);
        let mut values = vec![[0.0; 9]; pattern.blocks()];
        Assembly::new(&pattern).assemble(&pattern, &tangent.view(), &mut values);
        let unknowns = 3 * pattern.vertices();
        let matrix = pattern.matrix(&values);

        let mut own = Cholesky::<f64>::new(&pattern.fronts);
        let mut single = Cholesky::<f32>::new(&pattern.fronts);
        let scale: Vec<f64> = (0..unknowns)
            .map(|i| {
                values[pattern.starts[i / 3] as usize][4 * (i % 3)]
                    .sqrt()
                    .recip()
            })
            .collect();
        let ours = least(|| {
            own.compute(&pattern.fronts, matrix, &scale)
                .expect("definite")
        });
        let ours_single = least(|| {
            single
                .compute(&pattern.fronts, matrix, &scale)
                .expect("definite")
        });

        // The lower half of the matrix in the order of elimination, number by number.
        let mut triplets = Vec::new();
        for column in 0..pattern.vertices() {
            for (&row, block) in matrix.column(column) {
                for (k, &value) in block.iter().enumerate() {
                    let (i, j) = (3 * row as usize + k / 3, 3 * column + k % 3);
                    if i >= j {
                        triplets.push(faer::sparse::Triplet::new(i, j, value));
                    }
                }
            }
        }
        let sparse =
            SparseColMat::<usize, f64>::try_new_from_triplets(unknowns, unknowns, &triplets)
                .expect("a matrix");
        // The matrix is in order already, but faer does not postorder it without an order of its own to apply.
        let same: Vec<usize> = (0..unknowns).collect();
        let order = faer::perm::PermRef::new_checked(&same, &same, unknowns);
        let symbolic = factorize_symbolic_cholesky(
            sparse.symbolic(),
            Side::Lower,
            SymmetricOrdering::Custom(order),
            CholeskySymbolicParams {
                supernodal_flop_ratio_threshold: SupernodalThreshold::FORCE_SUPERNODAL,
                ..Default::default()
            },
        )
        .expect("a structure");
        let mut factor = vec![0.0; symbolic.len_val()];
        let theirs = [Par::Seq, Par::rayon(0)]
            .map(|par| made_by_faer(&symbolic, sparse.as_ref(), &mut factor, par));
        let (values, mut small) = (
            sparse.val().iter().map(|v| *v as f32),
            vec![0.0; factor.len()],
        );
        let values: Vec<f32> = values.collect();
        let rounded = faer::sparse::SparseColMatRef::new(sparse.symbolic(), &values);
        let theirs_single =
            [Par::Seq, Par::rayon(0)].map(|par| made_by_faer(&symbolic, rounded, &mut small, par));
        let b = cloth.right_side(&tangent, &x);
        let mut ordered: Vec<f64> = (0..unknowns)
            .map(|i| b[3 * pattern.order[i / 3] as usize + i % 3])
            .collect();
        let made = faer::sparse::linalg::cholesky::LltRef::<usize, f64>::new(&symbolic, &factor);
        let mut memory = MemBuffer::new(symbolic.solve_in_place_scratch::<f64>(1, Par::Seq));
        made.solve_in_place_with_conj(
            faer::Conj::No,
            MatMut::from_column_major_slice_mut(&mut ordered, unknowns, 1),
            Par::Seq,
            MemStack::new(&mut memory),
        );
        let mut expected = vec![0.0; unknowns];
        for (i, value) in ordered.iter().enumerate() {
            expected[3 * pattern.order[i / 3] as usize + i % 3] = *value;
        }
        let mut solution = vec![0.0; unknowns];
        let mut solver = DirectSolver::new(pattern, Strategy::Keep);
        solver.refresh(&tangent.view()).expect("valid");
        solver.solve(&b, &mut solution, 1e-12).expect("definite");
        let off = difference(&solution, &expected);
        println!(
            "{} vertices, f64: ours {:.1} ms, faer {:.1} on one thread, {:.1} on all; f32: ours {:.1} ms, faer {:.1}, {:.1}; apart {off:.1e}",
            unknowns / 3,
            1e3 * ours,
            1e3 * theirs[0],
            1e3 * theirs[1],
            1e3 * ours_single,
            1e3 * theirs_single[0],
            1e3 * theirs_single[1],
        );
        assert!(solution.iter().any(|v| v.abs() > 1e-3));
        assert!(off < 1e-6, "{off}");
    }
}
