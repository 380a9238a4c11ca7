use std::{
    ops::ControlFlow,
    path::PathBuf,
    sync::atomic::{AtomicUsize, Ordering},
};

use serde_json::json;

use super::*;
use crate::{error::bad_input, numeric::Random};

/// Sums of random numbers, and how many were made.
struct Sums {
    seed: u64,
    count: usize,
    made: AtomicUsize,
    broken: Option<usize>,
}

impl Sums {
    fn new(count: usize) -> Sums {
        Sums {
            seed: 1,
            count,
            made: AtomicUsize::new(0),
            broken: None,
        }
    }

    fn made(&self) -> usize {
        self.made.swap(0, Ordering::SeqCst)
    }
}

impl Tasks for Sums {
    fn study(&self) -> &'static str {
        "sums"
    }

    fn identity(&self) -> Value {
        json!({ "seed": self.seed })
    }

    fn names(&self) -> Vec<String> {
        (0..self.count).map(|i| format!("sum {i}")).collect()
    }
}

impl Work for Sums {
    fn run(&self, task: &Task, index: usize) -> Result<Value> {
        if self.broken == Some(index) {
            return bad_input(format!("'{}' is broken", task.name));
        }
        self.made.fetch_add(1, Ordering::SeqCst);
        let mut random = Random(task.seed);
        Ok(json!((0..100).map(|_| random.normal()).sum::<f64>()))
    }
}

/// A folder that is removed at the end.
struct TemporaryPlace(PathBuf);

impl TemporaryPlace {
    fn new(name: &str) -> TemporaryPlace {
        let name = format!("rumple-tasks-{name}-{}", std::process::id());
        let place = TemporaryPlace(std::env::temp_dir().join(name));
        let _ = std::fs::remove_dir_all(&place.0);
        std::fs::create_dir_all(&place.0).unwrap();
        place
    }

    fn folder(&self, name: &str) -> PathBuf {
        let folder = self.0.join(name);
        std::fs::create_dir_all(&folder).unwrap();
        folder
    }
}

impl Drop for TemporaryPlace {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn go_on(_: News) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

/// Tasks done, and how many there are.
fn counts(news: News) -> (usize, usize) {
    match news {
        News::Progress(p) => (p.done, p.all),
        News::Remark(text) => panic!("{text}"),
    }
}

fn whole(work: &Sums, folder: &Path) -> Vec<Value> {
    run(work, Shard::WHOLE, folder, &mut go_on)
        .unwrap()
        .unwrap()
}

/// Runs shards 1 to `count` and gives their folders.
fn shards(work: &Sums, place: &TemporaryPlace, count: usize) -> Vec<PathBuf> {
    let made = (1..=count).map(|i| {
        let folder = place.folder(&format!("{i}-of-{count}"));
        let shard = Shard::new(i, count).unwrap();
        assert!(run(work, shard, &folder, &mut go_on).unwrap().is_none());
        folder
    });
    made.collect()
}

fn merged(work: &Sums, folders: &[PathBuf], out: &Path) -> Result<Vec<Value>> {
    let mut journal = Journal::open(&out.join(JOURNAL))?;
    merge(work, &Shards::open(folders)?, &mut journal)?;
    Ok(run_in(work, Shard::WHOLE, &mut journal, &mut go_on)?.unwrap())
}

/// The message of a merge that must be refused.
fn refused(work: &Sums, folders: &[PathBuf], out: &Path) -> String {
    merged(work, folders, out).unwrap_err().to_string()
}

// Two and three shards, the first stopped at every task, give the bits of one machine; nothing is made twice.
#[test]
fn shards_that_were_stopped_join_to_the_same_bits() {
    let place = TemporaryPlace::new("join");
    let work = Sums::new(11);
    let reference = whole(&work, &place.folder("whole"));
    assert_eq!(work.made(), 11);
    assert!(reference.iter().all(|v| v.as_f64().unwrap() != 0.0));
    for count in [2, 3] {
        let first = place.folder(&format!("1-of-{count}"));
        let shard = Shard::new(1, count).unwrap();
        let mut runs = 0;
        while run(&work, shard, &first, &mut |news| {
            let (done, all) = counts(news);
            if done == all || runs == 0 {
                ControlFlow::Continue(())
            } else {
                ControlFlow::Break(())
            }
        })
        .is_err()
        {
            runs += 1;
        }
        let folders = shards(&work, &place, count);
        assert_eq!(work.made(), 11);
        let out = place.folder(&format!("merged-{count}"));
        assert_eq!(merged(&work, &folders, &out).unwrap(), reference);
        assert_eq!(whole(&work, &out), reference);
        assert_eq!(work.made(), 0, "all came from the journals");
    }
}

// A run that is told to stop keeps what is done, says so, and goes on with the rest; more tasks go on too.
#[test]
fn a_stopped_run_goes_on() {
    let place = TemporaryPlace::new("stop");
    // Enough that no number of threads has begun them all.
    let count = 9 + 4 * rayon::current_num_threads();
    let work = Sums::new(count);
    let folder = place.folder("a");
    let mut stop = |news: News| match counts(news) {
        (0..3, _) => ControlFlow::Continue(()),
        _ => ControlFlow::Break(()),
    };
    let error = run(&work, Shard::WHOLE, &folder, &mut stop).unwrap_err();
    assert!(matches!(error, Error::Interrupted(_)), "{error}");
    let first = work.made();
    assert!((3..count).contains(&first), "{first}");
    let half = whole(&work, &folder);
    assert_eq!(work.made(), count - first);
    let more = Sums::new(count + 3);
    assert_eq!(whole(&more, &folder)[..count], half);
    assert_eq!(more.made(), 3);
}

// A task that fails is named and costs no other its result.
#[test]
fn a_failure_keeps_what_was_done() {
    let place = TemporaryPlace::new("fail");
    let folder = place.folder("a");
    let mut work = Sums::new(6);
    work.broken = Some(5);
    let error = run(&work, Shard::WHOLE, &folder, &mut go_on).unwrap_err();
    assert!(error.to_string().contains("'sum 5' is broken"), "{error}");
    assert_eq!(work.made(), 5);
    work.broken = None;
    whole(&work, &folder);
    assert_eq!(work.made(), 1);
}

// A hole is named with the command that fills it, whether its shard was begun or not.
#[test]
fn a_missing_shard_is_named() {
    let place = TemporaryPlace::new("missing");
    set_command(["rumple", "test"].map(String::from));
    let work = Sums::new(7);
    let folders = shards(&work, &place, 3);
    let said = refused(&work, &folders[..2], &place.folder("out"));
    for fragment in ["2 of 7", "sum 2, sum 5", "shard 3/3 is made by"] {
        assert!(said.contains(fragment), "{said}");
    }
    let journal = folders[1].join(JOURNAL);
    let text = std::fs::read_to_string(&journal).unwrap();
    std::fs::write(&journal, &text[..text.len() - 20]).unwrap();
    let said = refused(&work, &folders, &place.folder("out"));
    assert!(
        said.contains("1 of 7") && said.contains("shard 2/3 goes on with"),
        "{said}"
    );
    let said = refused(&work, &[place.folder("empty")], &place.folder("out"));
    assert!(said.contains("--shard"), "{said}");
}

// A shard of another case is refused with what differs; so is a run in its folder.
#[test]
fn another_case_is_refused() {
    let place = TemporaryPlace::new("other");
    let work = Sums::new(4);
    let mut folders = shards(&work, &place, 2);
    let mut other = Sums::new(4);
    other.seed = 2;
    folders[1] = place.folder("other");
    run(&other, Shard::new(2, 2).unwrap(), &folders[1], &mut go_on).unwrap();
    let said = refused(&work, &folders, &place.folder("out"));
    assert!(
        said.contains("seed: 2 against 1") && said.contains("other"),
        "{said}"
    );
    let said = run(&work, Shard::WHOLE, &folders[1], &mut go_on).unwrap_err();
    assert!(said.to_string().contains("seed: 2 against 1"), "{said}");
}

// A line that is no longer JSON, and one in which a digit has changed, are named by file and line.
#[test]
fn a_corrupt_line_is_named() {
    let place = TemporaryPlace::new("corrupt");
    let work = Sums::new(4);
    let folders = shards(&work, &place, 2);
    let journal = folders[0].join(JOURNAL);
    let text = std::fs::read_to_string(&journal).unwrap();
    let digit = text.lines().nth(1).unwrap().to_string();
    let place_of = digit.rfind(|c: char| c.is_ascii_digit()).unwrap();
    let changed = if digit.as_bytes()[place_of] == b'1' {
        "2"
    } else {
        "1"
    };
    let mut changed_line = digit.clone();
    changed_line.replace_range(place_of..=place_of, changed);
    for bad in ["rubbish", changed_line.as_str()] {
        std::fs::write(&journal, text.replace(&digit, bad)).unwrap();
        let said = refused(&work, &folders, &place.folder("out"));
        let place = format!("{} line 2", journal.display());
        assert!(
            said.contains(&place) && said.contains("remove that line"),
            "{said}"
        );
    }
    // The remedy works.
    std::fs::write(&journal, text.replace(&format!("{digit}\n"), "")).unwrap();
    assert!(run(&work, Shard::new(1, 2).unwrap(), &folders[0], &mut go_on).is_ok());
    assert!(merged(&work, &folders, &place.folder("out")).is_ok());
}

// Two machines that disagree are not joined in silence.
#[test]
fn results_that_contradict_are_refused() {
    let place = TemporaryPlace::new("contradict");
    let work = Sums::new(4);
    let folders = shards(&work, &place, 2);
    let strange = place.folder("strange");
    let mut journal = Journal::open(&strange.join(JOURNAL)).unwrap();
    record::begin(&work, Shard::new(1, 2).unwrap(), &mut journal).unwrap();
    let task = &id::tasks(&work).unwrap()[0];
    record::keep(&mut journal, task, &json!(0.5)).unwrap();
    drop(journal);
    let said = refused(
        &work,
        &[folders, vec![strange]].concat(),
        &place.folder("out"),
    );
    assert!(
        said.contains("'sum 0'") && said.contains("differently"),
        "{said}"
    );
}
