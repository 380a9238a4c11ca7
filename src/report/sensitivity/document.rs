//! The written report of a study as sections of blocks, which Markdown and HTML set each in its way.

mod global;
mod local;
mod wording;

use global::{derivative, morris, sobol};
use local::local;
pub(crate) use local::unseen;
pub(crate) use wording::{bounds, estimate, measured, verdict};

use crate::{
    report::{
        document::number::{counted, duration, number, short},
        fit::{
            document::{Piece, Report, Section, Topic},
            rows::{ReportTable, unit},
        },
    },
    sensitivity::result::Sensitivity,
};

pub(crate) fn report(result: &Sensitivity) -> Report {
    Report {
        title: format!("Sensitivity of {}", result.name),
        origin: origin(result),
        synthetic: result.synthetic,
        sections: sections(result),
    }
}

/// Whether the data behind it are real.
pub(crate) fn origin(result: &Sensitivity) -> &'static str {
    match result.synthetic {
        true => {
            "SYNTHETIC DATA: at least one data file behind this study holds computed readings, not measured ones."
        }
        false => {
            "Computed: all readings are of simulated tests; no data file behind this study calls itself synthetic."
        }
    }
}

fn sections(result: &Sensitivity) -> Vec<Section> {
    let section = |title, pictures, blocks: Option<Vec<Piece>>| Section {
        title,
        blocks: blocks.unwrap_or_default(),
        pictures,
    };
    vec![
        section("At a glance", None, Some(glance(result))),
        section(
            "What was varied",
            None,
            Some(vec![Piece::Table(factors(result))]),
        ),
        section("Shares of the variance", Some(Topic::Sobol), sobol(result)),
        section("Along the curves", Some(Topic::Curves), None),
        section("Elementary effects", Some(Topic::Morris), morris(result)),
        section(
            "Averages of derivatives",
            Some(Topic::Derivative),
            derivative(result),
        ),
        section(
            "Around the nominal parameters",
            Some(Topic::Local),
            local(result),
        ),
        section("Failed runs", Some(Topic::Failures), Some(failures(result))),
        section("Run", None, Some(run(result))),
    ]
}

fn glance(result: &Sensitivity) -> Vec<Piece> {
    let mut facts = Vec::new();
    facts.extend(verdict(result).map(|v| ("Most important", v)));
    if let Some(sobol) = &result.sobol {
        facts.push((
            "Sobol' indices",
            format!(
                "{}; {}; widest interval of a total {:.3}",
                counted(sobol.samples, "base sample"),
                sobol.stopped,
                sobol.widest
            ),
        ));
        facts.push(("Bounds from derivatives", bounds(result)));
    }
    if let Some(fisher) = result.local.as_ref().and_then(|l| l.fisher.as_ref()) {
        facts.push((
            "Condition number",
            match fisher.condition {
                Some(c) => format!("{} (Fisher information of the logarithms)", number(c)),
                None => "infinite: a combination of parameters is not seen at all".into(),
            },
        ));
    }
    facts.push(("Failed runs", result.failures.treatment.clone()));
    let mut blocks = vec![Piece::Facts(facts)];
    if !result.notes.is_empty() {
        blocks.push(Piece::Text("Assumptions and warnings:".into()));
        blocks.push(Piece::List(result.notes.clone()));
    }
    blocks
}

fn factors(result: &Sensitivity) -> ReportTable {
    ReportTable::new(
        "@parameter; symbol; unit; distribution; #nominal",
        result.factors.iter().map(|f| {
            vec![
                f.name.clone(),
                f.symbol.clone(),
                unit(&f.unit),
                f.distribution.describe(),
                short(f.nominal),
            ]
        }),
    )
}

fn failures(result: &Sensitivity) -> Vec<Piece> {
    let f = &result.failures;
    let mut blocks = vec![Piece::Text(format!("{}.", f.treatment))];
    if f.failed == 0 {
        return blocks;
    }
    let reason = |(why, count): &(String, usize)| format!("{count} times: {why}");
    blocks.push(Piece::List(f.reasons.iter().map(reason).collect()));
    if !f.region.is_empty() {
        blocks.push(Piece::Table(ReportTable::new(
            "@parameter; #failed from; #to; #separates",
            f.region.iter().map(|r| {
                vec![
                    r.name.clone(),
                    number(r.range[0]),
                    number(r.range[1]),
                    format!("{:.2}", r.distance),
                ]
            }),
        )));
    }
    let listed = f.list.iter().map(|one| {
        let values = one.values.iter().zip(&result.factors);
        let values: Vec<String> = values
            .map(|(v, factor)| format!("{} = {}", factor.name, number(*v)))
            .collect();
        format!("{}: {}; {}", one.row, one.why, values.join(", "))
    });
    blocks.push(Piece::Text(format!(
        "The first {} of them; samples.csv has all:",
        f.list.len()
    )));
    blocks.push(Piece::List(listed.collect()));
    blocks
}

fn run(result: &Sensitivity) -> Vec<Piece> {
    let run = &result.run;
    vec![
        Piece::Command(run.command.clone()),
        Piece::Facts(vec![
            ("Version", format!("rumple {}", run.version)),
            ("Runs", result.failures.runs.to_string()),
            ("Seed", run.seed.to_string()),
            ("Time", duration(run.seconds)),
        ]),
    ]
}
