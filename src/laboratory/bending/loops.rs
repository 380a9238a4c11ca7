//! Which branch of its cycle every point of a digitised bending loop lies on.

use super::{Branch, CURVATURE, MOMENT};
use crate::{
    error::{Result, bad_input, readable},
    laboratory::sheet::{BRANCH, Concept, DIRECTION, DWELL, DataSheet, FABRIC, direction},
};

/// Share of the largest curvature below which a step back is jitter of the digitising, not a turn.
const JITTER: f64 = 0.02;
/// An excursion to the positive side that stays below this share of the largest curvature is not one.
const FIRST_TURN: f64 = 0.5;
/// Largest curvature \[1/m\] that is taken for 1/cm in a wrong column: no instrument stops at a radius of
/// 20 cm, and ±2.5 is the usual range in 1/cm.
const SUSPICIOUSLY_FLAT: f64 = 5.0;

/// The remedy that every refused order of rows ends with.
const REMEDY: &str = "give one cycle 0 → +max → −max → 0 for each fabric, direction and dwell_s, or name the branch of every row (out, down, back) in a column 'branch'";

/// A loop: all rows of one fabric, direction and dwell.
struct Loop {
    key: (Option<String>, Option<String>, u64),
    /// (row, curvature \[1/m\], the branch its row names).
    points: Vec<(usize, f64, Option<Branch>)>,
}

/// The branch of every row that has a moment, and a sentence for every loop that is not symmetric.
pub(super) fn branches(sheet: &DataSheet) -> Result<(Vec<Option<Branch>>, Vec<String>)> {
    let mut of_row = vec![None; sheet.rows().len()];
    let mut assumptions = Vec::new();
    for cycle in loops(sheet)? {
        check_unit(sheet, &cycle)?;
        let found = if cycle.points.iter().any(|(_, _, named)| named.is_some()) {
            named(sheet, &cycle)?
        } else {
            turning_points(sheet, &cycle)?
        };
        assumptions.extend(asymmetry(sheet, &cycle, &found));
        for ((row, _, _), branch) in cycle.points.iter().zip(found) {
            of_row[*row] = Some(branch);
        }
    }
    Ok((of_row, assumptions))
}

fn loops(sheet: &DataSheet) -> Result<Vec<Loop>> {
    let mut loops: Vec<Loop> = Vec::new();
    for row in sheet.rows() {
        let point = (sheet.number(row, &CURVATURE)?, sheet.number(row, &MOMENT)?);
        let curvature = match point {
            (Some(curvature), Some(_)) => curvature,
            (None, None) => continue,
            (has, _) => {
                let missing = if has.is_none() { &CURVATURE } else { &MOMENT };
                return bad_input(format!(
                    "{}: {} is empty; a point of a loop needs curvature and moment",
                    sheet.place(row),
                    sheet.name(missing)
                ));
            }
        };
        let dwell = sheet.number(row, &DWELL)?.unwrap_or(0.0);
        let word = |concept: &Concept| sheet.word(row, concept);
        let key = (
            word(&FABRIC).map(String::from),
            word(&DIRECTION).map(direction),
            // Of −0 and 0 the bits differ.
            (dwell + 0.0).to_bits(),
        );
        let named = word(&BRANCH)
            .map(|word| branch(word, &sheet.place(row)))
            .transpose()?;
        let point = (row, curvature, named);
        match loops.iter_mut().find(|l| l.key == key) {
            Some(cycle) => cycle.points.push(point),
            None => loops.push(Loop {
                key,
                points: vec![point],
            }),
        }
    }
    Ok(loops)
}

fn branch(word: &str, at: &str) -> Result<Branch> {
    match word.to_lowercase().as_str() {
        "out" => Ok(Branch::Out),
        "down" => Ok(Branch::Down),
        "back" => Ok(Branch::Back),
        _ => bad_input(format!(
            "{at}: branch = '{word}' is not known; write out (0 → +max), down (+max → −max) or back (−max → 0)"
        )),
    }
}

fn largest(cycle: &Loop) -> f64 {
    let sizes = cycle.points.iter().map(|(_, k, _)| k.abs());
    sizes.fold(0.0, f64::max)
}

fn check_unit(sheet: &DataSheet, cycle: &Loop) -> Result<()> {
    let largest = largest(cycle);
    if sheet.name(&CURVATURE) == "curvature_per_m" && largest <= SUSPICIOUSLY_FLAT {
        return bad_input(format!(
            "{}: curvature_per_m reaches only {} in this loop; these look like 1/cm: name the column curvature_per_cm",
            sheet.place(cycle.points[0].0),
            readable(largest)
        ));
    }
    Ok(())
}

/// Takes the branches that the rows name, where their side is possible.
fn named(sheet: &DataSheet, cycle: &Loop) -> Result<Vec<Branch>> {
    let jitter = JITTER * largest(cycle);
    let one = |(row, curvature, named): &(usize, f64, Option<Branch>)| match named {
        None => bad_input(format!(
            "{}: branch is empty, though other rows of this loop name theirs; fill in out, down or back",
            sheet.place(*row)
        )),
        Some(Branch::Out) if *curvature < -jitter => bad_input(format!(
            "{}: branch = out at a negative curvature; out runs from 0 to +max (mirror a loop that starts to the negative side: change the sign of curvature and moment)",
            sheet.place(*row)
        )),
        Some(Branch::Back) if *curvature > jitter => bad_input(format!(
            "{}: branch = back at a positive curvature; back runs from −max to 0",
            sheet.place(*row)
        )),
        Some(branch) => Ok(*branch),
    };
    cycle.points.iter().map(one).collect()
}

/// Finds the branches from where the curvature turns.
fn turning_points(sheet: &DataSheet, cycle: &Loop) -> Result<Vec<Branch>> {
    let at = |i: usize| sheet.place(cycle.points[i].0);
    let curvature = |i: usize| cycle.points[i].1;
    let (count, largest) = (cycle.points.len(), largest(cycle));
    let jitter = JITTER * largest;
    if count < 3 || largest == 0.0 {
        return bad_input(format!(
            "{}: a loop of {count} points up to a curvature of {largest} does not show its branches; {REMEDY}",
            at(0)
        ));
    }
    let mirrored = |i: usize| {
        bad_input(format!(
            "{}: the loop goes to the negative side first; mirror it: change the sign of curvature and moment in all its rows",
            at(i)
        ))
    };
    if curvature(0) < -jitter {
        return mirrored(0);
    }
    let mut found = vec![Branch::Out; count];
    let mut branch = Branch::Out;
    // The furthest point of this branch so far; a turn is known only once jitter is ruled out.
    let mut turn = 0;
    for i in 1..count {
        let sign = if branch == Branch::Down { -1.0 } else { 1.0 };
        let ahead = sign * (curvature(i) - curvature(turn));
        if ahead > 0.0 {
            turn = i;
        }
        let again = branch == Branch::Back && curvature(turn) > jitter;
        if ahead < -jitter || again {
            branch = match branch {
                Branch::Out if curvature(turn) < FIRST_TURN * largest => return mirrored(i),
                Branch::Out => Branch::Down,
                Branch::Down if curvature(turn) < -jitter => Branch::Back,
                _ => {
                    return bad_input(format!(
                        "{}: a second cycle begins near here; {REMEDY}",
                        at(turn)
                    ));
                }
            };
            found[turn + 1..].fill(branch);
            turn = i;
        }
    }
    Ok(found)
}

/// A sentence where the two ends of a whole cycle differ.
fn asymmetry(sheet: &DataSheet, cycle: &Loop, found: &[Branch]) -> Option<String> {
    if !found.contains(&Branch::Out) || !found.contains(&Branch::Back) {
        return None;
    }
    let curvatures = || cycle.points.iter().map(|(_, k, _)| *k);
    let highest = curvatures().fold(f64::NEG_INFINITY, f64::max);
    let lowest = curvatures().fold(f64::INFINITY, f64::min);
    // Twice the jitter of one end.
    (highest + lowest)
        .abs()
        .gt(&(2.0 * JITTER * largest(cycle)))
        .then(|| {
            format!(
                "{}: the loop turns at {} and {} 1/m; it is compared with a cycle of equal ends",
                sheet.place(cycle.points[0].0),
                readable(highest),
                readable(lowest)
            )
        })
}
