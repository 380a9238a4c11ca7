//! The written report of a fit as sections of blocks, which Markdown and HTML set each in its way.

use crate::fit::result::FitResult;
use crate::report::{
    document::number::{counted, duration},
    fit::{
        rows::{self, ReportTable, STRONG_CORRELATION},
        sentence, tables,
    },
};

/// A piece of a section.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Piece {
    /// A paragraph.
    Text(String),
    /// Terms and what is to be said of each.
    Facts(Vec<(&'static str, String)>),
    List(Vec<String>),
    Table(ReportTable),
    /// What somebody types.
    Command(String),
}

/// What a picture shows, which decides its section.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Topic {
    /// Measured and fitted curves, or indices along curves.
    Curves,
    Profiles,
    Correlations,
    Residuals,
    /// The search and its starts.
    Search,
    /// Shares of the variance.
    Sobol,
    /// Elementary effects.
    Morris,
    /// Active subspace and regimes.
    Derivative,
    /// Derivatives at the nominal parameters.
    Local,
    Failures,
}

/// A heading, what stands under it, and the pictures that follow.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Section {
    pub title: &'static str,
    pub blocks: Vec<Piece>,
    pub pictures: Option<Topic>,
}

impl Section {
    /// Those of the pictures that belong here.
    pub(crate) fn figures<'a, T>(&self, pictures: &'a [(Topic, T)]) -> Vec<&'a T> {
        let here = pictures
            .iter()
            .filter(|(topic, _)| Some(*topic) == self.pictures);
        here.map(|(_, picture)| picture).collect()
    }
}

/// A report without its pictures.
pub(crate) struct Report {
    pub title: String,
    /// Where the data come from.
    pub origin: &'static str,
    /// Whether they are synthetic.
    pub synthetic: bool,
    /// All sections. One without blocks and pictures is to be left out.
    pub sections: Vec<Section>,
}

pub(crate) fn report(result: &FitResult) -> Report {
    Report {
        title: format!("Fit of {}", result.name),
        origin: sentence::origin(result),
        synthetic: result.synthetic,
        sections: sections(result),
    }
}

fn sections(result: &FitResult) -> Vec<Section> {
    let section = |title, pictures, blocks| Section {
        title,
        blocks,
        pictures,
    };
    vec![
        section("At a glance", None, glance(result)),
        section("Do the yarns differ?", None, spread(result)),
        section("Recovery and bending", Some(Topic::Curves), vec![]),
        section("Parameters", Some(Topic::Profiles), parameters(result)),
        section("Fit statistics", None, statistics(result)),
        section(
            "Correlations",
            Some(Topic::Correlations),
            correlations(result),
        ),
        section("Does the law follow the data?", None, misfit(result)),
        section("Data", None, data(result)),
        section("Points", Some(Topic::Residuals), points(result)),
        section("Hard law and gradient", None, certificate(result)),
        section("Search", Some(Topic::Search), search(result)),
        section("Bootstrap", None, bootstrap(result)),
        section("Run", None, run(result)),
        section("Files", None, list(&result.files)),
    ]
}

fn list(items: &[String]) -> Vec<Piece> {
    match items {
        [] => vec![],
        _ => vec![Piece::List(items.to_vec())],
    }
}

fn glance(result: &FitResult) -> Vec<Piece> {
    let mut facts = vec![
        ("Law", sentence::law(result)),
        ("Parameters", sentence::identified(result)),
        ("Misfit", result.misfit.verdict.clone()),
    ];
    if let Some(hold_out) = &result.hold_out {
        facts.push(("Hold-out", hold_out.verdict.clone()));
    }
    facts.extend([
        ("Search", sentence::convergence(result)),
        ("Starts", sentence::starts(result)),
        ("Hard law", result.hard_law.verdict.clone()),
        ("Gradient", sentence::gradient(result)),
    ]);
    let mut blocks = vec![Piece::Facts(facts)];
    if !result.notes.is_empty() {
        blocks.push(Piece::Text("Assumptions and warnings:".into()));
        blocks.extend(list(&result.notes));
    }
    blocks
}

/// Fits with and without a population of yarns, where both were asked for.
fn spread(result: &FitResult) -> Vec<Piece> {
    match &result.spread {
        None => vec![],
        Some(found) => vec![
            Piece::Text(sentence::spread(found)),
            Piece::Table(rows::spread(found)),
        ],
    }
}

fn parameters(result: &FitResult) -> Vec<Piece> {
    if result.parameters.is_empty() {
        return vec![];
    }
    let mut blocks = vec![
        Piece::Table(rows::parameters(result)),
        Piece::Text(
            "Standard errors are from the covariance at the optimum. Intervals are from the profile \
             likelihood: all other parameters are refitted along the way. The data leave open \
             what is written as …"
                .into(),
        ),
    ];
    blocks.extend(sentence::undetermined(result).map(|s| Piece::Text(s + ".")));
    blocks
}

fn statistics(result: &FitResult) -> Vec<Piece> {
    vec![Piece::Table(rows::statistics(&result.statistics))]
}

fn correlations(result: &FitResult) -> Vec<Piece> {
    let table = rows::correlations(result);
    let mut blocks = match table.rows.len() {
        0 => vec![Piece::Text(format!(
            "No pair of parameters is correlated by {STRONG_CORRELATION} or more."
        ))],
        _ => vec![
            Piece::Text(format!(
                "Pairs correlated by {STRONG_CORRELATION} or more. They trade off against each other, \
                 so the standard error of one alone says little."
            )),
            Piece::Table(table),
        ],
    };
    blocks.extend(sentence::without_correlation(result).map(|s| Piece::Text(s + ".")));
    blocks
}

fn misfit(result: &FitResult) -> Vec<Piece> {
    let mut facts = vec![
        ("Misfit", result.misfit.verdict.clone()),
        ("Tests", sentence::misfit_tests(result)),
    ];
    facts.push((
        "Hold-out",
        sentence::hold_out(result).unwrap_or("no point was held out".into()),
    ));
    vec![Piece::Facts(facts)]
}

fn data(result: &FitResult) -> Vec<Piece> {
    match result.data.is_empty() {
        true => vec![],
        false => vec![Piece::Table(tables::data(result))],
    }
}

fn points(result: &FitResult) -> Vec<Piece> {
    let tables = [tables::angles(result), tables::bending(result)];
    let mut blocks: Vec<Piece> = tables
        .into_iter()
        .filter(|table| !table.rows.is_empty())
        .map(Piece::Table)
        .collect();
    if blocks.is_empty() {
        return blocks;
    }
    blocks.push(Piece::Text(
        "z is (measured − fitted)/sd; “hard” is the reading of the fitted law without any gate. The prediction sd \
         holds the errors of the parameters and of the reading; the hold-out verdict is based on it."
            .into(),
    ));
    blocks
}

fn certificate(result: &FitResult) -> Vec<Piece> {
    let mut blocks = vec![Piece::Facts(vec![
        ("Hard law", result.hard_law.verdict.clone()),
        ("Gradient", sentence::gradient(result)),
    ])];
    let table = tables::gradient(result);
    if !table.rows.is_empty() {
        blocks.push(Piece::Text(
            "Norm of each column of the Jacobian at the optimum, in the unknowns of the search:"
                .into(),
        ));
        blocks.push(Piece::Table(table));
    }
    blocks
}

fn search(result: &FitResult) -> Vec<Piece> {
    let mut blocks = vec![Piece::Facts(vec![
        ("Stopped", sentence::convergence(result)),
        ("Starts", sentence::starts(result)),
    ])];
    if !result.starts.is_empty() {
        blocks.push(Piece::Table(tables::starts(result)));
    }
    blocks
}

fn bootstrap(result: &FitResult) -> Vec<Piece> {
    match &result.bootstrap {
        None => vec![],
        Some(b) => vec![
            Piece::Text(format!(
                "{} drawn from the fitted law and fitted again.",
                counted(b.samples, "data set")
            )),
            Piece::Table(tables::bootstrap(b)),
        ],
    }
}

fn run(result: &FitResult) -> Vec<Piece> {
    let run = &result.run;
    vec![
        Piece::Command(run.command.clone()),
        Piece::Facts(vec![
            ("Version", format!("rumple {}", run.version)),
            ("Device", run.device.clone()),
            ("SearchMethod", run.optimizer.clone()),
            ("Seed", run.seed.to_string()),
            ("Time", duration(run.seconds)),
        ]),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::fit::sample::sample;

    /// A row with a cell too few would shift every number after it under a wrong heading.
    #[test]
    fn every_row_has_a_cell_for_every_column() {
        let mut tables = 0;
        for section in sections(&sample()) {
            for block in section.blocks {
                if let Piece::Table(table) = block {
                    tables += 1;
                    assert!(!table.rows.is_empty(), "{}", section.title);
                    for row in &table.rows {
                        assert_eq!(row.len(), table.columns.len(), "{}: {row:?}", section.title);
                    }
                }
            }
        }
        assert_eq!(tables, 10, "tables of a fit with everything in it");
    }

    /// An interrupted fit may lack everything; no report may fail then, nor show an empty table.
    #[test]
    fn a_fit_with_nothing_in_it_is_reported() {
        let mut bare = sample();
        bare.parameters.clear();
        bare.points.clear();
        bare.starts.clear();
        bare.data.clear();
        bare.notes.clear();
        bare.files.clear();
        bare.gradient_check.parameters.clear();
        bare.correlations.names.clear();
        bare.correlations.matrix.clear();
        bare.statistics.reduced_chi2 = None;
        (bare.bootstrap, bare.hold_out, bare.spread) = (None, None, None);
        let titles: Vec<_> = sections(&bare)
            .iter()
            .flat_map(|section| {
                section
                    .blocks
                    .iter()
                    .map(|block| (section.title, block.clone()))
            })
            .filter(|(_, block)| matches!(block, Piece::Table(_)))
            .map(|(title, _)| title)
            .collect();
        assert_eq!(titles, ["Fit statistics"], "sections with a table");
        let page = crate::report::fit::html::html(&report(&bare), &[]);
        assert!(page.contains("no point was held out"));
        let text = crate::report::fit::text::terminal(&bare);
        assert!(text.contains("reduced chi-square  = -"), "{text}");
        let both = crate::report::fit::text::compare(&bare, &sample());
        assert!(both.contains("0 points were fitted in A"), "{both}");
    }
}
