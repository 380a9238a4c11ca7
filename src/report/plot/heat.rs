//! Heat maps: a matrix of numbers from −1 to 1 as coloured cells.

use plotters::style::{RGBColor, text_anchor::HPos};

use super::paint::{Fill, HEIGHT, INK, PaintSheet, Painted, Point, SMALL, WIDTH, register_fonts};
use super::{MARGIN, heading};
use crate::error::{Result, bad_input};

/// Longest name of a row and of a column \[px\]; longer ones are abbreviated.
const LONGEST_NAME: (f64, f64) = (190.0, 165.0);
/// Smallest and largest height and largest width of a cell \[px\].
const CELL_HEIGHT: Point = (24.0, 44.0);
const CELL_WIDTH: f64 = 84.0;
/// Room for the bar of colours beside the cells \[px\].
const KEY_WIDTH: f64 = 76.0;

/// Blue and vermilion of the charts' palette, which the colour-blind can tell apart.
const NEGATIVE: RGBColor = RGBColor(0x00, 0x72, 0xB2);
const POSITIVE: RGBColor = RGBColor(0xD5, 0x5E, 0x00);
const EMPTY: RGBColor = RGBColor(240, 240, 240);

/// A matrix of numbers from −1 to 1, such as correlations.
#[derive(Debug, Clone, Default)]
pub(crate) struct HeatMap {
    /// Heading, wrapped when it is long.
    pub title: String,
    /// Small grey line under the title, such as `synthetic data`.
    pub note: Option<String>,
    pub rows: Vec<String>,
    pub columns: Vec<String>,
    /// Numbers, row by row; an empty grey cell where there is none.
    pub cells: Vec<Vec<Option<f64>>>,
}

/// Where the cells are.
struct CellGrid {
    corner: Point,
    cell: Point,
}

impl CellGrid {
    fn place(&self, row: usize, column: usize) -> Point {
        let (x, y) = self.corner;
        (
            x + column as f64 * self.cell.0,
            y + row as f64 * self.cell.1,
        )
    }

    fn middle(&self, row: usize, column: usize) -> Point {
        let (x, y) = self.place(row, column);
        (x + 0.5 * self.cell.0, y + 0.5 * self.cell.1)
    }
}

impl HeatMap {
    pub(super) fn sheet(&self) -> Result<PaintSheet> {
        self.check()?;
        register_fonts();
        let (mut shapes, top) = heading(&self.title, self.note.as_deref());
        let count = (self.rows.len(), self.columns.len());
        let short = |names: &[String], room: f64| -> Vec<String> {
            names.iter().map(|name| abbreviated(name, room)).collect()
        };
        let rows = short(&self.rows, LONGEST_NAME.0);
        let columns = short(&self.columns, LONGEST_NAME.1);
        let left = MARGIN + SMALL.widest(rows.iter()).min(LONGEST_NAME.0) + 10.0;
        let room = WIDTH - MARGIN - KEY_WIDTH - left;
        let wide = (room / count.1 as f64).min(CELL_WIDTH);
        // Names that are wider than their column are written upwards.
        let tallest = SMALL.widest(columns.iter()).min(LONGEST_NAME.1);
        let rising = tallest > wide - 8.0;
        let below = match rising {
            true => tallest + 14.0,
            false => 30.0,
        };
        let room = HEIGHT - MARGIN - below - top;
        let high = (room / count.0 as f64).clamp(CELL_HEIGHT.0, CELL_HEIGHT.1);
        let grid = CellGrid {
            corner: (left, top),
            cell: (wide, high),
        };
        shapes.extend(self.cells(&grid));
        for (row, name) in rows.into_iter().enumerate() {
            let at = (left - 8.0, grid.middle(row, 0).1);
            let font = SMALL.fitted(&name, LONGEST_NAME.0);
            shapes.push(Painted::Text(name, at, HPos::Right, font));
        }
        let bottom = grid.place(count.0, 0).1;
        for (column, name) in columns.into_iter().enumerate() {
            let x = grid.middle(0, column).0;
            shapes.push(if rising {
                let font = SMALL.fitted(&name, LONGEST_NAME.1);
                let at = (x, bottom + 8.0 + 0.5 * font.width(&name));
                Painted::RisingText(name, at, font)
            } else {
                Painted::Text(name, (x, bottom + 16.0), HPos::Center, SMALL)
            });
        }
        let right = grid.place(0, count.1).0;
        shapes.extend(key((right + 22.0, top), (bottom - top).min(220.0)));
        let size = (WIDTH, bottom + below + MARGIN);
        Ok(PaintSheet { size, shapes })
    }

    fn check(&self) -> Result<()> {
        let (title, rows, columns) = (&self.title, self.rows.len(), self.columns.len());
        if rows == 0 || columns == 0 {
            return bad_input(format!("heat map '{title}' has no cells; add some"));
        }
        let fits = self.cells.len() == rows && self.cells.iter().all(|row| row.len() == columns);
        if !fits {
            let remedy = "give a row of cells a row name and a cell a column name";
            return bad_input(format!(
                "heat map '{title}' is not {rows} by {columns}; {remedy}"
            ));
        }
        Ok(())
    }

    fn cells(&self, grid: &CellGrid) -> Vec<Painted> {
        let widest = SMALL.fitted("−0.00", grid.cell.0 - 5.0).size;
        let mut font = SMALL;
        font.size = SMALL.size.min(0.62 * grid.cell.1);
        // Where numbers would be too small to read, they lose their leading zero instead.
        let short = widest < 10.5;
        let fitted = font.fitted(if short { "−.00" } else { "−0.00" }, grid.cell.0 - 5.0);
        let mut shapes = Vec::new();
        for (row, cells) in self.cells.iter().enumerate() {
            for (column, cell) in cells.iter().enumerate() {
                let value = cell.filter(|value| value.is_finite());
                let color = value.map_or(EMPTY, color_of);
                shapes.push(rectangle(
                    grid.place(row, column),
                    grid.place(row + 1, column + 1),
                    color,
                ));
                if let Some(value) = value {
                    let font = fitted.colored(readable_on(color));
                    let at = grid.middle(row, column);
                    shapes.push(Painted::Text(number(value, short), at, HPos::Center, font));
                }
            }
        }
        shapes
    }
}

/// The bar of colours with its ends named.
fn key((x, y): Point, length: f64) -> Vec<Painted> {
    const PARTS: usize = 40;
    let mut shapes = Vec::new();
    let part = length / PARTS as f64;
    for i in 0..PARTS {
        let value = 1.0 - 2.0 * (i as f64 + 0.5) / PARTS as f64;
        let top = y + i as f64 * part;
        // Parts overlap, or a pale line would show between them.
        let bottom = (top + 1.5 * part).min(y + length);
        let corners = [(x, top), (x + 14.0, top), (x + 14.0, bottom), (x, bottom)];
        shapes.push(Painted::Polygon(
            corners.into(),
            Fill::from(color_of(value)),
        ));
    }
    for (share, text) in [(0.0, "1"), (0.5, "0"), (1.0, "−1")] {
        let at = (x + 20.0, y + share * length);
        shapes.push(Painted::Text(text.into(), at, HPos::Left, SMALL));
    }
    shapes
}

/// A cell with a white line around it.
fn rectangle(from: Point, to: Point, color: RGBColor) -> Painted {
    let (left, top, right, bottom) = (from.0 + 0.5, from.1 + 0.5, to.0 - 0.5, to.1 - 0.5);
    let corners = [(left, top), (right, top), (right, bottom), (left, bottom)];
    Painted::Polygon(corners.into(), color.into())
}

fn color_of(value: f64) -> RGBColor {
    let share = value.abs().min(1.0);
    let end = if value < 0.0 { NEGATIVE } else { POSITIVE };
    let blend = |part: u8| (255.0 + share * (f64::from(part) - 255.0)).round() as u8;
    RGBColor(blend(end.0), blend(end.1), blend(end.2))
}

/// White on dark cells.
fn readable_on(RGBColor(red, green, blue): RGBColor) -> RGBColor {
    let light = 0.299 * f64::from(red) + 0.587 * f64::from(green) + 0.114 * f64::from(blue);
    if light < 140.0 {
        RGBColor(255, 255, 255)
    } else {
        INK
    }
}

fn number(value: f64, short: bool) -> String {
    let text = format!("{value:.2}").replace("-0.00", "0.00");
    let text = match text.strip_suffix("1.00") {
        Some(sign) if short => format!("{sign}1"),
        None if short => text.replace("0.", "."),
        _ => text,
    };
    text.replace('-', "−")
}

/// A name no longer than `room` \[px\] if that can be had by cutting its longest words, not below
/// three letters: what tells names apart may stand anywhere in them.
fn abbreviated(name: &str, room: f64) -> String {
    // Words and what is between them take turns; a word comes with how many letters are kept.
    let parts = name.split_inclusive(|c: char| !c.is_alphabetic());
    let mut words: Vec<(Vec<char>, usize, &str)> = parts
        .map(|part| {
            let word = part.trim_end_matches(|c: char| !c.is_alphabetic());
            let letters: Vec<char> = word.chars().collect();
            let kept = letters.len();
            (letters, kept, &part[word.len()..])
        })
        .collect();
    loop {
        let mut shown = String::new();
        for (letters, kept, rest) in &words {
            shown.extend(&letters[..*kept]);
            shown += if *kept < letters.len() { "." } else { "" };
            shown += rest;
        }
        let longest = words.iter_mut().max_by_key(|(_, kept, _)| *kept);
        match longest {
            Some((_, kept, _)) if *kept > 3 && SMALL.width(&shown) > room => {
                *kept -= 1;
            }
            _ => return shown,
        }
    }
}
