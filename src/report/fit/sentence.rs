//! What the reports of a fit say in words.

use crate::fit::{result::FitResult, spread::SpreadComparison};
use crate::laboratory::of_kind;
use crate::report::{
    document::number::{NONE, counted, number, or_none, probability, short},
    fit::rows::TableKind,
};

/// Whether the data are real. The first thing that any report says.
pub(crate) fn origin(result: &FitResult) -> &'static str {
    if result.synthetic {
        "SYNTHETIC DATA: at least one data file holds computed readings, not measured ones."
    } else {
        "Measured data: no file of this fit calls itself synthetic."
    }
}

/// The law's name, its branches and its population.
pub(crate) fn law(result: &FitResult) -> String {
    let branches = match result.relaxation_branches {
        0 => None,
        n => Some(counted(n, "relaxation branch")),
    };
    let population = result
        .population
        .then(|| "a population of yarns".to_string());
    let more: Vec<String> = branches.into_iter().chain(population).collect();
    match more.is_empty() {
        true => result.law.clone(),
        false => format!("{} with {}", result.law, more.join(" and ")),
    }
}

/// Whether yarns differ, and where the fits are.
pub(crate) fn spread(found: &SpreadComparison) -> String {
    let folders = found.fits.iter().map(|fit| fit.folder.as_str());
    let folders: Vec<&str> = folders.collect();
    format!(
        "{}. This folder holds the fit with the lowest AIC; all of them are in {}.",
        found.verdict,
        folders.join(", ")
    )
}

/// Why the search stopped.
pub(crate) fn convergence(result: &FitResult) -> String {
    if result.interrupted {
        format!(
            "INTERRUPTED, so this is not yet the optimum: {}",
            result.convergence
        )
    } else {
        result.convergence.clone()
    }
}

/// How many starts agree.
pub(crate) fn starts(result: &FitResult) -> String {
    let best = result.starts.iter().filter(|s| s.best).count();
    if result.starts.is_empty() {
        return "none is recorded".into();
    }
    let all = counted(result.starts.len(), "start");
    format!("{best} of {all} reached the best minimum")
}

/// How many parameters the data determine.
pub(crate) fn identified(result: &FitResult) -> String {
    let free = || result.parameters.iter().filter(|p| p.free);
    let count = |kind| free().filter(|p| TableKind::of(&p.verdict) == kind).count();
    let mut text = format!(
        "{} of {} identified",
        count(TableKind::Identified),
        counted(free().count(), "free parameter")
    );
    for (kind, what) in [
        (TableKind::OnlyAs, "only in combination"),
        (TableKind::Doubtful, "with reservations"),
        (TableKind::NotIdentified, "not at all"),
    ] {
        if count(kind) > 0 {
            text += &format!(", {} {what}", count(kind));
        }
    }
    text
}

/// What `material.json` holds for parameters without an estimate; none where all have one.
pub(crate) fn undetermined(result: &FitResult) -> Option<String> {
    let missing = result.parameters.iter().filter(|p| p.value.is_none());
    let values: Vec<String> = missing
        .map(|p| {
            let unit = if p.unit == "1" { "" } else { &p.unit };
            format!("{} = {} {unit}", p.name, number(p.best))
                .trim_end()
                .to_string()
        })
        .collect();
    (!values.is_empty()).then(|| {
        format!(
            "a material file needs a number for every parameter; where the data determine none it holds \
             that of the best point, which is not an estimate: {}",
            values.join(", ")
        )
    })
}

/// Parameters whose correlations are unknown; none where all are known.
pub(crate) fn without_correlation(result: &FitResult) -> Option<String> {
    let c = &result.correlations;
    let known = |row: &Vec<Option<f64>>| row.iter().any(Option::is_some);
    let unknown = c.names.iter().zip(&c.matrix).filter(|(_, row)| !known(row));
    let names: Vec<&str> = unknown.map(|(name, _)| name.as_str()).collect();
    (!names.is_empty()).then(|| {
        format!(
            "No correlation can be given without a standard error: {}",
            names.join(", ")
        )
    })
}

/// The two tests behind the misfit verdict.
pub(crate) fn misfit_tests(result: &FitResult) -> String {
    let m = &result.misfit;
    format!(
        "chi-square probability {}; {} of residuals of one sign where {} are expected, probability of so few {}",
        or_none(m.chi2_probability, probability),
        counted(m.runs, "run"),
        short(m.expected_runs),
        or_none(m.runs_probability, probability),
    )
}

/// How the points that were held out are predicted.
pub(crate) fn hold_out(result: &FitResult) -> Option<String> {
    result.hold_out.as_ref().map(|h| {
        format!(
            "{} ({} of {} inside the 95 % prediction interval, rms z {:.2})",
            h.verdict,
            h.inside_95,
            counted(h.points, "point"),
            h.rms_z
        )
    })
}

/// Whether the gradient can be trusted.
pub(crate) fn gradient(result: &FitResult) -> String {
    let check = &result.gradient_check;
    let error = match check.largest_error {
        e if e.is_nan() => NONE.into(),
        e => format!("{e:.1e}"),
    };
    let mut tests = result.points.iter().filter_map(|p| of_kind(&p.test));
    let differences = tests.find(|test| test.slopes_are_differences());
    let differences = differences.map(|test| test.plural());
    if let (Some(what), true) = (differences, check.parameters.is_empty()) {
        format!("no reverse pass to check: slopes of {what} are central differences")
    } else if check.passed {
        let aside = differences.map_or(String::new(), |what| {
            format!("; {what} aside, whose slopes are differences already")
        });
        format!(
            "passed: reverse pass and central differences agree, largest error {error} of the Jacobian{aside}"
        )
    } else {
        format!(
            "FAILED: reverse pass and central differences are {error} of the Jacobian apart, with smaller steps \
             too; error bars are withheld: search again with another --seed, or smooth the law with \
             tests.hinges = 2048"
        )
    }
}
