//! The watcher of every long command: draws progress, says remarks, and stops at Ctrl-C.

use std::{
    ops::ControlFlow,
    sync::{
        Once,
        atomic::{AtomicBool, Ordering},
    },
};

use indicatif::{ProgressBar, ProgressStyle};

use super::{INTERRUPTED, say};
use crate::study::News;

/// Whether Ctrl-C was pressed; the first call starts to listen. A second Ctrl-C ends the program at once.
pub(super) fn interrupted() -> bool {
    static PRESSED: AtomicBool = AtomicBool::new(false);
    static LISTEN: Once = Once::new();
    LISTEN.call_once(|| {
        // Where no handler can be had, Ctrl-C ends the program; the journal still holds its work.
        let _ = ctrlc::set_handler(|| {
            if PRESSED.swap(true, Ordering::SeqCst) {
                std::process::exit(i32::from(INTERRUPTED));
            }
        });
    });
    PRESSED.load(Ordering::SeqCst)
}

/// A line that shows that work goes on; silent when nobody watches.
pub(super) fn spinner(message: String) -> ProgressBar {
    let spinner = ProgressBar::new_spinner().with_message(message);
    spinner.enable_steady_tick(std::time::Duration::from_millis(200));
    spinner
}

/// A bar with a template of indicatif.
pub(super) fn bar(template: &str) -> ProgressBar {
    let bar = ProgressBar::new(0);
    let style = ProgressStyle::with_template(template);
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    bar
}

/// A watcher with its line on the terminal, which goes when the watcher does.
pub(super) struct Shown {
    bar: ProgressBar,
    /// What stands before the message, and for jobs that say nothing what is counted.
    label: Option<(String, &'static str)>,
    is_first: bool,
}

impl Shown {
    /// Listens to Ctrl-C from here on: the first round may be a long one.
    pub(crate) fn new(bar: ProgressBar) -> Shown {
        interrupted();
        Shown {
            bar,
            label: None,
            is_first: true,
        }
    }

    /// A line such as `bootstrap: 3 of 12 batches`, or what the job itself says.
    pub(crate) fn line(label: &str, unit: &'static str) -> Shown {
        let mut shown = Shown::new(spinner(label.into()));
        shown.label = Some((label.into(), unit));
        shown
    }

    /// A bar over so many things of a kind, with the time left.
    pub(crate) fn bar(unit: &str) -> Shown {
        Shown::new(bar(&format!(
            "{{bar:30}} {{pos}}/{{len}} {unit}, {{eta}} left  {{msg}}"
        )))
    }

    /// The watcher.
    pub(crate) fn hear(&mut self, news: News) -> ControlFlow<()> {
        match news {
            News::Remark(text) => self.bar.suspend(|| say(text)),
            News::Progress(progress) => {
                let (done, all) = (progress.done, progress.all);
                match &self.label {
                    Some((label, unit)) if progress.text.is_empty() => {
                        self.bar
                            .set_message(format!("{label}: {done} of {all} {unit}"));
                    }
                    _ => self.bar.set_message(progress.text.clone()),
                }
                // The line of a spinner counts nothing.
                if self.label.is_none() {
                    self.bar.set_length(all as u64);
                    self.bar.set_position(done as u64);
                }
                if std::mem::take(&mut self.is_first) {
                    self.bar.reset_eta();
                }
            }
        }
        match interrupted() {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    }
}

impl Drop for Shown {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
