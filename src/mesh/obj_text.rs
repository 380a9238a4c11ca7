//! The lines of a Wavefront OBJ file, as far as cloth needs them: `v`, `vt` and `f`.

use std::collections::BTreeMap;

use crate::error::{Error, Result, bad_input};

/// Lines that say nothing about the shape of a cloth.
const WITHOUT_WORD: [&str; 7] = ["vn", "g", "o", "s", "usemtl", "mtllib", "vp"];

/// A corner of a face, counted from 0.
#[derive(Debug, Clone, Copy)]
pub(super) struct FaceCorner {
    pub vertex: usize,
    pub texture: Option<usize>,
}

/// A polygon and the line that it stands in.
#[derive(Debug)]
pub(super) struct Face {
    pub line: usize,
    pub corners: Vec<FaceCorner>,
}

/// What an OBJ file says.
#[derive(Debug, Default)]
pub(super) struct ObjText {
    /// `v`, as written, shape `[vertices, 3]`.
    pub positions: Vec<[f64; 3]>,
    /// `vt`, as written, shape `[points, 2]`.
    pub texture: Vec<[f64; 2]>,
    /// `f`, all corners in range.
    pub faces: Vec<Face>,
    /// Unknown first words of lines, and how often they came.
    pub ignored: BTreeMap<String, usize>,
}

impl ObjText {
    /// Parses a whole file; `place` names it in messages.
    pub(crate) fn parse(text: &str, place: &str) -> Result<ObjText> {
        let mut obj = ObjText::default();
        for (number, line) in text.lines().enumerate() {
            obj.line(line, number + 1)
                .map_err(|e| Error::BadInput(format!("{place} line {}: {e}", number + 1)))?;
        }
        // Only now: a face may stand before its vertices.
        for face in &obj.faces {
            obj.in_range(face)
                .map_err(|e| Error::BadInput(format!("{place} line {}: {e}", face.line)))?;
        }
        Ok(obj)
    }

    fn line(&mut self, line: &str, number: usize) -> Result<()> {
        let content = line.split('#').next().unwrap_or_default().trim();
        if content.ends_with('\\') {
            return bad_input("the line ends with '\\'; join it with the next one");
        }
        let mut words = content.split_whitespace();
        let Some(keyword) = words.next() else {
            return Ok(());
        };
        let words: Vec<&str> = words.collect();
        match keyword {
            "v" => self.positions.push(numbers("v", &words)?),
            "vt" => self.texture.push(numbers("vt", &words)?),
            "f" => {
                let corners = self.corners(&words)?;
                self.faces.push(Face {
                    line: number,
                    corners,
                });
            }
            known if WITHOUT_WORD.contains(&known) => {}
            other => *self.ignored.entry(other.to_string()).or_default() += 1,
        }
        Ok(())
    }

    fn corners(&self, words: &[&str]) -> Result<Vec<FaceCorner>> {
        if words.len() < 3 {
            return bad_input(format!(
                "a face with {} corners; give three or more",
                words.len()
            ));
        }
        words.iter().map(|word| self.corner(word)).collect()
    }

    /// `v`, `v/vt`, `v/vt/vn` or `v//vn`; normals are not read.
    fn corner(&self, word: &str) -> Result<FaceCorner> {
        let parts: Vec<&str> = word.split('/').collect();
        let texture = parts.get(1).copied().filter(|part| !part.is_empty());
        if parts.len() > 3 {
            return bad_input(format!(
                "the corner '{word}' has {} parts; write v, v/vt, v//vn or v/vt/vn",
                parts.len()
            ));
        }
        Ok(FaceCorner {
            vertex: index(word, parts[0], self.positions.len())?,
            texture: match texture {
                Some(part) => Some(index(word, part, self.texture.len())?),
                None => None,
            },
        })
    }

    fn in_range(&self, face: &Face) -> Result<()> {
        let known = |kind: &str, index: usize, count: usize| match index < count {
            true => Ok(()),
            false => bad_input(format!(
                "the face names {kind} {}, but the file has {count}; correct the index",
                index + 1
            )),
        };
        for corner in &face.corners {
            known("vertex (v)", corner.vertex, self.positions.len())?;
            if let Some(texture) = corner.texture {
                known("texture point (vt)", texture, self.texture.len())?;
            }
        }
        Ok(())
    }
}

/// An index of a corner, from 0: positive ones count from 1, negative ones back from the newest of
/// the `so_far` that were read.
fn index(corner: &str, part: &str, so_far: usize) -> Result<usize> {
    let found = match part.parse::<i64>() {
        Ok(index @ 1..) => usize::try_from(index - 1).ok(),
        Ok(index @ ..=-1) => usize::try_from(index.unsigned_abs())
            .ok()
            .and_then(|back| so_far.checked_sub(back)),
        _ => None,
    };
    match found {
        Some(index) => Ok(index),
        None => bad_input(format!(
            "'{part}' in the corner '{corner}' is no index ({so_far} were read so far); \
             write a whole number from 1, or from -1 to count back"
        )),
    }
}

/// The first `N` numbers of a line; what follows (weights, colours) is not read.
fn numbers<const N: usize>(keyword: &str, words: &[&str]) -> Result<[f64; N]> {
    if words.len() < N {
        return bad_input(format!(
            "'{keyword}' with {} numbers; give {N}",
            words.len()
        ));
    }
    let mut values = [0.0; N];
    for (value, word) in values.iter_mut().zip(words) {
        match word.parse::<f64>() {
            Ok(number) if number.is_finite() => *value = number,
            _ => {
                return bad_input(format!(
                    "'{word}' in '{keyword}' is not a finite number; write one like 0.25 or 1e-3"
                ));
            }
        }
    }
    Ok(values)
}
