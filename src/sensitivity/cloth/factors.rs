//! The parameters of a scene's fabric that can be varied.

use super::ClothWish;
use crate::{
    error::{Result, bad_input, unknown},
    material::{Dimension, StrainMeasure, Transform},
    numeric::{Compute, Field},
    scene::PreparedScene,
    sensitivity::{distribution::Distribution, factor::Factor, laboratory::Vary},
    step::Parameters,
};

/// What is varied, and where it stands in the fabric's parameters.
pub(super) struct Varied {
    /// In the order of the fabric's parameters.
    pub factors: Vec<Factor>,
    /// Values of all parameters of the fabric while they are not varied.
    pub base: Vec<f64>,
    /// What was assumed.
    pub notes: Vec<String>,
    /// For each factor its place in [`Parameters::list`].
    places: Vec<usize>,
    /// A parameter that stands above another, and that one: its factor is the distance.
    above: Option<(usize, usize)>,
}

/// Half and twice.
const AROUND: f64 = 2.0;

impl Varied {
    pub(crate) fn new(prepared: &PreparedScene, wish: &ClothWish) -> Result<Varied> {
        let law = &prepared.cloth.setup.law;
        let names = prepared.parameters.names(law);
        let compute = &prepared.cloth.compute;
        let fields = prepared.parameters.list();
        let above = law.parameters().iter().enumerate().find_map(|(i, p)| {
            let Transform::Above(lower) = p.transform else {
                return None;
            };
            Some((i, names.iter().position(|n| n == lower)?))
        });
        let mut base = Vec::new();
        for field in &fields {
            base.push(compute.values((*field).clone())?[0]);
        }
        if let Some((upper, lower)) = above {
            base[upper] -= base[lower];
        }
        let mut varied = Varied {
            factors: Vec::new(),
            base,
            notes: Vec::new(),
            places: Vec::new(),
            above,
        };
        for (place, name) in names.iter().enumerate() {
            let single = fields[place].shape().num_elements() == 1;
            varied.add(prepared, place, name, single, wish)?;
        }
        let known: Vec<&str> = names.iter().map(String::as_str).collect();
        let asked = wish.vary.iter().map(|(n, _)| ("--vary", n));
        for (option, name) in asked.chain(wish.only.iter().map(|n| ("--only", n))) {
            if !known.contains(&name.as_str()) {
                return Err(unknown(&format!("parameter of {option}"), name, &known));
            }
        }
        match varied.factors.is_empty() {
            true => bad_input("no parameter is left to vary; leave out some --only or fixed ones"),
            false => Ok(varied),
        }
    }

    fn add(
        &mut self,
        prepared: &PreparedScene,
        place: usize,
        name: &str,
        single: bool,
        wish: &ClothWish,
    ) -> Result<()> {
        let value = self.base[place];
        let asked = wish.vary.iter().rev().find(|(n, _)| n == name);
        let wanted = wish.only.is_empty() || wish.only.iter().any(|n| n == name);
        let own = prepared.cloth.setup.law.parameters().into_iter().nth(place);
        let ratio = own
            .as_ref()
            .is_some_and(|p| p.dimension == Dimension::Ratio);
        let distribution = match asked.map(|(_, vary)| *vary) {
            Some(Vary::Fixed(value)) => {
                self.base[place] = value;
                return Ok(());
            }
            _ if !wanted => return Ok(()),
            Some(Vary::Uniform(low, high)) => Distribution::Uniform { low, high },
            Some(Vary::Log(low, high)) => Distribution::LogUniform { low, high },
            Some(Vary::Normal(mean, sd)) => Distribution::Normal {
                mean,
                sd,
                low: own.as_ref().map_or(1e-6 * mean.abs(), |p| p.low),
                high: own.as_ref().map_or(1e6 * mean.abs(), |p| p.high),
            },
            None if !single => {
                self.notes
                    .push(format!("{name} differs by direction and is not varied."));
                return Ok(());
            }
            None if value <= 0.0 => {
                self.notes
                    .push(format!("{name} is 0 in this scene and is not varied."));
                return Ok(());
            }
            None if ratio => Distribution::Uniform {
                low: value / AROUND,
                high: (value * AROUND).min(1.0),
            },
            None => Distribution::LogUniform {
                low: value / AROUND,
                high: value * AROUND,
            },
        };
        distribution.check(&format!("--vary {name}"))?;
        if let Some(parameter) = &own {
            let strain = prepared.cloth.setup.strain;
            let (low, high) = distribution.ends();
            for end in [low, high] {
                parameter.check("--vary", name, end, strain)?;
            }
        } else if distribution.ends().0 <= 0.0 {
            return bad_input(format!(
                "--vary {name}: it must stay above 0; give a positive end"
            ));
        }
        let (low, high) = distribution.ends();
        self.places.push(place);
        self.factors.push(Factor {
            name: match self.above {
                Some((upper, _)) if upper == place => format!("{name}_above_initial"),
                _ => name.into(),
            },
            symbol: match (&own, self.above) {
                (Some(p), Some((upper, _))) if upper == place => format!("({} − ε_0)", p.symbol),
                (Some(p), _) => p.symbol.into(),
                (None, _) => name.into(),
            },
            unit: own
                .map_or(membrane_unit(name), |p| unit(p.dimension, prepared))
                .into(),
            nominal: self.base[place].clamp(low, high),
            distribution,
        });
        Ok(())
    }

    /// The fabric's parameters at a point.
    pub(crate) fn apply(&self, prepared: &PreparedScene, point: &[f64]) -> Parameters {
        let mut values = self.base.clone();
        for (place, value) in self.places.iter().zip(point) {
            values[*place] = *value;
        }
        if let Some((upper, lower)) = self.above {
            values[upper] += values[lower];
        }
        let compute = &prepared.cloth.compute;
        let mut place = 0;
        prepared.parameters.map(|field| {
            let old = field.clone();
            let single = old.shape().num_elements() == 1;
            let new = compute.tensor(&[values[place]], [1, 1]);
            place += 1;
            if single { new } else { old }
        })
    }

    /// ∂reading/∂factor from the gradient of the fabric's parameters.
    pub(crate) fn slopes(&self, gradient: &Parameters, compute: &Compute) -> Result<Vec<f64>> {
        let fields: Vec<&Field> = gradient.list();
        let of = |place: usize| -> Result<f64> {
            let values = compute.values(fields[place].clone())?;
            Ok(values.iter().sum())
        };
        self.places
            .iter()
            .map(|place| {
                let own = of(*place)?;
                match self.above {
                    // What stands above it moves along.
                    Some((upper, lower)) if lower == *place => Ok(own + of(upper)?),
                    _ => Ok(own),
                }
            })
            .collect()
    }
}

fn unit(dimension: Dimension, prepared: &PreparedScene) -> &'static str {
    let strain: StrainMeasure = prepared.cloth.setup.strain;
    dimension.unit(strain)
}

fn membrane_unit(name: &str) -> &'static str {
    match name {
        "density" => "kg/m²",
        name if name.starts_with("membrane") => "N/m",
        _ => "1",
    }
}
