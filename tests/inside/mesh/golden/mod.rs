//! The mesh step against the authors' own program (golden/mesh and golden/mesh_trueheight).

mod scene;
mod tensile;
mod twist;
mod unmended;

use crate::inside::common::{
    cloth::{difference, solver},
    golden,
};
use rumple::numeric::Field;
use scene::{Probe, Scene, handles, numbers};

/// The tolerance of one step. An independent re-implementation reached 5e-13, limited by U·U − 1 at small strains.
const PROBE: f64 = 1e-10;

#[test]
fn one_step_of_every_probe_is_the_programs() {
    for name in ["drape12", "fold_short", "random_probe"] {
        let folder = format!("mesh_trueheight/{name}");
        let probe = Probe::load(&folder);
        let (scene, cloth) = (&probe.scene, &probe.scene.cloth);
        let forces = scene.flat(&probe.system.response.forces(cloth));
        let theirs = probe.golden(&[
            "force_stretch",
            "force_bend_elastoplastic",
            "force_bend_friction",
        ]);
        assert!(difference(&forces, &theirs) < PROBE, "{name}: forces");

        let w = scene.vertex(&numbers(&probe.values["w"]));
        let image = scene.flat(&probe.system.tangent.apply(&cloth.incidence, &w));
        assert!(
            difference(&image, &probe.golden(&["A_w"])) < PROBE,
            "{name}: A·w"
        );

        // Ours is A·v' = momentum, theirs A·Δv = b.
        let image = probe
            .system
            .tangent
            .apply(&cloth.incidence, &probe.state.velocities);
        let right = scene.flat(&(probe.system.momentum.clone() - image));
        let error = difference(&right, &probe.golden(&["rhs_b"]));
        assert!(error < PROBE, "{name}: right-hand side {error:e}");

        let after = scene.edges(&format!("{folder}/probe_edges_after.csv"));
        for (ours, theirs) in probe.system.response.hinges.history.iter().zip(&after) {
            let values = |f: &Field| cloth.compute.values(f.clone()).unwrap();
            let gap = values(&(ours.clone() - theirs.clone()));
            assert!(gap.iter().all(|g| g.abs() < 1e-12), "{name}: history");
        }
    }
}

#[test]
fn the_new_velocity_is_the_programs() {
    let probe = Probe::load("mesh_trueheight/random_probe");
    let cloth = &probe.scene.cloth;
    let mut solver = solver(cloth);
    let next = cloth
        .advance(
            &mut solver,
            &probe.state,
            &probe.scene.parameters,
            &probe.drive,
        )
        .unwrap();
    let change = probe
        .scene
        .flat(&(next.state.velocities - probe.state.velocities.clone()));
    let error = difference(&change, &probe.golden(&["delta_v_direct"]));
    assert!(error < 1e-9, "{error:e}");
}

/// 200 steps from the start; a disturbance of 1e-12 m grows to at most 3e-10 m (golden/README.md).
#[test]
fn trajectories_are_the_programs() {
    for name in ["drape12", "fold_short"] {
        let folder = format!("mesh_trueheight/{name}");
        let scene = Scene::load(&folder);
        let cloth = &scene.cloth;
        let handles = handles(&folder);
        let count = cloth.vertices();
        let rows = golden::rows(&format!("{folder}/positions.csv"));
        let theirs = |step: usize| -> Vec<f64> {
            let rows = &rows[step * count..(step + 1) * count];
            rows.iter().flat_map(|r| r[2..5].to_vec()).collect()
        };
        let mut solver = solver(cloth);
        let mut state = cloth.start(&scene.parameters);
        let mut travelled = 0.0f64;
        for step in 0..200 {
            let drive = scene.drive(&handles, step);
            state = cloth
                .advance(&mut solver, &state, &scene.parameters, &drive)
                .unwrap()
                .state;
            let (ours, theirs, start) = (scene.flat(&state.positions), theirs(step + 1), theirs(0));
            for ((a, b), c) in ours.iter().zip(&theirs).zip(&start) {
                assert!((a - b).abs() < 1e-9, "{name}: step {}: {a} {b}", step + 1);
                travelled = travelled.max((b - c).abs());
            }
        }
        assert!(travelled > 0.01, "{name}: the cloth must have moved");
    }
}
