//! A table with a sentence above it, and how metrics are set in it.

use crate::{learn::metrics::Metrics, report::document::layout};

/// One table with a sentence above it.
pub(super) struct TableBlock {
    pub title: String,
    pub header: Vec<String>,
    pub rows: Vec<Vec<String>>,
}

impl TableBlock {
    /// `header` has the names of the columns, with `; ` between them.
    pub(super) fn new(title: String, header: &str, rows: Vec<Vec<String>>) -> TableBlock {
        TableBlock {
            title,
            header: header.split("; ").map(String::from).collect(),
            rows,
        }
    }

    pub(crate) fn text(&self) -> String {
        let header: Vec<&str> = self.header.iter().map(String::as_str).collect();
        format!("{}\n{}\n", self.title, layout::table(&header, &self.rows))
    }

    pub(crate) fn markdown(&self) -> String {
        // |ε_p| would end a cell.
        let cell = |cell: &String| cell.replace('|', "\\|");
        let line = |cells: &[String]| {
            let cells: Vec<String> = cells.iter().map(cell).collect();
            format!("| {} |\n", cells.join(" | "))
        };
        let rule = vec!["---".to_string(); self.header.len()];
        let rows: String = self.rows.iter().map(|row| line(row)).collect();
        format!(
            "{}\n\n{}{}{rows}\n",
            self.title,
            line(&self.header),
            line(&rule)
        )
    }
}

/// Units in which metrics are easy to read: name, factor.
pub(super) fn shown(name: &str, unit: &str) -> (&'static str, f64) {
    match (name, unit) {
        (_, "rad") => ("rad", 1.0),
        (_, "m") => ("mm", 1e3),
        (_, "m²") => ("mm²", 1e6),
        ("BEN" | "IE", _) => ("µJ", 1e6),
        _ => ("mJ", 1e3),
    }
}

/// Items by a name that they have, in the order in which the names first come.
pub(super) fn grouped<T>(items: &[T], name: fn(&T) -> &str) -> Vec<(&str, Vec<&T>)> {
    let mut groups: Vec<(&str, Vec<&T>)> = Vec::new();
    for item in items {
        match groups.iter_mut().find(|(known, _)| *known == name(item)) {
            Some((_, group)) => group.push(item),
            None => groups.push((name(item), vec![item])),
        }
    }
    groups
}

/// Three digits.
pub(super) fn digits(value: f64) -> String {
    if value == 0.0 {
        return "0".into();
    }
    let decimals = (2 - value.abs().log10().floor() as i32).clamp(0, 9);
    format!("{value:.*}", decimals as usize)
}

/// The header of a table of metrics: `first`, and names and units of all metrics.
pub(super) fn metric_header(first: &str) -> String {
    let named = Metrics::default().named();
    let name = |(name, unit, _): (&str, &str, f64)| format!("{name} {}", shown(name, unit).0);
    format!("{first}; {}", named.map(name).join("; "))
}

/// Values of all metrics, in the units of the header.
pub(super) fn values(metrics: &Metrics) -> Vec<f64> {
    let value = |(name, unit, value): (&str, &str, f64)| value * shown(name, unit).1;
    metrics.named().map(value).to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_three_digits() {
        let cases = [
            (0.0107, "0.0107"),
            (12.345, "12.3"),
            (1234.5, "1234"),
            (-0.5, "-0.500"),
        ];
        for (value, text) in cases {
            assert_eq!(digits(value), text);
        }
    }

    #[test]
    fn a_bar_in_a_cell_does_not_end_it() {
        let block = TableBlock {
            title: "t".into(),
            header: vec!["a".into(), "|ε_p|".into()],
            rows: vec![vec!["b".into(), "1".into()]],
        };
        assert_eq!(
            block.markdown(),
            "t\n\n| a | \\|ε_p\\| |\n| --- | --- |\n| b | 1 |\n\n"
        );
    }
}
