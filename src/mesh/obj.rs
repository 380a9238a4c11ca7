//! Wavefront OBJ: `v` is a vertex in metres, `vt` its place in the material.

use std::{fmt::Write, path::Path};

use super::{
    Mesh, diagonal,
    obj_text::{Face, ObjText},
    vector::{length, minus},
};
use crate::{
    error::{Result, bad_input, readable},
    files::{read_text, write_whole},
};

/// Mean relative difference of edge lengths in the material and in space above which the units are
/// in doubt; a cloth is hardly ever given stretched by that much.
const DOUBTFUL: f64 = 0.2;

/// Thickness of a mesh over its diagonal up to which it counts as flat: nine digits with room.
const FLAT: f64 = 1e-6;

/// Reads a mesh from an OBJ file, with a sentence for everything worth a word.
///
/// Texture coordinates times `texture_scale` \[m per unit\] are the material points; 1 for a file
/// in metres. A file without them must be flat in a coordinate plane, whose two coordinates are
/// then the material points. Polygons are cut into fans of triangles from their first corner.
/// Normals, groups and materials are not read. The mesh is not checked: call [`Mesh::check`], or
/// [`super::repair`] first.
pub(crate) fn read_obj(path: &Path, texture_scale: f64) -> Result<(Mesh, Vec<String>)> {
    parse(
        &read_text(path)?,
        &path.display().to_string(),
        texture_scale,
    )
}

/// Writes a mesh as `v`, `vt` and `f v/vt`, whole or not at all. Numbers have as many digits as
/// they need: reading the file gives the same bits.
pub(crate) fn write_obj(path: &Path, mesh: &Mesh) -> Result<()> {
    write_whole(path, text(mesh).as_bytes())
}

fn text(mesh: &Mesh) -> String {
    let mut text = String::from("# Rumple: v in m, vt = material point in m\n");
    // Writing to a string cannot fail.
    for [x, y, z] in &mesh.positions {
        let _ = writeln!(text, "v {x} {y} {z}");
    }
    for [u, v] in &mesh.material {
        let _ = writeln!(text, "vt {u} {v}");
    }
    for (vertices, points) in mesh.triangles.iter().zip(&mesh.material_triangles) {
        text.push('f');
        for (vertex, point) in vertices.iter().zip(points) {
            let _ = write!(text, " {}/{}", vertex + 1, point + 1);
        }
        text.push('\n');
    }
    text
}

/// [`read_obj`] of a text; `place` names it in messages.
fn parse(text: &str, place: &str, texture_scale: f64) -> Result<(Mesh, Vec<String>)> {
    if !(texture_scale.is_finite() && texture_scale > 0.0) {
        return bad_input(format!(
            "{place}: texture scale {texture_scale}; give a positive number of metres per unit"
        ));
    }
    let obj = ObjText::parse(text, place)?;
    if obj.faces.is_empty() {
        return bad_input(format!(
            "{place}: no faces; export the mesh with its faces (lines that begin with f)"
        ));
    }
    let mut notes = Vec::new();
    notes.extend(ignored_note(&obj, place));
    notes.extend(polygon_note(&obj, place));
    let mesh = match textured(&obj, place)? {
        true => with_texture(obj, texture_scale),
        false => {
            let (mesh, note) = flat(obj, place)?;
            notes.push(note);
            mesh
        }
    };
    notes.extend(unit_note(&mesh, place));
    Ok((mesh, notes))
}

/// Whether all corners have texture points; an error where only some do.
fn textured(obj: &ObjText, place: &str) -> Result<bool> {
    let missing = |face: &&Face| face.corners.iter().any(|corner| corner.texture.is_none());
    let some = |face: &Face| face.corners.iter().any(|corner| corner.texture.is_some());
    let bare = obj.faces.iter().filter(missing).count();
    match obj.faces.iter().find(missing) {
        Some(face) if obj.faces.iter().any(some) => bad_input(format!(
            "{place} line {}: this face ({bare} of {} in all) has corners without texture points; \
             write every corner as v/vt, or none",
            face.line,
            obj.faces.len()
        )),
        Some(_) => Ok(false),
        None => Ok(true),
    }
}

/// The polygons cut into fans, one index from each corner.
fn fans(faces: &[Face], index: impl Fn(&super::obj_text::FaceCorner) -> usize) -> Vec<[usize; 3]> {
    let mut triangles = Vec::with_capacity(faces.len());
    for face in faces {
        let corners: Vec<usize> = face.corners.iter().map(&index).collect();
        let others = corners[1..].windows(2);
        triangles.extend(others.map(|pair| [corners[0], pair[0], pair[1]]));
    }
    triangles
}

fn with_texture(obj: ObjText, scale: f64) -> Mesh {
    Mesh {
        triangles: fans(&obj.faces, |corner| corner.vertex),
        material_triangles: fans(&obj.faces, |corner| corner.texture.unwrap_or(0)),
        material: obj.texture.iter().map(|t| t.map(|x| x * scale)).collect(),
        positions: obj.positions,
    }
}

/// A mesh without texture points that lies in a coordinate plane, and what was made of it.
fn flat(obj: ObjText, place: &str) -> Result<(Mesh, String)> {
    let size = diagonal(&obj.positions);
    let thickness =
        |axis: usize| diagonal(&obj.positions.iter().map(|p| [p[axis]]).collect::<Vec<_>>());
    // z first: a flat mesh normally lies in the plane x, y.
    let Some(normal) = [2, 1, 0].into_iter().find(|&n| thickness(n) <= FLAT * size) else {
        return bad_input(format!(
            "{place}: no texture coordinates (vt), and the mesh is not flat in a coordinate plane, \
             so that its place in the material is unknown; unwrap it in metres and export the \
             texture coordinates with it"
        ));
    };
    let [u, v] = [[1, 2], [0, 2], [0, 1]][normal];
    let names = ["x", "y", "z"];
    let note = format!(
        "{place}: no texture coordinates; the mesh is flat, so its {} and {} are taken as the \
         material's u and v",
        names[u], names[v]
    );
    let material = obj.positions.iter().map(|p| [p[u], p[v]]).collect();
    let triangles = fans(&obj.faces, |corner| corner.vertex);
    Ok((Mesh::seamless(obj.positions, material, triangles), note))
}

fn polygon_note(obj: &ObjText, place: &str) -> Option<String> {
    let polygons = |face: &&Face| face.corners.len() > 3;
    let first = obj.faces.iter().find(polygons)?;
    Some(format!(
        "{place}: {} of {} faces have more than three corners (first in line {}); \
         each was cut into a fan from its first corner",
        obj.faces.iter().filter(polygons).count(),
        obj.faces.len(),
        first.line
    ))
}

fn ignored_note(obj: &ObjText, place: &str) -> Option<String> {
    let words: Vec<String> = obj
        .ignored
        .iter()
        .map(|(word, count)| format!("'{word}' ({count})"))
        .collect();
    let all = words.join(", ");
    (!words.is_empty())
        .then(|| format!("{place}: lines that mean nothing here were skipped: {all}"))
}

/// A word where lengths in the material and in space do not fit: most often the units.
fn unit_note(mesh: &Mesh, place: &str) -> Option<String> {
    let (mut in_space, mut in_material, mut difference, mut count) = (0.0, 0.0, 0.0, 0.0);
    for triangle in 0..mesh.triangles.len() {
        let (corners, flat) = (mesh.corners(triangle), mesh.material_corners(triangle));
        for corner in 0..3 {
            let next = (corner + 1) % 3;
            let space = length(minus(corners[next], corners[corner]));
            let material = length(minus(flat[next], flat[corner]));
            if space > 0.0 {
                in_space += space;
                in_material += material;
                difference += (material / space - 1.0).abs();
                count += 1.0;
            }
        }
    }
    let mean = difference / f64::max(count, 1.0);
    (mean > DOUBTFUL).then(|| {
        let ratio = in_space / in_material;
        // Four digits are enough to recognise 0.01 or 0.0254.
        let ratio = format!("{ratio:.3e}").parse().unwrap_or(ratio);
        format!(
            "{place}: edges in the material (vt) differ from those in space (v) by {:.0} % on \
             average; are both in metres? A texture scale {} times as large would fit them",
            100.0 * mean,
            readable(ratio)
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::generate::{Pattern, cylinder, rectangle};

    const TRIANGLE: &str = "v 0 0 0\nv 1 0 0\nv 0 1 0\nvt 0 0\nvt 1 0\nvt 0 1\n";

    fn refusal(text: &str) -> String {
        parse(text, "a.obj", 1.0).unwrap_err().to_string()
    }

    #[test]
    fn writing_then_reading_gives_the_same_bits_also_with_a_seam() {
        let mesh = cylinder(0.04, 0.11, 7, 5, Pattern::Irregular { seed: 3 }).unwrap();
        let path = std::env::temp_dir().join(format!("rumple-{}.obj", std::process::id()));
        write_obj(&path, &mesh).unwrap();
        let (read, notes) = read_obj(&path, 1.0).unwrap();
        std::fs::remove_file(&path).unwrap();
        assert_eq!(read, mesh);
        assert!(notes.is_empty(), "{notes:?}");
        assert_ne!(mesh.triangles, mesh.material_triangles);
    }

    #[test]
    fn all_forms_of_a_corner_are_read_and_negative_ones_count_back() {
        for face in [
            "f 1/1 2/2 3/3",
            "f 1/1/9 2/2/9 3/3/9",
            "f -3/-3 -2/-2 -1/-1",
        ] {
            let (mesh, notes) = parse(&format!("{TRIANGLE}{face} # end"), "a.obj", 0.5).unwrap();
            assert_eq!(mesh.triangles, [[0, 1, 2]], "{face}");
            assert_eq!(mesh.material_triangles, [[0, 1, 2]], "{face}");
            assert_eq!(mesh.material[1], [0.5, 0.0]);
            assert_eq!(notes.len(), 1, "half the size is worth a word: {notes:?}");
        }
        for face in ["f 1 2 3", "f 1//9 2//9 3//9"] {
            let (mesh, notes) = parse(&format!("{TRIANGLE}{face}"), "a.obj", 1.0).unwrap();
            assert_eq!(mesh.material[1], [1.0, 0.0], "{face}");
            assert!(notes[0].contains("x and y"), "{notes:?}");
        }
    }

    #[test]
    fn polygons_become_fans_and_strange_lines_are_skipped_with_a_word() {
        let text = "o cloth\ns off\nvn 0 0 1\ncurv 1 2\nv 0 0 0 1 1 1\nv 1 0 0\nv 1 1 0\nv 0 1 0\n\
                    f 1 2 3 4\n";
        let (mesh, notes) = parse(text, "a.obj", 1.0).unwrap();
        assert_eq!(mesh.triangles, [[0, 1, 2], [0, 2, 3]]);
        assert!(notes[0].contains("'curv' (1)"), "{notes:?}");
        assert!(notes[1].contains("1 of 1 faces") && notes[1].contains("line 9"));
        assert!(mesh.check().is_ok());
    }

    #[test]
    fn errors_name_the_line_the_word_and_the_remedy() {
        let cases = [
            ("v 0 0\n", "a.obj line 1: 'v' with 2 numbers; give 3"),
            (
                "\n\nv 0 x 0\n",
                "a.obj line 3: 'x' in 'v' is not a finite number",
            ),
            (
                "vt nan 0\n",
                "a.obj line 1: 'nan' in 'vt' is not a finite number",
            ),
            ("v 0 0 0\nf 1 1\n", "a.obj line 2: a face with 2 corners"),
            (
                "# c\nf 0 1 2\n",
                "a.obj line 2: '0' in the corner '0' is no index",
            ),
            (
                "f -1 1 2\n",
                "a.obj line 1: '-1' in the corner '-1' is no index",
            ),
            (
                "f 1/1/1/1 1 1\n",
                "a.obj line 1: the corner '1/1/1/1' has 4 parts",
            ),
            (
                "v 0 0 0\nf 1 1 7\n",
                "a.obj line 2: the face names vertex (v) 7",
            ),
            ("f 1 2 \\\n3\n", "a.obj line 1: the line ends with"),
            ("v 0 0 0\n", "a.obj: no faces"),
        ];
        for (text, expected) in cases {
            let message = refusal(text);
            assert!(message.starts_with(expected), "{message}");
        }
        let message = refusal(&format!("{TRIANGLE}f 1/9 2/2 3/3"));
        assert!(message.starts_with("a.obj line 7: the face names texture point (vt) 9"));
        let message = refusal(&format!("{TRIANGLE}f 1/1 2/2 3/3\nf 1/1 2 3/3"));
        assert!(message.starts_with("a.obj line 8: this face (1 of 2 in all)"));
        let message = parse(TRIANGLE, "a.obj", 0.0).unwrap_err().to_string();
        assert!(message.starts_with("a.obj: texture scale 0"));
    }

    #[test]
    fn without_texture_points_only_a_flat_mesh_has_a_material() {
        let text = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 1 1 1\nf 1 2 3\nf 2 4 3\n";
        assert!(refusal(text).starts_with("a.obj: no texture coordinates (vt)"));
        let flat = "v 5 0 0\nv 5 1 0\nv 5 0 2\nf 1 2 3\n";
        let (mesh, notes) = parse(flat, "a.obj", 1.0).unwrap();
        assert_eq!(mesh.material, [[0.0, 0.0], [1.0, 0.0], [0.0, 2.0]]);
        assert!(notes[0].contains("its y and z"), "{notes:?}");
    }

    #[test]
    fn wrong_units_are_worth_a_word_with_the_factor() {
        let mut mesh = rectangle(0.3, 0.2, 3, 2, Pattern::OneSided).unwrap();
        assert_eq!(unit_note(&mesh, "a.obj"), None);
        for point in &mut mesh.material {
            *point = point.map(|x| 100.0 * x);
        }
        let note = unit_note(&mesh, "a.obj").unwrap();
        assert!(note.contains("texture scale 0.01 times"), "{note}");
    }

    #[test]
    fn the_reference_cylinder_reads_with_the_area_of_its_prism() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let path = root.join("tests/data/golden/mesh/twist_2k/cyl_2k.obj");
        let (mesh, notes) = read_obj(&path, 1.0).unwrap();
        assert!(notes.is_empty(), "{notes:?}");
        let topology = mesh.check().unwrap();
        assert_eq!((mesh.positions.len(), mesh.triangles.len()), (1792, 3456));
        assert_eq!(topology.euler_characteristic(), 0);
        let area = crate::mesh::Rest::new(&mesh, &topology).area();
        // The unrolled prism; the file has nine digits.
        assert!((area - 0.251226493 * 0.11).abs() < 1e-9, "{area}");
    }
}
