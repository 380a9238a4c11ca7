//! The GPU gives the CPU's answers. Small on purpose: CI runs this on a software Vulkan device.
use std::{
    ops::ControlFlow,
    sync::{Mutex, MutexGuard, PoisonError},
};

use crate::inside::common::{
    PARAMETERS, cloth_devices, folder::Folder, relative_difference, time_dependent,
};
use rumple::{
    fit::FitJob,
    laboratory::{CreasePoint, CreaseTest, KesTest},
    learn::{
        LearnCase, Training,
        curriculum::{Curriculum, adam},
    },
    material::ReadyMaterial,
    numeric::{Compute, Gate, Precision, YieldSide, adapters},
    rollout::{
        HingeReading, Rollout, RolloutPath, Schedule, Step, StepKind, fused::device::launches,
    },
    verify::{CheckedLaw, HingeBench, check_device, checked_laws},
};

/// A GPU and the right to use it alone, so that launches can be counted; or `None` with a word. CI sets
/// RUMPLE_NEEDS_GPU, and then there is no excuse.
fn gpu() -> Option<(Compute, MutexGuard<'static, ()>)> {
    static ALONE: Mutex<()> = Mutex::new(());
    if adapters().is_empty() && std::env::var_os("RUMPLE_NEEDS_GPU").is_none() {
        eprintln!("skipped: no GPU adapter on this machine");
        return None;
    }
    let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    Some((Compute::gpu(Precision::F32).unwrap(), alone))
}

/// The gates of a law whose strains are of the size `strain`.
fn gates(strain: f64) -> Vec<Gate> {
    let (width, gain) = (0.1 * strain, 50.0 / strain);
    vec![
        Gate::Hard,
        Gate::Smoothstep { width },
        Gate::StraightThrough { width },
        Gate::Sigmoid {
            gain,
            side: YieldSide::Signed,
        },
    ]
}

/// Every schedule that the fused path has: strains read and stresses, at one step and at many; folds, loops and
/// explicit releases; more hinges a point than one thread adds.
fn schedules(checked: &CheckedLaw, gate: Gate) -> Vec<(&'static str, Rollout)> {
    let (law, strain) = (&checked.law, checked.strain);
    let crease = |hinges| CreaseTest {
        hinges,
        ..CreaseTest::default()
    };
    let points = [0.5, 40.0, 2000.0].map(|press| CreasePoint {
        gap: 1.2 / strain,
        press,
        read: 200.0,
    });
    let kes = KesTest {
        max_curvature: 1.37 * strain,
        rate: 0.3 * strain,
        quarter_steps: 7,
        dwell_steps: 3,
    };
    let creep = |reading| {
        let steps = [1.0, 1.7, 1.4].map(|fraction| Step::prescribe(fraction, 5.0));
        let mobility = 0.3 / checked.values[0];
        let creeps = Step {
            motion: StepKind::Creep { mobility },
            seconds: 3.0,
            share: 0.1,
        };
        Rollout {
            law: law.clone(),
            gate,
            schedule: Schedule {
                steps: [&steps[..], &[creeps; 8]].concat(),
                readings: vec![1, 6, 10],
                reading,
            },
            points: 2,
            hinges: 5,
            amplitude: (0..10).map(|i| (0.31 + 0.17 * i as f64) * strain).collect(),
            duration: (0..10).map(|i| 7.0 * i as f64).collect(),
        }
    };
    vec![
        (
            "crease",
            crease(37).rollout(law.clone(), gate, &points).unwrap(),
        ),
        (
            "crease, many hinges",
            crease(700)
                .rollout(law.clone(), gate, &points[1..])
                .unwrap(),
        ),
        ("kes", kes.rollout(law.clone(), gate, &[0.0, 60.0]).unwrap()),
        ("creep, strain", creep(HingeReading::Strain)),
        ("creep, stress", creep(HingeReading::Stress)),
    ]
}

/// Readings and gradients of the kernels, for every law, gate and schedule of the fused path, are those of the CPU in
/// double precision: readings to 1e-5 of the largest, gradients to 1e-4 of the largest entry of a row of parameters.
/// A second run has the same bits. A roll-out is one launch, and one with gradient two.
#[test]
fn kernels_agree_with_the_cpu() {
    let Some((gpu, _alone)) = gpu() else { return };
    let exact = Compute::cpu(Precision::F64);
    let (mut checked, mut worst) = (0, [0.0f64; 2]);
    for law in checked_laws() {
        for gate in gates(law.strain) {
            for (name, rollout) in schedules(&law, gate) {
                if rollout.path() != RolloutPath::Fused {
                    continue;
                }
                let columns = rollout.schedule.readings.len();
                let shape = [rollout.points, rollout.hinges, columns];
                let weights: Vec<f64> = (0..shape.iter().product())
                    .map(|i: usize| 0.5 + (i % 7) as f64)
                    .collect();
                let run = |compute: &Compute| {
                    let parameters = rollout.shared_parameters(compute, &law.values);
                    let before = launches();
                    let alone = rollout.forward(compute, parameters.clone());
                    let alone = compute.values(alone).unwrap();
                    let forward = launches() - before;
                    let weights = compute.tensor(&weights, shape);
                    let (readings, gradient) = rollout.linearized(compute, parameters, weights);
                    let readings = compute.values(readings).unwrap();
                    let gradient = compute.values(gradient).unwrap();
                    assert_eq!(alone, readings);
                    (readings, gradient, [forward, launches() - before - forward])
                };
                let (ours, again, theirs) = (run(&gpu), run(&gpu), run(&exact));
                assert_eq!((&ours.0, &ours.1), (&again.0, &again.1), "{name}");
                if !law.name.contains("population") {
                    assert_eq!(ours.2, [1, 2], "{name}");
                }
                assert_eq!(theirs.2, [0, 0]);
                let largest = |v: &[f64]| v.iter().fold(0.0f64, |m, x| m.max(x.abs()));
                let readings = relative_difference(&ours.0, &theirs.0, largest(&theirs.0));
                // Parameters have units of their own: a gradient times the parameter has that of a reading.
                let scaled = |gradient: &[f64]| -> Vec<f64> {
                    let values = law.values.iter().cycle();
                    gradient.iter().zip(values).map(|(g, v)| g * v).collect()
                };
                let (a, b) = (scaled(&ours.1), scaled(&theirs.1));
                let gradients = relative_difference(&a, &b, largest(&b));
                println!("{}, {gate:?}, {name}: {readings:e} {gradients:e}", law.name);
                // A hinge that slid at the release rests on its threshold, where rounding decides the biased slope.
                // In single precision the CPU is off by as much.
                let decided =
                    matches!(gate, Gate::StraightThrough { .. }) && name.contains("crease");
                let gradients = if decided { 0.0 } else { gradients };
                worst = [worst[0].max(readings), worst[1].max(gradients)];
                assert!(largest(&theirs.0) > 0.0 && largest(&b) > 0.0);
                checked += 1;
            }
        }
    }
    println!("{checked} roll-outs, worst {worst:?}");
    assert!(checked >= 40 && worst[0] < 1e-5 && worst[1] < 1e-4);
}

/// Angles of a crease test and their Jacobian agree with f64 on the CPU as f32 can.
#[test]
fn the_crease_test_agrees_with_the_cpu() {
    let Some((gpu, _alone)) = gpu() else { return };
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
    let Some((gpu, _alone)) = gpu() else { return };
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

/// Whole folds, rolled out at the nodes of their quadrature, have the angles and slopes that they have in double
/// precision on the CPU.
#[test]
fn whole_folds_agree_with_the_cpu() {
    let Some((gpu, _alone)) = gpu() else { return };
    let cotton = ReadyMaterial::hard("cotton broad").unwrap();
    let points = CreaseTest::grid(&[5e-4, 1e-3], &[10.0, 1000.0], &[300.0]);
    let run = |compute: &Compute| {
        let test = CreaseTest::default();
        let read = test
            .simulate_whole(&cotton, &points, compute, true)
            .unwrap();
        let values = cotton.values.iter().cycle();
        let slopes = read.slopes.iter().zip(values).map(|(s, v)| s * v);
        (read.values.clone(), slopes.collect::<Vec<f64>>())
    };
    let (ours, exact) = (run(&gpu), run(&Compute::cpu(Precision::F64)));
    let largest = exact.1.iter().fold(0.0f64, |m, s| m.max(s.abs()));
    let angles = relative_difference(&ours.0, &exact.0, 180.0);
    let slopes = relative_difference(&ours.1, &exact.1, largest);
    println!("angles {angles:e}, slopes {slopes:e}");
    assert!(angles < 1e-5 && slopes < 1e-4, "{angles:e} {slopes:e}");
    assert!(largest > 1.0 && exact.0.iter().all(|angle| *angle > 1.0));
}

/// What `rumple devices` runs passes.
#[test]
fn the_device_passes_its_self_test() {
    let Some((gpu, _alone)) = gpu() else { return };
    for check in check_device(&gpu).unwrap() {
        assert!(check.passed() && check.error > 0.0, "{check:?}");
    }
}

/// A whole fit of the shipped table with a GPU ends in the parameters of the CPU, within 1 % of their standard errors.
/// It says what ran where.
#[test]
fn a_fit_on_the_gpu_ends_where_the_cpu_does() {
    let Some((gpu, _alone)) = gpu() else { return };
    let run = |compute: &Compute| {
        let folder = Folder::new();
        let data = concat!(env!("CARGO_MANIFEST_DIR"), "/data/levison_like_cotton.csv");
        let job = FitJob::new(&[data.into()], compute).unwrap();
        let before = launches();
        let result = job
            .run(&folder.0, &mut |_| ControlFlow::Continue(()))
            .unwrap();
        (result.unwrap(), launches() - before)
    };
    let (ours, launched) = run(&gpu);
    let (theirs, none) = run(&Compute::cpu(Precision::F64));
    println!("{launched} launches in {} rounds", ours.rounds.len());
    assert!(launched > 20 && none == 0);
    assert!(ours.run.device.starts_with("gpu, f32") && ours.run.device.contains("cpu, f64"));
    let free = theirs.parameters.iter().filter(|p| p.free);
    let mut compared = 0;
    for theirs in free {
        let ours = ours
            .parameters
            .iter()
            .find(|p| p.name == theirs.name)
            .unwrap();
        let share = (ours.best - theirs.best).abs() / theirs.std_error.unwrap();
        println!("{}: {share:e} of the standard error", theirs.name);
        assert!(share < 0.01, "{}", theirs.name);
        compared += 1;
    }
    assert_eq!(compared, 8);
}

/// A fit that was stopped on a GPU goes on without it.
#[test]
fn the_cpu_goes_on_with_a_fit_of_the_gpu() {
    let Some((gpu, _alone)) = gpu() else { return };
    let folder = Folder::new();
    let data = concat!(env!("CARGO_MANIFEST_DIR"), "/data/levison_like_cotton.csv");
    let mut heard = 0;
    let stopped = FitJob::new(&[data.into()], &gpu)
        .unwrap()
        .run(&folder.0, &mut |_| {
            heard += 1;
            match heard < 5 {
                true => ControlFlow::Continue(()),
                false => ControlFlow::Break(()),
            }
        });
    assert!(stopped.is_err() || stopped.is_ok_and(|result| result.is_none_or(|r| r.interrupted)));
    let cpu = Compute::cpu(Precision::F64);
    let result = FitJob::resume(&folder.0, &cpu, &mut |_| ControlFlow::Continue(()));
    let result = result.unwrap().unwrap();
    assert!(
        !result.interrupted && result.statistics.chi2 < 34.0,
        "{}",
        result.statistics.chi2
    );
    assert_eq!(result.run.device, "gpu, f32, then cpu, f64");
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
    let Some((gpu, _alone)) = gpu() else { return };
    let exact = Compute::cpu(Precision::F64);
    cloth_devices::compare(&gpu, &exact, 3);
}

/// Both networks of the curriculum, fresh and after they have learned a little.
#[test]
fn the_curriculum_agrees_with_the_cpu() {
    let Some((gpu, _alone)) = gpu() else { return };
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
