//! Parameters: name, unit, valid range and the transform that makes a search unconstrained.

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
pub enum Dimension {
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
    pub fn unit(self, strain: StrainMeasure) -> &'static str {
        match self {
            Dimension::Stiffness => "N·m",
            Dimension::Strain => strain.unit(),
            Dimension::Time => "s",
            Dimension::Ratio => "1",
        }
    }
}

/// A map between a parameter's range and all real numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Transform {
    /// value = exp(free): positive values.
    Log,
    /// value = low + (high − low)/(1 + exp(−free)): values inside an interval.
    Logit {
        /// Lower end.
        low: f64,
        /// Upper end.
        high: f64,
    },
    /// value = low + (high − low)·free/4: a step of one is a quarter of the interval.
    Linear {
        /// Lower end.
        low: f64,
        /// Upper end.
        high: f64,
    },
    /// value = lower + exp(free), where `lower` is another parameter of the same law: the pair
    /// stays ordered whatever the search does.
    Above(&'static str),
}

impl Transform {
    /// From a value to the free variable. `lower` is the value of the other parameter of
    /// [`Transform::Above`] and is not used otherwise.
    pub fn to_free(self, value: f64, lower: f64) -> f64 {
        match self {
            Transform::Log => value.ln(),
            Transform::Logit { low, high } => ((value - low) / (high - value)).ln(),
            Transform::Linear { low, high } => 4.0 * (value - low) / (high - low),
            Transform::Above(_) => (value - lower).ln(),
        }
    }

    /// From the free variable to a value; the inverse of [`Transform::to_free`].
    pub fn to_value(self, free: f64, lower: f64) -> f64 {
        match self {
            Transform::Log => free.exp(),
            Transform::Logit { low, high } => low + (high - low) / (1.0 + (-free).exp()),
            Transform::Linear { low, high } => low + 0.25 * (high - low) * free,
            Transform::Above(_) => lower + free.exp(),
        }
    }

    /// ∂value/∂free.
    pub fn slope(self, free: f64) -> f64 {
        match self {
            Transform::Log | Transform::Above(_) => free.exp(),
            Transform::Logit { low, high } => {
                let s = 1.0 / (1.0 + (-free).exp());
                (high - low) * s * (1.0 - s)
            }
            Transform::Linear { low, high } => 0.25 * (high - low),
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
            YieldStrain | HardeningStiffness | HardeningDrop | FlowTime
        )
    }
}

/// Which measurement determines a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeterminedBy {
    /// Folds that are held for several times. They show the process that is named here.
    Dwells(&'static str),
    /// Folds that slip after a long dwell.
    Slips {
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
pub struct Parameter {
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
    pub fn check(&self, place: &str, field: &str, value: f64, strain: StrainMeasure) -> Result<()> {
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

/// Range of strains: ten micrometres of bending radius is tighter than any fibre bends.
const MAX_STRAIN: f64 = 1e5;
/// \[N·m\] Stiffer than any fabric by far.
const MAX_STIFFNESS: f64 = 10.0;
/// Three thousand years.
const MAX_TIME: f64 = 1e11;

fn parameter(
    (name, role): (&str, ParameterRole),
    symbol: &'static str,
    dimension: Dimension,
    (low, high): (f64, f64),
    transform: Transform,
    meaning: &'static str,
) -> Parameter {
    Parameter {
        name: name.into(),
        role,
        symbol,
        dimension,
        low,
        high,
        transform,
        meaning,
    }
}

/// K_b.
pub(crate) fn bending_stiffness() -> Parameter {
    parameter(
        ("bending_stiffness", ParameterRole::BendingStiffness),
        "K_b",
        Dimension::Stiffness,
        (1e-12, MAX_STIFFNESS),
        Transform::Log,
        "the elastic bending rigidity, comparable with KES B",
    )
}

/// K_friction.
pub(crate) fn friction_stiffness() -> Parameter {
    parameter(
        ("friction_stiffness", ParameterRole::FrictionStiffness),
        "K_friction",
        Dimension::Stiffness,
        (0.0, MAX_STIFFNESS),
        Transform::Log,
        "the bending rigidity that internal friction adds while yarns stick",
    )
}

/// ε_0.
pub(crate) fn friction_threshold_initial() -> Parameter {
    parameter(
        (
            "friction_threshold_initial",
            ParameterRole::InitialThreshold,
        ),
        "ε_0",
        Dimension::Strain,
        (0.0, MAX_STRAIN),
        Transform::Log,
        "the strain at which yarns slip right after the last slip",
    )
}

/// ε_inf.
pub(crate) fn friction_threshold_saturated() -> Parameter {
    parameter(
        (
            "friction_threshold_saturated",
            ParameterRole::SaturatedThreshold,
        ),
        "ε_inf",
        Dimension::Strain,
        (0.0, MAX_STRAIN),
        Transform::Above("friction_threshold_initial"),
        "the strain at which yarns slip after a very long rest, at least ε_0",
    )
}

/// τ_f.
pub(crate) fn dwell_time() -> Parameter {
    parameter(
        ("dwell_time", ParameterRole::DwellTime),
        "τ_f",
        Dimension::Time,
        (1e-9, MAX_TIME),
        Transform::Log,
        "the time over which resting yarns lock",
    )
}

/// ε_Y0.
pub(crate) fn yield_strain() -> Parameter {
    parameter(
        ("yield_strain", ParameterRole::YieldStrain),
        "ε_Y0",
        Dimension::Strain,
        (0.0, MAX_STRAIN),
        Transform::Log,
        "the elastic strain at which fibres start to deform for good",
    )
}

/// K_h0.
pub(crate) fn hardening_stiffness() -> Parameter {
    parameter(
        ("hardening_stiffness", ParameterRole::HardeningStiffness),
        "K_h0",
        Dimension::Stiffness,
        (0.0, MAX_STIFFNESS),
        Transform::Log,
        "the hardening of a fresh plastic flow; only its ratio to K_b counts",
    )
}

/// g.
pub(crate) fn hardening_drop() -> Parameter {
    parameter(
        ("hardening_drop", ParameterRole::HardeningDrop),
        "g",
        Dimension::Ratio,
        (0.0, 1.0),
        Transform::Logit {
            low: 0.0,
            high: 1.0,
        },
        "the share of the hardening that a long flow loses",
    )
}

/// τ_p.
pub(crate) fn flow_time() -> Parameter {
    parameter(
        ("flow_time", ParameterRole::FlowTime),
        "τ_p",
        Dimension::Time,
        (1e-9, MAX_TIME),
        Transform::Log,
        "the time over which hardening drops while a fold is held",
    )
}

/// K_i of relaxation branch `i`, counted from 1.
pub(crate) fn branch_stiffness(i: usize) -> Parameter {
    parameter(
        (
            &format!("branch_{i}_stiffness"),
            ParameterRole::BranchStiffness,
        ),
        "K_i",
        Dimension::Stiffness,
        (0.0, MAX_STIFFNESS),
        Transform::Log,
        "the rigidity of a viscoelastic branch",
    )
}

/// τ_i of relaxation branch `i`, counted from 1.
pub(crate) fn branch_time(i: usize) -> Parameter {
    parameter(
        (&format!("branch_{i}_time"), ParameterRole::BranchTime),
        "τ_i",
        Dimension::Time,
        (1e-9, MAX_TIME),
        Transform::Log,
        "the relaxation time of a viscoelastic branch",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transforms_invert_and_their_slope_is_the_derivative() {
        for (transform, value, lower) in [
            (Transform::Log, 3.0, 0.0),
            (
                Transform::Logit {
                    low: 0.0,
                    high: 1.0,
                },
                0.3,
                0.0,
            ),
            (
                Transform::Linear {
                    low: -1.0,
                    high: 2.0,
                },
                0.3,
                0.0,
            ),
            (Transform::Above("friction_threshold_initial"), 3.0, 1.0),
        ] {
            let free = transform.to_free(value, lower);
            assert!((transform.to_value(free, lower) - value).abs() < 1e-14);
            let step = 1e-6;
            let difference = (transform.to_value(free + step, lower)
                - transform.to_value(free - step, lower))
                / (2.0 * step);
            assert!((difference - transform.slope(free)).abs() < 1e-8);
        }
    }
}
