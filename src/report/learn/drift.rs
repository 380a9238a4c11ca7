//! What a long roll-out says about drift, as a table and a sentence.

use super::table::{TableBlock, digits};
use crate::learn::evaluate::{
    DRIFT, Evaluation, FORGOTTEN, LargestChange, LongError, LongRow, is_cut_off,
};

/// After the first bends of a long roll-out and every eighth of the others; nothing where there was none.
pub(super) fn table(evaluation: &Evaluation) -> Option<TableBlock> {
    let (rows, asked) = (&evaluation.long, evaluation.long_frames);
    if asked == 0 {
        return None;
    }
    let last = rows.last().map_or(0, |row| row.bends);
    let shown = |row: &&LongRow| row.bends < 3 || row.bends.is_multiple_of(8) || row.bends == last;
    let or_none = |value: Option<f64>| value.map_or("–".into(), digits);
    let row = |r: &LongRow| {
        vec![
            r.frame.to_string(),
            r.bends.to_string(),
            digits(r.rest_bending),
            digits(r.rest_bending_top_fifth),
            digits(r.largest_rest_bending),
            digits(1e3 * r.largest_offset),
            or_none(r.change),
            or_none(r.change_top_fifth),
            or_none(r.reference),
            or_none(r.error_top_fifth),
            or_none(r.none_top_fifth),
        ]
    };
    let title = format!(
        "A long roll-out of {asked} frames of 90° bends, the body straight after each (synthetic). {} {} Paper 2's mean \
         error of the worst fifth is near 0.05 rad for 700 frames, near {DRIFT} up to 2500, and leaves that at about 3000.",
        sentence(rows, asked),
        against_reference(rows, evaluation.long_error.as_ref(), asked)
    );
    Some(TableBlock::new(
        title,
        "frame; bends; mean |ε_p| rad; largest fifth rad; largest rad; largest offset mm; change since the first bend rad; \
         largest fifth of the change rad; mean |ε_p| of the reference rad; largest fifth of the error rad; \
         of predicting none rad",
        rows.iter().filter(shown).map(row).collect(),
    ))
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
            "little, but more than half of the rest bending is forgotten or made anew"
        }
        Some(_) => "it does not drift so far",
    };
    format!(
        "Since the first bend rest bending has changed by up to {change} rad, the fifth where most at frame {}, {share}: {verdict}.",
        found.frame
    )
}

/// How far a long roll-out is from a reference of as many frames.
fn against_reference(rows: &[LongRow], error: Option<&LongError>, asked: usize) -> String {
    if is_cut_off(rows, asked) {
        return String::new();
    }
    let Some(error) = error else {
        return "There is no reference of so many frames yet, and so no error to compare with paper 2's; `rumple learn evaluate \
                DIR --long-reference` simulates it."
            .into();
    };
    let over = match error.frames == asked {
        true => format!("all {asked} frames"),
        false => format!(
            "the first {} frames, after which something is no longer finite",
            error.frames
        ),
    };
    format!(
        "Against a reference of as many frames the error of the worst fifth is at most {} rad, at frame {}, and {} rad on the mean \
         of {over}; predicting none has at most {} rad and {} rad on the mean: {}.",
        digits(error.largest_top_fifth),
        error.largest_frame,
        digits(error.top_fifth),
        digits(error.none_largest_top_fifth),
        digits(error.none_top_fifth),
        verdict(error)
    )
}

/// By paper 2's figure and by what predicting none has: either alone says too little.
fn verdict(error: &LongError) -> String {
    if error.largest_top_fifth == 0.0 {
        return "there is no error".into();
    }
    let is_beyond = error.largest_top_fifth > DRIFT;
    let (size, but) = match is_beyond {
        true => (
            format!("more than paper 2's {DRIFT} rad before its drift"),
            "though",
        ),
        false => (
            format!("not more than paper 2's {DRIFT} rad before its drift"),
            "and",
        ),
    };
    match error.below_none() {
        Some([largest, mean]) => format!(
            "{size}, {but} {:.0} % below predicting none where largest and {:.0} % on the mean",
            100.0 * largest,
            100.0 * mean
        ),
        None if is_beyond => format!("{size}, and no better than predicting none"),
        None => {
            format!("{size}, but no better than predicting none, which the bound does not show")
        }
    }
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

    /// Largest and mean of the worst fifth, of a roll-out and of predicting none.
    fn error(own: [f64; 2], none: [f64; 2]) -> LongError {
        LongError {
            frames: 280,
            largest_top_fifth: own[0],
            largest_frame: 212,
            top_fifth: own[1],
            none_largest_top_fifth: none[0],
            none_top_fifth: none[1],
            ..LongError::default()
        }
    }

    #[test]
    fn an_error_against_the_reference_is_compared_with_the_papers_and_with_none() {
        let rows = rows(0.2, &[0.02, 0.01]);
        assert!(against_reference(&rows, None, 280).starts_with("There is no reference"));
        let better = error([0.06, 0.04], [0.08, 0.08]);
        assert_eq!(against_reference(&rows, Some(&better), 3000), "");
        let said = against_reference(&rows, Some(&better), 280);
        for words in [
            "Against a reference of as many frames",
            "at most 0.0600 rad, at frame 212, and 0.0400 rad on the mean of all 280 frames",
            "none has at most 0.0800 rad and 0.0800 rad on the mean",
            "not more than paper 2's 0.1 rad before its drift, and 25 % below predicting none where largest and 50 % on the mean.",
        ] {
            assert!(said.contains(words), "{words}: {said}");
        }
        let cut = LongError {
            frames: 250,
            ..better
        };
        let said = against_reference(&rows, Some(&cut), 280);
        assert!(said.contains("the first 250 frames, after which"), "{said}");
        for (own, none, words) in [
            (
                // What predicting none says of itself: below 0.1 rad, and nothing was learned.
                [0.08, 0.08],
                [0.08, 0.08],
                "not more than paper 2's 0.1 rad before its drift, but no better than predicting none",
            ),
            (
                [0.09, 0.04],
                [0.08, 0.08],
                "but no better than predicting none",
            ),
            (
                [0.2, 0.1],
                [0.08, 0.08],
                "more than paper 2's 0.1 rad before its drift, and no better than predicting none",
            ),
            (
                [0.2, 0.1],
                [0.4, 0.4],
                "more than paper 2's 0.1 rad before its drift, though 50 % below",
            ),
            ([0.0, 0.0], [0.0, 0.0], "there is no error"),
            ([0.01, 0.0], [0.0, 0.0], "no better than predicting none"),
        ] {
            let said = verdict(&error(own, none));
            assert!(said.contains(words), "{words}: {said}");
        }
    }
}
