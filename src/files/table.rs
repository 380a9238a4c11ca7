//! CSV tables that know the line of every row.

use std::path::Path;

use super::read_text;
use crate::error::{Error, Result, bad_input};

/// A CSV file: named columns, and for every row its line in the file. Lines that start with `#` are
/// comments.
#[derive(Debug, Clone)]
pub(crate) struct Table {
    place: String,
    header_line: usize,
    header: Vec<String>,
    rows: Vec<(usize, Vec<String>)>,
    comments: Vec<(usize, String)>,
}

impl Table {
    /// Reads and checks the shape; blank lines are skipped.
    pub(crate) fn read(path: &Path) -> Result<Table> {
        Table::parse(&read_text(path)?, &path.display().to_string())
    }

    /// As [`Table::read`], of text that is already here; `place` names it in messages.
    pub(crate) fn parse(text: &str, place: &str) -> Result<Table> {
        // The csv crate ends a comment at \n only; with one kind of line end nothing can differ.
        let text = text.replace("\r\n", "\n").replace('\r', "\n");
        let comments: Vec<(usize, String)> = text
            .lines()
            .enumerate()
            .filter_map(|(i, line)| Some((i + 1, comment_text(line)?)))
            .collect();
        if text
            .lines()
            .all(|l| l.trim().is_empty() || l.starts_with('#'))
        {
            return bad_input(format!(
                "{place}: the file is empty; its first line must name the columns"
            ));
        }
        let mut reader = csv::ReaderBuilder::new()
            .trim(csv::Trim::All)
            .flexible(true)
            .comment(Some(b'#'))
            .has_headers(false)
            .from_reader(text.as_bytes());
        let (mut line, mut counted) = (1, 0);
        let mut lines = reader.records().map(|record| {
            let record = record
                .map_err(|e| Error::BadInput(format!("{place}: not a CSV file: {e}")))?;
            let byte = record.position().map_or(0, |p| p.byte() as usize);
            line += text[counted..byte].matches('\n').count();
            counted = byte;
            let line = line + skipped_lines(&text[byte..]);
            let cells: Vec<String> = record.iter().map(String::from).collect();
            match cells.iter().find(|cell| cell.contains('\n')) {
                // An open quote would swallow the rows below it without a word.
                Some(cell) => bad_input(format!(
                    "{place} line {line}: the cell '{} …' runs over several lines; close its quote or write it on one line",
                    cell.lines().next().unwrap_or_default()
                )),
                None => Ok((line, cells)),
            }
        });
        let (header_line, header) = lines.next().unwrap_or(Ok((1, Vec::new())))?;
        check_header(&header, &format!("{place} line {header_line}"))?;
        let mut rows = Vec::new();
        for row in lines {
            let (line, cells) = row?;
            // Spreadsheets write rows of nothing below the data.
            if cells.iter().all(String::is_empty) && header.len() > 1 {
                continue;
            }
            check_row(&header, &cells, &format!("{place} line {line}"))?;
            rows.push((line, cells));
        }
        if rows.is_empty() {
            return bad_input(format!(
                "{place}: no rows below the header; give at least one"
            ));
        }
        Ok(Table {
            place: place.to_string(),
            header_line,
            header,
            rows,
            comments,
        })
    }

    /// A column of finite numbers with their lines.
    pub(crate) fn numbers(&self, name: &str) -> Result<Vec<(usize, f64)>> {
        let Some(column) = self.column(name) else {
            return bad_input(format!(
                "{}: no column '{name}' (found: {}); name it in the first line",
                self.at(self.header_line),
                self.header.join(", ")
            ));
        };
        (0..self.rows.len())
            .map(|row| match self.number(row, column)? {
                Some(value) => Ok((self.line(row), value)),
                None => bad_input(self.not_a_number(row, column)),
            })
            .collect()
    }

    /// The finite number in a cell; none where the cell is empty.
    pub(crate) fn number(&self, row: usize, column: usize) -> Result<Option<f64>> {
        let cell = self.text(row, column);
        if cell.is_empty() {
            return Ok(None);
        }
        match cell.parse::<f64>() {
            Ok(value) if value.is_finite() => Ok(Some(value)),
            _ => bad_input(self.not_a_number(row, column)),
        }
    }

    fn not_a_number(&self, row: usize, column: usize) -> String {
        format!(
            "{}: {} = '{}' is not a finite number; write one such as 12.5",
            self.at(self.line(row)),
            self.header[column],
            self.text(row, column)
        )
    }

    /// A cell, trimmed. Rows and columns count from 0; `column` is one of [`Table::columns`].
    pub(crate) fn text(&self, row: usize, column: usize) -> &str {
        &self.rows[row].1[column]
    }

    /// Names of the columns, from left to right.
    pub(crate) fn columns(&self) -> &[String] {
        &self.header
    }

    /// Where a column stands.
    pub(crate) fn column(&self, name: &str) -> Option<usize> {
        self.header.iter().position(|h| h == name)
    }

    /// Number of rows, without the header.
    pub(crate) fn row_count(&self) -> usize {
        self.rows.len()
    }

    /// The line of a row in the file, from 1.
    pub(crate) fn line(&self, row: usize) -> usize {
        self.rows[row].0
    }

    /// The line of the header in the file, from 1.
    pub(crate) fn header_line(&self) -> usize {
        self.header_line
    }

    /// The comments with their lines, without the mark.
    pub(crate) fn comments(&self) -> &[(usize, String)] {
        &self.comments
    }

    /// "FILE line N", for messages.
    pub(crate) fn at(&self, line: usize) -> String {
        format!("{} line {line}", self.place)
    }
}

/// What a comment line says; spreadsheets end it with a comma for every column.
fn comment_text(line: &str) -> Option<String> {
    let text = line.strip_prefix('#')?;
    Some(
        text.trim_start_matches('#')
            .trim()
            .trim_end_matches(',')
            .to_string(),
    )
}

fn check_header(header: &[String], at: &str) -> Result<()> {
    if let [only] = header
        && only.contains([';', '\t'])
    {
        return bad_input(format!(
            "{at}: '{only}' is one column; separate columns by commas"
        ));
    }
    let twice = header
        .iter()
        .enumerate()
        .find_map(|(i, name)| header[..i].contains(name).then_some(name));
    match twice {
        Some(name) if !name.is_empty() => bad_input(format!(
            "{at}: the column '{name}' stands twice; rename or remove one"
        )),
        _ => Ok(()),
    }
}

fn check_row(header: &[String], cells: &[String], at: &str) -> Result<()> {
    if cells.len() != header.len() {
        return bad_input(format!(
            "{at}: {} columns where the first line has {}; every row needs them all",
            cells.len(),
            header.len()
        ));
    }
    // Empty columns without a name are a spreadsheet's habit; full ones are a lost header.
    for (i, (name, cell)) in header.iter().zip(cells).enumerate() {
        if name.is_empty() && !cell.is_empty() {
            return bad_input(format!(
                "{at}: '{cell}' stands in column {}, which has no name; name it in the first line",
                i + 1
            ));
        }
    }
    Ok(())
}

/// Blank lines and comments at the start, which the csv crate passes over before it reads a record.
fn skipped_lines(text: &str) -> usize {
    text.split('\n')
        .take_while(|line| line.is_empty() || line.starts_with('#'))
        .count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_counted_over_blank_ones_comments_and_every_line_end() {
        for end in ["\n", "\r\n", "\r"] {
            let text = [
                "# about", "", "x,y", "1,2", "", "# a, b", "# c,,", "3,4", ",", "5,6",
            ]
            .join(end);
            let table = Table::parse(&text, "t").unwrap();
            assert_eq!(table.header_line(), 3);
            assert_eq!(table.numbers("y").unwrap(), [(4, 2.0), (8, 4.0), (10, 6.0)]);
            let comments = [(1, "about"), (6, "a, b"), (7, "c")].map(|(n, t)| (n, t.to_string()));
            assert_eq!(table.comments(), comments);
        }
    }

    #[test]
    fn bad_shapes_are_refused_where_they_stand() {
        for (text, message) in [
            ("", "t: the file is empty"),
            ("# only\n\n", "t: the file is empty"),
            ("# note\nx;y\n1;2", "t line 2: 'x;y' is one column"),
            ("x,x\n1,2", "t line 1: the column 'x' stands twice"),
            ("x,y\n", "t: no rows"),
            ("x,y\n1,2\n\n3", "t line 4: 1 columns where"),
            (
                "x,y\n1,\"2\n3,4\n",
                "t line 2: the cell '2 …' runs over several lines",
            ),
            ("x,y,,\n1,2,,\n3,4,,5", "t line 3: '5' stands in column 4"),
            (
                "x,y\n1,2\n3,inf",
                "t line 3: y = 'inf' is not a finite number",
            ),
            ("x,y\n1,2\n3,", "t line 3: y = '' is not a finite number"),
            ("x\n1", "t line 1: no column 'y' (found: x)"),
        ] {
            let outcome = Table::parse(text, "t").and_then(|t| t.numbers("y"));
            let error = outcome.unwrap_err().to_string();
            assert!(error.starts_with(message), "{text:?}: {error}");
        }
    }
}
