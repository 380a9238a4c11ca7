//! The report on the terminal, in the blocks that users of lmfit know.

use crate::report::document::layout::{Align, WIDTH, columns, wrapped};
use crate::{
    fit::result::{DataResult, FitResult, ParameterResult},
    report::{
        document::number::{NONE, counted},
        fit::{
            rows::{self, ParameterRow, STRONG_CORRELATION, TableKind, parameter_row},
            sentence,
        },
    },
};

/// A compact report, no line wider than 110 columns.
pub(crate) fn terminal(result: &FitResult) -> String {
    [
        heading(result),
        statistics(result),
        spread(result),
        variables(result),
        correlations(result),
        checks(result),
        notes(result),
    ]
    .concat()
}

fn heading(result: &FitResult) -> String {
    let what = format!("{}: law {}", result.name, sentence::law(result));
    let file = |d: &DataResult| format!("{} ({})", d.file, counted(d.points, "point"));
    let files: Vec<String> = result.data.iter().map(file).collect();
    let mut text = wrapped("[[Fit]] ", &what);
    text += &wrapped("    ", sentence::origin(result));
    if !files.is_empty() {
        text += &wrapped("    data: ", &files.join(", "));
    }
    text
}

/// `name = value` lines under a common edge.
fn aligned(rows: &[(String, String)], between: &str) -> String {
    let edge = rows.iter().map(|r| r.0.chars().count()).max().unwrap_or(0);
    let line =
        |(name, value): &(String, String)| wrapped(&format!("    {name:edge$} {between} "), value);
    rows.iter().map(line).collect()
}

fn statistics(result: &FitResult) -> String {
    let table = rows::statistics(&result.statistics);
    let rows = table.rows.into_iter().map(|row| {
        let mut cells = row.into_iter();
        let mut next = || cells.next().unwrap_or_default();
        (next(), next())
    });
    "[[Fit Statistics]]\n".to_string() + &aligned(&rows.collect::<Vec<_>>(), "=")
}

/// Fits with and without a population of yarns, where both were asked for.
fn spread(result: &FitResult) -> String {
    let Some(found) = &result.spread else {
        return String::new();
    };
    let table = rows::spread(found);
    let head = table.columns.iter().map(|(name, _)| name.to_string());
    let rows: Vec<Vec<String>> = [head.collect()].into_iter().chain(table.rows).collect();
    let align = [Align::Left, Align::Right, Align::Right, Align::Right];
    let text = "[[Yarns]]\n".to_string() + &columns(&rows, &align).concat();
    text + &wrapped("    ", &sentence::spread(found))
}

fn variables(result: &FitResult) -> String {
    let mut text =
        "[[Variables]] value +/- standard error, 95 % interval by profile likelihood, first guess\n"
            .to_string();
    let rows: Vec<ParameterRow> = result.parameters.iter().map(parameter_row).collect();
    let cells: Vec<Vec<String>> = rows.iter().map(cells).collect();
    let align = [
        Align::Left,
        Align::Right,
        Align::Left,
        Align::Left,
        Align::Left,
        Align::Left,
        Align::Left,
    ];
    for (line, parameter) in columns(&cells, &align).iter().zip(&result.parameters) {
        text += &with_verdict(line, parameter);
    }
    if let Some(sentence) = sentence::undetermined(result) {
        text += &wrapped("    ", &sentence);
    }
    text
}

fn cells(row: &ParameterRow) -> Vec<String> {
    let around = |before: &str, text: &str, after: &str| match text {
        "" | NONE => String::new(),
        text => format!("{before}{text}{after}"),
    };
    vec![
        row.name.clone(),
        row.value.clone(),
        around("+/- ", &row.std_error, &around(" (", &row.percent, ")")),
        around("", &row.unit, ""),
        around("", &row.interval, ""),
        around("(init = ", &row.start, ")"),
        match TableKind::of(&row.verdict) {
            TableKind::Identified if row.verdict == "identified" => row.verdict.clone(),
            _ => String::new(),
        },
    ]
}

/// The line of a parameter with what else its verdict says: why it is fixed beside it, why the data
/// do not determine it below.
fn with_verdict(line: &str, parameter: &ParameterResult) -> String {
    let verdict = parameter.verdict.as_str();
    let beside = format!("{}  ({verdict})\n", line.trim_end());
    let last_line = beside.lines().last().unwrap_or_default();
    match TableKind::of(verdict) {
        TableKind::Identified if verdict == "identified" => line.into(),
        TableKind::Given if last_line.chars().count() <= WIDTH => beside,
        TableKind::Given => line.to_string() + &wrapped("        ", &format!("({verdict})")),
        _ => line.to_string() + &wrapped("        ", verdict),
    }
}

fn correlations(result: &FitResult) -> String {
    let table = rows::correlations(result);
    let mut text =
        format!("[[Correlations]] (unreported correlations are < {STRONG_CORRELATION:.3})\n");
    let cells = |row: &Vec<String>| match row.as_slice() {
        [a, b, r] => vec![format!("C({a}, {b})"), format!("= {r}")],
        other => other.to_vec(),
    };
    let rows: Vec<Vec<String>> = table.rows.iter().map(cells).collect();
    text += &columns(&rows, &[Align::Left, Align::Left]).concat();
    if let Some(sentence) = sentence::without_correlation(result) {
        text += &wrapped("    ", &sentence);
    }
    text
}

fn checks(result: &FitResult) -> String {
    let mut rows = vec![
        ("misfit", result.misfit.verdict.clone()),
        ("", sentence::misfit_tests(result)),
        (
            "hold-out",
            sentence::hold_out(result).unwrap_or("no point was held out".into()),
        ),
        ("hard law", result.hard_law.verdict.clone()),
        ("gradient", sentence::gradient(result)),
        ("search", sentence::convergence(result)),
        ("starts", sentence::starts(result)),
    ];
    if let Some(bootstrap) = &result.bootstrap {
        let samples = counted(bootstrap.samples, "data set");
        rows.push((
            "bootstrap",
            format!("{samples}; intervals are in the report"),
        ));
    }
    let rows: Vec<(String, String)> = rows.into_iter().map(|(n, v)| (n.into(), v)).collect();
    "[[Checks]]\n".to_string() + &aligned(&rows, " ")
}

fn notes(result: &FitResult) -> String {
    let lines: String = result.notes.iter().map(|n| wrapped("    - ", n)).collect();
    match lines.as_str() {
        "" => lines,
        _ => format!("[[Notes]]\n{lines}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::fit::sample::{sample, written};

    /// The reader finds estimates with errors, verdicts, strong correlations and every check.
    #[test]
    fn says_what_matters() {
        let text = terminal(&sample());
        written("terminal.txt", &text);
        for part in [
            "SYNTHETIC DATA",
            "[[Fit Statistics]]",
            "chi-square          = 7.63",
            "[[Yarns]]",
            "a spread of the friction thresholds",
            "a population is preferred",
            "[[Variables]]",
            "+/- 4.1",
            "(init = 60)",
            "[310, …]",
            "identified only as hardening_stiffness/bending_stiffness",
            "not identified: no fold yields",
            "(fixed: KES B of the same cloth",
            "flow_time = 12.35 s",
            "C(friction_stiffness, friction_threshold_initial)",
            "= -0.973",
            "the law follows the data",
            "predicted within",
            "0.1° from the hard law",
            "passed: reverse pass",
            "8 of 12 starts reached the best minimum",
            "[[Notes]]",
        ] {
            assert!(text.contains(part), "{part} is missing:\n{text}");
        }
        let unidentified = text.lines().find(|l| l.contains("flow_time "));
        let value = unidentified.and_then(|l| l.split_whitespace().nth(1));
        assert_eq!(value, Some("-"), "no number where there is no estimate");
    }

    /// 110 columns hold, with names and sentences however long.
    #[test]
    fn no_line_is_too_wide() {
        let mut long = sample();
        long.name = "a very long name ".repeat(20);
        long.notes.push("/a/path/".repeat(40));
        for p in &mut long.parameters {
            p.name += "[rayon challis, weft, washed]";
        }
        for result in [sample(), long] {
            for line in terminal(&result).lines() {
                assert!(line.chars().count() <= WIDTH, "{line}");
            }
        }
    }

    /// An interrupted fit and a failed certificate must not look like success.
    #[test]
    fn failures_are_loud() {
        let mut result = sample();
        result.interrupted = true;
        result.gradient_check.passed = false;
        let text = terminal(&result);
        assert!(text.contains("INTERRUPTED") && text.contains("FAILED"));
    }
}
