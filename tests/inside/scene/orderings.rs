//! Paper 1's orderings, with numbers: what wrinkles more, sharper and longer, and what does not matter.
//!
//! The scenes are the shipped ones, some on coarser meshes. Buckling makes single positions depend on
//! everything, so that only sums and extremes over the whole cloth are compared.

use std::path::Path;

use crate::inside::common::cpu;
use rumple::scene::{
    Scene,
    run::{SceneRow, Simulation},
};
use serde_json::{Value, json};

const HOLDS: [&str; 2] = ["short", "long"];

fn shipped(name: &str) -> Value {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/scenes");
    let text = std::fs::read_to_string(folder.join(format!("{name}.json"))).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// A shipped scene with a quarter of its cells that reads the total angle.
fn coarse(name: &str) -> Value {
    let mut scene = shipped(name);
    scene["readings"] = json!(["total_angle"]);
    for count in ["nx", "ny"] {
        scene["mesh"][count] = json!(scene["mesh"][count].as_u64().unwrap() / 2);
    }
    scene
}

/// Runs a scene and measures it at some times.
fn rows<const N: usize>(scene: &Value, times: [f64; N]) -> [SceneRow; N] {
    let scene = Scene::parse(&scene.to_string(), "scene", Path::new("")).unwrap();
    let prepared = scene.prepare(&cpu()).unwrap();
    let mut rows = Vec::new();
    let mut run = Simulation::start(&prepared).unwrap();
    let ended = run.run(|run, before, statistics| {
        if times
            .get(rows.len())
            .is_some_and(|time| run.time() > time - 0.5 * scene.clock.step)
        {
            rows.push(SceneRow::of(run, before, Some(statistics))?);
        }
        Ok(())
    });
    ended.unwrap();
    rows.try_into().expect("a row a time")
}

// Fig. 2's trend on the mesh: a strip that was held for 3000 s opens less than one that was let go at once.
#[test]
fn a_strip_that_was_held_longer_stays_more_closed() {
    let angles = HOLDS.map(|hold| {
        let [end] = rows(&shipped(&format!("folded_strip_{hold}")), [1.6]);
        end.readings[0]
    });
    // Measured: 152° and 76°. Recovery angles of a laboratory scatter by about 2°.
    assert!(angles[0] > angles[1] + 20.0, "{angles:?}");
    assert!(angles[1] > 5.0, "the strip opens at all: {angles:?}");
}

/// After its return: total angle \[rad\] and root mean square deviation of the radius \[mm\].
fn twisted(fabric: &str, hold: &str, law: &str) -> (f64, f64) {
    let mut scene = shipped(&format!("twist_{fabric}_{hold}"));
    scene["fabric"]["law"] = json!(law);
    scene["readings"] = json!(["total_angle", {"kind": "rms_radius", "axis": "y"}]);
    let [end] = rows(&scene, [1.0]);
    (end.readings[0], 1e3 * end.readings[1])
}

// Fig. 21: cotton wrinkles most and polyester least; a long hold adds to cotton and denim and not to polyester,
// whose friction is a thousandth of its stiffness and whose yield is never reached.
#[test]
fn a_twist_wrinkles_cotton_more_than_denim_more_than_polyester() {
    let fabrics = ["cotton", "denim", "polyester"];
    // A cylinder's own angles and bulges are there without any friction: what is left beyond them counts.
    let elastic = fabrics.map(|fabric| twisted(fabric, "short", "elastic"));
    let ours = HOLDS.map(|hold| fabrics.map(|fabric| twisted(fabric, hold, "time_dependent")));
    let bulge = |hold: usize, fabric: usize| ours[hold][fabric].1 - elastic[fabric].1;
    for hold in [0, 1] {
        // Measured: 1.48 : 0.90 : 0.00 mm at once and 2.42 : 1.25 : 0.00 mm after 500 s; other seeds of the mesh
        // move these by a tenth.
        assert!(bulge(hold, 0) > 1.3 * bulge(hold, 1), "{ours:?}");
        assert!(bulge(hold, 1) > 0.5, "{ours:?}");
        assert!(bulge(hold, 2).abs() < 0.02, "{ours:?}");
        // Cotton's angles are new creases; denim's wrinkles are too round to add up to more than the cylinder.
        let crease = |fabric: usize| ours[hold][fabric].0 - elastic[fabric].0;
        assert!(crease(0) > 30.0, "{ours:?}");
        assert!(crease(0) > 10.0 * crease(1), "{ours:?}");
        assert!(crease(2).abs() < 0.1, "{ours:?}");
    }
    assert!(bulge(1, 0) > 1.3 * bulge(0, 0), "cotton: {ours:?}");
    assert!(bulge(1, 1) > 1.2 * bulge(0, 1), "denim: {ours:?}");
}

/// One wrinkle: how much sharper its sharpest hinge is than the mean one once it is let go, and the share of the
/// pushed sheet's angles that is left after a pull.
fn wrinkle(cause: &str, hold: &str, push: f64) -> (f64, f64) {
    let mut scene = coarse(&format!("wrinkle_{cause}_{hold}"));
    scene["handles"][1]["motions"][0]["translate_m"] = json!([-push, 0, 0]);
    let [held, free, pulled] = rows(&scene, [0.45, 1.5, 2.2]);
    let hinges = (3 * 24 * 12 - 24 - 12) as f64;
    let sharpness = hinges * free.max_angle / free.readings[0];
    (sharpness, pulled.readings[0] / held.readings[0])
}

// Fig. 22: a plastic wrinkle is sharper than one of friction and outlasts a pull better, since only the tightest
// bends yield while all of the bend slips; both are more lasting after a hold.
#[test]
fn a_plastic_wrinkle_is_sharper_and_lasts_longer_than_one_of_friction() {
    let plastic = HOLDS.map(|hold| wrinkle("plastic", hold, 0.008));
    // The figure's small push, and the same push as that of the plastic wrinkle.
    for push in [0.002, 0.008] {
        let friction = HOLDS.map(|hold| wrinkle("friction", hold, push));
        for hold in [0, 1] {
            // Measured at 8 mm: 14.5 against 3.7 times the mean at once, 19.2 against 9.8 after the hold.
            assert!(
                plastic[hold].0 > 1.5 * friction[hold].0,
                "{plastic:?} {friction:?}"
            );
            // Measured: 24 % against 19 % (2 mm) and 13 % (8 mm) at once, 62 % against 49 % and 52 % after the hold.
            assert!(
                plastic[hold].1 > friction[hold].1 + 0.03,
                "{plastic:?} {friction:?}"
            );
        }
        assert!(friction[1].1 > 2.0 * friction[0].1, "{friction:?}");
    }
    assert!(plastic[1].1 > 2.0 * plastic[0].1, "{plastic:?}");
}

// Figs. 12 and 15: the baselines have no clock, so that a hold changes no bit of their results, and they leave
// fewer wrinkles than ours.
#[test]
fn baselines_do_not_see_how_long_they_were_held() {
    let angle = |law: &str| {
        HOLDS.map(|hold| {
            let mut scene = coarse(&format!("edge_twist_ours_{hold}"));
            scene["fabric"]["law"] = json!(law);
            let [end] = rows(&scene, [1.4]);
            end.readings[0]
        })
    };
    let (ours, elastic) = (angle("time_dependent"), angle("elastic"));
    // Measured: 47.0 and 90.9 rad.
    assert!(ours[1] > 1.5 * ours[0], "{ours:?}");
    for law in ["hardening_plastic", "dahl"] {
        // Measured: 24.7 and 36.6 rad, where the elastic cloth sags to 4.4 rad.
        let baseline = angle(law);
        assert_eq!(baseline[0], baseline[1], "{law}");
        assert!(baseline[0] > 3.0 * elastic[0], "{law}: {baseline:?}");
        assert!(ours[0] > 1.15 * baseline[0], "{law}: {baseline:?} {ours:?}");
    }
}

/// The cotton twist at a time step: torque \[N·m\] and total angle \[rad\] while held, and those after the return.
fn stepped(step: f64, hold: &str) -> [f64; 3] {
    let mut scene = shipped(&format!("twist_cotton_{hold}"));
    scene["time_step_s"] = json!(step);
    scene["readings"] =
        json!(["total_angle", {"kind": "handle_torque", "handle": "top", "axis": "y"}]);
    let [held, end] = rows(&scene, [0.4, 1.0]);
    [-held.readings[1], held.readings[0], end.readings[0]]
}

// Fig. 24: the time step changes the wrinkles little, and much less than the hold does.
#[test]
fn wrinkles_hardly_depend_on_the_time_step() {
    // Left by the elastic cotton cylinder, see above \[rad\].
    let cylinder = twisted("cotton", "short", "elastic").0;
    let steps = [0.02, 0.01, 0.005];
    let long = steps.map(|step| stepped(step, "long"));
    let short = steps.map(|step| stepped(step, "short"));
    let spread = |values: [f64; 3]| {
        let low = values.into_iter().fold(f64::INFINITY, f64::min);
        values.into_iter().fold(low, f64::max) / low - 1.0
    };
    let each = |runs: [[f64; 3]; 3], which: usize| runs.map(|run| run[which]);
    // Measured: 0.9 % of 0.10 N·m.
    assert!(spread(each(long, 0)) < 0.03, "torque: {long:?}");
    // Measured: 3.7 % of 1040 rad.
    assert!(spread(each(long, 1)) < 0.08, "held: {long:?}");
    let left = |runs: [[f64; 3]; 3]| runs.map(|run| run[2] - cylinder);
    // Measured: 6 % of 140 rad. A step of 0.0025 s leaves 176 rad, other seeds of the mesh 166 and 197 rad; the
    // radius varies by 17 % over these steps, see docs/reference/scenes.md.
    assert!(spread(left(long)) < 0.15, "left: {long:?}");
    for (long, short) in left(long).into_iter().zip(left(short)) {
        // Measured: 1.8, 2.1 and 2.4 times.
        assert!(long > 1.5 * short, "{long} {short}");
    }
}
