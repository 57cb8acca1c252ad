//! What plain scalars mean in YAML 1.1, as PyYAML resolves them.
//!
//! Source: <https://yaml.org/type/> (bool, int, float, null) and the implicit resolvers of PyYAML.

use super::node::Value;

/// Returns the value of a plain scalar. Linear in its length.
///
/// ```
/// use anyorder_homeassistant::yaml::{Value, plain};
/// assert_eq!(plain("on"), Value::Bool(true));
/// assert_eq!(plain("10:30:00"), Value::Int(37_800));
/// assert_eq!(plain("010"), Value::Int(8));
/// assert_eq!(plain("09"), Value::Text("09".to_owned()));
/// ```
#[must_use]
pub fn plain(text: &str) -> Value {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Value::Null,
        "yes" | "Yes" | "YES" | "true" | "True" | "TRUE" | "on" | "On" | "ON" => {
            return Value::Bool(true);
        }
        "no" | "No" | "NO" | "false" | "False" | "FALSE" | "off" | "Off" | "OFF" => {
            return Value::Bool(false);
        }
        _ => {}
    }
    int(text)
        .map(Value::Int)
        .or_else(|| float(text).map(Value::Float))
        .unwrap_or_else(|| Value::Text(text.to_owned()))
}

fn int(text: &str) -> Option<i64> {
    let (sign, digits) = signed(text);
    let value = if let Some(binary) = digits.strip_prefix("0b") {
        number(binary, 2)?
    } else if let Some(hex) = digits.strip_prefix("0x") {
        number(hex, 16)?
    } else if digits.contains(':') {
        let (first, rest) = digits.split_once(':')?;
        if first.starts_with('0') || first.starts_with('_') {
            return None;
        }
        let mut value = number(first, 10)?;
        for part in rest.split(':') {
            value = value.checked_mul(60)?.checked_add(sixtieth(part)?)?;
        }
        value
    } else if digits.len() > 1 && digits.starts_with('0') {
        number(&digits[1..], 8)?
    } else {
        if digits.starts_with('_') {
            return None;
        }
        number(digits, 10)?
    };
    value.checked_mul(sign)
}

fn signed(text: &str) -> (i64, &str) {
    match text.as_bytes().first() {
        Some(b'-') => (-1, &text[1..]),
        Some(b'+') => (1, &text[1..]),
        _ => (1, text),
    }
}

fn number(text: &str, radix: u32) -> Option<i64> {
    let digits: String = text.chars().filter(|c| *c != '_').collect();
    let valid = !digits.is_empty() && digits.chars().all(|c| c.is_digit(radix));
    if valid { i64::from_str_radix(&digits, radix).ok() } else { None }
}

/// One or two digits up to 59.
fn sixtieth(part: &str) -> Option<i64> {
    let valid = matches!(part.len(), 1 | 2) && part.bytes().all(|b| b.is_ascii_digit());
    let value: i64 = if valid { part.parse().ok()? } else { return None };
    (value < 60).then_some(value)
}

fn float(text: &str) -> Option<f64> {
    let (sign, digits) = signed(text);
    let sign = sign as f64;
    match digits {
        ".inf" | ".Inf" | ".INF" => return Some(sign * f64::INFINITY),
        ".nan" | ".NaN" | ".NAN" => return Some(f64::NAN),
        _ => {}
    }
    if digits.contains(':') {
        return sexagesimal(digits).map(|value| sign * value);
    }
    let (mantissa, exponent) = match digits.find(['e', 'E']) {
        Some(at) => (&digits[..at], Some(&digits[at + 1..])),
        None => (digits, None),
    };
    let (whole, fraction) = mantissa.split_once('.')?;
    let digits_only = |part: &str| part.bytes().all(|b| b.is_ascii_digit() || b == b'_');
    if !digits_only(whole) || !digits_only(fraction) || (whole.is_empty() && fraction.is_empty()) {
        return None;
    }
    // The sign of an exponent is not optional in YAML 1.1.
    let exponent_valid = exponent.is_none_or(|e| {
        e.len() > 1 && e.starts_with(['-', '+']) && e[1..].bytes().all(|b| b.is_ascii_digit())
    });
    let clean: String = digits.chars().filter(|c| *c != '_').collect();
    if exponent_valid { clean.parse::<f64>().ok().map(|value| sign * value) } else { None }
}

fn sexagesimal(text: &str) -> Option<f64> {
    let (whole, fraction) = text.split_once('.')?;
    let mut parts = whole.split(':');
    let mut value = number(parts.next()?, 10)? as f64;
    for part in parts {
        value = value * 60.0 + sixtieth(part)? as f64;
    }
    let fraction: f64 = format!("0.{fraction}").parse().ok()?;
    Some(value + fraction)
}
