//! Fitted curves of all tests. In `result.json` each test has a list of its own, with the names that
//! [`crate::laboratory::Test::curve_keys`] gives.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};
use serde_json::{Map, Value, json};

use crate::laboratory::{CurveKeys, TESTS, Test};

#[derive(Debug, Clone, Default, PartialEq)]
pub struct FittedCurve {
    pub test: String,
    /// Fabric and direction.
    pub group: String,
    /// What all its points have in common, by the names of results.
    pub settings: BTreeMap<String, f64>,
    /// x of the points, in the unit of the test's results.
    pub x: Vec<f64>,
    pub fitted: Vec<f64>,
    /// Values under the hard law; empty where they are not kept.
    pub hard: Vec<f64>,
    /// Lower end of the 95 % prediction band; empty where there is none.
    pub low: Vec<f64>,
    /// Upper end of the band.
    pub high: Vec<f64>,
}

impl FittedCurve {
    /// A setting; 0 where the curve has none of that name.
    pub fn setting(&self, name: &str) -> f64 {
        self.settings.get(name).copied().unwrap_or(0.0)
    }

    fn to_map(&self, keys: &CurveKeys) -> Map<String, Value> {
        let mut map = Map::new();
        map.insert("group".into(), json!(self.group));
        for (name, value) in &self.settings {
            map.insert(name.clone(), json!(value));
        }
        map.insert(keys.x.into(), json!(self.x));
        map.insert(keys.fitted.into(), json!(self.fitted));
        if let Some(names) = keys.band {
            for (name, list) in names.iter().zip([&self.hard, &self.low, &self.high]) {
                map.insert((*name).into(), json!(list));
            }
        }
        map
    }

    fn from_map(test: &dyn Test, map: &Map<String, Value>) -> Option<FittedCurve> {
        let keys = test.curve_keys();
        let list = |name: &str| -> Option<Vec<f64>> {
            let numbers = map.get(name)?.as_array()?.iter();
            // A number that is not finite is written as null.
            Some(numbers.map(|v| v.as_f64().unwrap_or(f64::NAN)).collect())
        };
        let [hard, low, high] = match keys.band {
            Some(names) => [list(names[0])?, list(names[1])?, list(names[2])?],
            None => Default::default(),
        };
        let numbers = map
            .iter()
            .filter_map(|(k, v)| Some((k.clone(), v.as_f64()?)));
        Some(FittedCurve {
            test: test.name().into(),
            group: map.get("group")?.as_str()?.into(),
            settings: numbers.collect(),
            x: list(keys.x)?,
            fitted: list(keys.fitted)?,
            hard,
            low,
            high,
        })
    }
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Curves(pub Vec<FittedCurve>);

impl Curves {
    pub fn of(&self, test: &str) -> impl Iterator<Item = &FittedCurve> {
        self.0.iter().filter(move |curve| curve.test == test)
    }
}

impl Serialize for Curves {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let lists = TESTS.iter().map(|test| {
            let keys = test.curve_keys();
            let curves = self.of(test.name()).map(|curve| curve.to_map(&keys));
            (keys.list, curves.collect::<Vec<_>>())
        });
        serializer.collect_map(lists)
    }
}

impl<'de> Deserialize<'de> for Curves {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Curves, D::Error> {
        let map: Map<String, Value> = Map::deserialize(deserializer)?;
        let mut curves = Vec::new();
        for test in TESTS {
            let list = test.curve_keys().list;
            for (i, curve) in map
                .get(list)
                .and_then(Value::as_array)
                .into_iter()
                .flatten()
                .enumerate()
            {
                let curve = curve
                    .as_object()
                    .and_then(|map| FittedCurve::from_map(test, map));
                curves.push(curve.ok_or_else(|| {
                    D::Error::custom(format!(
                        "{list}[{i}] is not a curve of the {} test",
                        test.name()
                    ))
                })?);
            }
        }
        Ok(Curves(curves))
    }
}
