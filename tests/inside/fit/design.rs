//! What to measure next: information only grows, and the plan beats chance.

use std::ops::ControlFlow;

use crate::inside::common::cpu;
use rumple::{
    fit::{
        case::Case,
        data::DataFile,
        dataset::Dataset,
        defaults::complete,
        design::{Criterion, Design},
        run::{Fit, SearchMethod},
    },
    laboratory::Grid,
    numeric::Random,
    optimize::uncertainty::Uncertainty,
    study::{News, journal::Journal},
};

/// The small case of the program's tests with its data.
fn small() -> (Case, Dataset) {
    let case = Case::parse(include_str!("../../data/small/case.json"), "case").unwrap();
    let file = DataFile::parse(include_str!("../../data/small/data.csv"), "data.csv").unwrap();
    let data = Dataset::gather(&case, &[(&case.data[0], file)]).unwrap();
    (complete(&case, &data).unwrap(), data)
}

/// Runs `check` on the design of the small fit.
fn with_design(check: impl Fn(&Design)) {
    let (case, data) = small();
    let fit = Fit::new(cpu(), &case, &data, SearchMethod::Lm).unwrap();
    let mut journal = Journal::in_memory();
    fit.run(&mut journal, &mut |_: News| ControlFlow::Continue(()))
        .unwrap();
    let optimum = fit.finished(&journal).unwrap();
    let design = Design::new(&fit, &optimum, &Grid::default()).unwrap();
    assert!(design.candidates.len() > 40);
    check(&design);
}

/// log₂ of the volume of the region of uncertainty, up to a constant.
fn volume(knowledge: &Uncertainty) -> f64 {
    let factor = knowledge.covariance.clone().cholesky().unwrap();
    factor.l_dirty().diagonal().iter().map(|d| d.log2()).sum()
}

// No candidate makes any parameter less known, and the bits that are promised are those by which the region
// of uncertainty shrinks, computed from the whole stack of data.
#[test]
fn information_never_decreases() {
    with_design(|design| {
        let now = design.after(&[]);
        let before = design.errors(&now);
        let mut most: f64 = 0.0;
        for candidate in 0..design.candidates.len() {
            let gain = design.gain(&now, candidate);
            let after = design.after(&[candidate]);
            assert!(gain.bits >= 0.0 && (0.0..=1.0).contains(&gain.variance_cut));
            for (b, a) in before.iter().zip(design.errors(&after)) {
                assert!(a <= b * (1.0 + 1e-9), "{b} {a}");
            }
            let shrunk = volume(&now) - volume(&after);
            // The box is in both; rounding of an ill-conditioned inverse is left.
            assert!(
                (gain.bits - shrunk).abs() < 1e-5 * (1.0 + shrunk),
                "{gain:?} {shrunk}"
            );
            most = most.max(gain.bits);
        }
        assert!(most > 0.1, "some candidate teaches something");
    });
}

// Three measurements that were planned for D teach more than any of 300 random sets of three. For A, where greedy
// choice has no bound, at most 1 % of them may be better (seen: one, which leaves 8 % less variance).
#[test]
fn the_plan_beats_chance() {
    with_design(|design| {
        let count = design.candidates.len();
        let mut random = Random(5);
        let mut draw = || (random.uniform() * count as f64) as usize;
        let sets: Vec<[usize; 3]> = (0..300).map(|_| [draw(), draw(), draw()]).collect();
        let start = design.after(&[]);
        let bits = |set: &[usize]| volume(&start) - volume(&design.after(set));
        // What the gain of A is told by, step by step.
        let left = |set: &[usize]| {
            let steps = (0..set.len()).map(|i| design.gain(&design.after(&set[..i]), set[i]));
            steps.map(|gain| 1.0 - gain.variance_cut).product::<f64>()
        };
        let chosen = |criterion| -> Vec<usize> {
            let plan = design.plan(criterion, 3);
            plan.iter().map(|choice| choice.candidate).collect()
        };
        let (d, a) = (chosen(Criterion::D), chosen(Criterion::A));
        let better = |count: usize| count as f64 / sets.len() as f64;
        let by_bits = sets.iter().filter(|set| bits(&set[..]) >= bits(&d)).count();
        let by_variance = sets.iter().filter(|set| left(&set[..]) <= left(&a)).count();
        println!("{by_bits} and {by_variance} random sets are as good");
        assert_eq!(by_bits, 0);
        // Greedy has no bound for A.
        assert!(better(by_variance) <= 0.01, "{by_variance}");
        let mean = |of: &dyn Fn(&[usize]) -> f64| {
            sets.iter().map(|set| of(set)).sum::<f64>() / sets.len() as f64
        };
        assert!(bits(&d) > 1.5 * mean(&bits), "{} {}", bits(&d), mean(&bits));
        assert!(left(&a) < 0.5 * mean(&left), "{} {}", left(&a), mean(&left));
    });
}
