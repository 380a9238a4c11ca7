//! A case: what is fitted to which data, and how. `fits/NAME/case.json`.

use serde_json::{Map, Value, json};

use crate::{
    error::{Error, Result, bad_input, readable, unknown},
    files::json::{Section, parse},
    fit::Loss,
    material::{Law, LawName, Parameter, StrainMeasure, Timer, Transform},
};

/// A fit in words.
#[derive(Debug, Clone, PartialEq)]
pub struct Case {
    /// What it is called.
    pub name: String,
    /// What a reader should know; carried into the report.
    pub notes: Vec<String>,
    /// The measurements.
    pub data: Vec<Source>,
    /// The law.
    pub law: LawName,
    /// Its relaxation branches.
    pub relaxation_branches: usize,
    /// What is done with each parameter of the law; one that is not named is free.
    pub parameters: Vec<(String, Role)>,
    /// What data files leave out, and how tests are simulated.
    pub tests: TestSettings,
    /// How residuals count.
    pub loss: Loss,
    /// Starts of the search.
    pub starts: usize,
    /// Seed of the starts and of everything random.
    pub seed: u64,
    /// Points that are predicted, not fitted.
    pub hold_out: HoldOutRule,
}

/// A data file of a case.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Source {
    /// Path, relative to the case.
    pub file: String,
    /// Only rows of this fabric.
    pub fabric: Option<String>,
    /// Only rows of this direction.
    pub direction: Option<String>,
    /// Name of the group that its rows belong to, instead of fabric and direction.
    pub group: Option<String>,
}

/// What is done with a parameter.
#[derive(Debug, Clone, PartialEq)]
pub enum Role {
    /// It has a value.
    Fixed {
        /// The value, in the parameter's unit.
        value: f64,
        /// Where the value comes from.
        why: String,
    },
    /// It is a multiple of another parameter.
    Tied {
        /// The other parameter.
        to: String,
        /// This over the other.
        ratio: f64,
    },
    /// It is looked for.
    Free(Free),
}

/// How a free parameter is looked for; what is not said is chosen to suit the data.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Free {
    /// Value of the first start.
    pub start: Option<f64>,
    /// Ends of the search.
    pub bounds: Option<(f64, f64)>,
    /// Scale on which it is searched.
    pub transform: Option<TransformName>,
    /// Mean and standard deviation of what is known beforehand.
    pub prior: Option<(f64, f64)>,
    /// Whether each group has its own value; else all share one.
    pub local: Option<bool>,
}

/// Scales of a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TransformName {
    /// The logarithm.
    Log,
    /// The value itself.
    Linear,
    /// The logarithm of (value − low)/(high − value).
    Logit,
    /// The logarithm of the distance above the parameter that it must exceed.
    Above,
}

impl TransformName {
    pub(super) const ALL: [TransformName; 4] = [
        TransformName::Log,
        TransformName::Linear,
        TransformName::Logit,
        TransformName::Above,
    ];

    /// The name in files.
    pub fn name(self) -> &'static str {
        match self {
            TransformName::Log => "log",
            TransformName::Linear => "linear",
            TransformName::Logit => "logit",
            TransformName::Above => "above",
        }
    }
}

/// What data files leave out, and how tests are simulated.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TestSettings {
    /// Hinges along a fold; chosen to suit the law where none are given.
    pub hinges: Option<usize>,
    /// Gap where a file gives none \[mm\].
    pub gap_mm: Option<f64>,
    /// Pressing time where a file gives none \[s\].
    pub press_s: f64,
    /// Reading time where a file gives none \[s\].
    pub read_s: f64,
    /// Standard deviation of an angle where a file gives none \[degrees\].
    pub sd_deg: f64,
    /// Standard deviation of B and 2HB where a file gives none, as a share of the value.
    pub bending_sd_share: f64,
    /// Standard deviation of a loop's moments where a file gives none, as a share of the largest.
    pub moment_sd_share: f64,
    /// Largest curvature of a bending cycle that gives B and 2HB \[1/m\].
    pub max_curvature_per_m: f64,
    /// Speed of a bending cycle \[1/(m·s)\].
    pub rate_per_m_s: f64,
}

impl Default for TestSettings {
    fn default() -> Self {
        TestSettings {
            hinges: None,
            gap_mm: None,
            // ISO 2313 presses and waits for five minutes.
            press_s: 300.0,
            read_s: 300.0,
            // A good test spreads by 2 to 3°.
            sd_deg: 2.5,
            bending_sd_share: 0.05,
            moment_sd_share: 0.02,
            max_curvature_per_m: 250.0,
            rate_per_m_s: 50.0,
        }
    }
}

/// Which points are held out: those that have any of these.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct HoldOutRule {
    /// Gaps \[mm\].
    pub gap_mm: Vec<f64>,
    /// Pressing times \[s\].
    pub press_s: Vec<f64>,
    /// Groups.
    pub groups: Vec<String>,
}

pub(super) const TOP: [&str; 11] = [
    "name",
    "notes",
    "data",
    "law",
    "relaxation_branches",
    "parameters",
    "tests",
    "loss",
    "starts",
    "seed",
    "hold_out",
];
pub(super) const SOURCE: [&str; 4] = ["file", "fabric", "direction", "group"];
const ROLE: [&str; 9] = [
    "fixed",
    "why",
    "tied_to",
    "ratio",
    "start",
    "bounds",
    "transform",
    "prior",
    "scope",
];
pub(super) const TESTS: [&str; 9] = [
    "hinges",
    "gap_mm",
    "press_s",
    "read_s",
    "sd_deg",
    "bending_sd_share",
    "moment_sd_share",
    "max_curvature_per_m",
    "rate_per_m_s",
];
pub(super) const HOLD_OUT: [&str; 3] = ["gap_mm", "press_s", "groups"];

/// More would be waste.
pub(super) const MOST_STARTS: f64 = 4096.0;
/// As in material files.
pub(super) const MOST_BRANCHES: f64 = 8.0;

impl Case {
    /// The law itself.
    pub fn build_law(&self) -> std::sync::Arc<dyn Law> {
        self.law.law(Timer::Authors, self.relaxation_branches)
    }

    /// What is done with a parameter, where the case says so.
    pub fn role(&self, name: &str) -> Option<&Role> {
        self.parameters
            .iter()
            .find(|(n, _)| n == name)
            .map(|(_, r)| r)
    }

    /// Reads and checks JSON text; `place` is named in messages.
    pub fn parse(text: &str, place: &str) -> Result<Case> {
        let remedy =
            "`rumple schema case` describes the format, and `rumple fit DATA.csv` writes a case";
        let value = parse(text, place, remedy)?;
        let top = Section::new(place, "", &value)?;
        top.known(&TOP)?;
        let law = top.optional_choice("law", &LawName::ALL.map(LawName::name))?;
        let law = LawName::ALL.into_iter().find(|l| Some(l.name()) == law);
        let loss = top.optional_choice("loss", &Loss::ALL.map(Loss::name))?;
        let loss = Loss::ALL.into_iter().find(|l| Some(l.name()) == loss);
        let mut case = Case {
            name: top.text("name")?,
            notes: top.texts("notes")?,
            data: sources(place, &value)?,
            law: law.unwrap_or(LawName::TimeDependent),
            relaxation_branches: top
                .whole("relaxation_branches", (0.0, MOST_BRANCHES))?
                .unwrap_or(0),
            parameters: Vec::new(),
            tests: tests(place, &value)?,
            loss: loss.unwrap_or(Loss::Squares),
            starts: top.whole("starts", (1.0, MOST_STARTS))?.unwrap_or(16),
            seed: top.whole("seed", (0.0, 9e15))?.unwrap_or(1) as u64,
            hold_out: hold_out(place, &value)?,
        };
        if case.law != LawName::TimeDependent && case.relaxation_branches > 0 {
            return bad_input(format!(
                "{place}: relaxation_branches = {} need \"law\": \"time_dependent\"; remove one of the two",
                case.relaxation_branches
            ));
        }
        case.parameters = parameters(place, &value, case.build_law().as_ref())?;
        case.check_ties(place)?;
        Ok(case)
    }

    fn check_ties(&self, place: &str) -> Result<()> {
        for parameter in self.build_law().parameters() {
            let (Transform::Above(lower), name) = (parameter.transform, parameter.name) else {
                continue;
            };
            let above = matches!(self.role(&name), Some(Role::Free(f)) if f.transform == Some(TransformName::Above));
            if above && matches!(self.role(lower), Some(Role::Tied { to, .. }) if *to == name) {
                return bad_input(format!(
                    "{place}: parameters.{name}.transform = above counts from {lower}, which is tied to it; use log"
                ));
            }
        }
        for (name, role) in &self.parameters {
            let Role::Tied { to, .. } = role else {
                continue;
            };
            if to == name || matches!(self.role(to), Some(Role::Tied { .. })) {
                return bad_input(format!(
                    "{place}: parameters.{name} is tied to {to}, which is tied itself; tie it to a free or fixed one"
                ));
            }
        }
        Ok(())
    }

    /// The file's contents.
    pub fn to_json(&self) -> Value {
        let mut parameters = Map::new();
        for (name, role) in &self.parameters {
            parameters.insert(name.clone(), role.to_json());
        }
        let source = |s: &Source| {
            let mut map = Map::new();
            map.insert("file".into(), json!(s.file));
            for (key, text) in [
                ("fabric", &s.fabric),
                ("direction", &s.direction),
                ("group", &s.group),
            ] {
                if let Some(text) = text {
                    map.insert(key.into(), json!(text));
                }
            }
            Value::Object(map)
        };
        let t = &self.tests;
        let numbers = [
            t.hinges.map(|h| h as f64),
            t.gap_mm,
            Some(t.press_s),
            Some(t.read_s),
            Some(t.sd_deg),
            Some(t.bending_sd_share),
            Some(t.moment_sd_share),
            Some(t.max_curvature_per_m),
            Some(t.rate_per_m_s),
        ];
        let tests = TESTS.iter().zip(numbers).filter_map(|(key, v)| {
            let v = v?;
            let value = if *key == "hinges" {
                json!(v as usize)
            } else {
                json!(v)
            };
            Some((key.to_string(), value))
        });
        json!({
            "name": self.name,
            "notes": self.notes,
            "data": self.data.iter().map(source).collect::<Vec<_>>(),
            "law": self.law.name(),
            "relaxation_branches": self.relaxation_branches,
            "parameters": parameters,
            "tests": Map::from_iter(tests),
            "loss": self.loss.name(),
            "starts": self.starts,
            "seed": self.seed,
            "hold_out": {
                "gap_mm": self.hold_out.gap_mm,
                "press_s": self.hold_out.press_s,
                "groups": self.hold_out.groups,
            },
        })
    }
}

impl Role {
    fn to_json(&self) -> Value {
        match self {
            Role::Fixed { value, why } => json!({ "fixed": value, "why": why }),
            Role::Tied { to, ratio } => json!({ "tied_to": to, "ratio": ratio }),
            Role::Free(free) => {
                let mut map = Map::new();
                let mut put = |key: &str, value: Option<Value>| {
                    if let Some(value) = value {
                        map.insert(key.into(), value);
                    }
                };
                put("start", free.start.map(|v| json!(v)));
                put("bounds", free.bounds.map(|(low, high)| json!([low, high])));
                put("transform", free.transform.map(|t| json!(t.name())));
                put(
                    "prior",
                    free.prior
                        .map(|(mean, sd)| json!({ "mean": mean, "sd": sd })),
                );
                put(
                    "scope",
                    free.local
                        .map(|local| json!(if local { "local" } else { "shared" })),
                );
                Value::Object(map)
            }
        }
    }
}

fn sources(place: &str, value: &Value) -> Result<Vec<Source>> {
    let list = match value.get("data") {
        Some(Value::Array(list)) if !list.is_empty() => list,
        _ => {
            return bad_input(format!(
                "{place}: data must be a list of data files, such as [\"recovery.csv\"] or [{{\"file\": \"kes.csv\", \"fabric\": \"cotton broad\"}}]"
            ));
        }
    };
    list.iter()
        .enumerate()
        .map(|(i, item)| {
            if let Value::String(file) = item {
                return Ok(Source {
                    file: file.clone(),
                    ..Source::default()
                });
            }
            let name = format!("data[{i}]");
            let section = Section::new(place, &name, item)?;
            section.known(&SOURCE)?;
            Ok(Source {
                file: section.text("file")?,
                fabric: section.optional_text("fabric")?,
                direction: section.optional_text("direction")?,
                group: section.optional_text("group")?,
            })
        })
        .collect()
}

fn tests(place: &str, value: &Value) -> Result<TestSettings> {
    let mut settings = TestSettings::default();
    let Some(value) = value.get("tests") else {
        return Ok(settings);
    };
    let section = Section::new(place, "tests", value)?;
    section.known(&TESTS)?;
    if let Some(hinges) = section.whole("hinges", (32.0, 16384.0))? {
        // Sums over a fold are then taken alike wherever it stands in a batch: a resumed fit has the same
        // bits.
        if !hinges.is_power_of_two() {
            return bad_input(format!(
                "{place}: tests.hinges = {hinges} must be a power of two, such as 1024 or 2048"
            ));
        }
        settings.hinges = Some(hinges);
    }
    settings.gap_mm = section.optional_number("gap_mm", (0.01, 100.0))?;
    for (key, slot, range) in [
        ("press_s", &mut settings.press_s, (0.0, 1e9)),
        ("read_s", &mut settings.read_s, (0.0, 1e9)),
        ("sd_deg", &mut settings.sd_deg, (1e-6, 90.0)),
        (
            "bending_sd_share",
            &mut settings.bending_sd_share,
            (1e-6, 1.0),
        ),
        (
            "moment_sd_share",
            &mut settings.moment_sd_share,
            (1e-6, 1.0),
        ),
        (
            "max_curvature_per_m",
            &mut settings.max_curvature_per_m,
            (1.0, 1e5),
        ),
        ("rate_per_m_s", &mut settings.rate_per_m_s, (1e-6, 1e6)),
    ] {
        if let Some(number) = section.optional_number(key, range)? {
            *slot = number;
        }
    }
    Ok(settings)
}

fn hold_out(place: &str, value: &Value) -> Result<HoldOutRule> {
    let Some(value) = value.get("hold_out") else {
        return Ok(HoldOutRule::default());
    };
    let section = Section::new(place, "hold_out", value)?;
    section.known(&HOLD_OUT)?;
    Ok(HoldOutRule {
        gap_mm: section.numbers("gap_mm")?,
        press_s: section.numbers("press_s")?,
        groups: section.texts("groups")?,
    })
}

fn parameters(place: &str, value: &Value, law: &dyn Law) -> Result<Vec<(String, Role)>> {
    let Some(value) = value.get("parameters") else {
        return Ok(Vec::new());
    };
    let known = law.parameters();
    let names: Vec<&str> = known.iter().map(|p| p.name.as_str()).collect();
    Section::new(place, "parameters", value)?.known(&names)?;
    let fields = value.as_object().into_iter().flatten();
    fields
        .map(|(name, value)| {
            let field = format!("parameters.{name}");
            let section = Section::new(place, &field, value)?;
            section.known(&ROLE)?;
            // `known` has just found it.
            let parameter = known.iter().find(|p| p.name == *name);
            let parameter = parameter.ok_or_else(|| unknown("parameter", name, &names))?;
            Ok((name.clone(), role(place, &section, parameter, &names)?))
        })
        .collect()
}

fn role(place: &str, section: &Section, parameter: &Parameter, names: &[&str]) -> Result<Role> {
    let kinds = [
        ("fixed", &["why"][..]),
        ("tied_to", &["ratio"][..]),
        (
            "free",
            &["start", "bounds", "transform", "prior", "scope"][..],
        ),
    ];
    let kind = match (section.has("fixed"), section.has("tied_to")) {
        (true, _) => "fixed",
        (_, true) => "tied_to",
        _ => "free",
    };
    for (other, keys) in kinds.iter().filter(|(other, _)| *other != kind) {
        let foreign = keys.iter().chain([other]).find(|key| section.has(key));
        if let Some(key) = foreign {
            return bad_input(format!(
                "{place}: {} does not go with {}; a parameter is fixed, tied or free",
                section.field(key),
                if kind == "free" {
                    "a free parameter"
                } else {
                    kind
                }
            ));
        }
    }
    let strain = StrainMeasure::Curvature;
    let check = |key: &str, value: f64| parameter.check(place, &section.field(key), value, strain);
    if let Some(value) = section.number("fixed")? {
        check("fixed", value)?;
        let why = section.optional_text("why")?;
        let why = why.unwrap_or_else(|| "by the case".into());
        return Ok(Role::Fixed { value, why });
    }
    if let Some(to) = section.optional_text("tied_to")? {
        if !names.contains(&to.as_str()) {
            return Err(Error::BadInput(format!(
                "{place}: {}: {}",
                section.field("tied_to"),
                unknown("parameter", &to, names)
            )));
        }
        let ratio = section
            .optional_number("ratio", (1e-12, 1e12))?
            .unwrap_or(1.0);
        return Ok(Role::Tied { to, ratio });
    }
    let bounds = section.numbers("bounds")?;
    let bounds = match bounds.as_slice() {
        [] => None,
        [low, high] => {
            check("bounds", *low)?;
            check("bounds", *high)?;
            if low >= high {
                return bad_input(format!(
                    "{place}: {} = [{}, {}] contradict each other; give the lower one first",
                    section.field("bounds"),
                    readable(*low),
                    readable(*high)
                ));
            }
            Some((*low, *high))
        }
        other => {
            return bad_input(format!(
                "{place}: {} has {} numbers; give two, [low, high]",
                section.field("bounds"),
                other.len()
            ));
        }
    };
    let start = section.number("start")?;
    if let (Some(start), Some((low, high))) = (start, bounds)
        && !(low..=high).contains(&start)
    {
        return bad_input(format!(
            "{place}: {} = {} is outside its bounds [{}, {}]; move one of them",
            section.field("start"),
            readable(start),
            readable(low),
            readable(high)
        ));
    }
    if let Some(start) = start {
        check("start", start)?;
    }
    let words = TransformName::ALL.map(TransformName::name);
    let transform = section.optional_choice("transform", &words)?;
    let transform = TransformName::ALL
        .into_iter()
        .find(|t| Some(t.name()) == transform);
    if transform == Some(TransformName::Above)
        && !matches!(parameter.transform, Transform::Above(_))
    {
        return bad_input(format!(
            "{place}: {} = above is for friction_threshold_saturated only; use log or linear",
            section.field("transform")
        ));
    }
    let scope = section.optional_choice("scope", &["shared", "local"])?;
    Ok(Role::Free(Free {
        start,
        bounds,
        transform,
        prior: section.mean_and_sd("prior")?,
        local: scope.map(|word| word == "local"),
    }))
}
