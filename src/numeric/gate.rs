//! Gates: the `if excess > 0` of a law, hard or differentiable.
//!
//! The excess is D = |x| − threshold. A gate turns it into a weight in \[0, 1\] (for timers and
//! directions) and a ramp (by how much the anchor or the plastic strain moves). Apart from
//! [`Gate::Sigmoid`] both are exactly zero for D ≤ 0, so that an idle hinge never drifts.

use burn::tensor::activation::sigmoid;

use super::{Field, abs, indicator, max_zero, sign, smoothstep};
use crate::error::{Result, bad_input, unknown};

/// Which side of zero a [`Gate::Sigmoid`] can yield on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum YieldSide {
    /// D = x − threshold, as paper 2 prints it (Eqs. 4, 5): only positive strain yields, and the
    /// printed rule drifts (see docs/MODEL.md).
    One,
    /// D = |x| − threshold, moved along sign(x).
    Signed,
}

/// How a branch of the law is taken.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Gate {
    /// The branch as written. Gradients miss the term from the moving boundary.
    Hard,
    /// weight = S(D/width), ramp = max(D, 0)·S(D/width) with S(u) = 3u² − 2u³: C1, exact outside
    /// the band 0 < D < width, hard as width → 0. `width` is in units of strain.
    Smoothstep {
        /// Width of the band \[strain\], positive.
        width: f64,
    },
    /// Paper 2's rule: weight = σ(gain·D), ramp = σ(gain·D)·D. Negative below the threshold, so it
    /// drifts; kept for reproduction. `gain` is in units of 1/strain.
    Sigmoid {
        /// Sharpness \[1/strain\], positive.
        gain: f64,
        /// One-sided as printed, or signed.
        side: YieldSide,
    },
    /// Hard forward, [`Gate::Smoothstep`] backward. Gradients are biased by design.
    StraightThrough {
        /// Width of the band of the backward pass \[strain\], positive.
        width: f64,
    },
}

/// What a gate makes of an excess.
#[derive(Debug, Clone)]
pub struct Gated {
    /// 0 (closed) to 1 (open).
    pub weight: Field,
    /// How far the state moves, in units of strain.
    pub ramp: Field,
}

impl Gate {
    /// The direction and the excess of `x` over `threshold`. Not smooth at `x = 0`, where every
    /// gate but the sigmoid is closed.
    pub fn excess(&self, x: &Field, threshold: Field) -> (Field, Field) {
        match self {
            Gate::Sigmoid {
                side: YieldSide::One,
                ..
            } => (x.ones_like(), x.clone() - threshold),
            _ => (sign(x), abs(x) - threshold),
        }
    }

    /// Weight and ramp of an excess. Not smooth at 0 for [`Gate::Hard`]; C1 for
    /// [`Gate::Smoothstep`]; smooth for [`Gate::Sigmoid`].
    pub fn open(&self, excess: &Field) -> Gated {
        match *self {
            Gate::Hard => Gated {
                weight: indicator(excess),
                ramp: max_zero(excess),
            },
            Gate::Smoothstep { width } => {
                // A product: burn differentiates a division by a number in single precision.
                let weight = smoothstep(&(excess.clone() * width.recip()));
                let ramp = max_zero(excess) * weight.clone();
                Gated { weight, ramp }
            }
            Gate::Sigmoid { gain, .. } => {
                let weight = sigmoid(excess.clone() * gain);
                let ramp = weight.clone() * excess.clone();
                Gated { weight, ramp }
            }
            Gate::StraightThrough { width } => {
                let hard = Gate::Hard.open(excess);
                let soft = Gate::Smoothstep { width }.open(excess);
                Gated {
                    weight: straight_through(hard.weight, soft.weight),
                    ramp: straight_through(hard.ramp, soft.ramp),
                }
            }
        }
    }

    /// How much the direction `flow` (−1 to 1) is new seen from `direction`: 1 for no or the
    /// opposite direction, 0 for the same. The sigmoid gate mixes linearly, so that no direction
    /// counts as half new, as in the smooth law that users write by hand.
    pub fn novelty(&self, direction: &Field, flow: &Field) -> Field {
        let agreement = direction.clone() * flow.clone();
        match self {
            Gate::Sigmoid { .. } => agreement * -0.5 + 0.5,
            _ => smoothstep(&agreement) * -1.0 + 1.0,
        }
    }

    /// Reads `hard`, `smoothstep[:width]`, `sigmoid[:gain]`, `sigmoid-one-sided[:gain]` or
    /// `straight-through[:width]`; `scale` \[strain\] sets the default band (5 % of it) and gain.
    pub fn parse(text: &str, scale: f64) -> Result<Gate> {
        let (name, number) = match text.split_once(':') {
            Some((name, number)) => (name, Some(number)),
            None => (text, None),
        };
        // Within nine decades of the default either way: beyond, products leave the range of f32.
        let value = |default: f64| match number.map(str::parse::<f64>) {
            None => Ok(default),
            Some(Ok(v)) if (1e-9 * default..=1e9 * default).contains(&v) => Ok(v),
            _ => bad_input(format!(
                "--gate '{text}': '{}' is not a usable number; write for example {name}:{default}",
                number.unwrap_or_default()
            )),
        };
        let (width, gain) = (0.05 * scale, 26.0 / scale);
        match name {
            "hard" if number.is_some() => bad_input(format!(
                "--gate '{text}': the hard gate takes no number; write --gate hard"
            )),
            "hard" => Ok(Gate::Hard),
            "smoothstep" => Ok(Gate::Smoothstep {
                width: value(width)?,
            }),
            "straight-through" => Ok(Gate::StraightThrough {
                width: value(width)?,
            }),
            "sigmoid" | "sigmoid-one-sided" => Ok(Gate::Sigmoid {
                gain: value(gain)?,
                side: if name == "sigmoid" {
                    YieldSide::Signed
                } else {
                    YieldSide::One
                },
            }),
            _ => Err(unknown(
                "--gate",
                name,
                &[
                    "hard",
                    "smoothstep",
                    "sigmoid",
                    "sigmoid-one-sided",
                    "straight-through",
                ],
            )),
        }
    }

    /// The gate in words, as [`Gate::parse`] reads it.
    pub fn describe(&self) -> String {
        match self {
            Gate::Hard => "hard".into(),
            Gate::Smoothstep { width } => format!("smoothstep:{width}"),
            Gate::Sigmoid {
                gain,
                side: YieldSide::Signed,
            } => format!("sigmoid:{gain}"),
            Gate::Sigmoid {
                gain,
                side: YieldSide::One,
            } => format!("sigmoid-one-sided:{gain}"),
            Gate::StraightThrough { width } => format!("straight-through:{width}"),
        }
    }
}

/// The value of `hard` with the gradient of `soft`.
fn straight_through(hard: Field, soft: Field) -> Field {
    hard.detach() + (soft.clone() - soft.detach())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::{Compute, Precision};

    // burn-autodiff 0.22.1 differentiates a division by a number with the reciprocal in single precision
    // (`float_div_scalar`), also in f64. These widths have none that is exact there.
    #[test]
    fn the_slope_of_a_gate_is_exact_in_double_precision() {
        let compute = Compute::cpu(Precision::F64);
        for width in [0.3, 3.0, 0.7] {
            let single = f64::from(1.0 / width as f32);
            assert!((single * width - 1.0).abs() > 1e-9, "{width} shows nothing");
            let excess = 0.4 * width;
            for gate in [Gate::Smoothstep { width }, Gate::StraightThrough { width }] {
                let leaf = compute.tensor(&[excess], [1, 1]).autodiff().require_grad();
                let gradients = gate.open(&leaf).weight.sum().backward();
                let found = compute.values(leaf.grad(&gradients).unwrap()).unwrap()[0];
                let u = excess / width;
                let exact = 6.0 * u * (1.0 - u) / width;
                // Some roundings of 1e-16; the single reciprocal leaves 1e-8.
                assert!(
                    (found / exact - 1.0).abs() < 1e-14,
                    "{gate:?}: {found} {exact}"
                );
                // What a division gives: should burn change, products are no longer needed.
                let leaf = compute.tensor(&[excess], [1, 1]).autodiff().require_grad();
                let gradients = smoothstep(&(leaf.clone() / width)).sum().backward();
                let divided = compute.values(leaf.grad(&gradients).unwrap()).unwrap()[0];
                assert!((divided / exact - 1.0).abs() > 1e-9, "{divided} {exact}");
            }
        }
    }
}
