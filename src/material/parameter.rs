//! Parameters: name, unit, valid range and the transform that makes a search unconstrained.

mod known;
mod transform;

pub(crate) use known::{
    bending_stiffness, branch_stiffness, branch_time, dwell_time, dwell_time_spread, flow_time,
    flow_time_spread, friction_stiffness, friction_threshold_initial, friction_threshold_saturated,
    friction_threshold_spread, hardening_drop, hardening_stiffness, spreads, yield_strain,
};
pub(crate) use transform::Transform;

use crate::error::{Result, bad_input, readable};

/// How strain is measured, which decides the unit of the thresholds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StrainMeasure {
    /// Curvature \[1/m\], independent of any mesh. The default.
    Curvature,
    /// Dihedral angle \[rad\] of one particular mesh, as paper 1 states its tables.
    Angle,
}

impl StrainMeasure {
    /// The name in material files.
    pub fn name(self) -> &'static str {
        match self {
            StrainMeasure::Curvature => "curvature",
            StrainMeasure::Angle => "angle",
        }
    }

    /// Unit of strain in words.
    pub fn unit(self) -> &'static str {
        match self {
            StrainMeasure::Curvature => "1/m",
            StrainMeasure::Angle => "rad",
        }
    }

    /// Ending of a threshold's key in material files.
    pub fn suffix(self) -> &'static str {
        match self {
            StrainMeasure::Curvature => "_per_m",
            StrainMeasure::Angle => "_rad",
        }
    }
}

/// Physical dimension of a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dimension {
    /// Bending rigidity \[N·m\].
    Stiffness,
    /// A strain in the material's [`StrainMeasure`].
    Strain,
    /// \[s\]
    Time,
    /// Pure number.
    Ratio,
}

impl Dimension {
    /// Unit in words.
    pub(crate) fn unit(self, strain: StrainMeasure) -> &'static str {
        match self {
            Dimension::Stiffness => "N·m",
            Dimension::Strain => strain.unit(),
            Dimension::Time => "s",
            Dimension::Ratio => "1",
        }
    }
}

/// What a parameter does in its law. Code decides by the role, never by the name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParameterRole {
    /// Elastic rigidity.
    BendingStiffness,
    /// Rigidity that friction adds.
    FrictionStiffness,
    /// Strain at which yarns slip right after a slip.
    InitialThreshold,
    /// Strain at which yarns slip after a long rest.
    SaturatedThreshold,
    /// Time over which yarns lock.
    DwellTime,
    /// Strain at which fibres yield.
    YieldStrain,
    /// Hardening of a fresh flow.
    HardeningStiffness,
    /// Share of the hardening that a long flow loses.
    HardeningDrop,
    /// Time over which hardening drops.
    FlowTime,
    /// Spread of the dwell times over the yarns.
    DwellTimeSpread,
    /// Spread of the thresholds over the yarns.
    ThresholdSpread,
    /// Spread of the flow times over the yarns.
    FlowTimeSpread,
    /// Rigidity of a relaxation branch.
    BranchStiffness,
    /// Time of a relaxation branch.
    BranchTime,
}

impl ParameterRole {
    /// Whether the parameter plays a part only where fibres yield.
    pub fn is_plastic(self) -> bool {
        use ParameterRole::*;
        matches!(
            self,
            YieldStrain | HardeningStiffness | HardeningDrop | FlowTime | FlowTimeSpread
        )
    }

    /// Whether it says how much yarns differ. At zero all are alike, as in the papers.
    pub fn is_spread(self) -> bool {
        use ParameterRole::*;
        matches!(self, DwellTimeSpread | ThresholdSpread | FlowTimeSpread)
    }
}

/// Which measurement determines a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DeterminedBy {
    /// Folds that are held for several times. They show the process that is named here.
    Dwells(&'static str),
    /// What is missing depends on which end of its interval the data leave open.
    Ends {
        /// What to measure where the data give no upper end.
        open_above: &'static str,
        /// What to measure where only the lower end is missing.
        open_below: &'static str,
    },
    /// The test that is named here.
    Test(&'static str),
}

/// One parameter of a law.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Parameter {
    /// The name everywhere: files, reports, code.
    pub name: String,
    /// What it does in the law.
    pub role: ParameterRole,
    /// The papers' symbol, for the eye.
    pub symbol: &'static str,
    /// Decides the unit.
    pub dimension: Dimension,
    /// Smallest valid value, included.
    pub low: f64,
    /// Largest valid value, included.
    pub high: f64,
    /// For unconstrained searches.
    pub transform: Transform,
    /// What it does, in a sentence.
    pub meaning: &'static str,
}

impl Parameter {
    /// Refuses a value outside the range, naming field, value and range. `field` is how the user
    /// wrote the name, `place` the file.
    pub(crate) fn check(
        &self,
        place: &str,
        field: &str,
        value: f64,
        strain: StrainMeasure,
    ) -> Result<()> {
        if value.is_finite() && (self.low..=self.high).contains(&value) {
            return Ok(());
        }
        let unit = match self.dimension {
            Dimension::Ratio => String::new(),
            other => format!(" {}", other.unit(strain)),
        };
        bad_input(format!(
            "{place}: {field} = {} is outside [{}, {}]{unit}; {} ({}) is {}",
            readable(value),
            readable(self.low),
            readable(self.high),
            self.name,
            self.symbol,
            self.meaning
        ))
    }
}
