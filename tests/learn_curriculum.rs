//! One cycle of paper 2's curriculum on a small sleeve.

use rumple::{
    learn::{
        Body, Garment, Imperfection, LearnCase, Loss, Motion, Plasticity, Scene, Training,
        curriculum::{Curriculum, Students, adam},
        lesson::Lesson,
        network::{EdgeFeatures, HingeGraph},
        reference::{Accuracy, Simulation},
    },
    numeric::{Compute, Field, Precision},
};

fn compute() -> Compute {
    Compute::cpu(Precision::F32)
}

fn small() -> Scene {
    let body = Body::arm();
    let place = |[x, y, z]: [f64; 3]| [y, -z, -x];
    let waves = Imperfection::seeded(1);
    let garment = Garment::tube("small", &body, waves, [0.06, 0.44], [8, 10], place).unwrap();
    Scene { body, garment }
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
    let simulated = Simulation {
        scene: &course.scene,
        motion: &lesson.motion,
        loss: &Loss::new(course.case.loss).unwrap(),
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
    let seen: Vec<_> = students
        .lessons
        .iter()
        .map(|lesson| {
            let predicted = course.see(&students.elastic, lesson);
            let target = course.target(&predicted);
            (predicted, target)
        })
        .collect();
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
    let unseen = Motion::canonical(&course.scene.body);
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

#[test]
fn where_the_garment_is_does_not_matter_to_the_plastic_network() {
    let scene = small();
    let garment = &scene.garment;
    let graph = HingeGraph::new(&garment.mesh, &garment.topology, &compute());
    let edges = EdgeFeatures::new(&scene, &graph, 1.0 / 30.0, 0.5);
    let at = |shift: [f64; 3]| {
        let positions: Vec<f64> = (0..3)
            .flat_map(|axis| {
                let all = garment.mesh.positions.iter();
                all.map(move |p| p[axis] + shift[axis])
            })
            .collect();
        compute().values(edges.at(&positions, &compute())).unwrap()
    };
    let (here, there) = (at([0.0; 3]), at([3.0, -2.0, 1.0]));
    let largest = here.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
    assert!(largest > 0.5, "they say something");
    for (a, b) in here.iter().zip(&there) {
        assert!((a - b).abs() < 1e-6, "{a} {b}");
    }
}
