//! The loss of paper 2: every term against differences, against a tape, and against the mesh simulator.

mod common;

use std::sync::Arc;

use common::{
    cloth::{Dice, elastic_setup, membrane, one},
    cpu,
};
use rumple::{
    learn::{
        Body, Forms, Garment, Given, GravityForm, Imperfection, Loss, LossConfig, Motion,
        Reduction, Scene, Sheet, StretchForm, Term, Terms,
    },
    material::{Elastic, Law, PerfectPlastic},
    numeric::{Field, judge, nearest_turn, probes},
    reading::Reading,
    step::{Cloth, Drive, Parameters, Setup, State},
};

const FRAMES: usize = 3;

/// A small crumpled sleeve in three frames of a bend, with rest bending, and two frames before each.
struct Batch {
    scene: Scene,
    sheet: Sheet,
    positions: Field,
    given: Given,
}

fn batch() -> Batch {
    let body = Body::arm();
    let waves = Imperfection::seeded(4);
    let garment = Garment::tube("small", &body, waves, [0.05, 0.3], [8, 7], |[x, y, z]| {
        [y, -z, -x]
    })
    .unwrap();
    let scene = Scene { body, garment };
    let compute = cpu();
    let motion = Motion::canonical(&scene.body);
    let poses = scene.poses(&motion, 20..20 + FRAMES).unwrap();
    let sheet = Sheet::new(&scene.garment, FRAMES, &compute);
    let anchors = scene.skinned(&poses, &compute).plain();
    let mut dice = Dice::new(3);
    let shape = anchors.dims();
    let mut crumpled = |size: f64| anchors.clone() + dice.field(&compute, shape, (-size, size));
    let positions = crumpled(0.006);
    let (previous, before) = (crumpled(0.006), crumpled(0.006));
    let mut plastic = vec![0.0; FRAMES * sheet.hinges];
    for value in plastic.iter_mut().skip(1).step_by(2) {
        *value = 0.4 * dice.one();
    }
    let given = Given {
        previous,
        before,
        moving: compute.tensor(&[0.0, 1.0, 1.0], [FRAMES, 1]),
        plastic: compute.tensor(&plastic, [FRAMES, sheet.hinges]),
        anchors,
        body: scene.posed(&poses, &compute),
    };
    Batch {
        scene,
        sheet,
        positions,
        given,
    }
}

/// All terms off but one.
fn only(name: &str, over: Reduction, config: LossConfig) -> LossConfig {
    let mut alone = config;
    let off = Term { weight: 0.0, over };
    let on = Term { weight: 0.7, over };
    let pick = |this: &str| if this == name { on } else { off };
    alone.bending = pick("bending");
    alone.stretch = pick("stretch");
    alone.shear = pick("shear");
    alone.collision = pick("collision");
    alone.inertia = pick("inertia");
    alone.gravity = pick("gravity");
    alone.springs = pick("springs");
    alone.regression = pick("regression");
    alone.crease_regression = pick("crease_regression");
    alone
}

fn names() -> Vec<&'static str> {
    let terms: Terms<f64> = Terms::default();
    terms.named().map(|(name, _)| name).to_vec()
}

fn printed_forms() -> LossConfig {
    LossConfig {
        forms: Forms {
            stretch: StretchForm::Printed,
            gravity: GravityForm::Printed,
        },
        frames: Reduction::Sum,
        ..LossConfig::default()
    }
}

#[test]
fn every_term_has_the_gradient_of_its_energy() {
    let Batch {
        sheet,
        positions,
        given,
        ..
    } = batch();
    let compute = cpu();
    let mut dice = Dice::new(8);
    let direction = dice.field(&compute, positions.dims(), (-1.0, 1.0));
    // Pinned vertices do not move, and have no gradient.
    let free: Vec<f64> = (0..3 * FRAMES * sheet.vertices)
        .map(|n| if n % sheet.vertices < 8 { 0.0 } else { 1.0 })
        .collect();
    let direction = direction * compute.tensor(&free, positions.dims());
    for config in [LossConfig::default(), printed_forms()] {
        for over in [Reduction::Sum, Reduction::Mean] {
            for name in names() {
                let loss = Loss::new(only(name, over, config)).unwrap();
                let here = loss.linearized(&sheet, &positions, &given).unwrap();
                assert!(here.value != 0.0, "{name} is idle");
                let slope = compute
                    .values((here.gradient * direction.clone()).sum())
                    .unwrap()[0];
                // Steps of up to 2 mm: x = 0.2 with relative steps of at most 1e-2.
                let at = |x: f64| {
                    let moved = positions.clone() + direction.clone() * (x - 0.2);
                    loss.value(&sheet, &moved, &given).unwrap()
                };
                let values: Vec<f64> = probes(0.2).into_iter().map(at).collect();
                let check = judge(0.2, slope, here.value.abs(), &values);
                assert!(check.relative_error < 1e-7, "{name} {over:?}: {check:?}");
                // Contacts that open within the largest steps bend the slope; the others are C2.
                let right = check.slope.is_none_or(|s| s > 1.8);
                assert!(right || name == "collision", "{name} {over:?}: {check:?}");
            }
        }
    }
}

#[test]
fn the_closed_gradient_is_that_of_a_tape() {
    let Batch {
        sheet,
        positions,
        given,
        ..
    } = batch();
    let compute = cpu();
    for config in [LossConfig::default(), printed_forms()] {
        for (term, name) in names().into_iter().enumerate() {
            let loss = Loss::new(only(name, Reduction::Mean, config)).unwrap();
            let closed = loss.linearized(&sheet, &positions, &given).unwrap();
            let leaf = positions.clone().autodiff().require_grad();
            let energies = loss.energies(&sheet, &leaf, &given);
            let share = match config.frames {
                Reduction::Mean => 0.7 / FRAMES as f64,
                Reduction::Sum => 0.7,
            };
            let sum = energies.named()[term].1.clone().sum() * share;
            let gradients = sum.backward();
            let taped = compute.values(leaf.grad(&gradients).unwrap()).unwrap();
            let closed = compute.values(closed.gradient).unwrap();
            let largest = closed.iter().fold(0.0, |m: f64, g| m.max(g.abs()));
            assert!(largest > 0.0, "{name} is idle");
            for (n, (a, b)) in closed.iter().zip(&taped).enumerate() {
                let pinned = n % sheet.vertices < 8;
                let near = (a - b).abs() < 1e-11 * largest;
                assert!(near || pinned && *a == 0.0, "{name} {n}: {a} {b}");
            }
        }
    }
}

/// The same garment as a cloth of the mesh simulator.
fn cloth(scene: &Scene, law: Arc<dyn Law>, gravity: [f64; 3]) -> Cloth {
    let setup = Setup {
        law,
        gravity,
        rest_is_curved: true,
        ..elastic_setup()
    };
    Cloth::new(scene.garment.mesh.clone(), setup, &cpu()).unwrap()
}

fn read(reading: Reading, cloth: &Cloth, state: &State, parameters: &Parameters) -> f64 {
    let drive = cloth.free_drive(1.0);
    reading.value(cloth, state, parameters, &drive).unwrap()
}

#[test]
fn energies_are_those_of_the_mesh_simulator() {
    let Batch {
        scene,
        sheet,
        positions,
        mut given,
    } = batch();
    let compute = cpu();
    given.plastic = given.plastic.zeros_like();
    let loss = Loss::new(LossConfig::default()).unwrap();
    let materials = loss.config().materials;
    let energies = loss.energies(&sheet, &positions, &given);
    let cloth = cloth(&scene, Arc::new(Elastic), [0.0; 3]);
    let vertices = sheet.vertices;
    let frame = |tensor: &Field, n: usize| tensor.clone().narrow(1, n * vertices, vertices);
    let parameters = |[warp, coupling, weft, shear]: [f64; 4]| Parameters {
        // k_b·l²/(8a)·θ² against ½·K·(θ/H̄)²·l·H̄: K = k_b/4.
        bending: vec![one(materials.bending / 4.0)],
        weft_ratio: one(1.0),
        // k_sh·A·(w_u·w_v)² against A·k33·ε_uv² with ε_uv = ½·w_u·w_v: k33 = 4·k_sh.
        membrane: membrane([warp, coupling, weft, shear]),
        tensile: Vec::new(),
        density: one(materials.density),
    };
    for n in 0..FRAMES {
        let jump = frame(&positions, n) - frame(&given.previous, n) * 2.0 + frame(&given.before, n);
        let state = State {
            positions: frame(&positions, n),
            velocities: jump / materials.seconds,
            bending: Vec::new(),
            tensile: Vec::new(),
        };
        let sheared = parameters([0.0, 0.0, 0.0, 4.0 * materials.shear]);
        let pairs = [
            (Reading::BendingEnergy, &energies.bending, 1.0),
            (Reading::StretchEnergy, &energies.shear, 1.0),
            // The first frame of a motion has no past.
            (
                Reading::KineticEnergy,
                &energies.inertia,
                if n == 0 { 0.0 } else { 1.0 },
            ),
        ];
        for (reading, energy, share) in pairs {
            let expected = share * read(reading.clone(), &cloth, &state, &sheared);
            let value = compute.values(energy.clone()).unwrap()[n];
            assert!(value > 0.0 || share == 0.0);
            assert!(
                (value - expected).abs() <= 1e-11 * expected,
                "{reading:?} {n}: {value} {expected}"
            );
        }
    }
}

/// A membrane without stiffness, and hinges.
fn hinges_only(bending: Vec<Field>, density: f64) -> Parameters {
    Parameters {
        bending,
        weft_ratio: one(1.0),
        membrane: membrane([0.0; 4]),
        tensile: Vec::new(),
        density: one(density),
    }
}

#[test]
fn bending_against_rest_bending_is_that_of_a_mesh_with_a_plastic_history() {
    let Batch {
        scene,
        sheet,
        positions,
        given,
    } = batch();
    let compute = cpu();
    let loss = Loss::new(LossConfig::default()).unwrap();
    let materials = loss.config().materials;
    let bending = |given: &Given| {
        let energies = loss.energies(&sheet, &positions, given);
        compute.values(energies.bending).unwrap()
    };
    let energies = bending(&given);
    let unbent = bending(&Given {
        plastic: given.plastic.zeros_like(),
        ..given.clone()
    });
    let cloth = cloth(&scene, Arc::new(PerfectPlastic), [0.0; 3]);
    // Its strain is a curvature, θ/H̄, and so is its history; a history that is held does not yield.
    let heights: Vec<f64> = cloth.rest.hinges.iter().map(|h| h.height).collect();
    let heights = compute.tensor(&heights, [1, sheet.hinges]);
    let parameters = hinges_only(vec![one(materials.bending / 4.0), one(1e3)], 0.2);
    let vertices = sheet.vertices;
    for n in 0..FRAMES {
        let here = positions.clone().narrow(1, n * vertices, vertices);
        let plastic = given.plastic.clone().narrow(0, n, 1) / heights.clone();
        let state = State {
            velocities: here.zeros_like(),
            positions: here,
            bending: vec![plastic.clone(), plastic.zeros_like()],
            tensile: Vec::new(),
        };
        let expected = read(Reading::BendingEnergy, &cloth, &state, &parameters);
        let value = energies[n];
        assert!(
            (value - expected).abs() <= 1e-11 * expected,
            "{n}: {value} {expected}"
        );
        assert!((value - unbent[n]).abs() > 0.01 * expected, "it counts");
    }
}

// The simulator has no energy of height, but the force that a pin must bear: without stiffness its vertex' weight,
// which is the gradient of ours.
#[test]
fn gravity_pulls_as_in_the_mesh_simulator() {
    let Batch {
        scene,
        sheet,
        positions,
        given,
    } = batch();
    let gravity = [0.4, -0.7, -9.81];
    let mut config = only("nothing", Reduction::Sum, LossConfig::default());
    config.frames = Reduction::Sum;
    config.gravity.weight = 1.0;
    config.materials.gravity = gravity;
    let loss = Loss::new(config).unwrap();
    let here = loss.linearized(&sheet, &positions, &given).unwrap();
    let gradient = cpu().values(here.gradient).unwrap();
    let cloth = cloth(&scene, Arc::new(Elastic), gravity);
    let parameters = hinges_only(vec![one(0.0)], config.materials.density);
    let vertices = sheet.vertices;
    let drive = Drive {
        pinned: true,
        free: cpu().zeros([1, vertices]),
        ..cloth.free_drive(1.0)
    };
    for n in 0..FRAMES {
        let here = positions.clone().narrow(1, n * vertices, vertices);
        let state = State {
            velocities: here.zeros_like(),
            positions: here,
            bending: Vec::new(),
            tensile: Vec::new(),
        };
        // Not of the first ring, which is pinned in the loss and has no gradient there.
        for vertex in [8, 30, vertices - 1] {
            for axis in 0..3 {
                let mut direction = [0.0; 3];
                direction[axis] = 1.0;
                let reading = Reading::HandleForce {
                    vertices: vec![vertex],
                    direction,
                };
                let expected = reading.value(&cloth, &state, &parameters, &drive).unwrap();
                let value = gradient[axis * FRAMES * vertices + n * vertices + vertex];
                assert!(
                    expected != 0.0 && (value - expected).abs() <= 1e-12 * expected.abs(),
                    "{n} {vertex} {axis}: {value} {expected}"
                );
            }
        }
    }
}

#[test]
fn for_small_strains_the_stretch_is_that_of_the_mesh_simulator() {
    let scene = batch().scene;
    let compute = cpu();
    let sheet = Sheet::new(&scene.garment, 1, &compute);
    let poses = scene.poses(&Motion::still(&scene.body, 1), 0..1).unwrap();
    let loss = Loss::new(LossConfig::default()).unwrap();
    let cloth = cloth(&scene, Arc::new(Elastic), [0.0; 3]);
    let k = 2.0 * loss.config().materials.stretch;
    let mut ratios = Vec::new();
    for strain in [1e-2, 1e-3] {
        let points = scene.garment.mesh.positions.iter();
        let stretched: Vec<[f64; 3]> = points
            .map(|p| [p[0], p[1], p[2] * (1.0 + strain)])
            .collect();
        let rows: Vec<f64> = (0..3)
            .flat_map(|a| stretched.iter().map(move |p| p[a]))
            .collect();
        let positions = compute.tensor(&rows, [3, stretched.len()]);
        let state = State {
            positions: positions.clone(),
            velocities: positions.zeros_like(),
            bending: Vec::new(),
            tensile: Vec::new(),
        };
        let parameters = Parameters {
            bending: vec![one(1.0)],
            weft_ratio: one(1.0),
            membrane: membrane([k, 0.0, k, 0.0]),
            tensile: Vec::new(),
            density: one(0.2),
        };
        let one_frame = Given {
            previous: positions.clone(),
            before: positions.clone(),
            moving: compute.zeros([1, 1]),
            plastic: compute.zeros([1, sheet.hinges]),
            anchors: positions.clone(),
            body: scene.posed(&poses, &compute),
        };
        let ours = compute
            .values(loss.energies(&sheet, &positions, &one_frame).stretch)
            .unwrap()[0];
        ratios.push(ours / read(Reading::StretchEnergy, &cloth, &state, &parameters));
    }
    // (|w| − 1)² = s² against (s + s²/2)²: the ratio is 1 − s.
    assert!(
        (ratios[0] - 0.99).abs() < 1e-3 && (ratios[1] - 0.999).abs() < 1e-5,
        "{ratios:?}"
    );
}

#[test]
fn a_garment_as_sewn_costs_only_its_height_and_the_printed_stretch_wants_it_smaller() {
    let body = Body::arm();
    let garment = Garment::sleeve(&body, Imperfection::seeded(2), Garment::GRID).unwrap();
    let scene = Scene { body, garment };
    let compute = cpu();
    let sheet = Sheet::new(&scene.garment, 1, &compute);
    let motion = Motion::still(&scene.body, 1);
    let poses = scene.poses(&motion, 0..1).unwrap();
    let anchors = scene.skinned(&poses, &compute).plain();
    let given = Given {
        previous: anchors.clone(),
        before: anchors.clone(),
        moving: compute.zeros([1, 1]),
        plastic: compute.zeros([1, sheet.hinges]),
        anchors: anchors.clone(),
        body: scene.posed(&poses, &compute),
    };
    let loss = Loss::new(LossConfig::default()).unwrap();
    let here = loss.linearized(&sheet, &anchors, &given).unwrap();
    for (name, value) in here.terms.named() {
        assert!(name == "gravity" || value.abs() < 1e-20, "{name}: {value}");
    }
    let down = compute.values(here.gradient.sum_dim(1)).unwrap();
    // Pinned are 24 of 864 vertices, at the edge: half a ring of 35.
    let weight = 0.2 * 9.81 * scene.garment.rest.area() * (1.0 - 0.5 / 35.0);
    assert!(
        (down[2] / weight - 1.0).abs() < 2e-3,
        "{} {weight}",
        down[2]
    );

    let printed = Loss::new(only("stretch", Reduction::Sum, printed_forms())).unwrap();
    let at = |scale: f64| {
        printed
            .value(&sheet, &(anchors.clone() * scale), &given)
            .unwrap()
    };
    assert!(at(1.0) > 0.1 && at(0.5_f64.sqrt()) < 1e-12);
}

#[test]
fn configurations_are_checked_and_unknown_keys_refused() {
    let text = serde_json::to_string(&LossConfig::printed()).unwrap();
    let back: LossConfig = serde_json::from_str(&text).unwrap();
    assert_eq!(back, LossConfig::printed());
    let partial = r#"{"bending": {"weight": 3}, "materials": {"stretch": 5}}"#;
    let partial: LossConfig = serde_json::from_str(partial).unwrap();
    assert_eq!(
        (partial.bending.weight, partial.materials.stretch),
        (3.0, 5.0)
    );
    assert_eq!(partial.shear, LossConfig::default().shear);
    for unknown in [
        r#"{"bendin": {"weight": 1}}"#,
        r#"{"bending": {"weight": 1, "sum": 2}}"#,
    ] {
        let error = serde_json::from_str::<LossConfig>(unknown).unwrap_err();
        assert!(error.to_string().contains("unknown field"), "{error}");
    }
    let mut config = LossConfig::default();
    config.shear.weight = -1.0;
    let text = Loss::new(config).unwrap_err().to_string();
    assert!(text.starts_with("loss: shear.weight is -1"), "{text}");
    let mut config = LossConfig::default();
    config.materials.seconds = 0.0;
    let text = Loss::new(config).unwrap_err().to_string();
    assert!(text.starts_with("loss: materials.seconds is 0"), "{text}");
}

#[test]
fn angles_are_compared_the_short_way_round() {
    use std::f64::consts::{PI, TAU};
    let angles = [-4.0, -PI + 1e-9, 0.0, 3.0, PI + 1e-9, 7.0];
    let expected = [TAU - 4.0, -PI + 1e-9, 0.0, 3.0, 1e-9 - PI, 7.0 - TAU];
    let turned = cpu()
        .values(nearest_turn(&cpu().tensor(&angles, [1, 6])))
        .unwrap();
    for (value, expected) in turned.iter().zip(expected) {
        assert!((value - expected).abs() < 1e-15 * 8.0, "{turned:?}");
    }
}
