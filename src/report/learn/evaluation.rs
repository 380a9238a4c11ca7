//! Tables of an evaluation, set as text, Markdown and CSV.

use super::{
    below::below,
    drift,
    table::{TableBlock, digits, grouped, metric_header, values},
};
use crate::{
    learn::{
        evaluate::{BASELINE, Bent, CURRICULUM, Control, ELASTIC, Evaluation, MEAN, Score},
        metrics::Metrics,
        run::rows::SYNTHETIC,
    },
    report::document::number::counted,
};

/// All methods on one motion, and how far the curriculum is below the others.
fn scores(evaluation: &Evaluation, motion: &str) -> TableBlock {
    let named = |name: String, cells: Vec<String>| [vec![name], cells].concat();
    let row = |score: &Score| {
        let cells = values(&score.metrics).into_iter().map(digits).collect();
        named(score.method.clone(), cells)
    };
    let of_motion = evaluation.scores.iter().filter(|s| s.motion == motion);
    let mut rows: Vec<Vec<String>> = of_motion.map(row).collect();
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
    let title = format!(
        "{what}, against the reference simulation; synthetic, lower is better, trained for {}, seed {}.",
        counted(evaluation.cycles, "cycle"),
        evaluation.case.seed
    );
    TableBlock::new(title, &metric_header("method"), rows)
}

/// Before, during and after the bend.
fn bent(evaluation: &Evaluation) -> TableBlock {
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
    TableBlock::new(
        "What is bent before, during and after a bend, in rad (synthetic).".into(),
        "motion; method; moment; frame; mean |ε_p|; top tenth of |ε|",
        evaluation.bent.iter().map(row).collect(),
    )
}

fn control(evaluation: &Evaluation) -> TableBlock {
    let row = |c: &Control| {
        vec![
            c.method.clone(),
            digits(c.largest_rest_bending),
            digits(c.final_rest_bending),
        ]
    };
    TableBlock::new(
        "The unloaded control: a body that never moves should leave no rest bending, in rad (synthetic)."
            .into(),
        "method; largest |ε_p|; mean |ε_p| of the last frame",
        evaluation.control.iter().map(row).collect(),
    )
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
pub(crate) fn text(evaluation: &Evaluation) -> String {
    let first = evaluation.scores.first().map_or("", |s| s.motion.as_str());
    scores(evaluation, first).text()
        + &scores(evaluation, MEAN).text()
        + &control(evaluation).text()
        + &drift::table(evaluation).map_or(String::new(), |b| b.text())
        + &speed(evaluation)
        + &energy_note(evaluation)
}

/// Everything.
pub(crate) fn markdown(evaluation: &Evaluation) -> String {
    let mut text = String::from("# Evaluation on synthetic data\n\n");
    if evaluation.energy_note.is_some() {
        text += &format!("{}\n", energy_note(evaluation));
    }
    for (motion, _) in grouped(&evaluation.scores, |s| &s.motion) {
        text += &scores(evaluation, motion).markdown();
    }
    text + &bent(evaluation).markdown()
        + &control(evaluation).markdown()
        + &drift::table(evaluation).map_or(String::new(), |b| b.markdown())
        + &speed(evaluation)
}

/// A row a method and motion, in SI units.
pub(crate) fn csv(evaluation: &Evaluation) -> String {
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
