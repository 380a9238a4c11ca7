//! `rumple gradcheck`

use std::path::PathBuf;

use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::{Value, json};

use super::{Common, DeviceName, PrecisionName, plot_path, print, print_json, save_plot, table};
use crate::{
    error::{Error, Result, bad_input},
    report::plot::{Chart, Mark, Scale, Series},
    verify::{GradientCase, Reach, gradient_cases, mesh_gradient_cases},
};

/// Check every gradient against central differences in f64 and by its Taylor slope
#[derive(Debug, Args)]
pub(crate) struct GradcheckArguments {
    /// The cloth mesh instead of the laws: every kind of input of a roll-out of 100 steps
    #[arg(long)]
    mesh: bool,
    /// Taylor remainders as a picture [default: gradcheck.svg, none with --json]
    #[arg(long, value_name = "FILE.svg|png")]
    plot: Option<PathBuf>,
}

/// All parameters of one law, gate, test and path, judged by the worst.
struct CaseGroup<'a> {
    cases: Vec<&'a GradientCase>,
}

impl CaseGroup<'_> {
    fn worst(&self) -> &GradientCase {
        self.cases
            .iter()
            .max_by(|a, b| a.check.relative_error.total_cmp(&b.check.relative_error))
            .unwrap_or(&self.cases[0])
    }

    /// The slope farthest from 2.
    fn slope(&self) -> Option<f64> {
        let slopes = self.cases.iter().filter_map(|c| c.check.slope);
        slopes.max_by(|a, b| (a - 2.0).abs().total_cmp(&(b - 2.0).abs()))
    }

    fn verdict(&self) -> &'static str {
        match (self.cases.iter().all(|c| c.passed()), self.cases[0].reach) {
            (false, _) => "FAILED",
            (true, Reach::Biased) => "biased by design",
            (true, Reach::Branchwise) => "ok between branches",
            (true, Reach::Smooth) => "ok",
        }
    }
}

pub(crate) fn run(common: &Common, arguments: &GradcheckArguments) -> Result<()> {
    if common.device == DeviceName::Gpu || common.precision == Some(PrecisionName::F32) {
        return bad_input(
            "gradcheck compares with differences, which takes f64 on the CPU; leave out --device and --precision",
        );
    }
    let path = plot_path(&arguments.plot, common, "gradcheck.svg")?;
    let progress = ProgressBar::new_spinner();
    if let Ok(style) = ProgressStyle::with_template("{spinner} {pos} derivatives, {msg}") {
        progress.set_style(style);
    }
    let mut cases = Vec::new();
    let visit = |case: GradientCase| {
        progress.set_message(format!("{}, {}, {}", case.law, case.gate, case.test));
        progress.inc(1);
        cases.push(case);
    };
    if arguments.mesh {
        mesh_gradient_cases(common.seed(), visit)?;
    } else {
        gradient_cases(common.seed(), visit)?;
    }
    progress.finish_and_clear();

    let groups = group(&cases);
    let failed = cases.iter().filter(|c| !c.passed()).count();
    if common.json {
        let list: Vec<Value> = cases.iter().map(to_json).collect();
        print_json(&json!({ "passed": failed == 0, "derivatives": list }))?;
    } else {
        print(&to_table(&groups))?;
        print(&format!("\n{} derivatives, {failed} failed\n", cases.len()))?;
    }
    if let Some(path) = path {
        save_plot(chart(&cases), &path)?;
    }
    if failed > 0 {
        return Err(Error::CheckFailed(format!(
            "{failed} of {} derivatives failed; the table names them",
            cases.len()
        )));
    }
    Ok(())
}

fn group(cases: &[GradientCase]) -> Vec<CaseGroup<'_>> {
    let same = |a: &GradientCase, b: &GradientCase| {
        (a.law, a.gate, a.test, a.path) == (b.law, b.gate, b.test, b.path)
    };
    cases
        .chunk_by(same)
        .map(|chunk| CaseGroup {
            cases: chunk.iter().collect(),
        })
        .collect()
}

fn to_table(groups: &[CaseGroup]) -> String {
    let rows: Vec<Vec<String>> = groups
        .iter()
        .map(|g| {
            let worst = g.worst();
            vec![
                worst.law.into(),
                worst.gate.into(),
                worst.test.into(),
                worst.path.name().into(),
                format!("{:.1e}", worst.check.relative_error),
                worst.parameter.clone(),
                g.slope().map_or("linear".into(), |s| format!("{s:.3}")),
                g.verdict().into(),
            ]
        })
        .collect();
    table(
        &[
            "law",
            "gate",
            "test",
            "path",
            "worst rel. error",
            "in",
            "slope",
            "verdict",
        ],
        &rows,
    )
}

fn to_json(case: &GradientCase) -> Value {
    json!({
        "law": case.law,
        "gate": case.gate,
        "test": case.test,
        "path": case.path.name(),
        "parameter": case.parameter,
        "derivative": case.check.derivative,
        "central_difference": case.check.difference,
        "relative_error": case.check.relative_error,
        "taylor_slope": case.check.slope,
        "judged": match case.reach {
            Reach::Smooth => "error and slope",
            Reach::Branchwise => "error",
            Reach::Biased => "no, biased by design",
        },
        "passed": case.passed(),
    })
}

/// Remainders of the default law and gate in the crease test, a curve a parameter.
fn chart(cases: &[GradientCase]) -> Chart {
    let of_crease = cases.iter().find(|c| c.test == "crease");
    let first = of_crease.or(cases.first());
    let shown = cases.iter().filter(|c| {
        first.is_some_and(|f| (c.law, c.gate, c.test, c.path) == (f.law, f.gate, f.test, f.path))
    });
    let mut series: Vec<Series> = shown
        .map(|c| {
            let drawn = c.check.remainders.iter().filter(|(_, r)| *r > 0.0);
            Series::new(&c.parameter, Mark::Line, drawn.copied())
        })
        .collect();
    let guide = [1e-2, 1e-7].map(|s: f64| (s, s * s));
    series.push(Series::new("slope 2", Mark::Dashed, guide.to_vec()).color(0));
    Chart {
        title: first.map_or(String::new(), |f| format!("Taylor remainder: {}", f.test)),
        note: first.map(|f| {
            format!(
                "law {}, gate {}, f64; rounding sets the floor",
                f.law, f.gate
            )
        }),
        x_label: "relative step".into(),
        y_label: "RMS of f(x ± s) − f(x) ∓ s·f′(x)".into(),
        x_scale: Scale::Log,
        y_scale: Scale::Log,
        y_range: None,
        series,
    }
}
