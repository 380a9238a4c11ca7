//! The folder of a run: made once, gone on with after a stop.

use std::path::{Path, PathBuf};

use crate::{
    error::{Error, Result, bad_input, readable},
    files::{fingerprint, write_whole},
    mesh::{Mesh, hinge_angles, write_obj},
    report::{
        mesh_files::{Property, save_ply},
        surface::Surface,
    },
    scene::{
        FrameFormat, Prepared,
        run::{Row, Simulation, Snapshot, StoredFrame},
    },
    study::Log,
};

const STATE: &str = "state.bin";
pub(super) const SCENE: &str = "scene.json";
pub(super) const TRACK: &str = "track.bin";
pub(super) const FRAMES: &str = "frames";
pub(super) const PICTURES: &str = "pictures";
pub(super) const PLOTS: &str = "plots";
pub(super) const FILM: &str = "film.glb";
/// Files that grow with the run, in the order of their lengths in a snapshot.
const GROWING: [&str; 4] = ["readings.csv", "energies.csv", "solver.csv", TRACK];

/// An open folder.
pub struct RunFolder {
    pub path: PathBuf,
    run: u64,
    logs: [Log; 4],
    /// Numbers of steps at which a picture is wanted.
    picture_steps: Vec<usize>,
    /// Number of the next frame.
    frame: usize,
    /// Where the run can go on from.
    mark: Option<Snapshot>,
}

impl RunFolder {
    /// Opens a folder for a run: a new one, or where an earlier one of the same scene stopped.
    pub fn open<'a>(
        path: &Path,
        prepared: &'a Prepared,
        fresh: bool,
    ) -> Result<(RunFolder, Simulation<'a>)> {
        let run = run_number(prepared);
        let state = path.join(STATE);
        if !fresh && state.is_file() {
            return RunFolder::go_on(path, prepared, run);
        }
        let strangers = !fresh && is_used(path) && !path.join(SCENE).is_file();
        if strangers {
            return bad_input(format!(
                "{}: there are files in it that are no run of a scene; give another --out, or --fresh to write among them",
                path.display()
            ));
        }
        if path.join(SCENE).is_file() {
            clear(path)?;
        }
        std::fs::create_dir_all(path).map_err(|e| Error::writing(path, e))?;
        let simulation = Simulation::start(prepared)?;
        let mut folder = RunFolder::with_logs(path, prepared, run, &[0; 4], 0)?;
        folder.write_scene(prepared)?;
        folder.add_heads(prepared)?;
        folder.add_row(&Row::of(&simulation, &simulation.state, None)?, 0.0)?;
        folder.add_frame(&simulation)?;
        folder.mark(&simulation)?;
        folder.save()?;
        Ok((folder, simulation))
    }

    fn go_on<'a>(
        path: &Path,
        prepared: &'a Prepared,
        run: u64,
    ) -> Result<(RunFolder, Simulation<'a>)> {
        let snapshot = Snapshot::load(&path.join(STATE))?;
        if snapshot.run != run {
            return bad_input(format!(
                "{}: holds a run of another scene, device or version of this program ({SCENE} in it says which scene); \
                 give another --out, or --fresh to throw it away",
                path.display()
            ));
        }
        let simulation = Simulation::resume(prepared, &snapshot)?;
        let record = 8 + 12 * prepared.cloth.vertices() as u64;
        let frame = snapshot.lengths.get(3).map_or(0, |length| length / record);
        let folder = RunFolder::with_logs(path, prepared, run, &snapshot.lengths, frame as usize)?;
        folder.write_scene(prepared)?;
        let steps = prepared.scene.clock.steps;
        super::say(&match simulation.finished() {
            true => format!(
                "{}: all {steps} steps are done already; drawing again",
                path.display()
            ),
            false => format!(
                "{}: going on after step {} of {steps}",
                path.display(),
                snapshot.step
            ),
        });
        Ok((folder, simulation))
    }

    fn with_logs(
        path: &Path,
        prepared: &Prepared,
        run: u64,
        lengths: &[u64],
        frame: usize,
    ) -> Result<RunFolder> {
        let open =
            |i: usize| Log::open(&path.join(GROWING[i]), lengths.get(i).copied().unwrap_or(0));
        let clock = &prepared.scene.clock;
        let steps = |seconds: &f64| (seconds / clock.step).round() as usize;
        Ok(RunFolder {
            path: path.to_path_buf(),
            run,
            logs: [open(0)?, open(1)?, open(2)?, open(3)?],
            picture_steps: prepared.scene.output.pictures.iter().map(steps).collect(),
            frame,
            mark: None,
        })
    }

    fn write_scene(&self, prepared: &Prepared) -> Result<()> {
        let text = format!("{:#}\n", prepared.scene.to_json());
        write_whole(&self.path.join(SCENE), text.as_bytes())
    }

    fn add_heads(&mut self, prepared: &Prepared) -> Result<()> {
        let mut readings = String::from(
            "step,time_s,material_time_s,max_angle_rad,rms_angle_rad,slipping_hinges,yielding_hinges,max_stretch",
        );
        for reading in &prepared.scene.readings {
            readings += &format!(",{}", reading.name);
        }
        let heads = [
            readings.as_str(),
            "time_s,kinetic_J,gravity_J,bending_J,membrane_J,total_J",
            "step,time_s,iterations,residual,refactored,seconds",
        ];
        for (log, head) in self.logs.iter_mut().zip(heads) {
            log.append(format!("{head}\n").as_bytes())?;
        }
        Ok(())
    }

    /// Adds a step to the tables; `seconds` is how long it took.
    pub fn add_row(&mut self, row: &Row, seconds: f64) -> Result<()> {
        let time = readable(row.time);
        let list = |values: &[f64]| {
            values
                .iter()
                .map(|v| readable(*v))
                .collect::<Vec<_>>()
                .join(",")
        };
        let readings = format!(
            "{},{time},{},{},{},{}{}\n",
            row.step,
            list(&[row.material_time, row.max_angle, row.rms_angle]),
            row.slipping,
            row.yielding,
            readable(row.max_stretch),
            row.readings
                .iter()
                .map(|v| format!(",{}", readable(*v)))
                .collect::<String>()
        );
        let e = &row.energies;
        let total = e.kinetic + e.gravity + e.bending + e.membrane;
        let energies = format!(
            "{time},{}\n",
            list(&[e.kinetic, e.gravity, e.bending, e.membrane, total])
        );
        self.logs[0].append(readings.as_bytes())?;
        self.logs[1].append(energies.as_bytes())?;
        if let Some(s) = row.statistics {
            let line = format!(
                "{},{time},{},{},{},{seconds:.6}\n",
                row.step,
                s.iterations,
                readable(s.residual),
                u8::from(s.refactored)
            );
            self.logs[2].append(line.as_bytes())?;
        }
        Ok(())
    }

    /// Whether a picture is wanted after so many steps.
    pub fn is_picture(&self, step: usize) -> bool {
        self.picture_steps.contains(&step)
    }

    /// Writes the state as a frame.
    pub fn add_frame(&mut self, simulation: &Simulation) -> Result<()> {
        let prepared = simulation.prepared;
        let positions = prepared.cloth.vertex_values(&simulation.state.positions)?;
        let format = prepared.scene.output.frames;
        if format != FrameFormat::None {
            let folder = self.path.join(FRAMES);
            std::fs::create_dir_all(&folder).map_err(|e| Error::writing(&folder, e))?;
            let path = |ending: &str| folder.join(format!("frame_{:05}.{ending}", self.frame));
            match format {
                FrameFormat::Ply => frame_as_ply(prepared, &positions, &path("ply"))?,
                _ => write_obj(
                    &path("obj"),
                    &Mesh {
                        positions: positions.clone(),
                        ..prepared.cloth.mesh.clone()
                    },
                )?,
            }
        }
        let frame = StoredFrame {
            step: simulation.step,
            positions,
        };
        self.logs[3].append(&frame.bytes())?;
        self.frame += 1;
        Ok(())
    }

    /// Remembers the state, if a run can go on from it.
    pub fn mark(&mut self, simulation: &Simulation) -> Result<()> {
        if simulation.is_resting_place() {
            let lengths = self.logs.iter().map(Log::length).collect();
            let at = (simulation.step, simulation.material_time);
            let compute = &simulation.prepared.cloth.compute;
            let snapshot = Snapshot::take(self.run, at, &simulation.state, lengths, compute)?;
            self.mark = Some(snapshot);
        }
        Ok(())
    }

    /// Saves the state that was remembered last, from which the run goes on after a stop.
    pub fn save(&self) -> Result<()> {
        match &self.mark {
            Some(snapshot) => snapshot.save(&self.path.join(STATE)),
            None => Ok(()),
        }
    }
}

fn frame_as_ply(prepared: &Prepared, positions: &[[f64; 3]], path: &Path) -> Result<()> {
    let bent = vertex_angles(prepared, positions);
    let surface = Surface {
        positions,
        triangles: &prepared.cloth.mesh.triangles,
    };
    let property = Property {
        name: "bend_rad",
        values: &bent,
    };
    save_ply(path, &surface, &[property])
}

/// The largest |θ| of the hinges at each vertex \[rad\].
pub fn vertex_angles(prepared: &Prepared, positions: &[[f64; 3]]) -> Vec<f64> {
    let hinges = &prepared.cloth.topology.hinges;
    let mut largest = vec![0.0_f64; positions.len()];
    for (hinge, angle) in hinges.iter().zip(hinge_angles(positions, hinges)) {
        for vertex in &hinge.vertices[..2] {
            largest[*vertex] = largest[*vertex].max(angle.abs());
        }
    }
    largest
}

/// Removes what an earlier run drew; its tables are cut when they are opened.
fn clear(path: &Path) -> Result<()> {
    for name in [STATE, FILM] {
        let file = path.join(name);
        if file.is_file() {
            std::fs::remove_file(&file).map_err(|e| Error::writing(&file, e))?;
        }
    }
    for name in [FRAMES, PICTURES, PLOTS] {
        let folder = path.join(name);
        if folder.is_dir() {
            std::fs::remove_dir_all(&folder).map_err(|e| Error::writing(&folder, e))?;
        }
    }
    Ok(())
}

fn is_used(path: &Path) -> bool {
    std::fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_some())
}

/// A number for everything that decides the steps of a run: scene, mesh, device, version. Its name, notes
/// and view are left out, so that a finished run can be drawn anew.
fn run_number(prepared: &Prepared) -> u64 {
    let mut scene = prepared.scene.to_json();
    for key in ["name", "notes"] {
        scene[key] = serde_json::Value::Null;
    }
    scene["output"]["view"] = serde_json::Value::Null;
    let mesh = &prepared.cloth.mesh;
    let places = mesh
        .positions
        .iter()
        .flatten()
        .chain(mesh.material.iter().flatten());
    let places = places.flat_map(|x| x.to_le_bytes());
    let corners = mesh
        .triangles
        .iter()
        .chain(&mesh.material_triangles)
        .flatten();
    let corners = corners.flat_map(|v| (*v as u64).to_le_bytes());
    let words = format!(
        "{scene} {} {}",
        prepared.cloth.compute.describe(),
        env!("CARGO_PKG_VERSION")
    );
    fingerprint(words.into_bytes().into_iter().chain(places).chain(corners))
}
