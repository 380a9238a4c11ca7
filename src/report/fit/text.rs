//! Reports of a fit as text: for the terminal, as a Markdown file, and two fits side by side.

mod compare;
pub(crate) mod markdown;
mod terminal;

pub(crate) use self::terminal::terminal;
pub(crate) use self::{
    compare::{compare, compare_json},
    markdown::markdown,
};
