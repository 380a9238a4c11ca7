//! The mesh step against the authors' own program (golden/mesh and golden/mesh_trueheight).

mod common;

use std::{collections::HashMap, path::Path};

use common::{cpu, golden, time_dependent};
use rumple::{
    element::Stiffness,
    material::StrainMeasure,
    mesh::Mesh,
    numeric::{Field, Gate},
    solve::Solver,
    step::{Cloth, Damping, Drive, Parameters, Setup, State, System},
};
use serde_json::Value;

fn json(path: &Path) -> Value {
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn numbers(value: &Value) -> Vec<f64> {
    let list = value.as_array().unwrap().iter();
    list.map(|v| v.as_f64().unwrap()).collect()
}

fn rows<const N: usize>(value: &Value) -> Vec<[f64; N]> {
    let list = value.as_array().unwrap().iter();
    list.map(|row| numbers(row).try_into().unwrap()).collect()
}

fn triangles(value: &Value) -> Vec<[usize; 3]> {
    rows::<3>(value).iter().map(|t| t.map(|v| v as usize)).collect()
}

fn csv_rows(path: &Path) -> Vec<Vec<f64>> {
    let mut reader = csv::Reader::from_path(path).unwrap();
    let parse = |r: csv::StringRecord| r.iter().map(|c| c.parse().unwrap()).collect();
    reader.records().map(|r| parse(r.unwrap())).collect()
}

/// A scene of the authors' program as a cloth.
struct Scene {
    cloth: Cloth,
    parameters: Parameters,
    seconds: f64,
    grip: f64,
}

impl Scene {
    fn load(folder: &Path) -> Scene {
        let scene = json(&folder.join("scene.json"));
        let compute = cpu();
        let mesh = Mesh {
            positions: rows(&scene["nodes"]),
            triangles: triangles(&scene["faces_node"]),
            material: rows(&scene["uv"]),
            material_triangles: triangles(&scene["faces_uv"]),
        };
        let setup = Setup {
            law: time_dependent(),
            strain: StrainMeasure::Angle,
            gate: Gate::Hard,
            tensile_gate: Gate::Hard,
            gravity: numbers(&scene["gravity"]).try_into().unwrap(),
            damping: Damping::default(),
            contacts: Vec::new(),
            rest_is_curved: false,
        };
        let number = |path: &[&str]| path.iter().fold(&scene, |v, k| &v[*k]).as_f64().unwrap();
        let one = |v: f64| compute.tensor(&[v], [1, 1]);
        // The program's stiffnesses are three times ours.
        let bending = [
            number(&["bending_3Kb"]) / 3.0,
            number(&["friction", "k_3Kf"]) / 3.0,
            number(&["friction", "thres_0"]),
            number(&["friction", "thres_inf"]),
            number(&["friction", "tau"]),
            number(&["plastic", "yield_0"]),
            number(&["plastic", "k_hardening"]) / 3.0,
            number(&["plastic", "g"]),
            number(&["plastic", "tau"]),
        ];
        let k = numbers(&scene["stretch_k11_k12_k22_k33"]);
        let parameters = Parameters {
            bending: bending.map(one).to_vec(),
            weft_ratio: one(1.0),
            membrane: Stiffness {
                warp: one(k[0]),
                coupling: one(k[1]),
                weft: one(k[2]),
                shear: one(k[3]),
            },
            tensile: Vec::new(),
            density: one(number(&["density"])),
        };
        Scene {
            cloth: Cloth::new(mesh, setup, &compute).unwrap(),
            parameters,
            seconds: number(&["dt"]),
            grip: number(&["handle_stiffness"]),
        }
    }

    /// Node-major numbers as a vertex tensor.
    fn vertex(&self, values: &[f64]) -> Field {
        let values: Vec<[f64; 3]> = values.chunks(3).map(|c| c.try_into().unwrap()).collect();
        self.cloth.vertex_tensor(&values)
    }

    fn flat(&self, tensor: &Field) -> Vec<f64> {
        self.cloth.vertex_values(tensor).unwrap().concat()
    }

    /// The drive of the step that handles.csv lists under `step`.
    fn drive(&self, handles: &HashMap<usize, Vec<(usize, [f64; 3])>>, step: usize) -> Drive {
        let mut drive = self.cloth.free_drive(self.seconds);
        let count = self.cloth.vertices();
        let (mut grip, mut anchors) = (vec![0.0; count], vec![[0.0; 3]; count]);
        for (node, anchor) in handles.get(&step).into_iter().flatten() {
            grip[*node] = self.grip;
            anchors[*node] = *anchor;
        }
        drive.grip = self.cloth.compute.tensor(&grip, [1, count]);
        drive.anchors = self.cloth.vertex_tensor(&anchors);
        drive
    }

    /// The history columns of a probe's edges, in the order of the law.
    fn edges(&self, path: &Path) -> Vec<Field> {
        let key = |a: usize, b: usize| (a.min(b), a.max(b));
        let by_edge: HashMap<_, _> = csv_rows(path)
            .into_iter()
            .map(|row| (key(row[1] as usize, row[2] as usize), row))
            .collect();
        let hinges = &self.cloth.topology.hinges;
        // anchor, stick time, plastic, accumulated, flow time, direction, yield
        [8, 9, 10, 11, 12, 14, 13]
            .map(|column| {
                let values: Vec<f64> = hinges
                    .iter()
                    .map(|h| by_edge[&key(h.vertices[0], h.vertices[1])][column])
                    .collect();
                self.cloth.compute.tensor(&values, [1, values.len()])
            })
            .to_vec()
    }
}

fn handles(folder: &Path) -> HashMap<usize, Vec<(usize, [f64; 3])>> {
    let mut by_step: HashMap<usize, Vec<(usize, [f64; 3])>> = HashMap::new();
    for row in csv_rows(&folder.join("handles.csv")) {
        let entry = by_step.entry(row[0] as usize).or_default();
        entry.push((row[1] as usize, [row[2], row[3], row[4]]));
    }
    by_step
}

/// max |a − b| / max |b|.
fn difference(ours: &[f64], theirs: &[f64]) -> f64 {
    assert_eq!(ours.len(), theirs.len());
    let size = theirs.iter().fold(0.0f64, |m, v| m.max(v.abs()));
    assert!(size > 0.0, "a golden vector of zeros shows nothing");
    let gap = ours.iter().zip(theirs).fold(0.0f64, |m, (a, b)| m.max((a - b).abs()));
    gap / size
}

struct Probe {
    scene: Scene,
    values: Value,
    state: State,
    drive: Drive,
    system: System,
}

impl Probe {
    fn load(folder: &Path) -> Probe {
        let scene = Scene::load(folder);
        let values = json(&folder.join("probe.json"));
        let step = values["step"].as_u64().unwrap() as usize;
        let state = State {
            positions: scene.vertex(&numbers(&values["x"])),
            velocities: scene.vertex(&numbers(&values["v"])),
            bending: scene.edges(&folder.join("probe_edges_before.csv")),
            tensile: Vec::new(),
        };
        let drive = scene.drive(&handles(folder), step);
        let system = scene.cloth.system(&state, &scene.parameters, &drive);
        Probe {
            scene,
            values,
            state,
            drive,
            system,
        }
    }

    fn golden(&self, names: &[&str]) -> Vec<f64> {
        let columns: Vec<Vec<f64>> = names.iter().map(|n| numbers(&self.values[*n])).collect();
        (0..columns[0].len()).map(|i| columns.iter().map(|c| c[i]).sum()).collect()
    }
}

/// The tolerance; an independent re-implementation reached 5e-13, limited by U·U − 1 at small strains.
const PROBE: f64 = 1e-10;

#[test]
fn one_step_of_every_probe_is_the_programs() {
    for name in ["drape12", "fold_short", "random_probe"] {
        let Some(folder) = golden(&format!("mesh_trueheight/{name}")) else {
            return;
        };
        let probe = Probe::load(&folder);
        let (scene, cloth) = (&probe.scene, &probe.scene.cloth);
        let forces = scene.flat(&probe.system.response.forces(cloth));
        let theirs =
            probe.golden(&["force_stretch", "force_bend_elastoplastic", "force_bend_friction"]);
        assert!(difference(&forces, &theirs) < PROBE, "{name}: forces");

        let w = scene.vertex(&numbers(&probe.values["w"]));
        let image = scene.flat(&probe.system.tangent.apply(&cloth.incidence, &w));
        assert!(difference(&image, &probe.golden(&["A_w"])) < PROBE, "{name}: A·w");

        // Ours is A·v' = momentum, theirs A·Δv = b.
        let image = probe.system.tangent.apply(&cloth.incidence, &probe.state.velocities);
        let right = scene.flat(&(probe.system.momentum.clone() - image));
        let error = difference(&right, &probe.golden(&["rhs_b"]));
        assert!(error < PROBE, "{name}: right-hand side {error:e}");

        let after = scene.edges(&folder.join("probe_edges_after.csv"));
        for (ours, theirs) in probe.system.response.hinges.history.iter().zip(&after) {
            let values = |f: &Field| cloth.compute.values(f.clone()).unwrap();
            let gap = values(&(ours.clone() - theirs.clone()));
            assert!(gap.iter().all(|g| g.abs() < 1e-12), "{name}: history");
        }
    }
}

#[test]
fn the_new_velocity_is_the_programs() {
    let Some(folder) = golden("mesh_trueheight/random_probe") else {
        return;
    };
    let probe = Probe::load(&folder);
    let cloth = &probe.scene.cloth;
    let mut solver = Solver::conjugate(&cloth.compute, 1e-13);
    let next = cloth
        .advance(&mut solver, &probe.state, &probe.scene.parameters, &probe.drive)
        .unwrap();
    let change = probe.scene.flat(&(next.state.velocities - probe.state.velocities.clone()));
    let error = difference(&change, &probe.golden(&["delta_v_direct"]));
    assert!(error < 1e-9, "{error:e}");
}

/// 200 steps from the start; a disturbance of 1e-12 m grows to at most 3e-10 m (golden/README.md).
#[test]
fn trajectories_are_the_programs() {
    for name in ["drape12", "fold_short"] {
        let Some(folder) = golden(&format!("mesh_trueheight/{name}")) else {
            return;
        };
        let scene = Scene::load(&folder);
        let cloth = &scene.cloth;
        let handles = handles(&folder);
        let count = cloth.vertices();
        let rows = csv_rows(&folder.join("positions.csv"));
        let theirs = |step: usize| -> Vec<f64> {
            let rows = &rows[step * count..(step + 1) * count];
            rows.iter().flat_map(|r| r[2..5].to_vec()).collect()
        };
        let mut solver = Solver::conjugate(&cloth.compute, 1e-12);
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
