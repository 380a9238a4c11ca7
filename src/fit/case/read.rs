//! Reading cases by hand, so that every message names the file, the field and its value.

use serde_json::Value;

use super::{
    Case, DataSource, Free, HOLD_OUT, HoldOutRule, MOST_BRANCHES, MOST_STARTS, Role, SOURCE, TOP,
    TransformName,
};
use crate::{
    error::{Error, Result, bad_input, readable, unknown},
    files::json::{JsonObject, parse},
    laboratory::{TESTS, TestSettings},
    material::{Law, LawName, Parameter, StrainMeasure, Timer, Transform},
    optimize::RobustLoss,
};

/// Keys of a parameter's role.
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

impl Case {
    /// Reads and checks JSON text; `place` is named in messages.
    pub fn parse(text: &str, place: &str) -> Result<Case> {
        let remedy =
            "`rumple schema case` describes the format, and `rumple fit DATA.csv` writes a case";
        let value = parse(text, place, remedy)?;
        let top = JsonObject::new(place, "", &value)?;
        let sections = TestSettings::sections().map(|section| section.name);
        let keys: Vec<&str> = TOP.into_iter().chain(sections).collect();
        top.known(&keys)?;
        let law = top.optional_choice("law", &LawName::NAMES)?;
        let law = law.and_then(LawName::named);
        let loss = top.optional_choice("loss", &RobustLoss::NAMES)?;
        let loss = loss.and_then(RobustLoss::named);
        let tests = TestSettings::read(place, &value)?;
        let starts = TESTS.iter().map(|test| test.starts(&tests)).min();
        let mut case = Case {
            name: top.text("name")?,
            notes: top.texts("notes")?,
            data: sources(place, &value)?,
            law: law.unwrap_or(LawName::TimeDependent),
            relaxation_branches: top
                .whole("relaxation_branches", (0.0, MOST_BRANCHES))?
                .unwrap_or(0),
            parameters: Vec::new(),
            tests,
            loss: loss.unwrap_or(RobustLoss::Squares),
            starts: top
                .whole("starts", (1.0, MOST_STARTS))?
                .unwrap_or_else(|| starts.unwrap_or(1)),
            seed: top.whole("seed", (0.0, 9e15))?.unwrap_or(1) as u64,
            hold_out: hold_out(place, &value)?,
        };
        if case.law != LawName::TimeDependent && case.relaxation_branches > 0 {
            return bad_input(format!(
                "{place}: relaxation_branches = {} need \"law\": \"time_dependent\"; remove one of the two",
                case.relaxation_branches
            ));
        }
        // A case that names a spread has a population.
        let law = case
            .law
            .law_of(Timer::Authors, case.relaxation_branches, true);
        case.parameters = parameters(place, &value, law.as_ref())?;
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
}

fn sources(place: &str, value: &Value) -> Result<Vec<DataSource>> {
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
                return Ok(DataSource {
                    file: file.clone(),
                    ..DataSource::default()
                });
            }
            let name = format!("data[{i}]");
            let section = JsonObject::new(place, &name, item)?;
            section.known(&SOURCE)?;
            Ok(DataSource {
                file: section.text("file")?,
                fabric: section.optional_text("fabric")?,
                direction: section.optional_text("direction")?,
                group: section.optional_text("group")?,
            })
        })
        .collect()
}

fn hold_out(place: &str, value: &Value) -> Result<HoldOutRule> {
    let Some(value) = value.get("hold_out") else {
        return Ok(HoldOutRule::default());
    };
    let section = JsonObject::new(place, "hold_out", value)?;
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
    JsonObject::new(place, "parameters", value)?.known(&names)?;
    let fields = value.as_object().into_iter().flatten();
    fields
        .map(|(name, value)| {
            let field = format!("parameters.{name}");
            let section = JsonObject::new(place, &field, value)?;
            section.known(&ROLE)?;
            // `known` has just found it.
            let parameter = known.iter().find(|p| p.name == *name);
            let parameter = parameter.ok_or_else(|| unknown("parameter", name, &names))?;
            Ok((name.clone(), role(place, &section, parameter, &names)?))
        })
        .collect()
}

fn role(place: &str, section: &JsonObject, parameter: &Parameter, names: &[&str]) -> Result<Role> {
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
    let transform = section.optional_choice("transform", &TransformName::NAMES)?;
    let transform = transform.and_then(TransformName::named);
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
