//! The report of a study on the terminal.

use crate::report::{
    document::{
        layout::{Align, columns, wrapped},
        number::counted,
    },
    sensitivity::document::{bounds, estimate, measured, origin, unseen, verdict},
};
use crate::sensitivity::result::Sensitivity;

/// A compact report, no line wider than 110 columns.
pub(crate) fn terminal(result: &Sensitivity) -> String {
    [
        heading(result),
        variance(result),
        effects(result),
        combinations(result),
        checks(result),
        notes(result),
    ]
    .concat()
}

fn heading(result: &Sensitivity) -> String {
    let what = format!(
        "{}: {} varied, {} read, {}",
        result.name,
        counted(result.factors.len(), "parameter"),
        counted(result.outputs.len(), "output"),
        counted(result.failures.runs, "run")
    );
    let mut text = wrapped("[[Sensitivity]] ", &what);
    text += &wrapped("    ", origin(result));
    if let Some(verdict) = verdict(result) {
        text += &wrapped("    ", &verdict);
    }
    text
}

fn variance(result: &Sensitivity) -> String {
    let name = &result.outputs[result.main].name;
    let Some(sobol) = &result.sobol else {
        return String::new();
    };
    let mut text = wrapped(
        "[[Shares of the variance]] ",
        &format!("{name}; first order (Saltelli) and total (Jansen) with 95 % intervals"),
    );
    match &sobol.outputs[result.main] {
        None => text += &wrapped("    ", "it does not vary in these ranges"),
        Some(of) => {
            let rows: Vec<Vec<String>> = result
                .sobol_names()
                .into_iter()
                .zip(&of.groups)
                .map(|(name, g)| {
                    vec![
                        name.to_string(),
                        estimate(g.first_saltelli),
                        estimate(g.total_jansen),
                    ]
                })
                .collect();
            text += &columns(&rows, &[Align::Left, Align::Right, Align::Right]).concat();
        }
    }
    text
}

fn effects(result: &Sensitivity) -> String {
    // Shares of the variance say the same with more runs.
    let (Some(morris), None) = (&result.morris, &result.sobol) else {
        return String::new();
    };
    let output = &result.outputs[result.main];
    let what = format!(
        "{} [{}]; μ*, σ with 95 % intervals",
        output.name, output.unit
    );
    let mut text = wrapped("[[Elementary effects]] ", &what);
    let rows: Vec<Vec<String>> = result
        .groups
        .iter()
        .zip(&morris.outputs[result.main])
        .filter_map(|(name, e)| {
            let e = e.as_ref()?;
            let sigma = e.sigma.map_or(String::new(), measured);
            Some(vec![name.clone(), measured(e.mu_star), sigma])
        })
        .collect();
    text += &columns(&rows, &[Align::Left, Align::Right, Align::Right]).concat();
    text
}

fn combinations(result: &Sensitivity) -> String {
    let fisher = result.local.as_ref().and_then(|l| l.fisher.as_ref());
    let Some(fisher) = fisher else {
        return String::new();
    };
    let mut text = wrapped(
        "[[Combinations]] ",
        "of parameters, from stiff to sloppy, as the measurements would see them at the nominal values",
    );
    for combination in fisher.combinations.iter().filter(|c| c.error.is_some()) {
        text += &wrapped("    ", &combination.words);
    }
    if let Some(unseen) = unseen(fisher) {
        text += &wrapped("    ", &unseen);
    }
    text
}

fn checks(result: &Sensitivity) -> String {
    let mut text = String::from("[[Checks]]\n");
    if let Some(sobol) = &result.sobol {
        let stopped = format!(
            "{}; widest interval of a total {:.3}",
            sobol.stopped, sobol.widest
        );
        text += &wrapped("    samples       ", &stopped);
        text += &wrapped("    bounds        ", &bounds(result));
    }
    text += &wrapped("    failed runs   ", &result.failures.treatment);
    text
}

fn notes(result: &Sensitivity) -> String {
    if result.notes.is_empty() {
        return String::new();
    }
    let lines: String = result.notes.iter().map(|n| wrapped("    - ", n)).collect();
    format!("[[Notes]]\n{lines}")
}
