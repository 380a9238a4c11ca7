//! The longer tables of a fit, which only the written reports have room for.

use crate::fit::result::{BootstrapLine, BootstrapResult, FitResult, PointResult};
use crate::report::{
    document::number::{error, interval, number, or_none, precise, score, short, with_error},
    fit::rows::ReportTable,
};

/// Whether a point is a recovery angle; all others have a quantity and a unit.
fn is_angle(point: &PointResult) -> bool {
    point.measured_deg.is_some()
}

fn used(point: &PointResult) -> String {
    if point.held_out { "held out" } else { "fitted" }.into()
}

/// (measured − fitted)/sd with its sign.
fn residual(point: &PointResult) -> String {
    or_none(Some(point.residual()).filter(|z| z.is_finite()), |z| {
        format!("{z:+.2}")
    })
}

/// Every recovery angle, in the order of the files.
pub(crate) fn angles(result: &FitResult) -> ReportTable {
    let degrees = |v: f64| format!("{v:.2}");
    let row = |p: &PointResult| {
        let mut row = vec![p.place.clone(), p.group.clone()];
        row.extend(["gap_mm", "press_s", "read_s"].map(|name| or_none(p.setting(name), short)));
        row.extend(p.numbers().map(|v| or_none(Some(v), degrees)));
        row.extend([residual(p), or_none(p.prediction_sd, degrees), used(p)]);
        row
    };
    ReportTable::new(
        "place; fabric; #gap [mm]; #pressed [s]; #read after [s]; #measured [°]; #sd [°]; #fitted [°]; #hard [°]; #z; #prediction sd [°]; use",
        result.points.iter().filter(|p| is_angle(p)).map(row),
    )
}

/// Every point of a bending test, in the order of the files.
pub(crate) fn bending(result: &FitResult) -> ReportTable {
    let row = |p: &PointResult| {
        let text = |t: &Option<String>| t.clone().unwrap_or_default();
        let mut row = vec![p.place.clone(), p.group.clone(), text(&p.quantity)];
        let angle = p.setting("turn_deg").or(p.setting("angle_deg"));
        if let (Some(angle), Some(quantity)) = (angle, row.last_mut()) {
            *quantity += &format!(" at {}°", short(angle));
        }
        row.extend(["press_s", "curvature_per_m"].map(|name| or_none(p.setting(name), short)));
        let [measured, sd, fitted, hard] = p.numbers();
        row.extend([number(measured), error(sd), number(fitted), number(hard)]);
        row.extend([
            text(&p.unit),
            residual(p),
            or_none(p.prediction_sd, error),
            used(p),
        ]);
        row
    };
    ReportTable::new(
        "place; fabric; quantity; #dwell [s]; #curvature [1/m]; #measured; #sd; #fitted; #hard; unit; #z; #prediction sd; use",
        result.points.iter().filter(|p| !is_angle(p)).map(row),
    )
}

/// The gradient certificate, a line a free parameter.
pub(crate) fn gradient(result: &FitResult) -> ReportTable {
    let lines = &result.gradient_check.parameters;
    ReportTable::new(
        "@parameter; #reverse pass; #central differences; #relative difference",
        lines.iter().map(|line| {
            let relative = (line.reverse - line.differences).abs() / line.differences.abs();
            let shown = Some(relative).filter(|r| r.is_finite());
            vec![
                line.name.clone(),
                precise(line.reverse),
                precise(line.differences),
                or_none(shown, |r| format!("{r:.1e}")),
            ]
        }),
    )
}

/// Where every start ended.
pub(crate) fn starts(result: &FitResult) -> ReportTable {
    ReportTable::new(
        "#start; #first χ²; #χ² at the end; best minimum; #rounds; outcome",
        result.starts.iter().map(|s| {
            vec![
                s.start.to_string(),
                or_none(s.first_chi2, score),
                or_none(s.chi2, score),
                if s.best { "yes" } else { "no" }.into(),
                s.rounds.to_string(),
                s.outcome.clone(),
            ]
        }),
    )
}

/// The bootstrap, a line a free parameter.
pub(crate) fn bootstrap(bootstrap: &BootstrapResult) -> ReportTable {
    let row = |line: &BootstrapLine| {
        vec![
            line.name.clone(),
            with_error(line.mean, Some(line.sd)),
            error(line.sd),
            interval(line.ci95.map(Some), Some(line.sd)),
        ]
    };
    ReportTable::new(
        "@parameter; #mean; #sd; #95 % interval",
        bootstrap.parameters.iter().map(row),
    )
}

pub(crate) fn data(result: &FitResult) -> ReportTable {
    ReportTable::new(
        "@file; #points; what it says about itself",
        result
            .data
            .iter()
            .map(|d| vec![d.file.clone(), d.points.to_string(), d.remarks.join("; ")]),
    )
}
