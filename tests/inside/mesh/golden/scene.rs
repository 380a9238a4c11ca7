//! Scenes and probes of the authors' program as cloths.

use std::collections::HashMap;

use rumple::{
    material::StrainMeasure,
    mesh::Mesh,
    numeric::Field,
    step::{Cloth, ClothSetup, Drive, Parameters, State, System},
};
use serde_json::Value;

use crate::inside::common::{
    cloth::{membrane, one, remembering_setup},
    cpu, golden,
};

/// A JSON file of the reference numbers.
fn json(name: &str) -> Value {
    serde_json::from_str(&golden::text(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
}

pub fn numbers(value: &Value) -> Vec<f64> {
    let list = value.as_array().unwrap().iter();
    list.map(|v| v.as_f64().unwrap()).collect()
}

pub fn rows<const N: usize>(value: &Value) -> Vec<[f64; N]> {
    let list = value.as_array().unwrap().iter();
    list.map(|row| numbers(row).try_into().unwrap()).collect()
}

pub fn triangles(value: &Value) -> Vec<[usize; 3]> {
    rows::<3>(value)
        .iter()
        .map(|t| t.map(|v| v as usize))
        .collect()
}

/// A scene of the authors' program as a cloth.
pub struct Scene {
    pub cloth: Cloth,
    pub parameters: Parameters,
    pub seconds: f64,
    grip: f64,
}

impl Scene {
    pub fn load(folder: &str) -> Scene {
        let scene = json(&format!("{folder}/scene.json"));
        let compute = cpu();
        let mesh = Mesh {
            positions: rows(&scene["nodes"]),
            triangles: triangles(&scene["faces_node"]),
            material: rows(&scene["uv"]),
            material_triangles: triangles(&scene["faces_uv"]),
        };
        let setup = ClothSetup {
            strain: StrainMeasure::Angle,
            gravity: numbers(&scene["gravity"]).try_into().unwrap(),
            ..remembering_setup()
        };
        let number = |path: &[&str]| path.iter().fold(&scene, |v, k| &v[*k]).as_f64().unwrap();
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
        let k = numbers(&scene["stretch_k11_k12_k22_k33"])
            .try_into()
            .unwrap();
        let parameters = Parameters {
            bending: bending.map(one).to_vec(),
            weft_ratio: one(1.0),
            membrane: membrane(k),
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
    pub fn vertex(&self, values: &[f64]) -> Field {
        let values: Vec<[f64; 3]> = values.chunks(3).map(|c| c.try_into().unwrap()).collect();
        self.cloth.vertex_tensor(&values)
    }

    pub fn flat(&self, tensor: &Field) -> Vec<f64> {
        self.cloth.vertex_values(tensor).unwrap().concat()
    }

    /// The drive of the step that handles.csv lists under `step`.
    pub fn drive(&self, handles: &HashMap<usize, Vec<(usize, [f64; 3])>>, step: usize) -> Drive {
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
    pub fn edges(&self, name: &str) -> Vec<Field> {
        let key = |a: usize, b: usize| (a.min(b), a.max(b));
        let by_edge: HashMap<_, _> = golden::rows(name)
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

pub fn handles(folder: &str) -> HashMap<usize, Vec<(usize, [f64; 3])>> {
    let mut by_step: HashMap<usize, Vec<(usize, [f64; 3])>> = HashMap::new();
    for row in golden::rows(&format!("{folder}/handles.csv")) {
        let entry = by_step.entry(row[0] as usize).or_default();
        entry.push((row[1] as usize, [row[2], row[3], row[4]]));
    }
    by_step
}

/// One step of the program, taken apart.
pub struct Probe {
    pub scene: Scene,
    pub values: Value,
    pub state: State,
    pub drive: Drive,
    pub system: System,
}

impl Probe {
    pub fn load(folder: &str) -> Probe {
        let scene = Scene::load(folder);
        let values = json(&format!("{folder}/probe.json"));
        let step = values["step"].as_u64().unwrap() as usize;
        let state = State {
            positions: scene.vertex(&numbers(&values["x"])),
            velocities: scene.vertex(&numbers(&values["v"])),
            bending: scene.edges(&format!("{folder}/probe_edges_before.csv")),
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

    pub fn golden(&self, names: &[&str]) -> Vec<f64> {
        let columns: Vec<Vec<f64>> = names.iter().map(|n| numbers(&self.values[*n])).collect();
        (0..columns[0].len())
            .map(|i| columns.iter().map(|c| c[i]).sum())
            .collect()
    }
}
