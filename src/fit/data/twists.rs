//! Whether every point of a twist was read on the way out or back.

use super::{
    Way,
    columns::{
        Concept::{self, *},
        Layout,
    },
};
use crate::error::{Result, bad_input};

/// Rows of one fabric, direction and dwell, with their turns \[rad\].
type TwistRows<'a> = ((Option<&'a str>, Option<&'a str>, u64), Vec<(usize, f64)>);

/// The way of every row that has a torque: as its row says, else out up to the first row with the largest turn
/// of its twist, and back after it.
pub(super) fn ways(layout: &Layout) -> Result<Vec<Option<Way>>> {
    let mut of_row = vec![None; layout.table.row_count()];
    for (_, points) in twists(layout)? {
        let largest = points.iter().map(|(_, turn)| *turn).fold(0.0, f64::max);
        let mut way = Way::Out;
        for (row, turn) in points {
            of_row[row] = Some(named(layout, row)?.unwrap_or(way));
            if turn >= largest {
                way = Way::Back;
            }
        }
    }
    Ok(of_row)
}

fn twists<'a>(layout: &'a Layout) -> Result<Vec<TwistRows<'a>>> {
    let mut list: Vec<TwistRows> = Vec::new();
    for row in 0..layout.table.row_count() {
        let turn = match (layout.number(row, Turn)?, layout.number(row, Torque)?) {
            (Some(turn), Some(_)) => turn,
            (None, None) => continue,
            (turn, _) => {
                return bad_input(format!(
                    "{}: {} is empty; a point of a twist needs turn and torque",
                    layout.table.at(layout.table.line(row)),
                    layout.name(if turn.is_none() { Turn } else { Torque })
                ));
            }
        };
        let dwell = layout.number(row, Dwell)?.unwrap_or(0.0).to_bits();
        let key = (layout.word(row, Fabric), layout.word(row, Direction), dwell);
        match list.iter_mut().find(|(other, _)| *other == key) {
            Some((_, points)) => points.push((row, turn)),
            None => list.push((key, vec![(row, turn)])),
        }
    }
    Ok(list)
}

fn named(layout: &Layout, row: usize) -> Result<Option<Way>> {
    match layout.word(row, Concept::Branch) {
        None => Ok(None),
        Some("out") => Ok(Some(Way::Out)),
        Some("back") => Ok(Some(Way::Back)),
        Some(word) => bad_input(format!(
            "{}: branch = '{word}' of a twist is not known; write out or back",
            layout.table.at(layout.table.line(row))
        )),
    }
}
