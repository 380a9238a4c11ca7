//! How the reports of a fit write numbers: four significant digits, or as many as an error warrants.

/// Where there is no number.
pub(crate) const NONE: &str = "-";
/// Where an interval has no end.
const OPEN: &str = "…";
/// Significant digits of a number without an error.
const DIGITS: i32 = 4;
/// A value much larger than its error would otherwise print digits that nobody reads.
const MOST_DIGITS: i32 = 8;

/// Decimal exponent of the leading digit; 0 for what has none.
fn magnitude(value: f64) -> i32 {
    if value == 0.0 || !value.is_finite() {
        0
    } else {
        value.abs().log10().floor() as i32
    }
}

/// `value` with its last digit at 10^`last`; with an exponent where zeros would otherwise pile up.
fn to_digit(value: f64, last: i32) -> String {
    let size = magnitude(value);
    if value.is_nan() {
        NONE.into()
    } else if value.is_infinite() {
        format!("{value}")
    } else if value != 0.0 && !(-3..6).contains(&size) {
        let decimals = (size - last).clamp(0, MOST_DIGITS) as usize;
        format!("{value:.decimals$e}")
    } else if last > 0 {
        // Digits left of the point that the error does not support become zeros.
        let grid = 10f64.powi(last);
        format!("{:.0}", (value / grid).round() * grid)
    } else {
        let decimals = -last as usize;
        format!("{value:.decimals$}")
    }
}

/// So many significant digits, and at least so many decimals where no exponent is written.
fn significant(value: f64, digits: i32, decimals: i32) -> String {
    let size = magnitude(value);
    let last = size - digits + 1;
    to_digit(value, if size < 6 { last.min(-decimals) } else { last })
}

/// Four significant digits; those left of the point are all written, as 23456 is as short as 23460.
pub(crate) fn number(value: f64) -> String {
    significant(value, DIGITS, 0)
}

/// Seven significant digits: for numbers that are to be compared.
pub(crate) fn precise(value: f64) -> String {
    significant(value, 7, 0)
}

/// At most four significant digits, without zeros at the end: for numbers that people chose.
pub(crate) fn short(value: f64) -> String {
    let text = number(value);
    let (digits, exponent) = text
        .split_once('e')
        .map_or((&text[..], None), |(d, e)| (d, Some(e)));
    let trimmed = match digits.contains('.') {
        true => digits.trim_end_matches('0').trim_end_matches('.'),
        false => digits,
    };
    match exponent {
        Some(exponent) => format!("{trimmed}e{exponent}"),
        None => trimmed.into(),
    }
}

/// χ², AIC and BIC: four significant digits and at least two decimals, as differences of 1 matter.
pub(crate) fn score(value: f64) -> String {
    significant(value, DIGITS, 2)
}

/// A standard error: two significant digits.
pub(crate) fn error(std_error: f64) -> String {
    to_digit(std_error, magnitude(std_error) - 1)
}

/// A value, or an end of its interval, to the last digit of its standard error. Two digits remain
/// however large the error is.
pub(crate) fn with_error(value: f64, std_error: Option<f64>) -> String {
    match std_error.filter(|e| e.is_finite() && *e > 0.0) {
        None => number(value),
        Some(e) => {
            let size = magnitude(value);
            let last = (magnitude(e) - 1).clamp(size - MOST_DIGITS + 1, size - 1);
            // Zero has no size of its own.
            to_digit(value, if value == 0.0 { magnitude(e) - 1 } else { last })
        }
    }
}

/// The error as a share of the value; none where the value is zero.
pub(crate) fn percent(value: f64, std_error: f64) -> Option<String> {
    let share = 100.0 * (std_error / value).abs();
    share.is_finite().then(|| match share {
        s if s >= 1000.0 => ">1000%".into(),
        s if s >= 10.0 => format!("{s:.0}%"),
        s => format!("{s:.1}%"),
    })
}

/// `[low, high]` to the last digit of the standard error; an open end is written as an ellipsis.
pub(crate) fn interval(ends: [Option<f64>; 2], std_error: Option<f64>) -> String {
    let [low, high] = ends.map(|end| end.map_or(OPEN.into(), |v| with_error(v, std_error)));
    format!("[{low}, {high}]")
}

/// A range that somebody chose.
pub(crate) fn range([low, high]: [f64; 2]) -> String {
    format!("[{}, {}]", short(low), short(high))
}

/// A probability; below a thousandth its digits mean nothing.
pub(crate) fn probability(p: f64) -> String {
    if p < 1e-3 {
        "< 0.001".into()
    } else {
        format!("{p:.3}")
    }
}

/// A time of computing.
pub(crate) fn duration(seconds: f64) -> String {
    let whole = seconds.round() as u64;
    match whole {
        0..60 => format!("{seconds:.1} s"),
        60..3600 => format!("{} min {} s", whole / 60, whole % 60),
        _ => format!("{} h {} min", whole / 3600, whole % 3600 / 60),
    }
}

/// `text` of a number that may be missing.
pub(crate) fn or_none(value: Option<f64>, text: impl Fn(f64) -> String) -> String {
    value.map_or(NONE.into(), text)
}

/// "1 point", "2 points".
pub(crate) fn counted(count: usize, thing: &str) -> String {
    let ending = match (count, thing.strip_suffix("ch")) {
        (1, _) => "",
        (_, Some(_)) => "es",
        (_, None) => "s",
    };
    format!("{count} {thing}{ending}")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Four digits at every size, the exponent only where zeros would pile up.
    #[test]
    fn numbers_are_short_at_every_size() {
        let cases = [
            (0.0, "0.000"),
            (0.012344, "0.01234"),
            (-12.3456, "-12.35"),
            (23456.0, "23456"),
            (6.2134e-6, "6.213e-6"),
            (-2.5e9, "-2.500e9"),
            (f64::NAN, NONE),
            (f64::INFINITY, "inf"),
        ];
        for (value, text) in cases {
            assert_eq!(number(value), text);
        }
        assert_eq!(short(0.01), "0.01");
        assert_eq!(short(1e11), "1e11");
        assert_eq!(short(100.0), "100");
        assert_eq!(score(1234.567), "1234.57");
        assert_eq!(score(0.012346), "0.01235");
        assert_eq!(score(1.23456e7), "1.235e7");
        assert_eq!(precise(31.7), "31.70000");
    }

    /// Value and interval end at the error's second digit, and a huge error leaves two digits.
    #[test]
    fn errors_decide_the_digits() {
        assert_eq!(with_error(12.34567, Some(0.0312)), "12.346");
        assert_eq!(with_error(12345.6, Some(2345.0)), "12300");
        assert_eq!(with_error(6.2134e-6, Some(3.1e-8)), "6.213e-6");
        assert_eq!(with_error(0.3141, Some(25.0)), "0.31");
        assert_eq!(with_error(0.0, Some(0.25)), "0.00");
        assert_eq!(error(0.0312), "0.031");
        assert_eq!(interval([Some(12.2847), None], Some(0.0312)), "[12.285, …]");
        assert_eq!(percent(2.0, 0.05).as_deref(), Some("2.5%"));
        assert_eq!(percent(0.0, 0.05), None);
    }

    /// A run of a minute less a moment is not "0 min 60 s".
    #[test]
    fn durations_carry_over() {
        assert_eq!(duration(1.26), "1.3 s");
        assert_eq!(duration(59.97), "1 min 0 s");
        assert_eq!(duration(7325.0), "2 h 2 min");
    }
}
