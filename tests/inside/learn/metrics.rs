//! Metrics of tracks made by hand.

use rumple::learn::{
    BodyScene, GarmentLoss, GarmentMotion, LossConfig, Materials, Plasticity,
    metrics::{Metrics, compare, most_creased},
    reference::{Accuracy, ReferenceSimulation},
};

use super::tiny;
use crate::inside::common::{
    cloth::{cross, dot, sub},
    cpu,
};

fn still_track(scene: &BodyScene) -> GarmentMotion {
    let positions = &scene.garment.mesh.positions;
    let rows: Vec<f64> = (0..3)
        .flat_map(|a| positions.iter().map(move |p| p[a]))
        .collect();
    let hinges = scene.garment.topology.hinges.len();
    GarmentMotion {
        positions: vec![rows; 4],
        strain: vec![vec![0.0; hinges]; 4],
        plastic: vec![vec![0.0; hinges]; 4],
    }
}

/// The track of a garment that a matrix, by rows, has deformed as a whole in all frames.
fn deformed_track(scene: &BodyScene, matrix: [[f64; 3]; 3]) -> GarmentMotion {
    let mut deformed = scene.clone();
    for point in &mut deformed.garment.mesh.positions {
        *point = matrix.map(|row| dot(row, *point));
    }
    still_track(&deformed)
}

/// STE and SHE of such a track \[J\], by hand: every triangle has warp and weft in its own plane, one across the arm and one along
/// it as far as that goes, and the matrix makes two vectors of them.
fn deformed_energies(scene: &BodyScene, matrix: [[f64; 3]; 3]) -> [f64; 2] {
    let unit = |v: [f64; 3]| v.map(|x| x / dot(v, v).sqrt());
    let image = |v: [f64; 3]| matrix.map(|row| dot(row, v));
    let (mut stretch, mut shear) = (0.0, 0.0);
    for (triangle, rest) in scene.garment.rest.triangles.iter().enumerate() {
        let [a, b, c] = scene.garment.mesh.corners(triangle);
        let normal = unit(cross(sub(b, a), sub(c, a)));
        let across = unit(cross(normal, [0.0, 0.0, 1.0]));
        let [u, v] = [across, cross(normal, across)].map(image);
        let beyond = |w: [f64; 3]| (dot(w, w).sqrt() - 1.0).powi(2);
        stretch += 20.0 * rest.area * (beyond(u) + beyond(v));
        shear += 20.0 * rest.area * dot(u, v).powi(2);
    }
    [stretch, shear]
}

#[test]
fn metrics_of_cases_made_by_hand() {
    let (scene, motion) = tiny();
    let materials = Materials::default();
    let compared = |a: &GarmentMotion, b: &GarmentMotion| {
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
    // 9.81·m·z of all vertices, which hang below the shoulder.
    let garment = &scene.garment;
    let heights = garment.mesh.positions.iter().map(|p| p[2]);
    let areas = garment.rest.vertex_area.iter().zip(heights);
    let height = 0.2 * 9.81 * areas.map(|(area, z)| area * z).sum::<f64>();
    assert!(height < -1e-3);
    assert!((same.gravity_energy / height - 1.0).abs() < 1e-12);

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

    // Stretched by 2 % along the arm, and sheared: each is strained by some per cent, known to 1e-14 of one.
    let along = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.02]];
    let askew = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.1, -0.05, 1.0]];
    let [metrics, sheared] =
        [along, askew].map(|matrix| compared(&deformed_track(&scene, matrix), &reference));
    for (matrix, metrics) in [(along, metrics), (askew, sheared)] {
        let [stretch, shear] = deformed_energies(&scene, matrix);
        let exact = |a: f64, b: f64| (a - b).abs() < 1e-10 * (stretch + shear);
        assert!(exact(metrics.stretch_energy, stretch), "{metrics:?}");
        assert!(exact(metrics.shear_energy, shear), "{metrics:?}");
    }
    // Waves turn triangles away from the arm, which stretches them a little less than 20·A·0.02².
    let flat = 20.0 * scene.garment.rest.area() * 0.02_f64.powi(2);
    assert!((0.8..1.0).contains(&(metrics.stretch_energy / flat)));
    assert!(sheared.shear_energy > 1e-4, "{sheared:?}");
    assert!(
        near(metrics.gravity_energy, 1.02 * same.gravity_energy),
        "lower by being longer"
    );

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

// One vertex that is a millimetre off is the nearest to its own place, there and back. Laid onto another one it has no way to go, but
// from where it was the nearest is a cell away. Both of 18 vertices, in one of four frames; rounding of 1 mm in 10 cm.
#[test]
fn the_chamfer_distance_looks_both_ways() {
    let (scene, motion) = tiny();
    let reference = still_track(&scene);
    let points = &scene.garment.mesh.positions;
    let chamfer = |place: [f64; 3]| {
        let mut moved = reference.clone();
        for (axis, x) in place.into_iter().enumerate() {
            moved.positions[2][axis * points.len() + 9] = x;
        }
        let materials = Materials::default();
        let metrics = compare(&scene, &motion, &moved, &reference, &[], materials, &cpu());
        metrics.unwrap().chamfer * (4 * points.len()) as f64
    };
    let [x, y, z] = points[9];
    let off = chamfer([x, y, z + 1e-3]);
    assert!((off / 2e-6 - 1.0).abs() < 1e-10, "{off}");
    let squared = |other: usize| {
        let gap = sub(points[9], points[other]);
        dot(gap, gap)
    };
    let others = (0..points.len()).filter(|other| *other != 9);
    let nearest = others.map(squared).fold(f64::INFINITY, f64::min);
    let onto = chamfer(points[10]);
    assert!(nearest > 1e-3 && (onto / nearest - 1.0).abs() < 1e-12);
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
        let loss = GarmentLoss::new(config).unwrap();
        let (accuracy, plasticity) = (Accuracy::default(), Plasticity::default());
        let mut progress = |_| Ok(());
        let outcome = ReferenceSimulation {
            scene: &scene,
            motion: &motion,
            loss: &loss,
            plasticity: &plasticity,
            accuracy,
            compute: &cpu(),
        }
        .run(&mut progress);
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
    let refusal = |change: &dyn Fn(&mut GarmentMotion)| {
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
