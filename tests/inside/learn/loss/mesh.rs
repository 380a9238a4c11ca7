//! Energies of the loss against those of the mesh simulator.

use std::sync::Arc;

use rumple::{
    contact::{Contact, Obstacle, Pose},
    learn::{
        Body, BodyMotion, BodyScene, Bone, GarmentBatch, GarmentLoss, Given, JointTransform,
        LossConfig, Materials, PosedBody, Reduction,
    },
    material::{Elastic, Law, PerfectPlastic},
    numeric::Field,
    reading::Reading,
    step::{Cloth, ClothSetup, Drive, Parameters, State},
};

use super::{Batch, FIRST, FRAMES, batch, only};
use crate::inside::common::{
    cloth::{elastic_setup, membrane, one},
    cpu,
};

/// The same garment as a cloth of the mesh simulator.
fn cloth(scene: &BodyScene, law: Arc<dyn Law>, gravity: [f64; 3]) -> Cloth {
    let setup = ClothSetup {
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
    let loss = GarmentLoss::new(LossConfig::default()).unwrap();
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
    let loss = GarmentLoss::new(LossConfig::default()).unwrap();
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
    let loss = GarmentLoss::new(config).unwrap();
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

/// How a bone of the body pushes the vertices of a garment in the mesh simulator \[N\], shape `[3][vertices]`: the force per
/// depth of a contact is the second derivative of our energy, 2·k_c.
fn push(
    scene: &BodyScene,
    (bone, pose): (&Bone, &[JointTransform]),
    materials: &Materials,
    positions: Field,
) -> Vec<f64> {
    let [from, to] = [bone.from, bone.to].map(|end| pose[bone.joint].apply(end));
    let capsule = Obstacle::Capsule {
        half_axis: std::array::from_fn(|a| 0.5 * (to[a] - from[a])),
        radius: bone.radii[0],
    };
    let center: [f64; 3] = std::array::from_fn(|a| 0.5 * (to[a] + from[a]));
    let setup = ClothSetup {
        contacts: vec![Contact {
            obstacle: capsule,
            thickness: materials.thickness,
            stiffness: 2.0 * materials.collision,
            friction: 0.0,
        }],
        ..elastic_setup()
    };
    let cloth = Cloth::new(scene.garment.mesh.clone(), setup, &cpu()).unwrap();
    let drive = Drive {
        obstacles: vec![Pose {
            center: cpu().tensor(&center, [3, 1]),
            velocity: cpu().zeros([3, 1]),
        }],
        ..cloth.free_drive(1.0)
    };
    let state = State {
        velocities: positions.zeros_like(),
        positions,
        bending: Vec::new(),
        tensile: Vec::new(),
    };
    // At rest, without stiffness and gravity, the momentum of a second is the force of the contact.
    let parameters = hinges_only(vec![one(0.0)], materials.density);
    let system = cloth.system(&state, &parameters, &drive);
    cpu().values(system.momentum).unwrap()
}

// A contact stiffens over half of its thickness; deeper than that it is our quadratic energy, up to rounding. Nearer to its surface
// the simulator is softer.
#[test]
fn the_body_pushes_as_capsules_of_the_mesh_simulator() {
    let Batch {
        scene,
        sheet,
        positions,
        given,
    } = batch();
    let mut config = only("nothing", Reduction::Sum, LossConfig::default());
    config.frames = Reduction::Sum;
    config.collision.weight = 1.0;
    // As thick as the sleeve is wide of the arm, and more: vertices are at all depths.
    config.materials.thickness = 0.03;
    let materials = config.materials;
    let loss = GarmentLoss::new(config).unwrap();
    let motion = BodyMotion::canonical(&scene.body);
    let poses = scene.poses(&motion, FIRST..FIRST + FRAMES).unwrap();
    let vertices = sheet.vertices;
    let (mut deep, mut soft) = (0, 0);
    for bone in &scene.body.bones {
        // Alone, so that one depth decides which of the simulator's regimes is compared.
        let alone = Body {
            bones: vec![*bone],
            ..scene.body.clone()
        };
        let given = Given {
            body: PosedBody::new(&alone, &poses, &cpu()),
            ..given.clone()
        };
        let distances = given.body.distance(&sheet.by_axis(&positions)).value;
        let distances = cpu().values(distances).unwrap();
        let here = loss.linearized(&sheet, &positions, &given).unwrap();
        let gradient = cpu().values(here.gradient).unwrap();
        for (n, pose) in poses.iter().enumerate() {
            let here = positions.clone().narrow(1, n * vertices, vertices);
            let forces = push(&scene, (bone, pose.as_slice()), &materials, here);
            // Not of the first ring, which is pinned in the loss and has no gradient there.
            for vertex in 8..vertices {
                let ours = [0, 1, 2].map(|a| -gradient[(a * FRAMES + n) * vertices + vertex]);
                let theirs = [0, 1, 2].map(|a| forces[a * vertices + vertex]);
                let depth = materials.thickness - distances[n * vertices + vertex];
                let full = 2.0 * materials.collision * depth.max(0.0);
                let gap = (0..3)
                    .map(|a| (ours[a] - theirs[a]).abs())
                    .fold(0.0, f64::max);
                let says = || format!("{n} {vertex} {depth}: {ours:?} {theirs:?}");
                match depth / materials.thickness {
                    share if share >= 0.5 => {
                        assert!(gap <= 1e-11 * full, "{}", says());
                        deep += 1;
                    }
                    share if share > 0.0 => {
                        let size = |f: [f64; 3]| f.iter().map(|x| x * x).sum::<f64>();
                        assert!(size(theirs) < size(ours), "{}", says());
                        soft += 1;
                    }
                    _ => assert!(ours == [0.0; 3] && theirs == [0.0; 3], "{}", says()),
                }
            }
        }
    }
    assert!(deep > 30 && soft > 5, "{deep} deep, {soft} soft");
}

#[test]
fn for_small_strains_the_stretch_is_that_of_the_mesh_simulator() {
    let scene = batch().scene;
    let compute = cpu();
    let sheet = GarmentBatch::new(&scene.garment, 1, &compute);
    let poses = scene
        .poses(&BodyMotion::still(&scene.body, 1), 0..1)
        .unwrap();
    let loss = GarmentLoss::new(LossConfig::default()).unwrap();
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
