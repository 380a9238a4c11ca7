//! Relaxation branches that share a strain, as modes that relax independently.
//!
//! With S·ε = P + Σ K_i·q_i and q̇_i = (ε − q_i)/τ_i the pulls K_i·q_i are coupled by ε. The matrix of the system is
//! similar to a diagonal one of the rates r_i = 1/τ_i less one of rank one. So its rates λ_k are the zeros of
//!
//! ```text
//! S − Σ K_i·r_i/(r_i − λ)
//! ```
//!
//! one below every r_i, and everything else is rational in them. The modes w_k add up to Σ K_i·q_i:
//!
//! ```text
//! ẇ_k = −λ_k·w_k + G_k·P       G_k = S/Σ K_i·r_i/(r_i − λ_k)²
//! w_k = G_k·Σ K_i·q_i/(r_i − λ_k)       q_i = Σ_k w_k·r_i/(S·(r_i − λ_k))
//! ```
//!
//! One branch has λ = (S − K)/(S·τ), G = K/(S·τ) and w = K·q.

use super::{Branch, Real};

/// A mode of the branches.
#[derive(Clone, Copy)]
pub(super) struct Mode<T, const B: usize> {
    /// λ.
    pub rate: T,
    /// G.
    pub gain: T,
    /// r_i − λ of every branch.
    apart: [T; B],
}

/// The modes at a slope S of the moment. The branches are in the order of their rates.
pub(super) fn modes<T: Real, const B: usize>(branches: &[Branch<T>], slope: T) -> [Mode<T, B>; B] {
    std::array::from_fn(|k| match k < branches.len() {
        true => mode(branches, slope, k),
        false => Mode {
            rate: T::from(0.0),
            gain: T::from(0.0),
            apart: [T::from(1.0); B],
        },
    })
}

fn mode<T: Real, const B: usize>(branches: &[Branch<T>], slope: T, k: usize) -> Mode<T, B> {
    let own = branches[k].rate;
    let below = below(branches, slope.re(), k);
    // One step of Newton's method from the zero brings the derivatives.
    let mut rest = slope;
    let mut steep = 0.0;
    for branch in branches {
        let share = branch.stiffness * branch.rate / (branch.rate - own + below);
        rest -= share;
        steep += share.re() / (branch.rate - own + below).re();
    }
    let below = -rest / steep + below;
    let apart = std::array::from_fn(|i| match branches.get(i) {
        Some(branch) => branch.rate - own + below,
        None => T::from(1.0),
    });
    let each = branches.iter().zip(&apart);
    let sum = each.fold(T::from(0.0), |sum, (branch, apart)| {
        sum + branch.stiffness * branch.rate / (*apart * *apart)
    });
    Mode {
        rate: own - below,
        gain: slope / sum,
        apart,
    }
}

/// How far below the rate of a branch the next zero is. Newton's method on the function times its poles.
fn below<T: Real>(branches: &[Branch<T>], slope: f64, k: usize) -> f64 {
    let own = branches[k].rate.re();
    if branches.len() == 1 {
        return branches[0].stiffness.re() * own / slope;
    }
    let most = match k {
        0 => own,
        _ => own - branches[k - 1].rate.re(),
    };
    let (mut low, mut high) = (0.0, most);
    let mut below = (branches[k].stiffness.re() * own / slope).min(0.5 * most);
    for _ in 0..100 {
        let (mut value, mut steep) = (slope, 0.0);
        for branch in branches {
            let rate = branch.rate.re();
            let share = branch.stiffness.re() * rate / (rate - own + below);
            value -= share;
            steep += share / (rate - own + below);
        }
        match value > 0.0 {
            true => high = below,
            false => low = below,
        }
        let (poles, slant) = match k {
            0 => (below, 1.0),
            _ => (below * (most - below), most - 2.0 * below),
        };
        let next = below - poles * value / (slant * value + poles * steep);
        let next = match next > low && next < high {
            true => next,
            false => 0.5 * (low + high),
        };
        let moved = (next - below).abs();
        below = next;
        if moved <= 1e-14 * below {
            break;
        }
    }
    below
}

/// The modes of what branches hold.
pub(super) fn held<T: Real, const B: usize>(
    branches: &[Branch<T>],
    modes: &[Mode<T, B>; B],
    strains: &[T; B],
) -> [T; B] {
    let held = |mode: &Mode<T, B>| {
        let each = branches.iter().zip(strains).zip(&mode.apart);
        let sum = each.fold(T::from(0.0), |sum, ((branch, strain), apart)| {
            sum + branch.stiffness * *strain / *apart
        });
        sum * mode.gain
    };
    std::array::from_fn(|k| match k < branches.len() {
        true => held(&modes[k]),
        false => T::from(0.0),
    })
}

/// The strains of branches whose modes hold so much.
pub(super) fn strains<T: Real, const B: usize>(
    branches: &[Branch<T>],
    modes: &[Mode<T, B>; B],
    slope: T,
    held: &[T; B],
) -> [T; B] {
    std::array::from_fn(|i| match branches.get(i) {
        Some(branch) => {
            let each = modes.iter().zip(held).take(branches.len());
            let sum = each.fold(T::from(0.0), |sum, (mode, held)| {
                sum + *held / mode.apart[i]
            });
            sum * branch.rate / slope
        }
        None => T::from(0.0),
    })
}

impl<T: Real, const B: usize> Mode<T, B> {
    /// Without derivatives.
    pub(super) fn plain(&self) -> Mode<f64, B> {
        Mode {
            rate: self.rate.re(),
            gain: self.gain.re(),
            apart: self.apart.map(|apart| apart.re()),
        }
    }
}

/// exp(−x) and ∫ u^k·exp(−x·(1 − u)) du from 0 to 1 for k = 0, 1, 2.
pub(super) fn moments<T: Real>(x: T) -> (T, [T; 3]) {
    if x.re() < 0.3 {
        // From a series, because the closed forms lose their digits.
        let factors = [13.0, 12.0, 11.0, 10.0, 9.0, 8.0, 7.0, 6.0, 5.0, 4.0];
        let series = |sum: T, n: f64| -sum * x / n + 1.0;
        let second = factors.into_iter().fold(T::from(1.0), series) / 3.0;
        let first = (-second * x + 1.0) / 2.0;
        let zeroth = -first * x + 1.0;
        return (-zeroth * x + 1.0, [zeroth, first, second]);
    }
    let kept = (-x).exp();
    let turn = x.recip();
    let zeroth = (-kept + 1.0) * turn;
    let first = (-zeroth + 1.0) * turn;
    let second = (-first * 2.0 + 1.0) * turn;
    (kept, [zeroth, first, second])
}

/// exp(−x) and ∫ exp(−x·(1 − u)) du from 0 to 1.
pub(super) fn moment<T: Real>(x: T) -> (T, T) {
    if x.re() < 1e-8 {
        let zeroth = -x * 0.5 + 1.0;
        return (-zeroth * x + 1.0, zeroth);
    }
    // exp is the faster one, and loses two digits here at most.
    if x.re() > 0.01 {
        let kept = (-x).exp();
        return (kept, (-kept + 1.0) / x);
    }
    let lost = -(-x).exp_m1();
    (-lost + 1.0, lost / x)
}
