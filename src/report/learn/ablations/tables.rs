//! The tables of an ablation.

use crate::{
    learn::{
        ablate::{AblationRow, CASE, ZERO},
        evaluate::ELASTIC,
        metrics::Metrics,
    },
    report::learn::{
        below::{below, moments},
        table::{TableBlock, digits, grouped, metric_header, values},
    },
};

/// Scores on the canonical bend and over all motions, what stays, and what the networks cost.
pub(super) fn blocks(rows: &[AblationRow]) -> [TableBlock; 4] {
    [
        scores(rows, "The unseen 90° bend", |r| (&r.bend, &r.bend_elastic)),
        scores(rows, "Mean of the unseen motions", |r| {
            (&r.mean, &r.mean_elastic)
        }),
        creases(rows),
        costs(rows),
    ]
}

/// Names of the variants in their order, each with its rows.
pub(super) fn by_variant(rows: &[AblationRow]) -> Vec<(&str, Vec<&AblationRow>)> {
    grouped(rows, |row| &row.name)
}

/// The rows of a variant; none where it was not chosen or failed.
fn named<'a, 'b>(groups: &'b [(&str, Vec<&'a AblationRow>)], name: &str) -> &'b [&'a AblationRow] {
    let found = groups.iter().find(|(n, _)| *n == name);
    match found {
        Some((_, group)) => group,
        None => &[],
    }
}

/// Rows of either with the same seed. Not by their place: of one of the two a seed may have failed.
fn same_seeds<'a>(
    own: &[&'a AblationRow],
    others: &[&'a AblationRow],
) -> Vec<(&'a AblationRow, &'a AblationRow)> {
    let mut pairs = Vec::new();
    for &row in own {
        let other = others.iter().find(|other| other.seed == row.seed);
        pairs.extend(other.map(|&other| (row, other)));
    }
    pairs
}

fn seeds_of(rows: &[AblationRow]) -> Vec<u64> {
    let mut seeds: Vec<u64> = rows.iter().map(|r| r.seed).collect();
    seeds.sort_unstable();
    seeds.dedup();
    seeds
}

fn listed(seeds: &[u64]) -> String {
    let named: Vec<String> = seeds.iter().map(u64::to_string).collect();
    match seeds.len() {
        1 => format!("seed {}", named[0]),
        _ => format!("seeds {}", named.join(", ")),
    }
}

/// How the title of a table ends.
fn over_seeds(rows: &[AblationRow]) -> String {
    let seeds = seeds_of(rows);
    match seeds.len() {
        1 => listed(&seeds),
        _ => format!("{}, mean ± standard deviation over them", listed(&seeds)),
    }
}

/// A name, with its seeds where others have more.
fn with_seeds(name: &str, seeds: &[u64], rows: &[AblationRow]) -> String {
    match seeds.len() < seeds_of(rows).len() {
        true => format!("{name} ({} only)", listed(seeds)),
        false => name.into(),
    }
}

/// Name of a variant, as [`with_seeds`] has it.
fn titled(name: &str, group: &[&AblationRow], rows: &[AblationRow]) -> String {
    let seeds: Vec<u64> = group.iter().map(|r| r.seed).collect();
    with_seeds(name, &seeds, rows)
}

/// All metrics of some motions, a row a variant: means over the seeds, and where there are several their standard
/// deviation. What the case saves against methods without rest bending is compared seed by seed.
fn scores(
    rows: &[AblationRow],
    what: &str,
    pick: fn(&AblationRow) -> (&Metrics, &Metrics),
) -> TableBlock {
    let line = |name: String, of: &[&Metrics]| {
        let of: Vec<Vec<f64>> = of.iter().map(|metrics| values(metrics)).collect();
        let column = |k: usize| spread(&of.iter().map(|m| m[k]).collect::<Vec<_>>());
        let cells = (0..of.first().map_or(0, Vec::len)).map(column);
        std::iter::once(name).chain(cells).collect()
    };
    let groups = by_variant(rows);
    let mut lines: Vec<Vec<String>> = Vec::new();
    if let Some((_, group)) = groups.first() {
        let elastic: Vec<&Metrics> = group.iter().map(|r| pick(r).1).collect();
        lines.push(line(titled(ELASTIC, group, rows), &elastic));
    }
    for (name, group) in &groups {
        let own: Vec<&Metrics> = group.iter().map(|r| pick(r).0).collect();
        lines.push(line(titled(name, group, rows), &own));
    }
    let (case, zero) = (named(&groups, CASE), named(&groups, ZERO));
    let beside_elastic: Vec<Pair> = case
        .iter()
        .map(|row| (row.seed, pick(row).0, pick(row).1))
        .collect();
    let beside_zero: Vec<Pair> = same_seeds(case, zero)
        .into_iter()
        .map(|(row, other)| (row.seed, pick(row).0, pick(other).0))
        .collect();
    lines.extend(saved(ELASTIC, &beside_elastic, rows));
    lines.extend(saved(ZERO, &beside_zero, rows));
    let title = format!(
        "{what}, against the reference simulation of the same yield strain; synthetic, lower is better; {}.",
        over_seeds(rows)
    );
    TableBlock::new(title, &metric_header("ablation"), lines)
}

/// A seed, metrics of the case and of what it is compared with.
type Pair<'a> = (u64, &'a Metrics, &'a Metrics);

/// How far the case is below another method, seed by seed; nothing where they share none.
fn saved(other: &str, pairs: &[Pair], rows: &[AblationRow]) -> Option<Vec<String>> {
    if pairs.is_empty() {
        return None;
    }
    let seeds: Vec<u64> = pairs.iter().map(|p| p.0).collect();
    let own: Vec<&Metrics> = pairs.iter().map(|p| p.1).collect();
    let others: Vec<&Metrics> = pairs.iter().map(|p| p.2).collect();
    let mut line = vec![with_seeds(&format!("{CASE} below {other}"), &seeds, rows)];
    line.extend(below(&own, &others));
    Some(line)
}

/// Mean and spread of a number over the rows of a variant.
fn over(of: &[&AblationRow], pick: fn(&AblationRow) -> f64) -> String {
    spread(&of.iter().map(|r| pick(r)).collect::<Vec<_>>())
}

/// What stays after the canonical bend.
fn creases(rows: &[AblationRow]) -> TableBlock {
    let line = |(name, of): (&str, Vec<&AblationRow>)| {
        let own: Vec<&Metrics> = of.iter().map(|r| &r.mean).collect();
        let elastic: Vec<&Metrics> = of.iter().map(|r| &r.mean_elastic).collect();
        vec![
            titled(name, &of, rows),
            over(&of, |r| r.after),
            over(&of, |r| r.after_reference),
            over(&of, |r| r.wrinkles_before),
            over(&of, |r| r.wrinkles_after),
            over(&of, |r| r.control),
            below(&own, &elastic)[PE].clone(),
        ]
    };
    let title = format!(
        "What stays after the unseen 90° bend, in rad, and how far the plastic error of all unseen motions is below that of \
         predicting none; synthetic; {}.",
        over_seeds(rows)
    );
    TableBlock::new(
        title,
        "ablation; mean |ε_p| after; of the reference; top tenth of |ε| before; after; largest |ε_p|, unloaded control; \
         PE below none",
        by_variant(rows).into_iter().map(line).collect(),
    )
}

/// Place of PE among the metrics.
const PE: usize = 1;

/// Mean and largest error of the rest bending, size and speed, as Tables 4 and 5 of paper 2's supplement have them.
fn costs(rows: &[AblationRow]) -> TableBlock {
    let line = |(name, of): (&str, Vec<&AblationRow>)| {
        // The same for all seeds.
        let size = |pick: fn(&AblationRow) -> usize| of.first().map_or(0, |r| pick(r)).to_string();
        vec![
            titled(name, &of, rows),
            over(&of, |r| r.bend.plastic_error),
            over(&of, |r| r.largest_plastic_error),
            size(|r| r.elastic_parameters),
            size(|r| r.plastic_parameters),
            over(&of, |r| 1e3 * r.seconds_a_frame),
        ]
    };
    let title = format!(
        "Error of the rest bending along the unseen 90° bend, numbers that the networks have learned (4 bytes each; what else \
         they need of the memory is not measured), and time of both networks, poses and skinning included; synthetic; {}.",
        over_seeds(rows)
    );
    TableBlock::new(
        title,
        "ablation; PE rad; largest error rad; E-Net parameters; P-Net parameters; ms a frame",
        by_variant(rows).into_iter().map(line).collect(),
    )
}

fn spread(values: &[f64]) -> String {
    let (mean, deviation) = moments(values);
    match values.len() {
        0 | 1 => digits(mean),
        _ => format!("{} ± {}", digits(mean), digits(deviation)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(name: &str, seed: u64, plastic_error: f64) -> AblationRow {
        let with = |plastic_error| Metrics {
            plastic_error,
            ..Metrics::default()
        };
        AblationRow {
            name: name.into(),
            seed,
            bend: with(plastic_error),
            bend_elastic: with(1.0),
            largest_plastic_error: 2.0 * plastic_error,
            elastic_parameters: 30,
            seconds_a_frame: 5e-3,
            ..AblationRow::default()
        }
    }

    /// Name and PE of all lines.
    fn lines(block: &TableBlock) -> Vec<[&str; 2]> {
        let rows = block.rows.iter();
        rows.map(|row| [row[0].as_str(), row[1 + PE].as_str()])
            .collect()
    }

    #[test]
    fn the_spread_is_that_of_a_sample() {
        assert_eq!(spread(&[2.0]), "2.00");
        assert_eq!(spread(&[1.0, 2.0, 3.0]), "2.00 ± 1.00");
    }

    /// The case failed with seed 1 and the baseline with seed 2: both have two rows, but seed 3 only in common.
    #[test]
    fn rows_of_the_same_seed_are_compared() {
        let rows = [
            row(ZERO, 1, 0.9),
            row(CASE, 2, 0.2),
            row(CASE, 3, 0.4),
            row(ZERO, 3, 0.8),
        ];
        let block = scores(&rows, "What", |r| (&r.bend, &r.bend_elastic));
        assert!(
            block.title.contains("seeds 1, 2, 3, mean"),
            "{}",
            block.title
        );
        assert_eq!(
            lines(&block),
            [
                ["elastic simulation (seeds 1, 3 only)", "1.00 ± 0"],
                ["zero (seeds 1, 3 only)", "0.850 ± 0.0707"],
                ["case (seeds 2, 3 only)", "0.300 ± 0.141"],
                [
                    "case below elastic simulation (seeds 2, 3 only)",
                    "70 ± 14 %"
                ],
                ["case below zero (seed 3 only)", "50 %"],
            ]
        );
        let apart = scores(&rows[..2], "What", |r| (&r.bend, &r.bend_elastic));
        let last = lines(&apart).pop().unwrap();
        assert_eq!(last[0], "case below elastic simulation (seed 2 only)");
    }

    #[test]
    fn errors_sizes_and_times_stand_side_by_side() {
        let block = costs(&[row(CASE, 1, 0.2), row(CASE, 2, 0.2)]);
        assert_eq!(
            block.rows,
            [["case", "0.200 ± 0", "0.400 ± 0", "30", "0", "5.00 ± 0"]]
        );
        assert_eq!(block.rows[0].len(), block.header.len());
    }
}
