//! The table of a study of error bars on the terminal.

use crate::{
    report::document::{
        layout::{Align, columns, wrapped},
        number::{NONE, counted, or_none, probability, short},
    },
    verify::coverage::{Coverage, NoiseCoverage, ParameterCoverage},
};

/// A table for every noise, no line wider than 110 columns.
pub(crate) fn terminal(found: &Coverage) -> String {
    let tables: Vec<String> = found
        .noises
        .iter()
        .map(|noise| table(found, noise))
        .collect();
    tables.join("")
}

fn table(found: &Coverage, noise: &NoiseCoverage) -> String {
    let what = match &found.plan.material {
        Some(_) => "one law",
        None => "a law drawn for each",
    };
    let heading = format!(
        "noise of {}° (synthetic): {}, {what}, {} each; 95 % intervals of parameters that are called identified",
        short(noise.noise_deg),
        counted(noise.sets, "table"),
        counted(found.plan.starts, "start"),
    );
    let mut text = wrapped("[[Coverage]] ", &heading);
    let names = [
        "parameter",
        "identified",
        "hold",
        "share [95 %]",
        "truth below",
        "truth above",
        "off by 2",
    ];
    let has_ranks = noise.parameters.iter().any(|p| p.ranks.is_some());
    let mut rows = vec![names.map(String::from).to_vec()];
    rows[0].push(if has_ranks { "even ranks" } else { "" }.into());
    rows.extend(noise.parameters.iter().chain([&noise.total]).map(row));
    let mut align = [Align::Right; 8];
    align[0] = Align::Left;
    text += &columns(&rows, &align).concat();
    for note in notes(found, noise) {
        text += &wrapped("    - ", &note);
    }
    text
}

fn row(p: &ParameterCoverage) -> Vec<String> {
    let share = p.share.zip(p.share_ci95);
    let share = share.map_or(NONE.into(), |(share, [low, high])| {
        let [share, low, high] = [share, low, high].map(|share| 100.0 * share);
        format!("{share:.1} % [{low:.0}, {high:.0}]")
    });
    let ranks = p.ranks.as_ref();
    vec![
        p.name.clone(),
        format!("{} of {}", p.identified, p.fitted),
        p.holds.to_string(),
        share,
        p.truth_below.to_string(),
        p.truth_above.to_string(),
        p.off_by_two.to_string(),
        ranks.map_or(String::new(), |r| {
            or_none(r.probability, |p| format!("p {}", probability(p)))
        }),
    ]
}

fn notes(found: &Coverage, noise: &NoiseCoverage) -> Vec<String> {
    let mut notes = Vec::new();
    let mut note = |what: &str, count: usize| {
        if count > 0 {
            notes.push(format!("{what}: {count} of {}", counted(noise.sets, "fit")));
        }
    };
    note("failed, and coverage.json says why", noise.failed);
    note(
        "χ² above that of the truth, so the search has not found the optimum",
        noise.above_truth,
    );
    note(
        "called a misfit, though the law is that of the data",
        noise.misfits,
    );
    if noise.stuck_profiles > 0 {
        notes.push(format!(
            "without a truth that they hold, as its χ² shows, so the profile has not found its minimum: {}",
            counted(noise.stuck_profiles, "interval")
        ));
    }
    if let Some(refits) = found.plan.refits {
        notes.push(format!(
            "p is the probability of ranks as uneven as those of the truth within {} of each identified parameter, by χ²; below 0.01 the bootstrap is not calibrated",
            counted(refits, "refit")
        ));
    }
    notes
}
