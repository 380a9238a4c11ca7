//! `intervals.csv`: a line for every parameter of every data set.

use crate::{
    error::{Error, Result},
    verify::coverage::Coverage,
};

const COLUMNS: [&str; 18] = [
    "noise_deg",
    "law",
    "parameter",
    "truth",
    "best",
    "std_error",
    "ci95_low",
    "ci95_high",
    "identified",
    "holds",
    "truth_below",
    "truth_above",
    "off_by_two",
    "refits_below",
    "refits",
    "chi2",
    "truth_chi2",
    "verdict",
];

/// Numbers are written so that they are read back the same; a cell is empty where there is none.
pub(super) fn intervals(found: &Coverage) -> Result<Vec<u8>> {
    let unwritable = |e: &dyn std::fmt::Display| {
        Error::BadInput(format!("intervals.csv cannot be written: {e}"))
    };
    let number = |value: Option<f64>| value.map_or(String::new(), |v| v.to_string());
    let mut csv = csv::Writer::from_writer(Vec::new());
    csv.write_record(COLUMNS).map_err(|e| unwritable(&e))?;
    for set in &found.sets {
        for e in &set.estimates {
            let [low, high] = e.ci95.map(number);
            let (below, refits) = e.rank.unzip();
            let whole = |count: Option<usize>| count.map_or(String::new(), |n| n.to_string());
            let cells: [String; 18] = [
                set.noise_deg.to_string(),
                set.law.to_string(),
                e.name.clone(),
                e.truth.to_string(),
                e.best.to_string(),
                number(e.std_error),
                low,
                high,
                e.identified.to_string(),
                e.holds().to_string(),
                e.below().to_string(),
                e.above().to_string(),
                e.off().to_string(),
                whole(below),
                whole(refits),
                number(set.chi2),
                set.truth_chi2.to_string(),
                e.verdict.clone(),
            ];
            csv.write_record(cells).map_err(|e| unwritable(&e))?;
        }
    }
    csv.into_inner().map_err(|e| unwritable(&e))
}
