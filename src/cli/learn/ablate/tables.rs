//! The tables of an ablation.

use super::Row;
use crate::{
    cli::learn::table::{Block, below, digits, names, values},
    learn::{
        ablate::{CASE, ZERO},
        evaluate::ELASTIC,
        metrics::Metrics,
    },
    report::learn_ablations::VariantErrors,
};

/// Plastic errors of every variant, in the order of the rows.
pub(super) fn errors(rows: &[Row]) -> Vec<VariantErrors> {
    let mut all: Vec<VariantErrors> = Vec::new();
    for row in rows {
        let known = all.iter().position(|v| v.name == row.name);
        let at = known.unwrap_or_else(|| {
            all.push(VariantErrors {
                name: row.name.clone(),
                errors: Vec::new(),
                zero: Vec::new(),
            });
            all.len() - 1
        });
        all[at].errors.push(row.mean.plastic_error);
        all[at].zero.push(row.mean_elastic.plastic_error);
    }
    all
}

/// Scores on the canonical bend and over all motions, and what stays.
pub(super) fn blocks(rows: &[Row]) -> [Block; 3] {
    [
        scores(rows, "The unseen 90° bend", |r| (&r.bend, &r.bend_elastic)),
        scores(rows, "Mean of the unseen motions", |r| {
            (&r.mean, &r.mean_elastic)
        }),
        creases(rows),
    ]
}

/// Names of the variants in their order, each with its rows.
fn grouped(rows: &[Row]) -> Vec<(&str, Vec<&Row>)> {
    let mut groups: Vec<(&str, Vec<&Row>)> = Vec::new();
    for row in rows {
        match groups.iter_mut().find(|(name, _)| *name == row.name) {
            Some((_, group)) => group.push(row),
            None => groups.push((&row.name, vec![row])),
        }
    }
    groups
}

/// How the title of a table ends.
fn over_seeds(rows: &[Row]) -> String {
    let mut seeds: Vec<u64> = rows.iter().map(|r| r.seed).collect();
    seeds.sort_unstable();
    seeds.dedup();
    let named: Vec<String> = seeds.iter().map(u64::to_string).collect();
    match named.len() {
        1 => format!("seed {}", named[0]),
        _ => format!(
            "seeds {}, mean ± standard deviation over them",
            named.join(", ")
        ),
    }
}

/// All metrics of some motions, a row a variant: means over the seeds, and where there are several their standard
/// deviation. What the case saves against methods without rest bending is compared seed by seed.
fn scores(rows: &[Row], what: &str, pick: fn(&Row) -> (&Metrics, &Metrics)) -> Block {
    let line = |name: &str, of: &[&Metrics]| {
        let column = |k: usize| spread(&of.iter().map(|m| values(m)[k]).collect::<Vec<_>>());
        let cells = (0..names().len()).map(column);
        std::iter::once(name.to_string()).chain(cells).collect()
    };
    let groups = grouped(rows);
    let mut lines: Vec<Vec<String>> = Vec::new();
    if let Some((_, group)) = groups.first() {
        let elastic: Vec<&Metrics> = group.iter().map(|r| pick(r).1).collect();
        lines.push(line(ELASTIC, &elastic));
    }
    for (name, group) in &groups {
        let own: Vec<&Metrics> = group.iter().map(|r| pick(r).0).collect();
        lines.push(line(name, &own));
    }
    let of = |name: &str| groups.iter().find(|(n, _)| *n == name).map(|(_, g)| g);
    if let Some(case) = of(CASE) {
        let own: Vec<&Metrics> = case.iter().map(|r| pick(r).0).collect();
        let elastic: Vec<&Metrics> = case.iter().map(|r| pick(r).1).collect();
        lines.push(saved(&format!("{CASE} below {ELASTIC}"), &own, &elastic));
        if let Some(zero) = of(ZERO).filter(|zero| zero.len() == case.len()) {
            let zero: Vec<&Metrics> = zero.iter().map(|r| pick(r).0).collect();
            lines.push(saved(&format!("{CASE} below {ZERO}"), &own, &zero));
        }
    }
    Block {
        title: format!(
            "{what}, against the reference simulation of the same yield strain; synthetic, lower is better; {}.",
            over_seeds(rows)
        ),
        header: std::iter::once("ablation".to_string())
            .chain(names())
            .collect(),
        rows: lines,
    }
}

/// How far metrics are below others [%], pair by pair.
fn saved(name: &str, own: &[&Metrics], other: &[&Metrics]) -> Vec<String> {
    let column = |k: usize| {
        let pairs = own.iter().zip(other);
        let shares: Option<Vec<f64>> = pairs.map(|(a, b)| below(a, b)[k]).collect();
        shares.map_or("–".into(), |s| percent(&s))
    };
    let cells = (0..names().len()).map(column);
    std::iter::once(name.to_string()).chain(cells).collect()
}

/// What stays after the canonical bend.
fn creases(rows: &[Row]) -> Block {
    let line = |(name, of): (&str, Vec<&Row>)| {
        let over =
            |pick: &dyn Fn(&Row) -> f64| spread(&of.iter().map(|r| pick(r)).collect::<Vec<_>>());
        let own: Vec<&Metrics> = of.iter().map(|r| &r.mean).collect();
        let elastic: Vec<&Metrics> = of.iter().map(|r| &r.mean_elastic).collect();
        vec![
            name.to_string(),
            over(&|r| r.after),
            over(&|r| r.after_reference),
            over(&|r| r.wrinkles_before),
            over(&|r| r.wrinkles_after),
            over(&|r| r.control),
            saved("", &own, &elastic)[2].clone(),
        ]
    };
    Block {
        title: format!(
            "What stays after the unseen 90° bend, in rad, and how far the plastic error of all unseen motions is below that of \
             predicting none; synthetic; {}.",
            over_seeds(rows)
        ),
        header: [
            "ablation",
            "mean |ε_p| after",
            "of the reference",
            "top tenth of |ε| before",
            "after",
            "largest |ε_p|, unloaded control",
            "PE below none",
        ]
        .map(String::from)
        .to_vec(),
        rows: grouped(rows).into_iter().map(line).collect(),
    }
}

/// Mean and standard deviation of shares, in whole percent.
fn percent(values: &[f64]) -> String {
    match values {
        [one] => format!("{one:.0} %"),
        _ => {
            let (mean, deviation) = moments(values);
            format!("{mean:.0} ± {deviation:.0} %")
        }
    }
}

fn spread(values: &[f64]) -> String {
    let (mean, deviation) = moments(values);
    match values.len() {
        0 | 1 => digits(mean),
        _ => format!("{} ± {}", digits(mean), digits(deviation)),
    }
}

/// Mean and standard deviation of a sample.
fn moments(values: &[f64]) -> (f64, f64) {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|v| (v - mean) * (v - mean)).sum();
    (mean, (squares / (count - 1.0)).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_spread_is_that_of_a_sample() {
        assert_eq!(spread(&[2.0]), "2.00");
        assert_eq!(spread(&[1.0, 2.0, 3.0]), "2.00 ± 1.00");
        assert_eq!(percent(&[61.4]), "61 %");
        assert_eq!(percent(&[60.0, 70.0]), "65 ± 7 %");
    }
}
