//! From where a mesh is seen, and the way from metres to pixels.

use crate::error::{Result, bad_input};
use crate::mesh::surface::{Surface, Triple, cross, dot, minus, plus, unit};

/// Smallest and largest width and height \[px\]; the largest picture takes 1.3 GB to draw.
const SIZES: std::ops::RangeInclusive<usize> = 64..=4096;
/// Free border \[share of the smaller side\].
const MARGIN: f64 = 0.07;

/// What the picture is fitted to.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) enum Framing {
    /// The cloth; obstacles are cut off where they reach out of the picture.
    #[default]
    Cloth,
    /// Cloth and obstacles.
    Everything,
    /// A box from its lowest to its highest corner \[m\]: the same for all frames of a film.
    Box([f64; 3], [f64; 3]),
}

/// A parallel projection: lengths across the view are true everywhere, so that a scale bar holds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Projection {
    /// From the cloth towards the viewer; any length.
    pub toward_viewer: [f64; 3],
    /// What is upwards in the picture; not along `toward_viewer`.
    pub up: [f64; 3],
    /// What the picture is fitted to.
    pub fit: Framing,
    /// Width of the picture \[px\], 64 to 4096.
    pub width: usize,
    /// Height of the picture \[px\], 64 to 4096.
    pub height: usize,
}

impl Default for Projection {
    /// The three-quarter view of a world with z upwards and its front towards −y.
    fn default() -> Self {
        Projection {
            toward_viewer: [0.45, -1.0, 0.75],
            up: [0.0, 0.0, 1.0],
            fit: Framing::default(),
            width: 1200,
            height: 900,
        }
    }
}

impl Projection {
    /// The camera that shows what the view is fitted to.
    pub(super) fn camera(&self, cloth: &Surface, obstacles: &[Surface]) -> Result<Camera> {
        let axes = self.axes()?;
        self.check_size()?;
        let corners = match self.fit {
            Framing::Box(low, high) => box_corners(low, high)?,
            Framing::Cloth => used(cloth).collect(),
            Framing::Everything => [cloth]
                .into_iter()
                .chain(obstacles)
                .flat_map(used)
                .collect(),
        };
        let mut span = [(f64::INFINITY, f64::NEG_INFINITY); 3];
        for corner in corners {
            for (axis, (low, high)) in axes.iter().zip(&mut span) {
                let along = dot(*axis, corner);
                (*low, *high) = (low.min(along), high.max(along));
            }
        }
        let lengths = span.map(|(low, high)| high - low);
        let border = 2.0 * MARGIN * self.width.min(self.height) as f64;
        let fits = |pixels: usize, length: f64| (pixels as f64 - border) / length;
        let scale = fits(self.width, lengths[0]).min(fits(self.height, lengths[1]));
        // A point seen by itself, or a line seen from its end.
        if !scale.is_finite() {
            return bad_input(
                "the mesh has no size across the view; look from another direction \
                 (view.toward_viewer) or give a mesh with some area",
            );
        }
        let middle = span.map(|(low, high)| 0.5 * (low + high));
        let mut centre = [0.0; 3];
        for (axis, along) in axes.iter().zip(middle) {
            centre = plus(centre, axis.map(|x| x * along));
        }
        Ok(Camera {
            axes,
            centre,
            pixels_per_metre: scale,
            half: [0.5 * self.width as f64, 0.5 * self.height as f64],
        })
    }

    /// Right, up and towards the viewer.
    fn axes(&self) -> Result<[Triple; 3]> {
        let Projection {
            toward_viewer, up, ..
        } = *self;
        let (Some(back), Some(lift)) = (unit(toward_viewer), unit(up)) else {
            return bad_input(format!(
                "the view's toward_viewer {toward_viewer:?} and up {up:?} must have a length; \
                 give finite directions that are not zero"
            ));
        };
        let across = cross(lift, back);
        match unit(across).filter(|_| dot(across, across) > 1e-12) {
            Some(right) => Ok([right, cross(back, right), back]),
            None => bad_input(format!(
                "the view's up {up:?} is along toward_viewer {toward_viewer:?}; \
                 choose another up, such as [0, 1, 0] to look down along z"
            )),
        }
    }

    fn check_size(&self) -> Result<()> {
        if SIZES.contains(&self.width) && SIZES.contains(&self.height) {
            return Ok(());
        }
        bad_input(format!(
            "a picture of {} by {} pixels cannot be drawn; choose {} to {} for each",
            self.width,
            self.height,
            SIZES.start(),
            SIZES.end()
        ))
    }
}

/// Positions of the vertices that a triangle has; others must not move the picture.
fn used<'a>(surface: &Surface<'a>) -> impl Iterator<Item = Triple> + use<'a> {
    let Surface {
        positions,
        triangles,
    } = *surface;
    triangles
        .iter()
        .flatten()
        .map(move |&vertex| positions[vertex])
}

fn box_corners(low: Triple, high: Triple) -> Result<Vec<Triple>> {
    let size = minus(high, low);
    // Written so that NaN is refused as well.
    if !size.iter().all(|x| (0.0..f64::INFINITY).contains(x)) {
        return bad_input(format!(
            "the view's box from {low:?} to {high:?} m is not a box; \
             give its lowest corner first and finite numbers"
        ));
    }
    let corner = |index: usize| {
        let pick = |axis: usize| [low, high][index >> axis & 1][axis];
        [pick(0), pick(1), pick(2)]
    };
    Ok((0..8).map(corner).collect())
}

/// Places points of the world in the picture.
#[derive(Debug, Clone)]
pub(super) struct Camera {
    axes: [Triple; 3],
    centre: Triple,
    /// Scale, the same in all three directions.
    pub(super) pixels_per_metre: f64,
    half: [f64; 2],
}

impl Camera {
    /// Pixels from the left and from the top, and towards the viewer from the middle of the scene.
    pub(super) fn place(&self, point: Triple) -> Triple {
        let [x, y, z] = self.turn(minus(point, self.centre));
        let scale = self.pixels_per_metre;
        [
            self.half[0] + scale * x,
            self.half[1] - scale * y,
            scale * z,
        ]
    }

    /// A direction's parts to the right, up and towards the viewer.
    pub(super) fn turn(&self, direction: Triple) -> Triple {
        self.axes.map(|axis| dot(axis, direction))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHEET: Surface = Surface {
        positions: &[[0.0; 3], [2.0, 0.0, 0.0], [0.0, 1.0, 0.0], [50.0, 0.0, 0.0]],
        triangles: &[[0, 1, 2]],
    };

    /// Seen from above, the sheet fills the width up to the margin; a vertex without triangle does
    /// not count, x goes right and y goes up.
    #[test]
    fn fits_the_cloth_into_the_margins() {
        let view = Projection {
            toward_viewer: [0.0, 0.0, 3.0],
            up: [0.0, 1.0, 0.0],
            ..Projection::default()
        };
        let camera = view.camera(&SHEET, &[]).expect("a camera");
        let margin = MARGIN * 900.0;
        let [left, right] = [0, 1].map(|vertex| camera.place(SHEET.positions[vertex]));
        // Roundings of f64 at a thousand pixels.
        assert!((left[0] - margin).abs() < 1e-9, "{left:?}");
        assert!((right[0] - (1200.0 - margin)).abs() < 1e-9, "{right:?}");
        assert!(camera.place([0.0, 1.0, 0.0])[1] < left[1] - 100.0);
        assert!(camera.place([0.0, 0.0, 1.0])[2] > 100.0);
    }

    /// Views that show nothing are refused with their values.
    #[test]
    fn refuses_views_that_show_nothing() {
        let refusal = |view: Projection| match view.camera(&SHEET, &[]) {
            Ok(_) => panic!("{view:?} was taken"),
            Err(error) => error.to_string(),
        };
        let view = Projection::default();
        let up = view.toward_viewer;
        assert!(refusal(Projection { up, ..view }).contains("is along toward_viewer"));
        let up = [0.0; 3];
        assert!(refusal(Projection { up, ..view }).contains("must have a length"));
        assert!(refusal(Projection { width: 9, ..view }).contains("9 by 900 pixels"));
        let fit = Framing::Box([1.0; 3], [0.0; 3]);
        assert!(refusal(Projection { fit, ..view }).contains("not a box"));
        let fit = Framing::Box([1.0; 3], [1.0; 3]);
        assert!(refusal(Projection { fit, ..view }).contains("no size across the view"));
    }
}
