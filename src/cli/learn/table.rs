//! Tables of an evaluation, set as text, Markdown and CSV.

use super::{below::below, drift};
use crate::{
    cli::table,
    learn::{
        evaluate::{BASELINE, Bent, CURRICULUM, Control, ELASTIC, Evaluation, MEAN, Score},
        metrics::Metrics,
        run::rows::SYNTHETIC,
    },
};

/// One table with a sentence above it.
pub(super) struct Block {
    pub title: String,
    pub header: Vec<String>,
    pub rows: Vec<Vec<String>>,
}

impl Block {
    pub(crate) fn text(&self) -> String {
        let header: Vec<&str> = self.header.iter().map(String::as_str).collect();
        format!("{}\n{}\n", self.title, table(&header, &self.rows))
    }

    pub(crate) fn markdown(&self) -> String {
        // |ε_p| would end a cell.
        let cell = |cell: &String| cell.replace('|', "\\|");
        let line = |cells: &[String]| {
            let cells: Vec<String> = cells.iter().map(cell).collect();
            format!("| {} |\n", cells.join(" | "))
        };
        let rule = vec!["---".to_string(); self.header.len()];
        let rows: String = self.rows.iter().map(|row| line(row)).collect();
        format!(
            "{}\n\n{}{}{rows}\n",
            self.title,
            line(&self.header),
            line(&rule)
        )
    }
}

/// Units in which metrics are easy to read: name, factor.
pub(super) fn shown(name: &str, unit: &str) -> (&'static str, f64) {
    match (name, unit) {
        (_, "rad") => ("rad", 1.0),
        (_, "m") => ("mm", 1e3),
        (_, "m²") => ("mm²", 1e6),
        ("BEN" | "IE", _) => ("µJ", 1e6),
        _ => ("mJ", 1e3),
    }
}

/// Three digits.
pub(super) fn digits(value: f64) -> String {
    if value == 0.0 {
        return "0".into();
    }
    let decimals = (2 - value.abs().log10().floor() as i32).clamp(0, 9);
    format!("{value:.*}", decimals as usize)
}

/// Names and units of all metrics.
pub(super) fn names() -> Vec<String> {
    let named = Metrics::default().named();
    let name = |(name, unit, _): (&str, &str, f64)| format!("{name} {}", shown(name, unit).0);
    named.map(name).to_vec()
}

pub(super) fn values(metrics: &Metrics) -> Vec<f64> {
    let value = |(name, unit, value): (&str, &str, f64)| value * shown(name, unit).1;
    metrics.named().map(value).to_vec()
}

/// All methods on one motion, and how far the curriculum is below the others.
fn scores(evaluation: &Evaluation, motion: &str) -> Block {
    let of_motion: Vec<&Score> = evaluation
        .scores
        .iter()
        .filter(|s| s.motion == motion)
        .collect();
    let named = |name: String, cells: Vec<String>| [vec![name], cells].concat();
    let row = |score: &&Score| {
        let cells = values(&score.metrics).into_iter().map(digits).collect();
        named(score.method.clone(), cells)
    };
    let mut rows: Vec<Vec<String>> = of_motion.iter().map(row).collect();
    let ours = evaluation.score(CURRICULUM, motion);
    for other in [ELASTIC, BASELINE] {
        if let (Some(ours), Some(metrics)) = (ours, evaluation.score(other, motion)) {
            let name = format!("curriculum below {other}");
            rows.push(named(name, below(&[ours], &[metrics])));
        }
    }
    let what = match motion {
        MEAN => "Mean of the unseen motions".to_string(),
        "still" => "A body that never moves".to_string(),
        other => format!("Unseen motion {other}"),
    };
    Block {
        title: format!(
            "{what}, against the reference simulation; synthetic, lower is better, trained for {} cycle{}, seed {}.",
            evaluation.cycles,
            if evaluation.cycles == 1 { "" } else { "s" },
            evaluation.case.seed
        ),
        header: named("method".into(), names()),
        rows,
    }
}

/// Before, during and after the bend.
fn bent(evaluation: &Evaluation) -> Block {
    let row = |b: &Bent| {
        vec![
            b.motion.clone(),
            b.method.clone(),
            b.moment.clone(),
            b.frame.to_string(),
            digits(b.rest_bending),
            digits(b.top_tenth_strain),
        ]
    };
    Block {
        title: "What is bent before, during and after a bend, in rad (synthetic).".into(),
        header: [
            "motion",
            "method",
            "moment",
            "frame",
            "mean |ε_p|",
            "top tenth of |ε|",
        ]
        .map(String::from)
        .to_vec(),
        rows: evaluation.bent.iter().map(row).collect(),
    }
}

fn control(evaluation: &Evaluation) -> Block {
    let row = |c: &Control| {
        vec![
            c.method.clone(),
            digits(c.largest_rest_bending),
            digits(c.final_rest_bending),
        ]
    };
    Block {
        title: "The unloaded control: a body that never moves should leave no rest bending, in rad (synthetic)."
            .into(),
        header: ["method", "largest |ε_p|", "mean |ε_p| of the last frame"]
            .map(String::from)
            .to_vec(),
        rows: evaluation.control.iter().map(row).collect(),
    }
}

fn speed(evaluation: &Evaluation) -> String {
    let times = &evaluation.times;
    let note = match times.in_one_run {
        true => "measured in one run",
        false => {
            "the reference's time is that of the run that made it; remove `references` to measure both in one"
        }
    };
    let [unfinished, frames] = evaluation.unfinished;
    format!(
        "Time a frame: both networks {:.2} ms, the reference simulation {:.0} ms, {:.0} times as long ({note}). \
         {unfinished} of {frames} frames of the references were not minimised to the end.\n",
        1e3 * times.networks,
        1e3 * times.reference,
        times.ratio
    )
}

/// Where networks and reference do not mean the same energy, with a line end.
fn energy_note(evaluation: &Evaluation) -> String {
    let note = evaluation.energy_note.as_ref();
    note.map_or(String::new(), |note| format!("Note: {note}\n"))
}

/// For the terminal: the canonical bend, the mean, the control.
pub(super) fn text(evaluation: &Evaluation) -> String {
    let first = evaluation.scores.first().map_or("", |s| s.motion.as_str());
    scores(evaluation, first).text()
        + &scores(evaluation, MEAN).text()
        + &control(evaluation).text()
        + &drift::table(evaluation).map_or(String::new(), |b| b.text())
        + &speed(evaluation)
        + &energy_note(evaluation)
}

/// Everything.
pub(super) fn markdown(evaluation: &Evaluation) -> String {
    let mut motions: Vec<&str> = Vec::new();
    for score in &evaluation.scores {
        if !motions.contains(&score.motion.as_str()) {
            motions.push(&score.motion);
        }
    }
    let mut text = String::from("# Evaluation on synthetic data\n\n");
    if evaluation.energy_note.is_some() {
        text += &format!("{}\n", energy_note(evaluation));
    }
    for motion in motions {
        text += &scores(evaluation, motion).markdown();
    }
    text + &bent(evaluation).markdown()
        + &control(evaluation).markdown()
        + &drift::table(evaluation).map_or(String::new(), |b| b.markdown())
        + &speed(evaluation)
}

/// A row a method and motion, in SI units.
pub(super) fn csv(evaluation: &Evaluation) -> String {
    let columns = Metrics::default().named();
    let columns = columns.map(|(name, unit, _)| format!("{name}_{}", unit.replace('²', "2")));
    let mut text = format!(
        "{SYNTHETIC}method,motion,{},largest_PE_rad\n",
        columns.join(",")
    );
    for score in &evaluation.scores {
        let values = score.metrics.named().map(|(_, _, value)| value.to_string());
        // Names of motions have commas.
        text += &format!(
            "{},\"{}\",{},{}\n",
            score.method,
            score.motion,
            values.join(","),
            score.largest_plastic_error
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_three_digits() {
        let cases = [
            (0.0107, "0.0107"),
            (12.345, "12.3"),
            (1234.5, "1234"),
            (-0.5, "-0.500"),
        ];
        for (value, text) in cases {
            assert_eq!(digits(value), text);
        }
    }

    #[test]
    fn a_bar_in_a_cell_does_not_end_it() {
        let block = Block {
            title: "t".into(),
            header: vec!["a".into(), "|ε_p|".into()],
            rows: vec![vec!["b".into(), "1".into()]],
        };
        assert_eq!(
            block.markdown(),
            "t\n\n| a | \\|ε_p\\| |\n| --- | --- |\n| b | 1 |\n\n"
        );
    }
}
