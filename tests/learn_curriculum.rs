//! One cycle of paper 2's curriculum on a small sleeve.

use rumple::{
    learn::{
        Body, Garment, Imperfection, LearnCase, Motion, Scene, Training,
        curriculum::{Curriculum, adam},
        lesson::Lesson,
        network::{EdgeFeatures, HingeGraph},
    },
    numeric::{Compute, Precision},
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
            elastic_steps: 60,
            windows: 2,
            window: 4,
            plastic_steps: 60,
            ..Training::default()
        },
        ..LearnCase::default()
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Losses of both networks, and the rest bending that they predict for an unseen motion.
fn cycle() -> (Vec<f64>, Vec<f64>, Vec<Vec<f64>>) {
    let course = Curriculum::new(case(), small(), &compute()).unwrap();
    let mut students = course.students().unwrap();
    let mut optimizer = adam();
    let elastic: Vec<f64> = (0..course.elastic_steps(0))
        .map(|step| {
            let done = course.teach_elastic(&mut students, &mut optimizer, (0, step));
            done.unwrap().loss
        })
        .collect();
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
    let plastic: Vec<f64> = (0..case().training.plastic_steps)
        .map(|step| {
            let done = course.teach_plastic(&mut students, &mut optimizer, &seen, (0, step));
            done.unwrap().loss
        })
        .collect();
    for (lesson, (predicted, target)) in students.lessons.iter_mut().zip(&seen) {
        lesson.rest_bending = course.follow(&students.plastic, predicted).unwrap();
        assert_eq!(lesson.rest_bending.dims(), target.dims());
    }
    let unseen = Motion::canonical(&course.scene.body);
    let lesson = Lesson::new(&course.scene, unseen, &compute()).unwrap();
    let track = course
        .predict(&students, &lesson)
        .unwrap()
        .track(&compute());
    (elastic, plastic, track.unwrap().plastic)
}

#[test]
fn both_networks_learn_and_a_seed_gives_the_same_bits() {
    let (elastic, plastic, rest_bending) = cycle();
    let (first, last) = (mean(&elastic[..10]), mean(&elastic[elastic.len() - 10..]));
    assert!(last < 0.6 * first, "E-Net: {first} to {last}");
    let (first, last) = (mean(&plastic[..10]), mean(&plastic[plastic.len() - 10..]));
    assert!(last < 0.6 * first, "P-Net: {first} to {last}");
    assert_eq!(rest_bending.len(), 95);
    assert!(
        rest_bending[0].iter().all(|b| *b == 0.0),
        "none before the first frame"
    );
    assert!(rest_bending[94].iter().all(|b| b.is_finite()));
    assert!(rest_bending[94].iter().any(|b| b.abs() > 1e-3));
    assert_eq!(cycle(), (elastic, plastic, rest_bending));
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
