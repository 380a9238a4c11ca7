//! The tables of a fit as rows of text, from which every form of the report is drawn.

use crate::fit::{
    result::{FitResult, FitStatistics, ParameterResult},
    spread::{SpreadComparison, SpreadFit},
};
use crate::report::document::number::{
    NONE, error, interval, number, or_none, percent, range, score, short, with_error,
};

/// Correlations from here on are listed: such a pair trades off so well that neither error bar can
/// be read alone.
pub(crate) const STRONG_CORRELATION: f64 = 0.9;

/// What a column holds, which decides how it is set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ColumnKind {
    /// A name of the program's: set as code.
    Name,
    /// Words.
    Text,
    /// Digits: set to the right.
    Number,
    /// A verdict on a parameter: coloured by its [`TableKind`].
    Verdict,
}

/// A table; every row has a cell for every column.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ReportTable {
    /// Heading and kind of each column.
    pub columns: Vec<(&'static str, ColumnKind)>,
    pub rows: Vec<Vec<String>>,
}

impl ReportTable {
    /// `header` has the names of the columns, with `; ` between them; in front of a name, `@` stands for
    /// [`ColumnKind::Name`], `#` for [`ColumnKind::Number`] and `?` for [`ColumnKind::Verdict`].
    pub(crate) fn new(
        header: &'static str,
        rows: impl IntoIterator<Item = Vec<String>>,
    ) -> ReportTable {
        let column = |text: &'static str| match text.as_bytes()[0] {
            b'@' => (&text[1..], ColumnKind::Name),
            b'#' => (&text[1..], ColumnKind::Number),
            b'?' => (&text[1..], ColumnKind::Verdict),
            _ => (text, ColumnKind::Text),
        };
        ReportTable {
            columns: header.split("; ").map(column).collect(),
            rows: rows.into_iter().collect(),
        }
    }
}

/// What a verdict says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TableKind {
    /// The data determine it.
    Identified,
    /// They determine a combination.
    OnlyAs,
    /// They determine it roughly, or under a misfit, or without an error bar.
    Doubtful,
    /// They do not.
    NotIdentified,
    /// It was not asked of them.
    Given,
}

impl TableKind {
    /// The kind that the words of a verdict stand for.
    pub(crate) fn of(verdict: &str) -> TableKind {
        match verdict {
            v if v.starts_with("identified only") => TableKind::OnlyAs,
            v if v.starts_with("identified") => TableKind::Identified,
            v if v.starts_with("not identified") => TableKind::NotIdentified,
            v if ["known only", "under a misfit", "no error bar"]
                .iter()
                .any(|words| v.starts_with(words)) =>
            {
                TableKind::Doubtful
            }
            _ => TableKind::Given,
        }
    }
}

/// Fits with and without a population of yarns.
pub(crate) fn spread(found: &SpreadComparison) -> ReportTable {
    let row = |fit: &SpreadFit| {
        vec![
            fit.what.clone(),
            fit.free.to_string(),
            short(fit.chi2),
            short(fit.aic),
        ]
    };
    let rows = found.fits.iter().map(row);
    ReportTable::new("fit with; #free; #chi-square; #AIC", rows)
}

/// A parameter as text.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ParameterRow {
    pub name: String,
    pub symbol: String,
    pub value: String,
    pub unit: String,
    pub std_error: String,
    pub percent: String,
    pub interval: String,
    pub start: String,
    pub bounds: String,
    pub prior: String,
    pub verdict: String,
}

/// The parameter as every report writes it. Without an estimate there is no error to show either.
pub(crate) fn parameter_row(p: &ParameterResult) -> ParameterRow {
    let std_error = p.std_error.filter(|_| p.value.is_some());
    let relative = p.value.zip(std_error).and_then(|(v, e)| percent(v, e));
    ParameterRow {
        name: p.name.clone(),
        symbol: p.symbol.clone(),
        value: or_none(p.value, |v| with_error(v, std_error)),
        unit: unit(&p.unit),
        std_error: or_none(std_error, error),
        percent: relative.unwrap_or_default(),
        // A tied parameter may have one without being free.
        interval: match p.free || p.ci95.iter().any(Option::is_some) {
            true => interval(p.ci95, p.std_error),
            false => NONE.into(),
        },
        start: or_none(p.start, short),
        bounds: p.bounds.map_or(NONE.into(), range),
        prior: p.prior.map_or(NONE.into(), |[mean, sd]| {
            format!("{} ± {}", short(mean), short(sd))
        }),
        verdict: p.verdict.clone(),
    }
}

/// A unit for people: a ratio has none.
pub(crate) fn unit(unit: &str) -> String {
    if unit == "1" { NONE } else { unit }.into()
}

/// The parameters, a line each.
pub(crate) fn parameters(result: &FitResult) -> ReportTable {
    let row = |p: &ParameterResult| {
        let r = parameter_row(p);
        vec![
            r.name,
            r.symbol,
            r.value,
            r.unit,
            r.std_error,
            r.interval,
            r.start,
            r.bounds,
            r.prior,
            r.verdict,
        ]
    };
    ReportTable::new(
        "@parameter; symbol; #value; unit; #std. error; #95 % interval; #start; #bounds; #prior; ?verdict",
        result.parameters.iter().map(row),
    )
}

/// Name, value and meaning of each statistic; the names are those of lmfit where it has one.
pub(crate) fn statistics(s: &FitStatistics) -> ReportTable {
    let scale = match (s.error_scale == 1.0, s.misfit_scale == 1.0) {
        (true, true) => "no standard deviation of a reading is rescaled",
        (false, true) => {
            "factor on standard deviations that were assumed: their residuals scatter so"
        }
        (true, false) => "factor on standard deviations under the misfit, √(reduced χ²)",
        (false, false) => "factors on assumed and, under the misfit, on other standard deviations",
    };
    let scales = match s.misfit_scale == 1.0 {
        true => number(s.error_scale),
        false if s.error_scale == 1.0 => number(s.misfit_scale),
        false => format!("{}, {}", number(s.error_scale), number(s.misfit_scale)),
    };
    let freedom = s.freedom;
    let rows = [
        (
            "data points",
            s.points.to_string(),
            "fitted, without those held out".into(),
        ),
        ("variables", s.free.to_string(), "free parameters".into()),
        (
            "seen by the data",
            s.seen.to_string(),
            "directions of the free parameters: the rank of the Jacobian".into(),
        ),
        (
            "chi-square",
            score(s.chi2),
            "χ² = Σ ((measured − fitted)/sd)²".into(),
        ),
        (
            "reduced chi-square",
            or_none(s.reduced_chi2, number),
            format!("χ² over {freedom} degrees of freedom; about 1 where law and errors are right"),
        ),
        ("Akaike info crit", score(s.aic), "AIC = χ² + 2·seen".into()),
        (
            "Bayesian info crit",
            score(s.bic),
            "BIC = χ² + seen·ln(points)".into(),
        ),
        (
            "R-squared",
            or_none(s.r2, |v| format!("{v:.4}")),
            "share of the weighted variance within each test that the fit explains".into(),
        ),
        (
            "hard-law chi-square",
            score(s.hard_chi2),
            "the same points under the law without any gate".into(),
        ),
        ("error scale", scales, scale.into()),
    ];
    ReportTable::new(
        "statistic; #value; meaning",
        rows.into_iter()
            .map(|(name, value, meaning)| vec![name.into(), value, meaning]),
    )
}

/// Pairs of free parameters at least as correlated as [`STRONG_CORRELATION`], the strongest first.
pub(crate) fn correlations(result: &FitResult) -> ReportTable {
    let c = &result.correlations;
    let mut pairs = Vec::new();
    for (i, (a, row)) in c.names.iter().zip(&c.matrix).enumerate() {
        let strong = |r: &Option<f64>| r.filter(|r| r.abs() >= STRONG_CORRELATION);
        let others = c.names.iter().zip(row).skip(i + 1);
        pairs.extend(others.filter_map(|(b, r)| strong(r).map(|r| (a, b, r))));
    }
    pairs.sort_by(|x, y| y.2.abs().total_cmp(&x.2.abs()));
    ReportTable::new(
        "@parameter; @with; #correlation",
        pairs
            .into_iter()
            .map(|(a, b, r)| vec![a.clone(), b.clone(), format!("{r:+.3}")]),
    )
}
