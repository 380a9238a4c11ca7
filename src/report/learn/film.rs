//! A roll-out as an animated `.glb`: the garment and the body in it.

use std::path::Path;

use crate::report::mesh_files::{Film, Frame, Moving};
use crate::{
    error::Result,
    learn::{BodyMotion, BodyScene, GarmentMotion},
};

/// Saves a track of a motion.
pub(crate) fn save(
    path: &Path,
    scene: &BodyScene,
    motion: &BodyMotion,
    track: &GarmentMotion,
) -> Result<()> {
    track.check("film", scene, motion)?;
    let garments: Vec<Vec<[f64; 3]>> = (0..track.frames()).map(|f| track.points(f)).collect();
    let poses = scene.poses(motion, 0..motion.frames())?;
    let meshes: Vec<_> = poses.iter().map(|pose| scene.body.mesh(pose)).collect();
    let triangles = meshes.first().map_or(Vec::new(), |m| m.triangles.clone());
    let bodies: Vec<Vec<[f64; 3]>> = meshes.into_iter().map(|m| m.positions).collect();
    let frames: Vec<Frame> = garments
        .iter()
        .enumerate()
        .map(|(number, positions)| Frame {
            time: number as f64 * motion.seconds,
            positions,
        })
        .collect();
    Film {
        triangles: &scene.garment.mesh.triangles,
        frames: &frames,
        obstacles: &[],
        body: Some(Moving {
            triangles: &triangles,
            frames: &bodies,
        }),
        up: [0.0, 0.0, 1.0],
    }
    .save(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::learn::frames::tests::skinned;

    /// The JSON of a `.glb` file.
    fn json(bytes: &[u8]) -> serde_json::Value {
        let length = u32::from_le_bytes(bytes[12..16].try_into().unwrap()) as usize;
        serde_json::from_slice(&bytes[20..20 + length]).unwrap()
    }

    #[test]
    fn the_film_has_every_frame_of_the_track_for_garment_and_body() {
        let (scene, motion, track) = skinned(21);
        let path = std::env::temp_dir().join(format!("rumple-film-{}.glb", std::process::id()));
        save(&path, &scene, &motion, &track).unwrap();
        let film = json(&std::fs::read(&path).unwrap());
        std::fs::remove_file(&path).unwrap();
        let animation = &film["animations"][0];
        let input = animation["samplers"][0]["input"].as_u64().unwrap() as usize;
        let times = &film["accessors"][input];
        assert_eq!(times["count"], 21);
        let last = times["max"][0].as_f64().unwrap();
        assert!((last - 20.0 / 30.0).abs() < 1e-6, "{last}");
        for (mesh, vertices) in [(0, 80), (1, 2 * (16 * 32 + 2))] {
            let primitive = &film["meshes"][mesh]["primitives"][0];
            assert_eq!(primitive["targets"].as_array().unwrap().len(), 20);
            let accessor = primitive["attributes"]["POSITION"].as_u64().unwrap() as usize;
            assert_eq!(film["accessors"][accessor]["count"], vertices);
        }
        let nodes = film["nodes"].as_array().unwrap();
        let named = |n: u64| nodes[n as usize]["name"].as_str().unwrap();
        let channels = animation["channels"].as_array().unwrap();
        let moved: Vec<&str> = channels
            .iter()
            .map(|c| named(c["target"]["node"].as_u64().unwrap()))
            .collect();
        assert_eq!(moved, ["cloth", "body"]);
    }

    #[test]
    fn a_track_of_another_motion_is_refused() {
        let (scene, _, track) = skinned(21);
        let motion = BodyMotion::canonical(&scene.body);
        let refused = save(Path::new("film.glb"), &scene, &motion, &track);
        let text = refused.unwrap_err().to_string();
        assert!(
            text.contains("21 frames of positions for the 95 frames"),
            "{text}"
        );
    }
}
