//! Pictures of cloth as PNG files, made so that wrinkles can be seen.
//!
//! A software renderer of triangle meshes: the [`Projection`] places them in the picture, a z-buffer with
//! nine samples a pixel finds what is seen, raking light and its shadows show the relief. The same
//! scene gives the same bytes on any number of cores.

mod color;
mod geometry;
mod label;
mod light;
mod occlusion;
mod panels;
#[cfg(test)]
mod tests;
mod view;
mod visible;

use std::path::Path;

pub(crate) use self::color::VertexValues;
pub(crate) use self::panels::Panels;
pub(crate) use self::view::{Framing, Projection};
use self::{
    color::{BACK, FRONT, OBSTACLE, linear, map_color},
    geometry::{Geometry, Spot},
    label::Caption,
    view::Camera,
    visible::Visible,
};
use super::plot::png;
use crate::mesh::surface::Surface;
use crate::{
    error::{Error, Result, bad_input},
    files::write_whole,
};

/// Maps are lighter than cloth; at this share of their light, highlights keep their colour.
const MAP_SHADE: f32 = 0.68;

/// What is drawn, and how.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Drawing<'a> {
    /// The cloth, with smooth normals and a colour for each side.
    pub cloth: Surface<'a>,
    /// Numbers shown as the cloth's colour, on both sides.
    pub values: Option<VertexValues<'a>>,
    /// Plain grey meshes; empty ones are passed over.
    pub obstacles: &'a [Surface<'a>],
    /// Whether triangles are shown as they are, flat.
    pub flat: bool,
    /// From where it is seen.
    pub view: Projection,
    /// Words at the upper left, such as the time of a frame.
    pub caption: &'a str,
}

impl Drawing<'_> {
    /// Writes the picture as `.png`.
    ///
    /// # Errors
    /// [`Error::BadInput`] for another extension or a scene that cannot be drawn, such as one
    /// without triangles or with a position that is not a number; [`Error::Io`] when the file
    /// cannot be written.
    pub(crate) fn save(&self, path: &Path) -> Result<()> {
        check_png(path)?;
        write_whole(path, &self.png()?)
    }

    /// The bytes of a PNG file.
    ///
    /// # Errors
    /// [`Error::BadInput`] for a scene that cannot be drawn.
    pub(crate) fn png(&self) -> Result<Vec<u8>> {
        encoded(&self.pixels()?, self.view.width, self.view.height)
    }

    /// Red, green and blue bytes, row by row.
    fn pixels(&self) -> Result<Vec<u8>> {
        let (mut pixels, camera, ends) = self.painted()?;
        self.write_labels(&mut pixels, &camera, ends)?;
        Ok(pixels)
    }

    /// The picture without words, its camera, and the ends of the values.
    fn painted(&self) -> Result<(Vec<u8>, Camera, (f64, f64))> {
        let obstacles = self.checked_obstacles()?;
        let camera = self.view.camera(&self.cloth, &obstacles)?;
        let ends = match &self.values {
            Some(values) => values.ends(self.cloth.positions.len())?,
            None => (0.0, 1.0),
        };
        let shares = self.values.map_or(Vec::new(), |values| values.shares(ends));
        let geometry = Geometry::new(self, &camera, &shares);
        let visible = Visible::of(&geometry, self.view.width, self.view.height);
        let pixels = light::lit(&geometry, &visible, &|spot| self.paint(spot));
        Ok((pixels, camera, ends))
    }

    /// The obstacles that have something to draw.
    fn checked_obstacles(&self) -> Result<Vec<Surface<'_>>> {
        self.cloth.check("the cloth")?;
        let mut drawn = Vec::new();
        for (index, obstacle) in self.obstacles.iter().enumerate() {
            if !obstacle.triangles.is_empty() {
                obstacle.check(&format!("obstacle {index}"))?;
                drawn.push(*obstacle);
            }
        }
        Ok(drawn)
    }

    /// Colour before lighting.
    fn paint(&self, spot: &Spot) -> color::LinearColor {
        match (spot.cloth, self.values, spot.front) {
            (false, _, _) => linear(OBSTACLE),
            (true, Some(_), _) => map_color(spot.share).map(|part| MAP_SHADE * part),
            (true, None, true) => linear(FRONT),
            (true, None, false) => linear(BACK),
        }
    }

    fn write_labels(&self, pixels: &mut [u8], camera: &Camera, ends: (f64, f64)) -> Result<()> {
        let mut label = Caption::on(pixels, self.view.width, self.view.height);
        label.caption(self.caption)?;
        label.scale_bar(camera.pixels_per_metre, self.view.width)?;
        match self.values {
            Some(values) => label.color_bar(values.label, ends),
            None => Ok(()),
        }
    }
}

/// Refuses a file name with another extension.
fn check_png(path: &Path) -> Result<()> {
    let extension = path.extension().unwrap_or_default();
    if extension.eq_ignore_ascii_case("png") {
        return Ok(());
    }
    bad_input(format!(
        "{}: the file name of a rendered picture ends in .png",
        path.display()
    ))
}

/// The bytes of a PNG file.
fn encoded(pixels: &[u8], width: usize, height: usize) -> Result<Vec<u8>> {
    png(pixels, width as u32, height as u32).map_err(|cause| {
        Error::BadInput(format!(
            "the picture could not be encoded as PNG: {cause}; choose another size"
        ))
    })
}
