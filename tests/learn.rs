//! Bodies, skinning, metrics and the reference simulation of paper 2's curriculum.

mod common;

use common::cpu;
use rumple::{
    element::Vector,
    learn::{
        Body, Garment, Imperfection, Loss, LossConfig, Materials, Motion, Plasticity, Rule, Scene,
        Track,
        metrics::{Metrics, compare, most_creased},
        reference::{Accuracy, Outcome, simulate},
    },
    numeric::Field,
};

fn row(values: &[f64]) -> Field {
    cpu().tensor(values, [1, values.len()])
}

fn points(list: &[[f64; 3]]) -> Vector {
    let part = |axis: usize| row(&list.iter().map(|p| p[axis]).collect::<Vec<_>>());
    Vector {
        x: part(0),
        y: part(1),
        z: part(2),
    }
}

/// The body in one pose, as a function from points to distances and slopes.
fn distances(scene: &Scene, frame: usize, list: &[[f64; 3]]) -> (Vec<f64>, Vec<[f64; 3]>) {
    let motion = Motion::canonical(&scene.body);
    let poses = scene.poses(&motion, frame..frame + 1).unwrap();
    let distance = scene.posed(&poses, &cpu()).distance(&points(list));
    let read = |f: Field| cpu().values(f).unwrap();
    let [x, y, z] = [distance.slope.x, distance.slope.y, distance.slope.z].map(read);
    let slopes = (0..list.len()).map(|n| [x[n], y[n], z[n]]).collect();
    (read(distance.value), slopes)
}

#[test]
fn the_arm_is_two_capsules_that_bend_at_the_elbow() {
    let scene = Scene::arm(1).unwrap();
    let near = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-9);
    let (straight, _) = distances(
        &scene,
        0,
        &[[0.1, 0.0, -0.1], [0.0, 0.02, -0.4], [0.0, 0.0, -0.6]],
    );
    assert!(near(&straight, &[0.055, -0.025, 0.055]), "{straight:?}");
    // At 90° the forearm runs along −y from the elbow.
    let (bent, slopes) = distances(
        &scene,
        40,
        &[[0.0, -0.2, -0.12], [0.0, -0.2, -0.24], [0.0, 0.3, -0.22]],
    );
    assert!(near(&bent, &[0.055, -0.025, 0.255]), "{bent:?}");
    assert!(
        near(&slopes[0], &[0.0, 0.0, 1.0]) && near(&slopes[2], &[0.0, 1.0, 0.0]),
        "{slopes:?}"
    );
}

#[test]
fn the_torso_has_an_elliptic_section_and_slopes_are_those_of_the_distance() {
    let scene = Scene::torso(1).unwrap();
    let angle = |n: usize| 0.3 + n as f64;
    let surface: Vec<[f64; 3]> = (0..6)
        .map(|n| [0.15 * angle(n).cos(), 0.10 * angle(n).sin(), 0.1])
        .collect();
    let (zero, _) = distances(&scene, 0, &surface);
    assert!(zero.iter().all(|d| d.abs() < 1e-12), "{zero:?}");
    for frame in [0, 40] {
        let probes = [
            [0.17, 0.05, 0.1],
            [-0.05, -0.16, 0.3],
            [0.08, 0.03, 0.2],
            [0.1, 0.1, 0.7],
        ];
        let (_, slopes) = distances(&scene, frame, &probes);
        for (probe, slope) in probes.iter().zip(slopes) {
            for axis in 0..3 {
                let moved = |by: f64| {
                    let mut moved = *probe;
                    moved[axis] += by;
                    distances(&scene, frame, &[moved]).0[0]
                };
                let difference = (moved(1e-6) - moved(-1e-6)) / 2e-6;
                assert!(
                    (difference - slope[axis]).abs() < 1e-7,
                    "{frame} {probe:?} {axis}: {difference} {slope:?}"
                );
            }
            assert!(
                slope.iter().map(|s| s * s).sum::<f64>() > 0.3,
                "it has a direction"
            );
        }
    }
}

#[test]
fn skinning_goes_with_the_bones_and_offsets_turn_with_them() {
    let scene = Scene::arm(1).unwrap();
    let motion = Motion::canonical(&scene.body);
    let poses = scene.poses(&motion, 0..41).unwrap();
    let skinned = scene.skinned(&poses[40..41], &cpu());
    let plain = cpu().values(skinned.plain()).unwrap();
    let count = scene.garment.mesh.positions.len();
    let at = |rows: &[f64], v: usize| [rows[v], rows[count + v], rows[2 * count + v]];
    // The last ring is on the forearm, the first on the upper arm.
    for v in [0, count - 1] {
        let joint = usize::from(v > 0);
        let expected = poses[40][joint].apply(scene.garment.mesh.positions[v]);
        let gap = (0..3)
            .map(|a| (at(&plain, v)[a] - expected[a]).abs())
            .fold(0.0, f64::max);
        assert!(gap < 1e-14);
    }
    let zero = row(&vec![0.0; count]);
    let down = Vector {
        x: zero.clone(),
        y: zero.clone(),
        z: zero - 0.01,
    };
    let moved = cpu().values(skinned.offset(&down)).unwrap();
    let [dx, dy, dz] = [0, 1, 2].map(|a| at(&moved, count - 1)[a] - at(&plain, count - 1)[a]);
    assert!(
        dx.abs() < 1e-14 && (dy + 0.01).abs() < 1e-14 && dz.abs() < 1e-14,
        "down the forearm is −y"
    );
}

/// A sleeve of a few vertices, and a still motion for it.
fn tiny() -> (Scene, Motion) {
    let body = Body::arm();
    let waves = Imperfection::seeded(1);
    let place = |[x, y, z]: [f64; 3]| [y, -z, -x];
    let garment = Garment::tube("tiny", &body, waves, [0.06, 0.1], [6, 3], place).unwrap();
    let motion = Motion::still(&body, 4);
    (Scene { body, garment }, motion)
}

fn still_track(scene: &Scene) -> Track {
    let positions = &scene.garment.mesh.positions;
    let rows: Vec<f64> = (0..3)
        .flat_map(|a| positions.iter().map(move |p| p[a]))
        .collect();
    let hinges = scene.garment.topology.hinges.len();
    Track {
        positions: vec![rows; 4],
        strain: vec![vec![0.0; hinges]; 4],
        plastic: vec![vec![0.0; hinges]; 4],
    }
}

#[test]
fn metrics_of_cases_made_by_hand() {
    let (scene, motion) = tiny();
    let materials = Materials::default();
    let compared = |a: &Track, b: &Track| {
        let creased = most_creased(&[b]);
        compare(&scene, &motion, a, b, &creased, materials, &cpu()).unwrap()
    };
    let reference = still_track(&scene);
    let same = compared(&reference, &reference);
    let zero = Metrics {
        gravity_energy: same.gravity_energy,
        ..Metrics::default()
    };
    for ((name, _, a), (_, _, b)) in same.named().into_iter().zip(zero.named()) {
        // A garment as sewn has strains of rounding.
        assert!((a - b).abs() < 1e-20, "{name} {a}");
    }

    // One hinge in the reference is creased by 1 rad in the last two frames, its strain 0.6 in the prediction.
    let hinges = reference.strain[0].len();
    let creased = 5;
    let mut true_track = reference.clone();
    let mut guess = reference.clone();
    for frame in 2..4 {
        true_track.plastic[frame][creased] = -1.0;
        true_track.strain[frame][creased] = -0.9;
        guess.strain[frame][creased] = -0.6;
    }
    assert_eq!(most_creased(&[&true_track]), [creased]);
    let metrics = compared(&guess, &true_track);
    let near = |a: f64, b: f64| (a - b).abs() < 1e-12;
    assert!(near(metrics.bending_distribution, 0.3 * 2.0 / 4.0));
    assert!(near(metrics.bending_error, 0.3 * 2.0 / (4 * hinges) as f64));
    assert!(near(metrics.plastic_error, 2.0 / (4 * hinges) as f64));
    assert!(near(
        metrics.bending_energy,
        3e-3 * 2.0 * 0.36 / (4 * hinges) as f64
    ));

    // Everything 1 cm along y in one frame: a jump with its inertia there and in the two frames after.
    let mut moved = reference.clone();
    let count = moved.positions[0].len() / 3;
    for y in &mut moved.positions[1][count..2 * count] {
        *y += 0.01;
    }
    let metrics = compared(&moved, &reference);
    assert!(near(metrics.distance, 0.01 / 4.0));
    assert!(metrics.chamfer > 0.0 && metrics.chamfer <= 2.0 * 1e-4 / 4.0 + 1e-15);
    let mass = 0.2 * scene.garment.rest.area();
    let jump = |size: f64| 0.5 * mass * 900.0 * (size * 0.01_f64).powi(2);
    assert!((metrics.inertia_energy - (jump(2.0) + jump(1.0)) / 4.0).abs() < 1e-9);

    // Stretched by 2 % along the arm: 20·A·0.02².
    let mut stretched = reference.clone();
    for z in stretched
        .positions
        .iter_mut()
        .flat_map(|p| &mut p[2 * count..])
    {
        *z *= 1.02;
    }
    let expected = 20.0 * scene.garment.rest.area() * 0.02_f64.powi(2);
    let metrics = compared(&stretched, &reference);
    assert!(
        (metrics.stretch_energy / expected - 1.0).abs() < 0.2,
        "waves stretch a little less"
    );
    let raised = metrics.gravity_energy - same.gravity_energy;
    assert!(raised < 0.0, "lower by being longer");

    // All vertices on the axis are a radius deep.
    let mut inside = reference.clone();
    for xy in inside
        .positions
        .iter_mut()
        .flat_map(|p| &mut p[..2 * count])
    {
        *xy = 1e-4;
    }
    let depth = 0.045 - 1e-4 * 2_f64.sqrt();
    assert!((compared(&inside, &reference).collision - depth).abs() < 1e-9);

    let half = Metrics::mean(&[metrics, same]);
    assert!(near(
        half.stretch_energy,
        0.5 * (metrics.stretch_energy + same.stretch_energy)
    ));
}

// A fold that closes a little further has jumped from 3.1 to −3.1 rad; nothing but rest bending, which does not jump,
// is far away.
#[test]
fn strains_are_compared_the_short_way_round() {
    let (scene, motion) = tiny();
    let materials = Materials::default();
    let mut reference = still_track(&scene);
    let mut guess = reference.clone();
    let hinges = reference.strain[0].len();
    for frame in 0..4 {
        reference.strain[frame][5] = -3.1;
        reference.plastic[frame][5] = -3.1;
        guess.strain[frame][5] = 3.1;
        guess.plastic[frame][5] = -3.1;
        guess.plastic[frame][7] = 6.2;
    }
    let creased = most_creased(&[&reference]);
    let metrics = compare(
        &scene,
        &motion,
        &guess,
        &reference,
        &creased,
        materials,
        &cpu(),
    )
    .unwrap();
    let short = std::f64::consts::TAU - 6.2;
    let near = |a: f64, b: f64| (a - b).abs() < 1e-12;
    assert!(near(metrics.bending_distribution, short), "{metrics:?}");
    let all = hinges as f64;
    assert!(near(metrics.bending_error, short / all), "{metrics:?}");
    assert!(near(metrics.plastic_error, 6.2 / all), "{metrics:?}");
    let energy = materials.bending * 2.0 * short * short / all;
    assert!(near(metrics.bending_energy, energy), "{metrics:?}");
}

#[test]
fn the_most_creased_hinges_are_those_of_all_references_and_never_unbent_ones() {
    let (scene, motion) = tiny();
    let still = still_track(&scene);
    let hinges = still.plastic[0].len();
    assert!(most_creased(&[]).is_empty() && most_creased(&[&still]).is_empty());
    let bent = |hinge: usize, frame: usize, by: f64| {
        let mut track = still.clone();
        track.plastic[frame][hinge] = by;
        track
    };
    let (a, b) = (bent(3, 1, 0.2), bent(5, 3, -0.4));
    assert_eq!(most_creased(&[&a, &still, &b]), [5, 3]);
    let mut all = still.clone();
    all.plastic[2] = vec![0.1; hinges];
    let chosen = most_creased(&[&a, &all]);
    assert_eq!(chosen.len(), (0.1 * hinges as f64).round() as usize);
    assert_eq!(chosen[..3], [3, 0, 1]);
    let refused = compare(
        &scene,
        &motion,
        &still,
        &still,
        &[hinges],
        Materials::default(),
        &cpu(),
    );
    let text = refused.unwrap_err().to_string();
    assert!(text.contains(&format!("creased hinge {hinges}")), "{text}");
}

#[test]
fn a_motion_and_a_loss_of_different_steps_are_refused() {
    let (scene, motion) = tiny();
    let track = still_track(&scene);
    let attempt = |seconds: f64| {
        let mut config = LossConfig::default();
        config.materials.seconds = seconds;
        let loss = Loss::new(config).unwrap();
        let (accuracy, plasticity) = (Accuracy::default(), Plasticity::default());
        let mut progress = |_| Ok(());
        let outcome = simulate(
            &scene,
            &motion,
            &loss,
            &plasticity,
            accuracy,
            &cpu(),
            &mut progress,
        );
        let metrics = compare(
            &scene,
            &motion,
            &track,
            &track,
            &[],
            config.materials,
            &cpu(),
        );
        [outcome.map(|_| ()), metrics.map(|_| ())]
    };
    for result in attempt(0.02) {
        let text = result.unwrap_err().to_string();
        for part in [
            "motion still",
            "0.0333",
            "materials.seconds 0.02",
            "set materials.seconds to 0.0333",
            "at 50 frames a second",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
    }
    assert!(attempt(0.0333333333333).iter().all(|r| r.is_ok()));
}

#[test]
fn tracks_of_another_garment_or_motion_are_refused_by_name() {
    let (scene, motion) = tiny();
    let good = still_track(&scene);
    let refusal = |change: &dyn Fn(&mut Track)| {
        let mut bad = good.clone();
        change(&mut bad);
        let materials = Materials::default();
        let result = compare(&scene, &motion, &bad, &good, &[], materials, &cpu());
        result.unwrap_err().to_string()
    };
    let text = refusal(&|t| t.strain.truncate(3));
    assert!(
        text.starts_with("prediction: 3 frames of strains for the 4 frames"),
        "{text}"
    );
    let text = refusal(&|t| t.plastic[1].truncate(3));
    assert!(
        text.starts_with("prediction: frame 1 has 3 numbers of rest bendings"),
        "{text}"
    );
    let text = refusal(&|t| t.positions[2][7] = f64::NAN);
    assert!(
        text.starts_with("prediction: frame 2 has positions that are not finite"),
        "{text}"
    );
}

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
    let outcome = simulate(
        scene,
        motion,
        &loss,
        &plasticity,
        accuracy,
        &cpu(),
        &mut progress,
    )
    .unwrap();
    assert_eq!(frames.len(), motion.frames());
    outcome
}

fn mean(values: &[f64]) -> f64 {
    values.iter().map(|x| x.abs()).sum::<f64>() / values.len() as f64
}

/// Mean of the tenth with the largest |x|.
fn top_tenth(values: &[f64]) -> f64 {
    let mut sizes: Vec<f64> = values.iter().map(|x| x.abs()).collect();
    sizes.sort_by(|a, b| b.total_cmp(a));
    mean(&sizes[..sizes.len() / 10])
}

#[test]
fn wrinkles_stay_after_the_bend_in_the_order_of_the_yield_strain() {
    let scene = small_sleeve();
    let motion = Motion::canonical(&scene.body);
    let last = motion.frames() - 1;
    let outcomes =
        [30.0, 60.0, 90.0].map(|yields| run(&scene, &motion, Plasticity::degrees(yields)));
    let kept = outcomes.each_ref().map(|o| mean(&o.track.plastic[last]));
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
    let (before, after) = (top_tenth(&soft.strain[8]), top_tenth(&soft.strain[last]));
    let unwrinkled = top_tenth(&elastic.track.strain[last]);
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
    assert!(control.unfinished.is_empty());
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
        simulate(
            &scene,
            &motion,
            &loss,
            &plasticity,
            Accuracy::default(),
            &cpu(),
            &mut progress,
        )
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
