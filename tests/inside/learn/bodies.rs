//! Distances from bodies, and skinning.

use rumple::{
    element::Vector,
    learn::{BodyMotion, BodyScene},
    numeric::Field,
};

use crate::inside::common::{cloth::Dice, cpu};

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
fn distances(scene: &BodyScene, frame: usize, list: &[[f64; 3]]) -> (Vec<f64>, Vec<[f64; 3]>) {
    let motion = BodyMotion::canonical(&scene.body);
    let poses = scene.poses(&motion, frame..frame + 1).unwrap();
    let distance = scene.posed(&poses, &cpu()).distance(&points(list));
    let read = |f: Field| cpu().values(f).unwrap();
    let [x, y, z] = [distance.slope.x, distance.slope.y, distance.slope.z].map(read);
    let slopes = (0..list.len()).map(|n| [x[n], y[n], z[n]]).collect();
    (read(distance.value), slopes)
}

#[test]
fn the_arm_is_two_capsules_that_bend_at_the_elbow() {
    let scene = BodyScene::arm(1).unwrap();
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
    let scene = BodyScene::torso(1).unwrap();
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
    let scene = BodyScene::arm(1).unwrap();
    let motion = BodyMotion::canonical(&scene.body);
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

// Rounding of positions below 1 m, and a blended matrix that is half as large at the bent elbow.
#[test]
fn what_skinning_does_to_offsets_can_be_undone() {
    let scene = BodyScene::arm(1).unwrap();
    let motion = BodyMotion::canonical(&scene.body);
    // Straight, half bent and at 90°.
    let poses = scene.poses(&motion, 0..41).unwrap();
    let poses: Vec<_> = poses.into_iter().step_by(20).collect();
    let skinned = scene.skinned(&poses, &cpu());
    let count = scene.garment.mesh.positions.len();
    let moved = Dice::new(2).field(&cpu(), [3, 3 * count], (-0.02, 0.02));
    let offsets = skinned.undone(&moved);
    assert_eq!(offsets.x.dims(), [3, count]);
    let again = skinned.offset(&offsets) - skinned.plain();
    let read = |field: Field| cpu().values(field).unwrap();
    let (again, moved, before) = (read(again), read(moved), read(offsets.z));
    for (n, (a, b)) in again.iter().zip(&moved).enumerate() {
        assert!((a - b).abs() < 1e-14, "{n}: {a} {b}");
    }
    // Of the straight arm offsets are what moves; of the last vertex at 90° z was along y.
    let last = [count - 1, 3 * count - 1];
    assert_eq!(before[last[0]], moved[6 * count + last[0]]);
    let gaps = [1, 2].map(|axis| before[last[1]].abs() - moved[3 * count * axis + last[1]].abs());
    assert!(
        gaps[0].abs() < 1e-14 && gaps[1].abs() > 1e-6,
        "offsets turn with the forearm: {gaps:?}"
    );
}
