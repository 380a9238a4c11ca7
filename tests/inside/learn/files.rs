//! SMPL and AMASS files: of the same layout, written here (synthetic), whole and broken.

use std::path::PathBuf;

use crate::inside::common::{
    folder::Folder,
    npz::{self, Kind, claim_size, npy, opening, zip},
};
use rumple::learn::{
    GarmentMotion,
    files::{Amass, Array, Npz, Smpl},
};

fn write(folder: &Folder, name: &str, bytes: &[u8]) -> PathBuf {
    folder.write(name, bytes);
    folder.path(name)
}

type Files = Vec<(&'static str, Vec<u8>)>;

/// A body of four vertices and three joints.
fn smpl(kind: Kind) -> Files {
    let shapes: Vec<f64> = (0..24).map(|n| n as f64 / 8.0).collect();
    vec![
        (
            "v_template",
            npy(
                kind,
                &[4, 3],
                &[0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 1.0, 1.0, 0.0, 2.0, 0.0, 0.5],
            ),
        ),
        (
            "f",
            npy(Kind::U32, &[2, 3], &[0.0, 1.0, 2.0, 1.0, 3.0, 2.0]),
        ),
        (
            "weights",
            npy(
                kind,
                &[4, 3],
                &[1.0, 0.0, 0.0, 0.5, 0.5, 0.0, 0.0, 0.25, 0.75, 0.0, 0.0, 1.0],
            ),
        ),
        (
            "J_regressor",
            npy(
                kind,
                &[3, 4],
                &[1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.5, 0.5],
            ),
        ),
        (
            "kintree_table",
            npy(Kind::U32, &[2, 3], &[4294967295.0, 0.0, 1.0, 0.0, 1.0, 2.0]),
        ),
        ("shapedirs", npy(kind, &[4, 3, 2], &shapes)),
    ]
}

fn amass(rate: &'static str) -> Files {
    let poses: Vec<f64> = (0..5 * 6).map(|n| n as f64 / 16.0).collect();
    let trans: Vec<f64> = (0..15).map(f64::from).collect();
    vec![
        ("poses", npy(Kind::F64, &[5, 6], &poses)),
        ("trans", npy(Kind::F32Fortran, &[5, 3], &trans)),
        ("betas", npy(Kind::F64, &[2], &[0.5, -1.0])),
        (rate, npy(Kind::F64, &[], &[60.0])),
        // AMASS files hold a name, which is not read.
        ("gender", b"\x93NUMPY\x01\x00\x02\x00{}".to_vec()),
    ]
}

#[test]
fn a_body_reads_the_same_in_any_precision_order_and_packing() {
    let folder = Folder::new();
    let mut bodies = Vec::new();
    let kinds = [
        Kind::F64,
        Kind::F32,
        Kind::F64Fortran,
        Kind::F32Fortran,
        Kind::F64Big,
        Kind::F32Big,
    ];
    for (n, kind) in kinds.into_iter().enumerate() {
        for deflated in [false, true] {
            let name = format!("{n}{deflated}.npz");
            let path = write(&folder, &name, &zip(&smpl(kind), deflated));
            bodies.push(Smpl::read(&path).unwrap());
        }
    }
    assert!(bodies.iter().all(|body| *body == bodies[0]));
    let body = &bodies[0];
    assert_eq!(body.triangles, [[0, 1, 2], [1, 3, 2]]);
    assert_eq!(body.weights[1], [0.0, 0.5, 0.25, 0.0]);
    // shapedirs[v, axis, s] = (6v + 2·axis + s)/8, with betas 1 and 2.
    let (skin, skeleton) = body.shaped(&[1.0, 2.0]).unwrap();
    let vertices = &skin.rest;
    assert_eq!(
        vertices[1],
        [
            1.0 + (6.0 + 14.0) / 8.0,
            (8.0 + 18.0) / 8.0,
            (10.0 + 22.0) / 8.0
        ]
    );
    let joints = skeleton.joints();
    assert_eq!((joints[0].parent, joints[2].parent), (None, Some(1)));
    let middle: [f64; 3] = std::array::from_fn(|a| 0.5 * (vertices[2][a] + vertices[3][a]));
    assert_eq!((joints[1].place, joints[2].place), (vertices[1], middle));

    let quarter = std::f64::consts::FRAC_PI_2;
    let (skin, skeleton) = body.shaped(&[]).unwrap();
    let pose = skeleton.pose(&[[0.0; 3], [0.0, 0.0, quarter], [0.0; 3]], [0.0, 0.0, 1.0]);
    let posed = skin.posed(&pose);
    // Vertex 2 is fully behind joint 1 at (1, 0, 0): (1, 1, 0) turns to (0, 0, 0), and 1 m up.
    assert!(
        posed[2]
            .iter()
            .zip([0.0, 0.0, 1.0])
            .all(|(a, b)| (a - b).abs() < 1e-12),
        "{posed:?}"
    );
    let weights = skin.weights_at(&[[1.9, 0.1, 0.4]]);
    assert_eq!(weights, [[0.0], [0.0], [1.0]]);
}

#[test]
fn a_motion_is_read_and_sampled() {
    let folder = Folder::new();
    for rate in ["mocap_framerate", "mocap_frame_rate"] {
        let motion = Amass::read(&write(&folder, "m.npz", &zip(&amass(rate), true))).unwrap();
        assert_eq!((motion.rate, motion.turns.len()), (60.0, 5));
        assert_eq!(motion.turns[1][1], [9.0 / 16.0, 10.0 / 16.0, 11.0 / 16.0]);
        assert_eq!(motion.root[2], [6.0, 7.0, 8.0]);
        assert_eq!(motion.betas, [0.5, -1.0]);
        let half = motion.motion("m", 2, 30.0).unwrap();
        assert_eq!(half.turns, [0, 2, 4].map(|n| motion.turns[n].clone()));
        assert_eq!(half.root[1], motion.root[2]);
        // 30 joints of hands follow the 22 that bodies share; this file has two joints only.
        let text = motion.motion("m", 24, 30.0).unwrap_err().to_string();
        assert!(
            text.contains("it has 2 joints, but the body needs 22"),
            "{text}"
        );
        assert_eq!(motion.motion("m", 1, 30.0).unwrap().turns[0].len(), 1);
    }
}

#[test]
fn numbers_of_other_kinds_are_read() {
    let folder = Folder::new();
    let files = vec![
        ("big", npy(Kind::I64, &[3], &[-5.0, 0.0, 7e9])),
        (
            "cube",
            npy(
                Kind::F32Fortran,
                &[2, 3, 2],
                &(0..12).map(f64::from).collect::<Vec<_>>(),
            ),
        ),
    ];
    let npz = Npz::open(&write(&folder, "a.npz", &zip(&files, false))).unwrap();
    assert_eq!(npz.keys(), ["big", "cube"]);
    assert_eq!(npz.array("big").unwrap().values, [-5.0, 0.0, 7e9]);
    let cube = npz.array("cube").unwrap();
    assert_eq!(
        (cube.shape, cube.values),
        (vec![2, 3, 2], (0..12).map(f64::from).collect())
    );
}

// Every order of bytes and of indices gives the same numbers, to the last bit but where the file has single precision.
#[test]
fn floats_of_either_order_are_read() {
    let folder = Folder::new();
    // No number is the same with its bytes turned round, and no row is a column.
    let values: Vec<f64> = (0..12).map(|n| 0.1 + f64::from(n)).collect();
    let single: Vec<f64> = values.iter().map(|x| f64::from(*x as f32)).collect();
    let kinds = [
        ("f64", Kind::F64, &values),
        ("f64 by columns", Kind::F64Fortran, &values),
        ("f64, large end first", Kind::F64Big, &values),
        ("f32", Kind::F32, &single),
        ("f32 by columns", Kind::F32Fortran, &single),
        ("f32, large end first", Kind::F32Big, &single),
    ];
    let files: Files = kinds
        .iter()
        .map(|(name, kind, _)| (*name, npy(*kind, &[2, 3, 2], &values)))
        .collect();
    for deflated in [false, true] {
        let npz = Npz::open(&write(&folder, "a.npz", &zip(&files, deflated))).unwrap();
        for (name, _, wanted) in kinds {
            let array = npz.array(name).unwrap();
            assert_eq!(
                (array.shape, &array.values),
                (vec![2, 3, 2], wanted),
                "{name}"
            );
        }
    }
}

// A track is read as it was written, with what else there is to say.
#[test]
fn a_track_comes_back() {
    let folder = Folder::new();
    let rows = |count: usize, first: f64| -> Vec<Vec<f64>> {
        let row = |frame: usize| (0..count).map(move |k| first + (frame * count + k) as f64);
        (0..2).map(|frame| row(frame).collect()).collect()
    };
    let track = GarmentMotion {
        positions: rows(9, 0.5),
        strain: rows(4, 100.0),
        plastic: rows(4, -200.0),
    };
    let step = Array {
        shape: vec![1],
        values: vec![0.25],
    };
    let path = folder.path("track.npz");
    track.save(&path, &[("seconds", step.clone())]).unwrap();
    let npz = Npz::open(&path).unwrap();
    assert_eq!(
        npz.keys(),
        ["positions", "strain", "rest_bending", "seconds"]
    );
    assert_eq!(npz.array("positions").unwrap().shape, [2, 3, 3]);
    let (shape, positions) = npz::read(&std::fs::read(&path).unwrap(), "positions");
    assert_eq!(
        (shape, positions),
        (vec![2, 3, 3], track.positions.concat())
    );
    assert_eq!(npz.array("seconds").unwrap(), step);
    assert_eq!(GarmentMotion::read(&npz).unwrap(), track);
}

/// The message for an archive whose array `a` cannot be read.
fn refused(bytes: &[u8]) -> String {
    let folder = Folder::new();
    let npz = Npz::open(&write(&folder, "large.npz", bytes)).unwrap();
    let text = npz.array("a").unwrap_err().to_string();
    assert!(text.contains("large.npz"), "{text}");
    text
}

// A device that never ends and a file beyond the limit are left at once, not read until the memory is full.
#[test]
#[cfg(unix)]
fn files_without_end_are_not_read() {
    let text = Npz::open("/dev/zero".as_ref()).unwrap_err().to_string();
    assert!(text.contains("/dev/zero: not an .npz file"), "{text}");
    let folder = Folder::new();
    let path = write(&folder, "sparse.npz", b"PK\x03\x04");
    // Beyond its first bytes it takes no room on the disk.
    let file = std::fs::OpenOptions::new().write(true).open(&path);
    file.unwrap().set_len((2 << 30) + 1).unwrap();
    let text = Npz::open(&path).unwrap_err().to_string();
    assert!(
        text.contains("sparse.npz: larger than 2048 MiB; give a smaller file"),
        "{text}"
    );
}

// A small file that claims to become a large array is refused by what it claims, before memory is taken for it.
#[test]
fn small_files_do_not_become_large_arrays() {
    // Numbers of one byte would take eight times as much.
    let shapes: [&[usize]; 3] = [&[1 << 31], &[1 << 16, 1025], &[usize::MAX, 2]];
    for shape in shapes {
        for is_fortran in [false, true] {
            let text = refused(&zip(&[("a", opening("|u1", is_fortran, shape))], true));
            for part in ["'a': shape [", "at most 67108864", "save a smaller array"] {
                assert!(text.contains(part), "{part}: {text}");
            }
        }
    }
    // Wide ones must be there.
    let text = refused(&zip(&[("a", opening("<f8", false, &[1 << 31]))], true));
    assert!(text.contains("does not fit 0 bytes"), "{text}");
    // An array without values has any lengths beside its 0.
    let empty = opening("<f8", true, &[0, usize::MAX, 3]);
    let folder = Folder::new();
    let npz = Npz::open(&write(&folder, "empty.npz", &zip(&[("a", empty)], true))).unwrap();
    assert!(npz.array("a").unwrap().values.is_empty());

    let mut bytes = zip(&[("a", npy(Kind::F64, &[1000], &[0.5; 1000]))], true);
    claim_size(&mut bytes, (512 << 20) + 1);
    let text = refused(&bytes);
    assert!(text.contains("513 MiB unpacked, but at most 512"), "{text}");
    // Less than it has: no more is unpacked than is listed.
    claim_size(&mut bytes, 200);
    let text = refused(&bytes);
    assert!(text.contains("does not have the 200 bytes"), "{text}");
}

// Whatever a file says of itself, a message stays short.
#[test]
fn long_headers_are_neither_read_nor_printed() {
    let header = |length: u32, text: &str| {
        let mut bytes = b"\x93NUMPY\x02\x00".to_vec();
        bytes.extend(length.to_le_bytes());
        bytes.extend(text.as_bytes());
        zip(&[("a", bytes)], true)
    };
    let long = "x".repeat(20_000);
    let text = refused(&header(20_000, &long));
    assert!(
        text.contains("its header has 20000 bytes, but at most 10000"),
        "{text}"
    );
    let text = refused(&header(u32::MAX, "{}"));
    assert!(text.contains("its header has 4294967295 bytes"), "{text}");
    let text = refused(&header(9000, &long[..9000]));
    assert!(
        text.contains("its header reads \"xxx") && text.contains("x…"),
        "{text}"
    );
    let record = format!(
        "{{'descr': [('{}', '<f8')], 'fortran_order': False, 'shape': (1,), }}",
        &long[..9000]
    );
    let kind = refused(&header(record.len() as u32, &record));
    assert!(
        kind.contains("values of type") && kind.contains("x…"),
        "{kind}"
    );
    let lengths = "1,".repeat(4000);
    let deep = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': ({lengths}), }}");
    let shape = refused(&header(deep.len() as u32, &deep));
    assert!(shape.contains("its header reads"), "{shape}");
    let names: Vec<String> = (0..1000).map(|n| format!("name{n}")).collect();
    let many: Vec<(&str, Vec<u8>)> = names.iter().map(|n| (n.as_str(), Vec::new())).collect();
    let keys = refused(&zip(&many, false));
    assert!(keys.contains("no array 'a'"), "{keys}");
    for text in [text, kind, shape, keys] {
        assert!(text.chars().count() < 1000, "{text}");
    }
}

/// An archive of which the array `key` is replaced, or left out.
fn broken(mut files: Files, key: &str, array: Option<Vec<u8>>) -> Vec<u8> {
    let at = files.iter().position(|(name, _)| *name == key).unwrap();
    match array {
        Some(array) => files[at].1 = array,
        None => drop(files.remove(at)),
    }
    zip(&files, true)
}

/// The message for a body whose array `key` is replaced, or left out.
fn broken_body(key: &str, array: Option<Vec<u8>>) -> String {
    let folder = Folder::new();
    let bytes = broken(smpl(Kind::F64), key, array);
    let path = write(&folder, "body.npz", &bytes);
    Smpl::read(&path).unwrap_err().to_string()
}

#[test]
fn what_is_missing_or_misshapen_is_named_with_file_and_key() {
    let expect = |text: String, parts: &[&str]| {
        assert!(text.contains("body.npz"), "{text}");
        for part in parts {
            assert!(text.contains(part), "{text}");
        }
    };
    expect(
        broken_body("weights", None),
        &["no array 'weights'", "it has: v_template, f,"],
    );
    let wide = npy(Kind::F64, &[4, 2], &[0.0; 8]);
    expect(
        broken_body("v_template", Some(wide)),
        &["'v_template': shape [4, 2], but [any, 3]"],
    );
    let few = npy(Kind::F64, &[3, 3], &[0.0; 9]);
    expect(
        broken_body("weights", Some(few)),
        &["'weights': shape [3, 3], but [4, 3]"],
    );
    let light = npy(Kind::F64, &[4, 3], &[0.1; 12]);
    expect(
        broken_body("weights", Some(light)),
        &["'weights': those of vertex 0 sum to 0.3"],
    );
    let far = npy(Kind::U32, &[1, 3], &[0.0, 1.0, 4.0]);
    expect(
        broken_body("f", Some(far)),
        &["'f': triangle 0 names vertex 4"],
    );
    let loops = npy(Kind::I64, &[2, 3], &[-1.0, 2.0, 1.0, 0.0, 1.0, 2.0]);
    expect(
        broken_body("kintree_table", Some(loops)),
        &["'kintree_table': joint 1 has parent 2"],
    );
    let nan = npy(Kind::F64, &[4, 3], &[f64::NAN; 12]);
    expect(
        broken_body("v_template", Some(nan)),
        &["'v_template': value 0 is NaN"],
    );
    let objects = b"\x93NUMPY\x01\x00\x3b\x00{'descr': '|O', 'fortran_order': False, 'shape': (1,), }   \n\x80\x04.";
    expect(
        broken_body("J_regressor", Some(objects.to_vec())),
        &["'J_regressor': an object array (a pickle)", ".toarray()"],
    );
    let words = b"\x93NUMPY\x01\x00\x3b\x00{'descr': '<U1', 'fortran_order': False, 'shape': (1,), }  \nabcd";
    expect(
        broken_body("f", Some(words.to_vec())),
        &["'f': values of type '<U1'"],
    );
    let mut short = npy(Kind::F64, &[4, 3], &[0.0; 12]);
    short.truncate(150);
    expect(
        broken_body("v_template", Some(short)),
        &["'v_template': not a sound .npy array", "does not fit"],
    );
    expect(
        broken_body("f", Some(b"\x93NUM".to_vec())),
        &["its header is not whole"],
    );
}

// Whatever is wrong with a motion, the message names the file, the key and what to do.
#[test]
fn broken_motions_are_refused_with_file_key_and_remedy() {
    const RATE: &str = "mocap_framerate";
    let numbers = |shape: &[usize], value: f64| {
        let count = shape.iter().product();
        Some(npy(Kind::F64, shape, &vec![value; count]))
    };
    let rate = |value: f64| numbers(&[], value);
    let positive = "give one positive number of frames a second";
    let right_kind = "is needed; check that the file is of the right kind";
    let at_least = "give at least one frame, and three numbers a joint";
    let has_it = "give a file that has it";
    let cases = [
        ("poses", None, ["no array 'poses'", has_it]),
        ("trans", None, ["no array 'trans'", has_it]),
        ("betas", None, ["no array 'betas'", has_it]),
        (RATE, None, ["no array 'mocap_framerate'", has_it]),
        (
            "poses",
            numbers(&[5, 7], 0.0),
            ["'poses': shape [5, 7]", at_least],
        ),
        (
            "poses",
            numbers(&[5, 0], 0.0),
            ["'poses': shape [5, 0]", at_least],
        ),
        (
            "poses",
            numbers(&[0, 6], 0.0),
            ["'poses': shape [0, 6]", at_least],
        ),
        (
            "poses",
            numbers(&[30], 0.0),
            ["'poses': shape [30]", right_kind],
        ),
        (
            "poses",
            numbers(&[5, 6], f64::NAN),
            ["'poses': value 0 is NaN", "finite"],
        ),
        (
            "trans",
            numbers(&[4, 3], 0.0),
            ["'trans': shape [4, 3], but [5, 3]", right_kind],
        ),
        (
            "trans",
            numbers(&[5, 2], 0.0),
            ["'trans': shape [5, 2], but [5, 3]", right_kind],
        ),
        (
            "betas",
            numbers(&[2, 1], 0.0),
            ["'betas': shape [2, 1], but [any]", right_kind],
        ),
        (RATE, rate(0.0), ["'mocap_framerate': [0.0]", positive]),
        (RATE, rate(-30.0), ["'mocap_framerate': [-30.0]", positive]),
        (RATE, rate(f64::NAN), ["'mocap_framerate': [NaN]", positive]),
        (
            RATE,
            rate(f64::INFINITY),
            ["'mocap_framerate': [inf]", positive],
        ),
        (
            RATE,
            numbers(&[2], 30.0),
            ["'mocap_framerate': [30.0, 30.0]", positive],
        ),
    ];
    let folder = Folder::new();
    for (key, array, parts) in cases {
        let bytes = broken(amass(RATE), key, array);
        let path = write(&folder, "motion.npz", &bytes);
        let text = Amass::read(&path).unwrap_err().to_string();
        for part in ["motion.npz"].into_iter().chain(parts) {
            assert!(text.contains(part), "{part}: {text}");
        }
    }
    // Many rates are counted, not printed.
    let bytes = broken(amass(RATE), RATE, numbers(&[100], 30.0));
    let path = write(&folder, "motion.npz", &bytes);
    let text = Amass::read(&path).unwrap_err().to_string();
    assert!(text.contains("'mocap_framerate': 100 numbers"), "{text}");
}

// A few frames with a rate that is far too low become more than the memory holds: frames are counted after sampling.
#[test]
fn a_motion_has_at_most_ten_thousand_frames() {
    let folder = Folder::new();
    // Five frames are recorded, so four steps; at 30 a second the last is frame `last`.
    let sampled = |last: f64| {
        let rate = Some(npy(Kind::F64, &[], &[4.0 * 30.0 / last]));
        let bytes = broken(amass("mocap_framerate"), "mocap_framerate", rate);
        let slow = Amass::read(&write(&folder, "slow.npz", &bytes)).unwrap();
        slow.motion("waltz", 2, 30.0)
    };
    let longest = sampled(9999.5).unwrap();
    assert_eq!((longest.turns.len(), longest.root.len()), (10_000, 10_000));
    for (last, number) in [(10_000.5, "are 10001 frames"), (1.2e8, "e8 frames")] {
        let text = sampled(last).unwrap_err().to_string();
        for part in [
            "slow.npz, motion waltz: 5 frames",
            "mocap_framerate",
            number,
            "at most 10000",
            "cut the motion",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
    }
}

#[test]
fn a_file_that_is_cut_off_or_damaged_anywhere_is_refused_and_never_panics() {
    let folder = Folder::new();
    for deflated in [false, true] {
        let whole = zip(&smpl(Kind::F64), deflated);
        for end in (0..whole.len()).step_by(7) {
            let path = write(&folder, "cut.npz", &whole[..end]);
            let text = Smpl::read(&path).unwrap_err().to_string();
            assert!(text.contains("cut.npz"), "{end}: {text}");
        }
        let good = Smpl::read(&write(&folder, "whole.npz", &whole)).unwrap();
        for at in (0..whole.len()).step_by(3) {
            let mut bytes = whole.clone();
            bytes[at] ^= 0x55;
            // A flipped byte may be one that nothing depends on; else there must be an error.
            let read = Smpl::read(&write(&folder, "flipped.npz", &bytes));
            assert!(read.is_err() || read.unwrap() == good, "byte {at}");
        }
    }
    let text = Npz::open(&write(&folder, "text.npz", b"hello"))
        .unwrap_err()
        .to_string();
    assert!(text.contains("text.npz: not an .npz file"), "{text}");
    let text = Npz::open(&folder.path("none.npz")).unwrap_err().to_string();
    assert!(
        text.contains("none.npz") && text.contains("check that the file exists"),
        "{text}"
    );
}
