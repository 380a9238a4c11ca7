//! Pictures of one size in rows and columns, as one file: cases to be compared at a glance.

use std::path::Path;

use super::{
    Drawing, check_png,
    color::BACKGROUND,
    encoded,
    label::{Caption, LabelSide},
};
use crate::{
    error::{Result, bad_input},
    files::write_whole,
};

/// Scenes of equal size and scale, in rows.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Panels<'a> {
    /// Over everything.
    pub caption: &'a str,
    /// Names over the columns.
    pub columns: &'a [String],
    /// Names of the rows with a scene for each column. Captions of the scenes are not drawn.
    pub rows: &'a [(String, Vec<Drawing<'a>>)],
}

/// Height of a line of text \[share of a scene's width\].
const LINE: f64 = 0.04;

impl Panels<'_> {
    /// Writes the picture as `.png`.
    pub(crate) fn save(&self, path: &Path) -> Result<()> {
        check_png(path)?;
        write_whole(path, &self.png()?)
    }

    /// The bytes of a PNG file.
    pub(crate) fn png(&self) -> Result<Vec<u8>> {
        let (wide, high) = self.size()?;
        let line = ((LINE * wide as f64) as usize).max(11);
        // Caption and names of the columns; then each row with its name over it.
        let (head, name) = (4 * line, 2 * line);
        let width = wide * self.columns.len();
        let height = head + self.rows.len() * (name + high);
        let mut pixels = BACKGROUND.repeat(width * height);
        let mut pixels_per_metre = f64::INFINITY;
        for (r, (_, scenes)) in self.rows.iter().enumerate() {
            let top = head + r * (name + high) + name;
            for (c, scene) in scenes.iter().enumerate() {
                let (panel, camera, _) = scene.painted()?;
                pixels_per_metre = camera.pixels_per_metre;
                for (y, row) in panel.chunks_exact(3 * wide).enumerate() {
                    let start = 3 * ((top + y) * width + c * wide);
                    pixels[start..start + row.len()].copy_from_slice(row);
                }
            }
        }
        let mut label = Caption::on(&mut pixels, width, height);
        label.line = line;
        label.caption(self.caption)?;
        for (c, column) in self.columns.iter().enumerate() {
            label.text(
                column,
                (c * wide + wide / 2, 5 * line / 2),
                LabelSide::Middle,
            )?;
        }
        for (r, (row, _)) in self.rows.iter().enumerate() {
            let top = head + r * (name + high);
            label.text(row, (line, top + line / 2), LabelSide::Left)?;
        }
        label.scale_bar(pixels_per_metre, wide)?;
        encoded(&pixels, width, height)
    }

    /// Width and height of every scene \[px\].
    fn size(&self) -> Result<(usize, usize)> {
        let scenes = || self.rows.iter().flat_map(|(_, scenes)| scenes);
        let Some(first) = scenes().next() else {
            return bad_input("panels without a scene; give at least one row and one column");
        };
        let view = first.view;
        if scenes().any(|s| s.view != view) {
            return bad_input(
                "panels of different views cannot be compared; give all the same one",
            );
        }
        let columns = self.columns.len();
        match self.rows.iter().find(|(_, row)| row.len() != columns) {
            Some((name, row)) => bad_input(format!(
                "panels: row '{name}' has {} scenes for {columns} columns; give one a column",
                row.len()
            )),
            None => Ok((view.width, view.height)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        mesh::surface::Surface,
        report::render::{Framing, Projection},
    };

    const SQUARE: [[f64; 3]; 4] = [
        [0.0, 0.0, 0.0],
        [1.0, 0.0, 0.0],
        [0.0, 1.0, 0.0],
        [1.0, 1.0, 0.0],
    ];

    fn scene(triangles: &[[usize; 3]]) -> Drawing<'_> {
        Drawing {
            cloth: Surface {
                positions: &SQUARE,
                triangles,
            },
            view: Projection {
                toward_viewer: [0.0, 0.0, 1.0],
                up: [0.0, 1.0, 0.0],
                fit: Framing::Box([0.0; 3], [1.0; 3]),
                width: 100,
                height: 80,
            },
            ..Drawing::default()
        }
    }

    #[test]
    fn every_scene_is_in_its_place_under_its_name() {
        let (lower, upper) = ([[0, 1, 2]], [[1, 3, 2]]);
        let rows = [
            ("first".into(), vec![scene(&lower), scene(&upper)]),
            ("second".into(), vec![scene(&upper), scene(&upper)]),
        ];
        let columns = ["a".to_string(), "b".to_string()];
        let panels = Panels {
            caption: "synthetic",
            columns: &columns,
            rows: &rows,
        };
        let bytes = std::io::Cursor::new(panels.png().unwrap());
        let mut reader = png::Decoder::new(bytes).read_info().unwrap();
        // Lines of 11 pixels: a head of 4 and 2 over each row.
        let size = (200, 44 + 2 * (22 + 80));
        assert_eq!(reader.info().size(), size);
        let mut pixels = vec![0; 3 * (size.0 * size.1) as usize];
        reader.next_frame(&mut pixels).unwrap();
        let is_empty = |x: usize, y: usize| {
            let at = 3 * (y * size.0 as usize + x);
            pixels[at..at + 3] == BACKGROUND
        };
        // The lower left half of the square is cloth in the first scene only.
        let spot = (35, 55);
        let filled: Vec<bool> = [(0, 0), (0, 1), (1, 0), (1, 1)]
            .map(|(row, column)| !is_empty(100 * column + spot.0, 66 + 102 * row + spot.1))
            .to_vec();
        assert_eq!(filled, [true, false, false, false]);
        let words = (0..44).any(|y| (0..200).any(|x| !is_empty(x, y)));
        assert!(words, "caption and names of the columns");
    }

    #[test]
    fn rows_that_do_not_fit_are_refused() {
        let refusal = |rows: &[(String, Vec<Drawing>)]| {
            let columns = ["a".to_string(), "b".to_string()];
            let panels = Panels {
                caption: "",
                columns: &columns,
                rows,
            };
            panels.png().unwrap_err().to_string()
        };
        let lower = [[0, 1, 2]];
        let one = scene(&lower);
        assert!(refusal(&[("r".into(), vec![one])]).contains("row 'r' has 1 scenes for 2 columns"));
        assert!(refusal(&[]).contains("panels without a scene"));
        let mut other = one;
        other.view.width = 200;
        assert!(refusal(&[("r".into(), vec![one, other])]).contains("different views"));
    }
}
