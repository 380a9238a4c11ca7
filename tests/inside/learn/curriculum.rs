//! One cycle of paper 2's curriculum on a small sleeve, and predictions wherever the body stands.

use burn::module::Module;
use rumple::{
    learn::{
        Body, BodyMotion, BodyScene, Garment, GarmentBatch, GarmentLoss, Imperfection, LearnCase,
        Plasticity, RestBending, SceneName, Training,
        curriculum::{Curriculum, Students, adam},
        lesson::Lesson,
        network::{EdgeFeatures, HingeGraph, Memory, PlasticKind, PlasticNet, Size, nodes, seeded},
        reference::{Accuracy, ReferenceSimulation},
    },
    numeric::{Compute, Field, Precision},
};

fn compute() -> Compute {
    Compute::cpu(Precision::F32)
}

fn small() -> BodyScene {
    let body = Body::arm();
    let place = |[x, y, z]: [f64; 3]| [y, -z, -x];
    let waves = Imperfection::seeded(1);
    let garment = Garment::tube("small", &body, waves, [0.06, 0.44], [8, 10], place).unwrap();
    BodyScene { body, garment }
}

fn case() -> LearnCase {
    LearnCase {
        motions: 2,
        frames: 70,
        cycles: 1,
        training: Training {
            elastic_steps: 15,
            fits: 5,
            plastic_steps: 150,
            ..Training::default()
        },
        ..LearnCase::default()
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// What one cycle brings.
#[derive(Debug, PartialEq)]
struct Cycle {
    /// How far from the minimiser's steps E-Net is, round by round, before it learns and after \[m\].
    elastic: Vec<[f64; 2]>,
    /// Mean distance from the elastic reference simulation of E-Net and of plain skinning \[m\].
    reference: [f64; 2],
    /// Mean error of P-Net's roll-out, and the mean size of its target \[rad\].
    plastic: [f64; 2],
    /// What both predict for an unseen motion \[rad\], shape `[frames][hinges]`.
    rest_bending: Vec<Vec<f64>>,
}

/// Of the first lesson, see [`Cycle::reference`].
fn distances(course: &Curriculum, students: &Students) -> [f64; 2] {
    let lesson = &students.lessons[0];
    let exact = Compute::cpu(Precision::F64);
    let simulated = ReferenceSimulation {
        scene: &course.scene,
        motion: &lesson.motion,
        loss: &GarmentLoss::new(course.case.loss).unwrap(),
        plasticity: &Plasticity::degrees(1e5),
        accuracy: Accuracy::default(),
        compute: &exact,
    }
    .run(&mut |_| Ok(()));
    let simulated = simulated.unwrap().track;
    let predicted = course.see(&students.elastic, lesson).track(&compute());
    let skinned: Vec<Vec<f64>> = (0..lesson.frames())
        .map(|frame| {
            compute()
                .values(lesson.skinned.frame(frame).plain())
                .unwrap()
        })
        .collect();
    [&predicted.unwrap().positions, &skinned].map(|positions| {
        let gap = |(a, b): (&Vec<f64>, &Vec<f64>)| -> f64 {
            let count = a.len() / 3;
            let squares =
                (0..3).map(|k| move |v: usize| (a[k * count + v] - b[k * count + v]).powi(2));
            let squares: Vec<_> = squares.collect();
            let all = (0..count).map(|v| squares.iter().map(|s| s(v)).sum::<f64>().sqrt());
            all.sum::<f64>() / count as f64
        };
        let gaps: Vec<f64> = positions
            .iter()
            .zip(&simulated.positions)
            .map(gap)
            .collect();
        mean(&gaps)
    })
}

fn cycle() -> Cycle {
    let course = Curriculum::new(case(), small(), &compute()).unwrap();
    let mut students = course.students().unwrap();
    let mut optimizer = adam();
    let elastic: Vec<[f64; 2]> = (0..course.elastic_steps(0))
        .map(|step| {
            let done = course.teach_elastic(&mut students, &mut optimizer, (0, step));
            let done = done.unwrap();
            [done.away, done.left]
        })
        .collect();
    let reference = distances(&course, &students);
    let seen = course.targets(&students.elastic, &students.lessons);
    let mut optimizer = adam();
    for step in 0..course.plastic_steps(0) {
        let done = course.teach_plastic(&mut students, &mut optimizer, &seen, (0, step));
        assert!(done.unwrap().loss.is_finite());
    }
    let size = |field: &Field| {
        compute()
            .values(field.clone().abs().mean().unsqueeze::<1>())
            .unwrap()[0]
    };
    let mut plastic = [0.0; 2];
    for (predicted, target) in &seen {
        let followed = course.follow(&students.plastic, predicted).unwrap();
        plastic[0] += size(&(followed - target.clone()));
        plastic[1] += size(target);
    }
    let unseen = BodyMotion::canonical(&course.scene.body);
    let lesson = Lesson::new(&course.scene, unseen, &compute()).unwrap();
    let track = course
        .predict(&students, &lesson)
        .unwrap()
        .track(&compute());
    Cycle {
        elastic,
        reference,
        plastic,
        rest_bending: track.unwrap().plastic,
    }
}

#[test]
fn both_networks_learn_and_a_seed_gives_the_same_bits() {
    let first_time = cycle();
    let Cycle {
        elastic,
        reference: [learned, skinned],
        plastic: [error, target],
        rest_bending,
    } = &first_time;
    let (before, after): (f64, f64) = elastic
        .iter()
        .fold((0.0, 0.0), |(a, b), [x, y]| (a + x, b + y));
    assert!(
        after < 0.8 * before,
        "E-Net in its rounds: {before} to {after}"
    );
    assert!(
        *learned < 0.4 * skinned,
        "E-Net: {learned} m, skinning alone {skinned} m"
    );
    assert!(*error < 0.5 * target, "P-Net: {error} of {target}");
    assert_eq!(rest_bending.len(), 95);
    assert!(
        rest_bending[0].iter().all(|b| *b == 0.0),
        "none before the first frame"
    );
    assert!(rest_bending[94].iter().all(|b| b.is_finite()));
    assert!(rest_bending[94].iter().any(|b| b.abs() > 1e-3));
    assert!(cycle() == first_time);
}

/// A shirt can fold in many ways. Where new frames begin at its own guess, E-Net is led to others than a slow bend: on the unseen 90°
/// bend it is then 6.7 and 8.0 mm away from the simulation with seeds 1 and 2, else 0.6 and 0.8 mm.
#[test]
fn a_shirt_folds_as_in_the_simulation() {
    let mut case = LearnCase {
        scene: SceneName::Torso,
        rest_bending: RestBending::None,
        grid: [12, 18],
        motions: 3,
        cycles: 1,
        training: Training {
            elastic_steps: 10,
            neighbours: true,
            ..Training::default()
        },
        ..LearnCase::default()
    };
    case.loss.materials.bending = 4.5e-3;
    let scene = case.scene().unwrap();
    let course = Curriculum::new(case, scene, &compute()).unwrap();
    let mut students = course.students().unwrap();
    let mut optimizer = adam();
    for step in 0..course.elastic_steps(0) {
        let done = course.teach_elastic(&mut students, &mut optimizer, (0, step));
        assert!(done.unwrap().loss.is_finite());
    }
    let [learned, skinned] = distances(&course, &students);
    assert!(learned < 2e-3, "{learned} m, skinning alone {skinned} m");
}

fn largest<'a>(values: impl IntoIterator<Item = &'a f64>) -> f64 {
    let sizes = values.into_iter().map(|x| x.abs());
    sizes.fold(0.0, f64::max)
}

// Only ways between vertices enter. Places on a grid of 2⁻²⁰ m and within 4 m have no rounding in single precision, and neither have
// their differences: not one bit may change.
#[test]
fn where_the_garment_is_does_not_matter_to_the_plastic_network() {
    let scene = small();
    let garment = &scene.garment;
    let graph = HingeGraph::new(&garment.mesh, &garment.topology, &compute());
    let edges = EdgeFeatures::new(&scene, &graph, 1.0 / 30.0, 0.5);
    let sheet = GarmentBatch::new(garment, 1, &compute());
    let device = compute().device().clone().autodiff();
    let net = PlasticNet::new(Size::Small, PlasticKind::default(), &device);
    let net = seeded(net, 3).valid();
    let count = garment.mesh.positions.len();
    let grid = 2_f64.powi(20);
    let at = |shift: [f64; 3]| {
        let place = |n: usize| {
            let (axis, v) = (n / count, n % count);
            let crumpled = garment.mesh.positions[v][axis] + 0.006 * (7.3 * n as f64).sin();
            (crumpled * grid).round() / grid + shift[axis]
        };
        let positions: Vec<f64> = (0..3 * count).map(place).collect();
        let strain = sheet.strain(&compute().tensor(&positions, [3, count]));
        let none = strain.zeros_like();
        let nodes = nodes([&none, &none], [&none, &strain]);
        let edges = edges.at(&positions, &compute());
        let (increments, _) = net.step(&graph, nodes.clone(), &edges, Memory::default());
        [edges, nodes, increments].map(|field| compute().values(field).unwrap())
    };
    let (here, there) = (at([0.0; 3]), at([3.0, -2.0, 1.0]));
    let says = here.each_ref().map(largest);
    assert!(
        says[0] > 0.5 && says[1] > 0.1 && says[2] > 1e-3,
        "they say something: {says:?}"
    );
    assert!(here == there, "{here:?}\n{there:?}");
}

// Elsewhere positions are rounded, by 1e-7 m at a distance of 2 m: that turns hinges of 3 cm by some 1e-5 rad. Increments below 3e-4 rad
// are dropped, which one that is rounded may be and the other not: no more than so much in each of 24 frames. Of positions it is little.
#[test]
fn where_the_body_stands_does_not_matter_to_a_prediction() {
    const FRAMES: usize = 24;
    let course = Curriculum::new(case(), small(), &compute()).unwrap();
    let students = course.students().unwrap();
    let at = |root: [f64; 3]| {
        let mut motion = BodyMotion::canonical(&course.scene.body);
        motion.turns.truncate(FRAMES);
        motion.root = vec![root; FRAMES];
        let lesson = Lesson::new(&course.scene, motion, &compute()).unwrap();
        let predicted = course.predict(&students, &lesson).unwrap();
        predicted.track(&compute()).unwrap()
    };
    let root = [1.0, -2.0, 0.5];
    let (here, there) = (at([0.0; 3]), at(root));
    let count = here.positions[0].len() / 3;
    for frame in 0..FRAMES {
        let bent = here.plastic[frame].iter().zip(&there.plastic[frame]);
        let gap = bent.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(gap < 3e-4 * FRAMES as f64, "{frame}: {gap} rad");
        let places = here.positions[frame].iter().zip(&there.positions[frame]);
        let gaps = places
            .enumerate()
            .map(|(n, (a, b))| b - a - root[n / count]);
        let gap = gaps.fold(0.0, |m: f64, gap| m.max(gap.abs()));
        assert!(gap < 1e-4, "{frame}: {gap} m");
    }
    let bent = largest(here.plastic.iter().flatten());
    assert!(bent > 0.05, "P-Net says something: {bent} rad");
    let moved = here.positions[FRAMES - 1].iter().zip(&here.positions[0]);
    let moved = moved.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert!(moved > 0.05, "the arm bends: {moved} m");
}
