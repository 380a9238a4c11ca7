//! Which frames a film keeps, and its checks.

use super::film::{Film, Frame, Moving};
use crate::error::{Result, bad_input};
use crate::mesh::surface::{Surface, check_points};

/// Most frames in a film. Each is a morph target, and each moment has a weight for each target:
/// at 120 these weights are 57 kB, and viewers still keep all targets on the graphics card
/// (WebGL 2 promises 256 layers of a texture, one a target).
pub(crate) const MOST_FRAMES: usize = 120;
/// Most bytes of positions and normals in a film: what browsers open without trouble.
const MOST_BYTES: usize = 256 << 20;
/// Bytes of a vertex in a frame: position and normal.
const VERTEX_BYTES: usize = 24;

/// Frames that a film of `count` frames keeps: all of them, or as many as it may have, evenly
/// thinned, with the first and the last.
pub(super) fn kept(count: usize, vertices: usize) -> Vec<usize> {
    let affordable = MOST_BYTES / (VERTEX_BYTES * vertices.max(1));
    let most = affordable.clamp(2, MOST_FRAMES).min(count);
    let last = count.saturating_sub(1);
    let gaps = most.saturating_sub(1).max(1);
    // Rounded to the nearest; frames stay apart because there are no more gaps than frames.
    (0..most)
        .map(|index| (index * last + gaps / 2) / gaps)
        .collect()
}

/// Refuses what cannot be a film.
pub(super) fn check(film: &Film) -> Result<()> {
    let Some(first) = film.frames.first() else {
        return bad_input("a film has no frames; give at least one");
    };
    let cloth = Surface {
        positions: first.positions,
        triangles: film.triangles,
    };
    cloth.check("the cloth in frame 0")?;
    check_frames(film.frames, first.positions.len())?;
    if first.positions.len() >= u32::MAX as usize {
        return bad_input("the cloth has more vertices than glTF can number; give a coarser mesh");
    }
    if let Some(body) = film.body {
        check_body(&body, film.frames.len())?;
    }
    for (index, obstacle) in film.obstacles.iter().enumerate() {
        let name = format!("obstacle {index}");
        obstacle.surface.check(&name)?;
        check_points(obstacle.offsets, &format!("the way of {name}"))?;
        for (count, what, else_none) in [
            (obstacle.offsets.len(), "offsets", "it rests"),
            (obstacle.present.len(), "presences", "it is always there"),
        ] {
            if count != 0 && count != film.frames.len() {
                return bad_input(format!(
                    "{name} has {count} {what} for {} frames; give one a frame, or none where {else_none}",
                    film.frames.len()
                ));
            }
        }
    }
    Ok(())
}

fn check_body(body: &Moving, frames: usize) -> Result<()> {
    let count = body.frames.len();
    if count != frames {
        return bad_input(format!(
            "the body has {count} frames and the cloth {frames}; give one of the body for each of the cloth"
        ));
    }
    let vertices = body.frames[0].len();
    for (index, positions) in body.frames.iter().enumerate() {
        let surface = Surface {
            positions,
            triangles: body.triangles,
        };
        surface.check(&format!("the body in frame {index}"))?;
        if positions.len() != vertices {
            return bad_input(format!(
                "the body has {} vertices in frame {index} and {vertices} in frame 0; give frames of the same mesh",
                positions.len()
            ));
        }
    }
    Ok(())
}

fn check_frames(frames: &[Frame], vertices: usize) -> Result<()> {
    for (index, frame) in frames.iter().enumerate() {
        if frame.positions.len() != vertices {
            return bad_input(format!(
                "frame {index} has {} vertices and frame 0 has {vertices}; \
                 give frames of the same mesh",
                frame.positions.len()
            ));
        }
        check_points(frame.positions, &format!("the cloth in frame {index}"))?;
        let earlier = index.checked_sub(1).map(|before| frames[before].time);
        let rises = earlier.is_none_or(|earlier| earlier < frame.time);
        if !frame.time.is_finite() || !rises {
            return bad_input(format!(
                "frame {index} of a film is at {} s, not after the one before it; \
                 give finite times that rise",
                frame.time
            ));
        }
    }
    Ok(())
}

/// Times of the kept frames \[s\] from the film's start, as files have them.
pub(super) fn times(frames: &[Frame], kept: &[usize]) -> Result<Vec<f32>> {
    let start = frames[kept[0]].time;
    let times: Vec<f32> = kept
        .iter()
        .map(|&index| (frames[index].time - start) as f32)
        .collect();
    match times.windows(2).position(|pair| pair[0] >= pair[1]) {
        Some(index) => bad_input(format!(
            "frames {} and {} of a film, at {} s and {} s, are too close for single precision; \
             leave one out or let the film run slower",
            kept[index],
            kept[index + 1],
            frames[kept[index]].time,
            frames[kept[index + 1]].time
        )),
        None => Ok(times),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Thinning keeps both ends, no frame twice, and gaps that differ by one frame at most.
    #[test]
    fn thinning_is_even() {
        assert_eq!(kept(1, 10), [0]);
        assert_eq!(kept(2, 10), [0, 1]);
        assert_eq!(kept(5, 10), [0, 1, 2, 3, 4]);
        for count in [120, 121, 180, 239, 240, 1000, 12_345] {
            let kept = kept(count, 7000);
            assert_eq!(kept.len(), MOST_FRAMES);
            assert_eq!((kept[0], kept[119]), (0, count - 1));
            let gaps = || kept.windows(2).map(|pair| pair[1] - pair[0]);
            let (least, most) = (gaps().min().expect("gaps"), gaps().max().expect("gaps"));
            assert!(
                least >= 1 && most - least <= 1,
                "{count}: {least} to {most}"
            );
        }
    }

    /// A large mesh keeps fewer frames, but always both ends.
    #[test]
    fn large_meshes_keep_fewer_frames() {
        assert_eq!(kept(500, 27_000).len(), MOST_FRAMES);
        assert_eq!(kept(500, 1_000_000).len(), 11);
        assert_eq!(kept(500, 100_000_000), [0, 499]);
    }
}
