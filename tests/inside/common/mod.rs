//! What several test files share.

pub mod cloth;
pub mod cloth_devices;
pub mod crumpled;
#[path = "../../common/folder.rs"]
pub mod folder;
pub mod golden;
#[path = "../../common/mesh_cases.rs"]
pub mod mesh_cases;
#[path = "../../common/npz.rs"]
pub mod npz;
#[path = "../../common/shipped.rs"]
pub mod shipped;

use std::sync::Arc;

use rumple::{
    material::{Law, TimeDependent},
    numeric::{Compute, Field, Gate, Precision},
    verify::checked_laws,
};

/// Parameters of order one that take every branch, in the order of the time-dependent law.
pub const PARAMETERS: [f64; 9] = [1.0, 0.8, 0.15, 0.6, 50.0, 0.5, 1.0, 0.6, 300.0];

/// f64 on the CPU.
pub fn cpu() -> Compute {
    Compute::cpu(Precision::F64)
}

/// The time-dependent law with the authors' timer.
pub fn time_dependent() -> Arc<dyn Law> {
    Arc::new(TimeDependent::default())
}

/// Every law with parameters of order one.
pub fn laws() -> Vec<(Arc<dyn Law>, Vec<f64>)> {
    let order_one = checked_laws()
        .into_iter()
        .filter(|checked| checked.strain == 1.0);
    order_one
        .map(|checked| (checked.law, checked.values))
        .collect()
}

/// A law with its history, stepped by hand: many hinges at once, one set of parameters.
pub struct Stepper {
    pub law: Arc<dyn Law>,
    pub gate: Gate,
    pub parameters: Vec<Field>,
    pub history: Vec<Field>,
    pub compute: Compute,
    hinges: usize,
}

impl Stepper {
    pub fn new(law: Arc<dyn Law>, values: &[f64], gate: Gate, hinges: usize) -> Self {
        let compute = cpu();
        let parameters: Vec<Field> = values
            .iter()
            .map(|v| compute.tensor(&[*v], [1, 1]))
            .collect();
        let history = law.start(&parameters, &compute.zeros([1, hinges]));
        Stepper {
            law,
            gate,
            parameters,
            history,
            compute,
            hinges,
        }
    }

    /// One update; returns the stresses.
    pub fn step(&mut self, strain: &[f64], dt: f64) -> Vec<f64> {
        let strain = self.compute.tensor(strain, [1, self.hinges]);
        let dt = self.compute.tensor(&[dt], [1, 1]);
        self.history = self
            .law
            .update(&self.parameters, &self.history, &strain, &dt, &self.gate);
        let stress = self.law.stress(&self.parameters, &self.history, &strain);
        self.compute.values(stress).unwrap()
    }

    /// A history variable by its name.
    pub fn read(&self, name: &str) -> Vec<f64> {
        let place = self.law.history().iter().position(|n| n == name).unwrap();
        self.compute.values(self.history[place].clone()).unwrap()
    }

    /// Adds to a history variable, as the reference program's `elapse` does to its timers.
    pub fn add(&mut self, name: &str, amount: f64) {
        let place = self.law.history().iter().position(|n| n == name).unwrap();
        self.history[place] = self.history[place].clone() + amount;
    }
}

/// Largest |a − b| over the larger of |b| and `floor`.
pub fn relative_difference(a: &[f64], b: &[f64], floor: f64) -> f64 {
    assert_eq!(a.len(), b.len());
    let differences = a
        .iter()
        .zip(b)
        .map(|(x, y)| (x - y).abs() / y.abs().max(floor));
    differences.fold(0.0, f64::max)
}
