//! Fisher ellipses: what the measurements know of pairs of parameters.

use super::{Drawn, Topic, note, short, slug};
use crate::{
    report::plot::{Chart, Mark, Scale, Series},
    sensitivity::result::Sensitivity,
};

/// Pairs that are pictured: the most correlated ones.
const PAIRS: usize = 3;
/// √ of the 95 % quantile of χ² with two degrees of freedom.
const RADIUS: f64 = 2.447_746_830_680_816;
/// Points of an ellipse.
const POINTS: usize = 120;
/// Furthest logarithm that is drawn: a thousandfold.
const FAR: f64 = 6.9;

/// Ellipses of the most correlated pairs.
pub(super) fn ellipses(result: &Sensitivity) -> Vec<Drawn> {
    let fisher = result.local.as_ref().and_then(|l| l.fisher.as_ref());
    let Some(fisher) = fisher else {
        return Vec::new();
    };
    let c = &fisher.covariance;
    let mut pairs = Vec::new();
    for i in 0..c.len() {
        for j in 0..i {
            let r = c[i][j] / (c[i][i] * c[j][j]).sqrt();
            let positive = result.factors[i].nominal > 0.0 && result.factors[j].nominal > 0.0;
            if r.is_finite() && positive {
                pairs.push((j, i, r));
            }
        }
    }
    pairs.sort_by(|a, b| b.2.abs().total_cmp(&a.2.abs()));
    pairs.truncate(PAIRS);
    let drawn = pairs.into_iter().map(|(i, j, r)| {
        let (a, b) = (&result.factors[i], &result.factors[j]);
        let free = [c[i][i], c[i][j], c[j][j]];
        let f = &fisher.matrix;
        let fixed = inverse([f[i][i], f[i][j], f[j][j]]);
        let line = |label: &str, m: [f64; 3], mark: Mark, color: usize| {
            let points = ellipse(m).into_iter();
            let points = points.map(|(x, y)| (a.nominal * x.exp(), b.nominal * y.exp()));
            Series::new(label, mark, points).color(color)
        };
        let mut series = vec![line("all others unknown", free, Mark::Line, 4)];
        series.extend(fixed.map(|m| line("all others known", m, Mark::Dashed, 5)));
        let label = format!("nominal: {}, {}", short(a.nominal), short(b.nominal));
        let nominal = [(a.nominal, b.nominal)];
        series.push(Series::new(label, Mark::Points, nominal).color(0));
        let axis = |f: &crate::sensitivity::factor::Factor| match f.unit.as_str() {
            "1" => f.symbol.clone(),
            unit => format!("{} [{unit}]", f.symbol),
        };
        Drawn {
            stem: format!("fisher-{}-{}", slug(&a.name), slug(&b.name)),
            caption: format!(
                "What the measurements would know of {} and {} (95 % ellipses in the logarithms; correlation {r:+.3})",
                a.name, b.name
            ),
            topic: Topic::Local,
            picture: Chart {
                title: format!("Fisher ellipse of {} and {}", a.symbol, b.symbol),
                note: note(result, &format!("95 %, correlation {r:+.3}")),
                x_label: axis(a),
                y_label: axis(b),
                x_scale: scale(free[0]),
                y_scale: scale(free[2]),
                series,
                ..Chart::default()
            }
            .into(),
        }
    });
    drawn.collect()
}

/// A wide ellipse of logarithms is drawn on log axes.
fn scale(variance: f64) -> Scale {
    if variance.sqrt() > 0.2 {
        Scale::Log
    } else {
        Scale::Linear
    }
}

fn inverse([a, b, c]: [f64; 3]) -> Option<[f64; 3]> {
    let determinant = a * c - b * b;
    (determinant > 0.0).then(|| [c / determinant, -b / determinant, a / determinant])
}

/// Points of the 95 % ellipse of a covariance.
fn ellipse([a, b, c]: [f64; 3]) -> Vec<(f64, f64)> {
    // The factor of Cholesky.
    let first = a.max(0.0).sqrt();
    let across = if first > 0.0 { b / first } else { 0.0 };
    let second = (c - across * across).max(0.0).sqrt();
    (0..=POINTS)
        .map(|k| {
            let angle = std::f64::consts::TAU * k as f64 / POINTS as f64;
            let (u, v) = (RADIUS * angle.cos(), RADIUS * angle.sin());
            let far = |x: f64| x.clamp(-FAR, FAR);
            (far(first * u), far(across * u + second * v))
        })
        .collect()
}
