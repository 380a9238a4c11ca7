//! Time: the steps of a run, and how fast the material's clocks go in them.

use serde_json::{Value, json};

use super::node::Node;
use crate::error::{Result, readable};

/// A stretch of time in which the material ages faster or slower than the motion.
#[derive(Debug, Clone, PartialEq)]
pub struct Window {
    /// \[s\]
    pub from: f64,
    /// \[s\]
    pub to: f64,
    /// Seconds of the material in a second of the motion.
    pub scale: f64,
}

/// A moment at which the clocks of the hinges jump.
#[derive(Debug, Clone, PartialEq)]
pub struct Jump {
    /// \[s\]: after the step that ends here.
    pub at: f64,
    /// \[s\]
    pub by: f64,
}

/// The time of a run. Step n leads from n·h to (n + 1)·h.
#[derive(Debug, Clone, PartialEq)]
pub struct Clock {
    /// h \[s\].
    pub step: f64,
    pub steps: usize,
    /// Do not overlap.
    pub windows: Vec<Window>,
    /// In the order of the file.
    pub jumps: Vec<Jump>,
}

/// Range of a time step \[s\].
pub(super) const STEP: (f64, f64) = (1e-9, 10.0);
/// Most steps of a run: months of computing even for the smallest mesh.
pub(super) const MOST_STEPS: f64 = 1e7;
/// Longest hold that can be asked for \[s\]: three thousand years.
pub(super) const MOST_SECONDS: f64 = 1e11;
pub(super) const MOST_SCALE: f64 = 1e12;
/// A moment this close to a step's end, in steps, is that end: sums of decimal fractions are not exact.
pub(super) const CLOSE: f64 = 1e-6;

/// Keys of an entry of "clock".
pub(super) const CLOCK: [&str; 5] = ["from_s", "to_s", "time_scale", "at_s", "elapse_s"];

impl Clock {
    pub(super) fn read(top: &Node) -> Result<Clock> {
        let section = top.section()?;
        let step = section.required_number("time_step_s", STEP)?;
        let duration = section.required_number("duration_s", (step, 1e12))?;
        let steps = (duration / step - CLOSE).ceil();
        if steps > MOST_STEPS {
            return top.refuse_key(
                "duration_s",
                format!(
                    "= {} s takes {} steps of time_step_s = {} s, and at most {} are possible; \
                     take longer steps, or let a long hold pass with \"clock\"",
                    readable(duration),
                    readable(steps),
                    readable(step),
                    readable(MOST_STEPS)
                ),
            );
        }
        let mut clock = Clock {
            step,
            steps: steps as usize,
            windows: Vec::new(),
            jumps: Vec::new(),
        };
        for entry in top.list("clock")? {
            clock.read_entry(&entry)?;
        }
        Ok(clock)
    }

    fn read_entry(&mut self, entry: &Node) -> Result<()> {
        let section = entry.known(&CLOCK)?;
        let duration = self.duration();
        let at = section.optional_number("at_s", (0.5 * self.step, duration))?;
        if let Some(at) = at {
            if ["from_s", "to_s", "time_scale"]
                .iter()
                .any(|key| section.has(key))
            {
                return entry.refuse(
                    "has at_s and a window; write {\"at_s\", \"elapse_s\"} and {\"from_s\", \"to_s\", \"time_scale\"} as two entries",
                );
            }
            let by = section.required_number("elapse_s", (0.0, MOST_SECONDS))?;
            self.jumps.push(Jump { at, by });
            return Ok(());
        }
        if section.has("elapse_s") {
            return entry.refuse_key("elapse_s", "needs at_s, the moment when the time passes");
        }
        let (from, to) = interval(entry, "from_s", "to_s", (0.0, duration))?;
        let scale = section.required_number("time_scale", (0.0, MOST_SCALE))?;
        if let Some(other) = self.windows.iter().find(|w| w.from < to && from < w.to) {
            return entry.refuse(format!(
                "from {} to {} s overlaps the window from {} to {} s; only one time scale can hold at a time",
                readable(from),
                readable(to),
                readable(other.from),
                readable(other.to)
            ));
        }
        self.windows.push(Window { from, to, scale });
        Ok(())
    }

    /// \[s\]
    pub fn duration(&self) -> f64 {
        self.steps as f64 * self.step
    }

    /// When a step ends \[s\].
    pub fn end(&self, step: usize) -> f64 {
        (step + 1) as f64 * self.step
    }

    /// The step that ends at a moment, or the next one after it.
    pub fn step_at(&self, seconds: f64) -> usize {
        let number = (seconds / self.step - CLOSE).ceil();
        (number.max(1.0) as usize - 1).min(self.steps - 1)
    }

    /// How long the material takes a step to last \[s\]: by the window that the step's middle is in.
    pub fn material_seconds(&self, step: usize) -> f64 {
        let middle = (step as f64 + 0.5) * self.step;
        let window = self
            .windows
            .iter()
            .find(|w| w.from <= middle && middle < w.to);
        self.step * window.map_or(1.0, |w| w.scale)
    }

    /// By how much the clocks jump after a step \[s\].
    pub fn elapse(&self, step: usize) -> f64 {
        let here = |jump: &&Jump| self.step_at(jump.at) == step;
        self.jumps.iter().filter(here).map(|jump| jump.by).sum()
    }

    pub(super) fn entries(&self) -> Value {
        let windows = self
            .windows
            .iter()
            .map(|w| json!({"from_s": w.from, "to_s": w.to, "time_scale": w.scale}));
        let jumps = self
            .jumps
            .iter()
            .map(|j| json!({"at_s": j.at, "elapse_s": j.by}));
        windows.chain(jumps).collect()
    }
}

/// Two moments under two keys, in order.
pub(super) fn interval(node: &Node, from: &str, to: &str, range: (f64, f64)) -> Result<(f64, f64)> {
    let section = node.section()?;
    let start = section.required_number(from, range)?;
    let end = section.required_number(to, range)?;
    if end <= start {
        return node.refuse_key(
            to,
            format!(
                "= {} is not after {from} = {}; exchange them or make it later",
                readable(end),
                readable(start)
            ),
        );
    }
    Ok((start, end))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clock(text: &str) -> Result<Clock> {
        let value: Value = serde_json::from_str(text).expect("JSON");
        Clock::read(&Node::top("scene", &value))
    }

    /// Windows reach from step to step although 0.3/0.01 is not 30 in binary, and jumps come once.
    #[test]
    fn windows_and_jumps_hit_their_steps() {
        let clock = clock(
            r#"{"time_step_s": 0.01, "duration_s": 1.0, "clock": [
                {"from_s": 0.3, "to_s": 0.4, "time_scale": 5000}, {"at_s": 0.4, "elapse_s": 500}]}"#,
        )
        .expect("a clock");
        assert_eq!(clock.steps, 100);
        let slow: Vec<usize> = (0..100)
            .filter(|&n| clock.material_seconds(n) > 1.0)
            .collect();
        assert_eq!(slow, (30..40).collect::<Vec<_>>());
        assert_eq!(clock.material_seconds(30), 50.0);
        let jumps: Vec<usize> = (0..100).filter(|&n| clock.elapse(n) > 0.0).collect();
        assert_eq!((jumps, clock.elapse(39)), (vec![39], 500.0));
    }

    /// Too many steps are refused before anything is made for them.
    #[test]
    fn endless_runs_are_refused() {
        let text = clock(r#"{"time_step_s": 1e-6, "duration_s": 500}"#)
            .unwrap_err()
            .to_string();
        assert!(text.contains("takes 5e8 steps"), "{text}");
    }
}
