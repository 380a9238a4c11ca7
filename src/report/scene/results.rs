//! Film, pictures and plots of a run, drawn from its frames and tables.

use std::path::Path;

use crate::{
    contact::Obstacle,
    error::Result,
    mesh::{surface::Surface, vector::dot},
    report::{
        mesh_files::{Film, FilmObstacle, Frame, MOST_FRAMES},
        render::{Drawing, Framing, Projection, VertexValues},
        scene::{obstacle_shape::ObstacleShape, plots},
    },
    scene::{
        FrameFormat, PlacedObstacle, PreparedScene,
        run::{
            FILM, FRAMES, FrameFile, PICTURES, PLOTS, SCENE, StoredFrame, TABLES, TRACK,
            vertex_angles,
        },
    },
    study::Folder,
};

/// Draws everything into the folder of a run and returns the names of the files there.
pub(crate) fn draw(prepared: &PreparedScene, path: &Path) -> Result<Vec<String>> {
    let (output, folder) = (&prepared.scene.output, &Folder::new(path));
    let mut track = FrameFile::open(&folder.file(TRACK), prepared.cloth.vertices())?;
    let mut files: Vec<String> = Vec::new();
    if output.film && !track.steps.is_empty() {
        film(prepared, folder, &mut track)?;
        files.push(FILM.into());
    }
    if output.frames != FrameFormat::None {
        files.push(format!("{FRAMES}/"));
    }
    if !output.pictures.is_empty() {
        pictures(prepared, folder, &mut track)?;
        files.push(format!("{PICTURES}/"));
    }
    let charts = folder.inner(PLOTS);
    charts.make()?;
    plots::save(path, charts.path(), &prepared.scene.name)?;
    files.extend(TABLES.map(String::from));
    files.extend([format!("{PLOTS}/"), SCENE.into()]);
    Ok(files)
}

/// Obstacles as meshes, in the order of the scene.
fn shapes(prepared: &PreparedScene) -> Vec<ObstacleShape> {
    let reach = 0.75 * prepared.cloth.mesh.diagonal();
    let things = prepared.scene.obstacles.iter();
    things
        .map(|t| ObstacleShape::of(&t.contact.obstacle, reach))
        .collect()
}

/// Where the mesh of an obstacle is drawn: a plane's patch lies under the cloth.
fn place(prepared: &PreparedScene, obstacle: &PlacedObstacle, seconds: f64) -> [f64; 3] {
    let center = obstacle.center_at(seconds);
    let Obstacle::Plane { normal } = obstacle.contact.obstacle else {
        return center;
    };
    let positions = &prepared.cloth.mesh.positions;
    let count = positions.len().max(1) as f64;
    let middle: [f64; 3] =
        std::array::from_fn(|i| positions.iter().map(|p| p[i]).sum::<f64>() / count);
    let height = dot(normal, std::array::from_fn(|i| middle[i] - center[i]));
    std::array::from_fn(|i| middle[i] - height * normal[i])
}

fn film(prepared: &PreparedScene, folder: &Folder, track: &mut FrameFile) -> Result<()> {
    let scene = &prepared.scene;
    let count = track.steps.len();
    let most = MOST_FRAMES.min(count);
    let gaps = most.saturating_sub(1).max(1);
    let kept: Result<Vec<StoredFrame>> = (0..most)
        .map(|i| track.frame((i * (count - 1) + gaps / 2) / gaps))
        .collect();
    let kept = kept?;
    let time = |frame: &StoredFrame| frame.step as f64 * scene.clock.step;
    let frames: Vec<Frame> = kept
        .iter()
        .map(|frame| Frame {
            time: time(frame),
            positions: &frame.positions,
        })
        .collect();
    let shapes = shapes(prepared);
    let ways: Vec<(Vec<[f64; 3]>, Vec<bool>)> = scene
        .obstacles
        .iter()
        .map(|obstacle| {
            let at = |f: &StoredFrame| {
                let present = obstacle.present_at(&scene.clock, time(f));
                (place(prepared, obstacle, time(f)), present)
            };
            kept.iter().map(at).unzip()
        })
        .collect();
    let shown = shapes
        .iter()
        .zip(&ways)
        .filter(|(shape, _)| !shape.triangles.is_empty());
    let obstacles: Vec<FilmObstacle> = shown
        .map(|(shape, (offsets, present))| FilmObstacle {
            surface: surface(shape),
            offsets,
            present,
        })
        .collect();
    Film {
        triangles: &prepared.cloth.mesh.triangles,
        frames: &frames,
        obstacles: &obstacles,
        body: None,
        up: scene.output.sight.up,
    }
    .save(&folder.file(FILM))
}

fn surface(shape: &ObstacleShape) -> Surface<'_> {
    Surface {
        positions: &shape.positions,
        triangles: &shape.triangles,
    }
}

/// One picture for each moment asked for that the run has reached.
fn pictures(prepared: &PreparedScene, folder: &Folder, track: &mut FrameFile) -> Result<()> {
    let target = folder.inner(PICTURES);
    target.make()?;
    let clock = &prepared.scene.clock;
    let reached = track.steps.last().copied().unwrap_or(0);
    for seconds in &prepared.scene.output.pictures {
        let step = (seconds / clock.step).round() as usize;
        if let Some(index) = track.nearest(step).filter(|_| step <= reached) {
            let frame = track.frame(index)?;
            let time = frame.step as f64 * clock.step;
            picture(
                prepared,
                &frame,
                &target.file(&format!("t_{time:08.4}s.png")),
            )?;
        }
    }
    Ok(())
}

fn picture(prepared: &PreparedScene, frame: &StoredFrame, path: &Path) -> Result<()> {
    let scene = &prepared.scene;
    let sight = &scene.output.sight;
    let time = frame.step as f64 * scene.clock.step;
    let mut shapes = shapes(prepared);
    for (shape, obstacle) in shapes.iter_mut().zip(&scene.obstacles) {
        if !sight.obstacles || !obstacle.present_at(&scene.clock, time) {
            *shape = ObstacleShape::default();
        }
        let center = place(prepared, obstacle, time);
        for point in &mut shape.positions {
            *point = std::array::from_fn(|i| point[i] + center[i]);
        }
    }
    let obstacles: Vec<Surface> = shapes.iter().map(surface).collect();
    let bent = vertex_angles(prepared, &frame.positions);
    let degrees: Vec<f64> = bent.iter().map(|a| a.to_degrees()).collect();
    Drawing {
        cloth: Surface {
            positions: &frame.positions,
            triangles: &prepared.cloth.mesh.triangles,
        },
        values: sight.angles.then_some(VertexValues {
            values: &degrees,
            label: "largest |θ| [°]",
            ..VertexValues::default()
        }),
        obstacles: &obstacles,
        flat: false,
        view: Projection {
            toward_viewer: sight.toward_viewer,
            up: sight.up,
            fit: if sight.everything {
                Framing::Everything
            } else {
                Framing::Cloth
            },
            width: sight.size[0],
            height: sight.size[1],
        },
        caption: &format!("{}, t = {time:.3} s", scene.name),
    }
    .save(path)
}
