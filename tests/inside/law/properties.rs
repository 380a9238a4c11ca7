//! What must hold for any finite history: seeded random walks over every law.

use crate::inside::common::{Stepper, laws, time_dependent};
use rumple::numeric::{Gate, Random};

const HINGES: usize = 64;

/// Random parameters of the time-dependent law, over several decades.
fn parameters(random: &mut Random) -> [f64; 9] {
    let mut log = |low: f64, high: f64| low * (high / low).powf(random.uniform());
    let initial = log(0.01, 1.0);
    [
        log(1e-6, 10.0),
        log(1e-6, 10.0),
        initial,
        initial * log(1.0, 30.0),
        log(0.1, 1e4),
        log(0.05, 3.0),
        log(1e-6, 10.0),
        log(1e-3, 1.0),
        log(0.1, 1e4),
    ]
}

/// Strains of a walk for all hinges, with rests and jumps.
fn next_strain(random: &mut Random, strain: &mut [f64]) {
    for e in strain {
        match random.uniform() {
            u if u < 0.2 => {}
            u if u < 0.3 => *e = 8.0 * (random.uniform() - 0.5),
            _ => *e += random.uniform() - 0.5,
        }
    }
}

/// State stays finite, the accumulated plastic strain never falls, and friction never holds more than
/// its threshold, whatever is done.
#[test]
fn any_history_keeps_the_state_in_order() {
    let mut random = Random(11);
    for round in 0..40 {
        let values = parameters(&mut random);
        let mut hinge = Stepper::new(time_dependent(), &values, Gate::Hard, HINGES);
        let mut strain = vec![0.0; HINGES];
        let mut accumulated = vec![0.0; HINGES];
        for _ in 0..50 {
            next_strain(&mut random, &mut strain);
            let dt = 10f64.powf(6.0 * random.uniform() - 3.0);
            let stick_time = hinge.read("stick_time");
            let stress = hinge.step(&strain, dt);
            assert!(
                stress.iter().all(|s| s.is_finite()),
                "round {round}: {values:?}"
            );
            let now = hinge.read("accumulated_plastic");
            let anchor = hinge.read("anchor");
            for i in 0..HINGES {
                assert!(now[i] >= accumulated[i] && now[i] >= 0.0);
                let locked = (-stick_time[i] / values[4]).exp();
                let threshold = values[3] - (values[3] - values[2]) * locked;
                let held = (strain[i] - anchor[i]).abs();
                assert!(held <= threshold * (1.0 + 1e-12) + 1e-12 * strain[i].abs());
            }
            accumulated = now;
        }
        assert!(
            accumulated.iter().any(|a| *a > 0.0),
            "round {round} never yielded: {values:?}"
        );
    }
}

/// Every law and gate keeps finite values under violent histories.
#[test]
fn every_law_and_gate_stays_finite() {
    let gates = [
        "hard",
        "smoothstep:0.1",
        "sigmoid:50",
        "straight-through:0.1",
    ];
    for (law, values) in laws() {
        for gate in gates {
            let mut random = Random(7);
            let gate = Gate::parse(gate, 1.0).unwrap();
            let mut hinge = Stepper::new(law.clone(), &values, gate, HINGES);
            let mut strain = vec![0.0; HINGES];
            for _ in 0..60 {
                next_strain(&mut random, &mut strain);
                let stress = hinge.step(&strain, 1e3 * random.uniform());
                assert!(
                    stress.iter().all(|s| s.is_finite()),
                    "{} {gate:?}",
                    law.name()
                );
            }
            assert!(strain.iter().any(|e| *e != 0.0));
        }
    }
}

/// From virgin cloth, closed loops of strain take energy and never give more back than they took.
#[test]
fn closed_loops_dissipate() {
    let loops = |law: std::sync::Arc<dyn rumple::material::Law>, values: &[f64], dt: f64| {
        let mut hinge = Stepper::new(law, values, Gate::Hard, 1);
        let n = 400;
        let mut work = 0.0;
        let mut before = (0.0, 0.0);
        for k in 0..=3 * n {
            let strain = 1.3 * (2.0 * std::f64::consts::PI * k as f64 / n as f64).sin();
            let stress = hinge.step(&[strain], dt)[0];
            work += 0.5 * (stress + before.1) * (strain - before.0);
            before = (strain, stress);
            // Rounding of the trapezoidal rule, in units of the energy of a strain of one.
            assert!(
                k % n > 0 || work >= -1e-9 * values[0],
                "step {k}: {work} given back"
            );
        }
        work
    };
    for (law, values) in laws() {
        let name = law.name();
        loops(law.clone(), &values, 1.0);
        let work = loops(law, &values, 1e-4);
        if name != "elastic" {
            assert!(work > 1e-3, "{name} must dissipate, not {work}");
        }
    }
    let mut random = Random(3);
    for _ in 0..20 {
        let values = parameters(&mut random);
        for dt in [1e-4, 0.1, 10.0] {
            loops(time_dependent(), &values, dt);
        }
    }
}

/// Bending the other way mirrors everything.
#[test]
fn laws_are_odd() {
    for (law, values) in laws() {
        let run = |sign: f64| {
            let mut random = Random(5);
            let mut hinge = Stepper::new(law.clone(), &values, Gate::Hard, 1);
            let mut strain = [0.0];
            (0..40)
                .map(|_| {
                    next_strain(&mut random, &mut strain);
                    sign * hinge.step(&[sign * strain[0]], 2.0)[0]
                })
                .collect::<Vec<f64>>()
        };
        assert_eq!(run(1.0), run(-1.0), "{}", law.name());
    }
}
