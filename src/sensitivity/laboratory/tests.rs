use super::*;
use crate::{
    fit::data::DataFile,
    numeric::Precision,
    sensitivity::{model::Model, sample::even},
};

const CASE: &str = include_str!("../../../fits/levison_cotton/case.json");
const DATA: &str = include_str!("../../../data/levison_like_cotton.csv");

fn shipped(hinges: usize) -> (Case, Dataset) {
    let mut case = Case::parse(CASE, "case").unwrap();
    case.tests.hinges = Some(hinges);
    let file = DataFile::parse(DATA, "data").unwrap();
    let data = Dataset::gather(&case, &[(&case.data[0], file)]).unwrap();
    (case, data)
}

fn points(model: &Laboratory, count: usize) -> Vec<Vec<f64>> {
    let units = even(model.factors().len(), count, 1).unwrap();
    let point = |unit: Vec<f64>| {
        let pairs = unit.into_iter().zip(model.factors());
        pairs.map(|(u, f)| f.distribution.quantile(u)).collect()
    };
    units.into_iter().map(point).collect()
}

// Slopes of every output over every factor are those of central differences, at several points.
#[test]
fn slopes_are_differences() {
    let (case, data) = shipped(256);
    let model = Laboratory::new(
        &Compute::cpu(Precision::F64),
        &case,
        &data,
        &RangeWish::default(),
    )
    .unwrap();
    let k = model.factors().len();
    let mut compared = 0;
    for point in points(&model, 8) {
        let at = model
            .run(std::slice::from_ref(&point), true)
            .unwrap()
            .remove(0);
        let largest = |j: usize| {
            let rows = at.slopes.chunks_exact(k);
            rows.map(|row| (row[j] * point[j]).abs())
                .fold(0.0, f64::max)
        };
        for j in 0..k {
            // Second differences of a C1 function: a step of 1e-5 leaves about that share of the largest slope.
            let step = 1e-6 * point[j];
            let moved = |sign: f64| {
                let mut moved = point.clone();
                moved[j] += sign * step;
                model.run(&[moved], false).unwrap().remove(0).values
            };
            let (up, down) = (moved(1.0), moved(-1.0));
            for (i, row) in at.slopes.chunks_exact(k).enumerate() {
                let difference = (up[i] - down[i]) / (2.0 * step);
                let error = (difference - row[j]).abs() * point[j];
                assert!(
                    error < 1e-4 * largest(j) + 1e-5,
                    "{} by {}: {} against {difference}",
                    model.outputs()[i].name,
                    model.factors()[j].name,
                    row[j]
                );
                compared += usize::from(row[j] != 0.0);
            }
        }
    }
    assert!(compared > 1000, "{compared} slopes that are not zero");
}

// The result of a run is the same, bit for bit, whatever other runs are in its batch, so tasks may be cut anywhere.
#[test]
fn a_run_does_not_depend_on_its_company() {
    let (case, data) = shipped(64);
    let model = Laboratory::new(
        &Compute::cpu(Precision::F64),
        &case,
        &data,
        &RangeWish::default(),
    )
    .unwrap();
    let points = points(&model, 7);
    let together = model.run(&points, true).unwrap();
    for (point, expected) in points.iter().zip(&together) {
        let alone = model
            .run(std::slice::from_ref(point), true)
            .unwrap()
            .remove(0);
        assert_eq!(alone.values, expected.values);
        assert_eq!(alone.slopes, expected.slopes);
        assert_eq!(alone.regimes, expected.regimes);
    }
    assert!(
        together[0]
            .regimes
            .iter()
            .any(|s| s.slips > 0.0 || s.yields > 0.0)
    );
}
