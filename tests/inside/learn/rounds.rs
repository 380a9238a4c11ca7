//! A round of either network: of the paper's size, on the torso, and what it does to the rest bending. The example cases.

use std::path::Path;

use burn::{
    module::{Module, ModuleVisitor, Param},
    tensor::Tensor,
};
use rumple::{
    learn::{
        LearnCase, RestBending, SceneName, Training,
        curriculum::{Curriculum, ElasticStep, Students, adam},
        lesson::Lesson,
        network::Size,
    },
    numeric::{Compute, Field, Precision},
};

fn compute() -> Compute {
    Compute::cpu(Precision::F32)
}

/// Two short motions of a coarse garment.
fn case(scene: SceneName, size: Size) -> LearnCase {
    LearnCase {
        scene,
        size,
        grid: [8, 7],
        motions: 2,
        frames: 24,
        cycles: 1,
        training: Training {
            elastic_steps: 1,
            fits: 2,
            plastic_steps: 1,
            ..Training::default()
        },
        ..LearnCase::default()
    }
}

/// The students of a course before and after a round of E-Net and three steps of P-Net, and what those said.
struct Round {
    students: [Students; 2],
    elastic: ElasticStep,
    plastic: Vec<f64>,
}

fn round(case: LearnCase) -> Round {
    let scene = case.scene().unwrap();
    let course = Curriculum::new(case, scene, &compute()).unwrap();
    let before = course.students().unwrap();
    let mut after = before.clone();
    let elastic = course.teach_elastic(&mut after, &mut adam(), (0, 0));
    let elastic = elastic.unwrap();
    let seen = course.targets(&after.elastic, &after.lessons);
    let mut optimizer = adam();
    let mut plastic = Vec::new();
    // One is shown the rest bending as it is, the others one that is off.
    for step in 0..3 {
        let done = course.teach_plastic(&mut after, &mut optimizer, &seen, (0, step));
        plastic.push(done.unwrap().loss);
    }
    Round {
        students: [before, after],
        elastic,
        plastic,
    }
}

/// All numbers of a network, a list a parameter.
struct Numbers(Vec<Vec<f64>>);

impl ModuleVisitor for Numbers {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        self.0.push(compute().values(param.val()).unwrap());
    }
}

fn numbers<M: Module>(network: &M) -> Vec<Vec<f64>> {
    let mut numbers = Numbers(Vec::new());
    network.valid().visit(&mut numbers);
    numbers.0
}

/// Finite numbers, vertices nearer to where the minimiser led, and most parameters of both networks changed: those of the encoded
/// rest bending have nothing to learn from before there is any.
fn learns(round: &Round) {
    let ElasticStep {
        loss,
        terms,
        away,
        left,
        ..
    } = round.elastic;
    assert!(loss.is_finite() && terms.stretch > 0.0, "{terms:?}");
    assert!(0.0 < left && left < away, "{away} m to {left} m");
    assert!(away < 0.1, "{away} m");
    let said = &round.plastic;
    assert!(said.iter().all(|loss| loss.is_finite()), "{said:?}");
    assert!(said.iter().sum::<f64>() > 0.0, "{said:?}");
    let [before, after] = &round.students;
    for (name, before, after) in [
        ("E-Net", numbers(&before.elastic), numbers(&after.elastic)),
        ("P-Net", numbers(&before.plastic), numbers(&after.plastic)),
    ] {
        assert!(after.iter().flatten().all(|x| x.is_finite()), "{name}");
        let pairs = before.iter().zip(&after);
        let changed = pairs.filter(|(before, after)| before != after).count();
        assert!(
            2 * changed > after.len(),
            "{name}: {changed} of {}",
            after.len()
        );
    }
}

#[test]
fn networks_of_the_papers_size_learn() {
    let paper = round(case(SceneName::Arm, Size::Paper));
    learns(&paper);
    // Appendix B: the GRU alone has six matrices of 512 by 512.
    let all = numbers(&paper.students[1].elastic);
    assert!(all.concat().len() > 6 * 512 * 512);
}

/// Rounds along the plain gradient: the loss falls, and the pose-space shapes are learned by it too.
#[test]
fn the_plain_gradient_of_the_loss_teaches_the_elastic_network() {
    let mut case = case(SceneName::Arm, Size::Small);
    case.training.minimiser_steps = 0;
    case.training.elastic_steps = 6;
    let scene = case.scene().unwrap();
    let course = Curriculum::new(case, scene, &compute()).unwrap();
    let mut students = course.students().unwrap();
    let before = numbers(&students.elastic);
    let mut optimizer = adam();
    let mut losses = Vec::new();
    for step in 0..12 {
        let done = course.teach_elastic(&mut students, &mut optimizer, (0, step));
        losses.push(done.unwrap().loss);
    }
    // With two fits a round the same frames are judged in every fourth.
    for k in 0..4 {
        let same = [losses[k], losses[k + 4], losses[k + 8]];
        assert!(same.is_sorted_by(|a, b| a > b), "{same:?}");
    }
    let after = numbers(&students.elastic);
    // 512 shapes of 56 vertices.
    let shapes = before.iter().position(|n| n.len() == 512 * 3 * 56);
    let shapes = shapes.unwrap();
    assert_ne!(before[shapes], after[shapes]);
}

/// After the first cycle the rest bending of lessons that a round showed with all of theirs is what the plastic rule makes of E-Net's
/// new prediction; of others, without `renew` and without plasticity it stays.
#[test]
fn rest_bending_follows_what_the_elastic_network_learns() {
    let values = |field: &Field| compute().values(field.clone()).unwrap();
    // Lessons that are made anew, and the largest rest bending in them.
    let renewed = |cycle: usize, change: &dyn Fn(&mut LearnCase)| {
        let mut case = case(SceneName::Arm, Size::Small);
        case.motions = 8;
        // A network that knows nothing bends little: let it yield.
        case.plasticity.yield_strain = 0.01;
        change(&mut case);
        let scene = case.scene().unwrap();
        let course = Curriculum::new(case, scene, &compute()).unwrap();
        let mut students = course.students().unwrap();
        for lesson in &mut students.lessons {
            lesson.rest_bending = lesson.rest_bending.clone() + 0.3;
        }
        let lessons = students.lessons.iter();
        let before: Vec<Field> = lessons.map(|l| l.rest_bending.clone()).collect();
        let round = course.teach_elastic(&mut students, &mut adam(), (cycle, 0));
        assert!(round.unwrap().loss.is_finite());
        let mut largest = 0.0_f64;
        let mut count = 0;
        for (lesson, before) in students.lessons.iter().zip(&before) {
            if values(&lesson.rest_bending) == values(before) {
                continue;
            }
            let shown = Lesson {
                rest_bending: before.clone(),
                ..lesson.clone()
            };
            let strain = course.see(&students.elastic, &shown).strain;
            let wanted = values(&course.target(&strain));
            for (found, wanted) in values(&lesson.rest_bending).iter().zip(&wanted) {
                largest = largest.max(wanted.abs());
                // Single precision, frame by frame here and all frames at once there.
                assert!((found - wanted).abs() < 1e-4, "{found} {wanted}");
            }
            count += 1;
        }
        (count, largest)
    };
    let (count, largest) = renewed(1, &|_| ());
    assert!((1..8).contains(&count), "{count} of 8 lessons");
    assert!(largest > 0.01, "{largest} rad");
    assert_eq!(renewed(0, &|_| ()).0, 0, "the first cycle is elastic");
    assert_eq!(renewed(1, &|c| c.training.renew = false).0, 0);
    assert_eq!(renewed(1, &|c| c.rest_bending = RestBending::None).0, 0);
    let (count, _) = renewed(1, &|c| c.training.minimiser_steps = 0);
    assert!(count > 0, "along the plain gradient too");
}

#[test]
fn networks_of_the_torso_learn() {
    learns(&round(case(SceneName::Torso, Size::Small)));
}

#[test]
fn every_example_is_a_case_that_can_be_trained() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/learn");
    let mut found = 0;
    for entry in std::fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "json") {
            continue;
        }
        let case = LearnCase::load(&path).unwrap();
        case.check().unwrap();
        assert_ne!(
            case,
            LearnCase::default(),
            "{} says nothing",
            path.display()
        );
        found += 1;
    }
    assert!(found >= 3, "{found} examples");
    let paper = LearnCase::load(&folder.join("paper.json")).unwrap();
    let Training {
        elastic_rate,
        plastic_rate,
        ..
    } = paper.training;
    assert_eq!(
        (paper.size, elastic_rate, plastic_rate),
        (Size::Paper, 1e-4, 1e-4)
    );
}
