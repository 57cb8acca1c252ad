//! Arithmetic of numbers: the wider of two types decides, and a quotient is a decimal number.

use super::value::Value;
use std::cmp::Ordering;
use std::fmt;

/// A decimal number: `unscaled` times ten to the power of `-scale`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Decimal {
    /// The digits.
    pub unscaled: i128,
    /// How many of them stand behind the point.
    pub scale: i32,
}

/// A mistake of arithmetic.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum NumberError {
    /// Division by zero.
    DivisionByZero,
    /// The operator does not take these types.
    Unsupported,
    /// The result has more than 38 digits: a limit of this evaluator.
    TooLarge,
}

type Res = Result<Value, NumberError>;

fn power_of_ten(exponent: i32) -> Result<i128, NumberError> {
    let exponent = u32::try_from(exponent).map_err(|_| NumberError::TooLarge)?;
    10i128.checked_pow(exponent).ok_or(NumberError::TooLarge)
}

impl Decimal {
    fn precision(self) -> i32 {
        self.unscaled.unsigned_abs().checked_ilog10().map_or(1, |log| log as i32 + 1)
    }

    fn with_scale(self, scale: i32) -> Result<i128, NumberError> {
        let factor = power_of_ten(scale - self.scale)?;
        self.unscaled.checked_mul(factor).ok_or(NumberError::TooLarge)
    }

    /// Rounds half away from zero to a smaller scale.
    pub(crate) fn rounded(self, scale: i32) -> Result<Decimal, NumberError> {
        if scale >= self.scale {
            return Ok(Decimal { unscaled: self.with_scale(scale)?, scale });
        }
        let factor = power_of_ten(self.scale - scale)?;
        Ok(Decimal { unscaled: divide_half_up(self.unscaled, factor), scale })
    }

    pub(crate) fn to_f64(self) -> f64 {
        format!("{}e{}", self.unscaled, -i64::from(self.scale)).parse().unwrap_or(f64::NAN)
    }

    /// Returns the number without its fraction.
    pub(crate) fn truncated(self) -> i128 {
        if self.scale <= 0 {
            return self.with_scale(0).unwrap_or(0);
        }
        power_of_ten(self.scale).map_or(0, |factor| self.unscaled / factor)
    }

    /// Reads digits with a point and an exponent.
    pub(crate) fn parse(text: &str) -> Option<Decimal> {
        let (mantissa, exponent) = match text.find(['e', 'E']) {
            Some(at) => (&text[..at], text[at + 1..].parse::<i32>().ok()?),
            None => (text, 0),
        };
        let (sign, body) = match mantissa.as_bytes().first()? {
            b'-' => (-1, &mantissa[1..]),
            b'+' => (1, &mantissa[1..]),
            _ => (1, mantissa),
        };
        let (whole, part) = body.split_once('.').unwrap_or((body, ""));
        let digits = format!("{whole}{part}");
        if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
            return None;
        }
        let unscaled: i128 = digits.parse().ok()?;
        let scale = i32::try_from(part.len()).ok()?.checked_sub(exponent)?;
        Some(Decimal { unscaled: sign * unscaled, scale })
    }
}

fn divide_half_up(value: i128, by: i128) -> i128 {
    let (quotient, rest) = (value / by, value % by);
    let up = rest.unsigned_abs() * 2 >= by.unsigned_abs();
    let sign = if (value < 0) == (by < 0) { 1 } else { -1 };
    if up { quotient + sign } else { quotient }
}

/// As `BigDecimal.toString`: plain unless the number is very small or has a negative scale.
impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = self.unscaled.unsigned_abs().to_string();
        let sign = if self.unscaled < 0 { "-" } else { "" };
        let adjusted = digits.len() as i64 - 1 - i64::from(self.scale);
        if self.scale == 0 {
            return write!(f, "{sign}{digits}");
        }
        if self.scale > 0 && adjusted >= -6 {
            let width = self.scale as usize + 1;
            let digits = format!("{digits:0>width$}");
            let (whole, part) = digits.split_at(digits.len() - self.scale as usize);
            return write!(f, "{sign}{whole}.{part}");
        }
        let (first, rest) = digits.split_at(1);
        let point = if rest.is_empty() { "" } else { "." };
        write!(f, "{sign}{first}{point}{rest}E{adjusted:+}")
    }
}

/// As `Double.toString`.
pub(crate) fn show_double(value: f64) -> String {
    show_digits(value, &format!("{value:e}"))
}

/// As `Float.toString`.
pub(crate) fn show_float(value: f32) -> String {
    show_digits(f64::from(value), &format!("{value:e}"))
}

fn show_digits(value: f64, scientific: &str) -> String {
    if value.is_nan() {
        return "NaN".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { "Infinity" } else { "-Infinity" }.to_owned();
    }
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let sign = if mantissa.starts_with('-') { "-" } else { "" };
    let digits: String = mantissa.chars().filter(char::is_ascii_digit).collect();
    if value == 0.0 {
        return format!("{sign}0.0");
    }
    if (-3..7).contains(&exponent) {
        let (whole, part) = if exponent < 0 {
            ("0".to_owned(), format!("{}{digits}", "0".repeat((-exponent - 1) as usize)))
        } else {
            let width = exponent as usize + 1;
            let digits = format!("{digits:0<width$}");
            (digits[..width].to_owned(), digits[width..].to_owned())
        };
        let part = if part.is_empty() { "0".to_owned() } else { part };
        return format!("{sign}{whole}.{part}");
    }
    let (first, rest) = digits.split_at(1);
    format!("{sign}{first}.{}E{exponent}", if rest.is_empty() { "0" } else { rest })
}

/// Returns a number as `double`.
pub(crate) fn to_f64(value: &Value) -> f64 {
    match value {
        Value::Int(value) => f64::from(*value),
        Value::Long(value) => *value as f64,
        Value::BigInt(value) => *value as f64,
        Value::Decimal(value) => value.to_f64(),
        Value::Float(value) => f64::from(*value),
        Value::Double(value) => *value,
        _ => f64::NAN,
    }
}

fn to_decimal(value: &Value) -> Option<Decimal> {
    Some(match value {
        Value::Int(value) => Decimal { unscaled: i128::from(*value), scale: 0 },
        Value::Long(value) => Decimal { unscaled: i128::from(*value), scale: 0 },
        Value::BigInt(value) => Decimal { unscaled: *value, scale: 0 },
        Value::Decimal(value) => *value,
        _ => return None,
    })
}

/// Returns a whole number.
pub(crate) fn to_i128(value: &Value) -> Option<i128> {
    match value {
        Value::Int(value) => Some(i128::from(*value)),
        Value::Long(value) => Some(i128::from(*value)),
        Value::BigInt(value) => Some(*value),
        _ => None,
    }
}

fn is_floating(value: &Value) -> bool {
    matches!(value, Value::Float(_) | Value::Double(_))
}

/// Returns the order of two numbers; `None` if one is no number.
pub(crate) fn compare_numbers(a: &Value, b: &Value) -> Option<Ordering> {
    if is_floating(a) || is_floating(b) {
        return to_f64(a).partial_cmp(&to_f64(b));
    }
    let (a, b) = (to_decimal(a)?, to_decimal(b)?);
    let scale = a.scale.max(b.scale);
    match (a.with_scale(scale), b.with_scale(scale)) {
        (Ok(a), Ok(b)) => Some(a.cmp(&b)),
        _ => a.to_f64().partial_cmp(&b.to_f64()),
    }
}

/// Returns a whole number in the type of two operands.
fn whole(a: &Value, b: &Value, value: Option<i128>) -> Res {
    let value = value.ok_or(NumberError::TooLarge)?;
    Ok(match (a, b) {
        (Value::BigInt(_), _) | (_, Value::BigInt(_)) => Value::BigInt(value),
        (Value::Long(_), _) | (_, Value::Long(_)) => Value::Long(value as i64),
        _ => Value::Int(value as i32),
    })
}

fn decimal(unscaled: Option<i128>, scale: i32) -> Res {
    let unscaled = unscaled.ok_or(NumberError::TooLarge)?;
    Ok(Value::Decimal(Decimal { unscaled, scale }))
}

/// Computes `+`, `-`, `*`, `/`, `%` or `**` of two numbers.
pub(crate) fn arithmetic(op: &str, a: &Value, b: &Value) -> Res {
    if is_floating(a) || is_floating(b) {
        let (a, b) = (to_f64(a), to_f64(b));
        return Ok(Value::Double(match op {
            "+" => a + b,
            "-" => a - b,
            "*" => a * b,
            "/" => a / b,
            "%" => a % b,
            _ => a.powf(b),
        }));
    }
    match op {
        "/" => return divide(a, b),
        "**" => return power(a, b),
        _ => {}
    }
    if let (Some(x), Some(y)) = (to_i128(a), to_i128(b)) {
        return match op {
            "+" => whole(a, b, x.checked_add(y)),
            "-" => whole(a, b, x.checked_sub(y)),
            "*" => whole(a, b, x.checked_mul(y)),
            _ if y == 0 => Err(NumberError::DivisionByZero),
            _ => whole(a, b, x.checked_rem(y)),
        };
    }
    let (x, y) = match (to_decimal(a), to_decimal(b)) {
        (Some(x), Some(y)) => (x, y),
        _ => return Err(NumberError::Unsupported),
    };
    let scale = x.scale.max(y.scale);
    match op {
        "+" => decimal(x.with_scale(scale)?.checked_add(y.with_scale(scale)?), scale),
        "-" => decimal(x.with_scale(scale)?.checked_sub(y.with_scale(scale)?), scale),
        "*" => decimal(x.unscaled.checked_mul(y.unscaled), x.scale + y.scale),
        _ => Err(NumberError::Unsupported),
    }
}

/// Divides: exactly if that ends, else with ten digits more than the operands have.
fn divide(a: &Value, b: &Value) -> Res {
    let (Some(a), Some(b)) = (to_decimal(a), to_decimal(b)) else {
        return Err(NumberError::Unsupported);
    };
    if b.unscaled == 0 {
        return Err(NumberError::DivisionByZero);
    }
    let preferred = a.scale - b.scale;
    if a.unscaled == 0 {
        return decimal(Some(0), preferred.max(0));
    }
    // The quotient is (a / b) * 10^-preferred.
    for more in 0..38 {
        let Some(value) = power_of_ten(more).ok().and_then(|f| a.unscaled.checked_mul(f)) else {
            break;
        };
        if value % b.unscaled == 0 {
            return decimal(Some(value / b.unscaled), preferred + more);
        }
    }
    let precision = a.precision().max(b.precision()) + 10;
    let scale_max = a.scale.max(b.scale).max(10);
    let mut more = precision + b.precision() - a.precision();
    loop {
        let (up, down) = (power_of_ten(more.max(0))?, power_of_ten((-more).max(0))?);
        let value = a.unscaled.checked_mul(up).ok_or(NumberError::TooLarge)?;
        let by = b.unscaled.checked_mul(down).ok_or(NumberError::TooLarge)?;
        let result = Decimal { unscaled: divide_half_up(value, by), scale: preferred + more };
        if result.precision() > precision {
            more -= 1;
            continue;
        }
        let result = if result.scale > scale_max { result.rounded(scale_max)? } else { result };
        return Ok(Value::Decimal(result));
    }
}

fn power(a: &Value, b: &Value) -> Res {
    let exponent = match to_i128(b).and_then(|b| u32::try_from(b).ok()) {
        Some(exponent) => exponent,
        None => return Ok(Value::Double(to_f64(a).powf(to_f64(b)))),
    };
    if let Some(x) = to_i128(a) {
        let value = x.checked_pow(exponent).ok_or(NumberError::TooLarge)?;
        let int = i32::try_from(value).ok().filter(|_| matches!(a, Value::Int(_)));
        let long = i64::try_from(value).ok().filter(|_| !matches!(a, Value::BigInt(_)));
        return Ok(match (int, long) {
            (Some(int), _) => Value::Int(int),
            (_, Some(long)) => Value::Long(long),
            _ => Value::BigInt(value),
        });
    }
    let Some(x) = to_decimal(a) else { return Err(NumberError::Unsupported) };
    let scale = x.scale.checked_mul(exponent as i32).ok_or(NumberError::TooLarge)?;
    decimal(x.unscaled.checked_pow(exponent), scale)
}

/// Changes the sign.
pub(crate) fn negate(value: &Value) -> Res {
    Ok(match value {
        Value::Int(value) => Value::Int(value.wrapping_neg()),
        Value::Long(value) => Value::Long(value.wrapping_neg()),
        Value::BigInt(value) => Value::BigInt(-value),
        Value::Decimal(one) => Value::Decimal(Decimal { unscaled: -one.unscaled, ..*one }),
        Value::Float(value) => Value::Float(-value),
        Value::Double(value) => Value::Double(-value),
        _ => return Err(NumberError::Unsupported),
    })
}

/// Returns the integer part as `intValue` and `longValue` give it.
pub(crate) fn truncate(value: &Value) -> i128 {
    match value {
        Value::Decimal(value) => value.truncated(),
        Value::Float(_) | Value::Double(_) => to_f64(value) as i128,
        _ => to_i128(value).unwrap_or(0),
    }
}
