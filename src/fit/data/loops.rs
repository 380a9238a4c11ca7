//! Which branch of its cycle every point of a digitised bending loop lies on.

use super::{
    Branch,
    columns::{
        Concept::{self, *},
        Layout,
    },
    direction,
};
use crate::error::{Result, bad_input, readable};

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
pub(super) fn branches(layout: &Layout) -> Result<(Vec<Option<Branch>>, Vec<String>)> {
    let mut of_row = vec![None; layout.table.row_count()];
    let mut assumptions = Vec::new();
    for cycle in loops(layout)? {
        check_unit(layout, &cycle)?;
        let found = if cycle.points.iter().any(|(_, _, named)| named.is_some()) {
            named(layout, &cycle)?
        } else {
            turning_points(layout, &cycle)?
        };
        assumptions.extend(asymmetry(layout, &cycle, &found));
        for ((row, _, _), branch) in cycle.points.iter().zip(found) {
            of_row[*row] = Some(branch);
        }
    }
    Ok((of_row, assumptions))
}

fn loops(layout: &Layout) -> Result<Vec<Loop>> {
    let mut loops: Vec<Loop> = Vec::new();
    for row in 0..layout.table.row_count() {
        let point = (layout.number(row, Curvature)?, layout.number(row, Moment)?);
        let curvature = match point {
            (Some(curvature), Some(_)) => curvature,
            (None, None) => continue,
            (has, _) => {
                let missing = if has.is_none() { Curvature } else { Moment };
                return bad_input(format!(
                    "{}: {} is empty; a point of a loop needs curvature and moment",
                    place(layout, row),
                    layout.name(missing)
                ));
            }
        };
        let dwell = layout.number(row, Dwell)?.unwrap_or(0.0);
        let word = |concept: Concept| layout.word(row, concept);
        let key = (
            word(Fabric).map(String::from),
            word(Direction).map(direction),
            // Of −0 and 0 the bits differ.
            (dwell + 0.0).to_bits(),
        );
        let named = word(Concept::Branch)
            .map(|word| branch(word, &place(layout, row)))
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

fn place(layout: &Layout, row: usize) -> String {
    layout.table.at(layout.table.line(row))
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

fn check_unit(layout: &Layout, cycle: &Loop) -> Result<()> {
    let largest = largest(cycle);
    if layout.name(Curvature) == "curvature_per_m" && largest <= SUSPICIOUSLY_FLAT {
        return bad_input(format!(
            "{}: curvature_per_m reaches only {} in this loop; these look like 1/cm: name the column curvature_per_cm",
            place(layout, cycle.points[0].0),
            readable(largest)
        ));
    }
    Ok(())
}

/// Takes the branches that the rows name, where their side is possible.
fn named(layout: &Layout, cycle: &Loop) -> Result<Vec<Branch>> {
    let jitter = JITTER * largest(cycle);
    let one = |(row, curvature, named): &(usize, f64, Option<Branch>)| match named {
        None => bad_input(format!(
            "{}: branch is empty, though other rows of this loop name theirs; fill in out, down or back",
            place(layout, *row)
        )),
        Some(Branch::Out) if *curvature < -jitter => bad_input(format!(
            "{}: branch = out at a negative curvature; out runs from 0 to +max (mirror a loop that starts to the negative side: change the sign of curvature and moment)",
            place(layout, *row)
        )),
        Some(Branch::Back) if *curvature > jitter => bad_input(format!(
            "{}: branch = back at a positive curvature; back runs from −max to 0",
            place(layout, *row)
        )),
        Some(branch) => Ok(*branch),
    };
    cycle.points.iter().map(one).collect()
}

/// Finds the branches from where the curvature turns.
fn turning_points(layout: &Layout, cycle: &Loop) -> Result<Vec<Branch>> {
    let at = |i: usize| place(layout, cycle.points[i].0);
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
fn asymmetry(layout: &Layout, cycle: &Loop, found: &[Branch]) -> Option<String> {
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
                place(layout, cycle.points[0].0),
                readable(highest),
                readable(lowest)
            )
        })
}

#[cfg(test)]
mod tests {
    use super::super::{Branch, DataFile, Measured, Quantity};
    use crate::error::Result;

    /// The branches of a loop with these curvatures \[1/cm\], as letters.
    fn letters(curvatures: &[f64]) -> Result<String> {
        let rows: String = curvatures.iter().map(|k| format!("{k},0.1\n")).collect();
        let text = format!("curvature_per_cm,moment_gf_cm_per_cm\n{rows}");
        let letter = |p: &Measured| match p.quantity {
            Quantity::Moment { branch, .. } => format!("{branch:?}")[..1].to_string(),
            _ => "?".into(),
        };
        Ok(DataFile::parse(&text, "t")?
            .points
            .iter()
            .map(letter)
            .collect())
    }

    #[test]
    fn branches_turn_where_the_curvature_does() {
        for (curvatures, expected) in [
            (&[0.0, 1.0, 2.5, 1.0, -1.0, -2.5, -1.0, 0.0][..], "OOODDDBB"),
            // Starts on the way, or at the top; ends early.
            (&[1.0, 2.5, 0.0, -2.5, -0.1], "OODDB"),
            (&[2.5, 1.0, -2.5, 0.0], "ODDB"),
            (&[0.0, 1.0, 2.5], "OOO"),
            (&[0.0, 2.5, 1.0, 0.0], "OODD"),
            // Jitter below 2 % of 2.5 = 0.05, on the way and at the turns.
            (
                &[
                    -0.02, 0.0, 1.0, 0.97, 2.0, 2.5, 2.48, 2.49, 1.0, 1.04, -2.5, -2.47, -2.49,
                    -1.0, -1.03, 0.02,
                ],
                "OOOOOODDDDDBBBBB",
            ),
            // Held at the top: the first point there ends the way out.
            (&[0.0, 2.5, 2.5, 2.5, 0.0, -2.5, 0.0], "OODDDDB"),
        ] {
            assert_eq!(letters(curvatures).unwrap(), expected, "{curvatures:?}");
        }
        for (curvatures, message) in [
            (
                &[0.0, -1.0, -2.5, 1.0, 2.5, 0.0][..],
                "t line 3: the loop goes to the negative side first; mirror it",
            ),
            (
                &[0.2, -1.0, -2.5, 1.0, 2.5, 0.0],
                "t line 3: the loop goes to the negative side first",
            ),
            (
                &[-2.5, 0.0, 2.5, 0.0],
                "t line 2: the loop goes to the negative side first",
            ),
            (
                &[0.0, 2.5, -2.5, 0.0, 2.5, 0.0],
                "t line 6: a second cycle begins",
            ),
            (&[0.0, 2.5, 1.0, 2.5], "t line 4: a second cycle begins"),
            (&[0.0, 2.5], "does not show its branches"),
            (
                &[250.0, 0.0, -250.0],
                "curvature_per_cm = 250 is outside -100 to 100 1/cm",
            ),
        ] {
            let error = letters(curvatures).unwrap_err().to_string();
            assert!(error.contains(message), "{curvatures:?}: {error}");
        }
    }

    #[test]
    fn loops_are_told_apart_and_may_name_their_branches() {
        // Two interleaved loops; the second is longer held and not symmetric.
        let file = DataFile::parse(
            "curvature_per_m,moment_Nm_per_m,dwell_s,direction\n0,0,0,warp\n0,0,60,warp\n250,1,0,Warp\n\
             250,1,60,warp\n-250,-1,0,warp\n-200,-1,60,warp\n0,-0.1,0,warp\n0,-0.1,60,warp\n",
            "t",
        )
        .unwrap();
        let found: Vec<Quantity> = file.points.iter().map(|p| p.quantity).collect();
        let point = |curvature, branch, dwell| Quantity::Moment {
            curvature,
            branch,
            dwell,
        };
        assert_eq!(found[5], point(-200.0, Branch::Down, 60.0));
        assert_eq!(found[6], point(0.0, Branch::Back, 0.0));
        assert_eq!(file.assumptions.len(), 1);
        assert!(file.assumptions[0].contains("t line 3: the loop turns at 250 and -200 1/m"));
        for (text, message) in [
            ("100,1,out\n-100,1,back\n50,1,down", ""),
            ("100,1,up", "t line 2: branch = 'up' is not known"),
            ("100,1,out\n50,1,", "t line 3: branch is empty"),
            (
                "-100,1,out",
                "t line 2: branch = out at a negative curvature",
            ),
            (
                "100,1,back",
                "t line 2: branch = back at a positive curvature",
            ),
            ("100,,out", "t line 2: moment_Nm_per_m is empty"),
            (
                "2.5,1,out",
                "these look like 1/cm: name the column curvature_per_cm",
            ),
        ] {
            let outcome = DataFile::parse(
                &format!("curvature_per_m,moment_Nm_per_m,branch\n{text}"),
                "t",
            );
            let error = outcome.err().map_or(String::new(), |e| e.to_string());
            assert!(
                error.contains(message) && error.is_empty() == message.is_empty(),
                "{text:?}: {error}"
            );
        }
    }
}
