//! The folder of a run: made once, gone on with after a stop.

use std::path::Path;

use serde_json::Value;

use super::{SceneRow, Simulation, Snapshot, StoredFrame, vertex_angles};
use crate::{
    error::{Result, readable},
    files::fingerprint,
    mesh::{Mesh, Property, save_ply, surface::Surface, write_obj},
    scene::{FrameFormat, PreparedScene},
    study::{Folder, Log, Maker, News, Watcher},
};

const STATE: &str = "state.bin";
/// The resolved scene.
pub(crate) const SCENE: &str = "scene.json";
/// All frames, for [`super::FrameFile`].
pub(crate) const TRACK: &str = "track.bin";
/// Folder of the frames for other programs.
pub(crate) const FRAMES: &str = "frames";
/// Folder of the pictures that are drawn from a run.
pub(crate) const PICTURES: &str = "pictures";
/// Folder of the charts that are drawn from a run.
pub(crate) const PLOTS: &str = "plots";
/// The film that is drawn from a run.
pub(crate) const FILM: &str = "film.glb";
/// Tables of readings, energies and linear solves.
pub(crate) const TABLES: [&str; 3] = ["readings.csv", "energies.csv", "solver.csv"];

/// What to do about a folder of another run.
const REMEDY: &str = "give another --out, or --fresh to throw it away";

pub(super) struct SceneFolder {
    folder: Folder,
    run: u64,
    maker: Maker,
    /// The tables and the track, in the order of their lengths in a snapshot.
    logs: [Log; 4],
    /// Numbers of steps at which a picture is wanted.
    pub(super) picture_steps: Vec<usize>,
    /// Number of the next frame.
    frame: usize,
    /// Where the run can go on from.
    mark: Option<Snapshot>,
}

impl SceneFolder {
    /// Opens a folder for a run: a new one, or where an earlier one of the same scene stopped.
    pub(crate) fn open<'a>(
        path: &Path,
        prepared: &'a PreparedScene,
        fresh: bool,
        watch: &mut Watcher,
    ) -> Result<(SceneFolder, Simulation<'a>)> {
        let folder = Folder::new(path);
        let begun = !fresh && folder.has(STATE);
        let is_run = folder.has(SCENE);
        if !fresh && !begun && !is_run && !folder.names()?.is_empty() {
            return folder.refuse_strangers("a scene");
        }
        let snapshot = begun.then(|| Snapshot::load(&folder.file(STATE)));
        let snapshot = snapshot.transpose()?;
        let mut opened = SceneFolder::lock(folder, prepared)?;
        match snapshot {
            Some(snapshot) => {
                let simulation = opened.go_on(prepared, &snapshot, watch)?;
                Ok((opened, simulation))
            }
            None => {
                if is_run {
                    opened.clear()?;
                }
                let simulation = opened.start(prepared)?;
                Ok((opened, simulation))
            }
        }
    }

    /// Opens the logs, so that no other run can write here; what is in them stays.
    fn lock(folder: Folder, prepared: &PreparedScene) -> Result<SceneFolder> {
        folder.make()?;
        let lock = |name: &str| Log::lock(&folder.file(name));
        let [readings, energies, solver] = TABLES;
        let clock = &prepared.scene.clock;
        let steps = |seconds: &f64| (seconds / clock.step).round() as usize;
        Ok(SceneFolder {
            run: run_number(prepared),
            maker: Maker::here(prepared.cloth.compute.describe()),
            logs: [
                lock(readings)?,
                lock(energies)?,
                lock(solver)?,
                lock(TRACK)?,
            ],
            picture_steps: prepared.scene.output.pictures.iter().map(steps).collect(),
            frame: 0,
            mark: None,
            folder,
        })
    }

    fn start<'a>(&mut self, prepared: &'a PreparedScene) -> Result<Simulation<'a>> {
        // At once: a kill before the first save must not leave a folder that passes for something else.
        self.write_scene(prepared)?;
        let simulation = Simulation::start(prepared)?;
        for log in &mut self.logs {
            log.cut(0)?;
        }
        self.add_heads(prepared)?;
        self.add_row(&SceneRow::of(&simulation, &simulation.state, None)?, 0.0)?;
        self.add_frame(&simulation)?;
        self.mark(&simulation)?;
        self.save()?;
        Ok(simulation)
    }

    fn go_on<'a>(
        &mut self,
        prepared: &'a PreparedScene,
        snapshot: &Snapshot,
        watch: &mut Watcher,
    ) -> Result<Simulation<'a>> {
        self.check_same(prepared, snapshot)?;
        let simulation = Simulation::resume(prepared, snapshot)?;
        for (i, log) in self.logs.iter_mut().enumerate() {
            log.cut(snapshot.lengths.get(i).copied().unwrap_or(0))?;
        }
        let record = 8 + 12 * prepared.cloth.vertices() as u64;
        self.frame = (self.logs[3].length() / record) as usize;
        self.write_scene(prepared)?;
        let steps = prepared.scene.clock.steps;
        let place = self.folder.path().display();
        let _ = watch(News::Remark(&match simulation.finished() {
            true => format!("{place}: all {steps} steps are done already; drawing again"),
            false => format!("{place}: going on after step {} of {steps}", snapshot.step),
        }));
        Ok(simulation)
    }

    /// Refuses a run of another scene, mesh, device or version.
    fn check_same(&self, prepared: &PreparedScene, snapshot: &Snapshot) -> Result<()> {
        let folder = &self.folder;
        folder.check_maker(&snapshot.maker, &self.maker, REMEDY)?;
        if snapshot.run == self.run {
            return Ok(());
        }
        let held = folder.read(SCENE).ok();
        if let Some(held) = held.and_then(|text| serde_json::from_str(&text).ok()) {
            let (there, here) = (unnamed(held), unnamed(prepared.scene.to_json()));
            folder.check_input("scene", &there, &here, REMEDY)?;
        }
        folder.refuse(format!(
            "holds a run of another scene: the mesh is another one; {REMEDY}"
        ))
    }

    fn write_scene(&self, prepared: &PreparedScene) -> Result<()> {
        let text = format!("{:#}\n", prepared.scene.to_json());
        self.folder.write(SCENE, text.as_bytes())
    }

    fn add_heads(&mut self, prepared: &PreparedScene) -> Result<()> {
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
    pub(crate) fn add_row(&mut self, row: &SceneRow, seconds: f64) -> Result<()> {
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

    /// Writes the state as a frame.
    pub(crate) fn add_frame(&mut self, simulation: &Simulation) -> Result<()> {
        let prepared = simulation.prepared;
        let positions = prepared.cloth.vertex_values(&simulation.state.positions)?;
        let format = prepared.scene.output.frames;
        if format != FrameFormat::None {
            let folder = self.folder.inner(FRAMES);
            folder.make()?;
            let path = |ending: &str| folder.file(&format!("frame_{:05}.{ending}", self.frame));
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
    pub(crate) fn mark(&mut self, simulation: &Simulation) -> Result<()> {
        if simulation.is_resting_place() {
            let lengths = self.logs.iter().map(Log::length).collect();
            let at = (simulation.step, simulation.material_time);
            let compute = &simulation.prepared.cloth.compute;
            let origin = (self.run, self.maker.clone());
            let snapshot = Snapshot::take(origin, at, &simulation.state, lengths, compute)?;
            self.mark = Some(snapshot);
        }
        Ok(())
    }

    /// Saves the state that was remembered last, from which the run goes on after a stop.
    pub(crate) fn save(&self) -> Result<()> {
        match &self.mark {
            Some(snapshot) => snapshot.save(&self.folder.file(STATE)),
            None => Ok(()),
        }
    }

    /// Removes what an earlier run drew; its tables are cut when the new run starts.
    fn clear(&self) -> Result<()> {
        let drawn = [STATE, FILM, FRAMES, PICTURES, PLOTS];
        drawn.iter().try_for_each(|name| self.folder.remove(name))
    }
}

fn frame_as_ply(prepared: &PreparedScene, positions: &[[f64; 3]], path: &Path) -> Result<()> {
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

/// A number for everything that decides the steps of a run: scene and mesh.
fn run_number(prepared: &PreparedScene) -> u64 {
    let scene = unnamed(prepared.scene.to_json()).to_string();
    let mesh = &prepared.cloth.mesh;
    let places = mesh.positions.iter().flatten();
    let places = places.chain(mesh.material.iter().flatten());
    let places = places.flat_map(|x| x.to_le_bytes());
    let corners = mesh.triangles.iter().chain(&mesh.material_triangles);
    let corners = corners.flatten();
    let corners = corners.flat_map(|v| (*v as u64).to_le_bytes());
    fingerprint(scene.into_bytes().into_iter().chain(places).chain(corners))
}

/// A scene without its name, notes and view, so that a finished run can be drawn anew.
fn unnamed(mut scene: Value) -> Value {
    if let Some(scene) = scene.as_object_mut() {
        scene.remove("name");
        scene.remove("notes");
        let output = scene.get_mut("output").and_then(Value::as_object_mut);
        output.map(|output| output.remove("view"));
    }
    scene
}
