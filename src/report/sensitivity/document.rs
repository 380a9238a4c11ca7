//! The written report of a study as sections of blocks, which Markdown and HTML set each in its way.

use crate::report::{
    document::number::{NONE, counted, duration, number, short},
    fit::{
        document::{Piece, Report, Section, Topic},
        rows::{ReportTable, unit},
    },
};
use crate::sensitivity::{interval::Estimate, local::Fisher, result::Sensitivity};

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

/// "0.312 [0.281, 0.344]".
pub(crate) fn estimate(e: Estimate) -> String {
    let text = |v: f64| format!("{v:.3}").replace("-0.000", "0.000");
    format!("{} [{}, {}]", text(e.value), text(e.low), text(e.high))
}

/// "12.3 [11.2, 14.5]" for numbers of any size.
pub(crate) fn measured(e: Estimate) -> String {
    format!(
        "{} [{}, {}]",
        number(e.value),
        number(e.low),
        number(e.high)
    )
}

/// What matters most for the main output, in a sentence.
pub(crate) fn verdict(result: &Sensitivity) -> Option<String> {
    let name = &result.outputs[result.main].name;
    let labels = &result.groups;
    let mut ranked: Vec<(f64, String)> = if let Some(sobol) = &result.sobol {
        let of = sobol.outputs[result.main].as_ref()?;
        let pairs = labels.iter().zip(&of.groups);
        pairs
            .map(|(n, g)| {
                (
                    g.total_jansen.value,
                    format!("{n} ({:.0} %)", 100.0 * g.total_jansen.value),
                )
            })
            .collect()
    } else if let Some(morris) = &result.morris {
        let pairs = labels.iter().zip(&morris.outputs[result.main]);
        let unit = &result.outputs[result.main].unit;
        pairs
            .filter_map(|(n, e)| {
                let size = e.as_ref()?.mu_star.value;
                Some((size, format!("{n} (μ* {} {unit})", short(size))))
            })
            .collect()
    } else {
        return None;
    };
    ranked.sort_by(|a, b| b.0.total_cmp(&a.0));
    let first: Vec<String> = ranked.into_iter().take(3).map(|r| r.1).collect();
    Some(format!("the {name} depends most on {}", first.join(", ")))
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

/// Whether every total keeps its bound.
pub(crate) fn bounds(result: &Sensitivity) -> String {
    let above = result.sobol.as_ref().map_or(0, |s| s.above_bound.len());
    match (&result.derivative, above) {
        (None, _) => "not computed (method dgsm)".into(),
        (Some(_), 0) => "every total is below its bound".into(),
        (Some(_), 1) => "1 total is above its bound (listed in the report)".into(),
        (Some(_), n) => format!("{n} totals are above their bounds (listed in the report)"),
    }
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

/// Indices of the main output by every estimator.
pub(crate) fn sobol_table(result: &Sensitivity) -> Option<ReportTable> {
    let of = result.sobol.as_ref()?.outputs[result.main].as_ref()?;
    let derivative = result.derivative.as_ref();
    let bounds = derivative.and_then(|d| d.outputs[result.main].as_ref()?.bounds.as_ref());
    let rows = result.sobol_names().into_iter().zip(&of.groups).enumerate();
    Some(ReportTable::new(
        "@parameter; #first, Jansen; #first, Martinez; #first, Saltelli; #total, Jansen; #total, Martinez; #bound of the total",
        rows.map(|(k, (name, g))| {
            let bound = bounds.and_then(|b| b.get(k));
            let mut row = vec![name.to_string()];
            row.extend(g.list().map(|(_, _, e)| estimate(e)));
            row.push(bound.map_or(NONE.into(), |b| format!("{:.3}", b.value)));
            row
        }),
    ))
}

fn sobol(result: &Sensitivity) -> Option<Vec<Piece>> {
    let sobol = result.sobol.as_ref()?;
    let main = &result.outputs[result.main].name;
    let mut blocks = Vec::new();
    match sobol_table(result) {
        None => blocks.push(Piece::Text(format!(
            "The {main} does not vary in these ranges, so its variance has no shares."
        ))),
        Some(table) => blocks.extend([
            Piece::Text(format!(
                "Of the {main}; indices.csv has every output. In brackets 95 % intervals from {} resamples of the base samples. The dummy is a parameter that nothing depends on: what its first-order index by Jansen or Martinez differs from 0 is the error of these estimators, which Saltelli's has only for parameters that matter.",
                crate::sensitivity::interval::RESAMPLES
            )),
            Piece::Table(table),
        ]),
    }
    let still: Vec<String> = result
        .outputs
        .iter()
        .zip(&sobol.outputs)
        .filter(|(_, of)| of.is_none())
        .map(|(o, _)| o.name.clone())
        .collect();
    if !still.is_empty() {
        blocks.push(Piece::Text(format!(
            "Without indices, because they do not vary: {}.",
            still.join("; ")
        )));
    }
    if !sobol.above_bound.is_empty() {
        blocks.push(Piece::Text("Totals above their bound:".into()));
        blocks.push(Piece::List(sobol.above_bound.clone()));
    }
    Some(blocks)
}

fn morris(result: &Sensitivity) -> Option<Vec<Piece>> {
    let morris = result.morris.as_ref()?;
    let output = &result.outputs[result.main];
    let rows = result.groups.iter().zip(&morris.outputs[result.main]);
    let text = |e: Option<Estimate>| e.map_or(NONE.into(), measured);
    Some(vec![
        Piece::Text(format!(
            "Of the {} [{}], for a step through the whole range of each parameter; {} trajectories.",
            output.name, output.unit, morris.trajectories
        )),
        Piece::Table(ReportTable::new(
            "@parameter; #μ*; #μ; #σ",
            rows.map(|(name, e)| {
                vec![
                    name.clone(),
                    text(e.as_ref().map(|e| e.mu_star)),
                    text(e.as_ref().and_then(|e| e.mu)),
                    text(e.as_ref().and_then(|e| e.sigma)),
                ]
            }),
        )),
    ])
}

fn derivative(result: &Sensitivity) -> Option<Vec<Piece>> {
    let derivative = result.derivative.as_ref()?;
    let mut blocks = Vec::new();
    let main = &result.outputs[result.main].name;
    if let Some(of) = &derivative.outputs[result.main] {
        let activity = derivative.subspace.as_ref().map(|s| &s.activity);
        let rows = result.factors.iter().zip(&of.measures).enumerate();
        blocks.push(Piece::Text(format!(
            "Of the {main}, from exact derivatives at {} points. The share is that of the mean squared gradient, parameters in units of their ranges.",
            derivative.points
        )));
        blocks.push(Piece::Table(ReportTable::new(
            "@parameter; #ν; #share; #activity",
            rows.map(|(k, (f, m))| {
                vec![
                    f.name.clone(),
                    measured(m.nu),
                    estimate(m.share),
                    activity.map_or(NONE.into(), |a| format!("{:.3}", a[k])),
                ]
            }),
        )));
    }
    if let Some(subspace) = &derivative.subspace {
        let values: Vec<String> = subspace.eigenvalues.iter().map(|e| measured(*e)).collect();
        blocks.push(Piece::Text(format!(
            "Active subspace of the {main}: eigenvalues {}. The first direction is {}.",
            values.join(", "),
            super::plots::direction(result, &subspace.directions[0])
        )));
    }
    if !derivative.regimes.is_empty() {
        blocks.push(Piece::Text(
            "By regime: pairs of a run and a point of a recovery curve, by what the hinges do under the hard law; shares of the mean squared gradient of that point's angle.".into(),
        ));
        blocks.push(Piece::Table(regimes(result)));
    }
    Some(blocks)
}

fn regimes(result: &Sensitivity) -> ReportTable {
    let regimes = result.derivative.iter().flat_map(|d| &d.regimes);
    let top = |r: &crate::sensitivity::regime::Regime| {
        let mut list: Vec<(f64, &str)> = r
            .measures
            .iter()
            .zip(&result.factors)
            .map(|(m, f)| (m.share.value, f.symbol.as_str()))
            .collect();
        list.sort_by(|a, b| b.0.total_cmp(&a.0));
        let first = list.into_iter().filter(|(s, _)| *s >= 0.05).take(4);
        let words: Vec<String> = first
            .map(|(s, n)| format!("{n} {:.0} %", 100.0 * s))
            .collect();
        words.join(", ")
    };
    ReportTable::new(
        "regime; #of all pairs; #hinges that slip; #hinges that have yielded; what matters there",
        regimes.map(|r| {
            let percent = |v: f64| format!("{:.0} %", 100.0 * v);
            vec![
                r.name.clone(),
                percent(r.share),
                percent(r.slips),
                percent(r.yields),
                top(r),
            ]
        }),
    )
}

/// How many combinations the measurements do not see. Which ones is a matter of choice: any mixture of them is
/// not seen either.
pub(crate) fn unseen(fisher: &Fisher) -> Option<String> {
    match fisher
        .combinations
        .iter()
        .filter(|c| c.error.is_none())
        .count()
    {
        0 => None,
        1 => fisher.combinations.last().map(|c| c.words.clone()),
        n => Some(format!(
            "{n} further combinations are not seen at all by these measurements"
        )),
    }
}

fn local(result: &Sensitivity) -> Option<Vec<Piece>> {
    let local = result.local.as_ref()?;
    let mut blocks = Vec::new();
    if let Some(fisher) = &local.fisher {
        blocks.push(Piece::Text(
            "Combinations of parameters that the measurements see, from stiff (well known) to sloppy (hardly seen): eigenvectors of the Fisher information of the logarithms.".into(),
        ));
        let seen = fisher
            .combinations
            .iter()
            .filter_map(|c| Some((c, c.error?)));
        let rows =
            seen.map(|(c, error)| vec![number(c.eigenvalue), number(error), c.words.clone()]);
        blocks.push(Piece::Table(ReportTable::new(
            "#eigenvalue; #standard error of the logarithm; combination",
            rows,
        )));
        blocks.extend(unseen(fisher).map(|text| Piece::Text(format!("{text}."))));
    }
    let readings = (0..result.outputs.len()).filter(|i| result.outputs[*i].place.is_none());
    let rows: Vec<Vec<String>> = readings
        .filter(|i| local.elasticities[*i].iter().any(Option::is_some))
        .flat_map(|i| {
            let each = result.factors.iter().enumerate();
            each.map(move |(k, f)| {
                let text = |v: Option<f64>| v.map_or(NONE.into(), number);
                vec![
                    result.outputs[i].name.clone(),
                    f.name.clone(),
                    text(local.slopes[i][k]),
                    text(local.elasticities[i][k]),
                ]
            })
        })
        .collect();
    if !rows.is_empty() {
        blocks.push(Piece::Text(
            "Exact derivatives of the readings; indices.csv has those along the curves.".into(),
        ));
        blocks.push(Piece::Table(ReportTable::new(
            "reading; @parameter; #slope; #elasticity",
            rows,
        )));
    }
    Some(blocks)
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
