//! Lines for a terminal: columns, and sentences broken at its width.

/// Longest line of a report. Terminals are wider nowadays, but reports are pasted into mails.
pub(in crate::report) const WIDTH: usize = 110;

/// How many columns of the terminal a text takes; our texts have no wide or combining characters.
fn width(text: &str) -> usize {
    text.chars().count()
}

/// How a column is set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::report) enum Align {
    Left,
    Right,
}

/// Text broken at [`WIDTH`]: the first line begins with `first`, the others with as many spaces. A
/// word longer than a line, such as a path, is cut.
pub(in crate::report) fn wrapped(first: &str, text: &str) -> String {
    let indent = " ".repeat(width(first));
    let room = WIDTH.saturating_sub(width(first)).max(20);
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let letters: Vec<char> = word.chars().collect();
        for piece in letters.chunks(room) {
            let line = lines.last_mut().map_or(0, |line| width(line));
            if line > 0 && line + 1 + piece.len() > room {
                lines.push(String::new());
            }
            if let Some(line) = lines.last_mut() {
                if !line.is_empty() {
                    line.push(' ');
                }
                line.extend(piece);
            }
        }
    }
    let mut text = String::new();
    for (i, line) in lines.iter().enumerate() {
        let start = if i == 0 { first } else { &indent };
        text += format!("{start}{line}").trim_end();
        text.push('\n');
    }
    text
}

/// Rows in aligned columns after four spaces, two apart, each with its newline. Where that would be too
/// wide the columns are one apart, and where even that is, the first cell gets a line of its own.
pub(in crate::report) fn columns(rows: &[Vec<String>], align: &[Align]) -> Vec<String> {
    let widest = |c: usize| rows.iter().filter_map(|r| r.get(c)).map(|t| width(t)).max();
    let widths: Vec<usize> = (0..align.len()).map(|c| widest(c).unwrap_or(0)).collect();
    // An empty column takes no room.
    let shown: Vec<usize> = (0..align.len()).filter(|c| widths[*c] > 0).collect();
    let content = 4 + shown.iter().map(|c| widths[*c]).sum::<usize>();
    let fits = |gap: &usize| content + gap * shown.len().saturating_sub(1) <= WIDTH;
    let gap = [2, 1].into_iter().find(fits);
    let between = " ".repeat(gap.unwrap_or(2));
    let padded = |row: &[String], c: usize| {
        let text = row.get(c).map_or("", String::as_str);
        let space = " ".repeat(widths[c] - width(text));
        match align[c] {
            Align::Left => format!("{text}{space}"),
            Align::Right => format!("{space}{text}"),
        }
    };
    let line = |row: &[String], shown: &[usize], indent: usize| {
        let cells: Vec<String> = shown.iter().map(|c| padded(row, *c)).collect();
        format!("{:indent$}{}", "", cells.join(&between))
            .trim_end()
            .to_string()
            + "\n"
    };
    let one = |row: &Vec<String>| match gap {
        Some(_) => line(row, &shown, 4),
        None => line(row, &shown[..1], 4) + &line(row, &shown[1..], 8),
    };
    rows.iter().map(one).collect()
}

/// A table with a header and right-aligned columns.
pub(crate) fn table(header: &[&str], rows: &[Vec<String>]) -> String {
    let width = |c: usize| {
        let cells = rows.iter().map(|r| r[c].chars().count());
        cells.chain([header[c].chars().count()]).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..header.len()).map(width).collect();
    let line = |cells: Vec<&str>| {
        let padded = cells
            .iter()
            .zip(&widths)
            .map(|(cell, w)| format!("{cell:>w$}"));
        padded.collect::<Vec<_>>().join("  ") + "\n"
    };
    let mut text = line(header.to_vec());
    for row in rows {
        text += &line(row.iter().map(String::as_str).collect());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// No text, however long its words, makes a line wider than the terminal.
    #[test]
    fn long_words_are_cut_and_columns_stacked() {
        let text = wrapped("  note: ", &format!("a {} b", "x".repeat(300)));
        assert!(text.lines().all(|line| width(line) <= WIDTH), "{text}");
        assert_eq!(text.matches('x').count(), 300);
        let rows = vec![vec!["n".repeat(80), "1".into(), "2".repeat(40)]];
        let stacked = columns(&rows, &[Align::Left, Align::Right, Align::Right]);
        assert_eq!(stacked[0].lines().count(), 2);
        assert!(stacked[0].lines().all(|line| width(line) <= WIDTH));
    }
}
