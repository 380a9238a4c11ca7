//! A strict reader of our `.glb` films, and the tests that use it.

use gltf_json::{Root, validation::Validate};
use serde_json::Value;

use super::{Film, FilmObstacle, Frame, MOST_FRAMES, Moving};
use crate::mesh::surface::Surface;

/// A file taken apart: its JSON and its buffer.
struct Glb {
    json: Value,
    buffer: Vec<u8>,
}

fn word(bytes: &[u8], at: usize) -> usize {
    let bytes = bytes[at..at + 4].try_into().expect("four bytes");
    u32::from_le_bytes(bytes) as usize
}

fn number(value: &Value) -> usize {
    value.as_u64().expect("a whole number") as usize
}

fn list(value: &Value) -> &[Value] {
    value.as_array().expect("a list")
}

/// The JSON is glTF for a crate that had no part in writing it: everything is of the right type, nothing that is required
/// is missing, and every number of another object exists.
fn check_document(json: &[u8]) {
    let root = Root::from_slice(json).expect("glTF");
    let mut faults = Vec::new();
    root.validate(&root, Default::default, &mut |path, fault| {
        faults.push(format!("{}: {fault}", path()));
    });
    assert!(faults.is_empty(), "{faults:?}");
}

impl Glb {
    /// Checks the container and every accessor on the way.
    fn read(file: &[u8]) -> Glb {
        assert_eq!(&file[..4], b"glTF");
        assert_eq!(word(file, 4), 2);
        assert_eq!(word(file, 8), file.len());
        let text = word(file, 12);
        assert_eq!(&file[16..20], b"JSON");
        let rest = 20 + text;
        assert_eq!(&file[rest + 4..rest + 8], b"BIN\0");
        assert_eq!(rest + 8 + word(file, rest), file.len());
        assert!(text.is_multiple_of(4) && file.len().is_multiple_of(4));
        let glb = Glb {
            json: serde_json::from_slice(&file[20..rest]).expect("JSON"),
            buffer: file[rest + 8..].to_vec(),
        };
        check_document(&file[20..rest]);
        assert_eq!(glb.json["asset"]["version"], "2.0");
        assert_eq!(
            number(&glb.json["buffers"][0]["byteLength"]),
            glb.buffer.len()
        );
        for index in 0..list(&glb.json["accessors"]).len() {
            glb.check_accessor(index);
        }
        glb
    }

    /// The accessor fills its view, which is aligned, follows the one before, and has true bounds.
    fn check_accessor(&self, index: usize) {
        let accessor = &self.json["accessors"][index];
        assert_eq!(number(&accessor["bufferView"]), index);
        let view = &self.json["bufferViews"][index];
        let (start, length) = (number(&view["byteOffset"]), number(&view["byteLength"]));
        let end = match index {
            0 => 0,
            _ => {
                let before = &self.json["bufferViews"][index - 1];
                number(&before["byteOffset"]) + number(&before["byteLength"])
            }
        };
        assert!(start.is_multiple_of(4) && start == end && start + length <= self.buffer.len());
        let width = if accessor["type"] == "VEC3" { 3 } else { 1 };
        assert_eq!(length, 4 * width * number(&accessor["count"]));
        assert!(number(&accessor["count"]) > 0);
        if accessor["componentType"] == 5126 {
            let values = self.floats(index);
            for axis in 0..width {
                let column = || values.iter().skip(axis).step_by(width).copied();
                let low = column().fold(f32::INFINITY, f32::min);
                let high = column().fold(f32::NEG_INFINITY, f32::max);
                assert!(low.is_finite() && high.is_finite());
                assert_eq!(accessor["min"][axis].as_f64(), Some(f64::from(low)));
                assert_eq!(accessor["max"][axis].as_f64(), Some(f64::from(high)));
            }
        }
    }

    fn bytes(&self, accessor: usize) -> &[u8] {
        let view = &self.json["bufferViews"][accessor];
        let start = number(&view["byteOffset"]);
        &self.buffer[start..start + number(&view["byteLength"])]
    }

    fn floats(&self, accessor: usize) -> Vec<f32> {
        let words = self.bytes(accessor).chunks_exact(4);
        words
            .map(|word| f32::from_le_bytes(word.try_into().expect("four bytes")))
            .collect()
    }

    /// The cloth's positions at a moment of the film.
    fn positions(&self, moment: usize) -> Vec<f32> {
        self.positions_of(0, moment)
    }

    /// A mesh's positions at a moment of the film, as a viewer adds them up.
    fn positions_of(&self, mesh: usize, moment: usize) -> Vec<f32> {
        let primitive = &self.json["meshes"][mesh]["primitives"][0];
        let targets = list(&primitive["targets"]);
        let weights = self.floats(number(&self.json["animations"][0]["samplers"][0]["output"]));
        let mut sum = self.floats(number(&primitive["attributes"]["POSITION"]));
        for (index, target) in targets.iter().enumerate() {
            let weight = weights[moment * targets.len() + index];
            let moves = self.floats(number(&target["POSITION"]));
            assert_eq!(moves.len(), sum.len());
            for (x, by) in sum.iter_mut().zip(moves) {
                *x += weight * by;
            }
        }
        sum
    }

    /// The size of a node from a moment of the film to the next: the animation's where it has one, alike in all
    /// directions and without anything in between.
    fn size(&self, name: &str, moment: usize) -> f32 {
        let node = list(&self.json["nodes"])
            .iter()
            .position(|n| n["name"] == name);
        let node = node.expect("a node of that name");
        let animation = &self.json["animations"][0];
        let channels = animation["channels"].as_array().into_iter().flatten();
        let mut ours = channels
            .filter(|c| c["target"]["path"] == "scale" && number(&c["target"]["node"]) == node);
        let sizes: Vec<f32> = match ours.next() {
            Some(channel) => {
                let sampler = &animation["samplers"][number(&channel["sampler"])];
                assert_eq!(sampler["interpolation"], "STEP");
                self.floats(number(&sampler["output"]))[3 * moment..3 * moment + 3].to_vec()
            }
            None => {
                let own = list(&self.json["nodes"][node]["scale"]).iter();
                own.map(|x| x.as_f64().expect("a number") as f32).collect()
            }
        };
        assert!(sizes.len() == 3 && sizes.iter().all(|x| *x == sizes[0]));
        sizes[0]
    }
}

const TRIANGLES: [[usize; 3]; 2] = [[0, 1, 2], [1, 3, 2]];

/// A square that rises and folds.
fn square(moment: usize) -> Vec<[f64; 3]> {
    let z = 0.01 * moment as f64;
    let corner = [1.0, 1.0, 0.3 - z * z];
    vec![[0.0, 0.0, z], [1.0, 0.0, z], [0.0, 1.0, z], corner]
}

fn film_of(count: usize, check: impl Fn(&mut Film)) -> Result<Vec<u8>, String> {
    let squares: Vec<_> = (0..count).map(square).collect();
    let frame = |(index, positions)| Frame {
        time: 100.0 + 0.1 * index as f64,
        positions,
    };
    let frames: Vec<Frame> = squares
        .iter()
        .map(Vec::as_slice)
        .enumerate()
        .map(frame)
        .collect();
    let offsets: Vec<_> = (0..count).map(|index| [0.0, 0.0, index as f64]).collect();
    let surface = Surface {
        positions: &squares[0],
        triangles: &TRIANGLES,
    };
    let rests = FilmObstacle {
        surface,
        offsets: &[],
        present: &[],
    };
    let moves = FilmObstacle {
        offsets: &offsets,
        ..rests
    };
    // In the middle third.
    let present: Vec<bool> = (0..count)
        .map(|i| i >= count / 3 && i < 2 * count / 3)
        .collect();
    let comes_and_goes = FilmObstacle {
        present: &present,
        ..moves
    };
    let mut film = Film {
        triangles: &TRIANGLES,
        frames: &frames,
        obstacles: &[rests, moves, comes_and_goes],
        body: None,
        up: [0.0, 0.0, 1.0],
    };
    check(&mut film);
    film.bytes().map_err(|error| error.to_string())
}

/// A viewer sees each kept frame at its time, and the obstacle where it was.
#[test]
fn frames_come_back() {
    let glb = Glb::read(&film_of(300, |_| ()).expect("a film"));
    let animation = &glb.json["animations"][0];
    let times = glb.floats(number(&animation["samplers"][0]["input"]));
    assert_eq!(times.len(), MOST_FRAMES);
    assert_eq!(times[0], 0.0);
    assert!(times.windows(2).all(|pair| pair[0] < pair[1]));
    for (moment, time) in times.iter().enumerate() {
        let frame = (time * 10.0).round() as usize;
        let expected: Vec<f64> = square(frame).into_iter().flatten().collect();
        for (value, expected) in glb.positions(moment).iter().zip(expected) {
            // Two roundings of f32 at the size of the largest coordinate, 9.
            assert!((f64::from(*value) - expected).abs() < 2e-6, "{moment}");
        }
    }
    assert_eq!((times[119] * 10.0).round(), 299.0);
    let way = &animation["channels"][1];
    assert_eq!(way["target"]["path"], "translation");
    assert_eq!(
        glb.json["nodes"][number(&way["target"]["node"])]["name"],
        "obstacle 1"
    );
    let offsets = glb.floats(number(&animation["samplers"][1]["output"]));
    assert_eq!(offsets[3 * 119 + 2], 299.0);
}

/// A body changes its shape frame by frame, by a node of its own and the weights of the cloth.
#[test]
fn a_body_is_where_it_was_in_every_frame() {
    let shape = |moment: usize| square(2 * moment + 1);
    let frames: &[Vec<[f64; 3]>] = (0..9).map(shape).collect::<Vec<_>>().leak();
    let body = Moving {
        triangles: &TRIANGLES,
        frames,
    };
    let glb = Glb::read(&film_of(9, |film| film.body = Some(body)).expect("a film"));
    let nodes = list(&glb.json["nodes"]);
    let node = nodes.iter().position(|n| n["name"] == "body");
    let node = node.expect("a body");
    let mesh = number(&nodes[node]["mesh"]);
    for moment in 0..9 {
        let expected = shape(moment).into_iter().flatten();
        for (value, expected) in glb.positions_of(mesh, moment).iter().zip(expected) {
            // Two roundings of f32 at the size of 1.
            assert!((f64::from(*value) - expected).abs() < 1e-6, "{moment}");
        }
    }
    let animation = &glb.json["animations"][0];
    let moved = |c: &&Value| number(&c["target"]["node"]) == node;
    let channel = list(&animation["channels"]).iter().find(moved);
    let channel = channel.expect("a channel of the body");
    assert_eq!(channel["target"]["path"], "weights");
    assert_eq!(
        animation["samplers"][number(&channel["sampler"])]["output"],
        animation["samplers"][0]["output"]
    );
}

/// An obstacle that comes later and goes earlier is seen from its first frame to its last and at no moment
/// between others; the rest are always seen.
#[test]
fn absent_obstacles_are_not_seen() {
    let glb = Glb::read(&film_of(9, |_| ()).expect("a film"));
    let seen = |name: &str| -> Vec<f32> { (0..9).map(|moment| glb.size(name, moment)).collect() };
    assert_eq!(
        seen("obstacle 2"),
        [0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0]
    );
    assert_eq!(seen("obstacle 0"), [1.0; 9]);
    assert_eq!(seen("obstacle 1"), [1.0; 9]);
    let still = Glb::read(&film_of(1, |_| ()).expect("a still"));
    assert_eq!(still.size("obstacle 2", 0), 0.0);
    assert_eq!(still.size("obstacle 1", 0), 1.0);
}

/// Materials show both sides, indices are in range, base normals have unit length.
#[test]
fn meshes_are_whole() {
    let glb = Glb::read(&film_of(3, |_| ()).expect("a film"));
    for mesh in list(&glb.json["meshes"]) {
        let primitive = &mesh["primitives"][0];
        let normals = glb.floats(number(&primitive["attributes"]["NORMAL"]));
        for normal in normals.chunks_exact(3) {
            let length = normal.iter().map(|x| x * x).sum::<f32>().sqrt();
            // Roundings of f32.
            assert!((length - 1.0).abs() < 1e-6, "{length}");
        }
        let indices = glb.bytes(number(&primitive["indices"]));
        assert!((0..6).all(|corner| word(indices, 4 * corner) < 4));
        let material = &glb.json["materials"][number(&primitive["material"])];
        assert_eq!(material["doubleSided"], true);
    }
    assert_eq!(list(&glb.json["meshes"][0]["weights"]).len(), 2);
    // z becomes y: a quarter turn back about x.
    let turn = &glb.json["nodes"][0]["rotation"];
    let part = |i: usize| turn[i].as_f64().expect("a number");
    let half = 0.5_f64.sqrt();
    assert!(
        (part(0) + half).abs() < 1e-12 && (part(3) - half).abs() < 1e-12,
        "{turn}"
    );
}

/// One frame is a still: no targets, no animation.
#[test]
fn one_frame_is_a_still() {
    let glb = Glb::read(&film_of(1, |_| ()).expect("a still"));
    assert!(glb.json.get("animations").is_none());
    assert!(
        glb.json["meshes"][0]["primitives"][0]
            .get("targets")
            .is_none()
    );
}

/// Refusals name the frame and the remedy.
#[test]
fn refuses_frames_that_do_not_fit() {
    let refusal = |change: &dyn Fn(&mut Film)| film_of(3, change).expect_err("a bad film");
    assert!(refusal(&|film| film.frames = &[]).contains("no frames"));
    assert!(refusal(&|film| film.triangles = &[]).contains("0 triangles"));
    assert!(refusal(&|film| film.up = [0.0; 3]).contains("up has no length"));
    let headless = Moving {
        triangles: &TRIANGLES,
        frames: &[],
    };
    assert!(
        refusal(&|film| film.body = Some(headless)).contains("body has 0 frames and the cloth 3")
    );
    let point = [[0.0; 3]];
    let nan = [[0.0; 3], [0.0; 3], [f64::NAN; 3], [0.0; 3]];
    let flat = [[0.0; 3]; 4];
    let with = |times: [f64; 2], second: &[[f64; 3]]| {
        let frames = [(times[0], &flat[..]), (times[1], second)]
            .map(|(time, positions)| Frame { time, positions });
        let film = Film {
            triangles: &TRIANGLES,
            frames: &frames,
            obstacles: &[],
            body: None,
            up: [0.0, 1.0, 0.0],
        };
        film.bytes().expect_err("a bad film").to_string()
    };
    assert!(with([0.0, 1.0], &point).contains("frame 1 has 1 vertices"));
    assert!(with([0.0, 1.0], &nan).contains("vertex 2 of the cloth in frame 1"));
    assert!(with([1.0, 1.0], &flat).contains("give finite times that rise"));
    assert!(with([0.0, f64::NAN], &flat).contains("frame 1 of a film is at NaN s"));
}
