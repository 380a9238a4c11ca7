//! The container of glTF 2.0 in one binary file: numbers go into a buffer, each with an accessor
//! that says where and how many; then the JSON and the buffer become two chunks.
//!
//! Source: Khronos, "glTF 2.0 Specification", sections 3.6 (buffers and accessors) and 4 (GLB).

use serde_json::{Value, json};

use crate::error::{Error, Result};

/// What an accessor is for; the viewer puts vertices and indices on its graphics card.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Use {
    Vertices,
    Animation,
}

const FLOAT: u32 = 5126;
const UNSIGNED_INT: u32 = 5125;
const ARRAY_BUFFER: u32 = 34962;
const ELEMENT_ARRAY_BUFFER: u32 = 34963;
/// "glTF", "JSON" and "BIN\0" as little-endian numbers.
const MAGIC: u32 = 0x4654_6C67;
const JSON_CHUNK: u32 = 0x4E4F_534A;
const BINARY_CHUNK: u32 = 0x004E_4942;

/// The buffer under construction. All numbers are four bytes, so that everything is aligned.
#[derive(Default)]
pub(super) struct Buffer {
    bytes: Vec<u8>,
    views: Vec<Value>,
    accessors: Vec<Value>,
}

impl Buffer {
    /// Adds vectors with their bounds; returns the accessor's number.
    pub(super) fn vectors(&mut self, vectors: &[[f32; 3]], usage: Use) -> usize {
        let mut bounds = [[f32::INFINITY; 3], [f32::NEG_INFINITY; 3]];
        for vector in vectors {
            for (axis, &x) in vector.iter().enumerate() {
                bounds[0][axis] = bounds[0][axis].min(x);
                bounds[1][axis] = bounds[1][axis].max(x);
            }
        }
        let target = (usage == Use::Vertices).then_some(ARRAY_BUFFER);
        let bytes = vectors.iter().flatten().flat_map(|x| x.to_le_bytes());
        let accessor = json!({
            "componentType": FLOAT,
            "count": vectors.len(),
            "type": "VEC3",
            "min": bounds[0],
            "max": bounds[1],
        });
        self.add(bytes, target, accessor)
    }

    /// Adds numbers of an animation; returns the accessor's number.
    pub(super) fn scalars(&mut self, numbers: &[f32]) -> usize {
        let low = numbers.iter().copied().fold(f32::INFINITY, f32::min);
        let high = numbers.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let accessor = json!({
            "componentType": FLOAT,
            "count": numbers.len(),
            "type": "SCALAR",
            "min": [low],
            "max": [high],
        });
        self.add(numbers.iter().flat_map(|x| x.to_le_bytes()), None, accessor)
    }

    /// Adds the corners of triangles; returns the accessor's number.
    pub(super) fn indices(&mut self, triangles: &[[usize; 3]]) -> usize {
        let accessor = json!({
            "componentType": UNSIGNED_INT,
            "count": 3 * triangles.len(),
            "type": "SCALAR",
        });
        let numbers = triangles.iter().flatten();
        let bytes = numbers.flat_map(|&vertex| (vertex as u32).to_le_bytes());
        self.add(bytes, Some(ELEMENT_ARRAY_BUFFER), accessor)
    }

    fn add(
        &mut self,
        bytes: impl Iterator<Item = u8>,
        target: Option<u32>,
        mut accessor: Value,
    ) -> usize {
        let start = self.bytes.len();
        self.bytes.extend(bytes);
        let mut view = json!({
            "buffer": 0,
            "byteOffset": start,
            "byteLength": self.bytes.len() - start,
        });
        if let Some(target) = target {
            view["target"] = json!(target);
        }
        accessor["bufferView"] = json!(self.views.len());
        self.views.push(view);
        self.accessors.push(accessor);
        self.accessors.len() - 1
    }

    /// The whole file; `document` is what is not about the buffer.
    pub(super) fn file(self, mut document: Value) -> Result<Vec<u8>> {
        document["accessors"] = Value::Array(self.accessors);
        document["bufferViews"] = Value::Array(self.views);
        document["buffers"] = json!([{ "byteLength": self.bytes.len() }]);
        let mut text = document.to_string().into_bytes();
        // Chunks are multiples of four bytes: JSON is filled up with spaces, numbers need nothing.
        text.resize(text.len().next_multiple_of(4), b' ');
        let length = 12 + 8 + text.len() + 8 + self.bytes.len();
        let mut file = Vec::with_capacity(length);
        for word in [MAGIC, 2, size(length)?, size(text.len())?, JSON_CHUNK] {
            file.extend(word.to_le_bytes());
        }
        file.extend(text);
        for word in [size(self.bytes.len())?, BINARY_CHUNK] {
            file.extend(word.to_le_bytes());
        }
        file.extend(self.bytes);
        Ok(file)
    }
}

fn size(length: usize) -> Result<u32> {
    u32::try_from(length).map_err(|_| {
        Error::BadInput(format!(
            "a film of {length} bytes is too large for .glb, which ends at 4 GiB; \
             give fewer frames or a coarser mesh"
        ))
    })
}
