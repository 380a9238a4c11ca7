//! Every parameter that a law may have, with its range.

use super::{Dimension, Parameter, ParameterRole, Transform};

/// Range of strains: ten micrometres of bending radius is tighter than any fibre bends.
const MAX_STRAIN: f64 = 1e5;
/// \[N·m\] Stiffer than any fabric by far.
const MAX_STIFFNESS: f64 = 10.0;
/// With such a spread one yarn in six has a time twenty times as long as the middle one.
const MAX_SPREAD: f64 = 3.0;
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

/// A spread of the logarithm over the yarns of a population. A search takes its logarithm, and comes near zero with a small
/// lower bound.
fn spread(
    (name, role): (&str, ParameterRole),
    symbol: &'static str,
    meaning: &'static str,
) -> Parameter {
    parameter(
        (name, role),
        symbol,
        Dimension::Ratio,
        (0.0, MAX_SPREAD),
        Transform::Log,
        meaning,
    )
}

/// The spreads of a population, in the order of the law.
pub(crate) fn spreads() -> [Parameter; 3] {
    [
        dwell_time_spread(),
        friction_threshold_spread(),
        flow_time_spread(),
    ]
}

/// s_f.
pub(crate) fn dwell_time_spread() -> Parameter {
    spread(
        ("dwell_time_spread", ParameterRole::DwellTimeSpread),
        "s_f",
        "the standard deviation of ln τ_f over the yarns; 0 where all are alike",
    )
}

/// s_ε.
pub(crate) fn friction_threshold_spread() -> Parameter {
    spread(
        ("friction_threshold_spread", ParameterRole::ThresholdSpread),
        "s_ε",
        "the standard deviation of ln ε_0 and ln ε_inf over the yarns; 0 where all are alike",
    )
}

/// s_p.
pub(crate) fn flow_time_spread() -> Parameter {
    spread(
        ("flow_time_spread", ParameterRole::FlowTimeSpread),
        "s_p",
        "the standard deviation of ln τ_p over the yarns; 0 where all are alike",
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
