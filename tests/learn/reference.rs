//! The reference simulation.

use rumple::learn::{
    Body, Garment, Imperfection, Loss, LossConfig, Motion, Plasticity, Rule, Scene,
    evaluate::{mean_size, top},
    reference::{Accuracy, Outcome, Simulation},
};

use crate::{common::cpu, tiny};

/// A sleeve of 12 by 18 vertices: small enough for a test, fine enough to wrinkle.
fn small_sleeve() -> Scene {
    let body = Body::arm();
    let place = |[x, y, z]: [f64; 3]| [y, -z, -x];
    let waves = Imperfection::seeded(1);
    let garment = Garment::tube("sleeve", &body, waves, [0.06, 0.44], [12, 18], place).unwrap();
    Scene { body, garment }
}

fn run(scene: &Scene, motion: &Motion, plasticity: Plasticity) -> Outcome {
    let loss = Loss::new(LossConfig::default()).unwrap();
    let accuracy = Accuracy::default();
    let mut frames = Vec::new();
    let mut progress = |frame| {
        frames.push(frame);
        Ok(())
    };
    let outcome = Simulation {
        scene,
        motion,
        loss: &loss,
        plasticity: &plasticity,
        accuracy,
        compute: &cpu(),
    }
    .run(&mut progress)
    .unwrap();
    assert_eq!(frames.len(), motion.frames());
    outcome
}

#[test]
fn wrinkles_stay_after_the_bend_in_the_order_of_the_yield_strain() {
    let scene = small_sleeve();
    let motion = Motion::canonical(&scene.body);
    let last = motion.frames() - 1;
    let outcomes =
        [30.0, 60.0, 90.0].map(|yields| run(&scene, &motion, Plasticity::degrees(yields)));
    let kept = outcomes
        .each_ref()
        .map(|o| mean_size(&o.track.plastic[last]));
    assert!(
        kept[0] > 1.2 * kept[1] && kept[1] > 1.2 * kept[2] && kept[2] > 0.0,
        "{kept:?}"
    );

    // Before the bend there are none, and an elastic sleeve has none after it either.
    let soft = &outcomes[0].track;
    assert!(soft.plastic[8].iter().all(|p| *p == 0.0));
    let elastic = run(
        &scene,
        &motion,
        Plasticity {
            yield_strain: 10.0,
            rule: Rule::ReturnMapping,
        },
    );
    let (before, after) = (top(&soft.strain[8], 0.1), top(&soft.strain[last], 0.1));
    let unwrinkled = top(&elastic.track.strain[last], 0.1);
    assert!(
        after > 2.0 * before && after > 2.0 * unwrinkled,
        "{before} {after} {unwrinkled}"
    );
    assert!(elastic.track.plastic.iter().flatten().all(|p| *p == 0.0));

    // The same again has the same bits, into the buckling.
    let mut start = motion.clone();
    start.turns.truncate(26);
    start.root.truncate(26);
    let again = run(&scene, &start, Plasticity::degrees(30.0)).track;
    assert_eq!(again.positions, soft.positions[..26]);
}

#[test]
fn an_unloaded_sleeve_stays_free_of_rest_bending_but_under_the_printed_rule() {
    let scene = small_sleeve();
    let motion = Motion::still(&scene.body, 30);
    let control = run(&scene, &motion, Plasticity::degrees(30.0));
    assert!(control.unfinished == 0);
    assert!(control.track.plastic.iter().flatten().all(|p| *p == 0.0));
    // Inertia is served: a sleeve at rest stays at rest.
    let moved = |frame: usize| {
        let pairs = control.track.positions[frame]
            .iter()
            .zip(&control.track.positions[2]);
        pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
    };
    assert!(moved(29) < 1e-3, "{}", moved(29));
    let printed = Plasticity {
        rule: Rule::Printed { gain: 10.0 },
        ..Plasticity::default()
    };
    let drift = run(&scene, &motion, printed);
    let last = drift.track.plastic.last().unwrap();
    let signed = last.iter().sum::<f64>() / last.len() as f64;
    assert!(signed < -0.1, "{signed}");
}

#[test]
fn a_simulation_can_be_stopped_and_says_what_it_cannot_do() {
    let (scene, motion) = tiny();
    let simulate = |config: LossConfig, stop: bool| {
        let loss = Loss::new(config).unwrap();
        let mut progress = |frame| match stop && frame == 1 {
            true => Err(rumple::error::Error::Interrupted("stopped".into())),
            false => Ok(()),
        };
        let plasticity = Plasticity::default();
        Simulation {
            scene: &scene,
            motion: &motion,
            loss: &loss,
            plasticity: &plasticity,
            accuracy: Accuracy::default(),
            compute: &cpu(),
        }
        .run(&mut progress)
    };
    assert!(simulate(LossConfig::default(), false).is_ok());
    assert_eq!(
        simulate(LossConfig::default(), true)
            .unwrap_err()
            .to_string(),
        "stopped"
    );
    let text = simulate(LossConfig::printed(), false)
        .unwrap_err()
        .to_string();
    assert!(text.contains("default forms"), "{text}");
}
