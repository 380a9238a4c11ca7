//! What a run leaves behind: frames, film, pictures.

use serde_json::{Value, json};

use super::{clock::Clock, node::Node};
use crate::{error::Result, files::words};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FrameFormat {
    /// Wavefront OBJ with the material as texture coordinates.
    Obj,
    /// PLY with the bending angle at each vertex.
    Ply,
    None,
}

words!(FrameFormat {
    Obj = "obj",
    Ply = "ply",
    None = "none"
});

/// From where pictures are taken.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Sight {
    /// From the cloth towards the viewer.
    pub toward_viewer: [f64; 3],
    /// Upwards in the picture.
    pub up: [f64; 3],
    /// \[px\]
    pub size: [usize; 2],
    /// Whether obstacles must be seen whole.
    pub everything: bool,
    pub obstacles: bool,
    /// Whether the bending angle is shown as colours.
    pub angles: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct SceneOutput {
    /// Steps from frame to frame.
    pub frame_every: usize,
    pub frames: FrameFormat,
    /// Whether `film.glb` is written.
    pub film: bool,
    /// Steps from row to row of the tables.
    pub row_every: usize,
    /// Moments of pictures \[s\]; 0 is the start.
    pub pictures: Vec<f64>,
    pub sight: Sight,
}

pub(super) const OUTPUT: [&str; 6] = [
    "frames",
    "frames_every_s",
    "film",
    "rows_every_s",
    "pictures_at_s",
    "view",
];
pub(super) const VIEW: [&str; 7] = [
    "toward_viewer",
    "up",
    "width_px",
    "height_px",
    "fit",
    "obstacles",
    "color",
];
pub(super) const PIXELS: (f64, f64) = (64.0, 8192.0);
/// Frames where the scene does not say how many.
const FRAMES: usize = 60;
/// Most pictures: more are a film.
const MOST_PICTURES: usize = 1000;

impl SceneOutput {
    pub(super) fn read(top: &Node, clock: &Clock, gravity: [f64; 3]) -> Result<SceneOutput> {
        let empty = json!({});
        let node = top.child("output");
        let node = node.unwrap_or_else(|| Node::top("scene", &empty));
        let section = node.known(&OUTPUT)?;
        let steps = |key: &str, default: usize| -> Result<usize> {
            let seconds = section.optional_number(key, (0.5 * clock.step, 1e12))?;
            let count = seconds.map(|s| (s / clock.step).round() as usize);
            Ok(count.unwrap_or(default).clamp(1, clock.steps))
        };
        let pictures = section.numbers("pictures_at_s")?;
        if pictures.len() > MOST_PICTURES {
            return node.refuse_key(
                "pictures_at_s",
                format!(
                    "has {} moments; at most {MOST_PICTURES} are drawn",
                    pictures.len()
                ),
            );
        }
        let end = clock.duration() * (1.0 + 1e-9);
        if let Some(late) = pictures.iter().find(|t| !(0.0..=end).contains(*t)) {
            return node.refuse_key(
                "pictures_at_s",
                format!(
                    "holds {late}, and the run goes from 0 to {} s",
                    clock.duration()
                ),
            );
        }
        let frames = section.optional_choice("frames", &FrameFormat::NAMES)?;
        Ok(SceneOutput {
            frame_every: steps("frames_every_s", clock.steps.div_ceil(FRAMES))?,
            frames: frames
                .and_then(FrameFormat::named)
                .unwrap_or(FrameFormat::Obj),
            film: node.flag("film")?.unwrap_or(true),
            row_every: steps("rows_every_s", 1)?,
            pictures: match section.has("pictures_at_s") {
                true => pictures,
                false => vec![clock.duration()],
            },
            sight: Sight::read(&node, gravity)?,
        })
    }

    pub(super) fn to_json(&self, clock: &Clock) -> Value {
        let sight = &self.sight;
        json!({
            "frames": self.frames.name(),
            "frames_every_s": self.frame_every as f64 * clock.step,
            "film": self.film,
            "rows_every_s": self.row_every as f64 * clock.step,
            "pictures_at_s": self.pictures,
            "view": {
                "toward_viewer": sight.toward_viewer,
                "up": sight.up,
                "width_px": sight.size[0],
                "height_px": sight.size[1],
                "fit": if sight.everything { "everything" } else { "cloth" },
                "obstacles": sight.obstacles,
                "color": if sight.angles { "angle" } else { "none" },
            },
        })
    }
}

impl Sight {
    /// Gravity says what is upwards unless the scene does.
    fn read(output: &Node, gravity: [f64; 3]) -> Result<Sight> {
        let y_up = gravity[1].abs() > gravity[2].abs().max(gravity[0].abs());
        let empty = json!({});
        let node = output.child("view");
        let node = node.unwrap_or_else(|| Node::top("scene", &empty));
        let section = node.known(&VIEW)?;
        let pixels = |key: &str, default: usize| -> Result<usize> {
            Ok(section.whole(key, PIXELS)?.unwrap_or(default))
        };
        let (toward, up) = match y_up {
            true => ([0.45, 0.75, 1.0], [0.0, 1.0, 0.0]),
            false => ([0.45, -1.0, 0.75], [0.0, 0.0, 1.0]),
        };
        Ok(Sight {
            toward_viewer: node.vector("toward_viewer")?.unwrap_or(toward),
            up: node.direction("up")?.unwrap_or(up),
            size: [pixels("width_px", 900)?, pixels("height_px", 700)?],
            everything: section.optional_choice("fit", &["cloth", "everything"])?
                == Some("everything"),
            obstacles: node.flag("obstacles")?.unwrap_or(true),
            angles: section.optional_choice("color", &["none", "angle"])? == Some("angle"),
        })
    }
}
