//! A case: what is fitted to which data, and how. `fits/NAME/case.json`.

mod read;

use serde_json::{Map, Value, json};

use crate::{
    error::Result,
    files::{json::present, words},
    laboratory::TestSettings,
    material::{Law, LawName, Parameter, ParameterRole, Timer, parameter},
    optimize::RobustLoss,
};

/// A fit in words.
#[derive(Debug, Clone, PartialEq)]
pub struct Case {
    pub name: String,
    /// What a reader should know; carried into the report.
    pub notes: Vec<String>,
    pub data: Vec<DataSource>,
    pub law: LawName,
    pub relaxation_branches: usize,
    /// What is done with each parameter of the law; one that is not named is free.
    pub parameters: Vec<(String, Role)>,
    /// What data files leave out, and how tests are simulated.
    pub tests: TestSettings,
    /// How residuals count.
    pub loss: RobustLoss,
    pub starts: usize,
    /// Seed of the starts and of everything random.
    pub seed: u64,
    /// Points that are predicted, not fitted.
    pub hold_out: HoldOutRule,
}

/// A data file of a case.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct DataSource {
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
    Log,
    /// The value itself.
    Linear,
    /// The logarithm of (value − low)/(high − value).
    Logit,
    /// The logarithm of the distance above the parameter that it must exceed.
    Above,
}

words!(TransformName {
    Log = "log",
    Linear = "linear",
    Logit = "logit",
    Above = "above"
});

/// Which points are held out: those that have any of these.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct HoldOutRule {
    /// Gaps \[mm\].
    pub gap_mm: Vec<f64>,
    /// Pressing times \[s\].
    pub press_s: Vec<f64>,
    pub groups: Vec<String>,
}

/// Keys of a case besides the sections of single tests.
pub(in crate::fit) const TOP: [&str; 11] = [
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
pub(in crate::fit) const SOURCE: [&str; 4] = ["file", "fabric", "direction", "group"];
pub(in crate::fit) const HOLD_OUT: [&str; 3] = ["gap_mm", "press_s", "groups"];

/// More would be waste.
pub(in crate::fit) const MOST_STARTS: f64 = 4096.0;
/// As in material files.
pub(in crate::fit) const MOST_BRANCHES: f64 = 8.0;

impl Case {
    pub(crate) fn build_law(&self) -> std::sync::Arc<dyn Law> {
        let (branches, population) = (self.relaxation_branches, self.has_population());
        self.law.law_of(Timer::Authors, branches, population)
    }

    /// Takes another law, by its name in files, which stands at a place, and leaves out what the case says of parameters that it does not have.
    pub(crate) fn set_law(&mut self, place: &str, name: &str) -> Result<()> {
        self.law = LawName::find(place, name)?;
        let known = self.build_law().parameters().into_iter();
        let known: Vec<String> = known.map(|p| p.name).collect();
        self.parameters.retain(|(n, _)| known.contains(n));
        Ok(())
    }

    /// Whether yarns may differ: a spread is looked for, or fixed above zero.
    pub fn has_population(&self) -> bool {
        let role = |spread: &Parameter| self.role(&spread.name);
        let mut roles = parameter::spreads()
            .into_iter()
            .filter_map(|s| role(&s).cloned());
        self.law == LawName::TimeDependent
            && roles.any(|role| !matches!(role, Role::Fixed { value, .. } if value == 0.0))
    }

    /// The case with a law that the fused roll-out computes: without branches and with equal yarns. None where the law
    /// is such a one, or becomes none in this way.
    pub fn with_fused_law(&self) -> Option<Case> {
        if self.build_law().has_fused_form() {
            return None;
        }
        let mut case = Case {
            relaxation_branches: 0,
            ..self.clone()
        };
        let spreads = parameter::spreads();
        case.parameters
            .retain(|(name, _)| spreads.iter().all(|s| s.name != *name));
        let law = case.build_law();
        let known = law.parameters();
        case.parameters
            .retain(|(name, _)| known.iter().any(|p| p.name == *name));
        law.has_fused_form().then_some(case)
    }

    /// What is done with a parameter, where the case says so.
    pub fn role(&self, name: &str) -> Option<&Role> {
        self.parameters
            .iter()
            .find(|(n, _)| n == name)
            .map(|(_, r)| r)
    }

    /// What is done with the law's parameter of a role, where the case says so.
    pub fn done_with(&self, role: ParameterRole) -> Option<&Role> {
        let parameters = self.build_law().parameters();
        self.role(&parameters.iter().find(|p| p.role == role)?.name)
    }

    /// The file's contents.
    pub fn to_json(&self) -> Value {
        let role = |(name, role): &(String, Role)| (name.clone(), role.to_json());
        let parameters: Map<String, Value> = self.parameters.iter().map(role).collect();
        let source = |s: &DataSource| {
            present([json!({
                "file": s.file,
                "fabric": s.fabric,
                "direction": s.direction,
                "group": s.group,
            })])
        };
        let mut case = json!({
            "name": self.name,
            "notes": self.notes,
            "data": self.data.iter().map(source).collect::<Vec<_>>(),
            "law": self.law.name(),
            "relaxation_branches": self.relaxation_branches,
            "parameters": parameters,
            "tests": {},
            "loss": self.loss.name(),
            "starts": self.starts,
            "seed": self.seed,
            "hold_out": {
                "gap_mm": self.hold_out.gap_mm,
                "press_s": self.hold_out.press_s,
                "groups": self.hold_out.groups,
            },
        });
        self.tests.write(&mut case);
        case
    }
}

impl Role {
    fn to_json(&self) -> Value {
        match self {
            Role::Fixed { value, why } => json!({ "fixed": value, "why": why }),
            Role::Tied { to, ratio } => json!({ "tied_to": to, "ratio": ratio }),
            Role::Free(free) => present([json!({
                "start": free.start,
                "bounds": free.bounds.map(|(low, high)| [low, high]),
                "transform": free.transform.map(|t| t.name()),
                "prior": free.prior.map(|(mean, sd)| json!({ "mean": mean, "sd": sd })),
                "scope": free.local.map(|local| if local { "local" } else { "shared" }),
            })]),
        }
    }
}
