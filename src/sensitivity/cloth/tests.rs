use std::path::Path;

use super::*;
use crate::numeric::Precision;

/// A sheet that is held at two ends, of which one is moved, over more steps than the solver keeps a factor for.
const SCENE: &str = r#"{"name": "test",
  "mesh": {"shape": "rectangle", "width_m": 0.1, "height_m": 0.1, "nx": 4, "ny": 4},
  "fabric": {"material": "cotton"},
  "time_step_s": 0.005, "duration_s": 0.2,
  "handles": [
    {"name": "left", "vertices": {"end": "-x"}, "kind": "pin",
     "motions": [{"translate_m": [0.03, 0, 0.01], "from_s": 0, "to_s": 0.15}]},
    {"name": "right", "vertices": {"end": "x"}}],
  "readings": ["total_angle", {"kind": "handle_force", "handle": "right", "axis": "x"}]}"#;

fn model(scene: &str) -> ClothModel {
    let scene = Scene::parse(scene, "scene", Path::new("")).unwrap();
    ClothModel::new(&scene, &Compute::cpu(Precision::F64), &ClothWish::default()).unwrap()
}

/// Values and slopes of a study come from the same steps: the values are the same, bit by bit, whether slopes are
/// asked for or not, as a simulation of the scene gives them, and as the sweep that makes the slopes reads them.
#[test]
fn values_and_slopes_come_from_the_same_steps() {
    let model = model(SCENE);
    let point: Vec<f64> = model.factors().iter().map(|f| f.nominal).collect();
    let plain = model.one(&point, false).unwrap();
    let full = model.one(&point, true).unwrap();
    let bits = |values: &[f64]| values.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
    assert_eq!(bits(&plain.values), bits(&full.values));
    let count = model.prepared.readings.len();
    assert!(full.slopes[..count * point.len()].iter().any(|s| *s != 0.0));

    let prepared = PreparedScene {
        parameters: model.varied.apply(&model.prepared, &point),
        ..model.prepared.clone()
    };
    let mut simulation = crate::scene::run::Simulation::start(&prepared).unwrap();
    let mut readings = Vec::new();
    simulation
        .run(|simulation, before, statistics| {
            let row = crate::scene::run::SceneRow::of(simulation, before, Some(statistics))?;
            readings = row.readings;
            Ok(())
        })
        .unwrap();
    assert_eq!(simulation.step, 40);
    assert_eq!(bits(&readings), bits(&full.values[..count]));

    let drive = |step: usize| prepared.drive(step);
    let rollout = prepared.rollout(&drive);
    let watches: Vec<WatchedReading> = prepared
        .readings
        .iter()
        .map(|reading| WatchedReading {
            after: rollout.steps,
            reading: reading.clone(),
            weight: 1.0,
        })
        .collect();
    let mut solver = prepared.solver().unwrap();
    let start = prepared.start();
    let back = rollout.gradient(&mut solver, &start, &prepared.parameters, &watches);
    assert_eq!(bits(&back.unwrap().values), bits(&full.values[..count]));
}

/// A run that leaves all bounds is a failed run of the study, with step and vertex; the study goes on.
#[test]
fn a_run_that_diverges_is_a_failed_run() {
    let mut scene: Value = serde_json::from_str(SCENE).unwrap();
    scene["handles"] = json!([]);
    scene["readings"] = json!(["total_angle"]);
    scene["gravity_m_per_s2"] = json!([0, 0, -1e4]);
    scene["time_step_s"] = json!(1);
    scene["duration_s"] = json!(50);
    let model = model(&scene.to_string());
    let point: Vec<f64> = model.factors().iter().map(|f| f.nominal).collect();
    for full in [false, true] {
        let run = model.one(&point, full).unwrap();
        let why = run.failure.expect("a reason");
        assert!(why.contains("diverged in step 13: vertex"), "{why}");
    }
}
