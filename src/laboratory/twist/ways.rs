//! Whether every point of a twist was read on the way out or back.

use super::{TORQUE, TURN, Way};
use crate::{
    error::{Result, bad_input},
    laboratory::sheet::{BRANCH, DIRECTION, DWELL, DataSheet, FABRIC},
};

/// Rows of one fabric, direction and dwell, with their turns \[rad\].
type TwistRows<'a> = ((Option<&'a str>, Option<&'a str>, u64), Vec<(usize, f64)>);

/// The way of every row that has a torque: as its row says, else out up to the first row with the largest turn
/// of its twist, and back after it.
pub(super) fn ways(sheet: &DataSheet) -> Result<Vec<Option<Way>>> {
    let mut of_row = vec![None; sheet.rows().len()];
    for (_, points) in twists(sheet)? {
        let largest = points.iter().map(|(_, turn)| *turn).fold(0.0, f64::max);
        let mut way = Way::Out;
        for (row, turn) in points {
            of_row[row] = Some(named(sheet, row)?.unwrap_or(way));
            if turn >= largest {
                way = Way::Back;
            }
        }
    }
    Ok(of_row)
}

fn twists<'a>(sheet: &'a DataSheet) -> Result<Vec<TwistRows<'a>>> {
    let mut list: Vec<TwistRows> = Vec::new();
    for row in sheet.rows() {
        let turn = match (sheet.number(row, &TURN)?, sheet.number(row, &TORQUE)?) {
            (Some(turn), Some(_)) => turn,
            (None, None) => continue,
            (turn, _) => {
                return bad_input(format!(
                    "{}: {} is empty; a point of a twist needs turn and torque",
                    sheet.place(row),
                    sheet.name(if turn.is_none() { &TURN } else { &TORQUE })
                ));
            }
        };
        let dwell = sheet.number(row, &DWELL)?.unwrap_or(0.0).to_bits();
        let key = (sheet.word(row, &FABRIC), sheet.word(row, &DIRECTION), dwell);
        match list.iter_mut().find(|(other, _)| *other == key) {
            Some((_, points)) => points.push((row, turn)),
            None => list.push((key, vec![(row, turn)])),
        }
    }
    Ok(list)
}

fn named(sheet: &DataSheet, row: usize) -> Result<Option<Way>> {
    match sheet.word(row, &BRANCH) {
        None => Ok(None),
        Some("out") => Ok(Some(Way::Out)),
        Some("back") => Ok(Some(Way::Back)),
        Some(word) => bad_input(format!(
            "{}: branch = '{word}' of a twist is not known; write out or back",
            sheet.place(row)
        )),
    }
}
