//! The pictures of a fit, drawn from its [`FitResult`] alone, so that they can be drawn again.

mod angles;
mod common;
mod comparison;
mod residuals;
mod search;

use super::{document::Topic, sentence};
use crate::report::plot::{Chart, Mark, Picture, Scale, Series};
use crate::{error::readable, fit::result::FitResult};

/// File stem, caption and picture.
pub(crate) type NamedPicture = (String, String, Picture);

/// All pictures of a fit for which there are data, each with its topic: file stem (of `a-z`, `0-9` and `-`, no two
/// alike), caption (a sentence) and picture.
pub(crate) fn pictures(result: &FitResult) -> Vec<(Topic, NamedPicture)> {
    let mut entries = Vec::new();
    let mut add = |topic: Topic, list: Vec<NamedPicture>| {
        entries.extend(list.into_iter().map(|entry| (topic, entry)));
    };
    add(Topic::Curves, angles::pictures(result));
    add(Topic::Residuals, residuals::pictures(result));
    add(Topic::Curves, common::pictures(result));
    add(Topic::Curves, common::readings(result));
    add(Topic::Search, Vec::from_iter(search::starts(result)));
    add(Topic::Search, Vec::from_iter(search::cost(result)));
    add(Topic::Profiles, search::profiles(result));
    add(
        Topic::Correlations,
        Vec::from_iter(search::correlations(result)),
    );
    finished(entries, result.synthetic)
}

/// Curves of two fits on common axes: solid lines for `a`, dashed ones for `b`. Stems and
/// captions as in [`pictures`].
pub(crate) fn comparison(a: &FitResult, b: &FitResult) -> Vec<(Topic, NamedPicture)> {
    let entries = comparison::pictures(a, b).into_iter();
    let entries = entries.map(|entry| (Topic::Curves, entry)).collect();
    finished(entries, a.synthetic || b.synthetic)
}

/// Leaves out charts without a point, tells equal stems apart and ends the captions.
fn finished(
    mut entries: Vec<(Topic, NamedPicture)>,
    synthetic: bool,
) -> Vec<(Topic, NamedPicture)> {
    entries.retain(|(_, (_, _, picture))| picture.is_drawable());
    for i in 0..entries.len() {
        let (earlier, rest) = entries.split_at_mut(i);
        let (name, caption, _) = &mut rest[0].1;
        let stem = name.clone();
        let taken = |stem: &str| earlier.iter().any(|(_, (other, _, _))| other == stem);
        let mut count = 2;
        while taken(name) {
            *name = format!("{stem}-{count}");
            count += 1;
        }
        *caption += if synthetic { " (synthetic data)." } else { "." };
    }
    entries
}

/// The line under a title: what every picture of a fit says, then what one says.
fn note(result: &FitResult, more: &[String]) -> Option<String> {
    let mut parts = vec![provenance(result)];
    if result.interrupted {
        parts.push("the search was interrupted".into());
    }
    parts.extend(more.iter().filter(|part| !part.is_empty()).cloned());
    Some(parts.join("; "))
}

/// Whether the data are synthetic, the fit's name and its law.
fn provenance(result: &FitResult) -> String {
    let synthetic = if result.synthetic {
        "synthetic data, "
    } else {
        ""
    };
    let law = sentence::law(result);
    format!("{synthetic}fit {}, law {law}", result.name)
}

/// A part of a file name.
fn slug(text: &str) -> String {
    let letter = |c: char| match c.to_ascii_lowercase() {
        c if c.is_ascii_alphanumeric() => c,
        _ => ' ',
    };
    let words: String = text.chars().map(letter).collect();
    let words: Vec<&str> = words.split_whitespace().collect();
    words.join("-")
}

/// A number for people, to four digits.
pub(crate) fn short(value: f64) -> String {
    readable(format!("{value:.3e}").parse().unwrap_or(value))
}

/// Words with a number in the place of {}.
fn fill(words: &str, value: f64) -> String {
    words.replace("{}", &short(value))
}

/// A log scale where values are positive and differ by more than `factor`.
pub(crate) fn log_if_wide(values: impl Iterator<Item = f64>, factor: f64) -> Scale {
    let known = values.filter(|value| value.is_finite());
    let (low, high) = known.fold((f64::INFINITY, 0.0), |(low, high), value| {
        (value.min(low), value.max(high))
    });
    if low > 0.0 && high > factor * low {
        Scale::Log
    } else {
        Scale::Linear
    }
}

/// A thin dashed line across the plot.
fn level(label: &str, height: f64) -> Series {
    Series::new(label, Mark::Level, vec![(f64::NAN, height)]).color(0)
}

/// The distinct values of an iterator in the order of first appearance.
fn distinct<T: PartialEq>(values: impl Iterator<Item = T>) -> Vec<T> {
    let mut seen = Vec::new();
    for value in values {
        if !seen.contains(&value) {
            seen.push(value);
        }
    }
    seen
}

/// χ² on the vertical axis, never magnified beyond a span of one: smaller differences mean nothing.
fn chi2_chart(chart: Chart) -> Chart {
    let heights = || {
        let points = chart.series.iter().flat_map(|series| &series.points);
        points.map(|point| point.1).filter(|y| y.is_finite())
    };
    let (low, high) = (
        heights().fold(f64::INFINITY, f64::min),
        heights().fold(f64::NEG_INFINITY, f64::max),
    );
    let y_range = (high - low < 1.0).then(|| ((low - 0.5).max(0.0), high + 0.5));
    let y_scale = log_if_wide(heights(), 100.0);
    Chart {
        y_range: y_range.filter(|_| y_scale == Scale::Linear && low.is_finite()),
        y_scale,
        ..chart
    }
}

#[cfg(test)]
pub(crate) mod made_up;
#[cfg(test)]
mod tests;
