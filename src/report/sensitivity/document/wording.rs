//! Estimates and findings in words.

use crate::{
    report::document::number::{number, short},
    sensitivity::{interval::Estimate, result::Sensitivity},
};

/// "0.312 [0.281, 0.344]".
pub(crate) fn estimate(e: Estimate) -> String {
    let text = |v: f64| format!("{v:.3}").replace("-0.000", "0.000");
    format!("{} [{}, {}]", text(e.value), text(e.low), text(e.high))
}

/// "12.3 [11.2, 14.5]" for numbers of any size.
pub(crate) fn measured(e: Estimate) -> String {
    format!(
        "{} [{}, {}]",
        number(e.value),
        number(e.low),
        number(e.high)
    )
}

/// What matters most for the main output, in a sentence.
pub(crate) fn verdict(result: &Sensitivity) -> Option<String> {
    let name = &result.outputs[result.main].name;
    let labels = &result.groups;
    let mut ranked: Vec<(f64, String)> = if let Some(sobol) = &result.sobol {
        let of = sobol.outputs[result.main].as_ref()?;
        let pairs = labels.iter().zip(&of.groups);
        pairs
            .map(|(n, g)| {
                (
                    g.total_jansen.value,
                    format!("{n} ({:.0} %)", 100.0 * g.total_jansen.value),
                )
            })
            .collect()
    } else if let Some(morris) = &result.morris {
        let pairs = labels.iter().zip(&morris.outputs[result.main]);
        let unit = &result.outputs[result.main].unit;
        pairs
            .filter_map(|(n, e)| {
                let size = e.as_ref()?.mu_star.value;
                Some((size, format!("{n} (μ* {} {unit})", short(size))))
            })
            .collect()
    } else {
        return None;
    };
    ranked.sort_by(|a, b| b.0.total_cmp(&a.0));
    let first: Vec<String> = ranked.into_iter().take(3).map(|r| r.1).collect();
    Some(format!("the {name} depends most on {}", first.join(", ")))
}

/// Whether every total keeps its bound.
pub(crate) fn bounds(result: &Sensitivity) -> String {
    let above = result.sobol.as_ref().map_or(0, |s| s.above_bound.len());
    match (&result.derivative, above) {
        (None, _) => "not computed (method dgsm)".into(),
        (Some(_), 0) => "every total is below its bound".into(),
        (Some(_), 1) => "1 total is above its bound (listed in the report)".into(),
        (Some(_), n) => format!("{n} totals are above their bounds (listed in the report)"),
    }
}
