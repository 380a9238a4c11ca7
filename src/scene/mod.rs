//! Scene files: a mesh, a fabric, and what is done to them over time.
//!
//! - [`Scene`]: everything a file says, checked, with its defaults; [`Scene::to_json`] writes it down again.
//! - [`PreparedScene`]: the scene on a device: cloth, parameters, and the `crate::step::Drive` of any step as a
//!   pure function of its number, so that runs can go on and gradients can recompute.
//! - [`Scene::schema`]: the JSON schema of the files.

mod clock;
mod fabric;
mod handle;
mod motion;
mod node;
mod obstacle;
mod output;
mod prepared;
mod reading;
pub(crate) mod run;
mod schema;
mod selection;
mod source;
mod tensile;

use std::path::Path;

use serde_json::{Value, json};

pub(crate) use self::clock::Clock;
pub(crate) use self::fabric::Fabric;
pub(crate) use self::handle::{Grip, Handle, Hold};
pub(crate) use self::obstacle::PlacedObstacle;
pub(crate) use self::output::{FrameFormat, SceneOutput};
pub(crate) use self::reading::ReadingChoice;
pub(crate) use self::source::{Form, MeshChoice};
pub use self::{prepared::PreparedScene, run::SceneRun};

use self::node::Node;
use crate::{
    error::{Error, Result},
    files::{
        json::{parse, present},
        read_text, words,
    },
    numeric::Gate,
    step::Damping,
};

/// How the linear systems are solved.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct SolverChoice {
    pub method: SolverMethod,
    /// Relative residual at which a solve ends; by default that of the solver.
    pub tolerance: Option<f64>,
}

/// Linear solvers by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SolverMethod {
    /// Whatever suits mesh and device.
    Auto,
    /// Preconditioned conjugate gradients.
    ConjugateGradients,
    /// Sparse Cholesky on the CPU.
    Cholesky,
}

words!(SolverMethod {
    Auto = "auto",
    ConjugateGradients = "conjugate_gradients",
    Cholesky = "cholesky"
});

/// A scene file, checked.
#[derive(Debug, Clone, PartialEq)]
pub struct Scene {
    /// The file, for messages.
    pub(crate) place: String,
    pub(crate) name: String,
    /// Whatever its author wrote.
    pub(crate) notes: Vec<String>,
    pub(crate) mesh: MeshChoice,
    pub(crate) fabric: Fabric,
    /// \[m/s²\]
    pub(crate) gravity: [f64; 3],
    pub(crate) damping: Damping,
    pub(crate) clock: Clock,
    /// How the branches of the law are taken.
    pub(crate) gate: Gate,
    pub(crate) handles: Vec<Handle>,
    pub(crate) obstacles: Vec<PlacedObstacle>,
    /// What is read off the cloth in each row.
    pub(crate) readings: Vec<ReadingChoice>,
    pub(crate) output: SceneOutput,
    /// How linear systems are solved.
    pub(crate) solver: SolverChoice,
}

/// Keys at the top of a file.
pub(crate) const TOP: [&str; 15] = [
    "name",
    "notes",
    "mesh",
    "fabric",
    "gravity_m_per_s2",
    "damping",
    "time_step_s",
    "duration_s",
    "clock",
    "gate",
    "handles",
    "obstacles",
    "readings",
    "output",
    "solver",
];
const TOLERANCE: (f64, f64) = (1e-14, 1e-1);
/// Of the earth \[m/s²\], along −z.
const GRAVITY: [f64; 3] = [0.0, 0.0, -9.81];

impl Scene {
    /// Reads and checks a file; other files that it names are found beside it.
    pub fn load(path: &Path) -> Result<Scene> {
        let folder = path.parent().unwrap_or(Path::new(""));
        Scene::parse(&read_text(path)?, &path.display().to_string(), folder)
    }

    /// Reads and checks JSON text; `place` is named in messages, `folder` is where files are looked for.
    pub fn parse(text: &str, place: &str, folder: &Path) -> Result<Scene> {
        let remedy =
            "`rumple schema scene` prints the format, examples/scenes has files to start from";
        let value = parse(text, place, remedy)?;
        let top = Node::top(place, &value);
        let section = top.known(&TOP)?;
        let required = |key: &str| match top.child(key) {
            Some(child) => Ok(child),
            None => top.refuse_key(key, "is missing; add an object {…} (`rumple schema scene`)"),
        };
        let gravity = top.vector("gravity_m_per_s2")?.unwrap_or(GRAVITY);
        let clock = Clock::read(&top)?;
        let fabric = Fabric::read(&required("fabric")?, folder)?;
        Ok(Scene {
            place: place.into(),
            name: section.text("name")?,
            notes: section.texts("notes")?,
            mesh: MeshChoice::read(&required("mesh")?, folder)?,
            gravity,
            damping: damping(&top)?,
            gate: gate(&top, fabric.material.strain_scale())?,
            handles: Handle::read_all(&top, &clock)?,
            obstacles: PlacedObstacle::read_all(&top, &clock)?,
            readings: ReadingChoice::read_all(&top, folder)?,
            output: SceneOutput::read(&top, &clock, gravity)?,
            solver: SolverChoice::read(&top)?,
            fabric,
            clock,
        })
    }

    /// The file's contents with every default written out.
    pub fn to_json(&self) -> Value {
        let handles: Vec<Value> = self.handles.iter().map(Handle::to_json).collect();
        let readings: Vec<Value> = self.readings.iter().map(ReadingChoice::to_json).collect();
        let obstacles: Vec<Value> = self.obstacles.iter().map(PlacedObstacle::to_json).collect();
        json!({
            "name": self.name,
            "notes": self.notes,
            "mesh": self.mesh.to_json(),
            "fabric": self.fabric.to_json(),
            "gravity_m_per_s2": self.gravity,
            "damping": { "stiffness_s": self.damping.stiffness, "mass_per_s": self.damping.mass },
            "time_step_s": self.clock.step,
            "duration_s": self.clock.duration(),
            "clock": self.clock.entries(),
            "gate": self.gate.describe(),
            "handles": handles,
            "obstacles": obstacles,
            "readings": readings,
            "output": self.output.to_json(&self.clock),
            "solver": self.solver.to_json(),
        })
    }
}

fn damping(top: &Node) -> Result<Damping> {
    let Some(node) = top.child("damping") else {
        return Ok(Damping::default());
    };
    let section = node.known(&["stiffness_s", "mass_per_s"])?;
    Ok(Damping {
        stiffness: section
            .optional_number("stiffness_s", (0.0, 1e3))?
            .unwrap_or(0.0),
        mass: section
            .optional_number("mass_per_s", (0.0, 1e6))?
            .unwrap_or(0.0),
    })
}

fn gate(top: &Node, scale: f64) -> Result<Gate> {
    let text = top.section()?.optional_text("gate")?;
    Gate::parse(text.as_deref().unwrap_or("hard"), scale).map_err(|e| match e {
        Error::BadInput(text) => Error::BadInput(format!(
            "{}: {}",
            top.place(),
            text.replace("--gate", "gate")
        )),
        other => other,
    })
}

impl SolverChoice {
    fn read(top: &Node) -> Result<SolverChoice> {
        let mut choice = SolverChoice {
            method: SolverMethod::Auto,
            tolerance: None,
        };
        if let Some(node) = top.child("solver") {
            let section = node.known(&["method", "tolerance"])?;
            let method = section.optional_choice("method", &SolverMethod::NAMES)?;
            choice.method = method
                .and_then(SolverMethod::named)
                .unwrap_or(choice.method);
            choice.tolerance = section.optional_number("tolerance", TOLERANCE)?;
        }
        Ok(choice)
    }

    fn to_json(&self) -> Value {
        present([json!({ "method": self.method.name(), "tolerance": self.tolerance })])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A resolved scene says the same as the one it came from.
    #[test]
    fn a_resolved_scene_is_read_back_the_same() {
        let text = r#"{"name": "all", "mesh": {"shape": "tube", "radius_m": 0.04, "length_m": 0.1,
            "vertices": 300, "pattern": "irregular", "rotate": {"axis": "z", "angle_deg": 30}},
          "fabric": {"material": "cotton broad", "membrane": "cotton", "friction": false,
            "tensile": {"friction": {"stiffness_N_per_m": [200, 200, 5], "threshold_initial": 0.01,
              "threshold_saturated": 0.1, "dwell_time_s": 30}}},
          "time_step_s": 0.01, "duration_s": 0.5, "clock": [{"at_s": 0.2, "elapse_s": 5}],
          "handles": [{"vertices": {"end": "-x"}, "kind": "pin", "motions": [
            {"twist": {"axis": "x", "angle_deg": 45}, "from_s": 0, "to_s": 0.1, "back_from_s": 0.2, "back_to_s": 0.3}]}],
          "obstacles": [{"shape": "sphere", "radius_m": 0.1, "present_to_s": 0.2}],
          "readings": ["total_angle", {"kind": "rms_radius", "axis": "x"}]}"#;
        let scene = Scene::parse(text, "scene", Path::new("")).expect("a scene");
        let again = scene.to_json().to_string();
        let again = Scene::parse(&again, "scene", Path::new("")).expect("a resolved scene");
        // Degrees and radians do not go into each other exactly.
        assert_eq!(
            again.to_json(),
            Scene::parse(&again.to_json().to_string(), "scene", Path::new(""))
                .unwrap()
                .to_json()
        );
        assert_eq!(again.clock, scene.clock);
        assert_eq!(again.fabric, scene.fabric);
        assert_eq!(again.fabric.material.value("friction_stiffness"), Some(0.0));
        assert_eq!(again.output, scene.output);
    }
}
