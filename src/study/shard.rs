//! Which share of the tasks a process runs.

use std::{fmt, str::FromStr};

/// Share `index` of `count`, from 1; `2/4` on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shard {
    index: usize,
    count: usize,
}

impl Shard {
    /// All tasks.
    pub const WHOLE: Shard = Shard { index: 1, count: 1 };

    /// Share `index` of `count`, from 1; none unless 1 ≤ index ≤ count.
    pub fn new(index: usize, count: usize) -> Option<Shard> {
        (1..=count)
            .contains(&index)
            .then_some(Shard { index, count })
    }

    /// Whether it is all there is.
    pub fn is_whole(self) -> bool {
        self.count == 1
    }

    /// All shards of the same cut.
    pub fn siblings(self) -> impl Iterator<Item = Shard> {
        let count = self.count;
        (1..=count).map(move |index| Shard { index, count })
    }

    /// Its tasks, of so many. Dealt like cards: neighbours are often equally dear.
    pub fn share(self, tasks: usize) -> impl Iterator<Item = usize> {
        (self.index - 1..tasks).step_by(self.count)
    }
}

impl Default for Shard {
    /// All tasks.
    fn default() -> Shard {
        Shard::WHOLE
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}/{}", self.index, self.count)
    }
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Shard, String> {
        let numbers = text.split_once('/');
        let numbers = numbers.and_then(|(i, n)| Some((i.parse().ok()?, n.parse().ok()?)));
        let shard = numbers.and_then(|(index, count)| Shard::new(index, count));
        shard.ok_or_else(|| "not a share; give i/n with i from 1 to n, such as 2/4".into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_task_is_in_one_shard() {
        for (tasks, count) in [(10, 1), (10, 3), (2, 5)] {
            let first = Shard::new(1, count).unwrap();
            let mut all: Vec<usize> = first.siblings().flat_map(|s| s.share(tasks)).collect();
            all.sort_unstable();
            assert_eq!(all, (0..tasks).collect::<Vec<_>>());
        }
    }

    #[test]
    fn what_is_no_share_is_refused() {
        for text in ["0/2", "3/2", "1", "1/0", "a/b", "-1/2", ""] {
            assert!(text.parse::<Shard>().is_err(), "{text}");
        }
        let shard: Shard = "2/4".parse().unwrap();
        assert_eq!(shard.to_string(), "2/4");
    }
}
