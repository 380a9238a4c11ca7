//! f32 and f64 with the one transcendental function the law needs, written so that the compiler
//! vectorises it over hinges.

use std::fmt::Debug;
use std::ops::{Add, AddAssign, Div, Mul, Neg, Sub};

/// A floating point type of the fused roll-out.
pub(crate) trait Real:
    Copy
    + Debug
    + Default
    + PartialOrd
    + Send
    + Sync
    + 'static
    + Add<Output = Self>
    + AddAssign
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
{
    /// Rounded from f64.
    fn from_f64(value: f64) -> Self;
    /// Exactly.
    fn to_f64(self) -> f64;
    /// |x|.
    fn magnitude(self) -> Self;
    /// exp(x) for x ≤ 0, to within three units in the last place; exactly 1 at 0. Arguments below −600
    /// (f64) or −60 (f32) are raised to that: next to 1 the result is nothing either way, and products
    /// of it stay clear of denormal numbers, which are slow.
    /// `FMA` says that the CPU has fused multiply-add.
    fn exp_of_nonpositive<const FMA: bool>(self) -> Self;
}

macro_rules! real {
    ($type:ty, $bits:ty, $magic:expr, $shift:expr, $bias:expr, $lowest:expr, $ln2_high:expr, $ln2_low:expr, $polynomial:expr) => {
        impl Real for $type {
            #[inline(always)]
            fn from_f64(value: f64) -> Self {
                value as $type
            }

            #[inline(always)]
            fn to_f64(self) -> f64 {
                self as f64
            }

            #[inline(always)]
            fn magnitude(self) -> Self {
                self.abs()
            }

            #[inline(always)]
            fn exp_of_nonpositive<const FMA: bool>(self) -> Self {
                let fma = |a: $type, b: $type, c: $type| {
                    if FMA { a.mul_add(b, c) } else { a * b + c }
                };
                // x = k·ln 2 + r with |r| ≤ ln 2/2. Adding the magic number leaves k in the low bits.
                let x = if self < $lowest { $lowest } else { self };
                let shifted = fma(x, std::f64::consts::LOG2_E as $type, $magic);
                let k = shifted - $magic;
                let r = fma(k, -$ln2_low, fma(k, -$ln2_high, x));
                let power = <$type>::from_bits(shifted.to_bits().wrapping_add($bias) << $shift);
                $polynomial(r, fma) * power
            }
        }
    };
}

/// 1/n! as f64.
const fn inverse_factorial(n: u32) -> f64 {
    let mut product = 1.0;
    let mut i = 2;
    while i <= n {
        product *= i as f64;
        i += 1;
    }
    1.0 / product
}

/// Taylor polynomial of exp of degree 12 by Estrin's scheme: on |r| ≤ ln 2/2 the first term left out
/// is 1.7e-16.
#[inline(always)]
fn exp_polynomial_f64(r: f64, fma: impl Fn(f64, f64, f64) -> f64) -> f64 {
    const C: [f64; 13] = [
        1.0,
        1.0,
        0.5,
        inverse_factorial(3),
        inverse_factorial(4),
        inverse_factorial(5),
        inverse_factorial(6),
        inverse_factorial(7),
        inverse_factorial(8),
        inverse_factorial(9),
        inverse_factorial(10),
        inverse_factorial(11),
        inverse_factorial(12),
    ];
    let r2 = r * r;
    let r4 = r2 * r2;
    let low = fma(fma(C[3], r, C[2]), r2, fma(C[1], r, C[0]));
    let middle = fma(fma(C[7], r, C[6]), r2, fma(C[5], r, C[4]));
    let high = fma(C[12], r4, fma(fma(C[11], r, C[10]), r2, fma(C[9], r, C[8])));
    fma(fma(high, r4, middle), r4, low)
}

/// Taylor polynomial of degree 7: the first term left out is 5e-9.
#[inline(always)]
fn exp_polynomial_f32(r: f32, fma: impl Fn(f32, f32, f32) -> f32) -> f32 {
    const C: [f32; 8] = [
        1.0,
        1.0,
        0.5,
        inverse_factorial(3) as f32,
        inverse_factorial(4) as f32,
        inverse_factorial(5) as f32,
        inverse_factorial(6) as f32,
        inverse_factorial(7) as f32,
    ];
    let r2 = r * r;
    let low = fma(fma(C[3], r, C[2]), r2, fma(C[1], r, C[0]));
    let high = fma(fma(C[7], r, C[6]), r2, fma(C[5], r, C[4]));
    fma(high, r2 * r2, low)
}

// ln 2 in two parts: k times the first is exact for every k that occurs.
real!(
    f64,
    u64,
    6755399441055744.0, // 1.5·2^52
    52,
    1023,
    -600.0,
    6.931_471_803_691_238e-1,
    1.908_214_929_270_587_7e-10,
    exp_polynomial_f64
);
real!(
    f32,
    u32,
    12582912.0, // 1.5·2^23
    23,
    127,
    -60.0,
    355.0 / 512.0,
    -2.121_944_4e-4,
    exp_polynomial_f32
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exp_is_within_three_ulp_of_the_standard_library() {
        assert_eq!(0f64.exp_of_nonpositive::<false>(), 1.0);
        assert_eq!(0f32.exp_of_nonpositive::<true>(), 1.0);
        for i in 0..200_000 {
            let x = -(i as f64) * 2.9e-3;
            let (ours, exact) = (x.exp_of_nonpositive::<false>(), x.exp());
            assert!(
                (ours - exact).abs() <= 3.0 * f64::EPSILON * exact,
                "{x}: {ours} {exact}"
            );
            let x = -(i as f32) * 2.9e-4;
            let (ours, exact) = (x.exp_of_nonpositive::<false>(), x.exp());
            assert!(
                (ours - exact).abs() <= 3.0 * f32::EPSILON * exact,
                "{x}: {ours} {exact}"
            );
        }
        assert!(f64::NAN.exp_of_nonpositive::<false>().is_nan());
    }
}
