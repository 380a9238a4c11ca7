//! The report of a fit as one HTML page that needs nothing else: no script, no font, no other file.

use crate::report::fit::{
    document::{Piece, Report, Section, Topic},
    rows::{ColumnKind, ReportTable, TableKind},
};

/// Inline, so that the page can be mailed.
const STYLE: &str = include_str!("html.css");

/// Longest text of a cell that is kept on one line.
const UNBROKEN: usize = 24;

/// Caption and SVG text.
pub(crate) type CaptionedSvg = (String, String);

/// The report as a page of its own. `pictures` are captions and SVG texts, each with its topic, which decides its
/// section.
pub(crate) fn html(report: &Report, pictures: &[(Topic, CaptionedSvg)]) -> String {
    let title = escaped(&report.title);
    let class = match report.synthetic {
        true => "origin synthetic",
        false => "origin",
    };
    let set = |section: &Section| set_section(section, &section.figures(pictures));
    let sections: String = report.sections.iter().map(set).collect();
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n\
         <h1>{title}</h1>\n<p class=\"{class}\">{}</p>\n{sections}</main>\n</body>\n</html>\n",
        escaped(report.origin)
    )
}

fn set_section(section: &Section, figures: &[&CaptionedSvg]) -> String {
    let figures: String = figures.iter().map(|f| figure(f)).collect();
    let blocks: String = section.blocks.iter().map(set).collect();
    match blocks.is_empty() && figures.is_empty() {
        true => String::new(),
        false => format!(
            "<section>\n<h2>{}</h2>\n{blocks}{figures}</section>\n",
            escaped(section.title)
        ),
    }
}

fn figure((caption, svg): &CaptionedSvg) -> String {
    // An XML declaration is allowed in a file but not inside a page.
    let svg = svg.find("<svg").map_or("", |start| &svg[start..]);
    format!(
        "<figure>\n{}\n<figcaption>{}</figcaption>\n</figure>\n",
        svg.trim_end(),
        escaped(caption)
    )
}

fn set(block: &Piece) -> String {
    match block {
        Piece::Text(text) => format!("<p>{}</p>\n", escaped(text)),
        Piece::Facts(facts) => {
            let fact = |(term, text): &(&str, String)| {
                format!("<dt>{}</dt><dd>{}</dd>\n", escaped(term), escaped(text))
            };
            format!(
                "<dl>\n{}</dl>\n",
                facts.iter().map(fact).collect::<String>()
            )
        }
        Piece::List(items) => {
            let item = |text: &String| format!("<li>{}</li>\n", escaped(text));
            format!(
                "<ul>\n{}</ul>\n",
                items.iter().map(item).collect::<String>()
            )
        }
        Piece::Table(table) => set_table(table),
        Piece::Command(command) => format!("<pre><code>{}</code></pre>\n", escaped(command)),
    }
}

fn set_table(table: &ReportTable) -> String {
    let class = |column: ColumnKind, text: &str| match column {
        ColumnKind::Number => " class=\"number\"",
        ColumnKind::Verdict => " class=\"verdict\"",
        ColumnKind::Name => " class=\"name\"",
        // Two words on two lines make a table twice as long for nothing.
        ColumnKind::Text if text.chars().count() <= UNBROKEN => " class=\"short\"",
        ColumnKind::Text => "",
    };
    let head: String = table
        .columns
        .iter()
        .map(|(text, column)| format!("<th{}>{}</th>", class(*column, text), escaped(text)))
        .collect();
    let row = |row: &Vec<String>| {
        let cells = row.iter().zip(&table.columns);
        let cells: String = cells
            .map(|(text, (_, column))| {
                format!(
                    "<td{}>{}</td>",
                    class(*column, text),
                    set_cell(text, *column)
                )
            })
            .collect();
        format!("<tr>{cells}</tr>\n")
    };
    let rows: String = table.rows.iter().map(row).collect();
    // A table that is too wide for the screen scrolls by itself, not the page.
    format!(
        "<div class=\"table\"><table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{rows}</tbody>\n\
         </table></div>\n"
    )
}

fn set_cell(text: &str, column: ColumnKind) -> String {
    match column {
        ColumnKind::Name => format!("<code>{}</code>", breakable(&escaped(text))),
        ColumnKind::Verdict => {
            // The colour repeats what the mark and the words say.
            let (class, mark) = match TableKind::of(text) {
                TableKind::Identified => ("identified", "✓"),
                TableKind::OnlyAs | TableKind::Doubtful => ("only-as", "≈"),
                TableKind::NotIdentified => ("not-identified", "✗"),
                TableKind::Given => ("given", "·"),
            };
            format!(
                "<span class=\"{class}\">{mark} {}</span>",
                breakable(&escaped(text))
            )
        }
        ColumnKind::Text | ColumnKind::Number => escaped(text),
    }
}

/// Lets long names break after an underscore. Entities hold none.
fn breakable(escaped: &str) -> String {
    escaped.replace('_', "_<wbr>")
}

/// Text that HTML shows as it is, in elements and in attributes.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '"' => out += "&quot;",
            '\'' => out += "&#39;",
            _ => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{
        fit::document::report,
        fit::sample::{sample, written},
        plot::{Chart, Mark, Picture, Scale, Series},
    };

    /// A real picture of the sample.
    fn recovery_svg() -> String {
        let mut series = Vec::new();
        for (i, curve) in sample().curves.of("crease").enumerate() {
            let points = curve.x.iter().copied().zip(curve.fitted.clone());
            let label = format!("gap {} mm", curve.setting("gap_mm"));
            series.push(Series::new(label, Mark::LinePoints, points).color(i));
        }
        let chart = Chart {
            title: "Recovery".into(),
            note: Some("synthetic data".into()),
            x_label: "pressing time [s]".into(),
            y_label: "recovery angle [°]".into(),
            x_scale: Scale::Log,
            y_scale: Scale::Degrees,
            y_range: None,
            series,
        };
        Picture::from(chart).svg().expect("chart")
    }

    /// The page holds the same as the Markdown, with pictures beside their sections.
    #[test]
    fn says_what_matters() {
        let svg = recovery_svg();
        let pictures = [
            (Topic::Residuals, "Residuals"),
            (Topic::Curves, "Recovery against pressing time"),
            (Topic::Profiles, "Profiles"),
        ]
        .map(|(topic, caption)| {
            let svg = format!("<?xml version=\"1.0\"?>\n{svg}");
            (topic, (caption.to_string(), svg))
        });
        let page = html(&report(&sample()), &pictures);
        written("report.html", &page);
        for part in [
            "<title>Fit of cotton poplin, three gaps</title>",
            "<p class=\"origin synthetic\">SYNTHETIC DATA",
            "<td class=\"short\">reduced chi-square</td><td class=\"number\">0.7630</td>",
            "<td class=\"number\">[310, …]</td>",
            "<span class=\"only-as\">≈ identified only as hardening_<wbr>stiffness/",
            "<span class=\"not-identified\">✗ not identified: no fold yields",
            "<span class=\"given\">· fixed: KES B",
            "8 of 12 starts reached the best minimum",
            "rumple fit cases/poplin.json",
            "held out",
        ] {
            assert!(page.contains(part), "{part} is missing");
        }
        assert!(!page.contains("<?xml"), "a declaration inside the page");
        for outside in ["<script", "<link", "src=", "@import", "url("] {
            assert!(!page.contains(outside), "{outside} needs something else");
        }
        let place = |part: &str| page.find(part).unwrap_or(usize::MAX);
        assert!(place("<figcaption>Recovery") < place("<h2>Parameters"));
        assert!(place("<figcaption>Profiles") < place("<h2>Correlations"));
        assert!(place("<h2>Points") < place("<figcaption>Residuals"));
    }

    /// Names come from files of others: none of them may become markup.
    #[test]
    fn names_do_not_become_markup() {
        let evil = "<script>alert('x')</script>\"&";
        let mut result = sample();
        result.name = evil.into();
        result.notes.push(evil.into());
        result.parameters[0].name = evil.into();
        result.parameters[0].verdict = evil.into();
        result.parameters[0].unit = evil.into();
        result.points[0].place = evil.into();
        result.data[0].remarks.push(evil.into());
        result.starts[0].outcome = evil.into();
        result.run.command = evil.into();
        let page = html(
            &report(&result),
            &[(Topic::Search, (evil.into(), "<svg></svg>".into()))],
        );
        assert!(!page.contains("<script"));
        assert!(page.matches("&lt;script&gt;alert(&#39;x&#39;)").count() >= 9);
    }

    /// Opened elements are closed, and every row has the cells of its table's head.
    #[test]
    fn the_page_is_well_formed() {
        let page = html(&report(&sample()), &[]);
        for tag in [
            "table", "tr", "td", "th", "section", "div", "dl", "ul", "span", "code",
        ] {
            let opened = page.matches(&format!("<{tag}>")).count()
                + page.matches(&format!("<{tag} ")).count();
            assert_eq!(opened, page.matches(&format!("</{tag}>")).count(), "{tag}");
            assert!(opened > 0, "{tag}");
        }
        for table in page.split("<table>").skip(1) {
            let columns = table.matches("<th").count() - table.matches("<thead").count();
            let body = table.split("</table>").next().unwrap_or_default();
            for row in body.split("<tr>").skip(2) {
                assert_eq!(row.matches("<td").count(), columns, "{row}");
            }
        }
    }
}
