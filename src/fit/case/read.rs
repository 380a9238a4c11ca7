//! Reading cases by hand, so that every message names the file, the field and its value.

use serde_json::Value;

use super::{
    Case, Free, HOLD_OUT, HoldOutRule, MOST_BRANCHES, MOST_STARTS, Role, SOURCE, Source, TESTS,
    TOP, TWIST, TransformName,
};
use crate::{
    error::{Error, Result, bad_input, readable, unknown},
    files::json::{Section, parse},
    laboratory::{Specimen, TestSettings, TwistTest},
    material::{Law, LawName, Parameter, StrainMeasure, Transform},
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
        let top = Section::new(place, "", &value)?;
        top.known(&TOP)?;
        let law = top.optional_choice("law", &LawName::ALL.map(LawName::name))?;
        let law = LawName::ALL.into_iter().find(|l| Some(l.name()) == law);
        let loss = top.optional_choice("loss", &RobustLoss::ALL.map(RobustLoss::name))?;
        let loss = RobustLoss::ALL.into_iter().find(|l| Some(l.name()) == loss);
        let tests = TestSettings {
            twist: twist(place, &value)?,
            ..tests(place, &value)?
        };
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
                .unwrap_or_else(|| starts(tests.specimen, tests.twist.is_some())),
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
    let specimen = section.optional_choice("specimen", &Specimen::ALL.map(Specimen::name))?;
    let specimen = Specimen::ALL
        .into_iter()
        .find(|s| Some(s.name()) == specimen);
    settings.specimen = specimen.unwrap_or(Specimen::Hinges);
    if settings.specimen == Specimen::StripMesh {
        // A mesh is read right after its release.
        settings.read_s = 0.0;
    }
    if let Some(cells) = section.whole("strip_cells", (8.0, 512.0))? {
        if settings.specimen != Specimen::StripMesh {
            return bad_input(format!(
                "{place}: tests.strip_cells = {cells} needs \"specimen\": \"strip_mesh\"; add it, or give tests.hinges"
            ));
        }
        settings.strip_cells = cells;
    }
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

/// Starts where a case gives none. Every round of a twist is a simulation of the whole cylinder, for which the
/// hinges of the early stages cannot stand in.
fn starts(specimen: Specimen, twisted: bool) -> usize {
    if twisted { 3 } else { specimen.starts() }
}

fn twist(place: &str, value: &Value) -> Result<Option<TwistTest>> {
    let Some(value) = value.get("twist") else {
        return Ok(None);
    };
    let section = Section::new(place, "twist", value)?;
    section.known(&TWIST)?;
    let needed = |key: &str, range: (f64, f64)| match section.optional_number(key, range)? {
        Some(number) => Ok(number),
        None => bad_input(format!(
            "{place}: twist.{key} is missing; the torque depends on it"
        )),
    };
    let membrane = section.numbers("membrane_N_per_m")?;
    let &[warp, weft, coupling, shear] = membrane.as_slice() else {
        return bad_input(format!(
            "{place}: twist.membrane_N_per_m has {} numbers; give four: warp, weft, coupling, shear",
            membrane.len()
        ));
    };
    if warp <= 0.0 || weft <= 0.0 || shear <= 0.0 || coupling < 0.0 {
        return bad_input(format!(
            "{place}: twist.membrane_N_per_m = {membrane:?} must be positive (the coupling may be 0)"
        ));
    }
    let whole = |key: &str, range: (f64, f64), usual: usize| -> Result<usize> {
        Ok(section.whole(key, range)?.unwrap_or(usual))
    };
    Ok(Some(TwistTest {
        radius: 1e-3 * needed("radius_mm", (1.0, 1e3))?,
        height: 1e-3 * needed("height_mm", (1.0, 1e3))?,
        membrane: [warp, weft, coupling, shear],
        density: needed("density_kg_per_m2", (1e-3, 10.0))?,
        around: whole("cells_around", (6.0, 400.0), 24)?,
        along: whole("cells_along", (2.0, 400.0), 10)?,
        turn_seconds: section
            .optional_number("turn_seconds", (1e-3, 1e5))?
            .unwrap_or(0.3),
        steps: whole("steps", (2.0, 1000.0), 20)?,
    }))
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
