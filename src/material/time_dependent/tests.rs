//! The population against the law of one yarn.

use super::*;
use crate::numeric::{Compute, Precision, Random, YieldSide};

const FULL: [f64; 9] = [1.0, 0.8, 0.15, 0.6, 50.0, 0.5, 1.0, 0.6, 300.0];
const HINGES: usize = 40;

fn gates() -> [Gate; 5] {
    let sigmoid = |side| Gate::Sigmoid { gain: 50.0, side };
    [
        Gate::Hard,
        Gate::Smoothstep { width: 0.1 },
        sigmoid(YieldSide::Signed),
        sigmoid(YieldSide::One),
        Gate::StraightThrough { width: 0.1 },
    ]
}

/// Hinges of a law that are bent at random and let go now and then: the strain or the stress after every step.
fn walked(law: TimeDependent, values: &[f64], gate: &Gate, precision: Precision) -> Vec<f64> {
    let compute = Compute::cpu(precision);
    let number = |v: &f64| compute.tensor(&[*v], [1, 1]);
    let parameters: Vec<Field> = values.iter().map(number).collect();
    let mut history = law.start(&parameters, &compute.zeros([1, HINGES]));
    let mut random = Random(9);
    let mut strain = vec![0.0; HINGES];
    let mut seen = Vec::new();
    for step in 0..60 {
        for strain in &mut strain {
            *strain += 1.2 * (random.uniform() - 0.5);
        }
        let dt = compute.tensor(&[10f64.powf(4.0 * random.uniform() - 1.0)], [1, 1]);
        let here = compute.tensor(&strain, [1, HINGES]);
        history = law.update(&parameters, &history, &here, &dt, gate);
        seen.extend(
            compute
                .values(law.stress(&parameters, &history, &here))
                .unwrap(),
        );
        if step % 3 == 2 {
            let (rest, after) = law.release(&parameters, &history, &here, &dt, gate);
            strain = compute.values(rest).unwrap();
            seen.extend(&strain);
            history = law.elapse(&after, 3.0);
        }
    }
    for name in VARIABLES {
        seen.extend(
            compute
                .values(law.variable(&history, name).unwrap())
                .unwrap(),
        );
    }
    seen
}

// Any gate, either timer, with and without branches, in both precisions.
#[test]
fn equal_yarns_are_one_yarn_to_the_last_bit() {
    for timer in [Timer::Authors, Timer::Printed] {
        for (branches, more) in [(0, &[][..]), (2, &[0.3, 20.0, 0.2, 500.0][..])] {
            for gate in gates() {
                for precision in [Precision::F64, Precision::F32] {
                    let law = |population| TimeDependent {
                        timer,
                        branches,
                        population,
                    };
                    let one = [&FULL[..], more].concat();
                    let many = |spreads: [f64; 3]| [&FULL[..], &spreads, more].concat();
                    let yarns = |spreads| walked(law(true), &many(spreads), &gate, precision);
                    let expected = walked(law(false), &one, &gate, precision);
                    assert!(expected.iter().all(|v| v.is_finite()));
                    assert_eq!(yarns([0.0; 3]), expected, "{gate:?} {timer:?}");
                    for k in 0..3 {
                        let mut spreads = [0.0; 3];
                        spreads[k] = 0.3;
                        let apart = yarns(spreads);
                        let apart = apart.iter().zip(&expected).filter(|(a, b)| a != b);
                        assert!(apart.count() > HINGES, "spread {k} does nothing: {gate:?}");
                    }
                }
            }
        }
    }
}

#[test]
fn a_yarn_has_the_parameters_of_its_place() {
    let compute = Compute::cpu(Precision::F64);
    let values = [&FULL[..], &[0.7, 0.3, 0.5]].concat();
    let number = |v: &f64| compute.tensor(&[*v], [1, 1]);
    let parameters: Vec<Field> = values.iter().map(number).collect();
    let law = TimeDependent {
        population: true,
        ..TimeDependent::default()
    };
    let yarns = law.each_yarn(&parameters);
    let of = |y: usize| -> Vec<f64> {
        let each = yarns[y].iter();
        each.map(|p| compute.values(p.clone()).unwrap()[0])
            .collect()
    };
    assert_eq!(of(3), FULL);
    let last = of(6);
    let z = YARNS[6].0;
    for (k, spread) in [(2, 0.3), (3, 0.3), (4, 0.7), (8, 0.5)] {
        assert!((last[k] / (FULL[k] * (spread * z).exp()) - 1.0).abs() < 1e-14);
    }
    assert_eq!(
        [last[0], last[1], last[5], last[6], last[7]],
        [1.0, 0.8, 0.5, 1.0, 0.6]
    );
}

// The places and weights are those of the normal distribution: its moments up to the thirteenth.
#[test]
fn the_yarns_are_normally_distributed() {
    let moment = |power: i32| -> f64 { YARNS.iter().map(|(z, w)| w * z.powi(power)).sum() };
    for (power, expected) in [
        (0, 1.0),
        (2, 1.0),
        (4, 3.0),
        (6, 15.0),
        (8, 105.0),
        (10, 945.0),
        (12, 10395.0),
    ] {
        assert!((moment(power) / expected - 1.0).abs() < 1e-12, "{power}");
        assert!(moment(power + 1).abs() < 1e-9 * expected);
    }
}
