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
        ]
    };
    Some(Block {
        title: format!(
            "A long roll-out of {asked} frames of 90° bends, the body straight after each (synthetic). {} Paper 2's mean error \
             of the worst fifth is near 0.05 rad for 700 frames, near {DRIFT} up to 2500, and leaves that at about 3000; here no \
             reference is run for so long, and the change since the first bend is measured instead.",
            sentence(rows, asked)
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows of a roll-out whose largest fifth of rest bending is `bent` after the first bend and then changes.
    fn rows(bent: f64, changes: &[f64]) -> Vec<LongRow> {
        let row = |bends: usize, change: Option<f64>| LongRow {
            frame: 8 + 68 * bends,
            bends,
            rest_bending: 0.2 * bent,
            rest_bending_top_fifth: bent,
            largest_rest_bending: bent,
            largest_offset: 0.01,
            change,
            change_top_fifth: change,
        };
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
}
