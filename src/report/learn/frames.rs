//! A garment before, during and after the bend: predictions over the reference, in one picture.

use std::path::Path;

use crate::{
    error::{Result, bad_input},
    learn::{BodyMesh, BodyMotion, BodyScene, GarmentMotion, evaluate::BendFrames},
    mesh::surface::Surface,
    report::render::{Drawing, Framing, Panels, Projection},
};

/// Width and height of one frame \[px\].
const SIZE: [usize; 2] = [420, 480];
/// From the side of the bend and a little from its inside and above, where wrinkles stay.
const TOWARD_VIEWER: [f64; 3] = [1.0, -0.75, 0.3];

/// Saves one row a track with its name: the frames of [`BendFrames`], or, of a motion without a bend, the first, the
/// middle and the last.
pub(crate) fn save(
    path: &Path,
    scene: &BodyScene,
    motion: &BodyMotion,
    tracks: &[(&str, &GarmentMotion)],
) -> Result<()> {
    if tracks.is_empty() || motion.frames() == 0 {
        return bad_input(
            "there is no frame to draw; give a prediction or a reference of some frames",
        );
    }
    for (name, track) in tracks {
        track.check(name, scene, motion)?;
    }
    let last = motion.frames() - 1;
    let moments = match BendFrames::of(motion) {
        Some(moments) => [moments.before, moments.during, last],
        None => [0, last / 2, last],
    };
    let poses = scene.poses(motion, 0..motion.frames())?;
    let bodies = moments.map(|frame| scene.body.mesh(&poses[frame]));
    let garments: Vec<[Vec<[f64; 3]>; 3]> = tracks
        .iter()
        .map(|(_, track)| moments.map(|frame| track.points(frame)))
        .collect();
    let view = view(garments.iter().flatten().flatten());
    let surfaces = bodies.each_ref().map(surface);
    let mut rows: Vec<(String, Vec<Drawing>)> = Vec::new();
    for ((name, _), garments) in tracks.iter().zip(&garments) {
        let mut row = Vec::new();
        for (positions, body) in garments.iter().zip(&surfaces) {
            row.push(drawn(scene, positions, body, view));
        }
        rows.push(((*name).to_string(), row));
    }
    let names = ["before the bend", "bent", "at the end"];
    let columns =
        std::array::from_fn::<String, 3, _>(|k| format!("{}, frame {}", names[k], moments[k]));
    Panels {
        caption: &format!(
            "synthetic {} in a {}; motion {}",
            scene.body.name, scene.garment.name, motion.name
        ),
        columns: &columns,
        rows: &rows,
    }
    .save(path)
}

fn drawn<'a>(
    scene: &'a BodyScene,
    positions: &'a [[f64; 3]],
    body: &'a Surface<'a>,
    view: Projection,
) -> Drawing<'a> {
    Drawing {
        cloth: Surface {
            positions,
            triangles: &scene.garment.mesh.triangles,
        },
        obstacles: std::slice::from_ref(body),
        view,
        ..Drawing::default()
    }
}

fn surface(mesh: &BodyMesh) -> Surface<'_> {
    Surface {
        positions: &mesh.positions,
        triangles: &mesh.triangles,
    }
}

/// One view that the garment fits in in all frames; the body may reach out of it.
fn view<'a>(points: impl Iterator<Item = &'a [f64; 3]>) -> Projection {
    let (mut low, mut high) = ([f64::INFINITY; 3], [f64::NEG_INFINITY; 3]);
    for point in points {
        low = std::array::from_fn(|a| low[a].min(point[a]));
        high = std::array::from_fn(|a| high[a].max(point[a]));
    }
    Projection {
        toward_viewer: TOWARD_VIEWER,
        fit: Framing::Box(low, high),
        width: SIZE[0],
        height: SIZE[1],
        ..Projection::default()
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::{
        learn::{Body, Garment, Imperfection},
        numeric::{Compute, Precision},
    };

    /// A coarse sleeve that goes with the arm, and `frames` frames of a bend.
    pub(in crate::report) fn skinned(frames: usize) -> (BodyScene, BodyMotion, GarmentMotion) {
        let body = Body::arm();
        let waves = Imperfection::seeded(1);
        let garment = Garment::tube(
            "sleeve",
            &body,
            waves,
            [0.06, 0.44],
            [8, 10],
            |[x, y, z]| [y, -z, -x],
        );
        let scene = BodyScene {
            garment: garment.unwrap(),
            body,
        };
        let mut motion = BodyMotion::canonical(&scene.body);
        motion.turns.truncate(frames);
        motion.root.truncate(frames);
        let compute = Compute::cpu(Precision::F64);
        let poses = scene.poses(&motion, 0..frames).unwrap();
        let place = |pose: &Vec<_>| {
            let plain = scene.skinned(std::slice::from_ref(pose), &compute).plain();
            compute.values(plain).unwrap()
        };
        let hinges = scene.garment.topology.hinges.len();
        let track = GarmentMotion {
            positions: poses.iter().map(place).collect(),
            strain: vec![vec![0.0; hinges]; frames],
            plastic: vec![vec![0.0; hinges]; frames],
        };
        (scene, motion, track)
    }

    #[test]
    fn one_row_a_track_with_body_and_garment() {
        let (scene, motion, track) = skinned(95);
        let path = std::env::temp_dir().join(format!("rumple-frames-{}.png", std::process::id()));
        save(&path, &scene, &motion, &[("a", &track), ("b", &track)]).unwrap();
        let file = std::fs::File::open(&path).unwrap();
        let mut reader = png::Decoder::new(std::io::BufReader::new(file))
            .read_info()
            .unwrap();
        // Lines of 16 pixels: a head of 4, 2 over each row.
        let (width, height) = (3 * SIZE[0], 64 + 2 * (32 + SIZE[1]));
        assert_eq!(reader.info().size(), (width as u32, height as u32));
        let mut pixels = vec![0; 3 * width * height];
        reader.next_frame(&mut pixels).unwrap();
        std::fs::remove_file(&path).unwrap();
        let color = |x: usize, y: usize| {
            let at = 3 * (y * width + x);
            [pixels[at], pixels[at + 1], pixels[at + 2]].map(i32::from)
        };
        let count = |columns: std::ops::Range<usize>, like: &dyn Fn([i32; 3]) -> bool| {
            let rows = 96..96 + SIZE[1];
            rows.flat_map(|y| columns.clone().map(move |x| (x, y)))
                .filter(|&(x, y)| like(color(x, y)))
                .count()
        };
        let blue = |[r, _, b]: [i32; 3]| b > r + 20;
        let grey = |[r, g, b]: [i32; 3]| (r - g).abs() < 6 && (g - b).abs() < 6 && r < 225;
        for column in 0..3 {
            let columns = column * SIZE[0]..(column + 1) * SIZE[0];
            let cloth = count(columns.clone(), &blue);
            let body = count(columns, &grey);
            assert!(cloth > 5_000 && body > 500, "{column}: {cloth} {body}");
        }
        // Both rows show the same.
        let apart = 32 + SIZE[1];
        assert!(
            (96..96 + SIZE[1] - 60).all(|y| (0..width).all(|x| color(x, y) == color(x, y + apart)))
        );
    }

    #[test]
    fn what_cannot_be_drawn_is_refused() {
        let (scene, motion, mut track) = skinned(12);
        let path = Path::new("frames.png");
        let text = save(path, &scene, &motion, &[]).unwrap_err().to_string();
        assert!(text.contains("no frame to draw"), "{text}");
        track.positions[3][7] = f64::NAN;
        let refused = save(path, &scene, &motion, &[("prediction", &track)]);
        let text = refused.unwrap_err().to_string();
        assert!(
            text.contains("prediction: frame 3 has positions that are not finite"),
            "{text}"
        );
    }
}
