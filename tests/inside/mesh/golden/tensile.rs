//! Tensile friction and plasticity against the program's.

use rumple::{numeric::Field, solve::Tangent, step::Cloth};

use super::{
    PROBE,
    scene::{Probe, numbers},
};
use crate::inside::common::{
    cloth::{difference, tensile},
    crumpled::dense,
    golden,
};

/// The history columns of a probe's triangles, in the order of the law, `[3, triangles]` each.
fn faces(cloth: &Cloth, name: &str) -> Vec<Field> {
    let rows = golden::rows(name);
    let count = cloth.mesh.triangles.len();
    assert_eq!(rows.len(), 3 * count);
    // anchor, stick time, plastic, accumulated, flow time, direction, yield
    [2, 3, 4, 5, 6, 8, 7]
        .map(|column| {
            let mut values = vec![0.0; 3 * count];
            for row in &rows {
                values[row[1] as usize * count + row[0] as usize] = row[column];
            }
            cloth.compute.tensor(&values, [3, count])
        })
        .to_vec()
}

/// Stretched triangles that stick, slip and yield are the program's but for one thing: where it stiffens
/// against turning with the signed tension of friction, we take only what is positive. Its matrix is
/// indefinite there, ours is not.
#[test]
fn the_tensile_probe_is_the_programs_but_for_compressed_friction() {
    let folder = "mesh/random_probe_tensile";
    let mut probe = Probe::load(folder);
    let cloth = &probe.scene.cloth;
    probe.scene.parameters.tensile = tensile();
    // The hinges of this scene are those of the unmended program: leave them out.
    for i in [0, 1, 6] {
        let stiffness = &mut probe.scene.parameters.bending[i];
        *stiffness = stiffness.clone() * 1e-20;
    }
    probe.state.tensile = faces(cloth, &format!("{folder}/probe_faces_before.csv"));
    let system = cloth.system(&probe.state, &probe.scene.parameters, &probe.drive);
    let triangles = &system.response.triangles;
    let after = faces(cloth, &format!("{folder}/probe_faces_after.csv"));
    let values = |f: Field| cloth.compute.values(f).unwrap();
    let mut changed = 0;
    for ((ours, theirs), before) in triangles
        .history
        .iter()
        .zip(&after)
        .zip(&probe.state.tensile)
    {
        let gap = values(ours.clone() - theirs.clone());
        // Times are up to 100 s and strains below 1.
        assert!(gap.iter().all(|g| g.abs() < 1e-12), "history");
        let moved = values(ours.clone() - before.clone());
        changed += moved.iter().filter(|m| m.abs() > 1e-6).count();
    }
    assert!(changed > 1000, "triangles must slip and yield");
    let forces = probe.scene.flat(&system.response.forces(cloth));
    let error = difference(&forces, &probe.golden(&["force_stretch"]));
    assert!(error < PROBE, "{error:e}");

    // The stretching part of the matrix, with the tension signed as in the program.
    let factor = probe.drive.seconds.powi(2);
    let areas: Vec<f64> = cloth.rest.triangles.iter().map(|t| t.area).collect();
    let areas = cloth.compute.tensor(&areas, [1, areas.len()]);
    let sticking = (triangles.columns.strain() - triangles.history[0].clone()).narrow(0, 0, 2);
    let compressed = sticking.clamp_max(0.0) * 200.0 * areas * factor;
    let signed = Tangent {
        tension: system.tangent.tension.clone() + compressed,
        ..system.tangent.clone()
    };
    let w = probe.scene.vertex(&numbers(&probe.values["w"]));
    let stretching = |tangent: &Tangent| {
        let alone = Tangent {
            blocks: tangent.blocks.zeros_like(),
            bend_weight: tangent.bend_weight.zeros_like(),
            ..tangent.clone()
        };
        probe.scene.flat(&alone.apply(&cloth.incidence, &w))
    };
    let theirs = probe.golden(&["Astretch_w"]);
    let error = difference(&stretching(&signed), &theirs);
    assert!(error < PROBE, "{error:e}");
    let departure = difference(&stretching(&system.tangent), &theirs);
    let smallest =
        [&system.tangent, &signed].map(|t| dense(cloth, t).symmetric_eigenvalues().min());
    println!("A·w differs by {departure:.3}; smallest eigenvalues {smallest:?}");
    assert!((0.0032..0.0033).contains(&departure), "{departure}");
    assert!(smallest[0] > 0.0 && smallest[1] < -1e-4, "{smallest:?}");
}
