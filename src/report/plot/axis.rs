//! An axis: its range, its ticks and their shapes.

use super::paint::{INK, LABEL, Painted, Point, SMALL};
use super::{MARGIN, Scale};
use plotters::style::{RGBColor, text_anchor::HPos};

impl Scale {
    /// Beyond 1e±300 the spans and steps of an axis would overflow.
    pub(super) fn shows(self, value: f64) -> bool {
        value.abs() <= 1e300 && (self != Scale::Log || value >= 1e-300)
    }

    fn length(self, value: f64) -> f64 {
        match self {
            Scale::Linear | Scale::Count | Scale::Degrees => value,
            Scale::Log => value.log10(),
        }
    }

    /// The range of the values with some room around it.
    pub(super) fn padded(self, values: &[f64]) -> Point {
        let lengths = || values.iter().map(|&value| self.length(value));
        let low = lengths().fold(f64::INFINITY, f64::min);
        let high = lengths().fold(f64::NEG_INFINITY, f64::max);
        let largest = low.abs().max(high.abs());
        let room = match high - low {
            span if span > (1e-10 * largest).max(1e-290) => 0.04 * span,
            _ if self != Scale::Log && largest > 1e-290 => 0.1 * largest,
            _ => 0.5,
        };
        match self {
            Scale::Log => (10f64.powf(low - room), 10f64.powf(high + room)),
            // A quantity that is never negative gets no negative axis.
            _ if (0.0..room).contains(&low) && high > low => (0.0, high + room),
            _ => (low - room, high + room),
        }
    }
}

/// An axis and its ticks.
pub(super) struct Axis {
    scale: Scale,
    range: Point,
    /// Where the range begins and ends \[px\].
    pub(super) ends: Point,
    vertical: bool,
    pub(super) ticks: Vec<(f64, String)>,
    /// Values of the faint grid lines.
    minor: Vec<f64>,
    /// Power of ten that the ticks' texts leave out, such as `×10⁻³`.
    factor: Option<String>,
}

impl Axis {
    /// An axis with the densest ticks whose texts keep apart.
    pub(super) fn new(scale: Scale, range: Point, ends: Point, vertical: bool) -> Self {
        let (ticks, minor, factor) = Default::default();
        let mut axis = Axis {
            scale,
            range,
            ends,
            vertical,
            ticks,
            minor,
            factor,
        };
        let extent = |text: &str| if vertical { 32.0 } else { SMALL.width(text) };
        let crowded = |axis: &Axis| {
            axis.ticks.windows(2).any(|pair| {
                let gap = (axis.place(pair[1].0) - axis.place(pair[0].0)).abs();
                gap < 0.5 * (extent(&pair[0].1) + extent(&pair[1].1)) + 14.0
            })
        };
        if scale == Scale::Log {
            let strides = [1, 2, 3, 5, 10, 20, 50, 100].map(|stride| (&[1][..], stride));
            let few_decades = (range.1 <= 1e4 * range.0).then_some((&[1, 2, 5][..], 1));
            for (digits, stride) in few_decades.into_iter().chain(strides) {
                axis.set_log_ticks(digits, stride);
                if !crowded(&axis) {
                    break;
                }
            }
        }
        // A part of a decade may hold too few powers of ten to read values by.
        if axis.ticks.len() < 3 && (scale != Scale::Log || range.1 < 10.0 * range.0) {
            for count in (2..=11).rev() {
                axis.set_linear_ticks(f64::from(count));
                if !crowded(&axis) {
                    break;
                }
            }
        }
        axis
    }

    /// About `count` ticks at multiples of 1, 2 or 5 times a power of ten.
    fn set_linear_ticks(&mut self, count: f64) {
        let (low, high) = self.range;
        let finest = match self.scale {
            Scale::Count => ((high - low) / count).max(1.0),
            _ => (high - low) / count,
        };
        let power = finest.log10().floor();
        // Angles are read in steps of 15, 30 or 90 degrees.
        let digits = match self.scale {
            Scale::Degrees if power == 1.0 => [1.5, 3.0, 9.0, 18.0],
            _ => [1.0, 2.0, 5.0, 10.0],
        }
        .into_iter();
        let mut wide_enough = digits.filter(|digit| digit * 10f64.powf(power) >= 0.999 * finest);
        let digit = wide_enough.next().unwrap_or(10.0);
        let step = digit * 10f64.powf(power);
        let (first, last) = ((low / step - 1e-6).ceil(), (high / step + 1e-6).floor());
        // Numbers from 0.01 to 99 999 are read fastest as they are, and so are larger ones that
        // differ in their last digits only; others leave out a power of ten.
        let largest = (first.abs().max(last.abs()) * step).log10().floor();
        let long = largest > 4.0 && (largest > 8.0 || largest - power < 4.0);
        let has_factor = largest.is_finite() && (largest < -2.0 || long);
        let common = if has_factor { largest } else { 0.0 };
        let decimals = (common - step.log10().floor()).max(0.0) as usize;
        let text = |number: f64| match number * digit * 10f64.powf(power - common) {
            0.0 => "0".into(),
            shown => format!("{shown:.decimals$}").replace('-', "−"),
        };
        let numbers = (first as i64..=last as i64).map(|number| number as f64);
        let tick = |number: f64| (number * step, text(number));
        self.ticks = numbers.map(tick).collect();
        self.factor = has_factor.then(|| format!("×{}", power_of_ten(common as i32)));
    }

    /// Ticks at `digits` times every `stride`-th power of ten.
    fn set_log_ticks(&mut self, digits: &[i32], stride: i32) {
        let (low, high) = self.range;
        let text = |digit: i32, power: i32| match (digit, power) {
            (_, -1) => format!("0.{digit}"),
            (_, 0..=2) => (digit * 10_i32.pow(power as u32)).to_string(),
            (1, _) => power_of_ten(power),
            _ => format!("{digit}×{}", power_of_ten(power)),
        };
        (self.ticks, self.minor) = Default::default();
        let powers = low.log10().floor() as i32..=high.log10().floor() as i32;
        for (power, digit) in powers.flat_map(|power| (1..=9).map(move |digit| (power, digit))) {
            let value = f64::from(digit) * 10f64.powi(power);
            if !(low..=high).contains(&value) {
                continue;
            } else if digits.contains(&digit) && power % stride == 0 {
                self.ticks.push((value, text(digit, power)));
            } else if stride == 1 || digit == 1 && stride <= 10 {
                self.minor.push(value);
            }
        }
    }

    pub(super) fn place(&self, value: f64) -> f64 {
        let [low, high, at] = [self.range.0, self.range.1, value].map(|v| self.scale.length(v));
        let at = self.ends.0 + (at - low) / (high - low) * (self.ends.1 - self.ends.0);
        // Far outside, where it is clipped anyway, a point must not lose its pixels to rounding.
        at.clamp(-1e9, 1e9)
    }

    /// The place of an end of a spread, which may lie where a log axis has no place.
    pub(super) fn place_end(&self, value: f64) -> f64 {
        match self.scale {
            Scale::Log if value <= 0.0 => self.place(1e-300),
            _ => self.place(value),
        }
    }

    /// The point at `along` on the axis and `across` on the other one \[px\].
    fn point(&self, along: f64, across: f64) -> Point {
        if self.vertical {
            (across, along)
        } else {
            (along, across)
        }
    }

    /// A line across the axis, in the middle of a pixel so that it is sharp.
    fn crossing(&self, value: f64, across: Point, color: RGBColor) -> Painted {
        let at = self.place(value).floor() + 0.5;
        let ends = [across.0, across.1].map(|across| self.point(at, across));
        Painted::Line(ends.into(), color, 1.0)
    }

    pub(super) fn grid(&self, across: Point) -> Vec<Painted> {
        let line = |value, shade| self.crossing(value, across, RGBColor(shade, shade, shade));
        let minor = self.minor.iter().map(|&value| line(value, 242));
        let shade = |value| if value == 0.0 { 175 } else { 225 };
        let major = self.ticks.iter().map(|tick| line(tick.0, shade(tick.0)));
        minor.chain(major).collect()
    }

    /// The axis' line at `base` \[px\] with its ticks and texts.
    pub(super) fn outline(&self, base: f64, label: &str) -> Vec<Painted> {
        let line = [self.ends.0, self.ends.1].map(|end| self.point(end, base.floor() + 0.5));
        let mut shapes = vec![Painted::Line(line.into(), INK, 1.0)];
        let (tick, text_at, side) = if self.vertical {
            (-5.0, -9.0, HPos::Right)
        } else {
            (5.0, 15.0, HPos::Center)
        };
        for (value, text) in &self.ticks {
            shapes.push(self.crossing(*value, (base, base + tick), INK));
            let at = self.point(self.place(*value), base + text_at);
            shapes.push(Painted::Text(text.clone(), at, side, SMALL));
        }
        let (middle, length) = (0.5 * (self.ends.0 + self.ends.1), self.ends.1 - self.ends.0);
        let (label, factor) = (label.to_owned(), self.factor.clone());
        if self.vertical {
            let above = (base, self.ends.1 - 12.0);
            shapes.extend(factor.map(|text| Painted::Text(text, above, HPos::Left, SMALL)));
            let font = LABEL.fitted(&label, -length);
            shapes.push(Painted::RisingText(label, (MARGIN + 4.0, middle), font));
        } else {
            let room = length - if factor.is_some() { 120.0 } else { 0.0 };
            let below = (self.ends.1, base + 38.0);
            shapes.extend(factor.map(|text| Painted::Text(text, below, HPos::Right, SMALL)));
            let font = LABEL.fitted(&label, room);
            shapes.push(Painted::Text(
                label,
                (middle, base + 42.0),
                HPos::Center,
                font,
            ));
        }
        shapes
    }
}

fn power_of_ten(power: i32) -> String {
    let raised = |c: char| match c.to_digit(10) {
        Some(digit) => "⁰¹²³⁴⁵⁶⁷⁸⁹".chars().nth(digit as usize).unwrap_or(c),
        None => '⁻',
    };
    let exponent: String = power.to_string().chars().map(raised).collect();
    format!("10{exponent}")
}
