//! The pictures of a study, drawn from its [`Sensitivity`] alone.

mod curves;
mod fisher;
mod indices;
mod space;

pub(crate) use space::direction;

use crate::report::{
    fit::{
        document::Topic,
        plots::{NamedPicture, log_if_wide, short},
    },
    plot::Picture,
};
use crate::sensitivity::result::Sensitivity;

/// A picture of a study.
pub(crate) struct Drawn {
    /// Name of its file, without ending; no two are alike.
    pub stem: String,
    /// A sentence.
    pub caption: String,
    pub topic: Topic,
    pub picture: Picture,
}

/// All pictures for which there are data.
pub(crate) fn pictures(result: &Sensitivity) -> Vec<(Topic, NamedPicture)> {
    let mut list = indices::sobol(result);
    list.extend(indices::convergence(result));
    list.extend(curves::pictures(result));
    list.extend(indices::morris(result));
    list.extend(space::projection(result));
    list.extend(space::regimes(result));
    list.extend(fisher::ellipses(result));
    list.extend(space::failures(result));
    list.retain(|d| d.picture.is_drawable());
    for drawn in &mut list {
        drawn.caption += match result.synthetic {
            true => " (synthetic data).",
            false => ".",
        };
    }
    let entry = |d: Drawn| (d.topic, (d.stem, d.caption, d.picture));
    list.into_iter().map(entry).collect()
}

/// The line under a title: what every picture of a study says, then what one says.
fn note(result: &Sensitivity, more: &str) -> Option<String> {
    let synthetic = match result.synthetic {
        true => "synthetic data, ",
        false => "",
    };
    let failed = match result.failures.failed {
        0 => String::new(),
        n => format!("; {n} of {} runs failed", result.failures.runs),
    };
    let more = match more {
        "" => String::new(),
        more => format!("; {more}"),
    };
    Some(format!("{synthetic}{}{more}{failed}", result.name))
}

/// A part of a file name.
fn slug(text: &str) -> String {
    let letter = |c: char| match c.to_ascii_lowercase() {
        c if c.is_ascii_alphanumeric() || c == '.' => c,
        _ => ' ',
    };
    let words: String = text.chars().map(letter).collect();
    words.split_whitespace().collect::<Vec<_>>().join("-")
}
