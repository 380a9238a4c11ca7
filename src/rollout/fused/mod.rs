//! The fused roll-out: the whole schedule of the time-dependent law as one operation.
//!
//! Tensor operations one by one move every intermediate value through memory and pay for each
//! recorded operation. Here a hinge goes through the whole schedule at once. On the CPU a block of hinges stays in
//! cache, and blocks are shared among threads. On a GPU (feature `gpu`) a thread takes two hinges, in one kernel. The
//! law with its reverse pass is written once for both ([`law`]). The result does not depend on the number of threads.
//! The plain roll-out ([`super::sweep`]) is the reference it is tested against.

mod block;
#[cfg(feature = "gpu")]
pub(crate) mod device;
mod gate;
#[cfg(feature = "gpu")]
mod kernel;
mod lane;
mod law;
mod op;
mod real;
mod row;
mod yarns;

use std::{any::Any, cell::RefCell};

use block::Block;
use burn::tensor::Tensor;
use gate::{HardLane, LaneGate, SigmoidLane, SmoothstepLane, StraightThroughLane};
use rayon::prelude::*;
use real::Real;
use row::{LANES, LaneRow, PARAMETERS};

use super::Rollout;
use crate::numeric::{Field, Gate, YieldSide};

/// Whether the fused code computes this roll-out.
pub(crate) fn supports(rollout: &Rollout) -> bool {
    let one_sided = matches!(
        rollout.gate,
        Gate::Sigmoid {
            side: YieldSide::One,
            ..
        }
    );
    !one_sided && (rollout.law.has_fused_form() || yarns::are_apart(rollout))
}

/// Readings `[points, hinges, readings]` for parameters `[points, parameters]`. On the tape when `parameters` is.
pub(crate) fn readings(rollout: &Rollout, parameters: Field) -> Tensor<3> {
    match rollout.law.has_fused_form() {
        true => op::readings(rollout, parameters),
        false => yarns::readings(rollout, &parameters),
    }
}

/// Readings, and the gradient of Σ cotangent·readings with respect to the parameters.
pub(crate) fn linearized(
    rollout: &Rollout,
    parameters: Field,
    cotangent: Tensor<3>,
) -> (Tensor<3>, Field) {
    match rollout.law.has_fused_form() {
        true => op::linearized(rollout, parameters, cotangent),
        false => yarns::linearized(rollout, parameters, &cotangent),
    }
}

/// Runs `$body` with `$gate` bound to the lane form of the roll-out's gate.
macro_rules! with_lane_gate {
    ($rollout:expr, $gate:ident, $body:expr) => {
        match $rollout.gate {
            Gate::Hard => {
                let $gate = HardLane;
                $body
            }
            Gate::Smoothstep { width } => {
                let $gate = SmoothstepLane {
                    inverse_width: R::from_f64(1.0 / width),
                };
                $body
            }
            Gate::StraightThrough { width } => {
                let $gate = StraightThroughLane {
                    backward: SmoothstepLane {
                        inverse_width: R::from_f64(1.0 / width),
                    },
                };
                $body
            }
            Gate::Sigmoid { gain, .. } => {
                let $gate = SigmoidLane {
                    gain: R::from_f64(gain),
                };
                $body
            }
        }
    };
}

/// Readings `[points, hinges, readings]` for parameters `[points, 9]`, row-major.
fn run_forward<R: Real>(rollout: &Rollout, parameters: &[R]) -> Vec<R> {
    let columns = rollout.schedule.readings.len();
    let total = rollout.points * rollout.hinges;
    let mut readings = vec![R::default(); total * columns];
    readings
        .par_chunks_mut(LANES * columns)
        .enumerate()
        .for_each(|(b, out)| {
            let block = gather(rollout, parameters, b);
            with_lane_gate!(rollout, gate, forward_block(&block, gate, rollout, out));
        });
    readings
}

/// Readings, and the gradient `[points, 9]` of Σ cotangent·readings, row-major.
fn run_linearized<R: Real>(
    rollout: &Rollout,
    parameters: &[R],
    cotangent: &[R],
) -> (Vec<R>, Vec<R>) {
    let columns = rollout.schedule.readings.len();
    let mut readings = vec![R::default(); cotangent.len()];
    let parts: Vec<Vec<(usize, [f64; PARAMETERS])>> = readings
        .par_chunks_mut(LANES * columns)
        .zip(cotangent.par_chunks(LANES * columns))
        .enumerate()
        .map(|(b, (out, weights))| {
            let lanes = differentiate(rollout, parameters, b, out, weights);
            sum_by_point(rollout, b * LANES, weights.len() / columns, |i, p| {
                lanes[p][i].to_f64()
            })
        })
        .collect();
    (readings, add_parts(rollout, parts))
}

/// The one reading of every hinge, and its derivative with respect to the hinge's parameters,
/// `[points·hinges, 9]`. As a hinge has one reading, every later cotangent only scales this.
fn run_jacobian<R: Real>(rollout: &Rollout, parameters: &[R]) -> (Vec<R>, Vec<R>) {
    let total = rollout.points * rollout.hinges;
    let mut readings = vec![R::default(); total];
    let mut jacobian = vec![R::default(); total * PARAMETERS];
    readings
        .par_chunks_mut(LANES)
        .zip(jacobian.par_chunks_mut(LANES * PARAMETERS))
        .enumerate()
        .for_each(|(b, (out, rows))| {
            let ones = [R::from_f64(1.0); LANES];
            let weights = &ones[..out.len()];
            let lanes = differentiate(rollout, parameters, b, out, weights);
            for (i, row) in rows.chunks_exact_mut(PARAMETERS).enumerate() {
                for (slot, lane) in row.iter_mut().zip(&lanes) {
                    *slot = lane[i];
                }
            }
        });
    (readings, jacobian)
}

/// Σ cotangent·jacobian over the hinges of each point, `[points, 9]`.
fn run_contraction<R: Real>(rollout: &Rollout, jacobian: &[R], cotangent: &[R]) -> Vec<R> {
    const CHUNK: usize = 4096;
    let parts: Vec<Vec<(usize, [f64; PARAMETERS])>> = cotangent
        .par_chunks(CHUNK)
        .enumerate()
        .map(|(c, weights)| {
            let rows = &jacobian[c * CHUNK * PARAMETERS..];
            sum_by_point(rollout, c * CHUNK, weights.len(), |i, p| {
                weights[i].to_f64() * rows[i * PARAMETERS + p].to_f64()
            })
        })
        .collect();
    add_parts(rollout, parts)
}

/// Runs block `b` forward and back.
fn differentiate<R: Real>(
    rollout: &Rollout,
    parameters: &[R],
    b: usize,
    readings: &mut [R],
    weights: &[R],
) -> [[R; LANES]; PARAMETERS] {
    let block = gather(rollout, parameters, b);
    with_tape(|tape| {
        with_lane_gate!(
            rollout,
            gate,
            gradient_block(&block, gate, rollout, readings, weights, tape)
        )
    })
}

/// Lends the tape of this thread, whose contents do not matter. A new one for every batch costs a third of
/// the time of a small batch: it is a megabyte of fresh pages.
fn with_tape<R: Real, T>(work: impl FnOnce(&mut Vec<LaneRow<R>>) -> T) -> T {
    thread_local! {
        static TAPE: RefCell<Box<dyn Any>> = RefCell::new(Box::new(()));
    }
    TAPE.with_borrow_mut(|kept| match kept.downcast_mut() {
        Some(tape) => work(tape),
        None => {
            let mut tape = Vec::new();
            let result = work(&mut tape);
            *kept = Box::new(tape);
            result
        }
    })
}

fn gather<R: Real>(rollout: &Rollout, parameters: &[R], b: usize) -> Block<R> {
    let first = b * LANES;
    let last = (first + LANES).min(rollout.points * rollout.hinges);
    Block::gather(
        first,
        last,
        rollout.hinges,
        parameters,
        &rollout.amplitude,
        &rollout.duration,
    )
}

/// Sums of `value(hinge, parameter)` over `count` hinges from `first`, grouped by their point.
fn sum_by_point(
    rollout: &Rollout,
    first: usize,
    count: usize,
    value: impl Fn(usize, usize) -> f64,
) -> Vec<(usize, [f64; PARAMETERS])> {
    let mut sums: Vec<(usize, [f64; PARAMETERS])> = Vec::new();
    for i in 0..count {
        let point = (first + i) / rollout.hinges;
        if sums.last().is_none_or(|(last, _)| *last != point) {
            sums.push((point, [0.0; PARAMETERS]));
        }
        if let Some((_, sum)) = sums.last_mut() {
            for (p, total) in sum.iter_mut().enumerate() {
                *total += value(i, p);
            }
        }
    }
    sums
}

/// Adds the sums of all parts in their order and in f64, so that the result is the same for any number
/// of threads.
fn add_parts<R: Real>(rollout: &Rollout, parts: Vec<Vec<(usize, [f64; PARAMETERS])>>) -> Vec<R> {
    let mut gradient = vec![0.0; rollout.points * PARAMETERS];
    for (point, sums) in parts.into_iter().flatten() {
        for (total, sum) in gradient[point * PARAMETERS..].iter_mut().zip(sums) {
            *total += sum;
        }
    }
    gradient.into_iter().map(R::from_f64).collect()
}

/// Calls the block code compiled for the best instruction set that this CPU has.
macro_rules! dispatch {
    ($name:ident, $wide:ident, $widest:ident, ($($argument:ident: $type:ty),*) -> $result:ty, $method:ident($($passed:expr),*)) => {
        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = "avx2,fma")]
        fn $wide<R: Real, G: LaneGate<R>>(block: &Block<R>, gate: G, $($argument: $type),*) -> $result {
            block.$method::<G, true>(gate, $($passed),*)
        }

        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = "avx512f,avx512dq,avx512vl,avx2,fma")]
        fn $widest<R: Real, G: LaneGate<R>>(block: &Block<R>, gate: G, $($argument: $type),*) -> $result {
            block.$method::<G, true>(gate, $($passed),*)
        }

        fn $name<R: Real, G: LaneGate<R>>(block: &Block<R>, gate: G, $($argument: $type),*) -> $result {
            #[cfg(target_arch = "x86_64")]
            if is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512dq")
                && is_x86_feature_detected!("avx512vl")
                && is_x86_feature_detected!("fma")
            {
                // SAFETY: the features were just found on this CPU, and AVX-512 includes AVX2.
                return unsafe { $widest(block, gate, $($argument),*) };
            }
            #[cfg(target_arch = "x86_64")]
            if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
                // SAFETY: the two features were just found on this CPU.
                return unsafe { $wide(block, gate, $($argument),*) };
            }
            // Every 64-bit ARM has fused multiply-add; elsewhere it would be a slow library call.
            block.$method::<G, { cfg!(target_arch = "aarch64") }>(gate, $($passed),*)
        }
    };
}

dispatch!(forward_block, forward_block_avx2, forward_block_avx512, (rollout: &Rollout, readings: &mut [R]) -> (),
    forward(&rollout.schedule, readings));
dispatch!(gradient_block, gradient_block_avx2, gradient_block_avx512,
    (rollout: &Rollout, readings: &mut [R], cotangent: &[R], tape: &mut Vec<LaneRow<R>>)
        -> [[R; LANES]; PARAMETERS],
    gradient(&rollout.schedule, readings, cotangent, tape));
