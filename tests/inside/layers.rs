//! Dependencies point in one direction: a module uses only those above it in the list.

use std::{
    fs,
    path::{Path, PathBuf},
};

/// The folders of `src` in the order of docs/ARCHITECTURE.md.
const LAYERS: [&str; 21] = [
    "error",
    "files",
    "numeric",
    "study",
    "material",
    "mesh",
    "element",
    "contact",
    "solve",
    "step",
    "reading",
    "rollout",
    "laboratory",
    "scene",
    "optimize",
    "fit",
    "sensitivity",
    "learn",
    "verify",
    "report",
    "cli",
];

fn sources(folder: &Path, list: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder of sources") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            sources(&path, list);
        } else if path.extension().is_some_and(|e| e == "rs") {
            list.push(path);
        }
    }
}

/// The code of a file without comments and without what only its tests use.
fn code(text: &str) -> String {
    let text = text
        .split("#[cfg(test)]\nmod tests {")
        .next()
        .unwrap_or_default();
    let lines = text
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"));
    lines.collect::<Vec<_>>().join("\n")
}

fn word(text: &str) -> &str {
    let end = text.find(|c: char| !c.is_alphanumeric() && c != '_');
    &text[..end.unwrap_or(text.len())]
}

/// The paths that start with `crate` or `super` in some code, lists in braces taken apart.
fn paths(code: &str) -> Vec<Vec<String>> {
    let (mut found, mut at) = (Vec::new(), 0);
    while let Some(next) = ["crate::", "super::"]
        .iter()
        .filter_map(|start| Some(at + code[at..].find(start)?))
        .min()
    {
        let before = code[..next].chars().next_back();
        at = match before.is_some_and(|c| c.is_alphanumeric() || c == '_') {
            true => next + 1,
            false => next + expand(&code[next..], &[], &mut found),
        };
    }
    found
}

/// Adds the paths of the use tree at the start of `text`, each behind `prefix`; returns its length.
fn expand(text: &str, prefix: &[String], found: &mut Vec<Vec<String>>) -> usize {
    let (mut path, mut at) = (prefix.to_vec(), 0);
    loop {
        let rest = &text[at..];
        if rest.starts_with('{') {
            at += 1;
            while !text[at..].starts_with('}') && at < text.len() {
                let blank = |c: char| c.is_whitespace() || c == ',';
                at += text[at..].len() - text[at..].trim_start_matches(blank).len();
                let length = expand(&text[at..], &path, found);
                // `*` is no path.
                let first = text[at..].chars().next().map_or(0, char::len_utf8);
                let closes = text[at..].starts_with('}');
                at += if closes { 0 } else { length.max(first) };
            }
            return at + 1;
        }
        let name = word(rest);
        at += name.len();
        if !name.is_empty() {
            path.push(name.to_string());
        }
        let rest = &text[at..];
        if !name.is_empty() && rest.starts_with("::") {
            at += 2;
            continue;
        }
        if path.len() > prefix.len() {
            found.push(path);
        }
        let renamed = rest
            .strip_prefix(" as ")
            .map(|rest| " as ".len() + word(rest).len());
        return at + renamed.unwrap_or(0);
    }
}

/// The modules of the crate that some code names, `depth` modules below the crate: `crate::name`, or as many `super`
/// as there are modules and then a name.
fn used(code: &str, depth: usize) -> Vec<String> {
    let root = |path: Vec<String>| {
        let ups = path.iter().take_while(|name| *name == "super").count();
        match path[0] == "crate" {
            true => path.get(1).cloned(),
            false => path.get(ups).filter(|_| ups == depth).cloned(),
        }
    };
    paths(code).into_iter().filter_map(root).collect()
}

#[test]
fn modules_use_only_those_above_them() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    sources(&root, &mut files);
    let place = |name: &str| LAYERS.iter().position(|layer| *layer == name);
    let (mut checked, mut wrong) = (0, Vec::new());
    for file in &files {
        let relative = file.strip_prefix(&root).expect("a path in src");
        let first = relative.iter().next().expect("a name").to_string_lossy();
        let module = first.trim_end_matches(".rs");
        if matches!(module, "lib" | "main") || relative.ends_with("tests.rs") {
            continue;
        }
        let own = place(module).unwrap_or_else(|| panic!("{module} is not in the list of layers"));
        let depth = relative.iter().count() - usize::from(relative.ends_with("mod.rs"));
        for name in used(&code(&fs::read_to_string(file).expect("a source")), depth) {
            checked += 1;
            if place(&name).is_some_and(|other| other > own) {
                wrong.push(format!("{} uses {name}", relative.display()));
            }
        }
    }
    assert!(checked > 500, "only {checked} uses were found");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn uses_are_found() {
    let code = "use crate::{error::Result, fit::{case, data as d}, mesh::*};\nlet a = crate::solve::new();";
    assert_eq!(used(code, 1), ["error", "fit", "fit", "mesh", "solve"]);
    let code = "use super::{own, super::{report::plot, cli}};\nuse super::super::super::gone;\nsuper::near();";
    assert_eq!(used(code, 2), ["report", "cli"]);
    assert_eq!(used(code, 1), ["own", "near"]);
}
