//! Runs as they stand in the journal: numbers as the hexadecimal digits of their bits, which keeps them exact,
//! NaN included, and short enough for a hundred thousand runs.

use serde_json::{Map, Value, json};

use crate::{
    laboratory::Shares,
    sensitivity::model::{Model, ModelRun},
};

const DIGITS: usize = 16;

fn to_text(numbers: impl Iterator<Item = f64>) -> String {
    let mut text = String::new();
    for number in numbers {
        let bits = number.to_bits();
        for k in (0..DIGITS).rev() {
            let digit = (bits >> (4 * k)) as u32 & 15;
            text.push(char::from_digit(digit, 16).unwrap_or('0'));
        }
    }
    text
}

fn to_numbers(text: &str) -> Option<Vec<f64>> {
    if !text.is_ascii() || !text.len().is_multiple_of(DIGITS) {
        return None;
    }
    let digits = text.as_bytes().chunks_exact(DIGITS);
    digits
        .map(|word| {
            let mut bits = 0u64;
            for digit in word {
                bits = bits << 4 | u64::from(char::from(*digit).to_digit(16)?);
            }
            Some(f64::from_bits(bits))
        })
        .collect()
}

/// Runs of a task; a failed one leaves NaN in its place.
pub(super) fn encode(runs: &[ModelRun], model: &dyn Model) -> Value {
    let width = model.outputs().len();
    let filled = |list: &Vec<f64>, size: usize| match list.is_empty() {
        true => vec![f64::NAN; size],
        false => list.clone(),
    };
    let values = runs.iter().flat_map(|r| filled(&r.values, width));
    let mut result = json!({ "values": to_text(values) });
    if runs.iter().any(|r| !r.slopes.is_empty()) {
        let size = width * model.factors().len();
        let slopes = runs.iter().flat_map(|r| filled(&r.slopes, size));
        result["slopes"] = to_text(slopes).into();
    }
    if runs.iter().any(|r| !r.regimes.is_empty()) {
        let size = 2 * model.regime_outputs().len();
        let shares = runs.iter().flat_map(|r| {
            let pairs: Vec<f64> = r.regimes.iter().flat_map(|s| [s.slips, s.yields]).collect();
            filled(&pairs, size)
        });
        result["regimes"] = to_text(shares).into();
    }
    let failures: Map<String, Value> = runs
        .iter()
        .enumerate()
        .filter_map(|(i, r)| Some((i.to_string(), r.failure.clone()?.into())))
        .collect();
    if !failures.is_empty() {
        result["failures"] = failures.into();
    }
    result
}

/// The inverse of [`encode`]; none for anything else.
pub(super) fn decode(value: &Value, model: &dyn Model, count: usize) -> Option<Vec<ModelRun>> {
    let list = |key: &str, size: usize| -> Option<Vec<Vec<f64>>> {
        let Some(text) = value.get(key) else {
            return Some(vec![Vec::new(); count]);
        };
        let numbers = to_numbers(text.as_str()?)?;
        (numbers.len() == count * size).then(|| {
            numbers
                .chunks_exact(size.max(1))
                .map(<[f64]>::to_vec)
                .collect()
        })
    };
    value.get("values")?;
    let width = model.outputs().len();
    let values = list("values", width)?;
    let slopes = list("slopes", width * model.factors().len())?;
    let shares = list("regimes", 2 * model.regime_outputs().len())?;
    let each = values.into_iter().zip(slopes).zip(shares).enumerate();
    each.map(|(i, ((values, slopes), shares))| {
        let failure = value.get("failures").and_then(|f| f.get(i.to_string()));
        if let Some(why) = failure {
            return Some(ModelRun::failed(why.as_str()?));
        }
        let pairs = shares.chunks_exact(2);
        Some(ModelRun {
            values,
            slopes,
            regimes: pairs
                .map(|pair| Shares {
                    slips: pair[0],
                    yields: pair[1],
                })
                .collect(),
            failure: None,
        })
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_their_bits() {
        let numbers = [0.1 + 0.2, -0.0, 1e-310, f64::NEG_INFINITY, f64::NAN];
        let back = to_numbers(&to_text(numbers.into_iter())).unwrap();
        for (a, b) in numbers.iter().zip(&back) {
            assert_eq!(a.to_bits(), b.to_bits());
        }
        assert_eq!(to_numbers("0123"), None);
        assert_eq!(to_numbers("zzzzzzzzzzzzzzzz"), None);
    }
}
