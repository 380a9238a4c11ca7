//! Laboratory tests of many parameter sets at once: what a fit compares with the data.

mod hinges;

use std::sync::Arc;

pub(super) use hinges::HingeBlock;

use super::{Condition, Specimen, TESTS, TestSettings, TwistTest};
use crate::{
    error::Result,
    material::{Dimension, Law, ReadyMaterial},
    numeric::{Compute, Gate},
};

/// How finely the tests are simulated.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Resolution {
    /// Hinges along a fold.
    pub hinges: usize,
    /// Width of the smoothstep gate as a share of the largest curvature of a test; none for the hard law.
    pub width: Option<f64>,
    /// Whether angles are those of whole folds under the hard law, where the law has a closed form. Otherwise, and where
    /// it has none, they are sums over the hinges.
    pub whole_folds: bool,
    /// Whether meshes are simulated where the settings ask for them. Without them hinges stand in for strips, and
    /// torques are left out.
    pub meshes: bool,
    /// How tests are simulated.
    pub settings: TestSettings,
}

impl Resolution {
    /// The hard law with so many hinges that the fold's cut does not show, and the meshes that the settings ask for.
    pub(crate) fn hard(settings: &TestSettings) -> Resolution {
        Resolution {
            hinges: 4096,
            width: None,
            whole_folds: true,
            meshes: true,
            settings: *settings,
        }
    }

    /// Cells along the fold where angles are those of a strip mesh under the hard law.
    pub(super) fn strip_cells(&self) -> Option<usize> {
        let meshes = self.meshes && self.settings.specimen == Specimen::StripMesh;
        meshes.then_some(self.settings.strip_cells)
    }

    /// The cylinder that torques are read at.
    pub(super) fn twist(&self) -> Option<TwistTest> {
        self.settings.twist.filter(|_| self.meshes)
    }

    /// The gate of hinges.
    pub(crate) fn gate(&self) -> Gate {
        self.width
            .map_or(Gate::Hard, |width| Gate::Smoothstep { width })
    }
}

/// What a test prepares its conditions from.
pub(crate) struct TestSetup<'a> {
    /// Where it is computed.
    pub compute: &'a Compute,
    /// The law.
    pub law: &'a Arc<dyn Law>,
    /// How finely.
    pub resolution: Resolution,
    /// Conditions of all tests, each with the number of its group.
    pub conditions: &'a [(usize, Condition)],
}

/// Parameter sets whose readings are asked for.
pub(crate) struct Request<'a> {
    /// Where it is computed.
    pub compute: &'a Compute,
    /// The law.
    pub law: &'a Arc<dyn Law>,
    /// Which parameters are strains.
    pub strains: &'a [bool],
    /// `sets[s][group]` are the parameters of a group in set s.
    pub sets: &'a [Vec<Vec<f64>>],
    /// Parameters of which slopes are wanted where each costs a run; none where no slopes are wanted.
    pub sought: Option<&'a [usize]>,
}

impl Request<'_> {
    /// Parameters with strains in units of `scale`.
    pub(crate) fn scaled(&self, values: &[f64], scale: f64) -> Vec<f64> {
        let pairs = values.iter().zip(self.strains);
        pairs
            .map(|(v, strain)| if *strain { v / scale } else { *v })
            .collect()
    }
}

/// Some conditions of one test, ready to be simulated.
pub(crate) trait PreparedTest: Send + Sync {
    /// Puts readings, and slopes where they are wanted, into the results of every set. A reading that cannot be
    /// simulated is NaN, which a search takes as a wall.
    fn read(&self, request: &Request, results: &mut [Readings]) -> Result<()>;
}

/// Readings of one parameter set.
#[derive(Debug, Clone, PartialEq)]
pub struct Readings {
    /// One a condition or point, in its unit: degrees for recovery angles, metres for overhangs.
    pub values: Vec<f64>,
    /// ∂reading/∂parameter of the condition's fabric, row-major `[conditions, parameters]`; empty where
    /// it was not asked for.
    pub slopes: Vec<f64>,
}

/// A list of conditions of any tests, ready to be simulated.
///
/// # Examples
///
/// A recovery angle and an overhang of one fabric, with their derivatives by the parameters of the law:
///
/// ```
/// use rumple::{
///     laboratory::{CantileverPoint, CreasePoint, TestSettings, Tests},
///     material::ReadyMaterial,
///     numeric::{Compute, Precision},
/// };
///
/// # fn main() -> rumple::error::Result<()> {
/// let compute = Compute::cpu(Precision::F64);
/// let cotton = ReadyMaterial::hard("cotton broad")?;
/// let fold = CreasePoint { gap: 1e-3, press: 60.0, read: 300.0 };
/// let strip = CantileverPoint { angle: 41.5_f64.to_radians(), density: 0.124 };
/// let conditions = [(0, fold.into()), (0, strip.into())];
/// let tests = Tests::new(&compute, &cotton, &TestSettings::default(), &conditions)?;
/// let readings = &tests.run(&compute, &[vec![cotton.values.clone()]], true)?[0];
/// assert!((0.0..180.0).contains(&readings.values[0])); // degrees
/// assert!((0.01..0.2).contains(&readings.values[1])); // metres
/// // A row of slopes for each reading. A stiffer fabric hangs further over the edge.
/// assert!(readings.slopes[cotton.values.len()] > 0.0);
/// # Ok(())
/// # }
/// ```
pub struct Tests {
    law: Arc<dyn Law>,
    /// Which parameters are strains.
    strains: Vec<bool>,
    /// Which group's parameters each condition has.
    groups: Vec<usize>,
    prepared: Vec<Box<dyn PreparedTest>>,
    /// Which conditions are not simulated.
    left_out: Vec<bool>,
    /// Parameters of which slopes are needed where each costs a run.
    sought: Vec<usize>,
}

impl Tests {
    /// Prepares conditions, each with the number of its group. All groups have the law of `material`, each its own
    /// parameters. Readings are those of the hard law, whatever the gate of `material`, and of the meshes that `settings`
    /// ask for.
    pub fn new(
        compute: &Compute,
        material: &ReadyMaterial,
        settings: &TestSettings,
        conditions: &[(usize, Condition)],
    ) -> Result<Tests> {
        let law = material.law.clone();
        Tests::resolved(compute, law, Resolution::hard(settings), conditions)
    }

    /// The same with a given resolution.
    pub(crate) fn resolved(
        compute: &Compute,
        law: Arc<dyn Law>,
        resolution: Resolution,
        conditions: &[(usize, Condition)],
    ) -> Result<Tests> {
        let setup = TestSetup {
            compute,
            law: &law,
            resolution,
            conditions,
        };
        let mut prepared = Vec::new();
        for test in TESTS {
            prepared.extend(test.prepare(&setup)?);
        }
        let is_strain = |p: &crate::material::Parameter| p.dimension == Dimension::Strain;
        Ok(Tests {
            strains: law.parameters().iter().map(is_strain).collect(),
            groups: conditions.iter().map(|(group, _)| *group).collect(),
            sought: (0..law.parameters().len()).collect(),
            left_out: conditions
                .iter()
                .map(|(_, c)| c.test.is_left_out(&setup))
                .collect(),
            law,
            prepared,
        })
    }

    /// The same where only these parameters of the law are looked for.
    pub(crate) fn seeking(self, sought: Vec<usize>) -> Tests {
        Tests { sought, ..self }
    }

    /// Whether a condition is not simulated.
    pub(crate) fn leaves_out(&self, condition: usize) -> bool {
        self.left_out[condition]
    }

    /// The group of every condition.
    pub(crate) fn groups(&self) -> &[usize] {
        &self.groups
    }

    /// Readings of many parameter sets; `sets[s][group]` are the parameters of a group in set s.
    pub fn run(
        &self,
        compute: &Compute,
        sets: &[Vec<Vec<f64>>],
        with_slopes: bool,
    ) -> Result<Vec<Readings>> {
        let count = self.groups.len();
        let slopes = if with_slopes {
            count * self.strains.len()
        } else {
            0
        };
        let empty = Readings {
            values: vec![f64::NAN; count],
            slopes: vec![0.0; slopes],
        };
        let mut results = vec![empty; sets.len()];
        let request = Request {
            compute,
            law: &self.law,
            strains: &self.strains,
            sets,
            sought: with_slopes.then_some(self.sought.as_slice()),
        };
        for prepared in &self.prepared {
            prepared.read(&request, &mut results)?;
        }
        Ok(results)
    }
}

/// The readings of a run, or as many NaN where the run itself failed at these parameters (a step diverged or its
/// linear solve did not converge): the search takes them as a wall and turns back. Any other error is handed on,
/// since it would come at every point of the search.
pub(super) fn or_wall(read: Result<Vec<f64>>, count: usize) -> Result<Vec<f64>> {
    match read {
        Err(error) if error.is_failed_run() => Ok(vec![f64::NAN; count]),
        other => other,
    }
}
