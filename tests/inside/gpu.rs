//! The GPU gives the CPU's answers. Small on purpose: CI runs this on a software Vulkan device.
use crate::inside::common::{PARAMETERS, cloth_devices, relative_difference, time_dependent};
use rumple::{
    laboratory::CreaseTest,
    learn::{
        LearnCase, Training,
        curriculum::{Curriculum, adam},
    },
    numeric::{Compute, Gate, Precision, gpu_names},
    rollout::RolloutPath,
    verify::HingeBench,
};

/// A GPU, or `None` with a word. CI sets RUMPLE_NEEDS_GPU, and then there is no excuse.
fn gpu() -> Option<Compute> {
    if gpu_names().is_empty() && std::env::var_os("RUMPLE_NEEDS_GPU").is_none() {
        eprintln!("skipped: no GPU adapter on this machine");
        return None;
    }
    Some(Compute::gpu(Precision::F32).unwrap())
}

/// Angles of a crease test and their Jacobian agree with f64 on the CPU as f32 can.
#[test]
fn the_crease_test_agrees_with_the_cpu() {
    let Some(gpu) = gpu() else { return };
    let points = CreaseTest::grid(&[1.2, 2.0], &[1.0, 100.0], &[10.0]);
    let test = CreaseTest {
        hinges: 8,
        fold_steps: 2,
        hold_steps: 2,
        snap_steps: 3,
        read_steps: 2,
    };
    let gate = Gate::Smoothstep { width: 0.1 };
    let rollout = test.rollout(time_dependent(), gate, &points).unwrap();
    let run = |compute: &Compute| {
        let parameters = rollout.shared_parameters(compute, &PARAMETERS);
        test.run(compute, &rollout, &points, parameters, true)
            .unwrap()
    };
    let (ours, exact) = (run(&gpu), run(&Compute::cpu(Precision::F64)));
    let angles = relative_difference(&ours.values, &exact.values, 180.0);
    let (ours, exact) = (ours.slopes, exact.slopes);
    let scale = exact.iter().fold(0.0f64, |m, v| m.max(v.abs()));
    let jacobian = relative_difference(&ours, &exact, scale);
    println!("angles {angles:e}, jacobian {jacobian:e}");
    assert!(angles < 1e-5 && jacobian < 1e-3, "{angles:e} {jacobian:e}");
    assert!(scale > 1.0);
}

/// So do loss and gradient of the hinge workload, sigmoid gates and explicit release included.
#[test]
fn the_hinge_workload_agrees_with_the_cpu() {
    let Some(gpu) = gpu() else { return };
    let run = |compute: &Compute| {
        let bench = HingeBench::new(compute, 32, 30).unwrap();
        bench
            .loss_and_gradient(compute, RolloutPath::Plain)
            .unwrap()
    };
    let (ours, exact) = (run(&gpu), run(&Compute::cpu(Precision::F64)));
    assert!(
        (ours.0 / exact.0 - 1.0).abs() < 1e-4,
        "{} {}",
        ours.0,
        exact.0
    );
    let scale = exact.1.iter().fold(0.0f64, |m, v| m.max(v.abs()));
    let gradient = relative_difference(&ours.1, &exact.1, scale);
    assert!(gradient < 1e-3 && scale > 1e-3, "{gradient:e}");
}

/// f64 on the GPU is refused in words.
#[test]
fn double_precision_is_refused() {
    let error = Compute::gpu(Precision::F64).unwrap_err().to_string();
    assert!(error.contains("f32"), "{error}");
}

/// So do cloths, with conjugate gradients instead of a factorisation: a pinned square, and a twist whose hinges
/// slip, with their gradients.
#[test]
fn the_cloth_agrees_with_the_cpu() {
    let Some(gpu) = gpu() else { return };
    let exact = Compute::cpu(Precision::F64);
    cloth_devices::compare(&gpu, &exact, 3);
}

/// Both networks of the curriculum, fresh and after they have learned a little.
#[test]
fn the_curriculum_agrees_with_the_cpu() {
    let Some(gpu) = gpu() else { return };
    let case = LearnCase {
        grid: [6, 8],
        motions: 1,
        frames: 8,
        training: Training {
            elastic_steps: 1,
            minimiser_steps: 1,
            fits: 1,
            ..Training::default()
        },
        ..LearnCase::default()
    };
    let run = |compute: &Compute| {
        let course = Curriculum::new(case.clone(), case.scene().unwrap(), compute).unwrap();
        let mut students = course.students().unwrap();
        let lesson = students.lessons[0].clone();
        let elastic = course.teach_elastic(&mut students, &mut adam(), (0, 0));
        let seen = course.see(&students.elastic, &lesson);
        let target = course.target(&seen.strain);
        // The third step has rest bending that is off by as much as the yield strain, so that many hinges yield.
        let plastic = course.teach_plastic(&mut students, &mut adam(), &[(seen, target)], (0, 2));
        let predicted = course.predict(&students, &lesson).unwrap();
        let losses = [elastic.unwrap().loss, plastic.unwrap().loss];
        (predicted.track(compute).unwrap(), losses)
    };
    let (ours, exact) = (run(&gpu), run(&Compute::cpu(Precision::F32)));
    let places = relative_difference(&ours.0.positions.concat(), &exact.0.positions.concat(), 0.4);
    let losses = relative_difference(&ours.1, &exact.1, exact.1[1]);
    println!(
        "positions {places:e}, losses {:?} against {:?}",
        ours.1, exact.1
    );
    assert!(places < 1e-3 && losses < 1e-2, "{places:e} {losses:e}");
    assert!(exact.1.iter().all(|loss| *loss != 0.0));
}
