//! Do the error bars hold? Synthetic data sets are fitted, and the truth is looked for in the intervals.

use crate::fit::{
    case::{Case, HoldOutRule, Role},
    dataset::{DataRow, Dataset, SpreadSource},
    defaults::complete,
    run::{Fit, SearchMethod},
};
use crate::{
    error::Result,
    laboratory::{Condition, CreaseTest, Resolution, TestSettings, Tests},
    material::{LawName, Material, Timer},
    numeric::{Compute, Random},
    optimize::RobustLoss,
    study::{Wish, journal::Journal},
};

/// What is drawn and fitted.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct CoverageTrial {
    /// The truth, in curvature; its bending stiffness is taken as known.
    pub truth: Material,
    /// Gaps \[mm\].
    pub gaps_mm: Vec<f64>,
    /// Pressing times \[s\].
    pub presses: Vec<f64>,
    /// Standard deviation of the noise \[degrees\].
    pub noise_deg: f64,
    /// Starts of each fit.
    pub starts: usize,
    /// Hinges of each fit.
    pub hinges: usize,
    /// Seed.
    pub seed: u64,
}

/// How often the interval of a parameter held the truth.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Covered {
    /// Name of the parameter.
    pub name: String,
    /// Data sets whose 95 % interval holds the truth.
    pub sets: usize,
    /// Data sets whose interval has an open end.
    pub open: usize,
}

impl CoverageTrial {
    /// A case with one known stiffness, and the exact angles of the hard law.
    pub(crate) fn exact(&self, compute: &Compute) -> Result<(Case, Dataset)> {
        let stiffness = self.truth.value("bending_stiffness").unwrap_or(1e-5);
        let case = Case {
            name: format!("synthetic {}", self.truth.name),
            notes: Vec::new(),
            data: Vec::new(),
            law: LawName::TimeDependent,
            relaxation_branches: 0,
            parameters: vec![(
                "bending_stiffness".into(),
                Role::Fixed {
                    value: stiffness,
                    why: "known".into(),
                },
            )],
            tests: TestSettings {
                hinges: Some(self.hinges),
                ..TestSettings::default()
            },
            loss: RobustLoss::Squares,
            starts: self.starts,
            seed: self.seed,
            hold_out: HoldOutRule::default(),
        };
        let metres: Vec<f64> = self.gaps_mm.iter().map(|mm| 1e-3 * mm).collect();
        let points = CreaseTest::grid(&metres, &self.presses, &[case.tests.read_s]);
        let conditions: Vec<(usize, Condition)> =
            points.into_iter().map(|p| (0, p.into())).collect();
        let law = self.truth.build_law(Timer::Authors);
        let hard = Resolution::hard(&TestSettings::default());
        let values = self.truth.values_for(law.as_ref())?;
        let angles = Tests::new(compute, law, hard, &conditions)?
            .run(compute, &[vec![values]], false)?
            .remove(0)
            .values;
        let row = |((_, condition), value): (&(usize, Condition), f64)| DataRow {
            place: "synthetic".into(),
            group: 0,
            condition: *condition,
            value,
            sd: if self.noise_deg > 0.0 {
                self.noise_deg
            } else {
                1.0
            },
            spread: SpreadSource::Stated,
            held_out: false,
        };
        let data = Dataset {
            rows: conditions.iter().zip(angles).map(row).collect(),
            groups: vec![self.truth.name.clone()],
            synthetic: true,
            repeats: Vec::new(),
            files: Vec::new(),
            notes: Vec::new(),
        };
        Ok((complete(&case, &data)?, data))
    }

    /// Draws and fits `sets` data sets; `watch` is told after each.
    pub(crate) fn coverage(
        &self,
        compute: &Compute,
        sets: usize,
        mut watch: impl FnMut(usize),
    ) -> Result<Vec<Covered>> {
        let (case, exact) = self.exact(compute)?;
        let mut list: Vec<Covered> = Vec::new();
        for set in 0..sets {
            let mut random = Random::stream(self.seed, set as u64);
            let mut data = exact.clone();
            for row in &mut data.rows {
                row.value += self.noise_deg * random.normal();
            }
            let fit = Fit::new(compute.clone(), &case, &data, SearchMethod::Lm)?;
            let result = fit.run(&mut Journal::in_memory(), &mut |_| Wish::GoOn)?;
            for p in result.parameters.iter().filter(|p| p.free) {
                let truth = self.truth.value(&p.name).unwrap_or(f64::NAN);
                let [low, high] = p.ci95;
                let inside =
                    low.is_none_or(|low| low <= truth) && high.is_none_or(|high| truth <= high);
                let open = low.is_none() || high.is_none();
                let at = match list.iter().position(|c| c.name == p.name) {
                    Some(at) => at,
                    None => {
                        let name = p.name.clone();
                        list.push(Covered {
                            name,
                            sets: 0,
                            open: 0,
                        });
                        list.len() - 1
                    }
                };
                list[at].sets += usize::from(inside);
                list[at].open += usize::from(open);
            }
            watch(set + 1);
        }
        Ok(list)
    }
}
