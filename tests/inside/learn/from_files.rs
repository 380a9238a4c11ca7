//! Real bodies: an SMPL file (synthetic, written here) and a garment OBJ become a scene, and cloth is simulated on it; with an
//! AMASS file its motion is learned too.

use std::{f64::consts::TAU, path::Path};

use crate::inside::common::{
    cpu,
    folder::Folder,
    npz::{Kind, npy, zip},
};
use rumple::{
    learn::{
        Body, BodyMotion, BodyScene, Garment, GarmentBatch, GarmentLoss, GarmentMotion,
        Imperfection, JointBend, LearnCase, LossConfig, Plasticity, Reduction, Smpl, Spring, Term,
        Training,
        curriculum::{Curriculum, adam},
        files::Amass,
        lesson::Lesson,
        reference::{Accuracy, ReferenceSimulation},
    },
    mesh::{read_obj, write_obj},
    numeric::{Compute, Precision},
};

const AROUND: usize = 24;
/// Rings from the tip of the hand to the shoulder, 2 cm apart but on the caps.
const RADIUS: f64 = 0.045;
/// Shoulder, elbow, wrist.
const JOINTS: [f64; 3] = [0.0, -0.22, -0.44];

/// Height and radius of the rings of an arm that hangs along −z, and the heights of its two ends.
fn profile() -> (Vec<[f64; 2]>, [f64; 2]) {
    let (low, high) = (-0.5, 0.1);
    let cap = |share: f64, end: f64| {
        let (sine, cosine) = (share * TAU / 4.0).sin_cos();
        [end + RADIUS * sine, RADIUS * cosine]
    };
    let mut rings: Vec<[f64; 2]> = (1..6).map(|k| cap(f64::from(k) / 6.0 - 1.0, low)).collect();
    rings.extend((0..=30).map(|k| [low + 0.02 * f64::from(k), RADIUS]));
    rings.extend((1..6).map(|k| cap(f64::from(k) / 6.0, high)));
    (rings, [low - RADIUS, high + RADIUS])
}

/// An arm in the layout of an SMPL file; without its first `missing` triangles.
fn arm_file(missing: usize) -> Vec<u8> {
    let (rings, ends) = profile();
    let mut vertices: Vec<[f64; 3]> = Vec::new();
    for [height, radius] in &rings {
        vertices.extend((0..AROUND).map(|k| {
            let (sine, cosine) = (TAU * k as f64 / AROUND as f64).sin_cos();
            [radius * cosine, radius * sine, *height]
        }));
    }
    let poles = [vertices.len(), vertices.len() + 1];
    vertices.extend(ends.map(|z| [0.0, 0.0, z]));
    let mut triangles = Vec::new();
    for k in 0..AROUND {
        let next = (k + 1) % AROUND;
        triangles.push([poles[0], next, k]);
        for ring in (0..rings.len() - 1).map(|r| r * AROUND) {
            let (a, b, c, d) = (
                ring + k,
                ring + next,
                ring + AROUND + k,
                ring + AROUND + next,
            );
            triangles.extend([[a, b, d], [a, d, c]]);
        }
        let last = (rings.len() - 1) * AROUND;
        triangles.push([poles[1], last + k, last + next]);
    }
    triangles.drain(..missing);
    let beyond = |joint: usize, z: f64| {
        let u = ((JOINTS[joint] - z + 0.06) / 0.12).clamp(0.0, 1.0);
        u * u * (3.0 - 2.0 * u)
    };
    let weights = vertices.iter().flat_map(|v| {
        let (elbow, wrist) = (beyond(1, v[2]), beyond(2, v[2]));
        [1.0 - elbow, elbow - wrist, wrist]
    });
    // A joint is the middle of the ring at its height.
    let regressor = JOINTS.iter().flat_map(|joint| {
        let on = |v: &[f64; 3]| (v[2] - joint).abs() < 1e-9;
        let share = move |v: &[f64; 3]| if on(v) { 1.0 / AROUND as f64 } else { 0.0 };
        vertices.iter().map(share).collect::<Vec<f64>>()
    });
    let count = vertices.len();
    // One shape: 1 is an arm twice as thick.
    let shapes = vertices.iter().flat_map(|v| [v[0], v[1], 0.0]);
    let faces: Vec<f64> = triangles.iter().flatten().map(|v| *v as f64).collect();
    let files = [
        (
            "v_template",
            npy(Kind::F64, &[count, 3], vertices.as_flattened()),
        ),
        ("f", npy(Kind::U32, &[triangles.len(), 3], &faces)),
        (
            "weights",
            npy(Kind::F64, &[count, 3], &weights.collect::<Vec<_>>()),
        ),
        (
            "J_regressor",
            npy(Kind::F64, &[3, count], &regressor.collect::<Vec<_>>()),
        ),
        (
            "kintree_table",
            npy(Kind::U32, &[2, 3], &[4294967295.0, 0.0, 1.0, 0.0, 1.0, 2.0]),
        ),
        (
            "shapedirs",
            npy(Kind::F64, &[count, 3, 1], &shapes.collect::<Vec<_>>()),
        ),
    ];
    zip(&files, true)
}

/// A body of some shape read from a file in `folder`, with a sleeve read from an OBJ file there.
fn scene(folder: &Folder, betas: &[f64]) -> BodyScene {
    folder.write("arm.npz", arm_file(0));
    let body = Smpl::read(&folder.path("arm.npz")).unwrap();
    let body = body.body("arm from a file", betas).unwrap();
    let grid = [12, 16];
    let sewn = Garment::tube(
        "sleeve",
        &Body::arm(),
        Imperfection::seeded(1),
        [0.056, 0.4],
        grid,
        |[x, y, z]| [y, -z, -x],
    );
    let path = folder.path("sleeve.obj");
    write_obj(&path, &sewn.unwrap().mesh).unwrap();
    let garment = dressed(&body, &path, grid);
    BodyScene { body, garment }
}

/// A garment from a file: its first ring is pinned, its last has springs.
fn dressed(body: &Body, path: &Path, [around, rings]: [usize; 2]) -> Garment {
    let (mesh, _) = read_obj(path, 1.0).unwrap();
    let last = around * (rings - 1);
    let springs = (last..last + around).map(|vertex| Spring {
        vertex,
        stiffness: 1.0,
    });
    Garment::new(
        "sleeve",
        body,
        mesh,
        (0..around).collect(),
        springs.collect(),
    )
    .unwrap()
}

fn motion(body: &Body) -> BodyMotion {
    let bend = JointBend {
        peak: 70_f64.to_radians(),
        rest: 2,
        flex: 12,
        hold: 4,
        extend: 12,
    };
    BodyMotion::bends("70°", body, &[bend], 18)
}

fn simulated(scene: &BodyScene, motion: &BodyMotion) -> GarmentMotion {
    let loss = GarmentLoss::new(LossConfig::default()).unwrap();
    let outcome = ReferenceSimulation {
        scene,
        motion,
        loss: &loss,
        plasticity: &Plasticity::degrees(30.0),
        accuracy: Accuracy::default(),
        compute: &cpu(),
    }
    .run(&mut |_| Ok(()));
    outcome.unwrap().track
}

/// Refuses vertices inside the body, and counts those that it pushes.
fn touching(scene: &BodyScene, motion: &BodyMotion, track: &GarmentMotion) -> usize {
    let thickness = LossConfig::default().materials.thickness;
    let sheet = GarmentBatch::new(&scene.garment, 1, &cpu());
    let mut touching = 0;
    for frame in 0..motion.frames() {
        let positions = track.stacked(frame..frame + 1, &cpu());
        let poses = scene.poses(motion, frame..frame + 1).unwrap();
        let body = scene.posed(&poses, &cpu());
        let distances = body.distance(&sheet.by_axis(&positions)).value;
        let distances = cpu().values(distances).unwrap();
        let nearest = distances.iter().copied().fold(f64::INFINITY, f64::min);
        assert!(nearest > 0.0, "frame {frame}: {nearest} m");
        touching += distances.iter().filter(|d| **d < thickness).count();
    }
    touching
}

/// Where the middle of the cuff is along an axis \[m\].
fn cuff(track: &GarmentMotion, frame: usize, axis: usize) -> f64 {
    let points = track.points(frame);
    let ring = points[points.len() - 12..].iter();
    ring.map(|p| p[axis]).sum::<f64>() / 12.0
}

#[test]
fn cloth_on_a_body_from_a_file_follows_it_and_stays_outside() {
    let folder = Folder::new();
    let scene = scene(&folder, &[]);
    let motion = motion(&scene.body);
    let track = simulated(&scene, &motion);
    let touching = touching(&scene, &motion, &track);
    assert!(touching > 50, "the body pushes: {touching}");
    // The elbow turns about +x, which lifts the cuff towards +y: by 18 cm and 70° to 17 cm.
    let [straight, bent] = [0, 17].map(|frame| cuff(&track, frame, 1));
    assert!(straight.abs() < 0.01 && bent > 0.13, "{straight} {bent}");
}

/// A motion in AMASS' layout, 17 frames at 60 a second: the elbow bends by 37°, the arm goes 32 mm along x, and it is one of a body
/// that is a tenth thinner. Of the second beta the body knows nothing.
fn motion_file() -> Vec<u8> {
    let frames = 17;
    let poses = (0..frames).flat_map(|frame| {
        let mut turns = [0.0; 9];
        turns[3] = 0.04 * frame as f64;
        turns
    });
    let places = (0..frames).flat_map(|frame| [0.002 * frame as f64, 0.0, 0.0]);
    let files = [
        (
            "poses",
            npy(Kind::F64, &[frames, 9], &poses.collect::<Vec<f64>>()),
        ),
        (
            "trans",
            npy(Kind::F64, &[frames, 3], &places.collect::<Vec<f64>>()),
        ),
        ("betas", npy(Kind::F64, &[2], &[-0.1, 3.0])),
        ("mocap_framerate", npy(Kind::F64, &[], &[60.0])),
    ];
    zip(&files, true)
}

// Three files as they come, up to a round of E-Net: finite, outside the body, where the recorded motion leads, and nearer to where the
// minimiser leads than before.
#[test]
fn files_of_a_body_a_motion_and_a_garment_are_simulated_and_learned() {
    let folder = Folder::new();
    folder.write("motion.npz", motion_file());
    let recorded = Amass::read(&folder.path("motion.npz")).unwrap();
    let scene = scene(&folder, &recorded.betas);
    let skin = scene.body.skin.as_ref().unwrap().skin();
    let widest = skin.rest.iter().map(|p| p[0]).fold(0.0, f64::max);
    assert!((widest - 0.9 * RADIUS).abs() < 1e-12, "{widest}");
    let joints = scene.body.skeleton.joints().len();
    let motion = recorded.motion("recorded", joints, 30.0).unwrap();
    assert_eq!((joints, motion.frames()), (3, 9));

    let track = simulated(&scene, &motion);
    track.check("reference", &scene, &motion).unwrap();
    touching(&scene, &motion, &track);
    // 18 cm below the elbow it is lifted by 107 mm. The sleeve is 16 mm wide of the arm, which pushes it on before it lags further
    // behind; it may slide along the arm by as much.
    let [aside, lifted] = [0, 1].map(|axis| cuff(&track, 8, axis) - cuff(&track, 0, axis));
    assert!((aside - 0.032).abs() < 0.016, "{aside}");
    assert!((lifted - 0.107).abs() < 0.032, "{lifted}");

    let case = LearnCase {
        motions: 1,
        frames: motion.frames(),
        cycles: 1,
        training: Training {
            elastic_steps: 1,
            fits: 2,
            plastic_steps: 1,
            ..Training::default()
        },
        ..LearnCase::default()
    };
    let single = Compute::cpu(Precision::F32);
    let course = Curriculum::new(case, scene, &single).unwrap();
    let mut students = course.students().unwrap();
    // The case draws bends; a lesson can be any motion of the body.
    students.lessons = vec![Lesson::new(&course.scene, motion.clone(), &single).unwrap()];
    let done = course.teach_elastic(&mut students, &mut adam(), (0, 0));
    let done = done.unwrap();
    assert!(
        done.loss.is_finite() && done.terms.stretch > 0.0,
        "{done:?}"
    );
    assert!(0.0 < done.left && done.left < done.away, "{done:?}");
    let predicted = course.predict(&students, &students.lessons[0]).unwrap();
    let predicted = predicted.track(&single).unwrap();
    predicted
        .check("prediction", &course.scene, &motion)
        .unwrap();
    let lifted = cuff(&predicted, 8, 1) - cuff(&predicted, 0, 1);
    assert!(lifted > 0.05, "it goes with the arm: {lifted}");
}

/// Value and closed gradient of the collision term against a tape and against differences.
#[test]
fn the_collision_term_of_a_skin_has_the_right_gradient() {
    let folder = Folder::new();
    let scene = scene(&folder, &[]);
    let motion = motion(&scene.body);
    let frames = 8..10;
    let sheet = GarmentBatch::new(&scene.garment, 2, &cpu());
    let poses = scene.poses(&motion, frames.clone()).unwrap();
    let anchors = scene.skinned(&poses, &cpu()).plain();
    // Drawn 1.2 cm towards −y and +x, so that the arm is inside the cloth.
    let shift = [0.008, -0.012, 0.0];
    let count = anchors.dims()[1];
    let shifts: Vec<f64> = shift.iter().flat_map(|s| vec![*s; count]).collect();
    let positions = anchors.clone() + cpu().tensor(&shifts, [3, count]);
    let given = rumple::learn::Given {
        previous: anchors.clone(),
        before: anchors.clone(),
        moving: cpu().zeros([2, 1]),
        plastic: cpu().zeros([2, sheet.hinges]),
        body: scene.posed(&poses, &cpu()),
        anchors,
    };
    let off = Term {
        weight: 0.0,
        over: Reduction::Sum,
    };
    let config = LossConfig {
        bending: off,
        stretch: off,
        shear: off,
        inertia: off,
        gravity: off,
        springs: off,
        frames: Reduction::Sum,
        ..LossConfig::default()
    };
    let loss = GarmentLoss::new(config).unwrap();
    let closed = loss.linearized(&sheet, &positions, &given).unwrap();
    assert!(closed.value > 1e-4, "the cloth is pushed: {}", closed.value);
    let gradient = cpu().values(closed.gradient).unwrap();

    let leaf = positions.clone().autodiff().require_grad();
    let energy = loss.energies(&sheet, &leaf, &given).collision.sum();
    let taped = leaf.grad(&energy.backward()).unwrap();
    let taped = cpu().values(taped).unwrap();
    let largest = gradient.iter().fold(0.0, |m: f64, g| m.max(g.abs()));
    let free = |n: usize| n % sheet.vertices >= 12;
    for (n, (a, b)) in gradient.iter().zip(&taped).enumerate() {
        assert!((a - b).abs() < 1e-12 * largest || !free(n), "{n}: {a} {b}");
    }

    let values = cpu().values(positions).unwrap();
    let at = |n: usize, by: f64| {
        let mut moved = values.clone();
        moved[n] += by;
        let moved = cpu().tensor(&moved, [3, count]);
        loss.value(&sheet, &moved, &given).unwrap()
    };
    let (step, mut pushed) = (1e-6, 0);
    for n in (0..values.len()).filter(|n| free(*n)).step_by(5) {
        let difference = (at(n, step) - at(n, -step)) / (2.0 * step);
        // The energy is quadratic with a kink in its slope where contact begins: k·step at most.
        let near = (difference - gradient[n]).abs() < 1e-3 * largest;
        assert!(near, "{n}: {difference} {}", gradient[n]);
        pushed += usize::from(gradient[n].abs() > 0.1 * largest);
    }
    assert!(pushed > 5, "{pushed} of those are pushed");
}

#[test]
fn a_body_with_a_hole_is_refused_by_name() {
    let folder = Folder::new();
    folder.write("arm.npz", arm_file(1));
    let smpl = Smpl::read(&folder.path("arm.npz")).unwrap();
    let text = smpl.body("arm.npz", &[]).unwrap_err().to_string();
    assert!(text.starts_with("arm.npz: triangle"), "{text}");
    assert!(text.contains("has no neighbour across the edge") && text.contains("close the hole"));
    folder.write("whole.npz", arm_file(0));
    let whole = Smpl::read(&folder.path("whole.npz")).unwrap();
    let thick = whole.body("thick", &[1.0]).unwrap();
    let mesh = thick.mesh(&thick.skeleton.pose(&[[0.0; 3]; 3], [0.0; 3]));
    let widest = mesh.positions.iter().map(|p| p[0]).fold(0.0, f64::max);
    assert!((widest - 2.0 * RADIUS).abs() < 1e-12, "{widest}");
}
