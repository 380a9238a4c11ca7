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

/// The modules that follow `crate::` in some code: one name, or a list in braces.
fn used(code: &str) -> Vec<String> {
    let word = |text: &str| -> String {
        let letters = text.trim_start().chars();
        letters
            .take_while(|c| c.is_alphanumeric() || *c == '_')
            .collect()
    };
    let mut names = Vec::new();
    for (at, _) in code.match_indices("crate::") {
        let rest = &code[at + "crate::".len()..];
        let Some(list) = rest.strip_prefix('{') else {
            names.push(word(rest));
            continue;
        };
        let (mut depth, mut first) = (1, true);
        for (i, c) in list.char_indices() {
            if first {
                names.push(word(&list[i..]));
            }
            first = depth == 1 && c == ',';
            depth += i32::from(c == '{') - i32::from(c == '}');
            if depth == 0 {
                break;
            }
        }
    }
    names
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
        for name in used(&code(&fs::read_to_string(file).expect("a source"))) {
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
    let code = "use crate::{error::Result, fit::{case, data}, mesh};\nlet a = crate::solve::new();";
    assert_eq!(used(code), ["error", "fit", "mesh", "solve"]);
}
