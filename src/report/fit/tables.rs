//! The longer tables of a fit, which only the written reports have room for.

use crate::fit::result::{BootstrapLine, BootstrapResult, FitResult, PointResult};
use crate::report::{
    document::number::{error, interval, number, or_none, precise, score, short, with_error},
    fit::rows::{Column, Table},
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
pub(crate) fn angles(result: &FitResult) -> Table {
    let degrees = |v: f64| format!("{v:.2}");
    let row = |p: &PointResult| {
        let mut row = vec![p.place.clone(), p.group.clone()];
        row.extend(["gap_mm", "press_s", "read_s"].map(|name| or_none(p.setting(name), short)));
        row.extend(p.numbers().map(|v| or_none(Some(v), degrees)));
        row.extend([residual(p), or_none(p.prediction_sd, degrees), used(p)]);
        row
    };
    Table {
        columns: vec![
            ("place", Column::Text),
            ("fabric", Column::Text),
            ("gap [mm]", Column::Number),
            ("pressed [s]", Column::Number),
            ("read after [s]", Column::Number),
            ("measured [°]", Column::Number),
            ("sd [°]", Column::Number),
            ("fitted [°]", Column::Number),
            ("hard [°]", Column::Number),
            ("z", Column::Number),
            ("prediction sd [°]", Column::Number),
            ("use", Column::Text),
        ],
        rows: result
            .points
            .iter()
            .filter(|p| is_angle(p))
            .map(row)
            .collect(),
    }
}

/// Every point of a bending test, in the order of the files.
pub(crate) fn bending(result: &FitResult) -> Table {
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
    Table {
        columns: vec![
            ("place", Column::Text),
            ("fabric", Column::Text),
            ("quantity", Column::Text),
            ("dwell [s]", Column::Number),
            ("curvature [1/m]", Column::Number),
            ("measured", Column::Number),
            ("sd", Column::Number),
            ("fitted", Column::Number),
            ("hard", Column::Number),
            ("unit", Column::Text),
            ("z", Column::Number),
            ("prediction sd", Column::Number),
            ("use", Column::Text),
        ],
        rows: result
            .points
            .iter()
            .filter(|p| !is_angle(p))
            .map(row)
            .collect(),
    }
}

/// The gradient certificate, a line a free parameter.
pub(crate) fn gradient(result: &FitResult) -> Table {
    let lines = &result.gradient_check.parameters;
    Table {
        columns: vec![
            ("parameter", Column::Name),
            ("reverse pass", Column::Number),
            ("central differences", Column::Number),
            ("relative difference", Column::Number),
        ],
        rows: lines
            .iter()
            .map(|line| {
                let relative = (line.reverse - line.differences).abs() / line.differences.abs();
                let shown = Some(relative).filter(|r| r.is_finite());
                vec![
                    line.name.clone(),
                    precise(line.reverse),
                    precise(line.differences),
                    or_none(shown, |r| format!("{r:.1e}")),
                ]
            })
            .collect(),
    }
}

/// Where every start ended.
pub(crate) fn starts(result: &FitResult) -> Table {
    Table {
        columns: vec![
            ("start", Column::Number),
            ("first χ²", Column::Number),
            ("χ² at the end", Column::Number),
            ("best minimum", Column::Text),
            ("rounds", Column::Number),
            ("outcome", Column::Text),
        ],
        rows: result
            .starts
            .iter()
            .map(|s| {
                vec![
                    s.start.to_string(),
                    or_none(s.first_chi2, score),
                    or_none(s.chi2, score),
                    if s.best { "yes" } else { "no" }.into(),
                    s.rounds.to_string(),
                    s.outcome.clone(),
                ]
            })
            .collect(),
    }
}

/// The bootstrap, a line a free parameter.
pub(crate) fn bootstrap(bootstrap: &BootstrapResult) -> Table {
    let row = |line: &BootstrapLine| {
        vec![
            line.name.clone(),
            with_error(line.mean, Some(line.sd)),
            error(line.sd),
            interval(line.ci95.map(Some), Some(line.sd)),
        ]
    };
    Table {
        columns: vec![
            ("parameter", Column::Name),
            ("mean", Column::Number),
            ("sd", Column::Number),
            ("95 % interval", Column::Number),
        ],
        rows: bootstrap.parameters.iter().map(row).collect(),
    }
}

/// The data files.
pub(crate) fn data(result: &FitResult) -> Table {
    Table {
        columns: vec![
            ("file", Column::Name),
            ("points", Column::Number),
            ("what it says about itself", Column::Text),
        ],
        rows: result
            .data
            .iter()
            .map(|d| vec![d.file.clone(), d.points.to_string(), d.remarks.join("; ")])
            .collect(),
    }
}
