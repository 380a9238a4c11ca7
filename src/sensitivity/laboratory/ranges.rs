//! How the unknowns of a case are distributed in a study.

use crate::{
    error::{Error, Result, bad_input, readable, unknown},
    fit::{
        problem::{Calibration, Unknown},
        result::{FitResult, ParameterResult},
    },
    material::{StrainMeasure, Transform},
    optimize::Problem,
    sensitivity::{distribution::Distribution, factor::Factor},
};

/// What is asked for; what is not said follows from the case.
#[derive(Debug, Clone, Default)]
pub(crate) struct RangeWish {
    /// Distributions by the parameter's name.
    pub vary: Vec<(String, Vary)>,
    /// Vary these only.
    pub only: Vec<String>,
    /// Vary from half to twice the values of a material, in the order of the law.
    pub around: Option<Vec<f64>>,
    /// Vary as a fit has found them.
    pub posterior: Option<FitResult>,
}

/// A distribution as it is asked for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Vary {
    /// Even between two values.
    Uniform(f64, f64),
    /// Even in the logarithm.
    Log(f64, f64),
    /// Mean and standard deviation.
    Normal(f64, f64),
    /// Not at all.
    Fixed(f64),
}

impl Vary {
    /// `log:10:1000`, `uniform:0:1`, `normal:500:50` or `fixed:0.7`.
    pub(crate) fn parse(text: &str) -> Result<Vary> {
        let words: Vec<&str> = text.split(':').collect();
        let numbers: Vec<Option<f64>> = words[1..]
            .iter()
            .map(|w| w.trim().parse::<f64>().ok().filter(|v| v.is_finite()))
            .collect();
        match (words[0].trim(), &numbers[..]) {
            ("uniform", [Some(a), Some(b)]) => Ok(Vary::Uniform(*a, *b)),
            ("log", [Some(a), Some(b)]) => Ok(Vary::Log(*a, *b)),
            ("normal", [Some(a), Some(b)]) => Ok(Vary::Normal(*a, *b)),
            ("fixed", [Some(a)]) => Ok(Vary::Fixed(*a)),
            _ => bad_input(format!(
                "'{text}' is no distribution; give log:LOW:HIGH, uniform:LOW:HIGH, normal:MEAN:SD or fixed:VALUE"
            )),
        }
    }
}

/// The factors of a study.
pub(crate) struct Ranges {
    /// What is varied.
    pub factors: Vec<Factor>,
    /// Which unknown each factor is.
    pub places: Vec<usize>,
    /// Value of every unknown while it is not varied: for a distance, the distance.
    pub base: Vec<f64>,
    /// What was assumed, a sentence each.
    pub notes: Vec<String>,
}

/// Half and twice: what fabrics of one kind differ by.
const AROUND: f64 = 2.0;

impl Ranges {
    /// The factors of a case's unknowns.
    pub(crate) fn new(calibration: &Calibration, wish: &RangeWish) -> Result<Ranges> {
        let mut notes = Vec::new();
        let mut all = Vec::new();
        for k in 0..calibration.unknowns.len() {
            all.push(default_factor(calibration, k, wish, &mut notes)?);
        }
        let mut base: Vec<f64> = all.iter().map(|f| f.nominal).collect();
        let mut varied = vec![true; all.len()];
        let own: Vec<&str> = calibration
            .unknowns
            .iter()
            .map(|u| u.name.as_str())
            .collect();
        let names: Vec<String> = all.iter().map(|f| f.name.clone()).collect();
        let find = |option: &str, name: &str| -> Result<usize> {
            let at = names.iter().position(|n| n == name);
            let known: Vec<&str> = names.iter().map(String::as_str).collect();
            // A distance may be called by the name of its parameter.
            at.or_else(|| own.iter().position(|n| *n == name))
                .ok_or_else(|| unknown(&format!("parameter of {option}"), name, &known))
        };
        for (name, vary) in &wish.vary {
            let k = find("--vary", name)?;
            match asked(calibration, k, *vary, &all[k])? {
                Some(factor) => all[k] = factor,
                None => varied[k] = false,
            }
            if let Vary::Fixed(value) = vary {
                base[k] = *value;
            } else {
                base[k] = all[k].nominal;
            }
        }
        if !wish.only.is_empty() {
            let mut kept = vec![false; all.len()];
            for name in &wish.only {
                kept[find("--only", name)?] = true;
            }
            varied.iter_mut().zip(kept).for_each(|(v, kept)| *v &= kept);
        }
        let places: Vec<usize> = (0..all.len()).filter(|k| varied[*k]).collect();
        if places.is_empty() {
            return bad_input("no parameter is left to vary; leave out some --only or fixed ones");
        }
        for k in &places {
            all[*k].distribution.check(&all[*k].name)?;
        }
        Ok(Ranges {
            factors: places.iter().map(|k| all[*k].clone()).collect(),
            places,
            base,
            notes,
        })
    }
}

/// The value that an unknown stands for where its parameter and that below it have given values.
fn value_of(unknown: &Unknown, value: f64, lower: impl Fn(&str) -> f64) -> f64 {
    match unknown.transform {
        Transform::Above(name) => value - lower(name),
        _ => value,
    }
}

/// Ends of the value that an unknown stands for in a search.
fn search_ends(calibration: &Calibration, k: usize) -> (f64, f64) {
    let unknown = &calibration.unknowns[k];
    match unknown.transform {
        Transform::Above(_) => {
            let (low, high) = calibration.bounds()[k];
            (low.exp(), high.exp())
        }
        _ => unknown.bounds,
    }
}

fn default_factor(
    calibration: &Calibration,
    k: usize,
    wish: &RangeWish,
    notes: &mut Vec<String>,
) -> Result<Factor> {
    let unknown = &calibration.unknowns[k];
    let (distribution, nominal) = if let Some(fit) = &wish.posterior {
        posterior(calibration, k, fit, notes)?
    } else if let Some(values) = &wish.around {
        let parameters = calibration.law().parameters();
        let place = |name: &str| parameters.iter().position(|p| p.name == name);
        let lower = |name: &str| place(name).map_or(0.0, |p| values[p]);
        let value = value_of(unknown, values[unknown.parameter], lower);
        (around(calibration, k, value)?, Some(value))
    } else {
        (of_case(calibration, k), None)
    };
    let parameter = &calibration.law().parameters()[unknown.parameter];
    Ok(Factor {
        name: name(unknown),
        symbol: match unknown.transform {
            Transform::Above(_) => format!("({} − ε_0)", parameter.symbol),
            _ => parameter.symbol.into(),
        },
        unit: parameter.dimension.unit(StrainMeasure::Curvature).into(),
        nominal: nominal.unwrap_or_else(|| distribution.quantile(0.5)),
        distribution,
    })
}

/// The parameter's name; of a distance above another one `…_saturated_above_initial`.
fn name(unknown: &Unknown) -> String {
    let Transform::Above(lower) = unknown.transform else {
        return unknown.name.clone();
    };
    let (own, group) = match unknown.name.split_once('[') {
        Some((own, group)) => (own, format!("[{group}")),
        None => (unknown.name.as_str(), String::new()),
    };
    let short = lower.rsplit('_').next().unwrap_or(lower);
    format!("{own}_above_{short}{group}")
}

/// The whole range of a search, or the prior.
fn of_case(calibration: &Calibration, k: usize) -> Distribution {
    let (low, high) = search_ends(calibration, k);
    let unknown = &calibration.unknowns[k];
    match (unknown.prior, unknown.is_logarithm()) {
        // A distance has no prior of its own.
        (Some((mean, sd)), _) if !matches!(unknown.transform, Transform::Above(_)) => {
            Distribution::Normal {
                mean,
                sd,
                low,
                high,
            }
        }
        (_, true) => Distribution::LogUniform { low, high },
        (_, false) => Distribution::Uniform { low, high },
    }
}

fn around(calibration: &Calibration, k: usize, value: f64) -> Result<Distribution> {
    let unknown = &calibration.unknowns[k];
    if unknown.is_logarithm() {
        if value <= 0.0 {
            return bad_input(format!(
                "--around: {} is {} there and has no half and twice; give its range with --vary {}=uniform:LOW:HIGH",
                name(unknown),
                readable(value),
                unknown.name
            ));
        }
        return Ok(Distribution::LogUniform {
            low: value / AROUND,
            high: value * AROUND,
        });
    }
    let (low, high) = unknown.bounds;
    Ok(match value > low && value <= high {
        true => Distribution::Uniform {
            low: (value / AROUND).max(low),
            high: (value * AROUND).min(high),
        },
        false => Distribution::Uniform { low, high },
    })
}

/// The marginal distribution that a fit has found, and its best value.
fn posterior(
    calibration: &Calibration,
    k: usize,
    fit: &FitResult,
    notes: &mut Vec<String>,
) -> Result<(Distribution, Option<f64>)> {
    let unknown = &calibration.unknowns[k];
    let find =
        |name: &str| -> Option<&ParameterResult> { fit.parameters.iter().find(|p| p.name == name) };
    let Some(found) = find(&unknown.name) else {
        return Err(Error::BadInput(format!(
            "{}: its result has no parameter {}; it belongs to another case",
            fit.run.folder, unknown.name
        )));
    };
    let group = unknown.name.split_once('[').map(|(_, g)| g);
    let lower = |name: &str| {
        let local = group.and_then(|g| find(&format!("{name}[{g}")));
        local.or_else(|| find(name)).map_or(0.0, |p| p.best)
    };
    let (low, high) = search_ends(calibration, k);
    let best = value_of(unknown, found.best, lower).clamp(low, high);
    let logarithm = unknown.is_logarithm() && best > 0.0;
    let distribution = match found.std_error.filter(|_| found.value.is_some()) {
        Some(error) if logarithm => Distribution::LogNormal {
            median: best,
            sd: error / best,
            low,
            high,
        },
        Some(error) => Distribution::Normal {
            mean: best,
            sd: error,
            low,
            high,
        },
        None => {
            notes.push(match found.value {
                Some(_) => format!(
                    "{}: the fit gives no standard error, so its 95 % interval is taken, evenly.",
                    name(unknown)
                ),
                None => format!(
                    "{}: the fit does not determine it, so all that it leaves open is taken, evenly.",
                    name(unknown)
                ),
            });
            // An end that the data leave open is that of the search.
            let [from, to] = found.ci95;
            let from = from.map_or(low, |v| value_of(unknown, v, lower));
            let to = to.map_or(high, |v| value_of(unknown, v, lower));
            let (from, to) = (from.clamp(low, high), to.clamp(low, high));
            match from < to {
                true if logarithm => Distribution::LogUniform {
                    low: from,
                    high: to,
                },
                true => Distribution::Uniform {
                    low: from,
                    high: to,
                },
                false => of_case(calibration, k),
            }
        }
    };
    Ok((distribution, Some(best)))
}

/// The factor that `--vary` asks for; none where it is to stay fixed.
fn asked(calibration: &Calibration, k: usize, vary: Vary, now: &Factor) -> Result<Option<Factor>> {
    let unknown = &calibration.unknowns[k];
    let parameter = &calibration.law().parameters()[unknown.parameter];
    let (low, high) = (parameter.low, parameter.high);
    let distribution = match vary {
        Vary::Uniform(low, high) => Distribution::Uniform { low, high },
        Vary::Log(low, high) => Distribution::LogUniform { low, high },
        Vary::Normal(mean, sd) => Distribution::Normal {
            mean,
            sd,
            // A logarithm needs room above zero.
            low: if unknown.is_logarithm() {
                low.max(1e-6 * mean.abs())
            } else {
                low
            },
            high,
        },
        Vary::Fixed(value) => {
            parameter.check("--vary", &now.name, value, StrainMeasure::Curvature)?;
            return Ok(None);
        }
    };
    distribution.check(&format!("--vary {}", now.name))?;
    let ends = distribution.ends();
    for end in [ends.0, ends.1] {
        parameter.check("--vary", &now.name, end, StrainMeasure::Curvature)?;
    }
    if unknown.is_logarithm() && ends.0 <= 0.0 {
        return bad_input(format!(
            "--vary {}: the law needs it above 0; give a positive lower end",
            now.name
        ));
    }
    Ok(Some(Factor {
        nominal: now.nominal.clamp(ends.0, ends.1),
        distribution,
        ..now.clone()
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distributions_are_read_and_nonsense_is_refused() {
        assert_eq!(Vary::parse("log:10:1e3").unwrap(), Vary::Log(10.0, 1000.0));
        assert_eq!(Vary::parse("fixed:0.7").unwrap(), Vary::Fixed(0.7));
        for text in [
            "",
            "log",
            "log:1",
            "log:1:x",
            "normal:1:2:3",
            "gamma:1:2",
            "fixed:nan",
        ] {
            let error = Vary::parse(text).unwrap_err().to_string();
            assert!(error.contains("log:LOW:HIGH"), "{text}: {error}");
        }
    }
}
