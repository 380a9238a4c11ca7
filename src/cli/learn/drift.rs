//! What a long roll-out says about drift, as a table and a sentence.

use super::table::{Block, digits};
use crate::learn::evaluate::{DRIFT, Evaluation, FORGOTTEN, LargestChange, LongRow, is_cut_off};

/// After the first bends of a long roll-out and every eighth of the others; nothing where there was none.
pub(super) fn table(evaluation: &Evaluation) -> Option<Block> {
    let (rows, asked) = (&evaluation.long, evaluation.long_frames);
    if asked == 0 {
        return None;
    }
    let last = rows.last().map_or(0, |row| row.bends);
    let shown = |row: &&LongRow| row.bends < 3 || row.bends.is_multiple_of(8) || row.bends == last;
    let row = |r: &LongRow| {
        vec![
            r.frame.to_string(),
            r.bends.to_string(),
            digits(r.rest_bending),
            digits(r.rest_bending_top_fifth),
            digits(r.largest_rest_bending),
            digits(1e3 * r.largest_offset),
            r.change.map_or("–".into(), digits),
            r.change_top_fifth.map_or("–".into(), digits),
            r.reference.map_or("–".into(), digits),
            r.error_top_fifth.map_or("–".into(), digits),
        ]
    };
    Some(Block {
        title: format!(
            "A long roll-out of {asked} frames of 90° bends, the body straight after each (synthetic). {} {} Paper 2's mean \
             error of the worst fifth is near 0.05 rad for 700 frames, near {DRIFT} up to 2500, and leaves that at about 3000.",
            sentence(rows, asked),
            against_reference(rows, asked)
        ),
        header: [
            "frame",
            "bends",
            "mean |ε_p| rad",
            "largest fifth rad",
            "largest rad",
            "largest offset mm",
            "change since the first bend rad",
            "largest fifth of the change rad",
            "mean |ε_p| of the reference rad",
            "largest fifth of the error rad",
        ]
        .map(String::from)
        .to_vec(),
        rows: rows.iter().filter(shown).map(row).collect(),
    })
}

/// What a long roll-out says about drift.
fn sentence(rows: &[LongRow], asked: usize) -> String {
    if is_cut_off(rows, asked) {
        let until = rows.last().map_or("before the first bend".into(), |row| {
            format!("after frame {}, {} bends", row.frame, row.bends)
        });
        return format!(
            "It ends {until}, though {asked} frames were asked for: something was no longer finite, the networks diverge."
        );
    }
    let Some(found) = LargestChange::of(rows) else {
        return "It has one bend, which says nothing about drift; ask for more frames.".into();
    };
    let change = digits(found.top_fifth);
    let share = match found.share {
        Some(share) => format!("{:.0} % of what the largest fifth had then", 100.0 * share),
        None => "of nothing then".into(),
    };
    let verdict = match found.share {
        _ if found.top_fifth > DRIFT => "it drifts",
        None if found.top_fifth == 0.0 => "there is nothing that could drift",
        None => "it comes out of nothing",
        Some(share) if share > FORGOTTEN => {
            "little, but most of what there is is forgotten or made anew"
        }
        Some(_) => "it does not drift so far",
    };
    format!(
        "Since the first bend rest bending has changed by up to {change} rad, the fifth where most at frame {}, {share}: {verdict}.",
        found.frame
    )
}

/// How far a long roll-out is from a reference of as many frames.
fn against_reference(rows: &[LongRow], asked: usize) -> String {
    if is_cut_off(rows, asked) {
        return String::new();
    }
    let errors = rows
        .iter()
        .filter_map(|r| Some((r.frame, r.error_top_fifth?)));
    let Some((frame, error)) = errors.max_by(|a, b| a.1.total_cmp(&b.1)) else {
        return "There is no reference of so many frames yet, and so no error to compare with paper 2's; `rumple learn evaluate \
                DIR --long-reference` simulates it."
            .into();
    };
    let verdict = match error > DRIFT {
        true => "more than paper 2's before its drift",
        false => "not more than paper 2's before its drift",
    };
    format!(
        "Against a reference of as many frames the error of the worst fifth is at most {} rad, at frame {frame}: {verdict}.",
        digits(error)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows of a roll-out whose largest fifth of rest bending is `bent` after the first bend and then changes.
    fn rows(bent: f64, changes: &[f64]) -> Vec<LongRow> {
        let row = |bends: usize, change| LongRow::made_up(bends, bent, change);
        let later = changes.iter().enumerate();
        let later = later.map(|(k, change)| row(k + 2, Some(*change)));
        [row(0, None), row(1, Some(0.0))]
            .into_iter()
            .chain(later)
            .collect()
    }

    #[test]
    fn a_roll_out_that_drifts_forgets_or_diverges_is_called_so() {
        for (bent, changes, words) in [
            (
                0.2,
                [0.02, 0.01],
                ["0.0200 rad", "10 %", "does not drift so far"],
            ),
            (0.2, [0.15, 0.01], ["0.150 rad", "frame 144", "it drifts"]),
            (0.03, [0.02, 0.03], ["0.0300 rad", "100 %", "forgotten"]),
            (
                0.0,
                [0.0, 0.0],
                ["0 rad", "of nothing", "nothing that could drift"],
            ),
        ] {
            let said = sentence(&rows(bent, &changes), 280);
            for word in words {
                assert!(said.contains(word), "{word}: {said}");
            }
        }
        let said = sentence(&rows(0.2, &[0.02]), 3000);
        assert!(
            said.contains("after frame 144, 2 bends")
                && said.contains("3000 frames were asked for"),
            "{said}"
        );
        assert!(sentence(&[], 3000).contains("before the first bend"));
        assert!(sentence(&rows(0.2, &[]), 100).contains("says nothing about drift"));
    }

    #[test]
    fn an_error_against_the_reference_is_compared_with_the_papers() {
        let mut rows = rows(0.2, &[0.02, 0.01]);
        assert!(against_reference(&rows, 280).starts_with("There is no reference"));
        assert_eq!(against_reference(&rows, 3000), "");
        for (row, error) in rows.iter_mut().zip([0.0, 0.03, 0.09, 0.05]) {
            row.error_top_fifth = Some(error);
        }
        let said = against_reference(&rows, 280);
        assert!(
            said.contains("0.0900 rad, at frame 144: not more"),
            "{said}"
        );
        rows[3].error_top_fifth = Some(0.2);
        let said = against_reference(&rows, 280);
        assert!(said.contains("0.200 rad, at frame 212: more"), "{said}");
    }
}
