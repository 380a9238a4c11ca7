//! From what laws are drawn, and how they are measured.

use crate::{
    material::{Law, ParameterRole},
    numeric::Random,
};

/// Gaps of the folds \[mm\].
pub(super) const GAPS_MM: [f64; 4] = [0.4, 0.8, 1.6, 3.2];
/// Time from the release to the reading \[s\].
pub(super) const READ: f64 = 300.0;

/// Pressing times \[s\]: eleven from 1 to 10⁵, two a decade.
pub(super) fn presses() -> [f64; 11] {
    std::array::from_fn(|k| 10f64.powf(0.5 * k as f64))
}

/// What is known of a parameter before it is drawn; stiffnesses are in bending stiffnesses.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Prior {
    Fixed(f64),
    Uniform(f64, f64),
    /// Uniform in the logarithm.
    Log(f64, f64),
}

impl Prior {
    /// Of the parameter with a role. The strains are those that folds of [`GAPS_MM`] reach.
    pub(super) fn of(role: ParameterRole) -> Prior {
        use ParameterRole::*;
        match role {
            BendingStiffness => Prior::Fixed(1.0),
            FrictionStiffness | HardeningStiffness => Prior::Log(0.3, 3.0),
            InitialThreshold => Prior::Log(10.0, 80.0),
            SaturatedThreshold | YieldStrain => Prior::Log(400.0, 1500.0),
            HardeningDrop => Prior::Uniform(0.5, 0.99),
            DwellTime => Prior::Log(5.0, 1000.0),
            FlowTime => Prior::Log(5.0, 2000.0),
            // The law that is drawn has one yarn and no branches.
            DwellTimeSpread | ThresholdSpread | FlowTimeSpread => Prior::Fixed(0.0),
            BranchStiffness => Prior::Fixed(0.0),
            BranchTime => Prior::Fixed(1.0),
        }
    }

    /// A value.
    pub(super) fn draw(self, random: &mut Random) -> f64 {
        match self {
            Prior::Fixed(value) => value,
            Prior::Uniform(low, high) => low + random.uniform() * (high - low),
            Prior::Log(low, high) => low * (high / low).powf(random.uniform()),
        }
    }

    /// A sentence for each parameter of a law.
    pub(super) fn in_words(law: &dyn Law) -> Vec<String> {
        let words = |prior| match prior {
            Prior::Fixed(value) => format!("{value}"),
            Prior::Uniform(low, high) => format!("uniform from {low} to {high}"),
            Prior::Log(low, high) => format!("log-uniform from {low} to {high}"),
        };
        let parameters = law.parameters().into_iter();
        let line =
            |p: crate::material::Parameter| format!("{} {}", p.name, words(Prior::of(p.role)));
        parameters.map(line).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Draws fill their range evenly: a third of them lies in each third of it.
    #[test]
    fn draws_are_even() {
        let mut random = Random(1);
        for prior in [Prior::Log(0.3, 3.0), Prior::Uniform(0.5, 0.99)] {
            let mut thirds = [0; 3];
            for _ in 0..3000 {
                let share = match (prior, prior.draw(&mut random)) {
                    (Prior::Log(low, high), value) => (value / low).ln() / (high / low).ln(),
                    (Prior::Uniform(low, high), value) => (value - low) / (high - low),
                    (Prior::Fixed(_), _) => f64::NAN,
                };
                thirds[(3.0 * share) as usize] += 1;
            }
            // Five standard deviations of 3000 draws.
            assert!(
                thirds.iter().all(|n| (870..1130).contains(n)),
                "{prior:?} {thirds:?}"
            );
        }
    }
}
