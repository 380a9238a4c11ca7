//! PLY, binary and little endian: positions in single precision, numbers at the vertices, faces.
//! MeshLab, Blender, ParaView and CloudCompare show the numbers as colours.

use std::path::Path;

use super::surface::Surface;
use crate::{
    error::{Error, Result, bad_input},
    files::{check_extension, write_whole},
};

/// A number at each vertex.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Property<'a> {
    /// Letters, digits and underscores, with the unit in it: `curvature_per_m`.
    pub name: &'a str,
    /// One a vertex; NaN is written as it is.
    pub values: &'a [f64],
}

/// Writes a mesh as `.ply`.
///
/// # Errors
/// [`Error::BadInput`] for another extension or a mesh that cannot be written; [`Error::Io`] when
/// the file cannot be.
pub(crate) fn save_ply(path: &Path, surface: &Surface, properties: &[Property]) -> Result<()> {
    check_extension(path, "PLY mesh", "ply")?;
    write_whole(path, &ply_bytes(surface, properties)?)
}

/// The bytes of a PLY file.
///
/// # Errors
/// [`Error::BadInput`] for a mesh without triangles, with strange positions or with more vertices
/// than the format can number, or a property that does not fit.
pub(crate) fn ply_bytes(surface: &Surface, properties: &[Property]) -> Result<Vec<u8>> {
    surface.check("the mesh")?;
    let vertices = surface.positions.len();
    for (index, property) in properties.iter().enumerate() {
        let earlier = &properties[..index];
        check_property(property, earlier, vertices)?;
    }
    let mut bytes = header(surface, properties).into_bytes();
    for (vertex, position) in surface.positions.iter().enumerate() {
        let numbers = properties.iter().map(|property| property.values[vertex]);
        for number in position.iter().copied().chain(numbers) {
            bytes.extend((number as f32).to_le_bytes());
        }
    }
    for triangle in surface.triangles {
        bytes.push(3);
        for &vertex in triangle {
            let number = i32::try_from(vertex).map_err(|_| too_many(vertices))?;
            bytes.extend(number.to_le_bytes());
        }
    }
    Ok(bytes)
}

fn header(surface: &Surface, properties: &[Property]) -> String {
    let mut lines = vec![
        "ply".to_string(),
        "format binary_little_endian 1.0".to_string(),
        "comment rumple, positions in metres".to_string(),
        format!("element vertex {}", surface.positions.len()),
    ];
    let axes = ["x", "y", "z"].into_iter();
    let names = axes.chain(properties.iter().map(|property| property.name));
    lines.extend(names.map(|name| format!("property float {name}")));
    lines.push(format!("element face {}", surface.triangles.len()));
    // Signed indices: what all readers know.
    lines.push("property list uchar int vertex_indices".to_string());
    lines.push("end_header\n".to_string());
    lines.join("\n")
}

fn check_property(property: &Property, earlier: &[Property], vertices: usize) -> Result<()> {
    let Property { name, values } = property;
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if name.is_empty() || !name.chars().all(plain) {
        return bad_input(format!(
            "property '{name}' of a PLY mesh; use letters, digits and _ only"
        ));
    }
    let taken = ["x", "y", "z"].contains(name) || earlier.iter().any(|other| other.name == *name);
    if taken {
        return bad_input(format!(
            "property '{name}' of a PLY mesh stands twice; choose another name"
        ));
    }
    if values.len() != vertices {
        return bad_input(format!(
            "property '{name}' has {} values for {vertices} vertices; give one a vertex",
            values.len()
        ));
    }
    Ok(())
}

fn too_many(vertices: usize) -> Error {
    Error::BadInput(format!(
        "a mesh of {vertices} vertices is too large for PLY; write it in parts of up to {}",
        i32::MAX
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    const POSITIONS: [[f64; 3]; 4] = [
        [0.0, 0.0, 0.5],
        [1.0, 0.0, 0.25],
        [0.0, 1.0, -2.0],
        [1.0, 1.0, 0.1],
    ];
    const SURFACE: Surface = Surface {
        positions: &POSITIONS,
        triangles: &[[0, 1, 2], [1, 3, 2]],
    };

    /// Reading the bytes by the format's definition gives the mesh back.
    #[test]
    fn the_body_follows_the_header() {
        let property = Property {
            name: "angle_rad",
            values: &[0.5, 1.5, f64::NAN, -3.0],
        };
        let bytes = ply_bytes(&SURFACE, &[property]).expect("a file");
        let mark = b"end_header\n";
        let body = bytes
            .windows(mark.len())
            .position(|window| window == mark)
            .expect("the end of the header")
            + mark.len();
        let header = std::str::from_utf8(&bytes[..body]).expect("ASCII");
        assert!(header.starts_with("ply\nformat binary_little_endian 1.0\n"));
        assert!(header.contains("element vertex 4\nproperty float x\n"));
        assert!(header.contains("property float angle_rad\nelement face 2\n"));
        assert_eq!(bytes.len(), body + 4 * 16 + 2 * 13);
        let word = |at: usize| [bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]];
        assert_eq!(f32::from_le_bytes(word(body + 2 * 16 + 8)), -2.0);
        assert_eq!(f32::from_le_bytes(word(body + 3 * 16)), 1.0);
        assert_eq!(f32::from_le_bytes(word(body + 16 + 12)), 1.5);
        let face = body + 4 * 16 + 13;
        assert_eq!(bytes[face], 3);
        let indices = [1, 5, 9].map(|offset| i32::from_le_bytes(word(face + offset)));
        assert_eq!(indices, [1, 3, 2]);
    }

    /// Refusals name the property.
    #[test]
    fn refuses_properties_that_do_not_fit() {
        let refusal = |name, values| {
            let property = Property { name, values };
            ply_bytes(&SURFACE, &[property])
                .expect_err("a bad property")
                .to_string()
        };
        assert!(refusal("a b", &[0.0; 4]).contains("'a b'"));
        assert!(refusal("z", &[0.0; 4]).contains("'z' of a PLY mesh stands twice"));
        assert!(refusal("c", &[0.0; 3]).contains("'c' has 3 values for 4 vertices"));
        let path = Path::new("mesh.obj");
        let message = save_ply(path, &SURFACE, &[]).expect_err("obj").to_string();
        assert!(message.contains("ends in .ply"), "{message}");
    }
}
