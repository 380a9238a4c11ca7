//! The words of material files: laws, keys and where each parameter stands.

use std::sync::Arc;

use super::{
    Dahl, Elastic, HardeningPlastic, Law, Parameter, PerfectPlastic, StrainMeasure, TimeDependent,
    Timer, parameter,
};
use crate::files::words;

/// The laws by the names of material files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LawName {
    /// `TimeDependent`.
    TimeDependent,
    /// `Elastic`.
    Elastic,
    /// `PerfectPlastic`.
    PerfectPlastic,
    /// `HardeningPlastic`.
    HardeningPlastic,
    /// `Dahl`.
    Dahl,
}

words!(LawName {
    TimeDependent = "time_dependent",
    Elastic = "elastic",
    PerfectPlastic = "perfect_plastic",
    HardeningPlastic = "hardening_plastic",
    Dahl = "dahl"
});

impl LawName {
    /// The law itself, with one yarn; `timer` and `branches` concern the time-dependent law only.
    pub(crate) fn law(self, timer: Timer, branches: usize) -> Arc<dyn Law> {
        self.law_of(timer, branches, false)
    }

    /// The law itself, with a population of yarns where `population` says so; only the time-dependent law can have one.
    pub(crate) fn law_of(self, timer: Timer, branches: usize, population: bool) -> Arc<dyn Law> {
        match self {
            LawName::TimeDependent => Arc::new(TimeDependent {
                timer,
                branches,
                population,
            }),
            LawName::Elastic => Arc::new(Elastic),
            LawName::PerfectPlastic => Arc::new(PerfectPlastic),
            LawName::HardeningPlastic => Arc::new(HardeningPlastic),
            LawName::Dahl => Arc::new(Dahl),
        }
    }
}

/// Where a parameter stands in a file: its section (empty for the top level) and its key without the
/// ending that names the unit of strain.
pub(super) struct KeyPlace {
    pub section: &'static str,
    pub key: &'static str,
    pub parameter: fn() -> Parameter,
}

/// The places of all parameters but those of relaxation branches; the spreads last.
pub(super) const PLACES: [KeyPlace; 12] = [
    KeyPlace {
        section: "",
        key: "bending_stiffness_Nm",
        parameter: parameter::bending_stiffness,
    },
    KeyPlace {
        section: "friction",
        key: "stiffness_Nm",
        parameter: parameter::friction_stiffness,
    },
    KeyPlace {
        section: "friction",
        key: "threshold_initial",
        parameter: parameter::friction_threshold_initial,
    },
    KeyPlace {
        section: "friction",
        key: "threshold_saturated",
        parameter: parameter::friction_threshold_saturated,
    },
    KeyPlace {
        section: "friction",
        key: "dwell_time_s",
        parameter: parameter::dwell_time,
    },
    KeyPlace {
        section: "plasticity",
        key: "yield",
        parameter: parameter::yield_strain,
    },
    KeyPlace {
        section: "plasticity",
        key: "hardening_Nm",
        parameter: parameter::hardening_stiffness,
    },
    KeyPlace {
        section: "plasticity",
        key: "hardening_drop",
        parameter: parameter::hardening_drop,
    },
    KeyPlace {
        section: "plasticity",
        key: "flow_time_s",
        parameter: parameter::flow_time,
    },
    KeyPlace {
        section: "friction",
        key: "threshold_spread",
        parameter: parameter::friction_threshold_spread,
    },
    KeyPlace {
        section: "friction",
        key: "time_spread",
        parameter: parameter::dwell_time_spread,
    },
    KeyPlace {
        section: "plasticity",
        key: "time_spread",
        parameter: parameter::flow_time_spread,
    },
];

/// Membrane stiffnesses \[N/m\] in files, for mesh simulations.
pub(super) const MEMBRANE: [&str; 4] = [
    "warp_N_per_m",
    "weft_N_per_m",
    "coupling_N_per_m",
    "shear_N_per_m",
];

/// Keys at the top of a file.
pub(super) const TOP: [&str; 11] = [
    "name",
    "strain",
    "law",
    "bending_stiffness_Nm",
    "friction",
    "plasticity",
    "relaxation",
    "membrane",
    "density_kg_per_m2",
    "notes",
    "sources",
];

/// Most relaxation branches a file may have: more than data ever determined.
pub(super) const MAX_BRANCHES: usize = 8;

impl KeyPlace {
    pub(crate) fn full_key(&self, strain: StrainMeasure) -> String {
        match (self.parameter)().dimension {
            parameter::Dimension::Strain => format!("{}{}", self.key, strain.suffix()),
            _ => self.key.to_string(),
        }
    }
}
