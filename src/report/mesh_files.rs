//! Films of meshes for other programs, as glTF.

mod film;
mod film_frames;
mod glb;
#[cfg(test)]
mod glb_check;

pub(crate) use self::film::{Film, FilmObstacle, Frame, Moving};
pub(crate) use self::film_frames::MOST_FRAMES;
