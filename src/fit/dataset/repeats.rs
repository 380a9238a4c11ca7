//! What repeats of a measurement tell about its spread.
//!
//! Rows with the same condition and group are repeats. Their spread replaces one that would have been assumed, and is
//! compared with one that is stated.

use serde::Serialize;

use super::{DataRow, Dataset};
use crate::{error::readable, laboratory::Condition, numeric::statistics::chi2_exceeds};

/// Where the standard deviation of a value comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum SpreadSource {
    /// The file states it.
    Stated,
    /// The repeats of this and other conditions tell it.
    Repeats,
    /// Nothing tells it: it was assumed.
    Assumed,
}

impl SpreadSource {
    pub fn name(self) -> &'static str {
        match self {
            SpreadSource::Stated => "stated",
            SpreadSource::Repeats => "repeats",
            SpreadSource::Assumed => "assumed",
        }
    }
}

/// Fewest degrees of freedom of pooled repeats that tell a spread: with four it is known to within a factor of two.
const FEWEST: usize = 4;
/// A spread of repeats below this share of the assumed one is that of copied rows, not of specimens.
const COPIES: f64 = 1e-3;
/// Probability on either side below which repeats contradict a stated spread: 1 % in all.
const IMPROBABLE: f64 = 0.005;

/// Repeats of one kind of reading, pooled over their conditions.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Pool {
    conditions: usize,
    freedom: usize,
    /// Σ ((value − mean)/sd)², with the row's own sd.
    chi2: f64,
}

impl Pool {
    /// The repeats among rows.
    fn of(rows: &[&DataRow]) -> Pool {
        let mut pool = Pool::default();
        let mut seen: Vec<(usize, Condition)> = Vec::new();
        for row in rows {
            let key = (row.group, row.condition);
            if seen.contains(&key) {
                continue;
            }
            seen.push(key);
            let same = rows.iter().filter(|r| (r.group, r.condition) == key);
            let same: Vec<&&DataRow> = same.collect();
            let weight = |r: &DataRow| r.sd.powi(-2);
            let weights: f64 = same.iter().map(|r| weight(r)).sum();
            let mean = same.iter().map(|r| weight(r) * r.value).sum::<f64>() / weights;
            let squares = same.iter().map(|r| ((r.value - mean) / r.sd).powi(2));
            pool.chi2 += squares.sum::<f64>();
            pool.freedom += same.len() - 1;
            pool.conditions += usize::from(same.len() > 1);
        }
        pool
    }

    /// The spread over the sd of the rows.
    fn factor(&self) -> f64 {
        (self.chi2 / self.freedom as f64).sqrt()
    }

    /// As "2 conditions with repeats (6 degrees of freedom)".
    fn words(&self) -> String {
        let plural = |n: usize| if n == 1 { "" } else { "s" };
        format!(
            "{} condition{} with repeats ({} degree{} of freedom)",
            self.conditions,
            plural(self.conditions),
            self.freedom,
            plural(self.freedom)
        )
    }
}

impl Dataset {
    /// Uses the repeats of every kind of reading. `assumptions` are the sentences on assumed spreads, each with its kind;
    /// those that hold go to the notes.
    pub(super) fn use_repeats(&mut self, assumptions: Vec<(&'static str, String)>) {
        let mut kinds: Vec<&str> = Vec::new();
        for row in &self.rows {
            if !kinds.contains(&row.kind()) {
                kinds.push(row.kind());
            }
        }
        for kind in kinds {
            let of = |source: SpreadSource| {
                let rows = self.fitted().filter(|r| r.kind() == kind);
                let rows: Vec<&DataRow> = rows.filter(|r| r.spread == source).collect();
                Pool::of(&rows)
            };
            let (stated, open) = (of(SpreadSource::Stated), of(SpreadSource::Assumed));
            self.notes.extend(contradiction(kind, &stated));
            let told = open.freedom >= FEWEST && open.factor() > COPIES;
            if told {
                self.replace(kind, &open);
                continue;
            }
            let known = assumptions.iter().filter(|(of, _)| *of == kind);
            for (_, note) in known {
                if !self.notes.contains(note) {
                    self.notes.push(note.clone());
                }
            }
            if open.freedom >= FEWEST {
                self.notes.push(format!(
                    "{kind}: the {} are alike, as copied rows are; the spread is assumed.",
                    open.words()
                ));
            } else if open.freedom > 0 {
                self.notes.push(format!(
                    "{kind}: {} are too few to tell the spread, which takes {FEWEST} degrees of freedom; it is assumed.",
                    open.words()
                ));
            }
        }
    }

    /// Gives the rows of a kind that state no spread that of their repeats.
    fn replace(&mut self, kind: &str, pool: &Pool) {
        let factor = pool.factor();
        let mut sizes = (f64::INFINITY, 0.0f64);
        let mut is_angle = false;
        let open = self.rows.iter_mut();
        for row in open.filter(|r| r.kind() == kind && r.spread == SpreadSource::Assumed) {
            row.sd *= factor;
            row.spread = SpreadSource::Repeats;
            sizes = (sizes.0.min(row.sd), sizes.1.max(row.sd));
            is_angle = row.condition.test.quantity(&row.condition).is_none();
        }
        let size = match is_angle && sizes.0 == sizes.1 {
            true => format!("{}°", rounded(sizes.1)),
            false => format!("{} times what would have been assumed", rounded(factor)),
        };
        self.notes.push(format!(
            "{kind}: readings without a spread have that of their repeats, {size}, pooled over {}.",
            pool.words()
        ));
        self.repeats.push(pool.freedom);
    }
}

/// What is to be said where repeats contradict their stated spread.
fn contradiction(kind: &str, stated: &Pool) -> Option<String> {
    if stated.freedom == 0 {
        return None;
    }
    let more = chi2_exceeds(stated.chi2, stated.freedom as f64);
    let advice = match more {
        p if p < IMPROBABLE => "state a larger sd, or leave it out so that the repeats tell it",
        p if p > 1.0 - IMPROBABLE => {
            "an sd of single specimens needs the column n, and copied rows are no repeats"
        }
        _ => return None,
    };
    Some(format!(
        "{kind}: repeats scatter {} times as much as their stated sd, which is improbable (below 1 %; {}); {advice}.",
        rounded(stated.factor()),
        stated.words()
    ))
}

/// Three digits.
fn rounded(value: f64) -> String {
    let text = format!("{value:.2e}");
    text.parse::<f64>().map_or(text, readable)
}
