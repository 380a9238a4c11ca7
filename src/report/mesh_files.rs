//! Meshes as files for other programs: stills as PLY, films as glTF.

mod film;
mod film_frames;
mod glb;
#[cfg(test)]
mod glb_check;
mod ply;

use std::path::Path;

pub use self::film::{Film, Frame, Moving, Obstacle};
pub use self::film_frames::MOST_FRAMES;
pub use self::ply::{Property, ply_bytes, save_ply};
use crate::error::{Result, bad_input};

/// Refuses a file name with another extension.
fn check_extension(path: &Path, kind: &str, extension: &str) -> Result<()> {
    let given = path.extension().unwrap_or_default();
    if given.eq_ignore_ascii_case(extension) {
        return Ok(());
    }
    bad_input(format!(
        "{}: the file name of a {kind} ends in .{extension}",
        path.display()
    ))
}
