//! How far metrics are below those of another method, as cells of a table.

use super::table::shown;
use crate::learn::metrics::Metrics;

/// Times the others that the first may have for percents to tell anything.
const MOST_TIMES: f64 = 100.0;

/// One cell for each metric: by how much the first are below the others, pair by pair (seeds or motions), in percent.
/// If the others are 0 (or nearly) and the first are not, the difference with its unit. "–" if both are 0, or for a
/// negative energy.
pub(super) fn below(own: &[&Metrics], others: &[&Metrics]) -> Vec<String> {
    let metrics = Metrics::default().named();
    let cell_of = |k: usize| {
        let pair = |(own, other): (&&Metrics, &&Metrics)| (own.named()[k].2, other.named()[k].2);
        let pairs: Vec<(f64, f64)> = own.iter().zip(others).map(pair).collect();
        let (name, unit, _) = metrics[k];
        cell(&pairs, shown(name, unit))
    };
    (0..metrics.len()).map(cell_of).collect()
}

fn cell(pairs: &[(f64, f64)], (unit, factor): (&str, f64)) -> String {
    let is_nothing = pairs.iter().all(|pair| *pair == (0.0, 0.0));
    let is_negative = pairs.iter().any(|(own, other)| *own < 0.0 || *other < 0.0);
    if is_nothing || is_negative {
        return "–".into();
    }
    let comparable = |(own, other): &(f64, f64)| *other > 0.0 && *own <= MOST_TIMES * other;
    if pairs.iter().all(comparable) {
        let share = |(own, other): &(f64, f64)| 100.0 * (1.0 - own / other);
        return percent(&pairs.iter().map(share).collect::<Vec<_>>());
    }
    let difference = |(own, other): &(f64, f64)| factor * (own - other);
    let differences: Vec<f64> = pairs.iter().map(difference).collect();
    let (mean, deviation) = moments(&differences);
    let side = if mean < 0.0 { "below" } else { "above" };
    match differences.len() {
        1 => format!("{:.1e} {unit} {side}", mean.abs()),
        _ => format!("{:.1e} ± {deviation:.1e} {unit} {side}", mean.abs()),
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

/// Mean and standard deviation of a sample.
pub(super) fn moments(values: &[f64]) -> (f64, f64) {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|v| (v - mean) * (v - mean)).sum();
    (mean, (squares / (count - 1.0)).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn metrics(plastic_error: f64, collision: f64, gravity_energy: f64) -> Metrics {
        Metrics {
            plastic_error,
            collision,
            gravity_energy,
            ..Metrics::default()
        }
    }

    /// Cells of PE, COL and GE.
    fn cells(own: &[Metrics], others: &[Metrics]) -> [String; 3] {
        let [own, others] = [own, others].map(|all| all.iter().collect::<Vec<_>>());
        let cells = below(&own, &others);
        [1, 6, 9].map(|k| cells[k].clone())
    }

    #[test]
    fn shares_have_a_meaning_and_what_comes_out_of_nothing_is_said() {
        let [pe, col, ge] = cells(&[metrics(0.004, 0.0, -2.0)], &[metrics(0.01, 0.0, -1.0)]);
        assert_eq!([&pe, &col, &ge], ["60 %", "–", "–"]);
        // Worse than nothing, in mm and rad.
        let [pe, col, _] = cells(&[metrics(1e-4, 4.92e-8, 0.0)], &[metrics(0.0, 0.0, 0.0)]);
        assert_eq!([&pe, &col], ["1.0e-4 rad above", "4.9e-5 mm above"]);
        // Worse than next to nothing.
        let [pe, _, _] = cells(&[metrics(1e-4, 0.0, 0.0)], &[metrics(1e-25, 0.0, 0.0)]);
        assert_eq!(pe, "1.0e-4 rad above");
        // From something to nothing is all of it.
        let [_, col, _] = cells(&[metrics(0.0, 0.0, 0.0)], &[metrics(0.0, 1e-6, 0.0)]);
        assert_eq!(col, "100 %");
    }

    #[test]
    fn several_seeds_have_a_spread() {
        let own = [metrics(0.4, 3e-6, -1.0), metrics(0.3, 1e-6, -1.0)];
        let others = [metrics(1.0, 0.0, -1.0), metrics(1.0, 0.0, -2.0)];
        let [pe, col, ge] = cells(&own, &others);
        assert_eq!(
            [&pe, &col, &ge],
            ["65 ± 7 %", "2.0e-3 ± 1.4e-3 mm above", "–"]
        );
        // One seed of two has nothing: a share of that has no meaning, the difference has.
        let mixed = [metrics(1.0, 0.0, -1.0), metrics(1.0, 2e-6, -1.0)];
        let [_, col, _] = cells(&own, &mixed);
        assert_eq!(col, "1.0e-3 ± 2.8e-3 mm above");
    }
}
