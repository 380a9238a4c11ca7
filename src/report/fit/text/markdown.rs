//! `report.md`.

use crate::report::fit::{
    document::{Piece, Report, Topic},
    rows::{ColumnKind, ReportTable},
};

/// File name and caption.
pub(crate) type Link = (String, String);

/// The report as Markdown. `pictures` are the file names in the folder `plots` beside it, each with its topic, which
/// decides its section, and its caption.
pub(crate) fn markdown(report: &Report, pictures: &[(Topic, Link)]) -> String {
    let mut text = format!("# {}\n\n**{}**\n", escaped(&report.title), report.origin);
    for section in &report.sections {
        let shown = section.figures(pictures);
        if section.blocks.is_empty() && shown.is_empty() {
            continue;
        }
        text += &format!("\n## {}\n", section.title);
        for block in &section.blocks {
            text += &format!("\n{}", set(block));
        }
        for (file, caption) in shown {
            text += &format!("\n![{}](plots/{})\n", escaped(caption), address(file));
        }
    }
    text
}

fn set(block: &Piece) -> String {
    match block {
        Piece::Text(text) => format!("{}\n", escaped(text)),
        Piece::Facts(facts) => facts
            .iter()
            .map(|(term, text)| format!("- **{term}**: {}\n", escaped(text)))
            .collect(),
        Piece::List(items) => items
            .iter()
            .map(|i| format!("- {}\n", escaped(i)))
            .collect(),
        Piece::Table(table) => set_table(table),
        Piece::Command(command) => format!("    {}\n", one_line(command)),
    }
}

fn set_table(table: &ReportTable) -> String {
    let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    let rule = |column: ColumnKind| match column {
        ColumnKind::Number => "---:".to_string(),
        _ => "---".into(),
    };
    let cell = |text: &String, column: ColumnKind| match column {
        // A code span shows everything as it is, except that it ends at a backtick and that a bar
        // ends the cell even there.
        ColumnKind::Name if !text.is_empty() => {
            format!("`{}`", one_line(text).replace('`', "'").replace('|', "\\|"))
        }
        _ => escaped(text),
    };
    let mut text = line(table.columns.iter().map(|c| c.0.to_string()).collect());
    text += &line(table.columns.iter().map(|c| rule(c.1)).collect());
    for row in &table.rows {
        let cells = row.iter().zip(&table.columns);
        text += &line(cells.map(|(text, column)| cell(text, column.1)).collect());
    }
    text
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Text that Markdown shows as it is. Underscores inside words and lone brackets need no care.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in one_line(text).chars() {
        match c {
            '<' => out += "&lt;",
            '&' => out += "&amp;",
            '|' | '*' | '`' | '\\' => out.extend(['\\', c]),
            _ => out.push(c),
        }
    }
    out
}

/// A file name as the target of a link, where a space or a bracket would end it.
fn address(file: &str) -> String {
    let mut out = String::with_capacity(file.len());
    for c in file.chars() {
        match c {
            ' ' | '(' | ')' | '<' | '>' | '%' | '"' => out += &format!("%{:02X}", u32::from(c)),
            _ => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::fit::{
        document::report,
        sample::{sample, written},
    };

    fn pictures() -> Vec<(Topic, Link)> {
        let picture =
            |topic, file: &str, caption: &str| (topic, (file.to_string(), caption.to_string()));
        vec![
            picture(Topic::Residuals, "residuals.svg", "Residuals"),
            picture(
                Topic::Curves,
                "recovery warp.svg",
                "Recovery against pressing time",
            ),
            picture(Topic::Search, "extra.svg", "Fabric <photo>"),
        ]
    }

    /// The reader finds origin, statistics, verdicts, points, certificate, run and pictures.
    #[test]
    fn says_what_matters() {
        let text = markdown(&report(&sample()), &pictures());
        written("report.md", &text);
        let mut lines = text.lines().filter(|line| !line.is_empty());
        assert_eq!(lines.next(), Some("# Fit of cotton poplin, three gaps"));
        assert!(lines.next().is_some_and(|l| l.starts_with("**SYNTHETIC")));
        for part in [
            "| reduced chi-square | 0.7630 |",
            "| a spread of the friction thresholds | 8 | 141 | 157 |",
            "| `friction_threshold_initial` | ε_0 | 96.4 | 1/m | 4.1 | [88.6, 104.9] |",
            "identified only as hardening_stiffness/bending_stiffness",
            "not identified: no fold yields",
            "fixed: KES B of the same cloth",
            "[310, …]",
            "12.5 ± 5",
            "| -0.973 |",
            "8 of 12 starts reached the best minimum",
            "held out",
            "| 31.70000 | 31.70001 | 2.0e-7 |",
            "200 data sets",
            "\n    rumple fit cases/poplin.json --out fits/poplin\n",
            "![Recovery against pressing time](plots/recovery%20warp.svg)",
            "![Fabric &lt;photo>](plots/extra.svg)",
        ] {
            assert!(text.contains(part), "{part} is missing");
        }
        let place = |part: &str| text.find(part).unwrap_or(usize::MAX);
        assert!(place("![Recovery") < place("## Parameters"));
        assert!(place("## Points") < place("![Residuals"));
    }

    /// A bar or a line break in a name must not add cells or end a table.
    #[test]
    fn rows_keep_their_cells_whatever_the_names() {
        let mut result = sample();
        result.parameters[0].name = "a|b\n`c`".into();
        result.parameters[1].verdict = "x | y".into();
        let text = markdown(&report(&result), &[]);
        let bars = |line: &str| line.replace("\\|", "").matches('|').count();
        let mut previous: Option<&str> = None;
        let mut compared = 0;
        for line in text.lines() {
            if let (true, Some(before)) = (line.starts_with('|'), previous) {
                assert_eq!(bars(line), bars(before), "{before}\n{line}");
                compared += 1;
            }
            previous = line.starts_with('|').then_some(line);
        }
        assert!(compared > 50, "{compared} lines of tables");
    }
}
