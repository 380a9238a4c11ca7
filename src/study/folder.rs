//! The folder of a run: what the run is computed from, who computes it, and who may write there.
//!
//! A run is known by its inputs (texts that lie in the folder) and its maker (program and device). A folder with
//! the inputs of another run, or of another maker, is refused with what differs: going on would mix the bits of two runs.
//! The open journal or logs of a run keep other runs out.

use std::{
    fs::{File, TryLockError},
    io::ErrorKind,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    error::{Error, Result, bad_input},
    files::{difference, fingerprint, read_text, write_whole},
};

/// The folder of a fit, a study, a simulation or a training.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Folder(PathBuf);

impl Folder {
    /// A folder, whether it is there or not.
    pub fn new(path: impl Into<PathBuf>) -> Folder {
        Folder(path.into())
    }

    /// NAME-ENDING in the working directory, with a dash for each character that is no letter and no digit.
    pub fn named(name: &str, ending: &str) -> Folder {
        let word = |c: char| if c.is_alphanumeric() { c } else { '-' };
        let stem: String = name.chars().map(word).collect();
        Folder::new(format!("{stem}-{ending}"))
    }

    /// This folder, or the first of NAME-2, NAME-3, … where there is one of its name already.
    pub fn or_next_free(self) -> Folder {
        let more = (2..).map(|i| Folder::new(format!("{}-{i}", self.0.display())));
        let mut all = std::iter::once(self.clone()).chain(more);
        let free = all.find(|folder| !folder.0.exists());
        free.unwrap_or(self)
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Where a file of it is.
    pub fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// Whether there is a file of this name.
    pub fn has(&self, name: &str) -> bool {
        self.file(name).is_file()
    }

    /// A folder within.
    pub fn inner(&self, name: &str) -> Folder {
        Folder(self.0.join(name))
    }

    /// Makes it where there is none.
    pub fn make(&self) -> Result<()> {
        std::fs::create_dir_all(&self.0).map_err(|e| Error::writing(&self.0, e))
    }

    /// Names in it in their order; none where there is no folder.
    pub fn names(&self) -> Result<Vec<String>> {
        // Only folders that are about to be written are looked at.
        let failed = |e| Error::writing(&self.0, e);
        let entries = match std::fs::read_dir(&self.0) {
            Err(e) if e.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries.map_err(failed)?,
        };
        let mut names = Vec::new();
        for entry in entries {
            let name = entry.map_err(failed)?.file_name();
            names.push(name.to_string_lossy().into_owned());
        }
        names.sort();
        Ok(names)
    }

    /// The text of a file.
    pub fn read(&self, name: &str) -> Result<String> {
        read_text(&self.file(name))
    }

    /// Writes a file whole or not at all, and the folders above it.
    pub fn write(&self, name: &str, bytes: &[u8]) -> Result<()> {
        let path = self.file(name);
        Folder::new(path.parent().unwrap_or(&self.0)).make()?;
        write_whole(&path, bytes)
    }

    /// Writes a value as indented JSON.
    pub fn write_json(&self, name: &str, value: &impl Serialize) -> Result<()> {
        let text = serde_json::to_string_pretty(value)
            .map_err(|e| Error::BadInput(format!("{name} cannot be written as JSON: {e}")))?;
        self.write(name, format!("{text}\n").as_bytes())
    }

    /// Copies a file of another folder into this one.
    pub fn copy(&self, from: &Folder, name: &str) -> Result<()> {
        let path = from.file(name);
        let bytes = std::fs::read(&path).map_err(|e| Error::reading(&path, e))?;
        self.write(name, &bytes)
    }

    /// Removes a file or a folder within; one that is not there is as good as removed.
    pub fn remove(&self, name: &str) -> Result<()> {
        let path = self.file(name);
        let removed = match path.is_dir() {
            true => std::fs::remove_dir_all(&path),
            false => std::fs::remove_file(&path),
        };
        match removed {
            Err(e) if e.kind() == ErrorKind::NotFound => Ok(()),
            done => done.map_err(|e| Error::writing(&path, e)),
        }
    }

    /// Refuses to go on with what `there` has begun, unless `here` is the same program and device.
    pub fn check_maker(&self, there: &Maker, here: &Maker, remedy: &str) -> Result<()> {
        if here == there {
            return Ok(());
        }
        self.refuse(format!(
            "begun on {} by version {}, and this is {} and version {}, which may round differently; go on with the \
             same, or {remedy}",
            there.device, there.version, here.device, here.version
        ))
    }

    /// Refuses to go on with a run of another input; `kind` says what the input is.
    pub fn check_input(&self, kind: &str, there: &Value, here: &Value, remedy: &str) -> Result<()> {
        match difference(there, here) {
            None => Ok(()),
            Some(what) => self.refuse(format!(
                "holds a run of another {kind}, there against here: {what}; {remedy}"
            )),
        }
    }

    /// Refuses to write among files that are no run of this kind.
    pub fn refuse_strangers<T>(&self, kind: &str) -> Result<T> {
        self.refuse(format!(
            "there are files in it that are no run of {kind}; give another --out, or --fresh to write among them"
        ))
    }

    /// An error about this folder.
    pub fn refuse<T>(&self, why: impl std::fmt::Display) -> Result<T> {
        bad_input(format!("{}: {why}", self.0.display()))
    }
}

/// Locks a file against other writers as long as it is open. Some file systems of clusters have no locks; there everyone
/// may go on.
pub(super) fn lock(file: &File, path: &Path) -> Result<()> {
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => bad_input(format!(
            "{}: another run is writing to it; wait for it or choose another folder with --out",
            path.display()
        )),
        _ => Ok(()),
    }
}

/// Program and device that compute a run; others may round differently.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Maker {
    /// Version of the program.
    pub version: String,
    /// Device and precision in words.
    pub device: String,
}

impl Maker {
    /// This program on a device.
    pub fn here(device: String) -> Maker {
        Maker::of(env!("CARGO_PKG_VERSION"), device)
    }

    /// A program of some version on a device.
    pub fn of(version: &str, device: String) -> Maker {
        Maker {
            version: version.into(),
            device,
        }
    }
}

/// The texts that a run is computed from, by their names within its folder.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Inputs(pub Vec<(String, String)>);

impl Inputs {
    /// Reads the given files of a folder.
    pub fn read(folder: &Folder, names: impl IntoIterator<Item = String>) -> Result<Inputs> {
        let read = |name: String| folder.read(&name).map(|text| (name, text));
        let texts: Result<_> = names.into_iter().map(read).collect();
        texts.map(Inputs)
    }

    /// One of the texts.
    pub fn text(&self, name: &str) -> Option<&str> {
        let found = self.0.iter().find(|(n, _)| n == name);
        found.map(|(_, text)| text.as_str())
    }

    /// A number that is another for other texts.
    pub fn fingerprint(&self) -> u64 {
        fingerprint(self.0.iter().flat_map(|(_, text)| text.bytes()))
    }

    /// Writes the texts, the first one last: where it lies, the others are complete.
    pub fn write(&self, folder: &Folder) -> Result<()> {
        let mut texts = self.0.iter().rev();
        texts.try_for_each(|(name, text)| folder.write(name, text.as_bytes()))
    }

    /// The first of the texts that is another one in a folder, and how they differ where both are JSON. Texts that the
    /// folder does not hold are left out.
    pub fn difference(&self, folder: &Folder) -> Result<Option<String>> {
        let json = |text: &str| serde_json::from_str::<Value>(text).ok();
        for (name, here) in self.0.iter().filter(|(name, _)| folder.has(name)) {
            let (there, here) = (folder.read(name)?, here.trim_start_matches('\u{feff}'));
            if there == here {
                continue;
            }
            let values = json(&there).zip(json(here));
            let what = values.and_then(|(there, here)| difference(&there, &here));
            let what = what.map_or(String::new(), |w| format!(", there against here: {w}"));
            return Ok(Some(format!("{name} is another one{what}")));
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn temporary(name: &str) -> Folder {
        let name = format!("rumple-folder-{name}-{}", std::process::id());
        let folder = Folder::new(std::env::temp_dir().join(name));
        folder.remove("").unwrap();
        folder
    }

    #[test]
    fn inputs_come_back_and_others_are_told_apart() {
        let folder = temporary("inputs");
        let inputs = |seed: u32, row: &str| {
            let case = format!("{{\"seed\": {seed}}}");
            Inputs(vec![
                ("case.json".into(), case),
                ("data/a.csv".into(), row.into()),
            ])
        };
        let held = inputs(1, "1,2\n");
        assert_eq!(held.difference(&folder).unwrap(), None, "an empty folder");
        held.write(&folder).unwrap();
        let names = ["case.json", "data/a.csv"].map(String::from);
        assert_eq!(Inputs::read(&folder, names).unwrap(), held);
        assert_eq!(held.difference(&folder).unwrap(), None);
        let said = inputs(2, "1,2\n").difference(&folder).unwrap().unwrap();
        assert!(
            said.contains("case.json") && said.contains("seed: 1 against 2"),
            "{said}"
        );
        let other = inputs(1, "1,3\n");
        assert!(
            other
                .difference(&folder)
                .unwrap()
                .unwrap()
                .contains("data/a.csv")
        );
        assert!(other.fingerprint() != held.fingerprint());
        assert_eq!(folder.names().unwrap(), ["case.json", "data"]);
        folder.remove("data").unwrap();
        folder.remove("data").unwrap();
        assert!(!folder.has("data/a.csv"));
        folder.remove("").unwrap();
    }

    #[test]
    fn a_folder_of_another_maker_or_input_says_what_differs() {
        let folder = Folder::new("run");
        let here = Maker::here("cpu, f64".into());
        let there = Maker::here("cpu, f32".into());
        folder.check_maker(&here, &here, "").unwrap();
        let said = folder.check_maker(&there, &here, "use --fresh");
        let said = said.unwrap_err().to_string();
        assert!(said.starts_with("run: begun on cpu, f32"), "{said}");
        assert!(said.contains("this is cpu, f64") && said.ends_with("use --fresh"));
        let [a, b] = [1, 2].map(|seed| serde_json::json!({ "seed": seed }));
        folder.check_input("case", &a, &a, "").unwrap();
        let said = folder
            .check_input("case", &a, &b, "")
            .unwrap_err()
            .to_string();
        assert!(said.contains("another case") && said.contains("seed: 1 against 2"));
    }

    #[test]
    fn a_name_is_made_of_letters_and_taken_ones_are_counted_on() {
        assert_eq!(Folder::named("a b/c", "fit").path(), Path::new("a-b-c-fit"));
        let folder = temporary("free");
        folder.make().unwrap();
        let next = folder.clone().or_next_free();
        assert!(next.path().display().to_string().ends_with("-2"));
        folder.remove("").unwrap();
        assert_eq!(folder.clone().or_next_free(), folder);
    }
}
